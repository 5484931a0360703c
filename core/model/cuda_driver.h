// The CUDA devices that the NVIDIA driver shows, asked through libcuda and NVML: no CUDA toolkit,
// no context.
#pragma once

#include <vector>

#include "core/model/inference_session.h"

namespace cuset {

// "cuda:0", ... in the driver's order; empty without a driver or device. Never throws.
std::vector<DeviceInfo> cuda_devices();

} // namespace cuset
