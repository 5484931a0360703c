#include "core/train/train_config.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/train/config_section.h"

namespace cuset {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::int64_t most = std::int64_t{1} << 31;
constexpr std::array<std::string_view, 2> method_names{"lora", "full"};
constexpr std::array<std::string_view, 2> reduction_names{"token_mean", "sum"};
constexpr std::array<std::string_view, 3> over_long_names{"cut", "drop", "refuse"};
constexpr std::array<std::string_view, 3> quantize_names{"none", "int8", "nf4"};
constexpr std::array<std::string_view, 4> dtype_names{"auto", "float32", "bfloat16", "float16"};

const std::vector<std::string> top_keys{"model",
                                        "adapter",
                                        "data",
                                        "validation",
                                        "validation_share",
                                        "output",
                                        "objective",
                                        "method",
                                        "lora",
                                        "template",
                                        "max_length",
                                        "over_long",
                                        "response",
                                        "prompt_field",
                                        "response_field",
                                        "every_turn",
                                        "batch_size",
                                        "packing",
                                        "gradient_accumulation",
                                        "epochs",
                                        "max_steps",
                                        "shuffle",
                                        "seed",
                                        "learning_rate",
                                        "schedule",
                                        "warmup_ratio",
                                        "warmup_steps",
                                        "min_lr_ratio",
                                        "decay_ratio",
                                        "weight_decay",
                                        "betas",
                                        "eps",
                                        "max_grad_norm",
                                        "dtype",
                                        "quantize_base",
                                        "gradient_checkpointing",
                                        "eval_steps",
                                        "save_steps",
                                        "patience",
                                        "keep_checkpoints",
                                        "max_bad_steps",
                                        "device",
                                        "threads"};
const std::vector<std::string> objective_keys{
    "name",   "confidence_mask", "tau",   "cuda_mask", "lambda", "region_weight",
    "window", "whole_if_short",  "alpha", "reduction"};
const std::vector<std::string> lora_keys{"rank", "alpha", "dropout", "targets", "rslora"};

void read_objective(const ConfigSection& section, Objective& objective) {
    section.choice("name", token_objective_names, objective.name);
    MaskSettings& mask = objective.mask;
    section.boolean("confidence_mask", mask.confidence_mask);
    section.number("tau", 0, 1, mask.tau);
    section.boolean("cuda_mask", mask.cuda_mask);
    section.number("lambda", 0, max_lambda, mask.lambda);
    if (!(mask.lambda > 0))
        section.fail("lambda", "needs a number above 0");
    section.boolean("region_weight", mask.region_weight);
    section.boolean("whole_if_short", mask.whole_if_short);
    std::int64_t window = mask.window;
    section.integer("window", 1, 1 << 24, window);
    mask.window = static_cast<int>(window);
    objective.alpha = default_alpha(objective.name);
    section.number("alpha", 0, 1e6, objective.alpha);
    section.choice("reduction", reduction_names, objective.reduction);
}

void read_lora(const ConfigSection& section, LoraSettings& lora) {
    section.integer("rank", 1, 65536, lora.rank);
    section.number("alpha", 0, 1e6, lora.alpha);
    section.number("dropout", 0, 0.999, lora.dropout);
    section.boolean("rslora", lora.rank_stabilized);
    section.texts("targets", lora.targets);
    if (lora.targets == std::vector<std::string>{"all-linear"})
        lora.targets.clear();
    else if (section.find("targets") && lora.targets.empty())
        section.fail("targets", "needs \"all-linear\" or a list of names such as \"q_proj\"");
}

void read_schedule(const ConfigSection& top, TrainConfig& c) {
    top.number("learning_rate", 0, 1e3, c.learning_rate);
    top.choice("schedule", schedule_names, c.schedule);
    top.number("warmup_ratio", 0, 1, c.warmup_ratio);
    top.integer("warmup_steps", 0, most, c.warmup_steps);
    top.number("min_lr_ratio", 0, 1, c.min_lr_ratio);
    top.number("decay_ratio", 0, 1, c.decay_ratio);
    top.number("weight_decay", 0, 1e3, c.weight_decay);
    top.number("eps", 0, 1, c.epsilon);
    top.number("max_grad_norm", 0, 1e9, c.max_grad_norm);
    if (const auto* betas = top.find("betas")) {
        if (!betas->is_array() || betas->size() != 2 || !(*betas)[0].is_number()
            || !(*betas)[1].is_number())
            top.fail("betas", "needs two numbers");
        c.beta1 = (*betas)[0].get<double>();
        c.beta2 = (*betas)[1].get<double>();
        if (!(c.beta1 >= 0 && c.beta1 < 1 && c.beta2 >= 0 && c.beta2 < 1))
            top.fail("betas", "needs two numbers from 0 to below 1");
    }
}

void read_run(const ConfigSection& top, TrainConfig& c) {
    top.integer("batch_size", 1, 65536, c.batch_size);
    top.boolean("packing", c.packing);
    top.integer("gradient_accumulation", 1, 65536, c.gradient_accumulation);
    top.integer("epochs", 1, 1 << 20, c.epochs);
    top.integer("max_steps", 1, most, c.max_steps);
    top.boolean("shuffle", c.shuffle);
    std::int64_t seed = static_cast<std::int64_t>(c.seed);
    top.integer("seed", 0, INT64_MAX, seed);
    c.seed = static_cast<std::uint64_t>(seed);
    top.text("dtype", c.dtype);
    if (std::find(dtype_names.begin(), dtype_names.end(), c.dtype) == dtype_names.end())
        top.fail("dtype", "needs one of auto, float32, bfloat16, float16");
    top.choice("quantize_base", quantize_names, c.quantize_base);
    top.boolean("gradient_checkpointing", c.gradient_checkpointing);
    top.integer("eval_steps", 1, most, c.eval_steps);
    top.integer("save_steps", 1, most, c.save_steps);
    top.integer("patience", 1, most, c.patience);
    top.integer("keep_checkpoints", 1, 1 << 20, c.keep_checkpoints);
    top.integer("max_bad_steps", 1, 1 << 20, c.max_bad_steps);
    top.text("device", c.device);
    std::int64_t threads = c.threads;
    top.integer("threads", 0, 4096, threads);
    c.threads = static_cast<int>(threads);
}

void read_data_keys(const ConfigSection& top, TrainConfig& c) {
    top.text("model", c.model);
    if (c.model.empty())
        top.fail("model", "needs a model folder, a .gguf file or org/name");
    top.text("adapter", c.adapter);
    top.texts("data", c.data);
    if (c.data.empty())
        top.fail("data", "needs at least one data file");
    top.number("validation_share", 0, 0.9, c.validation_share);
    if (const auto* validation = top.find("validation"); validation && validation->is_number())
        top.number("validation", 0, 0.9, c.validation_share);
    else
        top.texts("validation", c.validation);
    top.text("output", c.output);
    if (c.output.empty())
        top.fail("output", "needs the folder that the run is kept in");
    top.text("template", c.chat_template);
    std::int64_t length = c.max_length;
    top.integer("max_length", 2, 1 << 24, length);
    c.max_length = static_cast<std::int32_t>(length);
    top.choice("over_long", over_long_names, c.over_long);
    top.choice("response", response_choice_names, c.response);
    top.text("prompt_field", c.prompt_field);
    top.text("response_field", c.response_field);
    top.boolean("every_turn", c.every_turn);
}

void check_together(const TrainConfig& c, const std::string& subject) {
    const auto fail = [&](const std::string& message) {
        throw Error(ErrorCode::bad_value, message, subject);
    };
    if (!c.validation.empty() && c.validation_share > 0)
        fail("validation and validation_share: give one of them");
    if (c.method == TrainMethod::full && !c.adapter.empty())
        fail("adapter: a full fine-tuning trains no adapter; merge it into the model first (cuset "
             "merge)");
    if (c.quantize_base != QuantizeBase::none && c.method == TrainMethod::full)
        fail("quantize_base: a full fine-tuning trains the base weights, which then cannot be "
             "quantised; use method \"lora\", or \"none\"");
    const bool validates = !c.validation.empty() || c.validation_share > 0;
    if (c.patience && !validates)
        fail("patience: needs a validation file or validation_share");
}

std::string located(const std::string& path, const fs::path& beside) {
    std::error_code ignored;
    if (path.empty() || path == "-")
        return path;
    if (fs::exists(path, ignored))
        return fs::absolute(path).lexically_normal().string();
    if (fs::path(path).is_relative() && fs::exists(beside / path, ignored))
        return fs::absolute(beside / path).lexically_normal().string();
    return path; // org/name, or the reader says that it is not there
}

} // namespace

