// Training against PyTorch + peft and against float64: losses, gradient norms, learning rates and
// the final adapter of a few steps (tests/data/training/make_training.py, make_float64.py).
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <map>

#include "core/io/safetensors_file.h"
#include "core/train/run_folder.h"
#include "core/train/trainer.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct Case {
    std::string model, name;
    std::int64_t batch_size = 1;
    bool checkpoints_layers = false;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.model << " " << c.name << " batch " << c.batch_size
         << (c.checkpoints_layers ? " checkpointed" : "");
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const char* model : {"llama", "qwen2"})
        for (const char* name : {"sft", "dft", "asft", "eaft", "profit", "cuset", "cuset-sum",
                                 "cuset-lambda2", "cuset-conf", "cuset-conf-cuda",
                                 "cuset-conf-region", "cuset-none", "full-sft", "full-cuset"})
            cases.push_back({model, name});
    cases.push_back({"llama", "cuset", 2});
    cases.push_back({"qwen2", "asft", 2});
    cases.push_back({"llama", "cuset", 1, true});
    cases.push_back({"qwen2", "full-cuset", 2, true});
    return cases;
}

TrainConfig config_of(const Case& c, const json& golden, const test::TemporaryFolder& folder) {
    TrainConfig config = test::golden_config(folder, c.model, golden["steps"].size() * 2);
    const json& objective = golden["objective"];
    for (std::size_t i = 0; i < token_objective_names.size(); ++i)
        if (objective["name"] == std::string(token_objective_names[i]))
            config.objective.name = static_cast<TokenObjective>(i);
    MaskSettings& mask = config.objective.mask;
    mask.tau = objective.value("tau", mask.tau);
    mask.lambda = objective.value("lambda", mask.lambda);
    mask.window = objective.value("window", mask.window);
    mask.confidence_mask = objective.value("confidence_mask", true);
    mask.cuda_mask = objective.value("cuda_mask", true);
    mask.region_weight = objective.value("region_weight", true);
    config.objective.alpha = objective.value("alpha", 1.0);
    config.objective.reduction =
        golden["reduction"] == "sum" ? Reduction::sum : Reduction::token_mean;
    config.schedule = golden["schedule"] == "cosine" ? Schedule::cosine : Schedule::constant;
    config.warmup_steps = golden["warmup_steps"].get<std::int64_t>();
    config.learning_rate = golden["learning_rate"];
    config.weight_decay = golden["weight_decay"];
    config.max_grad_norm = golden["max_grad_norm"];
    config.batch_size = c.batch_size;
    config.gradient_accumulation = 2 / c.batch_size;
    config.gradient_checkpointing = c.checkpoints_layers;
    if (c.name.starts_with("full-"))
        config.method = TrainMethod::full;
    else
        config.adapter = (test::data_folder() / "training" / c.model / "start").string();
    return config;
}

// Against the same training in float64 (tests/data/training/make_float64.py). AdamW divides a
// gradient by the root of its second moment: if each gradient is off by r of its tensor's root mean
// square, an element moves by up to r n, where n is large for the few elements whose gradients are
// nearly zero. Those are listed with their n; for all others the limit is absolute.
void expect_same_adapter(const fs::path& ours, const fs::path& golden, const json& noise) {
    constexpr double limit = 2e-5;
    constexpr double gradient_noise = 5e-6; // r: 1.3e-6 was measured
    std::map<std::pair<std::string, std::size_t>, double> noisy;
    for (const json& entry : noise)
        noisy[{entry[0].get<std::string>(), entry[1].get<std::size_t>()}] = entry[2].get<double>();
    const SafetensorsFile a(ours), b(golden);
    ASSERT_EQ(a.tensors().size(), b.tensors().size());
    double largest = 0, largest_noisy = 0;
    for (const auto& [name, expected] : b.tensors()) {
        const TensorView& found = a.require_tensor(name);
        ASSERT_EQ(found.shape, expected.shape) << name;
        const auto* x = reinterpret_cast<const float*>(found.bytes.data());
        const auto* y = reinterpret_cast<const float*>(expected.bytes.data());
        for (std::size_t i = 0; i < expected.bytes.size() / sizeof(float); ++i) {
            const double difference =
                std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
            const auto entry = noisy.find({name, i});
            if (entry == noisy.end()) {
                EXPECT_LE(difference, limit) << name << " " << i;
                largest = std::max(largest, difference);
            } else {
                EXPECT_LE(difference, limit + gradient_noise * entry->second)
                    << name << " " << i << ", n " << entry->second;
                largest_noisy = std::max(largest_noisy, difference / entry->second);
            }
        }
    }
    ::testing::Test::RecordProperty("largest_difference", std::to_string(largest));
    std::cout << "largest difference " << largest << "; r of the noisy elements " << largest_noisy
              << "\n";
}

