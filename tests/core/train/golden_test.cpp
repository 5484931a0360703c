// Training against PyTorch + peft: losses, gradient norms, learning rates and the final adapter of
// a few steps (tests/data/training/make_training.py).
#include <cmath>
#include <gtest/gtest.h>

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

// AdamW moves a weight whose gradient is of the size of rounding by its sign: such single weights
// differ between any two float32 computations. Against the same training in float64 the goldens
// themselves are off by up to 1.2e-4 in one or two of 13,440 weights (cuset-conf, asft, profit,
// cuset-conf-region), so a few may be here.
void expect_same_adapter(const fs::path& ours, const fs::path& golden) {
    constexpr double tolerance = 2e-5, rounding_sized = 5e-4;
    constexpr int most_exceptions = 4;
    const SafetensorsFile a(ours), b(golden);
    ASSERT_EQ(a.tensors().size(), b.tensors().size());
    double largest = 0;
    int exceptions = 0;
    for (const auto& [name, expected] : b.tensors()) {
        const TensorView& found = a.require_tensor(name);
        ASSERT_EQ(found.shape, expected.shape) << name;
        const auto* x = reinterpret_cast<const float*>(found.bytes.data());
        const auto* y = reinterpret_cast<const float*>(expected.bytes.data());
        for (std::size_t i = 0; i < expected.bytes.size() / sizeof(float); ++i) {
            const double difference =
                std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
            largest = std::max(largest, difference);
            exceptions += difference > tolerance;
        }
    }
    EXPECT_LE(exceptions, most_exceptions) << "largest difference " << largest;
    EXPECT_LE(largest, rounding_sized);
}

class Golden : public ::testing::TestWithParam<Case> { };

TEST_P(Golden, EveryStepAndTheFinalWeights) {
    const Case& c = GetParam();
    const fs::path data = test::data_folder() / "training" / c.model;
    const json golden = test::read_json(data / (c.name + ".json"));
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
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const json& expected = golden["steps"][i];
        SCOPED_TRACE("step " + std::to_string(i + 1));
        EXPECT_EQ(steps[i].step, expected["step"].get<std::int64_t>());
        EXPECT_EQ(steps[i].learning_rate, expected["lr"].get<double>());
        // The goldens are rounded to seven and six digits.
        const double loss = expected["loss"], norm = expected["grad_norm"];
        EXPECT_NEAR(steps[i].loss, loss, 2e-5 * std::abs(loss) + 5e-8);
        // All weights trained: every one of them is moved by rounding-sized gradients too.
        const double tolerance = config.method == TrainMethod::full ? 4e-4 : 1e-4;
        EXPECT_NEAR(steps[i].grad_norm, norm, tolerance * norm + 5e-7);
    }
    if (config.method == TrainMethod::lora)
        expect_same_adapter(fs::path(config.output) / "final" / "adapter_model.safetensors",
                            data / (c.name + ".safetensors"));
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
