// Checks a response's CUDA source with nvcc: `nvcc -c` in a temporary folder, started without a
// shell and killed after a time limit. What was compiled is never run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/run_control.h"

namespace cuset {

struct CompilerMessage {
    enum class Severity { note, warning, error };
    Severity severity = Severity::error;
    std::int32_t line = 0; // from 1; 0: of no line
    std::int32_t column = 0; // from 1; 0: not told
    std::string text; // the first line of what the compiler says
};
std::string_view severity_name(CompilerMessage::Severity severity) noexcept;

struct CompileResult {
    bool ok = false; // the compiler ended with 0
    bool timed_out = false;
    double seconds = 0;
    std::vector<CompilerMessage> messages; // in the compiler's order; lines are the response's
    std::string output; // all it wrote, cut at 256 KiB
};

struct CompileOptions {
    std::string compiler; // nvcc's path; "": find_nvcc()
    std::vector<std::string> arguments; // more of them, e.g. "-arch=sm_90"
    double time_limit = 60; // seconds
};

// $CUDA_HOME/bin/nvcc, $CUDA_PATH/bin/nvcc, nvcc in PATH, /usr/local/cuda/bin/nvcc; "" if none is
// there.
std::string find_nvcc();

// The response with every byte that is not CUDA source made a blank, line ends kept: its lines are
// the response's lines.
std::string compilable_source(std::string_view response);

// Compiles a response's source; one without any is not ok and says so. Throws Error: not_found (no
// nvcc), disk (no temporary folder), failure (nvcc cannot be started); Cancelled.
CompileResult check_compiles(std::string_view response, const CompileOptions& options,
                             RunControl& control);

// Lines "FILE(3): error: ...", "FILE:3:10: warning: ..." and those of ptxas and nvcc itself.
std::vector<CompilerMessage> parse_compiler_output(std::string_view output, std::string_view file);

} // namespace cuset
