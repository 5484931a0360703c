// Gradients against differences of the loss, the objectives' factors and w_n being constants of the
// gradient as method.md says; and what may change nothing: chunks of the head, layers computed
// again, dropout's repetition.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "core/base/run_control.h"
#include "core/train/head_loss.h"
#include "core/train/training_setup.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

struct Named {
    std::string name;
    Objective objective;
};

void PrintTo(const Named& n, std::ostream* out) {
    *out << n.name;
}

Objective cuset_with(bool confidence, bool cuda, bool region) {
    Objective o;
    o.mask.confidence_mask = confidence;
    o.mask.cuda_mask = cuda;
    o.mask.region_weight = region;
    o.mask.lambda = 2;
    o.mask.window = 4;
    o.mask.tau = 0.02;
    return o;
}

std::vector<Named> all_objectives() {
    std::vector<Named> all;
    for (std::size_t i = 0; i < token_objective_names.size(); ++i) {
        Objective o;
        o.name = static_cast<TokenObjective>(i);
        o.alpha = o.name == TokenObjective::asft ? 0.3 : 1.5;
        o.mask.tau = 0.02;
        o.mask.window = 4;
        all.push_back({std::string(token_objective_names[i]), o});
    }
    for (int bits = 0; bits < 8; ++bits)
        all.push_back({"cuset_" + std::string(bits & 1 ? "conf" : "noconf")
                           + (bits & 2 ? "_cuda" : "_nocuda")
                           + (bits & 4 ? "_region" : "_noregion"),
                       cuset_with(bits & 1, bits & 2, bits & 4)});
    return all;
}

// T rows of C channels against V tokens, and the labels of every third token.
struct Head {
    static constexpr std::int64_t rows = 13, channels = 6, vocabulary = 41;
    at::Tensor hidden, base_hidden, weight;
    std::vector<std::int32_t> targets;
    std::vector<LabelBits> labels;

    Head() {
        at::manual_seed(3);
        hidden = at::randn({rows, channels});
        base_hidden = hidden + 0.3 * at::randn({rows, channels});
        weight = at::randn({vocabulary, channels}) * 0.8;
        std::mt19937 random(9);
        for (std::int64_t t = 0; t < rows; ++t) {
            targets.push_back(static_cast<std::int32_t>(random() % vocabulary));
            labels.push_back(t % 3 == 0 ? kernel_bit : LabelBits{0});
        }
    }

    HeadInput input() const {
        HeadInput in;
        in.hidden = hidden;
        in.targets = targets;
        in.labels = labels;
        in.base_hidden = base_hidden;
        in.base_head = weight;
        return in;
    }
};

// w sum_t f_t (-ln p_t) + alpha KL(base || current), f and w given, in float64 from the logits up.
double loss_with_constants(const Head& head, const at::Tensor& hidden, const SampleLoss& constants,
                           const Objective& objective) {
    const at::Tensor w = head.weight.to(at::kDouble);
    const at::Tensor log_p = at::log_softmax(at::mm(hidden.to(at::kDouble), w.t()), -1);
    double loss = 0;
    for (std::int64_t t = 0; t < Head::rows; ++t) {
        const auto i = static_cast<std::size_t>(t);
        loss -= constants.weight * static_cast<double>(constants.factors[i])
            * log_p[t][head.targets[i]].item<double>();
    }
    if (objective.needs_base()) {
        const at::Tensor log_q =
            at::log_softmax(at::mm(head.base_hidden.to(at::kDouble), w.t()), -1);
        loss += objective.alpha * (log_q.exp() * (log_q - log_p)).sum().item<double>();
    }
    return loss;
}

class ObjectiveGradient : public ::testing::TestWithParam<Named> { };

TEST_P(ObjectiveGradient, IsTheDifferenceOfTheLoss) {
    const Head head;
    const Objective& objective = GetParam().objective;
    const at::Tensor gradient = at::zeros_like(head.hidden);
    const SampleLoss loss = head_loss(head.weight, head.input(), objective, gradient, {});
    EXPECT_NEAR(loss.loss, loss_with_constants(head, head.hidden, loss, objective),
                2e-6 * std::abs(loss.loss));
    constexpr double step = 1e-4;
    double largest = 0;
    for (std::int64_t t = 0; t < Head::rows; ++t)
        for (std::int64_t c = 0; c < Head::channels; ++c) {
            const auto moved = [&](double by) {
                at::Tensor h = head.hidden.to(at::kDouble).clone();
                h[t][c] += by;
                return loss_with_constants(head, h, loss, objective);
            };
            const double expected = (moved(step) - moved(-step)) / (2 * step);
            largest = std::max(largest, std::abs(expected));
            EXPECT_NEAR(gradient[t][c].item<double>(), expected, 2e-6) << t << ", " << c;
        }
    EXPECT_GT(largest, 0.01); // something was pushed
}

