// Tokenizer against what transformers gave for the fixture models.
#include <map>

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

// A fixed sample of tests/reference/tokenizer_differential.py: texts and the reference library's
// ids.
TEST(Differential, SampleEqualsTheReference) {
    std::map<std::string, Tokenizer> loaded;
    for (const auto& one : read_json("tokenizers/differential_sample.json")) {
        const std::string name = one["tokenizer"], hex = one["hex"];
        if (loaded.find(name) == loaded.end())
            loaded.emplace(name, load_tokenizer("tokenizers/" + name + ".json"));
        std::string text;
        for (std::size_t k = 0; k < hex.size(); k += 2)
            text.push_back(static_cast<char>(std::stoi(hex.substr(k, 2), nullptr, 16)));
        const TokenizedText out =
            loaded.at(name).encode(text, {.parse_special = one["special"].get<bool>()});
        EXPECT_EQ(out.ids, one["ids"].get<std::vector<std::int32_t>>()) << name << " " << hex;
        expect_cover(text, out);
    }
}

TEST(Spans, InvalidBytesKeepTheirPlaces) {
    const Tokenizer tokenizer = load_tokenizer("tokenizers/llama.json");
    const std::string text = "a\xff"
                             "b\xe2\x96"
                             "c";
    const TokenizedText out = tokenizer.encode(text);
    EXPECT_EQ(out.ids,
              tokenizer
                  .encode("a\xef\xbf\xbd"
                          "b\xef\xbf\xbd"
                          "c")
                  .ids);
    expect_cover(text, out);
    EXPECT_EQ(out.spans.back(), (ByteSpan{5, 6}));
}

TEST(Spans, EmptyTextHasNoTokens) {
    const Tokenizer tokenizer = load_tokenizer("tokenizers/qwen2.json");
    EXPECT_TRUE(tokenizer.encode("").ids.empty());
}

} // namespace
} // namespace cuset::test
