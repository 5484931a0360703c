#include "core/train/model_output.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/io/safetensors_file.h"
#include "core/model/folder_texts.h"

namespace cuset {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;
constexpr std::uint64_t shard_bytes = std::uint64_t{4} << 30;

DType dtype_of(at::ScalarType type) {
    switch (type) {
    case at::kBFloat16:
        return DType::bf16;
    case at::kHalf:
        return DType::f16;
    default:
        return DType::f32;
    }
}

// Tensors on the host, contiguous, and the views of them that a writer needs.
class HostTensors {
public:
    void add(const std::string& name, const at::Tensor& tensor, at::ScalarType type) {
        kept_.push_back(tensor.to(at::kCPU, type).contiguous());
        const at::Tensor& host = kept_.back();
        const auto bytes = static_cast<std::size_t>(host.numel()) * host.element_size();
        named_.push_back({name,
                          {dtype_of(type),
                           host.sizes().vec(),
                           {static_cast<const std::byte*>(host.data_ptr()), bytes}}});
        bytes_ += bytes;
    }
    const std::vector<NamedTensor>& named() const { return named_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    std::vector<at::Tensor> kept_;
    std::vector<NamedTensor> named_;
    std::uint64_t bytes_ = 0;
};

std::string last_name(const std::string& name) {
    return name.substr(name.rfind('.') + 1);
}

ordered_json adapter_config(const TrainingModel& model, const std::string& base_model,
                            double dropout, bool rank_stabilized) {
    std::set<std::string> targets;
    ordered_json ranks = ordered_json::object(), alphas = ordered_json::object();
    std::int64_t rank = 0;
    double alpha = 0;
    for (const AdaptedLinear& adapted : model.linears())
        for (const AdapterPart& part : adapted.parts) {
            const double r = static_cast<double>(part.rank);
            const double a = part.scale * (rank_stabilized ? std::sqrt(r) : r);
            targets.insert(last_name(part.name));
            if (rank == 0) {
                rank = part.rank;
                alpha = a;
            }
            if (part.rank != rank)
                ranks[part.name] = part.rank;
            if (std::abs(a - alpha) > 1e-9 * std::abs(alpha))
                alphas[part.name] = a;
        }
    return {{"peft_type", "LORA"},
            {"task_type", "CAUSAL_LM"},
            {"base_model_name_or_path", base_model},
            {"r", rank},
            {"lora_alpha",
             alpha == std::floor(alpha) ? ordered_json(static_cast<std::int64_t>(alpha))
                                        : ordered_json(alpha)},
            {"lora_dropout", dropout},
            {"target_modules", std::vector<std::string>(targets.begin(), targets.end())},
            {"rank_pattern", ranks},
            {"alpha_pattern", alphas},
            {"use_rslora", rank_stabilized},
            {"bias", "none"},
            {"fan_in_fan_out", false},
            {"inference_mode", true},
            {"init_lora_weights", true},
            {"modules_to_save", nullptr}};
}

std::string weight_name(const AdapterPart& part, const char* letter) {
    return "base_model.model." + part.name + ".lora_" + letter + ".weight";
}

void fill(at::Tensor target, const TensorView& view, const std::string& name) {
    if (view.dtype != DType::f32 || at::IntArrayRef(view.shape) != target.sizes())
        throw Error(ErrorCode::bad_value, "has another shape or type than this run's", name);
    void* bytes = const_cast<std::byte*>(view.bytes.data()); // only read
    target.copy_(at::from_blob(bytes, target.sizes(), at::TensorOptions().dtype(at::kFloat)));
}

void copy_text_files(const fs::path& from, const fs::path& to) {
    for (const char* name : {"generation_config.json", "tokenizer.json", "tokenizer_config.json",
                             "special_tokens_map.json", "added_tokens.json", "vocab.json",
                             "merges.txt", "tokenizer.model", "chat_template.jinja"}) {
        constexpr std::uint64_t limit = 256u << 20;
        std::error_code ignored;
        if (fs::is_regular_file(from / name, ignored))
            write_file_atomically(to / name, read_file(from / name, limit));
    }
}

} // namespace

void write_adapter(const fs::path& folder, const TrainingModel& model,
                   const std::string& base_model, double dropout, bool rank_stabilized) {
    HostTensors tensors;
    const Parameters& p = model.parameters();
    for (const AdaptedLinear& adapted : model.linears())
        for (const AdapterPart& part : adapted.parts) {
            tensors.add(weight_name(part, "A"), p.value(part.a), at::kFloat);
            tensors.add(weight_name(part, "B"), p.value(part.b), at::kFloat);
        }
    write_safetensors(folder / "adapter_model.safetensors", tensors.named(), {{"format", "pt"}});
    write_file_atomically(folder / "adapter_config.json",
                          adapter_config(model, base_model, dropout, rank_stabilized).dump(2)
                              + "\n");
}

void read_adapter(const fs::path& folder, TrainingModel& model) {
    const SafetensorsFile file(folder / "adapter_model.safetensors");
    for (const AdaptedLinear& adapted : model.linears())
        for (const AdapterPart& part : adapted.parts)
            for (const auto& [letter, slot] : {std::pair{"A", part.a}, std::pair{"B", part.b}}) {
                const std::string name = weight_name(part, letter);
                fill(model.parameters().value(slot), file.require_tensor(name), name);
            }
}

void write_model_folder(const fs::path& folder, const std::vector<NamedWeight>& weights,
                        const ModelFiles& source, const std::string& dtype) {
    const at::ScalarType type = dtype == "float32" ? at::kFloat
        : dtype == "bfloat16"                      ? at::kBFloat16
                                                   : at::kHalf;
    std::map<std::string, std::string> texts;
    if (source.folder) {
        ordered_json config = ordered_json::parse(source.folder->config_json());
        config["torch_dtype"] = dtype;
        config.erase("dtype");
        config.erase("quantization_config"); // what is written is not quantised
        texts["config.json"] = config.dump(2) + "\n";
        copy_text_files(source.folder->path(), folder);
    } else {
        texts = folder_texts(source, dtype);
    }
    std::vector<HostTensors> shards(1);
    for (const NamedWeight& weight : weights) {
        if (shards.back().bytes() >= shard_bytes)
            shards.emplace_back();
        shards.back().add(weight.name, weight.value, type);
    }
    // An adapter may have given a tied head weights of its own.
    const bool own_head = std::ranges::any_of(
        weights, [](const NamedWeight& weight) { return weight.name == "lm_head.weight"; });
    if (own_head) {
        ordered_json config = ordered_json::parse(texts.at("config.json"));
        config["tie_word_embeddings"] = false;
        texts["config.json"] = config.dump(2) + "\n";
    }
    ordered_json map = ordered_json::object();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        char name[64] = "model.safetensors";
        if (shards.size() > 1)
            std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1,
                          shards.size());
        write_safetensors(folder / name, shards[i].named(), {{"format", "pt"}});
        total += shards[i].bytes();
        for (const NamedTensor& tensor : shards[i].named())
            map[tensor.name] = name;
    }
    if (shards.size() > 1)
        write_file_atomically(
            folder / "model.safetensors.index.json",
            ordered_json{{"metadata", {{"total_size", total}}}, {"weight_map", map}}.dump(1)
                + "\n");
    // config.json makes a folder a model: last.
    const auto config = texts.extract("config.json");
    for (const auto& [name, text] : texts)
        write_file_atomically(folder / name, text);
    write_file_atomically(folder / "config.json", config.mapped());
}

void write_optimizer(const fs::path& path, const Parameters& parameters, bool with_values) {
    HostTensors tensors;
    tensors.add("exp_avg", parameters.first_moment(), at::kFloat);
    tensors.add("exp_avg_sq", parameters.second_moment(), at::kFloat);
    if (with_values)
        tensors.add("values", parameters.values(), at::kFloat);
    write_safetensors(path, tensors.named(), {});
}

void read_optimizer(const fs::path& path, Parameters& parameters) {
    const SafetensorsFile file(path);
    fill(parameters.first_moment(), file.require_tensor("exp_avg"), "exp_avg");
    fill(parameters.second_moment(), file.require_tensor("exp_avg_sq"), "exp_avg_sq");
    if (const TensorView* values = file.find_tensor("values"))
        fill(parameters.values(), *values, "values");
}

std::uint64_t checkpoint_bytes(const TrainingModel& model) {
    const auto count = static_cast<std::uint64_t>(model.parameters().count());
    constexpr std::uint64_t small_files = 1u << 20;
    return count * 4 * (model.trains_weights() ? 4 : 3) + small_files;
}

} // namespace cuset
