#include "core/train/training_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/train/counter_random.h"

namespace cuset {
namespace {

enum : std::size_t { qkv = 0, output = 1, gate_up = 2, down = 3 };

std::string last_name(const std::string& name) {
    return name.substr(name.rfind('.') + 1);
}

// PEFT's kaiming_uniform with a = sqrt(5): uniform in +-1/sqrt(in).
void fill_uniform(at::Tensor target, std::uint64_t key) {
    const float bound = 1.f / std::sqrt(static_cast<float>(target.size(1)));
    at::Tensor host = at::empty(target.sizes(), at::TensorOptions().dtype(at::kFloat));
    float* values = host.data_ptr<float>();
    for (std::int64_t i = 0; i < host.numel(); ++i)
        values[i] = (2 * random_unit(key, static_cast<std::uint64_t>(i)) - 1) * bound;
    target.copy_(host);
}

} // namespace

TrainingModel::TrainingModel(CausalLM model, bool checkpoints_layers,
                             std::vector<QuantizedMatrix> quantized)
    : model_(std::make_unique<CausalLM>(std::move(model)))
    , checkpoints_layers_(checkpoints_layers) {
    for (DecoderLayer& layer : model_->layers)
        for (Linear* linear : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down}) {
            AdaptedLinear adapted;
            adapted.linear = linear;
            adapted.number = linears_.size();
            if (!quantized.empty())
                adapted.quantized = std::move(quantized[linears_.size()]);
            linears_.push_back(std::move(adapted));
        }
    norm_gradients_.resize(model_->layers.size());
}

void TrainingModel::add_adapters(const LoraSettings& settings, std::uint64_t seed) {
    std::set<std::string> missing(settings.targets.begin(), settings.targets.end());
    const double rank = static_cast<double>(settings.rank);
    for (AdaptedLinear& adapted : linears_) {
        adapted.dropout_share = settings.dropout;
        for (const LinearPart& part : adapted.linear->parts) {
            const std::string name = last_name(part.name);
            missing.erase(name);
            if (!settings.targets.empty()
                && std::find(settings.targets.begin(), settings.targets.end(), name)
                    == settings.targets.end())
                continue;
            AdapterPart adapter;
            adapter.name = part.name;
            adapter.begin = part.begin;
            adapter.end = part.end;
            adapter.rank = settings.rank;
            adapter.scale = settings.alpha / (settings.rank_stabilized ? std::sqrt(rank) : rank);
            adapter.a = parameters_.add({settings.rank, adapted.linear->weight.size(1)});
            adapter.b = parameters_.add({part.end - part.begin, settings.rank});
            adapted.parts.push_back(adapter);
        }
    }
    if (!missing.empty())
        throw Error(
            ErrorCode::bad_value,
            "no linear layer is named " + printable(*missing.begin(), 60)
                + "; there are q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj",
            "lora.targets");
    parameters_.allocate(model_->device());
    std::uint64_t number = 0;
    for (const AdaptedLinear& adapted : linears_)
        for (const AdapterPart& part : adapted.parts)
            fill_uniform(parameters_.value(part.a),
                         random_key(RandomUse::adapter, {seed, number++}));
    refresh();
}

AdapterEffect TrainingModel::adopt_adapter(const std::filesystem::path& folder, double dropout) {
    const AdapterEffect effect = attach_adapter(*model_, folder, at::kFloat);
    std::vector<std::pair<std::size_t, at::Tensor>> initial;
    for (AdaptedLinear& adapted : linears_) {
        adapted.dropout_share = dropout;
        auto& branches = adapted.linear->branches;
        std::sort(branches.begin(), branches.end(),
                  [](const auto& a, const auto& b) { return a.begin < b.begin; });
        for (const LowRankBranch& branch : branches) {
            AdapterPart adapter;
            for (const LinearPart& part : adapted.linear->parts)
                if (part.begin == branch.begin)
                    adapter.name = part.name;
            adapter.begin = branch.begin;
            adapter.end = branch.end;
            adapter.rank = branch.a.size(0);
            adapter.scale = branch.scale;
            adapter.a = parameters_.add(branch.a.sizes().vec());
            adapter.b = parameters_.add(branch.b.sizes().vec());
            initial.emplace_back(adapter.a, branch.a);
            initial.emplace_back(adapter.b, branch.b);
            adapted.parts.push_back(adapter);
        }
        branches.clear();
    }
    parameters_.allocate(model_->device());
    for (const auto& [slot, value] : initial)
        parameters_.value(slot).copy_(value);
    refresh();
    return effect;
}

