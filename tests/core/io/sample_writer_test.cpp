#include "core/io/sample_writer.h"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/run_control.h"
#include "core/io/atomic_file.h"
#include "core/io/sample_reader.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

Sample sample(const std::string& prompt, const std::string& response) {
    Sample made;
    made.prompt = prompt;
    made.response = response;
    return made;
}

TEST(SampleWriter, WhatIsAddedIsReadBackAndTheRestStays) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "set 'with' quotes.jsonl";
    const std::string before = "{\"id\":\"old\",  \"prompt\":\"p\",\"response\":\"r\"}"; // no end
    std::ofstream(path, std::ios::binary) << before;
    const std::string id = append_sample(path, sample("a \"prompt\"\n", "int x;\t// \u00e4\n"));
    EXPECT_EQ(id.rfind("generated-", 0), 0u);
    EXPECT_EQ(id.size(), 18u);
    EXPECT_EQ(read_file(path, 1 << 20).substr(0, before.size() + 1), before + "\n");
    RunControl control;
    const Dataset dataset = read_samples({path}, ReadOptions{}, control);
    ASSERT_EQ(dataset.samples.size(), 2u);
    EXPECT_EQ(dataset.samples[1].id, id);
    EXPECT_EQ(dataset.samples[1].prompt, "a \"prompt\"\n");
    EXPECT_EQ(dataset.samples[1].response, "int x;\t// \u00e4\n");
    EXPECT_THROW(append_sample(path, sample("a \"prompt\"\n", "int x;\t// \u00e4\n")), Error)
        << "it is there already";
}

TEST(SampleWriter, AConversationStaysOne) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "new.jsonl";
    Sample turns = sample("", "the answer");
    turns.id = "mine";
    turns.messages = {{"system", "be brief"}, {"user", "a kernel"}};
    EXPECT_EQ(append_sample(path, turns), "mine");
    RunControl control;
    const Dataset dataset = read_samples({path}, ReadOptions{}, control);
    ASSERT_EQ(dataset.samples.size(), 1u);
    ASSERT_EQ(dataset.samples[0].messages.size(), 2u);
    EXPECT_EQ(dataset.samples[0].messages[0].role, "system");
    EXPECT_EQ(dataset.samples[0].response, "the answer");
}

TEST(SampleWriter, OtherFilesAreRefused) {
    const TemporaryFolder folder;
    EXPECT_THROW(append_sample(folder.path() / "set.json", sample("p", "r")), Error);
    EXPECT_THROW(append_sample(folder.path() / "no" / "such.jsonl", sample("p", "r")), Error);
}

} // namespace
} // namespace cuset
