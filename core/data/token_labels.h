// The label bits of a response token: CUDA structure (Eq. 3) and kinds of CUDA-sensitive span.
// Method: Chen et al., "From Tokens to Regions: CUDA-Sensitive Instruction Tuning for GPU Kernel
// Generation", Findings of EMNLP 2026, doi 10.18653/2026.findings-emnlp.2045.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cuset {

// Order is that of the label bits and of the file formats.
enum class SensitiveKind : std::uint8_t {
    memory_access,
    shared_memory,
    thread_index,
    synchronization,
    launch_config,
    atomic,
    warp_intrinsic,
    memory_management,
};

inline constexpr int sensitive_kind_count = 8;
inline constexpr std::array<std::string_view, sensitive_kind_count> sensitive_kind_names{
    "memory_access", "shared_memory", "thread_index",   "synchronization",
    "launch_config", "atomic",        "warp_intrinsic", "memory_management"};

// Bit 0: in a kernel body. Bit 1: in a launch configuration. Bits 2..9: the kinds in their order.
using LabelBits = std::uint16_t;

inline constexpr LabelBits kernel_bit = 1u << 0;
inline constexpr LabelBits launch_bit = 1u << 1;
constexpr LabelBits kind_bit(SensitiveKind kind) {
    return static_cast<LabelBits>(4u << static_cast<unsigned>(kind));
}

// Eq. 3's indicator: the token shares a byte with a kernel body or a launch configuration.
constexpr bool is_cuda_masked(LabelBits bits) {
    return (bits & (kernel_bit | launch_bit)) != 0;
}
// The statistics' indicator: any bit but the kernel body's.
constexpr bool is_cuda_sensitive(LabelBits bits) {
    return (bits & static_cast<LabelBits>(~kernel_bit)) != 0;
}

} // namespace cuset
