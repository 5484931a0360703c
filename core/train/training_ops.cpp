#include "core/train/training_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/cpu_elements.h"
#include "core/model/matrix_product.h"
#include "core/train/counter_random.h"
#include "core/train/training_kernels.h"

namespace cuset {
namespace {

constexpr std::int64_t query_block = 256; // rows of attention at a time

using cpu::data;
using cpu::data_or_null;
using cpu::grain;
using cpu::has_kernels;
using cpu::with_element;

// 1 / sqrt(mean(x^2) + epsilon), float32 [.., 1].
at::Tensor inverse_norm(const at::Tensor& wide, double epsilon) {
    return at::rsqrt(at::mean(wide * wide, {-1}, true).add_(epsilon));
}

} // namespace

at::Tensor norm_forward(const at::Tensor& x, const at::Tensor& gain, double epsilon) {
    if (!has_kernels(x) || !x.is_contiguous()) {
        const at::Tensor wide = x.to(at::kFloat);
        return gain * (wide * inverse_norm(wide, epsilon)).to(x.scalar_type());
    }
    const std::int64_t channels = x.size(-1),
                       rows = x.numel() / std::max<std::int64_t>(1, channels);
    at::Tensor out = at::empty_like(x);
    with_element(x.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(rows, grain(channels), [&](std::int64_t begin, std::int64_t end) {
            cpu::rms_norm(data<T>(x), data<T>(gain), data<T>(out), begin, end, channels,
                          static_cast<float>(epsilon));
        });
    });
    return out;
}

at::Tensor norm_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& dy,
                         double epsilon, const at::Tensor& gain_gradient,
                         const at::Tensor& residual) {
    const bool kernels = has_kernels(x) && x.is_contiguous() && dy.is_contiguous()
        && dy.scalar_type() == x.scalar_type() && (!residual.defined() || residual.is_contiguous());
    if (kernels && !gain_gradient.defined()) {
        const std::int64_t channels = x.size(-1), rows = x.numel() / channels;
        at::Tensor out = at::empty_like(x);
        with_element(x.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(rows, grain(channels), [&](std::int64_t begin, std::int64_t end) {
                cpu::rms_norm_backward(data<T>(x), data<T>(gain), data<T>(dy),
                                       data_or_null<T>(residual), data<T>(out), begin, end,
                                       channels, static_cast<float>(epsilon));
            });
        });
        return out;
    }
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor inverse = inverse_norm(wide, epsilon);
    const at::Tensor unit = wide * inverse;
    const at::Tensor d = dy.to(at::kFloat);
    if (gain_gradient.defined())
        gain_gradient.add_((d * unit).reshape({-1, x.size(-1)}).sum(0));
    const at::Tensor scaled = d * gain;
    const at::Tensor along = at::mean(scaled * unit, {-1}, true);
    at::Tensor dx = (scaled - unit * along).mul_(inverse);
    if (residual.defined())
        dx.add_(residual);
    return dx.to(x.scalar_type());
}

at::Tensor swiglu_forward(const at::Tensor& gate_up) {
    const std::int64_t width = gate_up.size(-1) / 2, rows = gate_up.size(0);
    if (!has_kernels(gate_up))
        return at::silu(gate_up.narrow(-1, 0, width)) * gate_up.narrow(-1, width, width);
    at::Tensor out = at::empty({rows, width}, gate_up.options());
    with_element(gate_up.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
            cpu::swiglu(data<T>(gate_up), data<T>(out), begin, end, width);
        });
    });
    return out;
}

at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& dy) {
    const std::int64_t width = gate_up.size(-1) / 2;
    at::Tensor gradient = at::empty_like(gate_up);
    if (has_kernels(gate_up)) {
        with_element(gate_up.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(gate_up.size(0), grain(width),
                               [&](std::int64_t begin, std::int64_t end) {
                                   cpu::swiglu_backward(data<T>(gate_up), data<T>(dy),
                                                        data<T>(gradient), begin, end, width);
                               });
        });
        return gradient;
    }
    const at::Tensor gate = gate_up.narrow(-1, 0, width), up = gate_up.narrow(-1, width, width);
    gradient.narrow(-1, width, width).copy_(at::silu(gate).mul_(dy));
    gradient.narrow(-1, 0, width).copy_(at::silu_backward(dy * up, gate));
    return gradient;
}

