#include "core/text/vocabulary.h"

#include <cassert>
#include <cstring>

#include "core/text/unicode.h"

namespace cuset::text {

const std::array<char32_t, 256>& byte_level_alphabet() {
    static const auto alphabet = [] {
        std::array<char32_t, 256> out{};
        char32_t next = 256;
        for (unsigned b = 0; b < 256; ++b) {
            const bool printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
            out[b] = printable ? b : next++;
        }
        return out;
    }();
    return alphabet;
}

std::optional<std::string> byte_level_decode(std::string_view written) {
    static const auto back = [] {
        std::array<std::int16_t, 512> out{};
        out.fill(-1);
        for (unsigned b = 0; b < 256; ++b)
            out[byte_level_alphabet()[b]] = static_cast<std::int16_t>(b);
        return out;
    }();
    std::string bytes;
    bytes.reserve(written.size());
    for (std::size_t k = 0; k < written.size();) {
        const unicode::Decoded d = unicode::decode(written, k);
        if (!d.valid || d.code >= back.size() || back[d.code] < 0)
            return std::nullopt;
        bytes.push_back(static_cast<char>(back[d.code]));
        k += d.size;
    }
    return bytes;
}

std::string byte_level_encode(std::string_view bytes) {
    std::string out;
    for (const char c : bytes)
        unicode::append_utf8(out, byte_level_alphabet()[static_cast<unsigned char>(c)]);
    return out;
}

std::uint64_t StringTable::hash(std::string_view text) {
    // Multiply-fold over 8-byte words; enough for a table that compares the strings too.
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15U;
    const auto mix = [](std::uint64_t a, std::uint64_t b) {
        __extension__ using Wide = unsigned __int128;
        const Wide product = static_cast<Wide>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    std::uint64_t h = text.size() * factor + 1;
    const char* at = text.data();
    std::size_t left = text.size();
    for (; left >= 8; at += 8, left -= 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        h = mix(h ^ word, factor);
    }
    if (left > 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, left);
        h = mix(h ^ word, factor);
    }
    return h;
}

void StringTable::reserve(std::size_t count, std::size_t bytes) {
    entries_.reserve(count);
    arena_.reserve(bytes);
    std::size_t slots = 16;
    while (slots < count * 2)
        slots *= 2;
    if (slots > slots_.size())
        rehash(slots);
}

void StringTable::rehash(std::size_t slots) {
    slots_.assign(slots, 0);
    for (std::size_t k = 0; k < entries_.size(); ++k) {
        std::size_t at = entries_[k].hash & (slots - 1);
        while (slots_[at] != 0)
            at = (at + 1) & (slots - 1);
        slots_[at] = static_cast<std::uint32_t>(k + 1);
    }
}

bool StringTable::insert(std::string_view key, std::int32_t id) {
    if ((entries_.size() + 1) * 2 > slots_.size())
        rehash(slots_.empty() ? 16 : slots_.size() * 2);
    const std::uint64_t h = hash(key);
    std::size_t at = h & (slots_.size() - 1);
    for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
        Entry& entry = entries_[slots_[at] - 1];
        if (entry.hash == h && text(entry) == key) {
            entry.id = id;
            return false;
        }
    }
    entries_.push_back(
        {h, static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(key.size()), id});
    arena_.append(key);
    slots_[at] = static_cast<std::uint32_t>(entries_.size());
    return true;
}

std::int32_t StringTable::find(std::string_view key) const {
    if (slots_.empty())
        return no_token;
    const std::uint64_t h = hash(key);
    for (std::size_t at = h & (slots_.size() - 1); slots_[at] != 0;
         at = (at + 1) & (slots_.size() - 1)) {
        const Entry& entry = entries_[slots_[at] - 1];
        if (entry.hash == h && text(entry) == key)
            return entry.id;
    }
    return no_token;
}

void Vocabulary::add(std::string_view written, std::int32_t id) {
    assert(id >= 0);
    by_written_.insert(written, id);
    if (id >= size()) {
        written_.resize(static_cast<std::size_t>(id) + 1);
        known_.resize(static_cast<std::size_t>(id) + 1);
    }
    written_[id] = written;
    known_[id] = true;
}

const std::string& Vocabulary::written(std::int32_t id) const {
    static const std::string none;
    return contains(id) ? written_[id] : none;
}

bool Vocabulary::contains(std::int32_t id) const {
    return id >= 0 && id < size() && known_[id];
}

} // namespace cuset::text
