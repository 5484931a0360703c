#include "core/model/fused_forward.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/model/cpu_elements.h"
#include "core/model/cpu_kernels.h"
#include "core/model/matrix_product.h"

namespace cuset {
namespace {

constexpr std::int64_t query_block = 256; // rows of attention at a time
constexpr std::int64_t mlp_block = 1024; // rows of the MLP at a time: bounds its buffers

using cpu::data;
using cpu::data_or_null;
using cpu::grain;
using cpu::with_element;

void norm_rows(const at::Tensor& x, const at::Tensor& gain, at::Tensor& out, double epsilon) {
    const std::int64_t n = x.size(1);
    with_element(x.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(x.size(0), grain(n), [&](std::int64_t begin, std::int64_t end) {
            cpu::rms_norm(data<T>(x), data<T>(gain), data<T>(out), begin, end, n,
                          static_cast<float>(epsilon));
        });
    });
}

// x += delta; out = norm(x).
void add_norm_rows(at::Tensor& x, const at::Tensor& delta, const at::Tensor& gain, at::Tensor& out,
                   double epsilon) {
    const std::int64_t n = x.size(1);
    with_element(x.scalar_type(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(x.size(0), grain(n), [&](std::int64_t begin, std::int64_t end) {
            cpu::add_rms_norm(data<T>(x), data<T>(delta), data<T>(gain), data<T>(out), begin, end,
                              n, static_cast<float>(epsilon));
        });
    });
}

} // namespace

at::Tensor FusedForward::Buffer::view(at::IntArrayRef shape, at::ScalarType dtype) {
    std::int64_t count = 1;
    for (std::int64_t n : shape)
        count *= n;
    if (!storage.defined() || storage.scalar_type() != dtype || storage.numel() < count) {
        storage = at::Tensor(); // before the new one is there: never both
        storage = at::empty({count}, at::TensorOptions().dtype(dtype));
    }
    return storage.narrow(0, 0, count).view(shape);
}

void FusedForward::attend_block(const CausalLM& model, const DecoderLayer& layer,
                                const at::Tensor& keys, const at::Tensor& values, std::int64_t past,
                                std::int64_t begin, std::int64_t rows) {
    const ModelConfig& c = model.config;
    const std::int64_t groups = c.heads / c.kv_heads, d = c.head_dim;
    cpu::SoftmaxLayout l;
    l.rows = rows;
    l.first_position = past + begin;
    l.window = layer.window;
    if (layer.window > 0)
        l.first_key = std::max<std::int64_t>(0, past + begin - layer.window + 1);
    l.columns = past + begin + rows - l.first_key;

    // The query heads of one key head share it: one product of (groups * rows) x D for each.
    const at::Tensor q =
        q_.narrow(0, begin * c.heads * d, rows * c.heads * d).view({c.kv_heads, groups * rows, d});
    at::Tensor scores = score_buffer_.view({c.kv_heads, groups * rows, l.columns}, model.dtype());
    batched_product(q, keys.narrow(1, l.first_key, l.columns).transpose(1, 2), scores);
    with_element(model.dtype(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(c.heads * rows, grain(l.columns),
                           [&](std::int64_t first, std::int64_t last) {
                               cpu::causal_softmax(data<T>(scores), first, last, l);
                           });
    });
    at::Tensor out = block_buffer_.view({c.kv_heads, groups * rows, d}, model.dtype());
    batched_product(scores, values.narrow(1, l.first_key, l.columns), out);
    attended_.narrow(0, begin, rows)
        .view({rows, c.heads, d})
        .copy_(out.view({c.heads, rows, d}).transpose(0, 1));
}

