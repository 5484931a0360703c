#include "core/train/quantized_base.h"

#include "core/train/head_loss.h"

namespace cuset {

BaseQuantizer::BaseQuantizer(QuantizeBase kind, std::span<const TrainSample> samples)
    : kind_(kind)
    , samples_(samples) { }

void BaseQuantizer::take(CausalLM& model, std::size_t layer) {
    DecoderLayer& l = model.layers[layer];
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        const TrainSample& sample = samples_[i];
        if (layer == 0) {
            const std::vector<std::int64_t> ids(sample.ids.begin(), sample.ids.end());
            hidden_.push_back(model.embed(
                at::tensor(at::ArrayRef<std::int64_t>(ids), at::TensorOptions().dtype(at::kLong))
                    .to(model.device())));
        }
        hidden_[i] = model.through_layer(layer, hidden_[i], model.layer_tables(0, sample.length()));
    }
    for (Linear* linear : {&l.qkv, &l.output, &l.gate_up, &l.down}) {
        matrices.emplace_back(linear->weight, kind_);
        linear->weight =
            at::empty(linear->weight.sizes(), linear->weight.options().device(at::kMeta));
    }
}

double BaseQuantizer::unquantized_nll(const CausalLM& model) const {
    double sum = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i)
        sum += plain_nll(model, model.through_final_norm(hidden_[i]), samples_[i]);
    return sum;
}

double plain_nll(const CausalLM& model, const at::Tensor& hidden, const TrainSample& sample) {
    Objective plain;
    plain.name = TokenObjective::sft;
    const std::vector<std::int32_t> targets = sample.targets();
    at::Tensor rows = at::empty({sample.response_tokens()}, at::kLong);
    for (std::size_t t = 0; t < targets.size(); ++t)
        rows.data_ptr<std::int64_t>()[t] = static_cast<std::int64_t>(sample.position(t)) - 1;
    HeadInput input;
    input.hidden = hidden.index_select(0, rows.to(hidden.device()));
    input.targets = targets;
    input.labels = sample.labels;
    return head_loss(model.head, input, plain, at::Tensor(), at::Tensor()).nll;
}

} // namespace cuset
