// Which response tokens are scored: the whole response, or only the code in it.
#include <algorithm>
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/inference_session.h"
#include "core/model/model_view.h"
#include "core/model/response_tokens.h"
#include "tests/core/model/fixture.h"

namespace cuset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* one_block =
    "First we think.\n```cuda\n__global__ void k(float* x) { x[0] = 1; }\n```\nThat is all.";
constexpr const char* two_blocks = "A:\n```cuda\n__global__ void a() {}\n```\nthen B:\n"
                                   "```cpp\nint main() { a<<<1, 1>>>(); }\n```\nDone.";

Sample sample(const char* response) {
    Sample s;
    s.id = "s";
    s.prompt = "Write a kernel.";
    s.response = response;
    return s;
}

class ResponseTokens : public ::testing::Test {
protected:
    PromptOptions options(ResponseChoice choice) const {
        PromptOptions o;
        o.response = choice;
        return o;
    }
    RunControl control;
    static SessionOptions float32() {
        SessionOptions options;
        options.dtype = "float32";
        return options;
    }
    InferenceSession session{test::model_path("qwen2").string(), float32(), control};
};

// The text of the scored tokens.
std::string scored_text(const Sample& s, const Encoding& encoding) {
    std::string text;
    for (const ByteSpan span : encoding.spans)
        text += s.response.substr(static_cast<std::size_t>(span.begin),
                                  static_cast<std::size_t>(span.end - span.begin));
    return text;
}

TEST_F(ResponseTokens, CodeIsAStretchOfTheWholeResponse) {
    const Sample s = sample(one_block);
    const Encoding whole = session.encode(s, options(ResponseChoice::whole));
    const Encoding code = session.encode(s, options(ResponseChoice::code));
    EXPECT_THAT(code.rows, IsEmpty());
    EXPECT_GT(code.response_begin, whole.response_begin);
    EXPECT_LT(code.ids.size(), whole.ids.size()); // what comes after cannot matter
    EXPECT_TRUE(std::equal(code.ids.begin(), code.ids.end(), whole.ids.begin()));
    EXPECT_THAT(scored_text(s, code), HasSubstr("__global__ void k(float* x) { x[0] = 1; }"));
    EXPECT_THAT(scored_text(s, code), ::testing::Not(HasSubstr("That")));
    EXPECT_THAT(scored_text(s, code), ::testing::Not(HasSubstr("think")));
}

TEST_F(ResponseTokens, ScoresAreThoseOfTheWholeResponse) {
    for (const char* response : {one_block, two_blocks}) {
        const Sample s = sample(response);
        ScoreOptions scoring;
        const ScoredSample whole = session.score(s, scoring, control);
        scoring.prompt.response = ResponseChoice::code;
        const ScoredSample code = session.score(s, scoring, control);
        ASSERT_EQ(code.scores.log_prob.size(), code.encoding.spans.size());
        ASSERT_EQ(code.labels.size(), code.encoding.spans.size());
        std::size_t w = 0;
        for (std::size_t t = 0; t < code.encoding.spans.size(); ++t) {
            while (w < whole.encoding.spans.size()
                   && whole.encoding.spans[w].begin != code.encoding.spans[t].begin)
                ++w;
            ASSERT_LT(w, whole.encoding.spans.size());
            EXPECT_EQ(code.encoding.target(t), whole.encoding.target(w));
            // Other shapes of the same products: float32 rounding apart.
            EXPECT_NEAR(code.scores.log_prob[t], whole.scores.log_prob[w], 1e-4);
            EXPECT_NEAR(code.scores.entropy[t], whole.scores.entropy[w], 1e-4);
            EXPECT_EQ(code.scores.rank[t], whole.scores.rank[w]);
            EXPECT_EQ(code.labels[t], whole.labels[w]);
        }
    }
}

TEST_F(ResponseTokens, SeveralBlocksLeaveWhatIsBetweenAsContext) {
    const Sample s = sample(two_blocks);
    const Encoding code = session.encode(s, options(ResponseChoice::code));
    ASSERT_EQ(code.rows.size(), code.spans.size());
    EXPECT_EQ(code.rows.front(), 0);
    EXPECT_TRUE(std::is_sorted(code.rows.begin(), code.rows.end()));
    EXPECT_THAT(scored_text(s, code), HasSubstr("__global__ void a() {}"));
    EXPECT_THAT(scored_text(s, code), HasSubstr("int main() { a<<<1, 1>>>(); }"));
    EXPECT_THAT(scored_text(s, code), ::testing::Not(HasSubstr("then")));
    EXPECT_EQ(static_cast<std::size_t>(code.response_begin + code.rows.back()) + 1,
              code.ids.size());
}

TEST_F(ResponseTokens, BareCodeIsScoredWhole) {
    const Sample s = sample("__global__ void k() {}");
    const Encoding whole = session.encode(s, options(ResponseChoice::whole));
    const Encoding code = session.encode(s, options(ResponseChoice::code));
    EXPECT_EQ(code.ids, whole.ids);
    EXPECT_EQ(code.spans.size(), whole.spans.size()); // an end token would be kept
}

