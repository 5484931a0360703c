#include "core/model/weight_loader.h"

#include "core/base/error.h"

namespace cuset {
namespace {

std::string shape_text(at::IntArrayRef shape) {
    std::string text;
    for (std::int64_t n : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

class Loader {
public:
    Loader(const ModelConfig& config, const WeightSource& source, at::ScalarType dtype,
           at::Device device, RunControl& control)
        : config_(config)
        , source_(source)
        , dtype_(dtype)
        , device_(device)
        , control_(control) { }

    CausalLM load() {
        CausalLM model;
        model.config = config_;
        model.embedding = read("model.embed_tokens.weight", {config_.vocabulary, config_.hidden});
        for (std::int64_t i = 0; i < config_.layers; ++i)
            model.layers.push_back(load_layer(i));
        model.final_norm = read("model.norm.weight", {config_.hidden});
        model.head = config_.tied_head
            ? model.embedding
            : read("lm_head.weight", {config_.vocabulary, config_.hidden});
        return model;
    }

private:
    void check(const std::string& name, at::IntArrayRef shape) {
        control_.checkpoint({"loading weights", done_++, 9 * config_.layers + 3, "tensors"});
        const auto found = source_.find_shape(name);
        if (!found)
            throw Error(ErrorCode::not_found,
                        "no tensor " + name + "; the checkpoint is incomplete or of another kind",
                        source_.subject());
        if (at::IntArrayRef(*found) != shape)
            throw Error(ErrorCode::bad_value,
                        "shape " + shape_text(*found) + ", config.json needs " + shape_text(shape),
                        name);
    }

    at::Tensor read(const std::string& name, at::IntArrayRef shape) {
        check(name, shape);
        at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype_));
        source_.read(name, out);
        return out.to(device_);
    }

    struct PartSize {
        std::string name;
        std::int64_t rows;
    };

    Linear read_linear(const std::string& prefix, const std::vector<PartSize>& sizes,
                       std::int64_t in, bool bias) {
        std::int64_t rows = 0;
        for (const PartSize& part : sizes)
            rows += part.rows;
        Linear linear;
        at::Tensor weight = at::empty({rows, in}, at::TensorOptions().dtype(dtype_));
        at::Tensor offsets;
        if (bias)
            offsets = at::empty({rows}, at::TensorOptions().dtype(dtype_));
        std::int64_t begin = 0;
        for (const PartSize& part : sizes) {
            const std::string name = prefix + part.name;
            check(name + ".weight", {part.rows, in});
            at::Tensor slice = weight.narrow(0, begin, part.rows);
            source_.read(name + ".weight", slice);
            if (bias) {
                check(name + ".bias", {part.rows});
                slice = offsets.narrow(0, begin, part.rows);
                source_.read(name + ".bias", slice);
            }
            linear.parts.push_back({name, begin, begin + part.rows});
            begin += part.rows;
        }
        linear.weight = weight.to(device_);
        if (bias)
            linear.bias = offsets.to(device_);
        return linear;
    }

    DecoderLayer load_layer(std::int64_t i) {
        const ModelConfig& c = config_;
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        const std::string attention = prefix + "self_attn.", mlp = prefix + "mlp.";
        DecoderLayer layer;
        layer.input_norm = read(prefix + "input_layernorm.weight", {c.hidden});
        layer.qkv = read_linear(
            attention,
            {{"q_proj", c.query_size()}, {"k_proj", c.kv_size()}, {"v_proj", c.kv_size()}},
            c.hidden, c.qkv_bias);
        if (c.qk_norm) {
            layer.q_norm = read(attention + "q_norm.weight", {c.head_dim});
            layer.k_norm = read(attention + "k_norm.weight", {c.head_dim});
        }
        layer.output =
            read_linear(attention, {{"o_proj", c.hidden}}, c.query_size(), c.output_bias);
        layer.post_norm = read(prefix + "post_attention_layernorm.weight", {c.hidden});
        layer.gate_up =
            read_linear(mlp, {{"gate_proj", c.intermediate}, {"up_proj", c.intermediate}}, c.hidden,
                        c.mlp_bias);
        layer.down = read_linear(mlp, {{"down_proj", c.hidden}}, c.intermediate, c.mlp_bias);
        layer.window = c.windows[static_cast<std::size_t>(i)];
        return layer;
    }

    const ModelConfig& config_;
    const WeightSource& source_;
    at::ScalarType dtype_;
    at::Device device_;
    RunControl& control_;
    std::int64_t done_ = 0;
};

} // namespace

CausalLM load_model(const ModelConfig& config, const WeightSource& source, at::ScalarType dtype,
                    at::Device device, RunControl& control) {
    return Loader(config, source, dtype, device, control).load();
}

} // namespace cuset