TrainConfig parse_train_config(std::string_view text, const std::string& subject) {
    const nlohmann::json json = parse_config_json(text, subject);
    const ConfigSection top(json, "", subject, top_keys);
    TrainConfig config;
    read_data_keys(top, config);
    if (const auto* object = top.find("objective")) {
        if (object->is_string())
            top.choice("objective", token_objective_names, config.objective.name);
        else
            read_objective(ConfigSection(*object, "objective", subject, objective_keys),
                           config.objective);
    }
    if (const auto* object = top.find("objective"); object && object->is_string())
        config.objective.alpha = default_alpha(config.objective.name);
    top.choice("method", method_names, config.method);
    if (const auto* object = top.find("lora"))
        read_lora(ConfigSection(*object, "lora", subject, lora_keys), config.lora);
    read_schedule(top, config);
    read_run(top, config);
    check_together(config, subject);
    return config;
}

TrainConfig read_train_config(const std::string& path) {
    constexpr std::uint64_t limit = 4u << 20;
    TrainConfig config = parse_train_config(read_file(path, limit), path);
    const fs::path beside = fs::path(path).parent_path();
    config.model = located(config.model, beside);
    config.adapter = located(config.adapter, beside);
    for (std::string& file : config.data)
        file = located(file, beside);
    for (std::string& file : config.validation)
        file = located(file, beside);
    if (config.chat_template != "auto" && config.chat_template != "none")
        config.chat_template = located(config.chat_template, beside);
    config.output = fs::absolute(config.output).lexically_normal().string();
    return config;
}

