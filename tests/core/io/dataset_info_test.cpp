// LlamaFactory's dataset_info.json, prompts beside source files, token ids with labels, segments.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/record_recognition.h"
#include "core/io/sample_reader.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Sample sample(const std::string& record) {
    return sample_from_record(nlohmann::json::parse(record), {});
}

std::string reason(const std::string& record) {
    try {
        sample(record);
    } catch (const Error& error) {
        return error.message();
    }
    return "nothing was thrown";
}

constexpr const char* info = R"({
  "kernels": {"file_name": "k.json", "columns": {"prompt": "task", "query": "extra", "response": "code"}},
  "talk": {"file_name": "sub/t.jsonl", "formatting": "sharegpt",
           "columns": {"messages": "dialogue"},
           "tags": {"role_tag": "who", "content_tag": "says", "user_tag": "U", "assistant_tag": "A"}},
  "far": {"hf_hub_url": "org/name"}
})";

class DatasetInfo : public ::testing::Test {
protected:
    DatasetInfo() {
        folder.write("k.json", R"([{"task": "add", "extra": "fast", "code": "c0"}])");
        folder.write("sub/t.jsonl",
                     R"({"dialogue": [{"who": "U", "says": "hi"}, {"who": "A", "says": "r"}]})");
        file = folder.write("dataset_info.json", info);
    }
    TemporaryFolder folder;
    std::filesystem::path file;
    RunControl control;
};

TEST_F(DatasetInfo, NamesFilesAndFields) {
    const Dataset all = read_samples({file}, {}, control);
    ASSERT_EQ(all.samples.size(), 2u);
    EXPECT_EQ(all.samples[0].prompt, "add\nfast");
    EXPECT_EQ(all.samples[0].response, "c0");
    EXPECT_EQ(all.samples[1].prompt, "hi");
    EXPECT_EQ(all.samples[1].response, "r");
    ASSERT_EQ(all.warnings.size(), 1u);
    EXPECT_THAT(all.warnings[0], HasSubstr("the first: far"));
}

TEST_F(DatasetInfo, OneOfThemByName) {
    ReadOptions options;
    options.dataset = "talk";
    EXPECT_EQ(read_samples({file}, options, control).samples.size(), 1u);
    for (const char* name : {"far", "nothing"}) {
        options.dataset = name;
        try {
            read_samples({file}, options, control);
            ADD_FAILURE() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::not_found);
            EXPECT_THAT(error.what(), HasSubstr("far, kernels, talk"));
        }
    }
}

TEST_F(DatasetInfo, WrongEntriesAreNamed) {
    const auto wrong = folder.write("dataset_info.json",
                                    R"({"a": {"file_name": "k.json", "formatting": "chat"}})");
    try {
        read_samples({wrong}, {}, control);
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("formatting is \"chat\", needs \"alpaca\""));
        EXPECT_THAT(error.what(), HasSubstr("dataset_info.json: a"));
    }
}

TEST(SourcePrompt, ComesFromTheFileBeside) {
    const TemporaryFolder folder;
    folder.write("a.cu", "__global__ void a() {}");
    folder.write("a.prompt.txt", "write a");
    folder.write("a.txt", "not this");
    folder.write("b.cu", "__global__ void b() {}");
    folder.write("b.md", "write b");
    folder.write("c.cu", "__global__ void c() {}");
    RunControl control;
    const Dataset read = read_samples({folder.path()}, {}, control);
    ASSERT_EQ(read.samples.size(), 3u);
    EXPECT_EQ(read.samples[0].prompt, "write a");
    EXPECT_EQ(read.samples[1].prompt, "write b");
    EXPECT_EQ(read.samples[2].prompt, "");
    ReadOptions options;
    options.prompt = "one for all";
    EXPECT_EQ(read_samples({folder.path()}, options, control).samples[0].prompt, "one for all");
}

TEST(LabelledIds, ArePromptAndTrainedTokens) {
    const Sample read =
        sample(R"({"input_ids": [0, 5, 6, 7, 8, 9], "attention_mask": [0, 1, 1, 1, 1, 1],
                                   "labels": [-100, -100, 6, -100, 8, -100]})");
    EXPECT_THAT(read.prepared.ids,
                ElementsAre(5, 6, 7, 8)); // padding and the untrained end are off
    EXPECT_EQ(read.prepared.prompt_tokens, 1);
    EXPECT_THAT(read.prepared.rows, ElementsAre(0, 2));
    EXPECT_THAT(read.prepared.cuda, IsEmpty());
    EXPECT_THAT(sample(R"({"input_ids": [5, 6, 7], "labels": [-100, 6, 7]})").prepared.rows,
                IsEmpty());
    EXPECT_THAT(reason(R"({"input_ids": [5, 6], "labels": [-100, -100]})"),
                HasSubstr("every label is -100"));
    EXPECT_THAT(reason(R"({"input_ids": [5, 6], "labels": [5, 6]})"), HasSubstr("no prompt"));
    EXPECT_THAT(reason(R"({"input_ids": [5, 6, 7], "labels": [-100, 7, -100]})"),
                HasSubstr("must not be shifted"));
    EXPECT_THAT(reason(R"({"input_ids": [5, 6], "labels": [-100]})"), HasSubstr("same length"));
    EXPECT_THAT(reason(R"({"input_ids": [5, 6], "labels": [-100, 6], "attention_mask": [1]})"),
                HasSubstr("attention_mask"));
}

TEST(Segments, AreRenderedPromptAndResponse) {
    const Sample read = sample(R"({"segments": [{"label": false, "text": "<s>[INST] add [/INST] "},
        {"label": true, "text": "code"}, {"label": true, "text": "</s>"}]})");
    EXPECT_TRUE(read.rendered);
    EXPECT_EQ(read.prompt, "<s>[INST] add [/INST] ");
    EXPECT_EQ(read.response, "code</s>");
    EXPECT_THAT(reason(R"({"segments": [{"label": false, "text": "a"}]})"),
                HasSubstr("no segment is learnt"));
    EXPECT_THAT(
        reason(R"({"segments": [{"label": true, "text": "a"}, {"label": false, "text": "b"}]})"),
        HasSubstr("comes after one that is"));
    EXPECT_THAT(reason(R"({"segments": [{"text": "a"}]})"), HasSubstr("list of {label, text}"));
}

TEST(TrainFlags, ChooseTheTurnThatIsLearnt) {
    const Sample read = sample(R"({"messages": [{"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"},
        {"role": "assistant", "content": "d", "train": false}]})");
    EXPECT_EQ(read.prompt, "a");
    EXPECT_EQ(read.response, "b");
    for (const char* flag :
         {R"("train": false)", R"("loss": false)", R"("weight": 0)", R"("trainable": false)"})
        EXPECT_THAT(reason(std::string(R"({"messages": [{"role": "user", "content": "a"},
            {"role": "assistant", "content": "d", )")
                           + flag + "}]}"),
                    HasSubstr("marked as not to be trained"))
            << flag;
    EXPECT_EQ(sample(R"({"messages": [{"role": "user", "content": "a"},
        {"role": "assistant", "content": "d", "weight": 1}]})")
                  .response,
              "d");
}

} // namespace
} // namespace cuset
