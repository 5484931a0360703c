#include "core/model/attention.h"

#include <algorithm>
#include <limits>

namespace cuset {
namespace {

constexpr std::int64_t block_rows = 1024; // bounds the mask of a windowed or continued sequence
constexpr std::int64_t capped_rows = 256; // bounds the scores, which stand there in full

at::Tensor repeat_heads(const at::Tensor& t, std::int64_t heads) {
    const std::int64_t group = heads / t.size(0);
    return group == 1 ? t : at::repeat_interleave(t, group, 0);
}

// 0 where row `first_row + i` sees key `first_key + j`, else -infinity.
at::Tensor visible_mask(std::int64_t first_row, std::int64_t rows, std::int64_t first_key,
                        std::int64_t keys, std::int64_t window, const at::Tensor& like) {
    const auto options = at::TensorOptions().dtype(at::kLong).device(like.device());
    const at::Tensor row = at::arange(first_row, first_row + rows, options).unsqueeze(1);
    const at::Tensor key = at::arange(first_key, first_key + keys, options).unsqueeze(0);
    at::Tensor hidden = key > row;
    if (window > 0)
        hidden = hidden.logical_or(key <= row - window);
    return at::zeros({rows, keys}, like.options())
        .masked_fill_(hidden, -std::numeric_limits<double>::infinity());
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const std::optional<at::Tensor>& mask, bool causal, double scale) {
    // The library's way in blocks needs one width: zeros make up for what the values have less.
    const std::int64_t missing = q.size(-1) - v.size(-1);
    if (missing > 0)
        return attend(q, k, at::constant_pad_nd(v, {0, missing}), mask, causal, scale)
            .narrow(-1, 0, v.size(-1));
    return at::scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), mask,
                                            0.0, causal, scale)
        .squeeze(0);
}

// The softmax in float32 and the cap in the type of q, as transformers has them.
at::Tensor attend_capped(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const at::Tensor& mask, const AttentionShape& shape) {
    const at::Tensor scores = at::matmul(q, k.transpose(1, 2)) * shape.scale;
    const at::Tensor capped = at::tanh(scores / shape.cap) * shape.cap + mask;
    return at::matmul(at::softmax(capped, -1, at::kFloat).to(q.scalar_type()), v);
}

} // namespace

at::Tensor causal_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const AttentionShape& shape) {
    const at::Tensor keys = repeat_heads(k, q.size(0)), values = repeat_heads(v, q.size(0));
    const std::int64_t rows = q.size(1), past = shape.past;
    const bool windowed = shape.window > 0 && shape.window < past + rows;
    const bool capped = shape.cap > 0;
    if (!capped && !windowed && past == 0)
        return attend(q, keys, values, std::nullopt, true, shape.scale);
    if (!capped && !windowed && rows == 1)
        return attend(q, keys, values, std::nullopt, false, shape.scale);
    const std::int64_t step = capped ? capped_rows : block_rows;
    const std::int64_t window = windowed ? shape.window : 0;
    std::vector<at::Tensor> blocks;
    for (std::int64_t i = 0; i < rows; i += step) {
        const std::int64_t n = std::min(step, rows - i);
        const std::int64_t first = windowed ? std::max<std::int64_t>(0, past + i - window + 1) : 0;
        const std::int64_t count = past + i + n - first;
        const at::Tensor mask = visible_mask(past + i, n, first, count, window, q);
        const at::Tensor part = q.narrow(1, i, n), some_keys = keys.narrow(1, first, count),
                         some_values = values.narrow(1, first, count);
        blocks.push_back(capped ? attend_capped(part, some_keys, some_values, mask, shape)
                                : attend(part, some_keys, some_values, mask, false, shape.scale));
    }
    return at::cat(blocks, 1);
}

} // namespace cuset