std::size_t TrainingModel::trained(at::Tensor& weight) {
    const std::size_t slot = parameters_.add(weight.sizes().vec());
    trained_.emplace_back(&weight, slot);
    return slot;
}

void TrainingModel::train_all_weights(at::ScalarType type) {
    trains_weights_ = true;
    CausalLM& m = *model_;
    const bool tied = m.config.tied_head;
    const std::size_t embedding = trained(m.embedding);
    std::vector<std::array<std::size_t, 4>> norms;
    std::vector<std::pair<std::size_t, std::size_t>> linear_slots;
    const std::size_t none = SIZE_MAX;
    for (DecoderLayer& layer : m.layers) {
        first_slots_.push_back(parameters_.slots());
        const bool head_norms = layer.q_norm.defined();
        norms.push_back({trained(layer.input_norm), trained(layer.post_norm),
                         head_norms ? trained(layer.q_norm) : none,
                         head_norms ? trained(layer.k_norm) : none});
        for (Linear* linear : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down})
            linear_slots.emplace_back(trained(linear->weight),
                                      linear->bias.defined() ? trained(linear->bias) : none);
    }
    first_slots_.push_back(parameters_.slots());
    const std::size_t last = trained(m.final_norm);
    const std::size_t head = tied ? embedding : trained(m.head);
    parameters_.allocate(m.device());
    const auto gradient = [&](std::size_t slot) {
        return slot == none ? at::Tensor() : parameters_.gradient(slot);
    };
    for (const auto& [weight, slot] : trained_) {
        parameters_.value(slot).copy_(*weight);
        *weight = parameters_.value(slot).to(type); // float32: the master itself, not kept twice
    }
    if (tied)
        m.head = m.embedding;
    for (std::size_t i = 0; i < norms.size(); ++i)
        norm_gradients_[i] = {gradient(norms[i][0]), gradient(norms[i][1]), gradient(norms[i][2]),
                              gradient(norms[i][3])};
    for (std::size_t i = 0; i < linears_.size(); ++i) {
        linears_[i].weight_gradient = gradient(linear_slots[i].first);
        linears_[i].bias_gradient = gradient(linear_slots[i].second);
    }
    embedding_gradient_ = gradient(embedding);
    final_norm_gradient_ = gradient(last);
    head_gradient_ = gradient(head);
}

void TrainingModel::refresh() {
    for (AdaptedLinear& adapted : linears_)
        adapted.refresh(parameters_, model_->embedding.options());
    for (const auto& [weight, slot] : trained_)
        if (weight->scalar_type() != at::kFloat)
            weight->copy_(parameters_.value(slot));
}

PackedBatch TrainingModel::pack(const std::vector<std::span<const std::int32_t>>& ids,
                                const std::vector<std::uint64_t>& keys) const {
    PackedBatch batch;
    std::vector<std::int64_t> all;
    std::array<std::vector<at::Tensor>, std::tuple_size_v<LayerTables>> cosines, sines;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto begin = static_cast<std::int64_t>(all.size());
        all.insert(all.end(), ids[i].begin(), ids[i].end());
        batch.segments.push_back({begin, static_cast<std::int64_t>(all.size()), keys[i]});
        const LayerTables tables =
            model_->layer_tables(0, static_cast<std::int64_t>(ids[i].size()));
        for (std::size_t kind = 0; kind < tables.size(); ++kind)
            if (tables[kind].cosine.defined()) {
                cosines[kind].push_back(tables[kind].cosine);
                sines[kind].push_back(tables[kind].sine);
            }
    }
    batch.ids = at::tensor(at::ArrayRef<std::int64_t>(all), at::TensorOptions().dtype(at::kLong))
                    .to(model_->device());
    for (std::size_t kind = 0; kind < cosines.size(); ++kind)
        if (!cosines[kind].empty())
            batch.tables[kind] = {cosines[kind].size() == 1 ? cosines[kind][0]
                                                            : at::cat(cosines[kind]),
                                  sines[kind].size() == 1 ? sines[kind][0] : at::cat(sines[kind])};
    return batch;
}

