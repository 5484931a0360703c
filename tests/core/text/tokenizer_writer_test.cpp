// A GGUF vocabulary written as tokenizer.json and read back gives the same ids. Against Hugging
// Face's own reader: tests/reference/train_outputs.py.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/text/tokenizer_writer.h"

namespace cuset {
namespace {

GgufVocabulary byte_level(const std::string& pre) {
    GgufVocabulary v;
    v.model = "gpt2";
    v.pre = pre;
    v.tokens = {"<|end|>"};
    v.token_types = {3};
    const auto add = [&](const std::string& token) {
        v.tokens.push_back(token);
        v.token_types.push_back(1);
    };
    for (char c = '!'; c <= '~'; ++c)
        add(std::string(1, c));
    for (const char* mark : {"\xc4\xa0", "\xc4\x8a", "\xc3\x83", "\xc2\xa9"}) // blank, line end, e9
        add(mark);
    const auto merge = [&](const std::string& a, const std::string& b) {
        v.merges.push_back(a + " " + b);
        add(a + b);
    };
    merge("t", "h");
    merge("th", "e");
    merge("\xc4\xa0", "the");
    merge("1", "2");
    merge("\xc3\x83", "\xc2\xa9");
    v.bos_id = 0;
    v.eos_id = 0;
    return v;
}

GgufVocabulary sentence_piece() {
    GgufVocabulary v;
    v.model = "llama";
    const auto add = [&](const std::string& token, std::int64_t type, double score) {
        v.tokens.push_back(token);
        v.token_types.push_back(type);
        v.scores.push_back(score);
    };
    add("<unk>", 2, 0);
    add("<s>", 3, 0);
    add("</s>", 3, 0);
    for (int byte = 0; byte < 256; ++byte) {
        char text[8];
        std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
        add(text, 6, 0);
    }
    double score = 0;
    for (const char* token :
         {"\xe2\x96\x81t", "he", "\xe2\x96\x81the", "\xe2\x96\x81", "t", "h", "e", "r"})
        add(token, 1, --score);
    v.unknown_id = 0;
    v.bos_id = 1;
    v.eos_id = 2;
    return v;
}

void expect_same(const GgufVocabulary& vocabulary) {
    const Tokenizer here = Tokenizer::from_gguf(vocabulary, "x.gguf");
    const Tokenizer there =
        Tokenizer::from_json(tokenizer_json(vocabulary, "x.gguf"), "tokenizer.json");
    for (const char* text : {"", "the", " the there 12 1212 {};\n", "th\xc3\xa9 the<|end|> the",
                             "</s>the\xe2\x82\xac", "  the\n\nthe  "})
        for (const bool special : {false, true}) {
            const TokenizeOptions options{.parse_special = special};
            EXPECT_EQ(here.encode(text, options).ids, there.encode(text, options).ids) << text;
        }
    const auto ids = here.encode("the there 12").ids;
    EXPECT_EQ(here.decode(ids), there.decode(ids));
}

TEST(TokenizerWriter, ByteLevel) {
    for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-coder", "falcon"})
        expect_same(byte_level(pre));
    GgufVocabulary begins = byte_level("qwen2");
    begins.add_bos = true;
    expect_same(begins);
}

TEST(TokenizerWriter, SentencePiece) {
    expect_same(sentence_piece());
    GgufVocabulary no_prefix = sentence_piece();
    no_prefix.add_space_prefix = false;
    no_prefix.add_eos = true;
    expect_same(no_prefix);
}

TEST(TokenizerWriter, WhatCannotBeReadIsNotWritten) {
    GgufVocabulary unknown = byte_level("of the future");
    EXPECT_THROW(tokenizer_json(unknown, "x.gguf"), Error);
}

} // namespace
} // namespace cuset
