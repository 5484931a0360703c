// Following a run: events read as they come, the state told from events and lock.
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/train/flat_json.h"
#include "tests/core/train/run_files.h"

namespace cuset {
namespace {

using test::line_of;
using test::RunFiles;
using test::some_step;
namespace fs = std::filesystem;

TEST(FlatJson, ReadsAStepAsTheGeneralParserDoes) {
    for (std::int64_t i = 1; i < 200; ++i) {
        const StepEvent step = some_step(i);
        const std::string line = to_json_line({"2026-12-01T00:00:00.000Z", step});
        // An escaped slash in an unknown member sends the same values through the general parser.
        const std::string escaped = line.substr(0, line.size() - 1) + ",\"x\":\"\\/\"}";
        const auto fast = parse_event(line), slow = parse_event(escaped);
        ASSERT_TRUE(fast && slow);
        EXPECT_EQ(fast->time, slow->time);
        EXPECT_EQ(to_json_line(*fast), to_json_line(*slow));
        EXPECT_EQ(to_json_line(*fast), line);
    }
}

TEST(FlatJson, LeavesWhatIsNoPlainObjectToOthers) {
    for (const char* text :
         {"", "{", "[1]", "{\"a\":1", "{\"a\":1}x", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}",
          "{\"a\":-}", "{\"a\":+1}", "{\"a\":inf}", "{\"a\":\"\\n\"}", "{\"a\":{}}", "{\"a\":[1]}",
          "{a:1}", "{\"a\" 1}", "{\"a\":1,}", "{\"a\":tru}"}) {
        FlatJson json(text);
        while (json.ok() && !json.key().empty())
            json.skip();
        EXPECT_FALSE(json.at_end()) << text;
    }
    FlatJson json(" {\"a\" : -1.5e3 , \"b\":true, \"c\": null,\"d\":\"x y\" } ");
    double a = 0, c = 0;
    bool b = false;
    std::string d;
    json.take(a);
    json.take(b);
    json.take(c);
    json.take(d);
    EXPECT_TRUE(json.at_end());
    EXPECT_EQ(a, -1500);
    EXPECT_TRUE(b);
    EXPECT_TRUE(std::isnan(c));
    EXPECT_EQ(d, "x y");
}

TEST_F(RunFiles, EventsAreReadOnceAndHalfLinesWait) {
    RunReader reader(run());
    EXPECT_TRUE(read(reader).steps.empty()); // no file yet
    const std::string first = line_of({"t1", some_step(1)}), second = line_of({"t2", some_step(2)});
    append(first + second.substr(0, 40));
    EXPECT_EQ(read(reader).steps.size(), 1u);
    EXPECT_EQ(read(reader).steps.size(), 0u);
    append(second.substr(40));
    const RunUpdate update = read(reader);
    ASSERT_EQ(update.steps.size(), 1u);
    EXPECT_EQ(update.steps[0].step, 2);
    EXPECT_FALSE(update.restarted);
    EXPECT_EQ(update.summary.last_step.step, 2);
    EXPECT_EQ(update.summary.last_time, "t2");
}

TEST_F(RunFiles, LinesThatAreNoEventsAreLeftOut) {
    RunReader reader(run());
    append("\n\xff\xfe{{{\n{\"v\":1,\"type\":\"unknown\"}\n" + std::string(3 << 20, 'x') + "\n"
           + line_of({"t", some_step(1)}));
    EXPECT_EQ(read(reader).steps.size(), 1u);
}

TEST_F(RunFiles, AFileThatWasReplacedIsReadAnew) {
    RunReader reader(run());
    append(line_of({"t", some_step(1)}) + line_of({"t", some_step(2)}));
    EXPECT_EQ(read(reader).steps.size(), 2u);
    fs::resize_file(run() / "events.jsonl", 0);
    append(line_of({"other", some_step(9)}));
    RunUpdate update = read(reader);
    EXPECT_TRUE(update.restarted); // shorter
    ASSERT_EQ(update.steps.size(), 1u);
    EXPECT_EQ(update.steps[0].step, 9);
    // Longer than what was read, but another one: the same inode written anew.
    fs::resize_file(run() / "events.jsonl", 0);
    for (int i = 20; i < 30; ++i)
        append(line_of({"third", some_step(i)}));
    update = read(reader);
    EXPECT_TRUE(update.restarted);
    EXPECT_EQ(update.steps.size(), 10u);
    fs::remove(run() / "events.jsonl");
    EXPECT_TRUE(read(reader).restarted);
    append(line_of({"fourth", some_step(1)}));
    EXPECT_EQ(read(reader).steps.size(), 1u);
}

TEST_F(RunFiles, TheLockTellsTheStates) {
    RunReader reader(run());
    append(line_of({"2026-12-01T10:00:00.000Z", StartedEvent{}})
           + line_of({"2026-12-01T10:00:05.500Z", some_step(3)}));
    const auto state = [&] { return read(reader).summary.state; };
    const auto said = [&] {
        const RunUpdate update = read(reader);
        return run_explanation(update.summary, update.lock);
    };
    EXPECT_EQ(state(), RunState::interrupted);
    EXPECT_THAT(said(), ::testing::HasSubstr("no process writes it"));
    const LockHolder me = this_process();
    write_lock(me.pid, me.start_time, me.host);
    EXPECT_EQ(state(), RunState::running);
    // The same number, another process.
    write_lock(me.pid, me.start_time + "0", me.host);
    EXPECT_EQ(state(), RunState::interrupted);
    EXPECT_TRUE(read(reader).lock.recycled);
    EXPECT_THAT(said(), ::testing::HasSubstr("another program now"));
    write_lock(me.pid, me.start_time, "some-other-host");
    EXPECT_EQ(state(), RunState::elsewhere);
    EXPECT_THAT(said(), ::testing::HasSubstr("some-other-host"));
    const pid_t gone = ::fork();
    if (gone == 0)
        ::_exit(0);
    ::waitpid(gone, nullptr, 0);
    write_lock(gone, me.start_time, me.host);
    EXPECT_EQ(state(), RunState::interrupted);
    EXPECT_FALSE(read(reader).lock.recycled);
    EXPECT_THAT(said(), ::testing::HasSubstr("gone without a word"));
    fs::remove(run() / "lock");
    FinishedEvent end;
    end.reason = "stopped";
    append(line_of({"2026-12-01T10:00:09.500Z", end}));
    EXPECT_EQ(state(), RunState::stopped);
    EXPECT_DOUBLE_EQ(read(reader).summary.seconds(), 9.5);
    // The pause between two sessions does not count.
    append(line_of({"2026-12-01T12:00:00.000Z", StartedEvent{}})
           + line_of({"2026-12-01T12:00:01.000Z", some_step(4)}));
    EXPECT_DOUBLE_EQ(read(reader).summary.seconds(), 10.5);
    FailedEvent failure;
    failure.code = "out_of_memory";
    failure.exit_code = 4;
    failure.message = "the message";
    append(line_of({"2026-12-01T12:00:02.000Z", failure}));
    EXPECT_EQ(state(), RunState::failed);
    EXPECT_THAT(said(), ::testing::HasSubstr("out of memory (exit code 4): the message"));
}

TEST_F(RunFiles, LogTailIsTheEndOfTheLog) {
    EXPECT_TRUE(log_tail(run(), 50).empty());
    std::string log;
    for (int i = 0; i < 40000; ++i)
        log += "line " + std::to_string(i) + "\n";
    folder_.write("log.txt", log + "\x1b[31mred\nhalf");
    const auto tail = log_tail(run(), 50);
    ASSERT_EQ(tail.size(), 50u);
    EXPECT_EQ(tail.back(), "half");
    EXPECT_EQ(tail[48], "\\x1b[31mred");
    EXPECT_EQ(tail[0], "line 39952");
    folder_.write("log.txt", "one\ntwo\n");
    EXPECT_THAT(log_tail(run(), 50), ::testing::ElementsAre("one", "two"));
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Half a second of the processor's own time, so that what else the machine does changes nothing.
// The limit is for an optimised build; others are only checked to be right.
TEST_F(RunFiles, AHundredThousandStepsAreReadInHalfASecond) {
    std::string text;
    for (std::int64_t i = 1; i <= 100000; ++i)
        text += line_of({"2026-12-01T10:00:00.000Z", some_step(i)});
    append(text);
    const double begin = thread_seconds();
    RunReader reader(run());
    const RunUpdate update = read(reader);
    const double seconds = thread_seconds() - begin;
    EXPECT_EQ(update.steps.size(), 100000u);
    EXPECT_EQ(update.steps.back().step, 100000);
    std::printf("%zu bytes in %.3f s\n", text.size(), seconds);
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(seconds, 0.5);
#endif
}

} // namespace
} // namespace cuset
