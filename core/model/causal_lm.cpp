// The torch way through the layers, and what both ways share. The fused way is in
// fused_forward.cpp.
#include "core/model/causal_lm.h"

#include <algorithm>

#include "core/model/attention.h"
#include "core/model/fused_forward.h"
#include "core/model/matrix_product.h"

namespace cuset {

CausalLM::CausalLM() = default;
CausalLM::~CausalLM() = default;
CausalLM::CausalLM(CausalLM&&) noexcept = default;
CausalLM& CausalLM::operator=(CausalLM&&) noexcept = default;

namespace {

RotaryTables make_tables(const RopeConfig& rope, std::int64_t past, std::int64_t count,
                         std::int64_t length, at::Device device) {
    const RopeFrequencies f = rope_frequencies(rope, std::max(length, past + count));
    const at::Tensor inv_freq =
        at::tensor(at::ArrayRef<float>(f.inv_freq), at::TensorOptions().dtype(at::kFloat));
    const at::Tensor positions = at::arange(past, past + count, at::kFloat);
    const at::Tensor angles = at::outer(positions, inv_freq);
    return {(angles.cos() * f.attention_scaling).contiguous().to(device),
            (angles.sin() * f.attention_scaling).contiguous().to(device)};
}

std::size_t index_of(LayerRope rope) {
    return static_cast<std::size_t>(rope);
}

} // namespace

RotaryTables CausalLM::rotary_tables(std::int64_t past, std::int64_t count,
                                     std::int64_t length) const {
    return make_tables(config.rope, past, count, length, device());
}

LayerTables CausalLM::layer_tables(std::int64_t past, std::int64_t count,
                                   std::int64_t length) const {
    LayerTables tables;
    tables[index_of(LayerRope::global)] = rotary_tables(past, count, length);
    if (config.local_rope)
        tables[index_of(LayerRope::local)] =
            make_tables(*config.local_rope, past, count, length, device());
    if (std::ranges::find(config.layer_ropes, LayerRope::none) != config.layer_ropes.end()) {
        const at::Tensor& cosine = tables[index_of(LayerRope::global)].cosine;
        tables[index_of(LayerRope::none)] = {at::ones_like(cosine), at::zeros_like(cosine)};
    }
    return tables;
}

KeyValueCache CausalLM::make_cache(std::int64_t capacity) const {
    KeyValueCache cache;
    cache.capacity = capacity;
    const auto options = at::TensorOptions().dtype(dtype()).device(device());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        cache.keys.push_back(at::empty({config.kv_heads, capacity, config.head_dim}, options));
        cache.values.push_back(at::empty({config.kv_heads, capacity, config.value_dim()}, options));
    }
    return cache;
}

namespace {

// In float32 on any type, as transformers does.
at::Tensor root_mean_square_norm(const at::Tensor& x, double epsilon) {
    const at::Tensor wide = x.to(at::kFloat);
    return wide * at::rsqrt(wide.pow(2).mean({-1}, true) + epsilon);
}

} // namespace

at::Tensor CausalLM::normalize(const at::Tensor& x, const at::Tensor& gain,
                               const at::Tensor& bias) const {
    if (config.traits.norm == NormKind::layer)
        return at::layer_norm(x, {x.size(-1)}, gain, bias, config.norm_epsilon);
    const at::Tensor normed = root_mean_square_norm(x, config.norm_epsilon);
    if (config.traits.norm == NormKind::rms_wide)
        return (gain.to(at::kFloat) * normed).to(x.scalar_type());
    return gain * normed.to(x.scalar_type());
}

namespace {

// In place on what at::linear or mm has just made.
at::Tensor& shape_logits(const DecoderTraits& traits, at::Tensor& logits) {
    if (traits.logit_scale != 1)
        logits.mul_(traits.logit_scale);
    if (traits.logit_cap > 0)
        logits.div_(traits.logit_cap).tanh_().mul_(traits.logit_cap);
    return logits;
}

} // namespace

