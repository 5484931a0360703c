#include "core/train/training_setup.h"

#include <algorithm>
#include <array>
#include <cstdio>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/model/device_info.h"
#include "core/model/lora.h"
#include "core/model/memory_estimate.h"
#include "core/model/weight_loader.h"
#include "core/model/weight_source.h"
#include "core/train/head_loss.h"

namespace cuset {
namespace {

std::unique_ptr<WeightSource> weights_of(const ModelFiles& files) {
    return files.gguf ? open_weights(*files.gguf, files.config) : open_weights(*files.folder);
}

[[noreturn]] void refuse_adapter(const TrainConfig& config, const std::string& what) {
    throw Error(ErrorCode::unsupported,
                "training cannot go on from an adapter with " + what
                    + "; merge it into its model first (cuset merge) and train a new one",
                config.adapter);
}

void require_trainable_adapter(const TrainConfig& config) {
    if (config.adapter.empty())
        return;
    const LoraConfig adapter = read_lora_config(config.adapter);
    if (adapter.dora)
        refuse_adapter(config, "DoRA (use_dora)");
    if (!adapter.modules_to_save.empty())
        refuse_adapter(config, "modules_to_save");
}

// Each step frees and takes the same large tensors again: kept in the process, their pages are not
// faulted in anew.
void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); // the most it takes
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

} // namespace

void require_trainable(const ModelConfig& config, const std::string& model) {
    if (!config.is_llama_kind())
        throw Error(ErrorCode::unsupported,
                    "models of the family " + std::string(model_family_name(config.family))
                        + " are scored here, but not trained or merged; train and merge it with "
                          "PEFT, and score the result here",
                    model);
}

std::unique_ptr<LoadedFiles> load_files(const TrainConfig& config) {
    const std::string& model = config.model;
    ModelFiles files = open_model_files(model);
    require_trainable(files.config, model);
    require_trainable_adapter(config);
    LoadedTokenizer tokenizer = load_tokenizer(files);
    auto loaded = std::unique_ptr<LoadedFiles>(new LoadedFiles{
        std::move(files), std::move(tokenizer.tokenizer), {}, tokenizer.sha256, nullptr, {}});
    loaded->model_sha256 = inspect_model(model).model_sha256;
    loaded->encoder =
        std::make_unique<PromptEncoder>(loaded->files, loaded->tokenizer, loaded->warnings);
    return loaded;
}

ComputePlace choose_place(const TrainConfig& config) {
    const RankEnvironment environment = rank_environment();
    std::string name = config.device;
    ChosenDevice device = choose_device(name);
    if (device.cuda && environment.local_rank > 0 && (name == "auto" || name == "cuda"))
        device = choose_device("cuda:" + std::to_string(environment.local_rank));
    ComputePlace place;
    place.device_name = device.info.name;
    place.dtype = choose_dtype(config.dtype, device.info);
    place.free_bytes = device.info.free_bytes;
    place.type = place.dtype == "float32" ? at::kFloat
        : place.dtype == "bfloat16"       ? at::kBFloat16
                                          : at::kHalf;
    if (!device.cuda && place.type == at::kHalf)
        throw Error(ErrorCode::unsupported,
                    "training in float16 needs a GPU; use bfloat16 or float32", "dtype");
    if (device.cuda)
        place.device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index));
    configure_compute(device, threads_of_rank(environment, config.threads));
    keep_freed_memory();
    return place;
}

CausalLM load_weights(const ModelFiles& files, const ComputePlace& place, RunControl& control) {
    return load_model(files.config, *weights_of(files), place.type, place.device, control);
}

namespace {

// Masters that began as rounded weights would lie on the half type's grid, where updates below half
// a unit in the last place are lost on the model.
bool needs_wide_weights(const TrainConfig& config, const ModelConfig& model,
                        std::string_view dtype) {
    return config.method == TrainMethod::full && dtype != "float32" && model.stored_dtype != dtype;
}

TrainingModel load_training_model(const TrainConfig& config, const ModelFiles& files,
                                  const ComputePlace& place, RunControl& control,
                                  std::span<const TrainSample> samples,
                                  QuantizationLoss* quantization) {
    if (config.quantize_base == QuantizeBase::none) {
        ComputePlace wide = place;
        if (needs_wide_weights(config, files.config, place.dtype))
            wide.type = at::kFloat;
        return {load_weights(files, wide, control), config.gradient_checkpointing};
    }
    BaseQuantizer quantizer(config.quantize_base, samples);
    CausalLM base =
        load_model(files.config, *weights_of(files), place.type, place.device, control,
                   [&](CausalLM& model, std::size_t layer) { quantizer.take(model, layer); });
    const double before = quantizer.unquantized_nll(base);
    TrainingModel model(std::move(base), config.gradient_checkpointing,
                        std::move(quantizer.matrices));
    double after = 0;
    std::int64_t tokens = 0;
    for (const TrainSample& sample : samples) {
        const PackedBatch batch = model.pack({std::span(sample.ids)}, {0});
        after += plain_nll(
            model.model(),
            model.forward(batch, {.keeps_tape = false, .drops = false, .adapted = false}), sample);
        tokens += sample.response_tokens();
    }
    if (quantization && tokens > 0)
        *quantization = {before / static_cast<double>(tokens), after / static_cast<double>(tokens),
                         tokens};
    return model;
}

} // namespace

