// Tokenizer against what transformers gave for the fixture models.
#include "text_test_support.h"

namespace cuset::test {
namespace {

class Fixture : public testing::TestWithParam<const char*> { };

TEST_P(Fixture, IdsAndSpansEqualTransformers) {
    const std::string name = std::string("tokenizers/") + GetParam();
    const Tokenizer tokenizer = load_tokenizer(name + ".json");
    for (const auto& golden : read_json(name + ".golden.json")) {
        const auto ids = golden["ids"].get<std::vector<std::int32_t>>();
        const auto prompt_tokens = golden["prompt_tokens"].get<std::size_t>();
        const std::string prompt = golden["prompt"];
        const std::string response = golden["response"];
        const TokenizedText p = tokenizer.encode(prompt);
        const TokenizedText r = tokenizer.encode(response);
        EXPECT_EQ(p.ids, std::vector(ids.begin(), ids.begin() + prompt_tokens));
        EXPECT_EQ(r.ids, std::vector(ids.begin() + prompt_tokens, ids.end()));
        EXPECT_EQ(code_point_offsets(response, r.spans),
                  golden["offsets"].get<std::vector<std::vector<int>>>());
        expect_cover(response, r);
        EXPECT_EQ(tokenizer.decode(r.ids), response);
        std::string joined;
        for (const std::int32_t id : r.ids)
            joined += tokenizer.token_bytes(id);
        EXPECT_EQ(joined, response);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Fixture, testing::Values("llama", "llama3-rope", "qwen2"));

} // namespace
} // namespace cuset::test
