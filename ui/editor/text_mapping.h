// TextMapping: one text, three ways to count. Tokens and Scintilla count UTF-8 bytes, QString
// counts UTF-16 units. Also what has to be seen in untrusted text: control and bidirectional
// characters.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <QString>

#include "core/base/byte_span.h"

namespace cuset {

class TextMapping {
public:
    TextMapping() = default;
    // `utf8` must outlive the mapping. Each byte that is not valid UTF-8 counts as one UTF-16 unit
    // (U+FFFD).
    explicit TextMapping(std::string_view utf8);

    int byteCount() const { return static_cast<int>(text_.size()); }
    // Positions inside a character go to its begin; positions outside the text to its nearest end.
    int utf16FromByte(int byte) const;
    int byteFromUtf16(int unit) const;
    // The begin of the character that holds the byte.
    int characterBegin(int byte) const;

    // What to paint for a token: a token that begins inside a character leaves that character to
    // the token before it, one that ends inside a character paints all of it. Empty if nothing is
    // left.
    ByteSpan paintSpan(ByteSpan token) const;

private:
    struct Mark {
        int byte;
        int unit;
    };
    int characterLength(int byte) const;

    std::string_view text_;
    std::vector<Mark> marks_; // one every few hundred bytes
};

// Text for labels and lists: UTF-8 as QString, with control and bidi characters made visible
// (U+2400 pictures, escapes), line ends as arrows and blanks kept; cut at `maxUnits` with an
// ellipsis.
QString visibleText(std::string_view utf8, int maxUnits = 120);

// A count as the person's language groups its digits.
QString countText(std::int64_t value);

// Plain text for a tooltip: never read as markup.
QString plainToolTip(const QString& text);

// UTF-8 encodings of the bidirectional controls and what is to be drawn in their place.
const std::vector<std::pair<const char*, const char*>>& bidiRepresentations();

} // namespace cuset
