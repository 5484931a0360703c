// Each component of tokenizer.json and its options against the reference library, on the small
// tokenizers of tests/reference/make_component_goldens.py.
#include <algorithm>

#include "text_test_support.h"

namespace cuset::test {
namespace {

using Ids = std::vector<std::int32_t>;
using nlohmann::json;

// The reference's offsets leave out what no token covers, ours cover the text: the places where
// tokens begin are compared, where neither dropped nor removed text moves them.
void expect_begins(const std::string& text, const TokenizedText& out, const json& offsets) {
    const auto ours = code_point_offsets(text, out.spans);
    int covered = 0;
    for (const json& offset : offsets) {
        if (offset[0] != covered && offset[1] != covered)
            return;
        covered = offset[1];
    }
    for (std::size_t k = 0; k < ours.size() && k < offsets.size(); ++k)
        EXPECT_EQ(ours[k][0], offsets[k][0].get<int>()) << k;
}

TEST(Components, EqualTheReference) {
    for (const json& one : read_json("text/tokenizer_components.json")) {
        SCOPED_TRACE(one["name"].get<std::string>());
        const Tokenizer tokenizer = Tokenizer::from_json(one["tokenizer"].dump(), "tokenizer.json");
        for (const json& answer : one["answers"]) {
            const std::string text = answer["text"];
            SCOPED_TRACE(text);
            const TokenizedText plain = tokenizer.encode(text);
            EXPECT_EQ(plain.ids, answer["ids"].get<Ids>());
            EXPECT_EQ(tokenizer.encode(text, {.parse_special = true}).ids,
                      answer["special"].get<Ids>());
            EXPECT_EQ(
                tokenizer.encode(text, {.parse_special = true, .add_special_tokens = true}).ids,
                answer["full"].get<Ids>());
            expect_cover(text, plain);
            if (!answer["offsets"].is_null() && plain.dropped_bytes == 0)
                expect_begins(text, plain, answer["offsets"]);
        }
    }
}

// Bytes without a token are counted, and belong to the token before them.
TEST(Components, DroppedBytesAreCounted) {
    const Tokenizer tokenizer = Tokenizer::from_json(
        R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]}})", "x");
    const TokenizedText out = tokenizer.encode("a\xc3\xa9"
                                               "b~");
    EXPECT_EQ(out.ids, (Ids{2}));
    EXPECT_EQ(out.dropped_bytes, 3);
    EXPECT_EQ(out.spans, (std::vector<ByteSpan>{{0, 5}}));
}

} // namespace
} // namespace cuset::test
