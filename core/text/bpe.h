// Bpe: byte pair encoding of one piece of text, equal to the reference's BPE model.
// Source: Sennrich, Haddow, Birch 2016, as the Hugging Face `tokenizers` library defines it: of all
// neighbouring pairs that have a merge, the one of lowest rank is joined first, the leftmost of
// several.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/vocabulary.h"

namespace cuset::text {

struct BpeOptions {
    bool byte_level = false; // symbols are bytes (a ByteLevel step came before), not characters
    bool ignore_merges = false; // a piece that is a token as a whole stays whole
    bool byte_fallback = false; // unknown characters become <0xXX> tokens
    bool fuse_unknown = false;
    std::int32_t unknown_id = no_token;
    std::string continuing_prefix = {};
    std::string word_suffix = {};
};

// One merge: the pair, its rank (lower first) and what it becomes.
struct Merge {
    std::int32_t left, right, rank, result;
};

// What a piece became: ids, and where in the piece each token begins.
struct PieceTokens {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> begins;
    std::int64_t dropped_bytes = 0;
};

class Bpe {
public:
    // `vocabulary` outlives this object. A pair given twice keeps the later merge.
    Bpe(const Vocabulary& vocabulary, BpeOptions options, const std::vector<Merge>& merges);

    const BpeOptions& options() const { return options_; }
    // Appends the tokens of `piece` (valid UTF-8, not empty) to `out`; begins are counted from
    // `offset`.
    void encode(std::string_view piece, std::int32_t offset, PieceTokens& out) const;

private:
    struct Pair {
        std::uint64_t key; // left << 32 | right; all ones = free
        std::int32_t rank, result;
    };
    struct Symbol {
        std::int32_t id, begin;
    };
    struct Scratch;

    const Pair* find_pair(std::int32_t left, std::int32_t right) const;
    void encode_uncached(std::string_view piece, std::int32_t offset, PieceTokens& out) const;
    std::int64_t byte_symbols(std::string_view piece, std::vector<Symbol>& symbols) const;
    std::int64_t character_symbols(std::string_view piece, std::vector<Symbol>& symbols) const;
    std::int32_t character_id(std::string_view character, bool is_first, bool is_last) const;
    void merge_short(Scratch& scratch) const;
    void merge_long(Scratch& scratch) const;
    static Scratch& scratch();

    const Vocabulary* vocabulary_;
    BpeOptions options_;
    std::uint64_t owner_; // tells this object's entries in the threads' piece caches
    std::vector<Pair> pairs_;
    std::uint64_t pair_mask_ = 0;
    StringTable by_bytes_; // raw bytes to id, byte level only
    std::int32_t byte_ids_[256];
    std::int32_t fallback_ids_[256];
};

} // namespace cuset::text
