// Distinct identifiers of a text, numbered in order of appearance, with what each is known for.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cuda/word_class.h"

namespace cuset::cuda_scan {

class NameTable {
public:
    struct Entry {
        std::int32_t index;
        Word word;
    };

    NameTable();

    // `word` must outlive the table's names: they are views. Amortised constant time.
    Entry intern(std::string_view word);
    // The names by index; the table is empty after it.
    std::vector<std::string_view> take() { return std::move(names_); }

private:
    struct Slot {
        std::uint32_t hash = 0;
        std::int32_t index = -1;
    };
    void grow();

    std::vector<Slot> slots_;
    std::vector<std::string_view> names_;
    std::vector<Word> words_;
};

} // namespace cuset::cuda_scan
