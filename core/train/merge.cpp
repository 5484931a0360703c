// merge_adapter: W + scale B A in float32, rounded once to the target type.
#include <filesystem>

#include "core/base/error.h"
#include "core/model/torch_errors.h"
#include "core/train/model_output.h"
#include "core/train/trainer.h"
#include "core/train/training_setup.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

// Ids that reach over the vocabulary, to compare two models by.
PackedBatch probe(const TrainingModel& model) {
    constexpr std::int64_t length = 64;
    const std::int64_t vocabulary = model.model().config.vocabulary;
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < length; ++i)
        ids.push_back(static_cast<std::int32_t>((i * 7919 + 11) % vocabulary));
    return model.pack({std::span<const std::int32_t>(ids)}, {0});
}

at::Tensor logits(TrainingModel& model) {
    return model.model().logits(model.forward(probe(model), {}));
}

void add_branches(TrainingModel& model) {
    for (const AdaptedLinear& adapted : model.linears())
        for (const AdapterPart& part : adapted.parts)
            adapted.linear->weight.narrow(0, part.begin, part.end - part.begin)
                .addmm_(model.parameters().value(part.b), model.parameters().value(part.a), 1,
                        part.scale);
}

std::string target_dtype(const std::string& asked, const ModelFiles& files) {
    if (asked != "auto")
        return asked;
    const std::string& stored = files.config.stored_dtype;
    return stored == "bfloat16" || stored == "float16" ? stored : "float32";
}

} // namespace

MergeResult merge_adapter(const std::string& model_name, const std::string& adapter,
                          const std::string& output, const std::string& dtype,
                          RunControl& control) {
    const at::NoGradGuard no_graph;
    const ModelFiles files = open_model_files(model_name);
    require_trainable(files.config, model_name);
    std::error_code error;
    if (fs::exists(fs::path(output) / "config.json", error))
        throw Error(ErrorCode::usage, "holds a model already; name another folder", output);
    fs::create_directories(output, error);
    if (error)
        throw Error(ErrorCode::disk, "cannot be made: " + error.message(), output);
    TrainConfig config;
    config.device = "cpu";
    config.dtype = "float32";
    const ComputePlace place = choose_place(config);
    MergeResult result;
    result.dtype = target_dtype(dtype, files);
    with_torch_errors(model_name, [&] {
        TrainingModel model(load_weights(files, place, control), false);
        model.adopt_adapter(adapter, 0);
        const at::Tensor expected = logits(model);
        add_branches(model);
        write_model_folder(output, model.weights(), files, result.dtype);
        const ModelFiles merged = open_model_files(output);
        TrainingModel saved(load_weights(merged, place, control), false);
        result.logit_difference = (logits(saved) - expected).abs().max().item<double>();
        result.logit_range = expected.abs().max().item<double>();
    });
    return result;
}

} // namespace cuset
