// Vocabulary: token ids, their written forms and the bytes they stand for.
// In a byte-level vocabulary the written form spells each byte as one printable character (GPT-2's
// alphabet).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuset::text {

constexpr std::int32_t no_token = -1;

// The printable character of each byte in GPT-2's byte-level alphabet.
const std::array<char32_t, 256>& byte_level_alphabet();
// Bytes spelled by a byte-level written form; nothing if a character is not in the alphabet.
std::optional<std::string> byte_level_decode(std::string_view written);
std::string byte_level_encode(std::string_view bytes);

// Strings to ids: open addressing over one arena. Strings are never removed.
class StringTable {
public:
    void reserve(std::size_t count, std::size_t bytes);
    // The id stored for the string; a new string gets `id`. True if it was new.
    bool insert(std::string_view text, std::int32_t id);
    std::int32_t find(std::string_view text) const; // no_token if missing
    std::size_t size() const { return entries_.size(); }

    static std::uint64_t hash(std::string_view text);

private:
    struct Entry {
        std::uint64_t hash;
        std::uint32_t offset, length;
        std::int32_t id;
    };
    void rehash(std::size_t slots);
    std::string_view text(const Entry& entry) const {
        return {arena_.data() + entry.offset, entry.length};
    }

    std::string arena_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> slots_; // index + 1 into entries_, 0 = free; a power of two
};

class Vocabulary {
public:
    // Adds a token of the model. A repeated string keeps the last id, as the reference does.
    void add(std::string_view written, std::int32_t id);
    std::int32_t find(std::string_view written) const { return by_written_.find(written); }
    const std::string& written(std::int32_t id) const; // "" for an unknown id
    bool contains(std::int32_t id) const;
    std::int32_t size() const {
        return static_cast<std::int32_t>(written_.size());
    } // largest id + 1
    std::size_t count() const {
        return by_written_.size();
    } // tokens of the model, as the reference counts them

private:
    StringTable by_written_;
    std::vector<std::string> written_;
    std::vector<bool> known_;
};

} // namespace cuset::text