at::Tensor CausalLM::logits(const at::Tensor& hidden) const {
    at::Tensor result = at::linear(hidden, head);
    return shape_logits(config.traits, result);
}

void CausalLM::logits_into(const at::Tensor& hidden, at::Tensor& out) const {
    linear_product(hidden, head, {}, out);
    shape_logits(config.traits, out);
}

namespace {

// x [heads, S, D], its first channels rotated; pairs are channel i and i + half of them.
at::Tensor rotate(const at::Tensor& x, const RotaryTables& tables) {
    const std::int64_t half = tables.cosine.size(-1), rest = x.size(-1) - 2 * half;
    const at::Tensor cosine = tables.cosine.to(x.scalar_type());
    const at::Tensor sine = tables.sine.to(x.scalar_type());
    const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
    const at::Tensor low = a * cosine - b * sine, high = b * cosine + a * sine;
    return rest > 0 ? at::cat({low, high, x.narrow(-1, 2 * half, rest)}, -1)
                    : at::cat({low, high}, -1);
}

// The same for pairs that lie side by side, in float32 as the reference has it. The channels come
// out in `rotate`'s order: products of queries and keys stay as they are.
at::Tensor rotate_pairs(const at::Tensor& x, const RotaryTables& tables) {
    const at::Tensor apart = x.to(at::kFloat).unflatten(-1, {-1, 2}).transpose(-1, -2).flatten(-2);
    return rotate(apart, tables).to(x.scalar_type());
}

// The reference's norms of the narrow vectors do not take the config's epsilon.
constexpr double latent_norm_epsilon = 1e-6;

at::Tensor normalize_latent(const at::Tensor& x, const at::Tensor& gain) {
    return gain * root_mean_square_norm(x, latent_norm_epsilon).to(x.scalar_type());
}

at::Tensor activate(const at::Tensor& x, Activation activation) {
    if (activation == Activation::silu)
        return at::silu(x);
    return at::gelu(x, activation == Activation::gelu_tanh ? "tanh" : "none");
}

} // namespace

CausalLM::HeadTensors CausalLM::project_heads(const DecoderLayer& layer, const at::Tensor& x,
                                              const RotaryTables& tables, bool training) const {
    const std::int64_t rows = x.size(0), d = config.head_dim;
    const auto parts =
        layer.qkv.forward(x, training)
            .split_with_sizes({config.query_size(), config.kv_size(), config.kv_size()}, -1);
    const auto heads = [&](const at::Tensor& t) { return t.view({rows, -1, d}).transpose(0, 1); };
    const bool full = config.qk_norm == QueryKeyNorm::full;
    const bool by_head = config.qk_norm == QueryKeyNorm::head;
    const at::Tensor q = heads(full ? normalize(parts[0], layer.q_norm) : parts[0]);
    const at::Tensor k = heads(full ? normalize(parts[1], layer.k_norm) : parts[1]);
    return {rotate(by_head ? normalize(q, layer.q_norm) : q, tables),
            rotate(by_head ? normalize(k, layer.k_norm) : k, tables), heads(parts[2])};
}

CausalLM::HeadTensors CausalLM::project_latent_heads(const DecoderLayer& layer, const at::Tensor& x,
                                                     const RotaryTables& tables,
                                                     bool training) const {
    const LatentConfig& l = config.latent;
    const std::int64_t straight = config.head_dim - l.rotated;
    const auto parts =
        layer.qkv.forward(x, training)
            .split_with_sizes(
                {layer.qkv.weight.size(0) - l.key_rank - l.rotated, l.key_rank, l.rotated}, -1);
    const auto heads = [&](const at::Tensor& t) {
        return t.view({x.size(0), config.heads, -1}).transpose(0, 1);
    };
    const at::Tensor queries = l.query_rank > 0
        ? layer.query_up.forward(normalize_latent(parts[0], layer.q_norm), training)
        : parts[0];
    const auto q = heads(queries).split_with_sizes({straight, l.rotated}, -1);
    const auto kv =
        heads(layer.key_value_up.forward(normalize_latent(parts[1], layer.k_norm), training))
            .split_with_sizes({straight, l.value_dim}, -1);
    const at::Tensor turned = rotate_pairs(parts[2].unsqueeze(0), tables);
    return {at::cat({q[0], rotate_pairs(q[1], tables)}, -1),
            at::cat({kv[0], turned.expand({config.heads, -1, -1})}, -1), kv[1]};
}

