// From a sample to ids: a template file, an empty prompt, the maximum length (PC3), reasoning
// before the answer (PC5), and the type that auto stands for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/device_info.h"
#include "core/model/generate_answer.h"
#include "core/model/inference_session.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The prompt as it stands; with a template an end token follows the response.
constexpr const char* plain_template = "{% for m in messages %}{{ m.content }}{% endfor %}";

InferenceSession open(const std::filesystem::path& path) {
    SessionOptions options;
    options.device = "cpu";
    options.dtype = "float32";
    options.threads = 1;
    RunControl control;
    return InferenceSession(path.string(), options, control);
}

std::filesystem::path case_file(const char* folder, const char* file) {
    return test::data_folder() / "cases" / folder / file;
}

std::vector<json> json_lines(const std::filesystem::path& path) {
    std::vector<json> records;
    std::istringstream text(test::read_text(path));
    for (std::string line; std::getline(text, line);)
        records.push_back(json::parse(line));
    return records;
}

Sample sample_of(const json& record) {
    Sample sample;
    sample.id = "s";
    sample.prompt = record.value("prompt", "");
    sample.response = record["response"];
    return sample;
}

// A copy of the fixture with the case's tokenizer and template.
void make_control_text_model(const test::ModelCopy& copy) {
    copy.write("tokenizer.json",
               test::read_text(case_file("PA1-control-text-in-code", "tokenizer-qwen.json")));
    copy.write("tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
    copy.write("chat_template.jinja",
               test::read_text(case_file("PA1-control-text-in-code", "chat_template.jinja")));
}

TEST(PA1, ControlTokensComeFromTheTemplateOnly) {
    const test::ModelCopy copy("qwen2");
    make_control_text_model(copy);
    const InferenceSession session = open(copy.path());
    const json expected = test::read_json(case_file("PA1-control-text-in-code", "expected.json"));
    const json& parts = expected["template_ids"];
    const json record = json_lines(case_file("PA1-control-text-in-code", "sample.jsonl")).front();
    const Encoding encoding = session.encode(sample_of(record), {});
    std::vector<std::int32_t> ids = parts["prompt_part"];
    EXPECT_EQ(encoding.response_begin, static_cast<std::int32_t>(ids.size()));
    const auto response = parts["response_part"].get<std::vector<std::int32_t>>();
    ids.insert(ids.end(), response.begin(), response.end());
    ids.resize(encoding.ids.size()); // what the template puts behind the end token is not scored
    EXPECT_EQ(encoding.ids, ids);
    EXPECT_EQ(encoding.plain_controls, 4); // one in the prompt, three in the response
    PromptOptions none;
    none.chat_template = "none"; // the prompt as it stands: its control tokens are meant
    const Encoding plain = session.encode(sample_of(record), none);
    EXPECT_EQ(std::ranges::count(plain.ids, *session.tokenizer().find_token("<|endoftext|>")), 1);
    EXPECT_EQ(plain.plain_controls, 3);
}

// What is generated after a prompt with such words is what is scored after it.
TEST(PA1, GeneratingReadsThePromptAsScoringDoes) {
    const test::ModelCopy copy("qwen2");
    make_control_text_model(copy);
    InferenceSession session = open(copy.path());
    const json record = json_lines(case_file("PA1-control-text-in-code", "sample.jsonl")).front();
    Sample sample = sample_of(record);
    GenerateOptions generate;
    generate.max_tokens = 1;
    RunControl control;
    const GeneratedAnswer answer = generate_answer(session, sample, {}, generate, {}, control);
    ASSERT_EQ(answer.tokens.size(), 1u);
    sample.response = session.tokenizer().token_bytes(answer.tokens[0].id);
    const Encoding encoding = session.encode(sample, {});
    if (encoding.target(0) != answer.tokens[0].id)
        GTEST_SKIP() << "the first token is part of a character";
    const ScoredSample scored = session.score(sample, {}, control);
    EXPECT_NEAR(scored.scores.log_prob[0], answer.tokens[0].log_prob, 1e-4);
}

TEST(PA1, WordsInToolsAreTextToo) {
    const test::ModelCopy copy("qwen2");
    make_control_text_model(copy);
    copy.write("tools.jinja",
               "{% for t in tools %}{{ t.description }}{% endfor %}"
               "{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}");
    const InferenceSession session = open(copy.path());
    PromptOptions options;
    options.chat_template = (copy.path() / "tools.jinja").string();
    Sample sample = sample_of({{"prompt", "a"}, {"response", "int y;"}});
    sample.tools = R"([{"name": "f", "description": "b<|im_end|>c"}])";
    const Encoding encoding = session.encode(sample, options);
    EXPECT_EQ(encoding.plain_controls, 1);
    const auto end = *session.tokenizer().find_token("<|im_end|>");
    EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.begin() + encoding.response_begin, end),
              0);
}

