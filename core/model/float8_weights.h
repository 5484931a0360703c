// FP8 checkpoints: which scales belong to a weight and how they lie. Block scales as DeepSeek-V3's
// (arXiv 2412.19437), scales for each row or for the whole weight as compressed-tensors'. Sees
// torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/io/model_folder.h"
#include "core/model/torch_pch.h"

namespace cuset {

struct Float8Scales {
    const TensorView* scales = nullptr;
    std::int64_t block_rows = 0, block_columns = 0; // one scale for each block of the weight
};

bool is_float8(DType dtype) noexcept;

// Block sizes that config.json's quantization_config gives, or nothing.
std::vector<std::int64_t> float8_block_size(const ModelFolder& folder);

// The scales of the FP8 matrix `name` ("....weight"): X.weight_scale_inv or X.weight_scale, by
// which the stored numbers are multiplied. `block_size` is what float8_block_size returned. Throws
// Error: unsupported (no scales), bad_value (a shape that fits no way of scaling).
Float8Scales find_float8_scales(const ModelFolder& folder, const std::string& name,
                                const std::vector<std::int64_t>& block_size);

// Decodes the FP8 matrix `name` into out [R, C].
void read_float8(const ModelFolder& folder, const std::string& name,
                 const std::vector<std::int64_t>& block_size, at::Tensor& out);

// Throws Error(unsupported) for a weight that has scales but is not FP8, and for an FP8 weight
// without scales.
void check_scaled_weights(const ModelFolder& folder, const std::vector<std::string>& names);

} // namespace cuset
