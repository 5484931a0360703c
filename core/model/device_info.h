// Devices that can compute, and what they can do. CUDA is looked at through the driver alone;
// LibTorch's CUDA library is loaded when a CUDA device is chosen, so that a start without one stays
// fast.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/inference_session.h"

namespace cuset {

// bfloat16 products in hardware (AVX512_BF16 or AMX).
bool cpu_has_bfloat16();
// AMX tiles: float32 products at reduced precision would be computed in bfloat16 there.
bool cpu_has_amx();
bool cpu_is_amd();

struct ChosenDevice {
    bool cuda = false;
    int index = 0;
    DeviceInfo info;
};

// "auto", "cpu", "cuda", "cuda:N". Loads LibTorch's CUDA library if the answer is a CUDA device.
// Throws Error: usage (not such a word), no_device (with what is missing and how to get it).
ChosenDevice choose_device(const std::string& name);

// "auto", "float32", "bfloat16", "float16" -> one of the last three. Throws Error(usage).
std::string choose_dtype(const std::string& name, const DeviceInfo& device);

// How many threads torch computes with (0: one for each core), and how float32 products are
// computed there.
void configure_compute(const ChosenDevice& device, int threads);

} // namespace cuset