class Golden : public ::testing::TestWithParam<Case> { };

TEST_P(Golden, EveryStepAndTheFinalWeights) {
    const Case& c = GetParam();
    const fs::path data = test::data_folder() / "training" / c.model;
    const json golden = test::read_json(data / (c.name + ".json"));
    const json exact = test::read_json(data / "float64.json")[c.name];
    const test::TemporaryFolder folder;
    RunControl control;
    const TrainConfig config = config_of(c, golden, folder);
    const TrainResult result = train(config, {}, control);
    EXPECT_FALSE(result.stopped);

    std::vector<StepEvent> steps;
    for (const TrainEvent& event : read_events(config.output))
        if (const auto* step = std::get_if<StepEvent>(&event.body))
            steps.push_back(*step);
    ASSERT_EQ(steps.size(), golden["steps"].size());
    double worst_loss = 0, worst_norm = 0, spread = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const json& expected = golden["steps"][i];
        SCOPED_TRACE("step " + std::to_string(i + 1));
        EXPECT_EQ(steps[i].step, expected["step"].get<std::int64_t>());
        EXPECT_EQ(steps[i].learning_rate, expected["lr"].get<double>());
        // PyTorch's, rounded to seven and six digits, and float64's.
        const double loss = expected["loss"], norm = expected["grad_norm"];
        const double exact_loss = exact["loss"][i], exact_norm = exact["grad_norm"][i];
        EXPECT_NEAR(steps[i].loss, loss, 2e-5 * std::abs(loss) + 5e-8);
        // Where every weight is trained AdamW moves those whose gradient is all but rounding by the
        // sign of it. How far that takes PyTorch's own float32 runs from float64 stands there, the
        // most of eight; what one step moved stays moved, so that the largest so far counts. Above
        // 1e-4 it is in one case alone, full-sft of qwen2.
        if (exact.contains("norm_spread"))
            spread = std::max(spread, exact["norm_spread"][i].get<double>());
        const double norm_limit = std::max(1e-4, spread);
        EXPECT_NEAR(steps[i].grad_norm, norm, norm_limit * norm + 5e-7);
        EXPECT_NEAR(steps[i].loss, exact_loss, 2e-5 * std::abs(exact_loss));
        EXPECT_NEAR(steps[i].grad_norm, exact_norm, norm_limit * exact_norm);
        worst_loss = std::max(worst_loss, std::abs(steps[i].loss / exact_loss - 1));
        worst_norm = std::max(worst_norm, std::abs(steps[i].grad_norm / exact_norm - 1));
    }
    std::cout << "loss off by " << worst_loss << ", gradient norm by " << worst_norm << "\n";
    if (config.method == TrainMethod::lora)
        expect_same_adapter(fs::path(config.output) / "final" / "adapter_model.safetensors",
                            data / (c.name + ".float64.safetensors"), exact["noise"]);
}

INSTANTIATE_TEST_SUITE_P(Train, Golden, ::testing::ValuesIn(all_cases()),
                         [](const ::testing::TestParamInfo<Case>& tested) {
                             std::string name = tested.param.model + "_" + tested.param.name + "_"
                                 + std::to_string(tested.param.batch_size)
                                 + (tested.param.checkpoints_layers ? "_checkpointed" : "");
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace cuset