std::span<const TrainSample> quantization_samples(const std::vector<TrainSample>& training) {
    constexpr std::int64_t most_samples = 8, most_tokens = 4096;
    std::int64_t tokens = 0;
    std::size_t count = 0;
    while (count < training.size() && count < most_samples
           && (count == 0 || tokens + training[count].length() <= most_tokens))
        tokens += training[count++].length();
    return std::span(training).first(count);
}

std::string quantization_text(QuantizeBase kind, const QuantizationLoss& loss) {
    std::array<char, 200> text{};
    std::snprintf(text.data(), text.size(),
                  "quantize_base %s: plain NLL of the untrained model on %lld response tokens is "
                  "%.6f nats a token, %.6f unquantised (%+.2f %%)",
                  kind == QuantizeBase::nf4 ? "nf4" : "int8", static_cast<long long>(loss.tokens),
                  loss.quantized, loss.unquantized,
                  100 * (loss.quantized - loss.unquantized) / loss.unquantized);
    return text.data();
}

TrainingModel make_training_model(const TrainConfig& config, const ModelFiles& files,
                                  const ComputePlace& place, RunControl& control,
                                  std::span<const TrainSample> samples,
                                  QuantizationLoss* quantization) {
    TrainingModel model = load_training_model(config, files, place, control, samples, quantization);
    if (config.method == TrainMethod::full)
        model.train_all_weights(place.type);
    else if (!config.adapter.empty()) {
        if (model.adopt_adapter(config.adapter, config.lora.dropout).changes_weights)
            refuse_adapter(config, "changes of embedding or head");
    } else
        model.add_adapters(config.lora, config.seed);
    return model;
}

std::int64_t trainable_parameters(const TrainConfig& config, const ModelConfig& m) {
    if (config.method == TrainMethod::full)
        return m.parameters();
    const auto wanted = [&](const char* name) {
        const auto& targets = config.lora.targets;
        return targets.empty() || std::find(targets.begin(), targets.end(), name) != targets.end();
    };
    std::int64_t sides = 0;
    const auto add = [&](const char* name, std::int64_t in, std::int64_t out) {
        sides += wanted(name) ? in + out : 0;
    };
    if (m.fused_projections) {
        add("qkv_proj", m.hidden, m.query_size() + 2 * m.kv_size());
        add("gate_up_proj", m.hidden, 2 * m.intermediate);
    } else {
        add("q_proj", m.hidden, m.query_size());
        add("k_proj", m.hidden, m.kv_size());
        add("v_proj", m.hidden, m.kv_size());
        add("gate_proj", m.hidden, m.intermediate);
        add("up_proj", m.hidden, m.intermediate);
    }
    add("o_proj", m.query_size(), m.hidden);
    add("down_proj", m.intermediate, m.hidden);
    return sides * config.lora.rank * m.layers;
}

namespace {

// Of the weights as they are kept, and of the largest one widened where they are quantised.
std::int64_t base_bytes(QuantizeBase kind, const ModelConfig& m, std::int64_t element) {
    std::int64_t bytes = m.parameters() * element, largest = 0;
    if (kind == QuantizeBase::none)
        return bytes;
    const auto narrow = [&](std::int64_t rows, std::int64_t columns) {
        bytes +=
            m.layers * (quantized_bytes(kind, rows, columns, element) - rows * columns * element);
        largest = std::max(largest, rows * columns * element);
    };
    narrow(m.query_size() + 2 * m.kv_size(), m.hidden);
    narrow(m.hidden, m.query_size());
    narrow(2 * m.intermediate, m.hidden);
    narrow(m.hidden, m.intermediate);
    return bytes + largest;
}

} // namespace

TrainingMemory estimate_training(const TrainConfig& config, const ModelConfig& m,
                                 std::int64_t element, std::int64_t longest) {
    constexpr std::int64_t attention_block = 256;
    const bool full = config.method == TrainMethod::full;
    TrainingMemory memory;
    const std::int64_t trained = trainable_parameters(config, m);
    memory.weights = static_cast<std::uint64_t>(base_bytes(config.quantize_base, m, element));
    if (config.objective.needs_base() && full)
        memory.weights *= 2;
    // Values, gradients and two moments in float32; float32 weights are their own values.
    memory.optimizer = static_cast<std::uint64_t>(trained * (full && element == 4 ? 12 : 16));
    const std::int64_t kept = 3 * m.hidden + 2 * m.query_size() + 2 * m.kv_size()
        + 2 * m.intermediate
        + (m.qk_norm != QueryKeyNorm::none ? m.query_size() + 2 * m.kv_size() : 0);
    const std::int64_t working =
        longest * (6 * m.hidden + 3 * m.query_size() + 6 * m.intermediate) * element
        + 3 * m.heads * attention_block * longest * element;
    const std::int64_t layers = config.gradient_checkpointing
        ? longest * (m.hidden * m.layers + kept) * element
        : longest * kept * m.layers * element;
    const std::int64_t head = head_chunk_rows(m.vocabulary) * m.vocabulary * (4 + 4 + element)
        + (full ? m.vocabulary * m.hidden * 4 : 0);
    std::int64_t activations = layers + std::max(working, head) + 3 * longest * m.hidden * element;
    // The weights in float32, before there are activations, where the masters are made of them.
    if (full && element == 2 && m.stored_dtype != "bfloat16" && m.stored_dtype != "float16")
        activations = std::max(activations, m.parameters() * 4);
    memory.activations = static_cast<std::uint64_t>(activations);
    return memory;
}

} // namespace cuset
