// CudaStructure: kernels, launches and CUDA-sensitive spans of a response, found by a scanner of
// our own that works on complete, broken and truncated text alike, in linear time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"
#include "core/data/token_labels.h"

namespace cuset {

struct KernelDefinition {
    std::string name; // "" if it could not be told
    ByteSpan span; // from its first word (template, extern, __global__, ...) to the closing brace
    ByteSpan body; // braces included; to the end of the text if cut off
    bool complete = true; // the closing brace is there
    bool in_macro = false; // inside a #define
};

struct KernelLaunch {
    std::string kernel; // the expression that is launched
    ByteSpan span; // from the kernel's name to the closing parenthesis of its arguments
    ByteSpan config; // `<<<` .. `>>>` both included, or the API call's configuration argument
    std::vector<ByteSpan> arguments; // of the configuration, outer blanks and comments removed
    bool api = false; // cudaLaunchKernel and its kin rather than <<<>>>
    bool in_macro = false;
    bool complete = true;
};

struct SensitiveSpan {
    SensitiveKind kind = SensitiveKind::memory_access;
    ByteSpan span;
    std::string_view rule; // static text: the rule that fired, e.g. "subscript of a kernel pointer"
};

// What a stretch of the response was taken for.
enum class IslandKind { cuda_source, prose, reasoning, python, other_code, triton };
std::string_view island_kind_name(IslandKind kind) noexcept;

struct Island {
    IslandKind kind = IslandKind::cuda_source;
    ByteSpan span;
};

struct CudaStructure {
    std::vector<KernelDefinition> kernels; // by begin
    std::vector<KernelLaunch> launches; // by begin
    std::vector<ByteSpan> dim3; // dim3 declarations
    std::vector<SensitiveSpan> spans; // by begin, then kind
    std::vector<Island> islands; // cover the text without gaps, in order
    double placed_share = 1.0; // share of the bytes that were placed as source or plain prose
    bool unfinished = false; // a body, launch, string, comment, fence or reasoning is cut off
};

// `response_text`: any bytes. The whole response: Markdown fences, Python strings and reasoning are
// told apart.
CudaStructure find_cuda_structure(std::string_view response_text);
// `source` is CUDA source from its first to its last byte (a .cu file).
CudaStructure find_cuda_structure_in_source(std::string_view source);

} // namespace cuset