at::Tensor CausalLM::attend_plain(const DecoderLayer& layer, const at::Tensor& x,
                                  const RotaryTables& tables, std::size_t number,
                                  const ForwardOptions& options) const {
    const std::int64_t rows = x.size(0);
    auto [q, k, v] = config.has_latent_attention()
        ? project_latent_heads(layer, x, tables, options.training)
        : project_heads(layer, x, tables, options.training);
    std::int64_t past = 0;
    if (KeyValueCache* cache = options.cache) {
        past = cache->length;
        cache->keys[number].narrow(1, past, rows).copy_(k);
        cache->values[number].narrow(1, past, rows).copy_(v);
        k = cache->keys[number].narrow(1, 0, past + rows);
        v = cache->values[number].narrow(1, 0, past + rows);
    }
    AttentionShape shape;
    shape.past = past;
    shape.window = layer.window;
    shape.scale = config.attention_scale();
    shape.cap = config.traits.attention_cap;
    const at::Tensor attended = causal_attention(q, k, v, shape);
    return layer.output.forward(attended.transpose(0, 1).reshape({rows, config.attended_size()}),
                                options.training);
}

namespace {

// shares [S, count] -> the same with 0 for experts outside of the groups whose best one is best.
at::Tensor keep_best_groups(const at::Tensor& shares, const ExpertConfig& e) {
    const at::Tensor grouped = shares.unflatten(-1, {e.groups, -1}); // [S, groups, count / groups]
    const at::Tensor best = std::get<1>(grouped.amax(-1).topk(e.groups_used, -1));
    const at::Tensor kept = at::zeros({shares.size(0), e.groups}, shares.options());
    return (grouped * kept.scatter(1, best, 1.0).unsqueeze(-1)).flatten(-2);
}

} // namespace

at::Tensor CausalLM::mix_experts(const Experts& experts, const at::Tensor& x, bool training) const {
    const ExpertConfig& e = config.experts;
    const at::Tensor scores = at::linear(x.to(experts.router.scalar_type()), experts.router);
    at::Tensor shares = at::softmax(scores.to(at::kFloat), -1); // [S, count]
    if (e.groups_used < e.groups)
        shares = keep_best_groups(shares, e);
    auto [weights, chosen] = shares.topk(e.used, -1);
    if (e.normalized)
        weights = weights / weights.sum({-1}, true);
    if (e.scale != 1)
        weights = weights * e.scale;
    at::Tensor sum = at::zeros_like(x);
    for (std::int64_t i = 0; i < e.count; ++i) {
        const std::vector<at::Tensor> found = (chosen == i).nonzero().unbind(1);
        if (found[0].numel() == 0)
            continue;
        const auto at = static_cast<std::size_t>(i);
        const auto halves =
            experts.gate_up[at].forward(x.index_select(0, found[0]), training).chunk(2, -1);
        const at::Tensor inner = activate(halves[0], config.traits.activation) * halves[1];
        const at::Tensor weight = weights.index({found[0], found[1]}).unsqueeze(1);
        const at::Tensor out = experts.down[at].forward(inner, training) * weight;
        sum = sum.index_add(0, found[0], out.to(x.scalar_type()));
    }
    return sum;
}

