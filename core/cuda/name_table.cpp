#include "core/cuda/name_table.h"

#include <functional>

namespace cuset::cuda_scan {

NameTable::NameTable()
    : slots_(256) { }

NameTable::Entry NameTable::intern(std::string_view word) {
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string_view>{}(word));
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].index >= 0) {
        if (slots_[at].hash == hash && names_[slots_[at].index] == word)
            return {slots_[at].index, words_[slots_[at].index]};
        at = (at + 1) & mask;
    }
    const auto index = static_cast<std::int32_t>(names_.size());
    slots_[at] = {hash, index};
    names_.push_back(word);
    words_.push_back(classify_word(word));
    const Entry entry{index, words_.back()};
    if (names_.size() * 2 > slots_.size())
        grow();
    return entry;
}

void NameTable::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
        if (slot.index < 0)
            continue;
        std::size_t at = slot.hash & mask;
        while (slots_[at].index >= 0)
            at = (at + 1) & mask;
        slots_[at] = slot;
    }
}

} // namespace cuset::cuda_scan
