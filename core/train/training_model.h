// TrainingModel: a CausalLM with what is trained in it, its forward pass with a tape and its
// backward pass. Sees torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/model/causal_lm.h"
#include "core/model/lora.h"
#include "core/train/adapted_linear.h"
#include "core/train/parameters.h"
#include "core/train/train_config.h"

namespace cuset {

// Samples one after another in one sequence of rows; attention stays within each.
struct PackedBatch {
    at::Tensor ids; // [S] int64, on the model's device
    std::vector<Segment> segments;
    LayerTables tables; // positions begin anew in each segment

    const RotaryTables& tables_of(const DecoderLayer& layer) const {
        return tables[static_cast<std::size_t>(layer.rope)];
    }
};

struct ForwardMode {
    bool keeps_tape = false; // backward() follows
    bool drops = false; // dropout of the adapters
    bool adapted = true; // false: the untouched model
};

// One weight of the checkpoint within a trained tensor of the model.
struct NamedWeight {
    std::string name; // "model.layers.0.self_attn.q_proj.weight"
    at::Tensor value;
};

class TrainingModel {
public:
    // `quantized`: of each of the model's linear layers, in the place of its weight; or empty.
    TrainingModel(CausalLM model, bool checkpoints_layers,
                  std::vector<QuantizedMatrix> quantized = {});
    TrainingModel(TrainingModel&&) = default;

    // One of these, once. Adapters: A uniform in +-1/sqrt(in) as PEFT's, B zero. Throws
    // Error(bad_value): a target that no layer has.
    void add_adapters(const LoraSettings& settings, std::uint64_t seed);
    // The adapter of a PEFT folder goes on; its effect says whether its low-rank branches are all
    // of it. Throws what attach_adapter throws.
    AdapterEffect adopt_adapter(const std::filesystem::path& folder, double dropout);
    // Masters in float32 begin as the model's weights are; it computes with them rounded to `type`.
    void train_all_weights(at::ScalarType type);

    CausalLM& model() { return *model_; }
    const CausalLM& model() const { return *model_; }
    Parameters& parameters() { return parameters_; }
    const Parameters& parameters() const { return parameters_; }
    const std::vector<AdaptedLinear>& linears() const { return linears_; }
    bool trains_weights() const { return trains_weights_; }
    // To be called after every change of the parameters.
    void refresh();

    PackedBatch pack(const std::vector<std::span<const std::int32_t>>& ids,
                     const std::vector<std::uint64_t>& keys) const;
    // Hidden states [S, C] after the last norm.
    at::Tensor forward(const PackedBatch& batch, const ForwardMode& mode);
    // dhidden [S, C]: the gradient of what the last forward() with a tape returned. Where the
    // weights are trained, `complete` is called with the slot of each gradient that is, from the
    // last slot to the first.
    void backward(const PackedBatch& batch, const at::Tensor& dhidden,
                  const std::function<void(std::size_t)>& complete = {});
    // [V, C] float32 where the head is trained, else undefined; the embedding's own if they are
    // tied.
    at::Tensor head_gradient() const { return head_gradient_; }

    // Every weight of the checkpoint by its Hugging Face name, as the model computes with it.
    std::vector<NamedWeight> weights() const;

private:
    struct LayerTape {
        at::Tensor x, qkv, attended, y, gate_up; // qkv only with head norms
        std::vector<HeadTensors> heads; // of each segment
    };
    struct NormGradients {
        at::Tensor input, post, q, k;
    };

    AdaptedLinear& linear(std::size_t layer, std::size_t which) {
        return linears_[4 * layer + which];
    }
    HeadShape head_shape() const;
    std::size_t trained(at::Tensor& weight);
    at::Tensor layer_forward(std::size_t layer, const at::Tensor& x, const PackedBatch& batch,
                             const ForwardMode& mode, LayerTape& tape);
    at::Tensor attend(std::size_t layer, const at::Tensor& normed, const PackedBatch& batch,
                      const ForwardMode& mode, LayerTape& tape);
    at::Tensor layer_backward(std::size_t layer, const at::Tensor& dy, const PackedBatch& batch,
                              const LayerTape& tape);
    at::Tensor attend_backward(std::size_t layer, const at::Tensor& dattended,
                               const PackedBatch& batch, const LayerTape& tape);

    std::unique_ptr<CausalLM> model_;
    bool checkpoints_layers_;
    bool trains_weights_ = false;
    Parameters parameters_;
    std::vector<AdaptedLinear> linears_; // qkv, output, gate_up, down of each layer
    std::vector<std::pair<at::Tensor*, std::size_t>>
        trained_; // weights of the model and their slots
    std::vector<NormGradients> norm_gradients_; // [layers]
    std::vector<std::size_t>
        first_slots_; // of each layer where weights are trained, then of the end
    at::Tensor final_norm_gradient_, embedding_gradient_, head_gradient_;
    std::vector<LayerTape> tapes_;
    at::Tensor last_x_; // before the last norm
    ForwardMode mode_;
};

} // namespace cuset
