#include "core/text/bpe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/text/unicode.h"

namespace cuset::text {
namespace {

constexpr std::uint64_t free_key = ~std::uint64_t{0};
constexpr std::int32_t no_rank = INT32_MAX;
// Up to this many symbols a scan for the lowest rank beats a heap.
constexpr std::size_t short_piece = 96;

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32
        | static_cast<std::uint32_t>(right);
}
std::uint64_t pair_slot(std::uint64_t key) {
    key *= 0x9e3779b97f4a7c15U;
    return key ^ key >> 32;
}

// A thread's recent pieces: direct mapped, so looking up costs one comparison and nothing ever
// grows.
struct CachedPiece {
    static constexpr std::size_t max_bytes = 30, max_tokens = 8;
    std::uint64_t owner = 0;
    std::uint64_t hash = 0;
    std::uint8_t bytes = 0, tokens = 0;
    char text[max_bytes];
    std::int32_t ids[max_tokens];
    std::uint8_t begins[max_tokens];
};
constexpr std::size_t cache_slots = 1 << 14;

CachedPiece* piece_cache() {
    thread_local const auto cache = std::make_unique<CachedPiece[]>(cache_slots);
    return cache.get();
}

} // namespace

struct Bpe::Scratch {
    struct Node {
        std::int32_t previous, next;
    };
    struct Candidate {
        std::int32_t rank, position, result;
    };
    std::vector<Symbol> symbols;
    std::vector<std::int32_t> ranks, results;
    std::vector<Node> nodes;
    std::vector<Candidate> heap;
};

Bpe::Scratch& Bpe::scratch() {
    thread_local Scratch scratch;
    return scratch;
}

Bpe::Bpe(const Vocabulary& vocabulary, BpeOptions options, const std::vector<Merge>& merges)
    : vocabulary_(&vocabulary)
    , options_(std::move(options)) {
    static std::atomic<std::uint64_t> owners{0};
    owner_ = ++owners;
    std::size_t slots = 16;
    while (slots < merges.size() * 2)
        slots *= 2;
    pairs_.assign(slots, {free_key, no_rank, no_token});
    pair_mask_ = slots - 1;
    for (const Merge& merge : merges) {
        const std::uint64_t key = pair_key(merge.left, merge.right);
        std::uint64_t at = pair_slot(key) & pair_mask_;
        while (pairs_[at].key != free_key && pairs_[at].key != key)
            at = (at + 1) & pair_mask_;
        pairs_[at] = {key, merge.rank, merge.result};
    }
    for (int b = 0; b < 256; ++b) {
        std::string written;
        unicode::append_utf8(written, byte_level_alphabet()[b]);
        byte_ids_[b] = vocabulary.find(written);
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", b);
        fallback_ids_[b] = vocabulary.find(name);
    }
    if (options_.byte_level && options_.ignore_merges)
        for (std::int32_t id = 0; id < vocabulary.size(); ++id)
            if (vocabulary.contains(id) && vocabulary.find(vocabulary.written(id)) == id)
                if (const auto bytes = byte_level_decode(vocabulary.written(id)))
                    by_bytes_.insert(*bytes, id);
}

const Bpe::Pair* Bpe::find_pair(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = pair_key(left, right);
    for (std::uint64_t at = pair_slot(key) & pair_mask_;; at = (at + 1) & pair_mask_) {
        if (pairs_[at].key == key)
            return &pairs_[at];
        if (pairs_[at].key == free_key)
            return nullptr;
    }
}

