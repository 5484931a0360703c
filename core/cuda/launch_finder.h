// Finds kernel launches: `<<<...>>>`, and calls of cudaLaunchKernel and its kin.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/code_view.h"
#include "core/cuda/structure.h"

namespace cuset::cuda_scan {

// By begin. A `<<<` without its `>>>` is a launch only if the text ends inside it. Linear.
std::vector<KernelLaunch> find_launches(const CodeView& code);

} // namespace cuset::cuda_scan
