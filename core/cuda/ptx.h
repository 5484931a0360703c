// Kinds of the instructions in inline PTX (asm statements). Source: PTX ISA, chapter "Instruction
// Set".
#pragma once

#include <string_view>
#include <vector>

#include "core/cuda/structure.h"

namespace cuset::cuda_scan {

// Appends the CUDA-sensitive instructions of a string literal's text, in order: ld, st, cp.async,
// ... -> memory access; .shared, ldmatrix -> shared memory; bar, fence, mbarrier, cp.async.wait ->
// synchronisation; atom, red -> atomic; shfl, vote, match, mma -> warp intrinsic; %tid and its kin
// -> thread index. `offset` is added to the spans, which run from the opcode to the end of the
// instruction or of the literal. Linear.
void find_ptx_instructions(std::string_view literal, std::int32_t offset,
                           std::vector<SensitiveSpan>& out);

} // namespace cuset::cuda_scan
