// Rotary position embedding: the frequencies and the scale of cos and sin, for each way that
// checkpoints scale them. Values equal transformers' modeling_rope_utils (5.24) in float32. RoPE:
// Su et al., arXiv 2104.09864. YaRN: Peng et al., arXiv 2309.00071. LongRoPE: Ding et al., arXiv
// 2402.13753.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cuset {

enum class RopeKind { standard, linear, dynamic, llama3, yarn, longrope };

struct RopeConfig {
    RopeKind kind = RopeKind::standard;
    std::int64_t dimensions = 0; // rotated channels of a head, even
    double theta = 10000.0; // base
    double factor = 1.0; // >= 1
    std::int64_t context_length = 0; // max_position_embeddings
    std::int64_t original_context_length = 0; // before scaling: llama3, yarn, longrope
    double low_freq_factor = 1.0; // llama3
    double high_freq_factor = 4.0;
    double beta_fast = 32.0; // yarn
    double beta_slow = 1.0;
    bool truncate = true;
    std::optional<double> attention_factor; // yarn, longrope: given, else from factor and mscale
    std::optional<double> mscale, mscale_all_dim;
    // [dimensions / 2] longrope: divisors up to the original context and beyond it
    std::vector<float> short_divisors, long_divisors;
    std::vector<float>
        divisors; // [dimensions / 2] per-frequency divisors (GGUF's rope_freqs), or empty
};

struct RopeFrequencies {
    std::vector<float> inv_freq; // [dimensions / 2], radians a position
    float attention_scaling = 1.f; // multiplies cos and sin
};

// `length` is the sequence's length in tokens; the dynamic kind and longrope depend on
// it.
RopeFrequencies rope_frequencies(const RopeConfig& config, std::int64_t length);

} // namespace cuset
