#include "core/data/sample_note.h"

#include <algorithm>
#include <utility>

namespace cuset {
namespace {

constexpr std::size_t most_tag_bytes = 60;

bool before(const SampleNote& note, std::string_view id) {
    return note.id < id;
}

} // namespace

const SampleNote* SampleNotes::find(std::string_view id) const {
    const auto at = std::lower_bound(notes.begin(), notes.end(), id, before);
    return at == notes.end() || at->id != id ? nullptr : &*at;
}

void SampleNotes::set(SampleNote note) {
    const auto at = std::lower_bound(notes.begin(), notes.end(), note.id, before);
    const bool there = at != notes.end() && at->id == note.id;
    if (note.empty()) {
        if (there)
            notes.erase(at);
    } else if (there) {
        *at = std::move(note);
    } else {
        notes.insert(at, std::move(note));
    }
}

bool SampleNotes::leaves_out(std::string_view id) const {
    if (!leave_out_quarantined)
        return false;
    const SampleNote* note = find(id);
    return note && note->quarantined;
}

std::string clean_tag(std::string_view text) {
    std::string tag;
    for (const char c : text) {
        const bool unfit =
            static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ',' || c == ';' || c == '"';
        tag += unfit ? ' ' : c;
    }
    const auto trim = [&tag] {
        tag.erase(0, std::min(tag.find_first_not_of(' '), tag.size()));
        tag.erase(tag.find_last_not_of(' ') + 1);
    };
    trim();
    if (tag.size() > most_tag_bytes) {
        std::size_t end = most_tag_bytes;
        while (end > 0 && (static_cast<unsigned char>(tag[end]) & 0xc0) == 0x80)
            --end; // between characters
        tag.resize(end);
        trim();
    }
    return tag;
}

std::vector<std::string> split_tags(std::string_view text) {
    std::vector<std::string> tags;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        std::string tag = clean_tag(text.substr(begin, comma - begin));
        if (!tag.empty() && std::find(tags.begin(), tags.end(), tag) == tags.end())
            tags.push_back(std::move(tag));
        begin = comma + 1;
    }
    return tags;
}

std::string join_tags(std::span<const std::string> tags) {
    std::string text;
    for (const std::string& tag : tags)
        text += (text.empty() ? "" : ", ") + tag;
    return text;
}

} // namespace cuset