void Bpe::encode(std::string_view piece, std::int32_t offset, PieceTokens& out) const {
    if (piece.size() > CachedPiece::max_bytes) {
        encode_uncached(piece, offset, out);
        return;
    }
    const std::uint64_t hash = StringTable::hash(piece);
    CachedPiece& entry = piece_cache()[(hash + owner_) & (cache_slots - 1)];
    if (entry.hash == hash && entry.owner == owner_ && entry.bytes == piece.size()
        && std::memcmp(entry.text, piece.data(), piece.size()) == 0) {
        for (std::size_t k = 0; k < entry.tokens; ++k) {
            out.ids.push_back(entry.ids[k]);
            out.begins.push_back(offset + entry.begins[k]);
        }
        return;
    }
    const std::size_t first = out.ids.size();
    const std::int64_t dropped = out.dropped_bytes;
    encode_uncached(piece, offset, out);
    const std::size_t count = out.ids.size() - first;
    if (count > CachedPiece::max_tokens || out.dropped_bytes != dropped)
        return;
    entry.owner = owner_;
    entry.hash = hash;
    entry.bytes = static_cast<std::uint8_t>(piece.size());
    entry.tokens = static_cast<std::uint8_t>(count);
    std::memcpy(entry.text, piece.data(), piece.size());
    for (std::size_t k = 0; k < count; ++k) {
        entry.ids[k] = out.ids[first + k];
        entry.begins[k] = static_cast<std::uint8_t>(out.begins[first + k] - offset);
    }
}

void Bpe::encode_uncached(std::string_view piece, std::int32_t offset, PieceTokens& out) const {
    if (options_.ignore_merges) {
        const std::int32_t whole =
            options_.byte_level ? by_bytes_.find(piece) : vocabulary_->find(piece);
        if (whole != no_token) {
            out.ids.push_back(whole);
            out.begins.push_back(offset);
            return;
        }
    }
    Scratch& work = scratch();
    work.symbols.clear();
    out.dropped_bytes += options_.byte_level ? byte_symbols(piece, work.symbols)
                                             : character_symbols(piece, work.symbols);
    if (work.symbols.size() <= short_piece)
        merge_short(work);
    else
        merge_long(work);
    for (const Symbol& symbol : work.symbols) {
        out.ids.push_back(symbol.id);
        out.begins.push_back(offset + symbol.begin);
    }
}

std::int64_t Bpe::byte_symbols(std::string_view piece, std::vector<Symbol>& symbols) const {
    std::int64_t dropped = 0;
    for (std::size_t k = 0; k < piece.size(); ++k) {
        const std::int32_t id = byte_ids_[static_cast<unsigned char>(piece[k])];
        if (id != no_token) {
            symbols.push_back({id, static_cast<std::int32_t>(k)});
        } else if (options_.unknown_id != no_token) {
            const bool fuse = options_.fuse_unknown && k > 0
                && byte_ids_[static_cast<unsigned char>(piece[k - 1])] == no_token;
            if (!fuse)
                symbols.push_back({options_.unknown_id, static_cast<std::int32_t>(k)});
        } else {
            ++dropped;
        }
    }
    return dropped;
}

std::int32_t Bpe::character_id(std::string_view character, bool is_first, bool is_last) const {
    const bool prefix = !is_first && !options_.continuing_prefix.empty();
    const bool suffix = is_last && !options_.word_suffix.empty();
    if (!prefix && !suffix)
        return vocabulary_->find(character);
    std::string written = prefix ? options_.continuing_prefix : std::string();
    written += character;
    if (suffix)
        written += options_.word_suffix;
    return vocabulary_->find(written);
}

std::int64_t Bpe::character_symbols(std::string_view piece, std::vector<Symbol>& symbols) const {
    std::int64_t dropped = 0;
    bool after_unknown = false;
    for (std::size_t k = 0; k < piece.size();) {
        const std::size_t size = unicode::decode(piece, k).size;
        const std::string_view character = piece.substr(k, size);
        const auto begin = static_cast<std::int32_t>(k);
        const std::int32_t id = character_id(character, k == 0, k + size == piece.size());
        const auto has_byte = [&](char c) {
            return fallback_ids_[static_cast<unsigned char>(c)] != no_token;
        };
        if (id != no_token) {
            symbols.push_back({id, begin});
            after_unknown = false;
        } else if (options_.byte_fallback
                   && std::all_of(character.begin(), character.end(), has_byte)) {
            for (std::size_t b = 0; b < size; ++b)
                symbols.push_back({fallback_ids_[static_cast<unsigned char>(character[b])],
                                   begin + static_cast<std::int32_t>(b)});
            after_unknown = false;
        } else if (options_.unknown_id != no_token) {
            if (!(options_.fuse_unknown && after_unknown))
                symbols.push_back({options_.unknown_id, begin});
            after_unknown = true;
        } else {
            dropped += static_cast<std::int64_t>(size);
        }
        k += size;
    }
    return dropped;
}

