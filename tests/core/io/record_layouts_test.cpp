// The layouts of records that data sets use.
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

using ::testing::HasSubstr;

Sample sample(std::string_view record, const ReadOptions& options = {}) {
    return sample_from_record(nlohmann::json::parse(record), options);
}

std::string reason(std::string_view record, const ReadOptions& options = {}) {
    try {
        sample(record, options);
    } catch (const Error& error) {
        return error.message();
    }
    return "nothing was thrown";
}

// "role:content|role:content", to compare turns at a glance.
std::string turns(const Sample& sample) {
    std::string text;
    for (const ChatMessage& message : sample.messages)
        text += (text.empty() ? "" : "|") + message.role + ":" + message.content;
    return text;
}

TEST(RecordLayouts, PairsOfFields) {
    const char* records[] = {
        R"({"prompt": "p", "response": "r"})",
        R"({"prompt": "p", "completion": "r"})",
        R"({"prompt": "p", "answer": "r", "data_source": "x"})",
        R"({"instruction": "p", "output": "r"})",
        R"({"instruction": "p", "input": "", "output": "r", "history": [], "system": null})",
        R"({"problem statement": "p", "solution": "r", "language": "CUDA"})",
        R"({"PyTorch_Code_Module": "p", "CUDA_Code": "r", "Correct": true})",
        R"({"ref_code": "p", "custom_code": "r"})",
        R"({"question": "p", "answer": "r"})",
        R"({"messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": "r"}]})",
        R"({"conversations": [{"from": "human", "value": "p"}, {"from": "gpt", "value": "r"}], "system": ""})",
        R"({"prompt": [{"role": "user", "content": "p"}], "completion": [{"role": "assistant", "content": "r"}]})",
        R"({"prompt": ["p"], "response": [{"type": "text", "text": "r"}]})",
    };
    for (const char* record : records) {
        const Sample read = sample(record);
        EXPECT_EQ(read.prompt, "p") << record;
        EXPECT_EQ(read.response, "r") << record;
        EXPECT_TRUE(read.messages.empty()) << record;
    }
}

TEST(RecordLayouts, AlpacaWithInputSystemAndHistory) {
    const Sample read = sample(R"({"instruction": "i", "input": "n", "output": "o", "system": "s",
                                   "history": [["u1", "a1"], ["u2", "a2"]]})");
    EXPECT_EQ(turns(read), "system:s|user:u1|assistant:a1|user:u2|assistant:a2|user:i\nn");
    EXPECT_EQ(read.response, "o");
    EXPECT_THAT(read.prompt, HasSubstr("user: i\nn"));
    EXPECT_THAT(reason(R"({"instruction": "i", "output": "o", "history": [["u"]]})"),
                HasSubstr("history"));
}

TEST(RecordLayouts, TheLastAssistantTurnIsTheResponse) {
    const Sample read = sample(R"({"messages": [{"role": "user", "content": "u1"},
        {"role": "assistant", "content": "a1"}, {"role": "user", "content": "u2"},
        {"role": "assistant", "content": "a2"}, {"role": "user", "content": "thanks"}]})");
    EXPECT_EQ(turns(read), "user:u1|assistant:a1|user:u2");
    EXPECT_EQ(read.response, "a2");
}