namespace {

template <class T> ordered_json or_null(const std::optional<T>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

template <class Names, class Enum> std::string name_in(const Names& names, Enum value) {
    return std::string(names[static_cast<std::size_t>(value)]);
}

ordered_json to_json(const Objective& o) {
    return {{"name", name_in(token_objective_names, o.name)},
            {"confidence_mask", o.mask.confidence_mask},
            {"tau", o.mask.tau},
            {"cuda_mask", o.mask.cuda_mask},
            {"lambda", o.mask.lambda},
            {"region_weight", o.mask.region_weight},
            {"window", o.mask.window},
            {"whole_if_short", o.mask.whole_if_short},
            {"alpha", o.alpha},
            {"reduction", name_in(reduction_names, o.reduction)}};
}

ordered_json to_json(const LoraSettings& l) {
    return {{"rank", l.rank},
            {"alpha", l.alpha},
            {"dropout", l.dropout},
            {"targets", l.targets.empty() ? ordered_json("all-linear") : ordered_json(l.targets)},
            {"rslora", l.rank_stabilized}};
}

ordered_json to_json(const TrainConfig& c) {
    ordered_json j;
    j["model"] = c.model;
    j["adapter"] = text_or_null(c.adapter);
    j["data"] = c.data;
    j["validation"] = c.validation.empty() ? ordered_json(nullptr) : ordered_json(c.validation);
    j["validation_share"] = c.validation_share;
    j["output"] = c.output;
    j["objective"] = to_json(c.objective);
    j["method"] = name_in(method_names, c.method);
    j["lora"] = to_json(c.lora);
    j["template"] = c.chat_template;
    j["max_length"] = c.max_length;
    j["over_long"] = name_in(over_long_names, c.over_long);
    j["response"] = response_choice_name(c.response);
    j["prompt_field"] = text_or_null(c.prompt_field);
    j["response_field"] = text_or_null(c.response_field);
    j["every_turn"] = c.every_turn;
    j["batch_size"] = c.batch_size;
    j["packing"] = c.packing;
    j["gradient_accumulation"] = c.gradient_accumulation;
    j["epochs"] = c.epochs;
    j["max_steps"] = or_null(c.max_steps);
    j["shuffle"] = c.shuffle;
    j["seed"] = c.seed;
    j["learning_rate"] = c.learning_rate;
    j["schedule"] = name_in(schedule_names, c.schedule);
    j["warmup_ratio"] = c.warmup_ratio;
    j["warmup_steps"] = or_null(c.warmup_steps);
    j["min_lr_ratio"] = c.min_lr_ratio;
    j["decay_ratio"] = c.decay_ratio;
    j["weight_decay"] = c.weight_decay;
    j["betas"] = {c.beta1, c.beta2};
    j["eps"] = c.epsilon;
    j["max_grad_norm"] = c.max_grad_norm;
    j["dtype"] = c.dtype;
    j["quantize_base"] = name_in(quantize_names, c.quantize_base);
    j["gradient_checkpointing"] = c.gradient_checkpointing;
    j["eval_steps"] = or_null(c.eval_steps);
    j["save_steps"] = or_null(c.save_steps);
    j["patience"] = or_null(c.patience);
    j["keep_checkpoints"] = c.keep_checkpoints;
    j["max_bad_steps"] = c.max_bad_steps;
    j["device"] = c.device;
    j["threads"] = c.threads;
    return j;
}

} // namespace

std::string train_config_json(const TrainConfig& config) {
    return to_json(config).dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> training_differences(const TrainConfig& a, const TrainConfig& b) {
    static constexpr std::array<std::string_view, 9> harmless{
        "output",    "save_steps",    "keep_checkpoints",       "device",
        "threads",   "max_bad_steps", "gradient_checkpointing", "patience",
        "eval_steps"};
    const auto flat_a = to_json(a), flat_b = to_json(b);
    std::vector<std::string> differences;
    const auto compare = [&](const std::string& path, const ordered_json& x,
                             const ordered_json& y) {
        if (x != y)
            differences.push_back(path + ": " + x.dump() + ", not " + y.dump());
    };
    for (const auto& [key, value] : flat_a.items()) {
        if (std::find(harmless.begin(), harmless.end(), key) != harmless.end())
            continue;
        if (!value.is_object()) {
            compare(key, value, flat_b[key]);
            continue;
        }
        for (const auto& [inner, x] : value.items())
            compare(key + "." + inner, x, flat_b[key][inner]);
    }
    return differences;
}

} // namespace cuset
