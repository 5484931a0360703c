#include "core/train/training_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/model/cpu_kernels.h"
#include "core/train/counter_random.h"

namespace cuset {
namespace {

constexpr std::int64_t query_block = 256; // rows of attention at a time

bool has_kernels(const at::Tensor& t) {
    return t.is_cpu() && (t.scalar_type() == at::kFloat || t.scalar_type() == at::kBFloat16);
}

// f(T*) with the kernels' element type.
template <class F> void with_element(at::ScalarType dtype, F f) {
    if (dtype == at::kFloat)
        f(float{});
    else
        f(std::uint16_t{});
}

template <class T> T* data(const at::Tensor& t) {
    return static_cast<T*>(t.data_ptr());
}

std::int64_t grain(std::int64_t row_elements) {
    return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, row_elements));
}

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
        at::parallel_for(0, rows, grain(channels), [&](std::int64_t begin, std::int64_t end) {
            cpu::rms_norm(data<T>(x), data<T>(gain), data<T>(out), begin, end, channels,
                          static_cast<float>(epsilon));
        });
    });
    return out;
}

at::Tensor norm_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& dy,
                         double epsilon, const at::Tensor& gain_gradient) {
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor inverse = inverse_norm(wide, epsilon);
    const at::Tensor unit = wide * inverse;
    const at::Tensor d = dy.to(at::kFloat);
    if (gain_gradient.defined())
        gain_gradient.add_((d * unit).reshape({-1, x.size(-1)}).sum(0));
    const at::Tensor scaled = d * gain;
    const at::Tensor along = at::mean(scaled * unit, {-1}, true);
    return (scaled - unit * along).mul_(inverse).to(x.scalar_type());
}

at::Tensor swiglu_forward(const at::Tensor& gate_up) {
    const std::int64_t width = gate_up.size(-1) / 2, rows = gate_up.size(0);
    if (!has_kernels(gate_up))
        return at::silu(gate_up.narrow(-1, 0, width)) * gate_up.narrow(-1, width, width);
    at::Tensor out = at::empty({rows, width}, gate_up.options());
    with_element(gate_up.scalar_type(), [&](auto element) {
        using T = decltype(element);
        at::parallel_for(0, rows, grain(width), [&](std::int64_t begin, std::int64_t end) {
            cpu::swiglu(data<T>(gate_up), data<T>(out), begin, end, width);
        });
    });
    return out;
}