// Stand-ins are invisible to a template; where it looks at the words itself its text is taken.
TEST(PA1, ATemplateMayReadTheWords) {
    const test::ModelCopy copy("qwen2");
    make_control_text_model(copy);
    copy.write("reads.jinja",
               "{% for m in messages %}{{ m.content.split('<|im_end|>')[-1] }}{% endfor %}");
    copy.write("trims.jinja", "{% for m in messages %}[{{ m.content | trim }}]{% endfor %}");
    const InferenceSession session = open(copy.path());
    PromptOptions options;
    options.chat_template = (copy.path() / "reads.jinja").string();
    const Sample sample =
        sample_of({{"prompt", " <|im_end|>\xef\xb7\x90 x"}, {"response", "int y;"}});
    EXPECT_EQ(session.render_prompt(sample, options), "\xef\xb7\x90 x");
    const Sample turns = sample_of({{"prompt", "a<|im_end|>b"}, {"response", "int y;"}});
    EXPECT_EQ(session.encode(turns, options).plain_controls, 0);
    options.chat_template = (copy.path() / "trims.jinja").string();
    const Encoding encoding = session.encode(turns, options);
    EXPECT_EQ(encoding.plain_controls, 1);
    const auto end = *session.tokenizer().find_token("<|im_end|>");
    EXPECT_EQ(std::count(encoding.ids.begin(), encoding.ids.begin() + encoding.response_begin, end),
              0);
}

TEST(PC3, OverLongSamplesAreCutOrLeftOutAndNeverGetAnEndToken) {
    const test::ModelCopy copy("llama");
    copy.write("tokenizer.json",
               test::read_text(case_file("PC3-over-long-samples", "tokenizer.json")));
    copy.write("tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
    copy.write("plain.jinja", plain_template);
    InferenceSession session = open(copy.path());
    const std::int32_t end = *session.tokenizer().find_token("<|im_end|>");
    const json expected = test::read_json(case_file("PC3-over-long-samples", "expected.json"));
    const auto records = json_lines(case_file("PC3-over-long-samples", "long.jsonl"));
    ScoreOptions options;
    options.prompt.chat_template = (copy.path() / "plain.jinja").string();
    options.prompt.max_length = expected["max_length"];
    ASSERT_EQ(records.size(), expected["samples"].size());
    std::vector<Sample> samples;
    std::size_t kept = 0, cut = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        samples.push_back(sample_of(records[i]));
        const json& e = expected["samples"][i];
        SCOPED_TRACE("line " + std::to_string(i + 1));
        if (e["kept"] == 0) {
            EXPECT_THROW(session.encode(samples[i], options.prompt), Error);
            continue;
        }
        const Encoding encoding = session.encode(samples[i], options.prompt);
        EXPECT_EQ(encoding.response_begin, e["prompt_tokens"].get<int>());
        const bool ends = encoding.ids.back() == end;
        EXPECT_EQ(ends, e["eos"].get<bool>());
        EXPECT_EQ(encoding.response_tokens() - ends, e["kept"].get<int>());
        // Of 34 tokens and an end the end alone is cut: the text is whole.
        EXPECT_EQ(encoding.cut_tokens > 0, !e["eos"].get<bool>());
        EXPECT_EQ(encoding.spans.back().end, e["kept"].get<int>());
        ++kept;
        cut += encoding.cut_tokens > 0;
    }
    RunControl control;
    const ScoreRun run = score_samples(session, samples, options, {}, control);
    EXPECT_EQ(run.scores->sample_count(), static_cast<std::int64_t>(kept));
    EXPECT_EQ(run.skipped.size(), samples.size() - kept);
    EXPECT_EQ(run.cut_samples, static_cast<std::int64_t>(cut));
    for (const SkippedSample& skipped : run.skipped)
        EXPECT_THAT(skipped.reason, HasSubstr("no response token is left"));
}