TEST_P(ObjectiveGradient, ChunksOfTheHeadChangeNothing) {
    const Head head;
    const Objective& objective = GetParam().objective;
    const at::Tensor whole = at::zeros_like(head.hidden), parts = at::zeros_like(head.hidden);
    const at::Tensor head_whole = at::zeros_like(head.weight),
                     head_parts = at::zeros_like(head_whole);
    const SampleLoss a = head_loss(head.weight, head.input(), objective, whole, head_whole, 64);
    const SampleLoss b = head_loss(head.weight, head.input(), objective, parts, head_parts, 5);
    EXPECT_NEAR(a.loss, b.loss, 1e-6 * std::abs(a.loss));
    EXPECT_EQ(a.factors, b.factors);
    EXPECT_LE((whole - parts).abs().max().item<double>(), 1e-6);
    EXPECT_LE((head_whole - head_parts).abs().max().item<double>(), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Train, ObjectiveGradient, ::testing::ValuesIn(all_objectives()),
                         [](const auto& tested) { return tested.param.name; });

// The fixture model with a LoRA adapter whose B is not zero, and one golden sample.
class ModelGradient : public ::testing::TestWithParam<std::string> {
protected:
    TrainingModel make(bool checkpoints) {
        TrainConfig config = test::golden_config(folder_, GetParam(), 1);
        config.adapter = (test::data_folder() / "training" / GetParam() / "start").string();
        config.lora.dropout = 0.3;
        config.gradient_checkpointing = checkpoints;
        const auto loaded = load_files(config);
        RunControl control;
        sample_ = load_train_data(config, *loaded->encoder, false, control).training.front();
        return make_training_model(config, loaded->files, choose_place(config), control);
    }

    // Plain loss and, if asked for, the gradients, with dropout by `key`.
    double pass(TrainingModel& model, bool backward, std::uint64_t key) {
        const PackedBatch batch = model.pack({std::span(sample_.ids)}, {key});
        const at::Tensor hidden = model.forward(batch, {backward, true, true});
        const std::int64_t first = sample_.response_begin - 1, count = sample_.response_tokens();
        HeadInput input;
        input.hidden = hidden.narrow(0, first, count);
        input.targets = std::span(sample_.ids).subspan(static_cast<std::size_t>(first + 1));
        input.labels = sample_.labels;
        Objective plain;
        plain.name = TokenObjective::sft;
        const at::Tensor dhidden = backward ? at::zeros_like(hidden) : at::Tensor();
        const double loss = head_loss(model.model().head, input, plain,
                                      backward ? dhidden.narrow(0, first, count) : at::Tensor(), {})
                                .loss;
        if (backward) {
            model.parameters().clear_gradients();
            model.backward(batch, dhidden);
        }
        return loss;
    }

    const at::NoGradGuard no_graph_;
    test::TemporaryFolder folder_;
    TrainSample sample_;
};

// Along each matrix's own gradient the loss has to rise by the gradient's norm.
TEST_P(ModelGradient, OfEachAdapterMatrixIsTheDifferenceOfTheLoss) {
    TrainingModel model = make(false);
    pass(model, true, 7);
    Parameters& parameters = model.parameters();
    const at::Tensor gradients = parameters.gradients().clone();
    for (const AdaptedLinear& linear : model.linears())
        for (const AdapterPart& part : linear.parts)
            for (const std::size_t slot : {part.a, part.b}) {
                const at::Tensor g = parameters.gradient(slot).clone();
                const double norm = g.norm().item<double>();
                ASSERT_GT(norm, 0);
                const double step = 2e-3;
                const at::Tensor start = parameters.value(slot).clone();
                const auto moved = [&](double by) {
                    parameters.value(slot).copy_(start + g * (by / norm));
                    model.refresh();
                    return pass(model, false, 7);
                };
                const double slope = (moved(step) - moved(-step)) / (2 * step);
                parameters.value(slot).copy_(start);
                // Sums of some hundred nats in float32, and the third derivative.
                EXPECT_NEAR(slope, norm, 0.01 * norm + 0.02) << part.name << " slot " << slot;
            }
}

TEST_P(ModelGradient, LayersComputedAgainGiveTheSameBits) {
    TrainingModel kept = make(false), again = make(true);
    EXPECT_EQ(pass(kept, true, 11), pass(again, true, 11));
    EXPECT_TRUE(kept.parameters().gradients().equal(again.parameters().gradients()));
}

TEST_P(ModelGradient, DropoutRepeatsWithItsKeyAndDiffersWithout) {
    TrainingModel model = make(false);
    const double first = pass(model, true, 11);
    const at::Tensor gradients = model.parameters().gradients().clone();
    EXPECT_NE(pass(model, true, 12), first);
    EXPECT_EQ(pass(model, true, 11), first);
    EXPECT_TRUE(model.parameters().gradients().equal(gradients));
}

INSTANTIATE_TEST_SUITE_P(Train, ModelGradient, ::testing::Values("llama", "qwen2"));

} // namespace
} // namespace cuset