TEST_F(ResponseTokens, NoCodeIsSaid) {
    try {
        session.encode(sample("I cannot write kernels, sorry."), options(ResponseChoice::code));
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_value);
        EXPECT_THAT(error.what(), HasSubstr("holds no CUDA, C or C++ code"));
    }
}

// PC5: the ranges of the case are those of the answers; an open <think> runs to the end.
TEST_F(ResponseTokens, TheAnswerIsWhatIsNotReasoning) {
    Sample thought = sample("<think>\nmaybe k<<<1, 1>>>\n</think>\nSo:\n__global__ void k() {}\n");
    const Encoding whole = session.encode(thought, options(ResponseChoice::whole));
    const Encoding answer = session.encode(thought, options(ResponseChoice::answer));
    EXPECT_THAT(scored_text(thought, answer), HasSubstr("So:\n__global__ void k() {}\n"));
    EXPECT_EQ(scored_text(thought, answer).find("maybe"), std::string::npos);
    EXPECT_EQ(answer.ids, whole.ids); // the reasoning stays as context
    EXPECT_EQ(count_reasoning(thought, whole), whole.response_tokens() - answer.response_tokens());
    EXPECT_EQ(count_reasoning(thought, answer), 0);
    thought.response = "<think>\nmaybe k<<<1, 1>>>";
    try {
        session.encode(thought, options(ResponseChoice::answer));
        ADD_FAILURE() << "was encoded";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("reasoning to its end"));
    }
    const Sample plain = sample("int x;");
    EXPECT_EQ(session.encode(plain, options(ResponseChoice::answer)).ids,
              session.encode(plain, options(ResponseChoice::whole)).ids);
}

TEST_F(ResponseTokens, TheCutCountsScoredTokens) {
    Encoding encoding;
    encoding.ids = {9, 9, 1, 2, 3, 4, 5};
    encoding.response_begin = 2;
    encoding.rows = {0, 2, 4};
    encoding.spans = {{0, 1}, {2, 3}, {4, 5}};
    Encoding cut = encoding;
    cut_encoding(6, cut);
    EXPECT_EQ(cut.cut_tokens, 1);
    EXPECT_THAT(cut.rows, ElementsAre(0, 2));
    EXPECT_THAT(cut.ids, ElementsAre(9, 9, 1, 2, 3)); // up to the last scored token
    cut = encoding;
    cut_encoding(7, cut);
    EXPECT_EQ(cut.cut_tokens, 0);
    EXPECT_EQ(cut.ids.size(), 7u);
    cut = encoding;
    cut_encoding(2, cut);
    EXPECT_EQ(cut.cut_tokens, 3);
    EXPECT_THAT(cut.spans, IsEmpty());
}

TEST_F(ResponseTokens, AViewSeesWhatTheSessionEncodes) {
    const ModelView view(test::model_path("qwen2").string());
    const Sample s = sample(two_blocks);
    const Encoding encoding = session.encode(s, options(ResponseChoice::code));
    const SeenSequence seen = view.see(s, options(ResponseChoice::code));
    ASSERT_EQ(seen.tokens.size(), encoding.ids.size());
    std::int32_t scored = 0;
    for (std::size_t i = 0; i < seen.tokens.size(); ++i) {
        EXPECT_EQ(seen.tokens[i].id, encoding.ids[i]);
        scored += seen.tokens[i].response;
    }
    EXPECT_EQ(scored, encoding.response_tokens());
    PromptOptions narrow = options(ResponseChoice::whole);
    narrow.max_length =
        static_cast<std::int32_t>(session.encode(s, options(ResponseChoice::whole)).ids.size() - 3);
    const char* prose = "I cannot write kernels, sorry.";
    const DataCheck check = view.check({s, sample(prose)}, narrow, control);
    EXPECT_EQ(check.samples, 2);
    EXPECT_EQ(check.cut_tokens, 3);
    EXPECT_EQ(check.cut_samples, 1);
    narrow.response = ResponseChoice::code;
    narrow.max_length = 4096;
    const DataCheck code = view.check({s, sample(prose)}, narrow, control);
    EXPECT_EQ(code.samples, 1);
    EXPECT_EQ(code.response_tokens, encoding.response_tokens());
    ASSERT_EQ(code.skipped.size(), 1u);
    EXPECT_THAT(code.skipped[0].reason, HasSubstr("no CUDA"));
}

TEST_F(ResponseTokens, ADoubledBeginTokenIsCountedWhereTheSequenceStarts) {
    const ModelView view(test::model_path("llama").string());
    PromptOptions none;
    none.chat_template = "none";
    Sample s = sample("int x;");
    s.prompt = "<|im_start|><|im_start|>a<|im_start|>";
    const SeenSequence twice = view.see(s, none);
    EXPECT_EQ(twice.begin_tokens, 2);
    EXPECT_EQ(view.check({s}, none, control).doubled_begin, 1);
    s.prompt = "<|im_start|>a<|im_start|>";
    EXPECT_EQ(view.see(s, none).begin_tokens, 1);
    EXPECT_EQ(view.check({s}, none, control).doubled_begin, 0);
}

} // namespace
} // namespace cuset