TEST(PC5, ReasoningIsScoredAsItStands) {
    InferenceSession session = open(test::model_path("qwen2"));
    RunControl control;
    for (const json& record :
         json_lines(test::data_folder() / "cases" / "C" / "PC5-reasoning-first" / "think.jsonl")) {
        const Sample sample = sample_of(record);
        const ScoredSample scored = session.score(sample, {}, control);
        std::string text;
        for (std::size_t t = 0; t < scored.encoding.spans.size(); ++t)
            text += session.tokenizer().token_bytes(
                scored.encoding.ids[static_cast<std::size_t>(scored.encoding.response_begin) + t]);
        EXPECT_EQ(text.substr(0, sample.response.size()), sample.response) << record["prompt"];
        EXPECT_EQ(scored.scores.log_prob.size(), scored.encoding.spans.size());
        EXPECT_EQ(scored.labels.size(), scored.encoding.spans.size());
        // Tokens of the reasoning carry no label, although kernels are drafted in it.
        const std::size_t begin = sample.response.find("maybe");
        const std::size_t think_end = sample.response.find("</think>");
        for (std::size_t t = 0; t < scored.labels.size(); ++t) {
            const auto at = static_cast<std::size_t>(scored.encoding.spans[t].begin);
            const bool thought = begin != std::string::npos && at >= begin && at < think_end;
            EXPECT_TRUE(!thought || scored.labels[t] == 0) << record["prompt"] << " token " << t;
        }
    }
}

TEST(Template, AFileTakesThePlaceOfTheModels) {
    const test::ModelCopy copy("qwen2");
    copy.write("own.jinja",
               "{% for m in messages %}<|im_start|>{{ m.role|upper }}:{{ m.content }}<|im_end|>{% "
               "endfor %}"
               "{% if add_generation_prompt %}A:{% endif %}");
    const InferenceSession session = open(copy.path());
    PromptOptions options;
    options.chat_template = (copy.path() / "own.jinja").string();
    const Sample sample = sample_of({{"prompt", "Hi"}, {"response", "x"}});
    EXPECT_EQ(session.render_prompt(sample, options), "<|im_start|>USER:Hi<|im_end|>A:");
    const Encoding encoding = session.encode(sample, options);
    // The end token is the one that this template puts behind an assistant's turn.
    EXPECT_EQ(encoding.ids.back(), *session.tokenizer().find_token("<|im_end|>"));
    options.chat_template = (copy.path() / "none.jinja").string();
    EXPECT_THROW(session.encode(sample, options), Error);
    copy.write("broken.jinja", "{% for m in messages %}");
    options.chat_template = (copy.path() / "broken.jinja").string();
    EXPECT_THROW(session.encode(sample, options), Error);
}

TEST(Template, ProvenanceHoldsTheTextOfAFile) {
    const test::ModelCopy copy("llama");
    copy.write("plain.jinja", plain_template);
    const InferenceSession session = open(copy.path());
    ScoreOptions options;
    EXPECT_EQ(session.provenance(options).chat_template, "auto");
    options.prompt.chat_template = (copy.path() / "plain.jinja").string();
    EXPECT_EQ(session.provenance(options).chat_template, plain_template);
}

TEST(Prompt, AnEmptyOneStillHasATokenBeforeTheResponse) {
    InferenceSession session = open(test::model_path("llama"));
    const Sample sample = sample_of({{"prompt", ""}, {"response", "int x;"}});
    ScoreOptions options;
    options.prompt.chat_template = "none";
    RunControl control;
    const ScoredSample scored = session.score(sample, options, control);
    EXPECT_EQ(scored.encoding.response_begin, 1);
    EXPECT_TRUE(session.tokenizer().is_special(scored.encoding.ids.front()));
    EXPECT_EQ(scored.encoding.spans.front().begin, 0);
    EXPECT_EQ(scored.encoding.spans.back().end, 6);
    for (float log_prob : scored.scores.log_prob)
        EXPECT_LE(log_prob, 0.f);
}

TEST(Dtype, AutoIsWhatTheProcessorHas) {
    DeviceInfo device;
    device.name = "cpu";
    EXPECT_EQ(choose_dtype("auto", device), "float32");
    device.bfloat16 = true;
    EXPECT_EQ(choose_dtype("auto", device), "bfloat16");
    EXPECT_EQ(choose_dtype("float32", device), "float32");
    device.name = "cuda:0";
    EXPECT_EQ(choose_dtype("auto", device), "bfloat16");
    device.bfloat16 = false;
    EXPECT_EQ(choose_dtype("auto", device), "float16");
    RunControl control;
    SessionOptions options;
    options.device = "cpu";
    const InferenceSession session(test::model_path("llama").string(), options, control);
    EXPECT_EQ(session.info().dtype, cpu_has_bfloat16() ? "bfloat16" : "float32");
}

} // namespace
} // namespace cuset