namespace {

// Pairs are channel i and i + D/2; direction -1 turns back.
at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables, double direction) {
    const std::int64_t half = x.size(-1) / 2;
    const at::Tensor cosine = tables.cosine.to(x.scalar_type()).unsqueeze(1);
    const at::Tensor sine = (tables.sine * direction).to(x.scalar_type()).unsqueeze(1);
    const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
    at::Tensor out = at::empty(x.sizes(), x.options());
    at::Tensor out_a = out.narrow(-1, 0, half), out_b = out.narrow(-1, half, half);
    at::mul_out(out_a, a, cosine);
    out_a.addcmul_(b, sine, -1);
    at::mul_out(out_b, b, cosine);
    out_b.addcmul_(a, sine);
    return out;
}

struct Block {
    std::int64_t begin, rows, first_key, keys;
};

std::vector<Block> blocks_of(std::int64_t rows, std::int64_t window) {
    std::vector<Block> blocks;
    for (std::int64_t begin = 0; begin < rows; begin += query_block) {
        const std::int64_t n = std::min(query_block, rows - begin);
        const std::int64_t first = window > 0 ? std::max<std::int64_t>(0, begin - window + 1) : 0;
        blocks.push_back({begin, n, first, begin + n - first});
    }
    return blocks;
}

cpu::SoftmaxLayout layout_of(const Block& block, std::int64_t window) {
    cpu::SoftmaxLayout layout;
    layout.rows = block.rows;
    layout.columns = block.keys;
    layout.first_position = block.begin;
    layout.first_key = block.first_key;
    layout.window = window;
    return layout;
}

// scores [K, G * rows, keys] -> probabilities, in place where there is a kernel.
at::Tensor visible_softmax(at::Tensor scores, const Block& block, std::int64_t window) {
    if (has_kernels(scores)) {
        with_element(scores.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(scores.size(0) * scores.size(1), grain(block.keys),
                               [&](std::int64_t begin, std::int64_t end) {
                                   cpu::causal_softmax(data<T>(scores), begin, end,
                                                       layout_of(block, window));
                               });
        });
        return scores;
    }
    const auto options = at::TensorOptions().dtype(at::kLong).device(scores.device());
    const at::Tensor row = at::arange(block.begin, block.begin + block.rows, options).unsqueeze(1);
    const at::Tensor key =
        at::arange(block.first_key, block.first_key + block.keys, options).unsqueeze(0);
    at::Tensor hidden = key > row;
    if (window > 0)
        hidden = hidden.logical_or(key <= row - window);
    const at::Tensor shaped = scores.view({-1, block.rows, block.keys});
    return at::softmax(shaped.masked_fill(hidden, -std::numeric_limits<double>::infinity()), -1)
        .view_as(scores);
}

// dp, the gradient in the probabilities, becomes that in the scores.
at::Tensor softmax_backward(const at::Tensor& p, const at::Tensor& dp, const Block& block,
                            std::int64_t window) {
    if (!has_kernels(p))
        return at::_softmax_backward_data(dp, p, -1, p.scalar_type());
    with_element(p.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(p.size(0) * p.size(1), grain(block.keys),
                           [&](std::int64_t begin, std::int64_t end) {
                               cpu::causal_softmax_backward(data<T>(p), data<T>(dp), begin, end,
                                                            layout_of(block, window));
                           });
    });
    return dp;
}

// Rows of a block as [K, G * rows, D]: the query heads of one key head share a product.
at::Tensor block_queries(const at::Tensor& q, const Block& block, std::int64_t key_heads) {
    return q.narrow(1, block.begin, block.rows)
        .reshape({key_heads, q.size(0) / key_heads * block.rows, q.size(2)});
}

at::Tensor block_probabilities(const at::Tensor& queries, const at::Tensor& k, const Block& block,
                               std::int64_t window) {
    at::Tensor scores =
        at::empty({queries.size(0), queries.size(1), block.keys}, queries.options());
    batched_product(queries, k.narrow(1, block.first_key, block.keys).transpose(1, 2), scores);
    return visible_softmax(std::move(scores), block, window);
}

cpu::HeadLayout layout_of(const Segment& segment, const HeadShape& shape) {
    cpu::HeadLayout layout;
    layout.heads = shape.heads;
    layout.kv_heads = shape.kv_heads;
    layout.head_dim = shape.head_dim;
    layout.rows = layout.block = layout.capacity = segment.rows();
    layout.query_scale = 1.f / std::sqrt(static_cast<float>(shape.head_dim));
    layout.epsilon = static_cast<float>(shape.epsilon);
    return layout;
}

