#include "core/model/lora.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/safetensors_file.h"
#include "core/model/config_fields.h"

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

bool is_set(const json* value) {
    return value && (value->is_boolean() ? value->get<bool>() : !value->empty());
}

void refuse_unsupported(const ConfigFields& fields) {
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorCode::unsupported,
                    what + " is not supported; merge the adapter into its model with PEFT",
                    fields.subject());
    };
    const std::string kind = fields.text("peft_type").value_or("LORA");
    if (kind != "LORA")
        refuse("adapter type '" + printable(kind, 40) + "'");
    if (is_set(fields.find("use_dora")))
        refuse("DoRA (use_dora)");
    for (const char* key :
         {"modules_to_save", "fan_in_fan_out", "lora_bias", "use_qalora", "trainable_token_indices",
          "target_parameters", "alora_invocation_tokens"})
        if (is_set(fields.find(key)))
            refuse(key);
    if (fields.text("bias").value_or("none") != "none")
        refuse("an adapter with biases");
}

double from_pattern(const std::vector<std::pair<std::string, double>>& pattern,
                    const std::string& name, double otherwise) {
    for (const auto& [end, value] : pattern)
        if (ends_at_dot(name, end))
            return value;
    return otherwise;
}

struct Pair {
    const TensorView* a = nullptr;
    const TensorView* b = nullptr;
};

// "base_model.model.NAME.lora_A.weight" -> NAME; fills the pairs by layer.
std::map<std::string, Pair> collect_pairs(const SafetensorsFile& file) {
    constexpr std::string_view prefix = "base_model.model.";
    std::map<std::string, Pair> pairs;
    for (const auto& [full, view] : file.tensors()) {
        std::string_view name = full;
        if (name.starts_with(prefix))
            name.remove_prefix(prefix.size());
        const bool is_a = name.ends_with(".lora_A.weight"), is_b = name.ends_with(".lora_B.weight");
        if (!is_a && !is_b)
            throw Error(ErrorCode::unsupported,
                        "tensor " + printable(full, 120)
                            + " is not a LoRA weight; merge the adapter into its model with PEFT",
                        file.path().string());
        name.remove_suffix(std::string_view(".lora_A.weight").size());
        Pair& pair = pairs[std::string(name)];
        (is_a ? pair.a : pair.b) = &view;
    }
    return pairs;
}

at::Tensor to_tensor(const TensorView& view, at::IntArrayRef shape, const std::string& name,
                     at::ScalarType dtype, at::Device device) {
    if (at::IntArrayRef(view.shape) != shape)
        throw Error(ErrorCode::bad_value,
                    "shape [" + std::to_string(view.shape.empty() ? 0 : view.shape[0]) + ", "
                        + std::to_string(view.shape.size() < 2 ? 0 : view.shape[1])
                        + "], the model needs [" + std::to_string(shape[0]) + ", "
                        + std::to_string(shape[1]) + "]; the adapter belongs to another model",
                    name);
    at::ScalarType stored;
    switch (view.dtype) {
    case DType::f32:
        stored = at::kFloat;
        break;
    case DType::f16:
        stored = at::kHalf;
        break;
    case DType::bf16:
        stored = at::kBFloat16;
        break;
    default:
        throw Error(
            ErrorCode::unsupported,
            "stored as " + std::string(dtype_name(view.dtype)) + ", needed F32, F16 or BF16", name);
    }
    void* bytes = const_cast<std::byte*>(view.bytes.data()); // only read
    at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype));
    out.copy_(at::from_blob(bytes, shape, at::TensorOptions().dtype(stored)));
    return out.to(device);
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
    config.dropout = fields.number("lora_dropout").value_or(0.0);
    config.rank_pattern = read_pattern(fields, "rank_pattern");
    config.alpha_pattern = read_pattern(fields, "alpha_pattern");
    config.base_model = fields.text("base_model_name_or_path").value_or("");
    return config;
}

void attach_adapter(CausalLM& model, const std::filesystem::path& folder, at::ScalarType dtype) {
    const auto config_path = folder / "adapter_config.json";
    const LoraConfig config =
        parse_lora_config(read_file(config_path, config_limit), config_path.string());
    const SafetensorsFile file(folder / "adapter_model.safetensors");
    for (const auto& [name, pair] : collect_pairs(file)) {
        Linear* linear = nullptr;
        const LinearPart* part = nullptr;
        for (Linear* candidate : model.linears())
            if (const LinearPart* found = candidate->find_part(name)) {
                linear = candidate;
                part = found;
            }
        if (!part)
            throw Error(ErrorCode::unsupported,
                        "adapts " + printable(name, 120)
                            + ", which is not a linear layer of this model's decoder",
                        file.path().string());
        if (!pair.a || !pair.b || pair.a->shape.empty())
            throw Error(ErrorCode::bad_format,
                        std::string(pair.a ? "lora_B" : "lora_A") + " of " + printable(name, 120)
                            + " is missing",
                        file.path().string());
        LowRankBranch branch;
        branch.begin = part->begin;
        branch.end = part->end;
        const std::int64_t r = pair.a->shape[0];
        branch.a = to_tensor(*pair.a, {r, linear->weight.size(1)}, name + ".lora_A.weight", dtype,
                             model.device());
        branch.b = to_tensor(*pair.b, {part->end - part->begin, r}, name + ".lora_B.weight", dtype,
                             model.device());
        branch.scale = config.scale(name, r);
        branch.dropout = config.dropout;
        linear->branches.push_back(std::move(branch));
    }
}

} // namespace cuset
