#include "core/model/model_config.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/model/config_fields.h"
#include "core/model/model_support.h"

namespace cuset {
namespace {

using nlohmann::json;

// What transformers assumes for a family where config.json is silent.
struct FamilyDefaults {
    std::string_view name;
    ModelFamily family;
    bool qkv_bias; // always there (qwen2)
    bool reads_biases; // attention_bias in the config counts
    bool qk_norm;
    bool window_switch; // use_sliding_window must be on (qwen); else sliding_window alone decides
    std::int64_t context_length;
    std::int64_t head_dim; // 0: hidden / heads
};

constexpr std::array<FamilyDefaults, 4> families{{
    {"llama", ModelFamily::llama, false, true, false, false, 2048, 0},
    {"qwen2", ModelFamily::qwen2, true, false, false, true, 32768, 0},
    {"qwen3", ModelFamily::qwen3, false, true, true, true, 32768, 128},
    {"mistral", ModelFamily::mistral, false, false, false, false, 131072, 0},
}};

const FamilyDefaults& require_family(const std::string& name, const std::string& subject) {
    for (const FamilyDefaults& f : families)
        if (f.name == name)
            return f;
    throw Error(ErrorCode::unsupported,
                "model family '" + printable(name, 60)
                    + "' is not supported; supported are llama, qwen2, qwen3 and mistral",
                subject);
}

void read_shape(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    c.hidden = f.require_integer("hidden_size", 1, 1 << 20);
    c.layers = f.require_integer("num_hidden_layers", 1, 4096);
    c.heads = f.require_integer("num_attention_heads", 1, 65536);
    c.kv_heads = f.integer("num_key_value_heads", 1, 65536).value_or(c.heads);
    c.intermediate = f.require_integer("intermediate_size", 1, 1 << 22);
    c.vocabulary = f.require_integer("vocab_size", 1, 1 << 24);
    c.context_length =
        f.integer("max_position_embeddings", 1, 1 << 30).value_or(family.context_length);
    c.norm_epsilon = f.number("rms_norm_eps").value_or(1e-6);
    std::int64_t head_dim = family.head_dim;
    if (head_dim == 0)
        head_dim = c.hidden / c.heads;
    c.head_dim = f.integer("head_dim", 2, 4096).value_or(head_dim);
    check_config_shape(c, f.subject());
}

// PB5: which layers see a window. An explicit layer_types list decides where the window is on at
// all.
void read_windows(const ConfigFields& f, const FamilyDefaults& family, ModelConfig& c) {
    c.windows.assign(static_cast<std::size_t>(c.layers), 0);
    auto window = f.integer("sliding_window", 1, 1 << 30);
    if (!f.object().contains("sliding_window"))
        window = 4096; // the reference's default; null means none
    if (family.window_switch && !f.boolean("use_sliding_window").value_or(false))
        window.reset();
    if (family.family == ModelFamily::llama || !window)
        return;
    const json* types = f.find("layer_types");
    if (types && types->is_array() && types->size() != c.windows.size())
        throw Error(ErrorCode::bad_value,
                    "layer_types has " + std::to_string(types->size())
                        + " entries, num_hidden_layers needs " + std::to_string(c.layers),
                    f.subject());
    const std::int64_t first =
        family.window_switch ? f.integer("max_window_layers", 0, 1 << 30).value_or(28) : 0;
    for (std::int64_t i = 0; i < c.layers; ++i) {
        bool sliding = i >= first;
        if (types && types->is_array())
            sliding = types->at(static_cast<std::size_t>(i)) == "sliding_attention";
        c.windows[static_cast<std::size_t>(i)] = sliding ? *window : 0;
    }
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

void require_activation(const ConfigFields& f) {
    const std::string name = f.text("hidden_act").value_or("silu");
    if (name != "silu" && name != "swish")
        throw Error(ErrorCode::unsupported,
                    "activation '" + printable(name, 40) + "' is not supported; supported is silu",
                    f.subject());
}

} // namespace

std::string_view model_family_name(ModelFamily family) noexcept {
    for (const FamilyDefaults& f : families)
        if (f.family == family)
            return f.name;
    return "";
}

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

std::int64_t ModelConfig::parameters() const {
    const std::int64_t qkv = (query_size() + 2 * kv_size()) * (hidden + (qkv_bias ? 1 : 0));
    const std::int64_t out = query_size() * hidden + (output_bias ? hidden : 0);
    const std::int64_t mlp = 3 * hidden * intermediate + (mlp_bias ? 2 * intermediate + hidden : 0);
    const std::int64_t norms = 2 * hidden + (qk_norm ? 2 * head_dim : 0);
    return layers * (qkv + out + mlp + norms) + hidden + vocabulary * hidden * (tied_head ? 1 : 2);
}

ModelConfig parse_model_config(std::string_view text, const std::string& subject) {
    const ConfigFields fields = ConfigFields::parse(text, subject);
    refuse_unsupported_config(fields);
    const FamilyDefaults& family = require_family(fields.require_text("model_type"), subject);
    require_activation(fields);

    ModelConfig c;
    c.family = family.family;
    read_shape(fields, family, c);
    c.tied_head = fields.boolean("tie_word_embeddings").value_or(false);
    c.qk_norm = family.qk_norm;
    const bool biases = family.reads_biases && fields.boolean("attention_bias").value_or(false);
    c.qkv_bias = family.qkv_bias || biases;
    c.output_bias = biases;
    c.mlp_bias = family.family == ModelFamily::llama && fields.boolean("mlp_bias").value_or(false);
    read_windows(fields, family, c);
    c.rope = read_rope(fields, c.head_dim, c.context_length, c.warnings);
    read_tokens(fields, c);
    auto dtype = fields.text("dtype");
    c.stored_dtype = dtype ? *dtype : fields.text("torch_dtype").value_or("");
    return c;
}

} // namespace cuset
