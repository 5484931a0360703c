#include "core/model/folder_texts.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/tokenizer_writer.h"

namespace cuset {
namespace {

using nlohmann::ordered_json;

const char* architecture_of(ModelFamily family) {
    switch (family) {
    case ModelFamily::qwen2:
        return "Qwen2ForCausalLM";
    case ModelFamily::qwen3:
        return "Qwen3ForCausalLM";
    case ModelFamily::mistral:
        return "MistralForCausalLM";
    case ModelFamily::llama:
        return "LlamaForCausalLM";
    default:
        return nullptr;
    }
}

// Llama 3's scaling gives these divisors; GGUF keeps them and not its four numbers, of which all
// released models have three in common.
std::optional<RopeConfig> as_llama3(const RopeConfig& rope) {
    RopeConfig guess = rope;
    guess.kind = RopeKind::llama3;
    guess.divisors.clear();
    guess.factor = static_cast<double>(rope.divisors.back());
    guess.low_freq_factor = 1;
    guess.high_freq_factor = 4;
    guess.original_context_length = 8192;
    RopeConfig plain = rope;
    plain.kind = RopeKind::standard;
    plain.divisors.clear();
    const auto scaled = rope_frequencies(guess, 1).inv_freq;
    const auto unscaled = rope_frequencies(plain, 1).inv_freq;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
        const float divisor = unscaled[i] / scaled[i];
        if (std::abs(divisor - rope.divisors[i]) > 1e-4f * divisor)
            return std::nullopt;
    }
    return guess;
}

ordered_json rope_scaling(const RopeConfig& rope, const std::string& subject) {
    const RopeConfig* r = &rope;
    std::optional<RopeConfig> llama3;
    if (!rope.divisors.empty()) {
        llama3 = as_llama3(rope);
        if (!llama3)
            throw Error(ErrorCode::unsupported,
                        "rope_freqs.weight holds divisors that config.json cannot say; take the "
                        "model's Hugging Face folder",
                        subject);
        r = &*llama3;
    }
    switch (r->kind) {
    case RopeKind::standard:
        return nullptr;
    case RopeKind::linear:
        return {{"rope_type", "linear"}, {"factor", r->factor}};
    case RopeKind::dynamic:
        return {{"rope_type", "dynamic"}, {"factor", r->factor}};
    case RopeKind::llama3:
        return {{"rope_type", "llama3"},
                {"factor", r->factor},
                {"low_freq_factor", r->low_freq_factor},
                {"high_freq_factor", r->high_freq_factor},
                {"original_max_position_embeddings", r->original_context_length}};
    case RopeKind::longrope:
        throw Error(ErrorCode::unsupported,
                    "longrope is not written to config.json; take the model's Hugging Face folder",
                    subject);
    case RopeKind::yarn:
        break;
    }
    ordered_json yarn{{"rope_type", "yarn"},
                      {"factor", r->factor},
                      {"beta_fast", r->beta_fast},
                      {"beta_slow", r->beta_slow},
                      {"truncate", r->truncate},
                      {"original_max_position_embeddings", r->original_context_length}};
    if (r->attention_factor)
        yarn["attention_factor"] = *r->attention_factor;
    return yarn;
}

// Which family says what the layers hold: a window is Mistral's, biases are Qwen2's.
ModelFamily family_of(const ModelConfig& c) {
    const bool windowed = !c.windows.empty() && c.windows.front() > 0;
    return c.family == ModelFamily::llama && windowed ? ModelFamily::mistral : c.family;
}

ordered_json tokenizer_config(const ModelFiles& files) {
    ordered_json out{{"tokenizer_class", "PreTrainedTokenizerFast"},
                     {"model_max_length", files.config.context_length},
                     {"clean_up_tokenization_spaces", false}};
    const auto put = [&](const char* name, const std::string& token) {
        if (!token.empty())
            out[name] = token;
    };
    put("bos_token", files.special.bos);
    put("eos_token", files.special.eos);
    put("pad_token", files.special.pad);
    put("unk_token", files.special.unknown);
    return out;
}

} // namespace

std::string config_json(const ModelConfig& c, const std::string& dtype,
                        const std::string& subject) {
    const ModelFamily family = family_of(c);
    const char* architecture = architecture_of(family);
    if (architecture == nullptr)
        throw Error(ErrorCode::unsupported,
                    "no config.json is written for the family "
                        + std::string(model_family_name(family))
                        + "; take the model's Hugging Face folder",
                    subject);
    ordered_json out{{"architectures", {architecture}},
                     {"model_type", model_family_name(family)},
                     {"hidden_act", "silu"},
                     {"hidden_size", c.hidden},
                     {"intermediate_size", c.intermediate},
                     {"num_hidden_layers", c.layers},
                     {"num_attention_heads", c.heads},
                     {"num_key_value_heads", c.kv_heads},
                     {"head_dim", c.head_dim},
                     {"vocab_size", c.vocabulary},
                     {"max_position_embeddings", c.context_length},
                     {"rms_norm_eps", c.norm_epsilon},
                     {"tie_word_embeddings", c.tied_head},
                     {"rope_theta", c.rope.theta},
                     {"torch_dtype", dtype}};
    if (ordered_json scaling = rope_scaling(c.rope, subject); !scaling.is_null())
        out["rope_scaling"] = std::move(scaling);
    if (family == ModelFamily::llama) {
        out["attention_bias"] = c.qkv_bias;
        out["mlp_bias"] = c.mlp_bias;
    }
    if (family == ModelFamily::mistral)
        out["sliding_window"] = c.windows.front();
    if (c.bos_id)
        out["bos_token_id"] = *c.bos_id;
    if (!c.eos_ids.empty())
        out["eos_token_id"] = c.eos_ids;
    return out.dump(2) + "\n";
}

std::map<std::string, std::string> folder_texts(const ModelFiles& files, const std::string& dtype) {
    const std::string subject = files.location.path.string();
    std::map<std::string, std::string> texts;
    texts["config.json"] = config_json(files.config, dtype, subject);
    texts["tokenizer.json"] = tokenizer_json(read_vocabulary(*files.gguf), subject);
    texts["tokenizer_config.json"] =
        tokenizer_config(files).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    if (!files.template_text.empty())
        texts["chat_template.jinja"] = files.template_text;
    return texts;
}

} // namespace cuset