void Bpe::merge_short(Scratch& work) const {
    auto& symbols = work.symbols;
    std::size_t count = symbols.size();
    if (count < 2)
        return;
    std::array<std::int32_t, short_piece> ranks, results;
    const auto look_up = [&](std::size_t k) {
        const Pair* pair = k + 1 < count ? find_pair(symbols[k].id, symbols[k + 1].id) : nullptr;
        ranks[k] = pair != nullptr ? pair->rank : no_rank;
        results[k] = pair != nullptr ? pair->result : no_token;
    };
    for (std::size_t k = 0; k < count; ++k)
        look_up(k);
    while (true) {
        std::size_t best = 0;
        for (std::size_t k = 1; k + 1 < count; ++k)
            if (ranks[k] < ranks[best])
                best = k;
        if (ranks[best] == no_rank)
            break;
        symbols[best].id = results[best];
        std::copy(symbols.begin() + best + 2, symbols.begin() + count, symbols.begin() + best + 1);
        std::copy(ranks.begin() + best + 2, ranks.begin() + count, ranks.begin() + best + 1);
        std::copy(results.begin() + best + 2, results.begin() + count, results.begin() + best + 1);
        --count;
        look_up(best);
        if (best > 0)
            look_up(best - 1);
    }
    symbols.resize(count);
}

void Bpe::merge_long(Scratch& work) const {
    auto& symbols = work.symbols;
    const auto count = static_cast<std::int32_t>(symbols.size());
    work.nodes.resize(symbols.size());
    work.heap.clear();
    // The heap's top is the lowest rank, then the leftmost place.
    const auto later = [](const Scratch::Candidate& a, const Scratch::Candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
    };
    const auto propose = [&](std::int32_t left, std::int32_t right) {
        const Pair* pair = find_pair(symbols[left].id, symbols[right].id);
        if (pair == nullptr)
            return;
        work.heap.push_back({pair->rank, left, pair->result});
        std::push_heap(work.heap.begin(), work.heap.end(), later);
    };
    for (std::int32_t k = 0; k < count; ++k)
        work.nodes[k] = {k - 1, k + 1 < count ? k + 1 : -1};
    for (std::int32_t k = 0; k + 1 < count; ++k)
        propose(k, k + 1);
    while (!work.heap.empty()) {
        std::pop_heap(work.heap.begin(), work.heap.end(), later);
        const Scratch::Candidate top = work.heap.back();
        work.heap.pop_back();
        const std::int32_t left = top.position;
        const std::int32_t right = work.nodes[left].next;
        if (symbols[left].id == no_token || right < 0)
            continue;
        // An entry is out of date once either side has become part of another merge.
        const Pair* pair = find_pair(symbols[left].id, symbols[right].id);
        if (pair == nullptr || pair->result != top.result)
            continue;
        symbols[left].id = top.result;
        symbols[right].id = no_token;
        const std::int32_t next = work.nodes[right].next;
        work.nodes[left].next = next;
        if (next >= 0) {
            work.nodes[next].previous = left;
            propose(left, next);
        }
        if (work.nodes[left].previous >= 0)
            propose(work.nodes[left].previous, left);
    }
    std::erase_if(symbols, [](const Symbol& symbol) { return symbol.id == no_token; });
}

} // namespace cuset::text
