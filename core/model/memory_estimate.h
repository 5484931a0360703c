// What a model will take, before it is loaded.
#pragma once

#include <string>

#include "core/model/inference_session.h"
#include "core/model/model_config.h"

namespace cuset {

std::int64_t dtype_bytes(const std::string& dtype); // of float32, bfloat16, float16

// For scoring at `max_length` tokens (at most the model's context) on `device`.
MemoryEstimate estimate_for(const ModelConfig& config, const std::string& dtype,
                            std::int32_t max_length, const DeviceInfo& device);

// Throws Error(out_of_memory) with estimate and free memory if it does not fit.
void require_memory(const MemoryEstimate& estimate, const std::string& subject);

} // namespace cuset
