#include "core/model/memory_estimate.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/model/device_info.h"
#include "core/model/model_files.h"
#include "core/model/scorer.h"

namespace cuset {

std::int64_t dtype_bytes(const std::string& dtype) {
    return dtype == "float32" ? 4 : 2;
}

MemoryEstimate estimate_for(const ModelConfig& config, const std::string& dtype,
                            std::int32_t max_length, const DeviceInfo& device) {
    const std::int64_t element = dtype_bytes(dtype);
    const std::int64_t length = std::clamp<std::int64_t>(max_length, 1, config.context_length);
    MemoryEstimate estimate;
    estimate.device = device.name;
    estimate.weights_bytes = static_cast<std::uint64_t>(config.parameters() * element);
    estimate.working_bytes = scoring_bytes(config, length, element);
    estimate.free_bytes = device.free_bytes;
    estimate.fits = estimate.weights_bytes + estimate.working_bytes <= estimate.free_bytes;
    return estimate;
}

void require_memory(const MemoryEstimate& e, const std::string& subject) {
    if (e.fits)
        return;
    throw Error(ErrorCode::out_of_memory,
                "needs about " + format_bytes(e.weights_bytes + e.working_bytes) + " ("
                    + format_bytes(e.weights_bytes) + " for the weights) on " + e.device + ", "
                    + format_bytes(e.free_bytes)
                    + " are free; use bfloat16, a smaller model or another device",
                subject);
}

std::vector<MemoryEstimate> estimate_memory(const std::string& name_or_path,
                                            const std::string& dtype, std::int32_t max_length) {
    const ModelFiles files = open_model_files(name_or_path);
    std::vector<MemoryEstimate> estimates;
    for (const DeviceInfo& device : list_devices())
        estimates.push_back(
            estimate_for(files.config, choose_dtype(dtype, device), max_length, device));
    return estimates;
}

} // namespace cuset
