#include "tests/core/model/response_logits.h"

#include "core/model/model_files.h"
#include "core/model/weight_loader.h"
#include "core/model/weight_source.h"

namespace cuset::test {

std::vector<std::vector<float>> response_logits(const std::string& model,
                                                const std::vector<std::int32_t>& ids,
                                                std::int32_t response_begin) {
    const c10::InferenceMode inference;
    RunControl control;
    const ModelFiles files = open_model_files(model);
    const auto source =
        files.gguf ? open_weights(*files.gguf, files.config) : open_weights(*files.folder);
    CausalLM layers = load_model(files.config, *source, at::kFloat, at::kCPU, control);
    const at::Tensor input =
        at::tensor(at::ArrayRef<std::int32_t>(ids), at::TensorOptions().dtype(at::kLong));
    ForwardOptions options;
    options.sequence_length = static_cast<std::int64_t>(ids.size());
    const auto count = static_cast<std::int64_t>(ids.size()) - response_begin;
    const at::Tensor logits =
        layers.logits(layers.hidden_states(input, options).narrow(0, response_begin - 1, count));
    std::vector<std::vector<float>> rows;
    for (std::int64_t t = 0; t < count; ++t) {
        const float* row = logits.data_ptr<float>() + t * logits.size(1);
        rows.emplace_back(row, row + logits.size(1));
    }
    return rows;
}

} // namespace cuset::test
