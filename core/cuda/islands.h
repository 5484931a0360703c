// Islands: what each stretch of a response is. Reasoning (`<think>`) first, then Markdown fences by
// CommonMark's rules (spec 0.31, section 4.5), then the text itself: CUDA source, Python, Triton or
// prose.
#pragma once

#include <string_view>
#include <vector>

#include "core/cuda/structure.h"

namespace cuset::cuda_scan {

struct IslandMap {
    std::vector<Island> islands; // cover the text without gaps, in order; Python is not looked into
    bool unfinished = false; // a fence or the reasoning is cut off
};

// - `<think>` or `<thinking>` at the begin of a line opens reasoning, to its closing tag or the end
// of the text; a
//   closing tag without an opening one makes everything before it reasoning.
// - A fence with a C, C++, CUDA or HIP info string is source, with `python` it is Python or Triton,
// with none or an
//   unknown one it is what its text shows, else other code. Text around fences is prose. A first
//   fence without an info string after text that is code closes that text: the prompt opened the
//   block.
// - Without any fence the text is source, Python or Triton, unless it is plainly prose.
IslandMap find_islands(std::string_view text);

} // namespace cuset::cuda_scan