TEST(RecordLayouts, ShareGptRolesToolsAndSystem) {
    const Sample read =
        sample(R"({"system": "s", "tools": "[{\"name\": \"nvcc\"}]", "conversations": [
        {"from": "human", "value": "h"}, {"from": "function_call", "value": "{}"},
        {"from": "observation", "value": "ok"}, {"from": "gpt", "value": "g"}]})");
    EXPECT_EQ(turns(read), "system:s|user:h|assistant:{}|tool:ok");
    EXPECT_EQ(read.response, "g");
    EXPECT_EQ(read.tools, R"([{"name": "nvcc"}])");
    EXPECT_THAT(read.messages[2].extra, HasSubstr("function_call"));
}

TEST(RecordLayouts, OtherFieldsOfATurnAreKept) {
    const Sample read = sample(R"({"messages": [{"role": "user", "content": "u", "weight": 0},
        {"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "t", "tool_call_id": "1"}, {"role": "assistant", "content": "a"}]})");
    ASSERT_EQ(read.messages.size(), 3u);
    EXPECT_EQ(read.messages[1].extra, R"({"tool_calls":[{"id":"1"}]})");
    EXPECT_EQ(read.messages[1].content, "");
}

TEST(RecordLayouts, ResponseOnly) {
    for (const char* record :
         {R"({"text": "r"})", R"({"cuda_source": "r", "serial_no": 1})", R"({"CUDA_Code": "r"})"}) {
        EXPECT_EQ(sample(record).response, "r");
        EXPECT_EQ(sample(record).prompt, "");
    }
}

TEST(RecordLayouts, NamedFieldsWithDotsSpacesAndPaths) {
    ReadOptions options;
    options.prompt_field = "level 2.prompt";
    options.response_field = "bench.cu";
    EXPECT_EQ(
        sample(R"({"level 2.prompt": "p", "bench.cu": "r", "prompt": "no", "response": "no"})",
               options)
            .prompt,
        "p");
    options.prompt_field = "extra_info.question";
    options.response_field = "extra_info.answer";
    const Sample nested =
        sample(R"({"extra_info": {"question": "p", "answer": "r"}, "prompt": "no"})", options);
    EXPECT_EQ(nested.prompt, "p");
    EXPECT_EQ(nested.response, "r");
    EXPECT_THAT(reason(R"({"extra_info": 1, "prompt": "x"})", options),
                HasSubstr("has extra_info, prompt"));

    ReadOptions response_only;
    response_only.response_field = "kernel";
    EXPECT_EQ(sample(R"({"prompt": "p", "kernel": "r"})", response_only).prompt, "p");
    EXPECT_EQ(sample(R"({"kernel": "r"})", response_only).prompt, "");
    ReadOptions prompt_only;
    prompt_only.prompt_field = "task";
    EXPECT_EQ(sample(R"({"task": "p", "response": "r"})", prompt_only).response, "r");
    EXPECT_THAT(reason(R"({"task": "p"})", prompt_only), HasSubstr("--response-field"));
}

TEST(RecordLayouts, PreparedIds) {
    const Sample read =
        sample(R"({"ids": [5, 6, 7], "prompt_tokens": 1, "cuda": [0, 1], "id": 12})");
    EXPECT_THAT(read.prepared.ids, ::testing::ElementsAre(5, 6, 7));
    EXPECT_EQ(read.prepared.prompt_tokens, 1);
    EXPECT_THAT(read.prepared.cuda, ::testing::ElementsAre(0, 1));
    EXPECT_EQ(read.id, "12");
    EXPECT_THAT(reason(R"({"ids": [1], "prompt_tokens": 1, "cuda": []})"),
                HasSubstr("no response"));
    EXPECT_THAT(reason(R"({"ids": [1, 2], "prompt_tokens": 1, "cuda": [1, 1]})"),
                HasSubstr("cuda has 2 flags"));
    EXPECT_THAT(reason(R"({"ids": [1, 2], "prompt_tokens": 1, "cuda": [2]})"), HasSubstr("0 or 1"));
    for (const char* id : {"-1", "1.5", "2147483648", "\"1\"", "18446744073709551615"})
        EXPECT_THAT(
            reason(R"({"ids": [1, )" + std::string(id) + R"(], "prompt_tokens": 1, "cuda": [1]})"),
            HasSubstr("ids must hold integers"));
    EXPECT_THAT(reason(R"({"ids": [1, 2], "prompt_tokens": -1, "cuda": [1]})"),
                HasSubstr("prompt_tokens"));
}

TEST(RecordLayouts, ReasonsNameWhatWasFound) {
    EXPECT_THAT(reason(R"({"a": 1, "b": 2})"), HasSubstr("has a, b"));
    EXPECT_THAT(reason(R"({"prompt": "p"})"), HasSubstr("no response"));
    EXPECT_THAT(reason(R"({"prompt": "p", "response": null})"), HasSubstr("response is null"));
    EXPECT_THAT(reason(R"({"prompt": 7, "response": "r"})"), HasSubstr("prompt is number"));
    EXPECT_THAT(reason(R"({"messages": [{"role": "user", "content": "u"}]})"),
                HasSubstr("no assistant turn"));
    EXPECT_THAT(reason(R"({"messages": [{"content": "u"}]})"),
                HasSubstr("messages[0] has no role"));
    EXPECT_THAT(reason(R"({"messages": [{"role": "user"}]})"),
                HasSubstr("messages[0] has no content"));
    EXPECT_THAT(reason(R"({"messages": [5]})"), HasSubstr("messages[0] is number"));
    EXPECT_THAT(reason(R"({"messages": "x"})"), HasSubstr("not JSON"));
    EXPECT_THAT(reason(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"),
                HasSubstr("not text"));
    EXPECT_THAT(reason(R"([])"), HasSubstr("needs an object"));
    EXPECT_THAT(reason(R"({"\u001b[31m": 1})"), ::testing::Not(HasSubstr("\x1b")));
}

class CaseFiles : public ::testing::Test {
protected:
    Dataset read(const std::string& name) {
        return read_samples({std::filesystem::path(CUSET_TEST_DATA) / "samples" / name}, {},
                            control_);
    }
    RunControl control_;
};

// Expected bytes by hand from the escapes in the file.
TEST_F(CaseFiles, SurrogatesAndNul) {
    const Dataset data = read("escapes.jsonl");
    ASSERT_EQ(data.samples.size(), 4u);
    EXPECT_EQ(data.samples[0].response, "// \xf0\x9f\xa7\xae\nint a;\n");
    EXPECT_EQ(data.samples[1].response, "// \xef\xbf\xbd x\nint b;\n");
    EXPECT_EQ(data.samples[2].response, "// \xef\xbf\xbd m\nint c;\n");
    EXPECT_EQ(data.samples[3].response, std::string("char s[] = \"a\0b\";\nint d;\n", 25));
    const bool flagged[] = {false, true, true, false};
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(data.samples[i].repaired, flagged[i]);
    ASSERT_EQ(data.warnings.size(), 1u);
    EXPECT_THAT(data.warnings[0], HasSubstr("escapes.jsonl:2"));
}

TEST_F(CaseFiles, FourShapesOfOneTalkAreTheSame) {
    const Dataset data = read("multi_turn.jsonl");
    ASSERT_EQ(data.samples.size(), 4u);
    for (const Sample& read : data.samples) {
        EXPECT_EQ(turns(read), turns(data.samples[0]));
        EXPECT_EQ(read.messages.size(), 4u);
        EXPECT_EQ(read.messages[0].role, "system");
        EXPECT_EQ(read.messages[2].role, "assistant");
        EXPECT_EQ(read.response, "scale<<<1, 32>>>(x, 2.f);\n");
    }
}

// PC4's option: both assistant turns of each talk, the later as it is read without it.
TEST_F(CaseFiles, EveryAssistantTurnCanBeASample) {
    ReadOptions options;
    options.every_turn = true;
    const Dataset data =
        read_samples({std::filesystem::path(CUSET_TEST_DATA) / "samples" / "multi_turn.jsonl"},
                     options, control_);
    const Dataset last = read("multi_turn.jsonl");
    ASSERT_EQ(data.samples.size(), 8u);
    for (std::size_t i = 0; i < 4; ++i) {
        const Sample& first = data.samples[2 * i];
        EXPECT_EQ(first.response,
                  "__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }\n");
        EXPECT_EQ(first.messages.size(), 2u);
        EXPECT_EQ(first.prompt, "system: You write CUDA.\n\nuser: Kernel?");
        EXPECT_EQ(turns(data.samples[2 * i + 1]), turns(last.samples[i]));
        EXPECT_EQ(data.samples[2 * i + 1].response, last.samples[i].response);
        const std::string id = last.samples[i].id;
        EXPECT_EQ(first.id, id + ".turn1");
        EXPECT_EQ(data.samples[2 * i + 1].id, id + ".turn2");
    }
}

TEST_F(CaseFiles, ResponsesStayAsTheyStand) {
    const Dataset fences = read("fences.jsonl");
    ASSERT_EQ(fences.samples.size(), 8u);
    EXPECT_TRUE(fences.samples[5].response.starts_with("  ~~~cu\r\n"));
    const Dataset think = read("think.jsonl");
    ASSERT_EQ(think.samples.size(), 5u);
    EXPECT_TRUE(think.samples[0].response.starts_with("<think>\n"));
}

TEST(Benchmarks, TestSetsAreRecognised) {
    TemporaryFolder folder;
    RunControl control;
    const auto file = folder.write(
        "d.jsonl", R"({"id": 1, "task_name": "t", "task_description": "d", "bench.cu": "r",
"gen.py": "g", "compare.py": "c", "level1_prompt": "p"})");
    const Dataset data = read_samples({file}, {}, control);
    EXPECT_TRUE(data.benchmark_test_set);
    EXPECT_EQ(data.samples[0].prompt, "p");
    EXPECT_EQ(data.samples[0].response, "r");
    ASSERT_EQ(data.warnings.size(), 1u);
    EXPECT_THAT(data.warnings[0], HasSubstr("CUDABench"));
    EXPECT_FALSE(
        read_samples({folder.write("e.jsonl", R"({"prompt": "p", "response": "r"})")}, {}, control)
            .benchmark_test_set);
}

} // namespace
} // namespace cuset