HeadShape TrainingModel::head_shape() const {
    const ModelConfig& c = model_->config;
    return {c.heads, c.kv_heads, c.head_dim, c.norm_epsilon};
}

at::Tensor TrainingModel::attend(std::size_t layer, const at::Tensor& normed,
                                 const PackedBatch& batch, const ForwardMode& mode,
                                 LayerTape& tape) {
    const DecoderLayer& l = model_->layers[layer];
    const at::Tensor all =
        linear(layer, qkv).forward(normed, mode.drops ? &batch.segments : nullptr, mode.adapted);
    if (l.q_norm.defined())
        tape.qkv = all;
    std::vector<at::Tensor> outs;
    for (const Segment& s : batch.segments) {
        tape.heads.push_back(
            split_heads(all, l.q_norm, l.k_norm, batch.tables_of(l), s, head_shape()));
        outs.push_back(attention_forward(tape.heads.back(), l.window));
    }
    return (outs.size() == 1 ? outs[0] : at::cat(outs))
        .view({normed.size(0), model_->config.query_size()});
}

at::Tensor TrainingModel::layer_forward(std::size_t layer, const at::Tensor& x,
                                        const PackedBatch& batch, const ForwardMode& mode,
                                        LayerTape& tape) {
    const DecoderLayer& l = model_->layers[layer];
    const double epsilon = model_->config.norm_epsilon;
    const std::vector<Segment>* drops = mode.drops ? &batch.segments : nullptr;
    tape.x = x;
    tape.attended = attend(layer, norm_forward(x, l.input_norm, epsilon), batch, mode, tape);
    tape.y = linear(layer, output).forward(tape.attended, drops, mode.adapted).add_(x);
    tape.gate_up = linear(layer, gate_up)
                       .forward(norm_forward(tape.y, l.post_norm, epsilon), drops, mode.adapted);
    return linear(layer, down)
        .forward(swiglu_forward(tape.gate_up), drops, mode.adapted)
        .add_(tape.y);
}

at::Tensor TrainingModel::forward(const PackedBatch& batch, const ForwardMode& mode) {
    at::Tensor x = at::embedding(model_->embedding, batch.ids);
    tapes_.clear();
    for (std::size_t i = 0; i < model_->layers.size(); ++i) {
        LayerTape tape;
        at::Tensor next = layer_forward(i, x, batch, mode, tape);
        if (mode.keeps_tape) {
            if (checkpoints_layers_) {
                tape = {};
                tape.x = x;
            }
            tapes_.push_back(std::move(tape));
        }
        x = next;
    }
    last_x_ = mode.keeps_tape ? x : at::Tensor();
    mode_ = mode;
    return norm_forward(x, model_->final_norm, model_->config.norm_epsilon);
}

at::Tensor TrainingModel::attend_backward(std::size_t layer, const at::Tensor& dattended,
                                          const PackedBatch& batch, const LayerTape& tape) {
    const ModelConfig& c = model_->config;
    const DecoderLayer& l = model_->layers[layer];
    const std::int64_t rows = dattended.size(0), d = c.head_dim;
    const at::Tensor by_head = dattended.view({rows, c.heads, d});
    const at::Tensor all = at::empty({rows, c.query_size() + 2 * c.kv_size()}, dattended.options());
    for (std::size_t i = 0; i < batch.segments.size(); ++i) {
        const Segment& s = batch.segments[i];
        const HeadTensors gradients =
            attention_backward(tape.heads[i], by_head.narrow(0, s.begin, s.rows()), l.window);
        merge_heads(gradients, batch.tables_of(l), s, head_shape(), all);
    }
    if (l.q_norm.defined()) {
        const at::Tensor raw = tape.qkv.view({rows, -1, d}), turned = all.view({rows, -1, d});
        const auto undo = [&](std::int64_t first, std::int64_t heads, const at::Tensor& gain,
                              const at::Tensor& gain_gradient) {
            at::Tensor part = turned.narrow(1, first, heads);
            part.copy_(norm_backward(raw.narrow(1, first, heads).contiguous(), gain,
                                     part.contiguous(), c.norm_epsilon, gain_gradient));
        };
        undo(0, c.heads, l.q_norm, norm_gradients_[layer].q);
        undo(c.heads, c.kv_heads, l.k_norm, norm_gradients_[layer].k);
    }
    return all;
}

