// The hand-written scanners against the patterns that they stand for, run by PCRE2.
#include "core/text/split_scanner.h"

#include <random>
#include <sstream>

#include "core/base/error.h"
#include "core/text/regex.h"
#include "core/text/unicode.h"
#include "text_test_support.h"

namespace cuset::test {
namespace {

using text::KnownPattern;
using text::Piece;

std::string random_text(std::mt19937& rng) {
    static const std::vector<std::string> parts = {
        " ",     "  ", "\t",     "\n",  "\r\n", "\r", "\xc2\xa0", "\xe1\xa0\x8e",
        "'",     "s",  "'ll",    "'RE", "'S",   "a",  "Z",        "foo",
        "0",     "12", "1234",   "_",   "(",    ";",  "=",        "//",
        "é",     "世", "\u0301", "½",   "٣",    "ſ",  "😀",        "\U00010d40",
        "\ua7cb"};
    std::string out;
    for (std::size_t k = 1 + rng() % 12; k > 0; --k) {
        if (rng() % 8 == 0) {
            auto code = static_cast<char32_t>(rng() % (rng() % 2 == 0 ? 0x3000U : 0x32000U));
            if (code >= 0xd800 && code < 0xe000)
                code = 0xfffd;
            unicode::append_utf8(out, code);
        } else {
            out += parts[rng() % parts.size()];
        }
    }
    return out;
}

TEST(SplitScanner, EqualsItsPattern) {
    for (const KnownPattern known :
         {KnownPattern::gpt2, KnownPattern::llama3, KnownPattern::qwen2}) {
        const text::Regex regex(std::string(text::pattern_text(known)), "pattern", "test");
        std::mt19937 rng(1);
        for (int k = 0; k < 5000; ++k) {
            const std::string text = random_text(rng);
            std::vector<Piece> pieces;
            text::scan(known, text, {0, static_cast<std::uint32_t>(text.size())}, pieces);
            std::size_t at = 0;
            regex.find_all(text, [&](std::size_t begin, std::size_t end) {
                ASSERT_LT(at, pieces.size()) << text;
                EXPECT_EQ(pieces[at].begin, begin) << text;
                EXPECT_EQ(pieces[at].end, end) << text;
                ++at;
            });
            EXPECT_EQ(at, pieces.size()) << text;
        }
    }
}

// Every name that the message lists builds: its patterns compile.
TEST(GgufNames, AllBuild) {
    GgufVocabulary vocabulary;
    vocabulary.model = "gpt2";
    vocabulary.tokens = {"a", "b", "ab"};
    vocabulary.merges = {"a b"};
    vocabulary.add_bos = false;
    std::string known;
    try {
        Tokenizer::from_gguf(vocabulary, "x.gguf");
    } catch (const Error& e) {
        known = e.what();
    }
    known = known.substr(known.find("known are ") + 10);
    std::istringstream names(known);
    int count = 0;
    for (std::string name; names >> name; ++count) {
        vocabulary.pre = name.substr(0, name.find(','));
        SCOPED_TRACE(vocabulary.pre);
        EXPECT_EQ(Tokenizer::from_gguf(vocabulary, "x.gguf").encode("ab").ids,
                  std::vector<std::int32_t>{2});
    }
    EXPECT_GT(count, 40);
}

} // namespace
} // namespace cuset::test
