// The torch way through the layers, and what both ways share. The fused way is in
// fused_forward.cpp.
#include "core/model/causal_lm.h"

#include <cmath>

#include "core/model/attention.h"
#include "core/model/fused_forward.h"

namespace cuset {

CausalLM::CausalLM() = default;
CausalLM::~CausalLM() = default;
CausalLM::CausalLM(CausalLM&&) noexcept = default;
CausalLM& CausalLM::operator=(CausalLM&&) noexcept = default;

RotaryTables CausalLM::rotary_tables(std::int64_t past, std::int64_t count) const {
    const RopeFrequencies f = rope_frequencies(config.rope, past + count);
    const at::Tensor inv_freq =
        at::tensor(at::ArrayRef<float>(f.inv_freq), at::TensorOptions().dtype(at::kFloat));
    const at::Tensor positions = at::arange(past, past + count, at::kFloat);
    const at::Tensor angles = at::outer(positions, inv_freq);
    return {(angles.cos() * f.attention_scaling).contiguous().to(device()),
            (angles.sin() * f.attention_scaling).contiguous().to(device())};
}

KeyValueCache CausalLM::make_cache(std::int64_t capacity) const {
    KeyValueCache cache;
    cache.capacity = capacity;
    const auto options = at::TensorOptions().dtype(dtype()).device(device());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        cache.keys.push_back(at::empty({config.kv_heads, capacity, config.head_dim}, options));
        cache.values.push_back(at::empty({config.kv_heads, capacity, config.head_dim}, options));
    }
    return cache;
}

at::Tensor CausalLM::normalize(const at::Tensor& x, const at::Tensor& gain) const {
    // In float32 on any type, as transformers does.
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor scale = at::rsqrt(wide.pow(2).mean({-1}, true) + config.norm_epsilon);
    return gain * (wide * scale).to(x.scalar_type());
}

at::Tensor CausalLM::logits(const at::Tensor& hidden) const {
    return at::linear(hidden, head);
}

void CausalLM::logits_into(const at::Tensor& hidden, at::Tensor& out) const {
    at::mm_out(out, hidden, head.t());
}

namespace {

// x [heads, S, D] rotated; pairs are channel i and i + D/2.
at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables) {
    const std::int64_t half = x.size(-1) / 2;
    const at::Tensor cosine = tables.cosine.to(x.scalar_type());
    const at::Tensor sine = tables.sine.to(x.scalar_type());
    const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
    return at::cat({a * cosine - b * sine, b * cosine + a * sine}, -1);
}

} // namespace

at::Tensor CausalLM::attend_plain(const DecoderLayer& layer, const at::Tensor& x,
                                  const RotaryTables& tables, bool training, std::size_t number,
                                  KeyValueCache* cache) const {
    const std::int64_t rows = x.size(0), d = config.head_dim;
    const auto parts =
        layer.qkv.forward(x, training)
            .split_with_sizes({config.query_size(), config.kv_size(), config.kv_size()}, -1);
    const auto heads = [&](const at::Tensor& t) { return t.view({rows, -1, d}).transpose(0, 1); };
    at::Tensor q = heads(parts[0]), k = heads(parts[1]), v = heads(parts[2]);
    if (layer.q_norm.defined()) {
        q = normalize(q, layer.q_norm);
        k = normalize(k, layer.k_norm);
    }
    q = rotate(q, tables);
    k = rotate(k, tables);
    std::int64_t past = 0;
    if (cache) {
        past = cache->length;
        cache->keys[number].narrow(1, past, rows).copy_(k);
        cache->values[number].narrow(1, past, rows).copy_(v);
        k = cache->keys[number].narrow(1, 0, past + rows);
        v = cache->values[number].narrow(1, 0, past + rows);
    }
    const at::Tensor attended = causal_attention(q, k, v, past, layer.window);
    return layer.output.forward(attended.transpose(0, 1).reshape({rows, config.query_size()}),
                                training);
}

at::Tensor CausalLM::layer_forward(const DecoderLayer& layer, const at::Tensor& x,
                                   const RotaryTables& tables, bool training) const {
    const at::Tensor normed = normalize(x, layer.input_norm);
    const at::Tensor y = x + attend_plain(layer, normed, tables, training, 0, nullptr);
    const at::Tensor gate_up = layer.gate_up.forward(normalize(y, layer.post_norm), training);
    const auto halves = gate_up.chunk(2, -1);
    return y + layer.down.forward(at::silu(halves[0]) * halves[1], training);
}

at::Tensor CausalLM::hidden_plain(const at::Tensor& ids, const ForwardOptions& options) const {
    const std::int64_t past = options.cache ? options.cache->length : 0;
    const RotaryTables tables = rotary_tables(past, ids.size(0));
    at::Tensor x = at::embedding(embedding, ids);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (options.before_layer)
            options.before_layer(static_cast<int>(i));
        const DecoderLayer& layer = layers[i];
        x = x
            + attend_plain(layer, normalize(x, layer.input_norm), tables, options.training, i,
                           options.cache);
        const auto halves =
            layer.gate_up.forward(normalize(x, layer.post_norm), options.training).chunk(2, -1);
        x = x + layer.down.forward(at::silu(halves[0]) * halves[1], options.training);
    }
    if (options.cache)
        options.cache->length += ids.size(0);
    return normalize(x, final_norm);
}

at::Tensor CausalLM::hidden_states(const at::Tensor& ids, const ForwardOptions& options) {
    const bool fused = device().is_cpu() && !c10::GradMode::is_enabled() && !options.training
        && (dtype() == at::kFloat || dtype() == at::kBFloat16);
    if (!fused)
        return hidden_plain(ids, options);
    if (!fused_)
        fused_ = std::make_unique<FusedForward>();
    return fused_->run(*this, ids, options);
}

std::vector<Linear*> CausalLM::linears() {
    std::vector<Linear*> result;
    for (DecoderLayer& layer : layers)
        for (Linear* linear : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down})
            result.push_back(linear);
    return result;
}

} // namespace cuset