at::Tensor CausalLM::feed_forward_plain(const DecoderLayer& layer, const at::Tensor& x,
                                        bool training) const {
    if (!layer.experts)
        return dense_plain(layer, x, training);
    const at::Tensor mixed = mix_experts(*layer.experts, x, training);
    return layer.gate_up.weight.defined() ? mixed + dense_plain(layer, x, training) : mixed;
}

at::Tensor CausalLM::dense_plain(const DecoderLayer& layer, const at::Tensor& x,
                                 bool training) const {
    const at::Tensor first = layer.gate_up.forward(x, training);
    if (!config.traits.gated_mlp)
        return layer.down.forward(activate(first, config.traits.activation), training);
    const auto halves = first.chunk(2, -1);
    return layer.down.forward(activate(halves[0], config.traits.activation) * halves[1], training);
}

at::Tensor CausalLM::residual(const at::Tensor& output, const at::Tensor& norm) const {
    const at::Tensor normed = norm.defined() ? normalize(output, norm) : output;
    const double scale = config.traits.residual_scale;
    return scale == 1 ? normed : normed * scale;
}

at::Tensor CausalLM::embed(const at::Tensor& ids) const {
    const at::Tensor x = at::embedding(embedding, ids);
    return config.traits.embedding_scale == 1
        ? x
        : x * at::scalar_tensor(config.traits.embedding_scale, x.options());
}

at::Tensor CausalLM::through_layer(std::size_t number, const at::Tensor& x,
                                   const LayerTables& tables, const ForwardOptions& options) const {
    const DecoderLayer& layer = layers[number];
    const auto before = [&](const at::Tensor& input, const at::Tensor& gain,
                            const at::Tensor& bias) {
        return gain.defined() ? normalize(input, gain, bias) : input;
    };
    const at::Tensor attended =
        attend_plain(layer, before(x, layer.input_norm, layer.input_norm_bias),
                     tables[index_of(layer.rope)], number, options);
    const at::Tensor middle = x + residual(attended, layer.attention_output_norm);
    const at::Tensor fed = feed_forward_plain(
        layer, before(middle, layer.post_norm, layer.post_norm_bias), options.training);
    return middle + residual(fed, layer.mlp_output_norm);
}

at::Tensor CausalLM::through_final_norm(const at::Tensor& x) const {
    return normalize(x, final_norm, final_norm_bias);
}

at::Tensor CausalLM::hidden_plain(const at::Tensor& ids, const ForwardOptions& options) const {
    const std::int64_t past = options.cache ? options.cache->length : 0;
    const LayerTables tables = layer_tables(past, ids.size(0), options.sequence_length);
    at::Tensor x = embed(ids);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (options.before_layer)
            options.before_layer(static_cast<int>(i));
        x = through_layer(i, x, tables, options);
    }
    if (options.cache)
        options.cache->length += ids.size(0);
    return through_final_norm(x);
}

at::Tensor CausalLM::hidden_states(const at::Tensor& ids, const ForwardOptions& options) {
    const bool fused = config.is_llama_kind() && device().is_cpu() && !c10::GradMode::is_enabled()
        && !options.training && (dtype() == at::kFloat || dtype() == at::kBFloat16);
    if (!fused)
        return hidden_plain(ids, options);
    if (!fused_)
        fused_ = std::make_unique<FusedForward>();
    return fused_->run(*this, ids, options);
}

std::vector<Linear*> CausalLM::linears() {
    std::vector<Linear*> result;
    for (DecoderLayer& layer : layers) {
        for (Linear* linear : {&layer.qkv, &layer.query_up, &layer.key_value_up, &layer.output,
                               &layer.gate_up, &layer.down})
            if (linear->weight.defined()) // not every family has each
                result.push_back(linear);
        if (!layer.experts)
            continue;
        for (std::vector<Linear>* all : {&layer.experts->gate_up, &layer.experts->down})
            for (Linear& linear : *all)
                result.push_back(&linear);
    }
    return result;
}

} // namespace cuset
