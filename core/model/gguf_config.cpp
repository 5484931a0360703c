// ModelConfig from a GGUF file's metadata: keys of
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/gguf_file.h"
#include "core/model/deepseek_config.h"
#include "core/model/family_defaults.h"
#include "core/model/gguf_fields.h"
#include "core/model/model_config.h"
#include "core/model/model_support.h"

namespace cuset {
namespace {

// llama.cpp's name of a family's architecture. Mistral and Mixtral are written as llama.
struct Architecture {
    std::string_view name;
    ModelFamily family;
};
constexpr std::array<Architecture, 12> architectures{{{"llama", ModelFamily::llama},
                                                      {"qwen2", ModelFamily::qwen2},
                                                      {"qwen3", ModelFamily::qwen3},
                                                      {"phi3", ModelFamily::phi3},
                                                      {"granite", ModelFamily::granite},
                                                      {"olmo2", ModelFamily::olmo2},
                                                      {"smollm3", ModelFamily::smollm3},
                                                      {"starcoder2", ModelFamily::starcoder2},
                                                      {"gemma2", ModelFamily::gemma2},
                                                      {"gemma3", ModelFamily::gemma3},
                                                      {"qwen3moe", ModelFamily::qwen3_moe},
                                                      {"deepseek2", ModelFamily::deepseek_v2}}};

const Architecture& require_architecture(const GgufFile& file) {
    const std::string name = file.find_string("general.architecture").value_or("");
    std::string known;
    for (const Architecture& a : architectures) {
        if (a.name == name)
            return a;
        known.append(known.empty() ? "" : ", ").append(a.name);
    }
    throw Error(ErrorCode::unsupported,
                "architecture '" + printable(name, 60) + "' is not supported; supported are "
                    + known + " (mistral and mixtral are llama)",
                file.path().string());
}

std::int64_t vocabulary_rows(const GgufFile& file) {
    const GgufTensor* embedding = file.find_tensor("token_embd.weight");
    if (!embedding || embedding->shape.size() != 2)
        throw Error(ErrorCode::not_found, "no tensor token_embd.weight [vocabulary, channels]",
                    file.path().string());
    return embedding->shape[0];
}

// A float32 tensor with a positive value for each rotated pair; empty if it is not there.
std::vector<float> read_divisors(const GgufFile& file, const char* name, std::int64_t dimensions) {
    std::vector<float> divisors;
    const GgufTensor* tensor = file.find_tensor(name);
    if (!tensor)
        return divisors;
    const auto count = static_cast<std::size_t>(dimensions / 2);
    if (tensor->type != GgmlType::f32 || tensor->bytes.size() != count * sizeof(float))
        throw Error(ErrorCode::bad_value,
                    std::string(name) + " must hold " + std::to_string(count) + " float32 values",
                    file.path().string());
    divisors.resize(count);
    std::memcpy(divisors.data(), tensor->bytes.data(), tensor->bytes.size());
    for (float divisor : divisors)
        if (!(divisor > 0.f) || !std::isfinite(divisor))
            throw Error(ErrorCode::bad_value,
                        std::string(name) + " holds a value that is not positive",
                        file.path().string());
    return divisors;
}

// Phi 3's files have two sets of divisors and the factor of cos and sin, but no scaling type.
bool read_longrope(const GgufFile& file, const GgufFields& f, RopeConfig& r) {
    r.short_divisors = read_divisors(file, "rope_factors_short.weight", r.dimensions);
    r.long_divisors = read_divisors(file, "rope_factors_long.weight", r.dimensions);
    if (r.short_divisors.empty() != r.long_divisors.empty())
        throw Error(ErrorCode::bad_format, "has one of rope_factors_short and rope_factors_long",
                    file.path().string());
    if (r.short_divisors.empty())
        return false;
    r.kind = RopeKind::longrope;
    r.attention_factor = f.number("rope.scaling.attn_factor", 0.0, 1e6).value_or(1.0);
    return true;
}

void read_yarn(const GgufFields& f, const ModelConfig& c, RopeConfig& r) {
    r.kind = RopeKind::yarn;
    r.attention_factor = f.number("rope.scaling.yarn_attn_factor", 0.0, 1e6);
    // llama.cpp multiplies YaRN's own factor by this one.
    if (auto scale = f.number("rope.scaling.attn_factor", 0.0, 1e6))
        r.attention_factor = *scale * (1.0 + 0.1 * std::log(r.factor));
    r.beta_fast = f.number("rope.scaling.yarn_beta_fast", 1e-6, 1e6).value_or(r.beta_fast);
    r.beta_slow = f.number("rope.scaling.yarn_beta_slow", 1e-6, 1e6).value_or(r.beta_slow);
    if (!c.has_latent_attention())
        return;
    // A tenth of mscale_all_dim. mscale is taken to be the same: cos and sin stay as they are.
    if (auto tenth = f.number("rope.scaling.yarn_log_multiplier", 0.0, 1e6)) {
        r.mscale_all_dim = *tenth * 10.0;
        r.attention_factor = r.attention_factor.value_or(1.0);
    }
}

RopeConfig read_gguf_rope(const GgufFile& file, const GgufFields& f, const ModelConfig& c) {
    RopeConfig r;
    const std::int64_t channels = c.has_latent_attention() ? c.latent.rotated : c.head_dim;
    r.dimensions = f.integer("rope.dimension_count", 2, 4096).value_or(channels);
    const bool partial = family_defaults(c.family).partial_rope;
    if (r.dimensions > channels || r.dimensions % 2 != 0 || (r.dimensions != channels && !partial))
        throw Error(ErrorCode::unsupported,
                    "rotates " + std::to_string(r.dimensions) + " of " + std::to_string(channels)
                        + " channels of a head; partial rotation is not supported",
                    file.path().string());
    r.context_length = c.context_length;
    r.theta = f.number("rope.freq_base", 1.0001, 1e15).value_or(10000.0);
    const std::string kind = f.text("rope.scaling.type").value_or("none");
    r.factor = f.number("rope.scaling.factor", 1.0, 1e6).value_or(1.0);
    r.original_context_length =
        f.integer("rope.scaling.original_context_length", 1, 1 << 30).value_or(c.context_length);
    if (read_longrope(file, f, r))
        return r;
    if (kind == "linear")
        r.kind = RopeKind::linear;
    else if (kind == "yarn")
        read_yarn(f, c, r);
    else if (kind != "none")
        throw Error(ErrorCode::unsupported,
                    "rope scaling '" + printable(kind, 40)
                        + "' is not supported; supported are none, linear and yarn",
                    file.path().string());
    r.divisors = read_divisors(file, "rope_freqs.weight", r.dimensions);
    return r;
}

// As llama.cpp has it: the layers of Gemma that see the window are all but every n-th, unless the
// file lists them; SmolLM 3 rotates all layers but every fourth.
void read_layers(const GgufFields& f, ModelConfig& c) {
    const auto layers = static_cast<std::size_t>(c.layers);
    // The converter leaves StarCoder 2's window out, which is 4096 in every published model.
    const std::int64_t window = c.family == ModelFamily::starcoder2 ? 4096 : 0;
    c.windows.assign(layers, f.integer("attention.sliding_window", 0, 1 << 30).value_or(window));
    c.layer_ropes.assign(layers, LayerRope::global);
    const std::int64_t pattern = family_defaults(c.family).window_pattern;
    const std::vector<std::int64_t>* listed = f.integers("attention.sliding_window_pattern");
    for (std::size_t i = 0; i < layers; ++i) {
        const auto number = static_cast<std::int64_t>(i) + 1;
        if (listed && i < listed->size() ? listed->at(i) == 0
                                         : pattern > 0 && number % pattern == 0)
            c.windows[i] = 0;
        if (c.family == ModelFamily::smollm3 && number % 4 == 0)
            c.layer_ropes[i] = LayerRope::none;
        if (c.family == ModelFamily::gemma3 && c.windows[i] > 0)
            c.layer_ropes[i] = LayerRope::local;
    }
    if (c.family != ModelFamily::gemma3)
        return;
    c.local_rope = RopeConfig{};
    c.local_rope->dimensions = c.head_dim;
    c.local_rope->context_length = c.context_length;
    c.local_rope->theta = f.number("rope.freq_base_swa", 1.0001, 1e15).value_or(10000.0);
}

void read_scales(const GgufFields& f, ModelConfig& c) {
    DecoderTraits& t = c.traits;
    const auto positive = [&](const char* key) {
        const double value = f.number(key, 0.0, 1e9).value_or(0.0);
        return value > 0 ? value : 1.0;
    };
    if (c.family == ModelFamily::granite) {
        t.embedding_scale = positive("embedding_scale");
        t.residual_scale = positive("residual_scale");
        t.logit_scale = 1.0 / positive("logit_scale");
        t.attention_scale = f.number("attention.scale", 0.0, 1e9).value_or(0.0);
    }
    if (c.family != ModelFamily::gemma2 && c.family != ModelFamily::gemma3)
        return;
    t.gain_adds_one = false; // the converter has added it
    t.embedding_scale = std::sqrt(static_cast<double>(c.hidden));
    // The files do not say query_pre_attn_scalar; the 27B models' differs.
    const std::int64_t large = c.family == ModelFamily::gemma2 ? 46 : 62;
    if (c.layers == large)
        t.attention_scale = 1.0 / std::sqrt(static_cast<double>(c.hidden / c.heads));
    t.attention_cap = f.number("attn_logit_softcapping", 0.0, 1e9).value_or(0.0);
    t.logit_cap = f.number("final_logit_softcapping", 0.0, 1e9).value_or(0.0);
}

void read_experts(const GgufFile& file, const GgufFields& f, ModelConfig& c) {
    c.experts.count = f.integer("expert_count", 0, 65536).value_or(0);
    if (c.experts.count == 0)
        return;
    if (c.family == ModelFamily::llama)
        c.family = ModelFamily::mixtral;
    else if (c.family != ModelFamily::qwen3_moe && c.family != ModelFamily::deepseek_v2)
        throw Error(ErrorCode::unsupported,
                    "mixture of experts of this architecture: not supported; supported are "
                    "mixtral, qwen3moe and deepseek2",
                    file.path().string());
    c.experts.used = f.require_integer("expert_used_count", 1, c.experts.count);
    c.experts.intermediate =
        f.integer("expert_feed_forward_length", 1, 1 << 22).value_or(c.intermediate);
    for (std::int64_t i = 0; i < c.layers; ++i)
        c.expert_layers.push_back(
            file.find_tensor("blk." + std::to_string(i) + ".ffn_gate_inp.weight") != nullptr);
    if (c.family == ModelFamily::deepseek_v2)
        read_deepseek_experts(f, c);
}

void read_heads(const GgufFields& f, ModelConfig& c) {
    c.heads = f.require_integer("attention.head_count", 1, 65536);
    if (c.family == ModelFamily::deepseek_v2)
        return read_latent_attention(f, c);
    c.kv_heads = f.integer("attention.head_count_kv", 1, 65536).value_or(c.heads);
    c.head_dim = f.integer("attention.key_length", 2, 4096)
                     .value_or(std::max<std::int64_t>(c.hidden / c.heads, 2));
    if (f.integer("attention.value_length", 2, 4096).value_or(c.head_dim) != c.head_dim)
        throw Error(ErrorCode::unsupported, "keys and values of different size are not supported",
                    f.file().path().string());
}

void read_switches(const GgufFile& file, ModelConfig& c) {
    const auto has = [&](const char* name) { return file.find_tensor(name) != nullptr; };
    c.tied_head = !has("output.weight");
    c.qkv_bias = has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias");
    c.output_bias = has("blk.0.attn_output.bias");
    c.mlp_bias = has("blk.0.ffn_up.bias");
    if (c.qk_norm == QueryKeyNorm::none && has("blk.0.attn_q_norm.weight"))
        c.qk_norm = QueryKeyNorm::head;
    c.fused_projections = c.family == ModelFamily::phi3;
}

void read_tokens(const GgufFile& file, ModelConfig& c) {
    if (auto id = file.find_integer("tokenizer.ggml.bos_token_id");
        id && *id >= 0 && *id < c.vocabulary)
        c.bos_id = static_cast<std::int32_t>(*id);
    for (const char* key : {"eos", "eot"})
        if (auto id = file.find_integer("tokenizer.ggml." + std::string(key) + "_token_id");
            id && *id >= 0 && *id < c.vocabulary)
            c.eos_ids.push_back(static_cast<std::int32_t>(*id));
}

} // namespace

ModelConfig read_gguf_config(const GgufFile& file) {
    const Architecture& architecture = require_architecture(file);
    const GgufFields f(file, std::string(architecture.name));
    ModelConfig c;
    c.family = architecture.family;
    c.traits = family_defaults(c.family).traits;
    c.qk_norm = family_defaults(c.family).qk_norm;
    c.hidden = f.require_integer("embedding_length", 1, 1 << 20);
    c.layers = f.require_integer("block_count", 1, 4096);
    c.intermediate = f.require_integer("feed_forward_length", 1, 1 << 22);
    c.context_length = f.require_integer("context_length", 1, 1 << 30);
    read_heads(f, c);
    c.norm_epsilon = f.number(c.traits.norm == NormKind::layer ? "attention.layer_norm_epsilon"
                                                               : "attention.layer_norm_rms_epsilon",
                              0.0, 1.0)
                         .value_or(1e-6);
    c.vocabulary = vocabulary_rows(file);
    check_config_shape(c, file.path().string());
    read_switches(file, c);
    read_experts(file, f, c);
    read_scales(f, c);
    c.rope = read_gguf_rope(file, f, c);
    if (c.has_latent_attention())
        c.traits.attention_scale = latent_attention_scale(c.head_dim, c.rope);
    read_layers(f, c);
    read_tokens(file, c);
    c.stored_dtype = std::string(ggml_type_name(file.tensors().front().type));
    return c;
}

} // namespace cuset
