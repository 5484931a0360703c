// Quantises a model's linear layers one by one as they are loaded, so that it never stands in
// memory whole, and measures on the way what that does to the plain loss of some samples: each
// layer is run on them before its weights go. Sees torch.
#pragma once

#include <span>
#include <vector>

#include "core/model/causal_lm.h"
#include "core/train/batch_loader.h"
#include "core/train/quantized_matrix.h"

namespace cuset {

// Plain NLL, mean over the response tokens of the samples it was measured on.
struct QuantizationLoss {
    double unquantized = 0, quantized = 0; // nats a token
    std::int64_t tokens = 0; // 0: not measured
};

class BaseQuantizer {
public:
    // `samples` have to outlive the loading.
    BaseQuantizer(QuantizeBase kind, std::span<const TrainSample> samples);

    // After each layer, in order; the embedding is there already. The layer's weights become
    // shapes without values.
    void take(CausalLM& model, std::size_t layer);
    // qkv, output, gate_up, down of each layer.
    std::vector<QuantizedMatrix> matrices;

    // After the last layer: sum of -ln p_t over the samples' response tokens, unquantised.
    double unquantized_nll(const CausalLM& model) const;

private:
    QuantizeBase kind_;
    std::span<const TrainSample> samples_;
    std::vector<at::Tensor> hidden_; // of each sample, after the layers so far
};

// Sum of -ln p_t of the sample's response; hidden [S, C] after the last norm.
double plain_nll(const CausalLM& model, const at::Tensor& hidden, const TrainSample& sample);

} // namespace cuset
