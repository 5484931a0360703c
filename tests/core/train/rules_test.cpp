// The trainer's rules that need no model: configuration, schedules, order of samples, masks,
// checkpoints, locks, events.
#include <cmath>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/train/batch_loader.h"
#include "core/train/checkpoint.h"
#include "core/train/counter_random.h"
#include "core/train/lr_schedule.h"
#include "core/train/objective.h"
#include "core/train/run_folder.h"
#include "core/train/run_lock.h"
#include "core/train/train_config.h"
#include "core/train/train_event.h"
#include "tests/core/train/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string message_of(const std::string& text) {
    try {
        parse_train_config(text, "c.json");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

constexpr const char* least = R"({"model": "m", "data": ["d.jsonl"], "output": "o"})";

TEST(TrainConfig, DefaultsAreThePapersAndComeBack) {
    const TrainConfig config = parse_train_config(
        "{// a comment\n\"model\": \"m\", /* another */ \"data\": \"d.jsonl\", \"output\": \"o\"}",
        "c");
    EXPECT_EQ(config.objective.name, TokenObjective::cuset);
    EXPECT_EQ(config.objective.mask.window, 256);
    EXPECT_EQ(config.lora.rank, 8);
    EXPECT_EQ(config.gradient_accumulation, 8);
    const TrainConfig again = parse_train_config(train_config_json(config), "again");
    EXPECT_EQ(train_config_json(again), train_config_json(config));
    EXPECT_TRUE(training_differences(again, config).empty());
}

TEST(TrainConfig, WrongInputIsNamedWithItsPath) {
    EXPECT_THAT(message_of(R"({"modle": "m"})"), HasSubstr("did you mean \"model\""));
    EXPECT_THAT(message_of(R"({"model":"m","data":["d"],"output":"o","objective":{"tua":1}})"),
                HasSubstr("objective.tua"));
    EXPECT_THAT(message_of(R"({"model":"m","data":["d"],"output":"o","objective":{"tau":2}})"),
                HasSubstr("objective.tau: is 2"));
    EXPECT_THAT(message_of(R"({"model":"m","data":["d"],"output":"o","lora":{"rank":0}})"),
                HasSubstr("lora.rank"));
    EXPECT_THAT(message_of(R"({"model":"m","data":["d"],"output":"o","batch_size":1.5})"),
                HasSubstr("batch_size"));
    EXPECT_THAT(message_of("{\n\"model\": }"), HasSubstr("line 2"));
    EXPECT_THAT(message_of(R"({"model":"m","model":"n","data":["d"],"output":"o"})"),
                HasSubstr("twice"));
    EXPECT_THAT(message_of(R"({"model":"m","output":"o"})"), HasSubstr("data"));
    EXPECT_EQ(message_of(least), "");
}

TEST(LearningRate, LastGroupsOfAnEpochAreStepsOfTheirOwn) { // PE2
    const json expected = test::read_json(test::data_folder() / "cases"
                                          / "PE2-last-group-of-an-epoch" / "expected.json");
    BatchLoader loader(7, 4, 1, true);
    LearningRate rate;
    rate.base = expected["lr"];
    rate.total_steps = loader.steps_per_epoch() * 3;
    rate.warmup_steps = expected["warmup_steps"].get<std::int64_t>();
    ASSERT_EQ(rate.total_steps, expected["optimizer_steps"].get<std::int64_t>());
    for (std::int64_t step = 0; step < rate.total_steps; ++step) {
        const auto i = static_cast<std::size_t>(step);
        EXPECT_EQ(loader.group(step).samples.size(), expected["group_sizes"][i].get<std::size_t>());
        rate.schedule = Schedule::linear;
        EXPECT_NEAR(rate.at(step), expected["linear"][i].get<double>(), 1e-15);
        rate.schedule = Schedule::cosine;
        EXPECT_NEAR(rate.at(step), expected["cosine"][i].get<double>(), 1e-11);
    }
}

TEST(BatchLoader, EveryEpochHoldsEverySampleOnceInAnOrderOfItsOwn) {
    BatchLoader loader(11, 4, 42, true);
    std::vector<std::vector<std::int64_t>> epochs(2);
    for (std::int64_t step = 0; step < 6; ++step)
        for (const std::int64_t sample : loader.group(step).samples)
            epochs[static_cast<std::size_t>(step / 3)].push_back(sample);
    EXPECT_NE(epochs[0], epochs[1]);
    const auto second = loader.group(4).samples;
    EXPECT_EQ(BatchLoader(11, 4, 42, true).group(4).samples, second); // without the steps before
    for (auto& epoch : epochs) {
        std::sort(epoch.begin(), epoch.end());
        EXPECT_THAT(epoch, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
    }
}

TEST(BatchLoader, RanksShareAStepWithoutOverlap) {
    const std::vector<std::int64_t> samples{5, 3, 8, 1, 9, 2, 7};
    std::vector<std::int64_t> dealt;
    for (int rank = 0; rank < 3; ++rank)
        for (const auto& batch : micro_batches(samples, 2, rank, 3))
            dealt.insert(dealt.end(), batch.begin(), batch.end());
    EXPECT_THAT(dealt, ::testing::UnorderedElementsAreArray(samples));
}

TEST(Objective, AccumulationEqualsBatch) { // PE1
    const fs::path folder = test::data_folder() / "cases" / "PE1-accumulation-equals-batch";
    const json samples = test::read_json(folder / "samples.json");
    const json expected = test::read_json(folder / "expected.json");
    Objective objective;
    objective.mask.tau = samples["parameters"]["tau"];
    objective.mask.lambda = samples["parameters"]["lambda"];
    objective.mask.window = samples["parameters"]["l"];
    double sum = 0;
    for (std::size_t n = 0; n < samples["samples"].size(); ++n) {
        const auto confidence = samples["samples"][n]["conf"].get<std::vector<float>>();
        std::vector<LabelBits> labels;
        for (const json& flag : samples["samples"][n]["cuda"])
            labels.push_back(flag == 1 ? kernel_bit : LabelBits{0});
        std::vector<float> factors(confidence.size()), entropy(confidence.size());
        token_factors(objective, confidence, entropy, labels, 20, factors);
        EXPECT_EQ(factors, expected["samples"][n]["M"].get<std::vector<float>>());
        const double w = sample_factor(objective, confidence);
        EXPECT_NEAR(w, expected["samples"][n]["w"].get<double>(), 1e-6);
        double loss = 0;
        for (std::size_t t = 0; t < confidence.size(); ++t)
            loss -=
                w * static_cast<double>(factors[t]) * std::log(static_cast<double>(confidence[t]));
        EXPECT_NEAR(loss, expected["samples"][n]["loss"].get<double>(), 1e-5);
        sum += loss;
    }
    EXPECT_NEAR(sum / reduction_divisor(Reduction::sum, 18, 4),
                expected["batch_loss"].get<double>(), 1e-6 * 3.06424162);
}

TEST(CounterRandom, DropoutKeepsItsShareAndRepeats) {
    constexpr std::int64_t count = 40001;
    const std::vector<float> in(count, 1.f);
    std::vector<float> whole(count), parts(count);
    drop_elements(in.data(), whole.data(), {7, 0, count, 0.25});
    for (std::int64_t begin = 0; begin < count; begin += 977) // pieces of any length: the same mask
        drop_elements(in.data() + begin, parts.data() + begin,
                      {7, begin, std::min<std::int64_t>(977, count - begin), 0.25});
    EXPECT_EQ(whole, parts);
    std::vector<float> added(count, 2.f);
    add_dropped(in.data(), added.data(), {7, 0, count, 0.25});
    for (float& x : added)
        x -= 2;
    for (std::size_t i = 0; i < added.size(); ++i)
        ASSERT_NEAR(added[i], whole[i], 1e-6) << i;
    const auto dropped = std::count(whole.begin(), whole.end(), 0.f);
    EXPECT_NEAR(static_cast<double>(dropped) / count, 0.25, 0.01);
    EXPECT_FLOAT_EQ(*std::max_element(whole.begin(), whole.end()), 4.f / 3);
}

TEST(Checkpoint, TheNewestWholeOneIsTaken) {
    const test::TemporaryFolder folder;
    for (const std::int64_t step : {2, 10, 4}) {
        CheckpointWriter writer(folder.path(), step, 1);
        std::ofstream(writer.folder() / "weights") << "of step " << step;
        writer.commit();
    }
    std::vector<std::string> faults;
    EXPECT_EQ(newest_checkpoint(folder.path(), faults)->step, 10);
    std::ofstream(folder.path() / "step-10" / "weights") << "of step 11"; // same size, other bytes
    EXPECT_EQ(newest_checkpoint(folder.path(), faults)->step, 4);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_THAT(faults[0], HasSubstr("SHA-256"));
    fs::remove(folder.path() / "step-4" / "weights");
    EXPECT_EQ(newest_checkpoint(folder.path(), faults)->step, 2);
    prune_checkpoints(folder.path(), 1, 2);
    EXPECT_EQ(list_checkpoints(folder.path()).size(), 2u); // the newest and the best
}

TEST(Checkpoint, AnUnfinishedOneIsNeverOfferedAndIsCleaned) {
    const test::TemporaryFolder folder;
    fs::create_directory(folder.path() / ".unfinished-step-3");
    EXPECT_TRUE(list_checkpoints(folder.path()).empty());
    clean_unfinished(folder.path());
    EXPECT_TRUE(fs::is_empty(folder.path()));
    { const CheckpointWriter abandoned(folder.path(), 5, 1); }
    EXPECT_TRUE(fs::is_empty(folder.path()));
    EXPECT_THROW(CheckpointWriter(folder.path(), 6, UINT64_MAX / 2), Error);
}

TEST(RunLock, TellsTheLivingFromTheGone) {
    const test::TemporaryFolder folder;
    const fs::path path = folder.path() / "lock";
    EXPECT_EQ(inspect_lock(path).state, LockState::free);
    {
        const RunLock lock(path);
        EXPECT_EQ(inspect_lock(path).state, LockState::held);
        EXPECT_THROW(RunLock second(path), Error);
    }
    EXPECT_FALSE(fs::exists(path));
    LockHolder me = this_process();
    const auto write = [&] {
        folder.write(
            "lock", json{{"pid", me.pid}, {"start_time", me.start_time}, {"host", me.host}}.dump());
    };
    me.start_time = "another boot:1"; // the number was given to another process
    write();
    EXPECT_EQ(inspect_lock(path).state, LockState::stale);
    { const RunLock taken(path); }
    me = this_process();
    me.host = "elsewhere";
    write();
    EXPECT_EQ(inspect_lock(path).state, LockState::foreign);
    EXPECT_THROW(RunLock refused(path), Error);
}

TEST(TrainEvent, LinesComeBackAndBrokenOnesAreNothing) {
    StepEvent step;
    step.step = 7;
    step.loss = 0.1;
    step.sensitive_confidence = no_figure;
    const std::string line = to_json_line({"2026-12-01T08:00:00.000Z", step});
    EXPECT_EQ(json::parse(line)["sensitive_confidence"], nullptr);
    const auto event = parse_event(line);
    ASSERT_TRUE(event);
    EXPECT_EQ(std::get<StepEvent>(event->body).step, 7);
    EXPECT_EQ(std::get<StepEvent>(event->body).loss, 0.1);
    EXPECT_FALSE(parse_event(line.substr(0, line.size() / 2)));
    EXPECT_FALSE(parse_event(R"({"v":1,"type":"of the future"})"));
    EXPECT_FALSE(parse_event("[1]"));
}

} // namespace
} // namespace cuset