HeadTensors split_in_steps(const at::Tensor& qkv, const at::Tensor& q_gain,
                           const at::Tensor& k_gain, const RotaryTables& tables,
                           const HeadShape& shape) {
    const std::int64_t rows = qkv.size(0), rotated_heads = shape.heads + shape.kv_heads;
    const at::Tensor by_head = qkv.view({rows, -1, shape.head_dim});
    at::Tensor qk = by_head.narrow(1, 0, rotated_heads);
    if (q_gain.defined())
        qk = at::cat(
            {norm_forward(qk.narrow(1, 0, shape.heads), q_gain, shape.epsilon),
             norm_forward(qk.narrow(1, shape.heads, shape.kv_heads), k_gain, shape.epsilon)},
            1);
    const at::Tensor rotated = rotate(qk, tables, 1);
    const auto take = [](const at::Tensor& t, std::int64_t first, std::int64_t heads) {
        return t.narrow(1, first, heads).transpose(0, 1).contiguous();
    };
    const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
    return {take(rotated, 0, shape.heads).mul_(scale), take(rotated, shape.heads, shape.kv_heads),
            take(by_head, rotated_heads, shape.kv_heads)};
}

RotaryTables rows_of(const RotaryTables& tables, const Segment& segment) {
    return {tables.cosine.narrow(0, segment.begin, segment.rows()),
            tables.sine.narrow(0, segment.begin, segment.rows())};
}

} // namespace

HeadTensors split_heads(const at::Tensor& qkv, const at::Tensor& q_gain, const at::Tensor& k_gain,
                        const RotaryTables& tables, const Segment& segment,
                        const HeadShape& shape) {
    const at::Tensor part = qkv.narrow(0, segment.begin, segment.rows());
    const RotaryTables turns = rows_of(tables, segment);
    if (!has_kernels(qkv))
        return split_in_steps(part, q_gain, k_gain, turns, shape);
    HeadTensors out{at::empty({shape.heads, segment.rows(), shape.head_dim}, qkv.options()),
                    at::empty({shape.kv_heads, segment.rows(), shape.head_dim}, qkv.options()),
                    at::empty({shape.kv_heads, segment.rows(), shape.head_dim}, qkv.options())};
    with_element(qkv.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(
            segment.rows(), grain(qkv.size(1)), [&](std::int64_t begin, std::int64_t end) {
                cpu::split_rotate(data<T>(part), data_or_null<T>(q_gain), data_or_null<T>(k_gain),
                                  data<float>(turns.cosine), data<float>(turns.sine),
                                  data<T>(out.q), data<T>(out.k), data<T>(out.v), begin, end,
                                  layout_of(segment, shape));
            });
    });
    return out;
}

void merge_heads(const HeadTensors& gradients, const RotaryTables& tables, const Segment& segment,
                 const HeadShape& shape, const at::Tensor& dqkv) {
    const at::Tensor part = dqkv.narrow(0, segment.begin, segment.rows());
    const RotaryTables turns = rows_of(tables, segment);
    if (has_kernels(dqkv)) {
        with_element(dqkv.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(
                segment.rows(), grain(dqkv.size(1)), [&](std::int64_t begin, std::int64_t end) {
                    cpu::merge_rotate_back(data<T>(gradients.q), data<float>(gradients.k),
                                           data<float>(gradients.v), data<float>(turns.cosine),
                                           data<float>(turns.sine), data<T>(part), begin, end,
                                           layout_of(segment, shape));
                });
        });
        return;
    }
    at::Tensor by_head = part.view({segment.rows(), -1, shape.head_dim});
    const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
    const at::Tensor q = (gradients.q * scale).transpose(0, 1).contiguous();
    const at::Tensor k = gradients.k.to(dqkv.scalar_type()).transpose(0, 1).contiguous();
    by_head.narrow(1, 0, shape.heads).copy_(rotate(q, turns, -1));
    by_head.narrow(1, shape.heads, shape.kv_heads).copy_(rotate(k, turns, -1));
    by_head.narrow(1, shape.heads + shape.kv_heads, shape.kv_heads)
        .copy_(gradients.v.transpose(0, 1));
}

at::Tensor attention_forward(const HeadTensors& t, std::int64_t window) {
    const std::int64_t heads = t.q.size(0), rows = t.q.size(1), d = t.q.size(2);
    at::Tensor out = at::empty({rows, heads, d}, t.q.options());
    for (const Block& block : blocks_of(rows, window)) {
        const at::Tensor queries = block_queries(t.q, block, t.k.size(0));
        const at::Tensor p = block_probabilities(queries, t.k, block, window);
        const at::Tensor y = at::empty_like(queries);
        batched_product(p, t.v.narrow(1, block.first_key, block.keys), y);
        out.narrow(0, block.begin, block.rows)
            .copy_(y.view({heads, block.rows, d}).transpose(0, 1));
    }
    return out;
}

