#include "core/model/model_support.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/model/config_fields.h"
#include "core/model/family_defaults.h"

namespace cuset {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const ConfigFields& config, const std::string& what) {
    throw Error(ErrorCode::unsupported, what, config.subject());
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

std::string quantization_name(const json& settings) {
    const auto text = [&](const char* key) {
        const auto it = settings.find(key);
        return it != settings.end() && it->is_string() ? lower(it->get<std::string>())
                                                       : std::string();
    };
    const std::string method = text("quant_method");
    if (method == "gptq")
        return "GPTQ";
    if (method == "awq")
        return "AWQ";
    if (method == "bitsandbytes" || settings.contains("load_in_4bit")
        || settings.contains("load_in_8bit"))
        return "bitsandbytes";
    if (method == "compressed-tensors")
        return "compressed-tensors (" + printable(text("format"), 40) + ")";
    return method.empty() ? "unknown" : printable(method, 40);
}

// FP8 weights are decoded by their scales; what else the settings may say is checked with the
// tensors.
bool is_float8_kind(const json& settings) {
    const auto method = settings.find("quant_method");
    if (method == settings.end() || !method->is_string())
        return false;
    const std::string name = lower(method->get<std::string>());
    if (name == "fp8" || name == "fbgemm_fp8")
        return true;
    const auto format = settings.find("format");
    return name == "compressed-tensors" && format != settings.end() && format->is_string()
        && format->get<std::string>() == "float-quantized";
}

void refuse_quantized(const ConfigFields& config) {
    for (const char* key : {"quantization_config", "compression_config"}) {
        const json* settings = config.find(key);
        if (settings && settings->is_object() && !is_float8_kind(*settings))
            refuse(config,
                   "quantised checkpoint, " + quantization_name(*settings)
                       + ": not supported; use the unquantised model or a GGUF version of it");
    }
}

bool has_part(const std::string& name, std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

void refuse_multimodal(const ConfigFields& config, const std::string& type,
                       const std::string& architecture) {
    bool multimodal = has_part(architecture, {"ConditionalGeneration"})
        || has_part(type, {"_vl", "llava", "_omni", "_audio"});
    for (const char* key : {"vision_config", "audio_config", "image_token_id"})
        multimodal = multimodal || config.find(key);
    if (multimodal)
        refuse(config,
               "multimodal model ('" + printable(type, 40)
                   + "'): not supported; use the text-only model of its family");
}

std::string first_architecture(const ConfigFields& config) {
    const json* list = config.find("architectures");
    if (list && list->is_array() && !list->empty() && list->front().is_string())
        return list->front().get<std::string>();
    return "";
}

} // namespace

void refuse_unsupported_config(const ConfigFields& config) {
    const std::string type = config.text("model_type").value_or("");
    const std::string architecture = first_architecture(config);
    refuse_quantized(config);
    refuse_multimodal(config, type, architecture);
    if (config.find("auto_map") && !is_supported_family(type))
        refuse(config,
               "the model brings its own model code (auto_map), which is never run; use a model of "
               "a supported family: "
                   + supported_families());
    if (!architecture.empty() && !has_part(architecture, {"ForCausalLM", "LMHeadModel"}))
        refuse(config,
               "'" + printable(architecture, 60)
                   + "' is not a causal language model; use a ...ForCausalLM checkpoint");
}

void refuse_quantized_tensors(const std::vector<std::string>& names, const std::string& subject) {
    struct Sign {
        std::string_view suffix, says;
    };
    static constexpr std::array<Sign, 4> signs{{{".qweight", "GPTQ or AWQ"},
                                                {".weight_packed", "compressed-tensors"},
                                                {".weight.absmax", "bitsandbytes"},
                                                {".SCB", "bitsandbytes"}}};
    for (const std::string& name : names)
        for (const Sign& sign : signs)
            if (name.ends_with(sign.suffix))
                throw Error(
                    ErrorCode::unsupported,
                    "quantised checkpoint, " + std::string(sign.says) + " (tensor "
                        + printable(name, 120)
                        + "): not supported; use the unquantised model or a GGUF version of it",
                    subject);
}

} // namespace cuset
