// Builds a CausalLM from a checkpoint: fused, in the type it computes with, on its device. Sees
// torch.
#pragma once

#include "core/base/run_control.h"
#include "core/model/causal_lm.h"
#include "core/model/weight_source.h"

namespace cuset {

// Throws Error: not_found (a tensor that the config needs), bad_value (wrong shape, both named),
// unsupported (type), out_of_memory; Cancelled. Progress: stage "loading weights", unit "tensors".
// `on_layer` is called with the model so far and the number of the layer just loaded, in order; it
// may take the layer's weights away.
CausalLM load_model(const ModelConfig& config, const WeightSource& source, at::ScalarType dtype,
                    at::Device device, RunControl& control,
                    const std::function<void(CausalLM&, std::size_t)>& on_layer = {});

} // namespace cuset
