// adapter_config.json: what the engine obeys, and the refusal of all else by name.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/model/config_fields.h"
#include "core/model/lora.h"

namespace cuset {
namespace {

using nlohmann::json;
constexpr std::uint64_t config_limit = 4u << 20;

bool ends_at_dot(std::string_view name, std::string_view end) {
    return name.ends_with(end)
        && (name.size() == end.size() || name[name.size() - end.size() - 1] == '.');
}

std::vector<std::pair<std::string, double>> read_pattern(const ConfigFields& fields,
                                                         const char* key) {
    std::vector<std::pair<std::string, double>> pattern;
    const json* object = fields.find(key);
    if (!object || !object->is_object())
        return pattern;
    for (const auto& [name, value] : object->items()) {
        if (name.find_first_of("*+?()[]{}|^$\\") != std::string::npos)
            throw Error(ErrorCode::unsupported,
                        std::string(key) + " with the regular expression '" + printable(name, 60)
                            + "' is not supported; list the layers by name",
                        fields.subject());
        if (!value.is_number())
            throw Error(ErrorCode::bad_value, std::string(key) + " needs numbers",
                        fields.subject());
        pattern.emplace_back(name, value.get<double>());
    }
    return pattern;
}

bool is_set(const json& value) {
    return value.is_boolean() ? value.get<bool>() : !value.empty();
}

// Settings that are read above, or that only say how the adapter was trained: which layers were
// chosen (the tensors' names tell), how A and B began, who made it.
constexpr std::array harmless_settings{"alpha_pattern",
                                       "auto_mapping",
                                       "base_model_name_or_path",
                                       "bias",
                                       "corda_config",
                                       "eva_config",
                                       "exclude_modules",
                                       "inference_mode",
                                       "init_lora_weights",
                                       "layers_pattern",
                                       "layers_to_transform",
                                       "loftq_config",
                                       "lora_alpha",
                                       "lora_dropout",
                                       "lora_ga_config",
                                       "megatron_config",
                                       "megatron_core",
                                       "modules_to_save",
                                       "peft_type",
                                       "peft_version",
                                       "qalora_group_size",
                                       "r",
                                       "rank_pattern",
                                       "revision",
                                       "runtime_config",
                                       "target_modules",
                                       "task_type",
                                       "use_dora",
                                       "use_rslora",
                                       "velora_config"};

// Ways to begin that leave the model's own weights as they are; the others (PiSSA, OLoRA, CorDA,
// LoftQ, LoRA-GA) subtract the beginning from them, which the adapter's files do not say.
constexpr std::array plain_beginnings{"gaussian", "eva", "orthogonal"};

[[noreturn]] void refuse(const ConfigFields& fields, const std::string& what) {
    throw Error(ErrorCode::unsupported,
                what + " is not supported; merge the adapter into its model with PEFT",
                fields.subject());
}

void refuse_unsupported(const ConfigFields& fields) {
    const std::string kind = fields.text("peft_type").value_or("LORA");
    if (kind != "LORA")
        refuse(fields, "adapter type '" + printable(kind, 40) + "'");
    if (fields.text("bias").value_or("none") != "none")
        refuse(fields, "an adapter with biases");
    const json* beginning = fields.find("init_lora_weights");
    if (beginning && beginning->is_string()
        && std::ranges::find(plain_beginnings, beginning->get<std::string>())
            == plain_beginnings.end())
        refuse(fields,
               "init_lora_weights '" + printable(beginning->get<std::string>(), 40)
                   + "', which changes the model's own weights,");
    for (const auto& [key, value] : fields.object().items())
        if (is_set(value) && std::ranges::find(harmless_settings, key) == harmless_settings.end())
            refuse(fields, "the setting " + printable(key, 60));
}

std::vector<std::string> read_saved_modules(const ConfigFields& fields) {
    std::vector<std::string> modules;
    const json* list = fields.find("modules_to_save");
    if (!list)
        return modules;
    if (!list->is_array())
        throw Error(ErrorCode::bad_value, "modules_to_save needs a list of names",
                    fields.subject());
    for (const json& name : *list) {
        const std::string module = name.is_string() ? name.get<std::string>() : std::string();
        if (module != "embed_tokens" && module != "lm_head")
            refuse(fields,
                   "modules_to_save with "
                       + printable(name.dump(-1, ' ', true, json::error_handler_t::replace), 60)
                       + " (only embed_tokens and lm_head are)");
        modules.push_back(module);
    }
    return modules;
}

double from_pattern(const std::vector<std::pair<std::string, double>>& pattern,
                    const std::string& name, double otherwise) {
    for (const auto& [end, value] : pattern)
        if (ends_at_dot(name, end))
            return value;
    return otherwise;
}

} // namespace

double LoraConfig::scale(const std::string& name, std::int64_t r) const {
    const double a = from_pattern(alpha_pattern, name, alpha);
    const double n = static_cast<double>(r);
    return rank_stabilized ? a / std::sqrt(n) : a / n;
}

LoraConfig parse_lora_config(std::string_view text, const std::string& subject) {
    const ConfigFields fields = ConfigFields::parse(text, subject);
    refuse_unsupported(fields);
    LoraConfig config;
    config.rank = fields.require_integer("r", 1, 65536);
    config.alpha = fields.number("lora_alpha").value_or(8.0);
    config.rank_stabilized = fields.boolean("use_rslora").value_or(false);
    config.dora = fields.boolean("use_dora").value_or(false);
    config.modules_to_save = read_saved_modules(fields);
    config.dropout = fields.number("lora_dropout").value_or(0.0);
    config.rank_pattern = read_pattern(fields, "rank_pattern");
    config.alpha_pattern = read_pattern(fields, "alpha_pattern");
    config.base_model = fields.text("base_model_name_or_path").value_or("");
    return config;
}

LoraConfig read_lora_config(const std::filesystem::path& folder) {
    const auto path = folder / "adapter_config.json";
    return parse_lora_config(read_file(path, config_limit), path.string());
}

} // namespace cuset
