// Base weights in few bits: NF4 against bitsandbytes (tests/reference/make_nf4_golden.py), the
// memory by hand, and runs over a quantised base.
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/train/block_quantization.h"
#include "core/train/quantized_matrix.h"
#include "core/train/run_folder.h"
#include "core/train/trainer.h"
#include "core/train/training_setup.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;

json golden() {
    return test::read_json(test::data_folder() / "training" / "nf4.json");
}

TEST(Nf4, CodesAndScalesAreBitsandbytes) {
    const json expected = golden();
    const auto values = expected["values"].get<std::vector<float>>();
    std::vector<std::uint8_t> codes(values.size() / 2);
    std::vector<float> scales(values.size() / nf4_block);
    nf4_encode(values, codes, scales);
    EXPECT_EQ(std::vector<float>(nf4_levels.begin(), nf4_levels.end()),
              expected["levels"].get<std::vector<float>>());
    EXPECT_EQ(scales, expected["absmax"].get<std::vector<float>>());
    std::vector<float> back(values.size());
    nf4_decode(codes, scales, 0, std::span<float>(back));
    const auto theirs = expected["dequantized"].get<std::vector<float>>();
    for (std::size_t i = 0; i < back.size(); ++i)
        EXPECT_FLOAT_EQ(back[i], theirs[i]) << i;
    const auto their_codes = expected["codes"].get<std::vector<std::uint8_t>>();
    for (std::size_t i = 0; i < codes.size(); ++i)
        EXPECT_EQ(codes[i], their_codes[i]) << i;
    std::vector<float> part(100);
    nf4_decode(codes, scales, 128, std::span<float>(part)); // from the third block on
    EXPECT_TRUE(std::equal(part.begin(), part.end(), back.begin() + 128));
}

TEST(Nf4, ScalesInEightBitsAreOffByHalfAStep) {
    std::vector<float> scales;
    for (int i = 0; i < 700; ++i)
        scales.push_back(0.05f + 0.01f * std::sin(static_cast<float>(i)));
    const NarrowScales narrow = narrow_scales(scales);
    EXPECT_EQ(narrow.codes.size(), 700u);
    ASSERT_EQ(narrow.steps.size(), 3u);
    const std::vector<float> back = widen_scales(narrow);
    for (std::size_t i = 0; i < scales.size(); ++i)
        EXPECT_NEAR(back[i], scales[i], narrow.steps[i / 256] * 0.5001f) << i;
    EXPECT_LT(narrow.steps[0], 0.01f / 120); // the mean is taken out
}

TEST(Int8, EachRowHasItsOwnStep) {
    const std::vector<float> row{-2.54f, 0.01f, 0.029f, 1.27f};
    std::vector<std::int8_t> codes(4);
    const float step = int8_encode(row, codes);
    EXPECT_FLOAT_EQ(step, 0.02f);
    EXPECT_THAT(codes,
                ::testing::ElementsAre(-127, ::testing::AnyOf(0, 1), 1, ::testing::AnyOf(63, 64)));
    std::vector<float> back(4);
    int8_decode(codes, step, std::span<float>(back));
    for (std::size_t i = 0; i < row.size(); ++i)
        EXPECT_NEAR(back[i], row[i], 0.0101f);
    std::fill(codes.begin(), codes.end(), std::int8_t{1});
    EXPECT_EQ(int8_encode(std::vector<float>(4), codes), 0);
    EXPECT_THAT(codes, ::testing::Each(0));
}

TEST(QuantizedMatrix, ComesBackInItsTypeWithinHalfALevel) {
    at::manual_seed(1);
    const at::Tensor weight = at::randn({70, 96}) * 0.02;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        const at::Tensor stored = weight.to(type);
        const QuantizedMatrix int8(stored, QuantizeBase::int8), nf4(stored, QuantizeBase::nf4);
        EXPECT_EQ(int8.widened().scalar_type(), type);
        const at::Tensor wide = stored.to(at::kFloat);
        const auto off = [&](const QuantizedMatrix& m) {
            return (m.widened().to(at::kFloat) - wide).norm().item<double>()
                / wide.norm().item<double>();
        };
        EXPECT_LT(off(int8), 0.01);
        EXPECT_LT(off(nf4), 0.11); // a normal distribution's error in NF4 is about 0.09
        EXPECT_GT(off(nf4), 0.05);
        EXPECT_EQ(nf4.bytes(), 70 * 96 / 2 + 105 + 4);
        EXPECT_EQ(int8.bytes(), 70 * 96 + 4 * 70);
    }
    EXPECT_THROW(QuantizedMatrix(at::randn({3, 5}), QuantizeBase::nf4), Error);
}

