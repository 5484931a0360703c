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

    CausalLM load(const std::function<void(CausalLM&, std::size_t)>& on_layer) {
        CausalLM model;
        model.config = config_;
        total_ = expected_tensors();
        model.embedding = read("model.embed_tokens.weight", {config_.vocabulary, config_.hidden});
        for (std::int64_t i = 0; i < config_.layers; ++i) {
            model.layers.push_back(load_layer(i));
            if (on_layer)
                on_layer(model, static_cast<std::size_t>(i));
        }
        model.final_norm = read_gain("model.norm.weight", config_.hidden);
        if (has_norm_bias())
            model.final_norm_bias = read("model.norm.bias", {config_.hidden});
        model.head = config_.tied_head
            ? model.embedding
            : read("lm_head.weight", {config_.vocabulary, config_.hidden});
        return model;
    }

private:
    void check(const std::string& name, at::IntArrayRef shape) {
        control_.checkpoint({"loading weights", done_++, total_, "tensors"});
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
        return read(name, shape, dtype_);
    }

    at::Tensor read(const std::string& name, at::IntArrayRef shape, at::ScalarType dtype) {
        check(name, shape);
        at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype));
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

    // For the progress bar: as many as the load_ functions ask for.
    std::int64_t expected_tensors() const {
        const ModelConfig& c = config_;
        const std::int64_t norm = has_norm_bias() ? 2 : 1;
        std::int64_t attention = (c.fused_projections ? 1 : 3) * (c.qkv_bias ? 2 : 1)
            + (c.output_bias ? 2 : 1) + (c.qk_norm != QueryKeyNorm::none ? 2 : 0);
        if (c.has_latent_attention())
            attention = c.latent.query_rank > 0 ? 7 : 5;
        const std::int64_t norms =
            (c.traits.input_norms ? 2 * norm : 0) + (c.traits.output_norms ? 2 : 0);
        const std::int64_t mlp =
            (c.traits.gated_mlp && !c.fused_projections ? 3 : 2) * (c.mlp_bias ? 2 : 1);
        std::int64_t count = 1 + norm + (c.tied_head ? 0 : 1);
        for (std::int64_t i = 0; i < c.layers; ++i)
            count += attention + norms
                + (c.has_experts(i) ? 1 + 3 * c.experts.count + (c.experts.shared > 0 ? mlp : 0)
                                    : mlp);
        return count;
    }

    bool has_norm_bias() const { return config_.traits.norm == NormKind::layer; }

    // The gain of a norm. One that is multiplied in float32 stays float32.
    at::Tensor read_gain(const std::string& name, std::int64_t size) {
        if (config_.traits.norm != NormKind::rms_wide)
            return read(name, {size});
        check(name, {size});
        at::Tensor gain = at::empty({size}, at::TensorOptions().dtype(at::kFloat));
        source_.read(name, gain);
        if (config_.traits.gain_adds_one)
            gain.add_(1.0);
        return gain.to(device_);
    }

    void load_attention(DecoderLayer& layer, const std::string& prefix) {
        const ModelConfig& c = config_;
        std::vector<PartSize> parts{
            {"q_proj", c.query_size()}, {"k_proj", c.kv_size()}, {"v_proj", c.kv_size()}};
        if (c.fused_projections)
            parts = {{"qkv_proj", c.query_size() + 2 * c.kv_size()}};
        layer.qkv = read_linear(prefix, parts, c.hidden, c.qkv_bias);
        if (c.qk_norm != QueryKeyNorm::none) {
            const bool full = c.qk_norm == QueryKeyNorm::full;
            layer.q_norm = read_gain(prefix + "q_norm.weight", full ? c.query_size() : c.head_dim);
            layer.k_norm = read_gain(prefix + "k_norm.weight", full ? c.kv_size() : c.head_dim);
        }
        layer.output = read_linear(prefix, {{"o_proj", c.hidden}}, c.query_size(), c.output_bias);
    }

    void load_latent_attention(DecoderLayer& layer, const std::string& prefix) {
        const ModelConfig& c = config_;
        const LatentConfig& l = c.latent;
        const PartSize key{"kv_a_proj_with_mqa", l.key_rank + l.rotated};
        if (l.query_rank > 0) {
            layer.qkv = read_linear(prefix, {{"q_a_proj", l.query_rank}, key}, c.hidden, false);
            layer.q_norm = read_gain(prefix + "q_a_layernorm.weight", l.query_rank);
            layer.query_up =
                read_linear(prefix, {{"q_b_proj", c.query_size()}}, l.query_rank, false);
        } else {
            layer.qkv = read_linear(prefix, {{"q_proj", c.query_size()}, key}, c.hidden, false);
        }
        layer.k_norm = read_gain(prefix + "kv_a_layernorm.weight", l.key_rank);
        layer.key_value_up =
            read_linear(prefix, {{"kv_b_proj", c.latent_size()}}, l.key_rank, false);
        layer.output = read_linear(prefix, {{"o_proj", c.hidden}}, c.attended_size(), false);
    }

    // By the names that transformers gives the norms of its four ways to place them.
    void load_norms(DecoderLayer& layer, const std::string& prefix) {
        const DecoderTraits& t = config_.traits;
        const auto gain = [&](const char* name) {
            return read_gain(prefix + name + ".weight", config_.hidden);
        };
        if (t.input_norms) {
            const char* second =
                t.output_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
            layer.input_norm = gain("input_layernorm");
            layer.post_norm = gain(second);
            if (has_norm_bias()) {
                layer.input_norm_bias = read(prefix + "input_layernorm.bias", {config_.hidden});
                layer.post_norm_bias = read(prefix + second + ".bias", {config_.hidden});
            }
        }
        if (t.output_norms) {
            layer.attention_output_norm = gain("post_attention_layernorm");
            layer.mlp_output_norm = gain("post_feedforward_layernorm");
        }
    }

    void load_mlp(DecoderLayer& layer, const std::string& prefix, std::int64_t width) {
        const ModelConfig& c = config_;
        std::vector<PartSize> parts{{"gate_proj", width}, {"up_proj", width}};
        if (c.fused_projections)
            parts = {{"gate_up_proj", 2 * width}};
        if (!c.traits.gated_mlp)
            parts = {{"c_fc", width}};
        layer.gate_up = read_linear(prefix, parts, c.hidden, c.mlp_bias);
        layer.down = read_linear(prefix, {{c.traits.gated_mlp ? "down_proj" : "c_proj", c.hidden}},
                                 width, c.mlp_bias);
    }

    // Mixtral's names or Qwen's.
    Experts load_experts(const std::string& layer) {
        const ModelConfig& c = config_;
        const bool sparse = source_.find_shape(layer + "block_sparse_moe.gate.weight").has_value();
        const std::string prefix = layer + (sparse ? "block_sparse_moe." : "mlp.");
        Experts experts;
        experts.router = read(prefix + "gate.weight", {c.experts.count, c.hidden},
                              c.experts.wide_router ? at::kFloat : dtype_);
        for (std::int64_t i = 0; i < c.experts.count; ++i) {
            const std::string expert = prefix + "experts." + std::to_string(i) + ".";
            const std::int64_t width = c.experts.intermediate;
            experts.gate_up.push_back(read_linear(
                expert, {{sparse ? "w1" : "gate_proj", width}, {sparse ? "w3" : "up_proj", width}},
                c.hidden, false));
            experts.down.push_back(
                read_linear(expert, {{sparse ? "w2" : "down_proj", c.hidden}}, width, false));
        }
        return experts;
    }

    DecoderLayer load_layer(std::int64_t i) {
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        DecoderLayer layer;
        if (config_.has_latent_attention())
            load_latent_attention(layer, prefix + "self_attn.");
        else
            load_attention(layer, prefix + "self_attn.");
        load_norms(layer, prefix);
        if (!config_.has_experts(i)) {
            load_mlp(layer, prefix + "mlp.", config_.intermediate);
        } else {
            layer.experts = load_experts(prefix);
            if (config_.experts.shared > 0)
                load_mlp(layer, prefix + "mlp.shared_experts.", config_.experts.shared);
        }
        layer.window = config_.windows[static_cast<std::size_t>(i)];
        layer.rope = config_.layer_ropes[static_cast<std::size_t>(i)];
        return layer;
    }

    const ModelConfig& config_;
    const WeightSource& source_;
    at::ScalarType dtype_;
    at::Device device_;
    RunControl& control_;
    std::int64_t done_ = 0, total_ = 0;
};

} // namespace

CausalLM load_model(const ModelConfig& config, const WeightSource& source, at::ScalarType dtype,
                    at::Device device, RunControl& control,
                    const std::function<void(CausalLM&, std::size_t)>& on_layer) {
    return Loader(config, source, dtype, device, control).load(on_layer);
}

} // namespace cuset