void FusedForward::attend(const CausalLM& model, const DecoderLayer& layer,
                          const RotaryTables& tables, at::Tensor& keys, at::Tensor& values,
                          std::int64_t past) {
    const ModelConfig& c = model.config;
    at::Tensor qkv = qkv_buffer_.view({rows_, c.query_size() + 2 * c.kv_size()}, model.dtype());
    layer.qkv.forward_into(normed_, qkv);
    cpu::HeadLayout l;
    l.heads = c.heads;
    l.kv_heads = c.kv_heads;
    l.head_dim = c.head_dim;
    l.rows = rows_;
    l.block = query_block;
    l.capacity = keys.size(1);
    l.past = past;
    l.query_scale = 1.f / std::sqrt(static_cast<float>(c.head_dim));
    l.epsilon = static_cast<float>(c.norm_epsilon);
    with_element(model.dtype(), [&](auto element) {
        using T = decltype(element);
        cpu::for_each_part(rows_, grain(qkv.size(1)), [&](std::int64_t begin, std::int64_t end) {
            cpu::split_rotate(data<T>(qkv), data_or_null<T>(layer.q_norm),
                              data_or_null<T>(layer.k_norm), data<float>(tables.cosine),
                              data<float>(tables.sine), data<T>(q_), data<T>(keys), data<T>(values),
                              begin, end, l);
        });
    });
    for (std::int64_t begin = 0; begin < rows_; begin += query_block)
        attend_block(model, layer, keys, values, past, begin, std::min(query_block, rows_ - begin));
    layer.output.forward_into(attended_, delta_);
}

void FusedForward::feed_forward(const CausalLM& model, const DecoderLayer& layer) {
    const std::int64_t width = model.config.intermediate;
    for (std::int64_t begin = 0; begin < rows_; begin += mlp_block) {
        const std::int64_t rows = std::min(mlp_block, rows_ - begin);
        at::Tensor gate_up = gate_up_buffer_.view({rows, 2 * width}, model.dtype());
        at::Tensor act = act_buffer_.view({rows, width}, model.dtype());
        layer.gate_up.forward_into(normed_.narrow(0, begin, rows), gate_up);
        with_element(model.dtype(), [&](auto element) {
            using T = decltype(element);
            cpu::for_each_part(rows, grain(width), [&](std::int64_t first, std::int64_t last) {
                cpu::swiglu(data<T>(gate_up), data<T>(act), first, last, width);
            });
        });
        at::Tensor out = delta_.narrow(0, begin, rows);
        layer.down.forward_into(act, out);
    }
}

at::Tensor FusedForward::run(const CausalLM& model, const at::Tensor& ids,
                             const ForwardOptions& options) {
    const ModelConfig& c = model.config;
    const at::ScalarType dtype = model.dtype();
    rows_ = ids.size(0);
    const std::int64_t past = options.cache ? options.cache->length : 0;
    x_ = x_buffer_.view({rows_, c.hidden}, dtype);
    normed_ = normed_buffer_.view({rows_, c.hidden}, dtype);
    delta_ = delta_buffer_.view({rows_, c.hidden}, dtype);
    attended_ = attended_buffer_.view({rows_, c.query_size()}, dtype);
    q_ = q_buffer_.view({rows_ * c.query_size()}, dtype);
    at::index_select_out(x_, model.embedding, 0, ids);
    const LayerTables tables = model.layer_tables(past, rows_, options.sequence_length);
    norm_rows(x_, model.layers.front().input_norm, normed_, c.norm_epsilon);
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
        if (options.before_layer)
            options.before_layer(static_cast<int>(i));
        const DecoderLayer& layer = model.layers[i];
        at::Tensor keys = options.cache ? options.cache->keys[i]
                                        : key_buffer_.view({c.kv_heads, rows_, c.head_dim}, dtype);
        at::Tensor values = options.cache
            ? options.cache->values[i]
            : value_buffer_.view({c.kv_heads, rows_, c.head_dim}, dtype);
        attend(model, layer, tables[static_cast<std::size_t>(layer.rope)], keys, values, past);
        add_norm_rows(x_, delta_, layer.post_norm, normed_, c.norm_epsilon);
        feed_forward(model, layer);
        const bool last = i + 1 == model.layers.size();
        add_norm_rows(x_, delta_, last ? model.final_norm : model.layers[i + 1].input_norm, normed_,
                      c.norm_epsilon);
    }
    if (options.cache)
        options.cache->length += rows_;
    return normed_;
}

} // namespace cuset