// Qwen2.5-7B: 28 layers of 3584 channels, 28 and 4 heads of 128, 18944 inside, 152064 tokens.
ModelConfig seven_billion() {
    ModelConfig m;
    m.layers = 28;
    m.hidden = 3584;
    m.heads = 28;
    m.kv_heads = 4;
    m.head_dim = 128;
    m.intermediate = 18944;
    m.vocabulary = 152064;
    m.qkv_bias = true;
    m.tied_head = false;
    return m;
}

TEST(TrainingMemory, SevenBillionAt4096TokensFitInto24GB) {
    TrainConfig config;
    config.quantize_base = QuantizeBase::nf4;
    const ModelConfig model = seven_billion();
    // By hand: 233,046,016 values in a layer's linear weights (3584 * 4608 + 3584 * 3584 + 3 * 3584
    // * 18944), at 4 bits, a byte for 64, a float for 16384; two tables of 152064 * 3584 bfloat16;
    // the largest weight, gate and up, widened.
    const double linear = 28.0 * 233046016 * (0.5 + 1.0 / 64 + 4.0 / 16384);
    const double tables = 2.0 * 152064 * 3584 * 2, widened = 2.0 * 18944 * 3584 * 2;
    const TrainingMemory memory = estimate_training(config, model, 2, 4096);
    EXPECT_NEAR(static_cast<double>(memory.weights), linear + tables + widened, 2e6);
    EXPECT_LT(memory.total(), 24'000'000'000u);
    config.gradient_checkpointing = true;
    EXPECT_LT(estimate_training(config, model, 2, 4096).total(), 12'000'000'000u);
    config.quantize_base = QuantizeBase::none;
    EXPECT_GT(estimate_training(config, model, 2, 4096).weights, 15'000'000'000u);
}

struct Trained {
    StartedEvent started;
    std::vector<double> losses;
    FinishedEvent finished;
    std::vector<std::string> log;
};

Trained train_with(QuantizeBase kind, const std::string& model) {
    const test::TemporaryFolder folder;
    const json samples = test::read_json(test::data_folder() / "training" / model / "data.json");
    TrainConfig config = test::golden_config(folder, model, samples.size());
    config.epochs = 2;
    config.quantize_base = kind;
    config.learning_rate = 2e-3;
    RunControl control;
    train(config, {}, control);
    Trained trained;
    for (const TrainEvent& event : read_events(config.output)) {
        if (const auto* started = std::get_if<StartedEvent>(&event.body))
            trained.started = *started;
        if (const auto* step = std::get_if<StepEvent>(&event.body))
            trained.losses.push_back(step->loss);
        if (const auto* finished = std::get_if<FinishedEvent>(&event.body))
            trained.finished = *finished;
        if (const auto* log = std::get_if<LogEvent>(&event.body))
            trained.log.push_back(log->message);
    }
    return trained;
}

TEST(QuantizedBase, ARunMeasuresWhatItCostsAndTrains) {
    const json losses = golden()["losses"];
    for (const char* model : {"llama", "qwen2"}) {
        const Trained plain = train_with(QuantizeBase::none, model);
        EXPECT_TRUE(std::isnan(plain.started.quantized_loss));
        for (const QuantizeBase kind : {QuantizeBase::int8, QuantizeBase::nf4}) {
            const Trained run = train_with(kind, model);
            const double expected =
                losses[model][kind == QuantizeBase::int8 ? "int8" : "nf4"].get<double>();
            EXPECT_NEAR(run.started.quantized_loss, expected, 1e-4 * expected) << model;
            const double before = losses[model]["none"].get<double>();
            EXPECT_NEAR(run.started.unquantized_loss, before, 1e-5 * before) << model;
            EXPECT_THAT(run.log, ::testing::Contains(::testing::HasSubstr("unquantised")));
            ASSERT_EQ(run.losses.size(), plain.losses.size());
            EXPECT_LT(run.losses.back(), 0.8 * run.losses.front()) << model;
            EXPECT_EQ(run.finished.logit_difference, 0); // loaded anew: the same quantised base
        }
    }
}

TEST(QuantizedBase, FullFineTuningIsRefused) {
    try {
        parse_train_config(R"({"model": "m", "data": "d", "output": "o", "method": "full",
                               "quantize_base": "nf4"})",
                           "c.json");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_value);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("quantize_base"));
    }
}

} // namespace
} // namespace cuset
