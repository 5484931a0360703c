// What a Tokenizer is made of. Only the readers of tokenizer.json and GGUF and the tokenizer itself
// see this.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/text/added_tokens.h"
#include "core/text/bpe.h"
#include "core/text/decoder.h"
#include "core/text/normalizer.h"
#include "core/text/post_processor.h"
#include "core/text/pre_tokenizer.h"
#include "core/text/tokenizer.h"
#include "core/text/vocabulary.h"

namespace cuset {

struct Tokenizer::Impl {
    text::Vocabulary vocabulary;
    std::unique_ptr<const text::Bpe> bpe;
    std::unique_ptr<const text::Normalizer> normalizer; // may be null
    text::PreTokenizer pre_tokenizer;
    text::PostProcessor post_processor;
    text::Decoder decoder;
    std::map<std::int32_t, text::AddedToken> added;
    std::unordered_map<std::string, std::int32_t> added_ids;
    text::TokenMatcher raw_tokens; // looked for in the text as given
    text::TokenMatcher normalized_tokens; // looked for after the normalizer
    std::int32_t size = 0; // largest id + 1

    // Takes in the added tokens, after normalizer and vocabulary are set. Their `id` is set here.
    void add_tokens(std::vector<text::AddedToken> tokens);
};

// Largest id that a vocabulary of `count` tokens may use: ids index tables, and a file may name any
// number.
constexpr std::int64_t id_limit(std::size_t count) {
    return static_cast<std::int64_t>(count) * 4 + 65536;
}
constexpr std::size_t added_token_limit = 16384;
constexpr std::size_t added_token_bytes_limit = 256;

} // namespace cuset
