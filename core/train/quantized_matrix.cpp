#include "core/train/quantized_matrix.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/model/cpu_elements.h"
#include "core/train/block_quantization.h"

namespace cuset {
namespace {

std::int64_t up(std::int64_t n, std::int64_t unit) {
    return (n + unit - 1) / unit;
}

template <class T> std::span<T> span_of(const at::Tensor& t) {
    return {static_cast<T*>(t.data_ptr()), static_cast<std::size_t>(t.numel())};
}

// Grow-only: a weight is widened for one product and then done with.
at::Tensor widening_buffer(std::int64_t rows, std::int64_t columns, at::ScalarType dtype) {
    static thread_local at::Tensor buffer;
    if (!buffer.defined() || buffer.scalar_type() != dtype || buffer.numel() < rows * columns) {
        buffer = at::Tensor();
        buffer = at::empty({rows * columns}, at::TensorOptions().dtype(dtype));
    }
    return buffer.narrow(0, 0, rows * columns).view({rows, columns});
}

} // namespace

QuantizedMatrix::QuantizedMatrix(const at::Tensor& weight, QuantizeBase kind)
    : kind_(kind)
    , rows_(weight.size(0))
    , columns_(weight.size(1))
    , dtype_(weight.scalar_type()) {
    const at::Tensor wide = weight.to(at::kCPU, at::kFloat).contiguous();
    if (kind == QuantizeBase::nf4)
        encode_nf4(wide);
    else
        encode_int8(wide);
    codes_ = codes_.to(weight.device());
    if (scale_codes_.defined())
        scale_codes_ = scale_codes_.to(weight.device());
    steps_ = steps_.to(weight.device());
}

void QuantizedMatrix::encode_nf4(const at::Tensor& wide) {
    const std::int64_t count = rows_ * columns_;
    if (count % 2 != 0)
        throw Error(ErrorCode::unsupported,
                    "nf4 needs weights with an even number of values, not " + std::to_string(rows_)
                        + " x " + std::to_string(columns_),
                    "quantize_base");
    codes_ = at::empty({count / 2}, at::TensorOptions().dtype(at::kByte));
    const std::int64_t blocks = up(count, nf4_block);
    std::vector<float> scales(static_cast<std::size_t>(blocks));
    const auto values = span_of<const float>(wide);
    at::parallel_for(0, blocks, 512, [&](std::int64_t begin, std::int64_t end) {
        const auto first = static_cast<std::size_t>(begin * nf4_block);
        const auto n = static_cast<std::size_t>(std::min(end * nf4_block, count)) - first;
        nf4_encode(values.subspan(first, n),
                   span_of<std::uint8_t>(codes_).subspan(first / 2, n / 2),
                   std::span(scales).subspan(static_cast<std::size_t>(begin)));
    });
    const NarrowScales narrow = narrow_scales(scales);
    scale_codes_ = at::empty({blocks}, at::TensorOptions().dtype(at::kChar));
    std::copy(narrow.codes.begin(), narrow.codes.end(), span_of<std::int8_t>(scale_codes_).begin());
    steps_ = at::tensor(at::ArrayRef<float>(narrow.steps), at::TensorOptions().dtype(at::kFloat));
    mean_ = static_cast<double>(narrow.mean);
}

void QuantizedMatrix::encode_int8(const at::Tensor& wide) {
    codes_ = at::empty({rows_, columns_}, at::TensorOptions().dtype(at::kChar));
    steps_ = at::empty({rows_, 1}, at::TensorOptions().dtype(at::kFloat));
    const auto width = static_cast<std::size_t>(columns_);
    at::parallel_for(0, rows_, 32, [&](std::int64_t begin, std::int64_t end) {
        for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r)
            span_of<float>(steps_)[r] =
                int8_encode(span_of<const float>(wide).subspan(r * width, width),
                            span_of<std::int8_t>(codes_).subspan(r * width, width));
    });
}