at::Tensor swiglu_backward(const at::Tensor& gate_up, const at::Tensor& dy) {
    const std::int64_t width = gate_up.size(-1) / 2;
    const at::Tensor gate = gate_up.narrow(-1, 0, width), up = gate_up.narrow(-1, width, width);
    at::Tensor gradient = at::empty_like(gate_up);
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

// scores [K, G * rows, keys] -> probabilities, in place where there is a kernel.
at::Tensor visible_softmax(at::Tensor scores, const Block& block, std::int64_t window) {
    if (has_kernels(scores)) {
        cpu::SoftmaxLayout layout;
        layout.rows = block.rows;
        layout.columns = block.keys;
        layout.first_position = block.begin;
        layout.first_key = block.first_key;
        layout.window = window;
        with_element(scores.scalar_type(), [&](auto element) {
            using T = decltype(element);
            at::parallel_for(0, scores.size(0) * scores.size(1), grain(block.keys),
                             [&](std::int64_t begin, std::int64_t end) {
                                 cpu::causal_softmax(data<T>(scores), begin, end, layout);
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

// Rows of a block as [K, G * rows, D]: the query heads of one key head share a product.
at::Tensor block_queries(const at::Tensor& q, const Block& block, std::int64_t key_heads) {
    return q.narrow(1, block.begin, block.rows)
        .reshape({key_heads, q.size(0) / key_heads * block.rows, q.size(2)});
}

at::Tensor block_probabilities(const at::Tensor& queries, const at::Tensor& k, const Block& block,
                               std::int64_t window) {
    at::Tensor scores = at::bmm(queries, k.narrow(1, block.first_key, block.keys).transpose(1, 2));
    return visible_softmax(std::move(scores), block, window);
}

} // namespace

at::Tensor rotate_forward(const at::Tensor& x, const RotaryTables& tables) {
    return rotate(x, tables, 1);
}

at::Tensor rotate_backward(const at::Tensor& dy, const RotaryTables& tables) {
    return rotate(dy, tables, -1);
}

at::Tensor attention_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             std::int64_t window) {
    const std::int64_t heads = q.size(0), rows = q.size(1), d = q.size(2);
    at::Tensor out = at::empty({rows, heads, d}, q.options());
    for (const Block& block : blocks_of(rows, window)) {
        const at::Tensor p =
            block_probabilities(block_queries(q, block, k.size(0)), k, block, window);
        const at::Tensor y = at::bmm(p, v.narrow(1, block.first_key, block.keys));
        out.narrow(0, block.begin, block.rows)
            .copy_(y.view({heads, block.rows, d}).transpose(0, 1));
    }
    return out;
}

AttentionGradients attention_backward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& dy, std::int64_t window) {
    const std::int64_t heads = q.size(0), d = q.size(2), key_heads = k.size(0);
    const at::Tensor by_head = dy.transpose(0, 1); // [H, n, D]
    at::Tensor dq = at::empty_like(q);
    // Sums over blocks are kept in float32 on any type.
    at::Tensor dk = at::zeros(k.sizes(), k.options().dtype(at::kFloat));
    at::Tensor dv = at::zeros(v.sizes(), v.options().dtype(at::kFloat));
    for (const Block& block : blocks_of(q.size(1), window)) {
        const at::Tensor queries = block_queries(q, block, key_heads);
        const at::Tensor p = block_probabilities(queries, k, block, window);
        const at::Tensor keys = k.narrow(1, block.first_key, block.keys);
        const at::Tensor values = v.narrow(1, block.first_key, block.keys);
        const at::Tensor g = block_queries(by_head, block, key_heads);
        dv.narrow(1, block.first_key, block.keys).add_(at::bmm(p.transpose(1, 2), g));
        const at::Tensor dp = at::bmm(g, values.transpose(1, 2));
        const at::Tensor ds = at::_softmax_backward_data(dp, p, -1, p.scalar_type());
        dq.narrow(1, block.begin, block.rows).copy_(at::bmm(ds, keys).view({heads, block.rows, d}));
        dk.narrow(1, block.first_key, block.keys).add_(at::bmm(ds.transpose(1, 2), queries));
    }
    return {dq, dk.to(k.scalar_type()), dv.to(v.scalar_type())};
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

at::Tensor dropout(const at::Tensor& x, const std::vector<Segment>& segments, std::uint64_t layer,
                   double p) {
    at::Tensor out = at::empty(x.sizes(), x.options());
    const std::int64_t width = x.size(-1);
    for (const Segment& segment : segments) {
        const std::uint64_t key = random_key(RandomUse::dropout, {segment.key, layer});
        if (!has_kernels(x) || !x.is_contiguous()) {
            const at::Tensor part = x.narrow(0, segment.begin, segment.rows());
            at::Tensor target = out.narrow(0, segment.begin, segment.rows());
            at::mul_out(target, part, dropout_factors(part, key, p));
            continue;
        }
        with_element(x.scalar_type(), [&](auto element) {
            using T = decltype(element);
            at::parallel_for(0, segment.rows(), grain(width),
                             [&](std::int64_t begin, std::int64_t end) {
                                 const std::int64_t at = (segment.begin + begin) * width;
                                 drop_elements(data<T>(x) + at, data<T>(out) + at, key,
                                               begin * width, (end - begin) * width, p);
                             });
        });
    }
    return out;
}

} // namespace cuset