HeadTensors attention_backward(const HeadTensors& t, const at::Tensor& dy, std::int64_t window) {
    const std::int64_t heads = t.q.size(0), d = t.q.size(2), key_heads = t.k.size(0);
    const at::Tensor by_head = dy.transpose(0, 1); // [H, n, D]
    // Sums over blocks are kept in float32 on any type.
    HeadTensors out{at::empty_like(t.q), at::zeros(t.k.sizes(), t.k.options().dtype(at::kFloat)),
                    at::zeros(t.v.sizes(), t.v.options().dtype(at::kFloat))};
    for (const Block& block : blocks_of(t.q.size(1), window)) {
        const auto seen = [&](const at::Tensor& x) {
            return x.narrow(1, block.first_key, block.keys);
        };
        const at::Tensor queries = block_queries(t.q, block, key_heads);
        const at::Tensor p = block_probabilities(queries, t.k, block, window);
        const at::Tensor g = block_queries(by_head, block, key_heads);
        batched_product(p.transpose(1, 2), g, seen(out.v), true);
        const at::Tensor dp = at::empty_like(p);
        batched_product(g, seen(t.v).transpose(1, 2), dp);
        const at::Tensor ds = softmax_backward(p, dp, block, window);
        const at::Tensor dq = at::empty_like(queries);
        batched_product(ds, seen(t.k), dq);
        out.q.narrow(1, block.begin, block.rows).copy_(dq.view({heads, block.rows, d}));
        batched_product(ds.transpose(1, 2), queries, seen(out.k), true);
    }
    return out;
}

namespace {

// The mask of drop_elements in tensor operations, for other devices and types: logical shifts and
// wrapping products of 64-bit integers.
at::Tensor shift_right(const at::Tensor& z, std::int64_t bits) {
    const std::int64_t keep = (std::int64_t{1} << (64 - bits)) - 1;
    return at::bitwise_and(at::bitwise_right_shift(z, at::Scalar(bits)), at::Scalar(keep));
}

at::Tensor dropout_factors(const at::Tensor& like, std::uint64_t key, double p) {
    const std::int64_t count = like.numel(), words = (count + 3) / 4;
    const auto options = at::TensorOptions().dtype(at::kLong).device(like.device());
    const auto constant = [](std::uint64_t x) { return at::Scalar(static_cast<std::int64_t>(x)); };
    at::Tensor z = at::arange(1, words + 1, options).mul_(constant(0x9e3779b97f4a7c15u));
    z.add_(constant(key));
    z = at::bitwise_xor(z, shift_right(z, 30)).mul_(constant(0xbf58476d1ce4e5b9u));
    z = at::bitwise_xor(z, shift_right(z, 27)).mul_(constant(0x94d049bb133111ebu));
    z = at::bitwise_xor(z, shift_right(z, 31));
    const at::Tensor shifts = at::arange(0, 64, 16, options);
    const at::Tensor lanes =
        at::bitwise_and(at::bitwise_right_shift(z.unsqueeze(1), shifts), at::Scalar(0xffff))
            .view({-1})
            .narrow(0, 0, count);
    const auto threshold = static_cast<std::int64_t>(std::lround(p * 65536.0));
    const float scale = 65536.f / static_cast<float>(65536 - threshold);
    return (lanes >= threshold).to(like.scalar_type()).mul_(scale).view(like.sizes());
}

} // namespace

namespace {

// f(segment's rows of x, key) of each segment.
void drop_segments(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                   double p, const at::Tensor& to, bool adds) {
    const std::int64_t width = x.size(-1);
    for (const Segment& segment : segments) {
        const std::uint64_t key = random_key(RandomUse::dropout, {segment.key, layer});
        if (!has_kernels(x) || !x.is_contiguous()) {
            const at::Tensor part = x.narrow(0, segment.begin, segment.rows());
            at::Tensor target = to.narrow(0, segment.begin, segment.rows());
            if (adds)
                target.addcmul_(part, dropout_factors(part, key, p));
            else
                at::mul_out(target, part, dropout_factors(part, key, p));
            continue;
        }
        with_element(x.scalar_type(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(
                segment.rows(), grain(width), [&](std::int64_t begin, std::int64_t end) {
                    const std::int64_t at = (segment.begin + begin) * width;
                    const DropRange range{key, begin * width, (end - begin) * width, p};
                    if (adds)
                        add_dropped(data<T>(x) + at, data<T>(to) + at, range);
                    else
                        drop_elements(data<T>(x) + at, data<T>(to) + at, range);
                });
        });
    }
}

} // namespace

at::Tensor dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                   double p) {
    at::Tensor out = at::empty(x.sizes(), x.options());
    drop_segments(x, segments, layer, p, out, false);
    return out;
}

void add_dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                 double p, const at::Tensor& to) {
    drop_segments(x, segments, layer, p, to, true);
}

} // namespace cuset