std::int64_t QuantizedMatrix::bytes() const {
    return quantized_bytes(kind_, rows_, columns_, 0);
}

at::Tensor QuantizedMatrix::scales() const {
    if (kind_ == QuantizeBase::int8)
        return steps_;
    const std::int64_t blocks = scale_codes_.size(0);
    const at::Tensor steps = at::repeat_interleave(steps_, scale_group, 0).narrow(0, 0, blocks);
    return (scale_codes_.to(at::kFloat) * steps).add_(mean_);
}

at::Tensor QuantizedMatrix::widened() const {
    if (!codes_.is_cpu() || (dtype_ != at::kFloat && dtype_ != at::kBFloat16))
        return widened_on_device();
    at::Tensor out = widening_buffer(rows_, columns_, dtype_);
    const at::Tensor factors = scales();
    const auto factor = span_of<const float>(factors);
    const std::int64_t count = rows_ * columns_;
    const auto width = static_cast<std::size_t>(columns_);
    cpu::with_element(dtype_, [&](auto element) {
        using T = decltype(element);
        const auto to = span_of<T>(out);
        if (kind_ == QuantizeBase::nf4) {
            at::parallel_for(
                0, up(count, nf4_block), 512, [&](std::int64_t begin, std::int64_t end) {
                    const std::int64_t first = begin * nf4_block;
                    nf4_decode(span_of<const std::uint8_t>(codes_), factor, first,
                               to.subspan(static_cast<std::size_t>(first),
                                          static_cast<std::size_t>(std::min(end * nf4_block, count)
                                                                   - first)));
                });
            return;
        }
        at::parallel_for(0, rows_, 32, [&](std::int64_t begin, std::int64_t end) {
            for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r)
                int8_decode(span_of<const std::int8_t>(codes_).subspan(r * width, width), factor[r],
                            to.subspan(r * width, width));
        });
    });
    return out;
}

// In torch operations, some rows at a time: an index takes four bytes a value.
at::Tensor QuantizedMatrix::widened_on_device() const {
    if (kind_ == QuantizeBase::int8)
        return (codes_.to(at::kFloat) * steps_).to(dtype_);
    constexpr std::int64_t values_at_once = std::int64_t{1} << 22; // a multiple of the block
    const at::Tensor levels = at::tensor(at::ArrayRef<float>(nf4_levels.data(), nf4_levels.size()),
                                         at::TensorOptions().dtype(at::kFloat))
                                  .to(codes_.device());
    const at::Tensor factors = scales();
    const std::int64_t count = rows_ * columns_;
    at::Tensor out = at::empty({count}, codes_.options().dtype(dtype_));
    for (std::int64_t begin = 0; begin < count; begin += values_at_once) {
        const std::int64_t n = std::min(values_at_once, count - begin), blocks = up(n, nf4_block);
        const at::Tensor pairs = codes_.narrow(0, begin / 2, n / 2);
        const at::Tensor index = at::stack({at::bitwise_right_shift(pairs, at::Scalar(4)),
                                            at::bitwise_and(pairs, at::Scalar(15))},
                                           1)
                                     .view({n})
                                     .to(at::kInt);
        const at::Tensor factor =
            at::repeat_interleave(factors.narrow(0, begin / nf4_block, blocks), nf4_block, 0)
                .narrow(0, 0, n);
        out.narrow(0, begin, n).copy_(at::index_select(levels, 0, index).mul_(factor));
    }
    return out.view({rows_, columns_});
}

std::int64_t quantized_bytes(QuantizeBase kind, std::int64_t rows, std::int64_t columns,
                             std::int64_t element_bytes) {
    const std::int64_t count = rows * columns;
    switch (kind) {
    case QuantizeBase::none:
        return count * element_bytes;
    case QuantizeBase::int8:
        return count + 4 * rows;
    case QuantizeBase::nf4:
        return count / 2 + up(count, nf4_block) + 4 * up(up(count, nf4_block), scale_group);
    }
    return 0;
}

} // namespace cuset
