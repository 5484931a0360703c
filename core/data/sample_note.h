// What a person says of samples: tags, a note, and quarantine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuset {

struct SampleNote {
    std::string id; // of the sample
    std::vector<std::string> tags; // clean_tag() each, no two the same, in the order given
    std::string text; // UTF-8, "" for none
    bool quarantined = false; // to be left out of figures and training when the set says so

    bool empty() const { return tags.empty() && text.empty() && !quarantined; }
    friend bool operator==(const SampleNote&, const SampleNote&) = default;
};

// The notes of a data set. `notes` are sorted by id, one a sample, none empty.
struct SampleNotes {
    std::vector<SampleNote> notes;
    // Quarantined samples count in no figure and are not trained on.
    bool leave_out_quarantined = false;

    const SampleNote* find(std::string_view id) const; // null if there is none
    // Replaces the note of its sample; an empty one removes it.
    void set(SampleNote note);
    bool leaves_out(std::string_view id) const;
    friend bool operator==(const SampleNotes&, const SampleNotes&) = default;
};

// A tag is one line of text without , ; " at most 60 bytes: such characters become blanks, blanks
// at the ends are cut. "" if nothing is left.
std::string clean_tag(std::string_view text);
// Tags with commas between them, cleaned, each once.
std::vector<std::string> split_tags(std::string_view text);
std::string join_tags(std::span<const std::string> tags); // "a, b"

} // namespace cuset
