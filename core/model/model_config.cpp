#include "core/model/model_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/model/config_fields.h"
#include "core/model/deepseek_config.h"
#include "core/model/family_defaults.h"
#include "core/model/model_support.h"

namespace cuset {
namespace {

using nlohmann::json;

void read_shape(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    c.hidden = f.require_integer("hidden_size", 1, 1 << 20);
    c.layers = f.require_integer("num_hidden_layers", 1, 4096);
    c.heads = f.require_integer("num_attention_heads", 1, 65536);
    c.kv_heads = f.integer("num_key_value_heads", 1, 65536)
                     .value_or(family.kv_heads > 0 ? family.kv_heads : c.heads);
    c.intermediate = f.require_integer("intermediate_size", 1, 1 << 22);
    c.vocabulary = f.require_integer("vocab_size", 1, 1 << 24);
    c.context_length =
        f.integer("max_position_embeddings", 1, 1 << 30).value_or(family.context_length);
    const bool layer_norm = family.traits.norm == NormKind::layer;
    c.norm_epsilon =
        f.number(layer_norm ? "norm_epsilon" : "rms_norm_eps").value_or(family.norm_epsilon);
    std::int64_t head_dim = family.head_dim;
    if (head_dim == 0)
        head_dim = c.hidden / c.heads;
    c.head_dim = f.integer("head_dim", 2, 4096).value_or(head_dim);
    if (c.family == ModelFamily::deepseek_v2)
        read_latent_attention(f, c);
    check_config_shape(c, f.subject());
}

// A list with an entry for each layer, or null. Throws Error(bad_value) for another length.
const json* layer_list(const ConfigFields& f, const char* key, std::int64_t layers) {
    const json* list = f.find(key);
    if (!list || !list->is_array())
        return nullptr;
    if (list->size() < static_cast<std::size_t>(layers)
        || (std::string_view(key) == "layer_types"
            && list->size() != static_cast<std::size_t>(layers)))
        throw Error(ErrorCode::bad_value,
                    std::string(key) + " has " + std::to_string(list->size())
                        + " entries, num_hidden_layers needs " + std::to_string(layers),
                    f.subject());
    return list;
}

std::optional<std::int64_t> window_size(const ConfigFields& f, const FamilyDefaults& family) {
    const WindowRule rule = family.window;
    const bool switched = rule == WindowRule::switched || rule == WindowRule::all_if_on
        || rule == WindowRule::unrotated;
    if (rule == WindowRule::none || (switched && !f.boolean("use_sliding_window").value_or(false)))
        return std::nullopt;
    const bool defaults = rule != WindowRule::all && rule != WindowRule::unrotated;
    if (defaults && !f.object().contains("sliding_window"))
        return 4096; // the reference's default; null means none
    return f.integer("sliding_window", 1, 1 << 30);
}

// PB5: which layers see a window. An explicit layer_types list decides where the window is on at
// all.
void read_windows(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    c.windows.assign(static_cast<std::size_t>(c.layers), 0);
    const auto window = window_size(f, family);
    if (!window)
        return;
    const bool whole = family.window == WindowRule::all || family.window == WindowRule::all_if_on;
    const json* types = whole ? nullptr : layer_list(f, "layer_types", c.layers);
    const std::int64_t first = family.window == WindowRule::switched
        ? f.integer("max_window_layers", 0, 1 << 30).value_or(28)
        : 0;
    std::int64_t pattern = family.window_pattern;
    for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"})
        if (pattern > 0)
            pattern = f.integer(key, 1, 1 << 20).value_or(pattern);
    for (std::int64_t i = 0; i < c.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        bool sliding = i >= first;
        if (types)
            sliding = types->at(at) == "sliding_attention";
        else if (family.window == WindowRule::pattern)
            sliding = (i + 1) % pattern != 0;
        else if (family.window == WindowRule::unrotated)
            sliding = c.layer_ropes[at] == LayerRope::none;
        c.windows[at] = sliding ? *window : 0;
    }
}

// SmolLM 3: layers without rotation, listed (1: rotated) or every n-th.
void read_unrotated_layers(const ConfigFields& f, ModelConfig& c) {
    if (c.family != ModelFamily::smollm3)
        return;
    const json* list = layer_list(f, "no_rope_layers", c.layers);
    const std::int64_t interval = f.integer("no_rope_layer_interval", 1, 1 << 20).value_or(4);
    for (std::int64_t i = 0; i < c.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool rotated = list ? list->at(at) != 0 : (i + 1) % interval != 0;
        c.layer_ropes[at] = rotated ? LayerRope::global : LayerRope::none;
    }
}

void read_ropes(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    RopeReading reading;
    reading.head_dim = c.has_latent_attention() ? c.latent.rotated : c.head_dim;
    reading.context_length = c.context_length;
    reading.theta = family.theta;
    reading.partial = family.partial_rope;
    if (c.family == ModelFamily::phi3) // the reference prefers this to what the settings say
        reading.original_context_length = 4096;
    if (c.family != ModelFamily::gemma3) {
        c.rope = read_rope(f, reading, c.warnings);
        if (c.family == ModelFamily::deepseek_v2)
            c.traits.attention_scale = latent_attention_scale(c.head_dim, c.rope);
        return;
    }
    reading.layer_type = "full_attention";
    c.rope = read_rope(f, reading, c.warnings);
    reading.layer_type = "sliding_attention";
    const json* both = f.find("rope_parameters");
    if (both && both->is_object() && both->contains(reading.layer_type)) {
        reading.theta = 10000.0;
        c.local_rope = read_rope(f, reading, c.warnings);
    } else {
        c.local_rope = RopeConfig{};
        c.local_rope->dimensions = c.head_dim;
        c.local_rope->context_length = c.context_length;
        c.local_rope->theta = f.number("rope_local_base_freq").value_or(10000.0);
    }
    for (std::size_t i = 0; i < c.windows.size(); ++i)
        c.layer_ropes[i] = c.windows[i] > 0 ? LayerRope::local : LayerRope::global;
}

double positive(const ConfigFields& f, const char* key, double otherwise) {
    const double value = f.number(key).value_or(otherwise);
    if (!(value > 0))
        throw Error(ErrorCode::bad_value,
                    std::string(key) + " is " + std::to_string(value) + ", needed more than 0",
                    f.subject());
    return value;
}

// 0 where the key says null, the reference's default where it is absent.
double cap(const ConfigFields& f, const char* key, double otherwise) {
    if (!f.object().contains(key))
        return otherwise;
    return f.find(key) ? positive(f, key, otherwise) : 0.0;
}

void read_scales(const ConfigFields& f, ModelConfig& c) {
    DecoderTraits& t = c.traits;
    if (c.family == ModelFamily::granite) {
        t.embedding_scale = positive(f, "embedding_multiplier", 1.0);
        t.residual_scale = positive(f, "residual_multiplier", 1.0);
        t.attention_scale = positive(f, "attention_multiplier", 1.0);
        t.logit_scale = 1.0 / positive(f, "logits_scaling", 1.0);
    }
    const bool gemma2 = c.family == ModelFamily::gemma2;
    if (gemma2 || c.family == ModelFamily::gemma3) {
        t.embedding_scale = std::sqrt(static_cast<double>(c.hidden));
        t.attention_scale = 1.0 / std::sqrt(positive(f, "query_pre_attn_scalar", 256.0));
        // Gemma 3 reads the attention's cap and does not use it.
        t.attention_cap = gemma2 ? cap(f, "attn_logit_softcapping", 50.0) : 0.0;
        t.logit_cap = cap(f, "final_logit_softcapping", gemma2 ? 30.0 : 0.0);
        if (f.boolean("use_bidirectional_attention").value_or(false))
            throw Error(ErrorCode::unsupported,
                        "use_bidirectional_attention makes it no causal language model",
                        f.subject());
    }
}

void read_experts(const ConfigFields& f, ModelConfig& c) {
    if (c.family == ModelFamily::deepseek_v2)
        return read_deepseek_experts(f, c);
    const bool qwen = c.family == ModelFamily::qwen3_moe;
    if (!qwen && c.family != ModelFamily::mixtral)
        return;
    ExpertConfig& e = c.experts;
    e.count = f.integer("num_local_experts", 1, 65536).value_or(qwen ? 128 : 8);
    e.count = f.integer("num_experts", 1, 65536).value_or(e.count);
    e.used = f.integer("num_experts_per_tok", 1, e.count).value_or(qwen ? 8 : 2);
    e.intermediate =
        qwen ? f.integer("moe_intermediate_size", 1, 1 << 22).value_or(768) : c.intermediate;
    e.normalized = !qwen || f.boolean("norm_topk_prob").value_or(false);
    if (!qwen)
        return;
    const std::int64_t step = f.integer("decoder_sparse_step", 1, 1 << 20).value_or(1);
    c.expert_layers.assign(static_cast<std::size_t>(c.layers), false);
    const json* dense = f.find("mlp_only_layers");
    for (std::int64_t i = 0; i < c.layers; ++i) {
        const bool listed = dense && dense->is_array()
            && std::find(dense->begin(), dense->end(), i) != dense->end();
        c.expert_layers[static_cast<std::size_t>(i)] = !listed && (i + 1) % step == 0;
    }
}

void read_biases(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    const bool biases = family.reads_biases && f.boolean("attention_bias").value_or(false);
    c.qkv_bias = family.qkv_bias || biases;
    c.output_bias = biases;
    c.mlp_bias = family.reads_mlp_bias && f.boolean("mlp_bias").value_or(false);
    if (c.family == ModelFamily::starcoder2)
        c.qkv_bias = c.output_bias = c.mlp_bias = f.boolean("use_bias").value_or(true);
}

void read_tokens(const ConfigFields& f, ModelConfig& c) {
    if (auto id = f.integer("bos_token_id", 0, c.vocabulary - 1))
        c.bos_id = static_cast<std::int32_t>(*id);
    const json* eos = f.find("eos_token_id");
    if (!eos)
        return;
    const json list = eos->is_array() ? *eos : json::array({*eos});
    for (const json& id : list)
        if (id.is_number_integer() && id >= 0 && id < c.vocabulary)
            c.eos_ids.push_back(id.get<std::int32_t>());
}

Activation read_activation(const ConfigFields& f, const FamilyDefaults& family) {
    const bool gemma = family.family == ModelFamily::gemma2 || family.family == ModelFamily::gemma3;
    const auto given = f.text(gemma ? "hidden_activation" : "hidden_act");
    if (!given)
        return family.traits.activation;
    if (*given == "silu" || *given == "swish")
        return Activation::silu;
    if (*given == "gelu_pytorch_tanh" || *given == "gelu_new")
        return Activation::gelu_tanh;
    if (*given == "gelu")
        return Activation::gelu;
    throw Error(ErrorCode::unsupported,
                "activation '" + printable(*given, 40)
                    + "' is not supported; supported are silu, gelu and gelu_pytorch_tanh",
                f.subject());
}

} // namespace

void check_config_shape(const ModelConfig& c, const std::string& subject) {
    const auto fail = [&](const std::string& what) {
        throw Error(ErrorCode::bad_value, what, subject);
    };
    if (c.head_dim < 2 || c.head_dim % 2 != 0)
        fail("head_dim is " + std::to_string(c.head_dim)
             + ", rotary position embedding needs an even number");
    if (c.heads % c.kv_heads != 0)
        fail("num_attention_heads " + std::to_string(c.heads)
             + " is not a multiple of num_key_value_heads " + std::to_string(c.kv_heads));
    if (c.query_size() > (1 << 22))
        fail("num_attention_heads times head_dim is " + std::to_string(c.query_size())
             + ", more than any real model has");
    if (!(c.norm_epsilon > 0) || !(c.norm_epsilon < 1))
        fail("rms_norm_eps must lie between 0 and 1");
}

double ModelConfig::attention_scale() const {
    return traits.attention_scale > 0 ? traits.attention_scale
                                      : 1.0 / std::sqrt(static_cast<double>(head_dim));
}

bool ModelConfig::has_experts(std::int64_t layer) const {
    if (experts.count == 0)
        return false;
    return expert_layers.empty() || expert_layers[static_cast<std::size_t>(layer)];
}

bool ModelConfig::is_llama_kind() const {
    return traits == DecoderTraits{} && experts.count == 0 && qk_norm != QueryKeyNorm::full
        && !local_rope && !has_latent_attention() && rope.dimensions == head_dim;
}

namespace {

std::int64_t attention_parameters(const ModelConfig& c) {
    if (!c.has_latent_attention())
        return (c.query_size() + 2 * c.kv_size()) * (c.hidden + (c.qkv_bias ? 1 : 0))
            + c.query_size() * c.hidden + (c.output_bias ? c.hidden : 0);
    const LatentConfig& l = c.latent;
    const std::int64_t query = l.query_rank > 0
        ? l.query_rank * (c.hidden + 1 + c.query_size()) // the norm's gain among it
        : c.query_size() * c.hidden;
    return query + (l.key_rank + l.rotated) * c.hidden + l.key_rank * (1 + c.latent_size())
        + c.attended_size() * c.hidden;
}

} // namespace

std::int64_t ModelConfig::parameters() const {
    const std::int64_t products = traits.gated_mlp ? 3 : 2;
    const std::int64_t mlp =
        products * hidden * intermediate + (mlp_bias ? (products - 1) * intermediate + hidden : 0);
    const std::int64_t mixture = experts.count * (3 * hidden * experts.intermediate + hidden)
        + 3 * hidden * experts.shared; // the router among it
    const std::int64_t norm = hidden * (traits.norm == NormKind::layer ? 2 : 1);
    std::int64_t norms = norm * ((traits.input_norms ? 2 : 0) + (traits.output_norms ? 2 : 0));
    if (qk_norm == QueryKeyNorm::head)
        norms += 2 * head_dim;
    if (qk_norm == QueryKeyNorm::full)
        norms += query_size() + kv_size();
    std::int64_t total = norm + vocabulary * hidden * (tied_head ? 1 : 2);
    for (std::int64_t i = 0; i < layers; ++i)
        total += attention_parameters(*this) + norms + (has_experts(i) ? mixture : mlp);
    return total;
}

ModelConfig parse_model_config(std::string_view text, const std::string& subject) {
    const ConfigFields fields = ConfigFields::parse(text, subject);
    refuse_unsupported_config(fields);
    const FamilyDefaults& family = require_family(fields.require_text("model_type"), subject);

    ModelConfig c;
    if (fields.find("auto_map"))
        c.warnings.push_back("the model brings its own code (auto_map), which is never run; the "
                             "standard "
                             + std::string(family.name) + " is computed");
    c.family = family.family;
    c.traits = family.traits;
    c.traits.activation = read_activation(fields, family);
    read_shape(fields, family, c);
    c.tied_head = fields.boolean("tie_word_embeddings").value_or(family.tied);
    c.qk_norm = family.qk_norm;
    c.fused_projections = family.fused_projections;
    read_biases(fields, family, c);
    read_scales(fields, c);
    read_experts(fields, c);
    c.layer_ropes.assign(static_cast<std::size_t>(c.layers), LayerRope::global);
    read_unrotated_layers(fields, c);
    read_windows(fields, family, c);
    read_ropes(fields, family, c);
    // max_position_embeddings is what dynamic rope stretches, not how far.
    if (c.rope.kind == RopeKind::dynamic)
        c.context_length = std::min<std::int64_t>(
            1 << 30,
            static_cast<std::int64_t>(static_cast<double>(c.context_length) * c.rope.factor));
    read_tokens(fields, c);
    auto dtype = fields.text("dtype");
    c.stored_dtype = dtype ? *dtype : fields.text("torch_dtype").value_or("");
    return c;
}

} // namespace cuset
