// A frozen weight kept in few bits (block_quantization.h), widened for each product. Sees torch.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/torch_pch.h"
#include "core/train/train_config.h"

namespace cuset {

class QuantizedMatrix {
public:
    QuantizedMatrix() = default;
    // weight [out, in] of any floating type; `kind` is not none.
    QuantizedMatrix(const at::Tensor& weight, QuantizeBase kind);

    bool defined() const { return codes_.defined(); }
    std::int64_t rows() const { return rows_; }
    std::int64_t columns() const { return columns_; }
    std::int64_t bytes() const; // that it takes
    // [out, in] in the weight's own type, on its device; from a buffer that the next call on this
    // thread overwrites where that is the processor.
    at::Tensor widened() const;

private:
    void encode_nf4(const at::Tensor& wide);
    void encode_int8(const at::Tensor& wide);
    at::Tensor scales() const; // float32 of the processor: of blocks, or of rows
    at::Tensor widened_on_device() const;

    QuantizeBase kind_ = QuantizeBase::none;
    std::int64_t rows_ = 0, columns_ = 0;
    at::ScalarType dtype_ = at::kFloat;
    at::Tensor codes_; // nf4: [out * in / 2] uint8; int8: [out, in] int8; on the weight's device
    at::Tensor scale_codes_; // nf4: [blocks] int8
    at::Tensor steps_; // nf4: [groups]; int8: [out, 1]; float32
    double mean_ = 0; // nf4: of the scales
};

// Bytes of a weight of rows x columns values, as QuantizedMatrix::bytes() will say;
// `element_bytes` each if it is not quantised.
std::int64_t quantized_bytes(QuantizeBase kind, std::int64_t rows, std::int64_t columns,
                             std::int64_t element_bytes);

} // namespace cuset