at::Tensor TrainingModel::layer_backward(std::size_t layer, const at::Tensor& dy,
                                         const PackedBatch& batch, const LayerTape& tape) {
    const DecoderLayer& l = model_->layers[layer];
    const double epsilon = model_->config.norm_epsilon;
    const NormGradients& norms = norm_gradients_[layer];
    const std::vector<Segment>* drops = mode_.drops ? &batch.segments : nullptr;
    const auto back = [&](std::size_t which, const at::Tensor& x, const at::Tensor& d,
                          bool needs_input) {
        return linear(layer, which).backward(x, d, drops, parameters_, needs_input);
    };
    const at::Tensor dact = back(down, swiglu_forward(tape.gate_up), dy, true);
    const at::Tensor dgate_up = swiglu_backward(tape.gate_up, dact);
    const at::Tensor dpost =
        back(gate_up, norm_forward(tape.y, l.post_norm, epsilon), dgate_up, true);
    const at::Tensor dmiddle = norm_backward(tape.y, l.post_norm, dpost, epsilon, norms.post, dy);
    const at::Tensor dattended = back(output, tape.attended, dmiddle, true);
    const at::Tensor dqkv = attend_backward(layer, dattended, batch, tape);
    const bool needs_input = layer > 0 || trains_weights_;
    const at::Tensor dnormed =
        back(qkv, norm_forward(tape.x, l.input_norm, epsilon), dqkv, needs_input);
    if (!needs_input)
        return {};
    return norm_backward(tape.x, l.input_norm, dnormed, epsilon, norms.input, dmiddle);
}

void TrainingModel::backward(const PackedBatch& batch, const at::Tensor& dhidden,
                             const std::function<void(std::size_t)>& complete) {
    std::size_t open = parameters_.slots(); // gradients from here on are complete
    const auto complete_from = [&](std::size_t first) {
        while (complete && open > first)
            complete(--open);
    };
    at::Tensor d = norm_backward(last_x_, model_->final_norm, dhidden, model_->config.norm_epsilon,
                                 final_norm_gradient_);
    last_x_ = at::Tensor();
    if (trains_weights_)
        complete_from(first_slots_.back());
    for (std::size_t i = model_->layers.size(); i-- > 0;) {
        LayerTape tape = std::move(tapes_[i]);
        tapes_.pop_back();
        if (checkpoints_layers_) {
            const at::Tensor x = tape.x;
            layer_forward(i, x, batch, mode_, tape);
        }
        d = layer_backward(i, d, batch, tape);
        if (trains_weights_)
            complete_from(first_slots_[i]);
    }
    if (embedding_gradient_.defined())
        embedding_gradient_.index_add_(0, batch.ids, d.to(at::kFloat));
    complete_from(0);
}

std::vector<NamedWeight> TrainingModel::weights() const {
    const CausalLM& m = *model_;
    std::vector<NamedWeight> all{{"model.embed_tokens.weight", m.embedding}};
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
        const DecoderLayer& layer = m.layers[i];
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        all.push_back({prefix + "input_layernorm.weight", layer.input_norm});
        all.push_back({prefix + "post_attention_layernorm.weight", layer.post_norm});
        if (layer.q_norm.defined()) {
            all.push_back({prefix + "self_attn.q_norm.weight", layer.q_norm});
            all.push_back({prefix + "self_attn.k_norm.weight", layer.k_norm});
        }
        for (const Linear* linear : {&layer.qkv, &layer.output, &layer.gate_up, &layer.down})
            for (const LinearPart& part : linear->parts) {
                const std::int64_t rows = part.end - part.begin;
                all.push_back({part.name + ".weight", linear->weight.narrow(0, part.begin, rows)});
                if (linear->bias.defined())
                    all.push_back({part.name + ".bias", linear->bias.narrow(0, part.begin, rows)});
            }
    }
    all.push_back({"model.norm.weight", m.final_norm});
    if (!m.config.tied_head)
        all.push_back({"lm_head.weight", m.head});
    return all;
}

} // namespace cuset
