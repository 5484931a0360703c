// Unicode normalisation with alignment: decomposition from utf8proc, ordering and composition here,
// since utf8proc keeps no offsets and its ordering takes quadratic time on long runs of marks.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <utf8proc.h>

#include "core/text/normalizer.h"
#include "core/text/unicode.h"

namespace cuset::text {
namespace {

struct Element {
    char32_t code;
    std::int32_t begin, end; // source bytes
    int combining; // canonical combining class
};

int combining_class(char32_t code) {
    if (unicode::is_never_normalized(code))
        return 0;
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

int decompose(char32_t code, bool compatible, utf8proc_int32_t* out, int room) {
    int last_class = 0;
    const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    const auto count = unicode::is_never_normalized(code)
        ? 0
        : utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), out, room,
                                  static_cast<utf8proc_option_t>(options), &last_class);
    if (count > 0 && count <= room)
        return static_cast<int>(count);
    out[0] = static_cast<utf8proc_int32_t>(code);
    return 1;
}

// Primary composites: the pair (all but the last of a full decomposition composed, the last) and
// what it makes. Hangul syllables are composed by arithmetic instead.
const std::unordered_map<std::uint64_t, char32_t>& compositions() {
    static const auto table = [] {
        struct Whole {
            std::u32string parts;
            char32_t code;
        };
        std::vector<Whole> wholes;
        for (char32_t c = 0xc0; c < 0x30000; ++c) {
            if (c >= 0xac00 && c < 0xe000)
                continue;
            const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
            if (property->decomp_seqindex == UINT16_MAX || property->decomp_type != 0
                || property->comp_exclusion)
                continue;
            utf8proc_int32_t parts[32];
            const int count = decompose(c, false, parts, 32);
            if (count > 1 && property->combining_class == 0
                && combining_class(static_cast<char32_t>(parts[0])) == 0)
                wholes.push_back({std::u32string(parts, parts + count), c});
        }
        // In code point order where lengths are equal: a singleton (U+212B) stands behind what it
        // decomposes to first.
        std::stable_sort(wholes.begin(), wholes.end(), [](const Whole& a, const Whole& b) {
            return a.parts.size() < b.parts.size();
        });
        std::map<std::u32string, char32_t> by_parts;
        std::unordered_map<std::uint64_t, char32_t> pairs;
        for (const Whole& whole : wholes) {
            const std::u32string head = whole.parts.substr(0, whole.parts.size() - 1);
            const auto at = by_parts.find(head);
            if (head.size() > 1 && at == by_parts.end())
                continue;
            const char32_t first = head.size() == 1 ? head[0] : at->second;
            pairs.emplace(static_cast<std::uint64_t>(first) << 32 | whole.parts.back(), whole.code);
            by_parts.emplace(whole.parts, whole.code);
        }
        return pairs;
    }();
    return table;
}

char32_t compose_pair(char32_t first, char32_t second) {
    // Unicode, section 3.12: leading consonant + vowel, then + trailing consonant.
    if (first >= 0x1100 && first < 0x1113 && second >= 0x1161 && second < 0x1176)
        return 0xac00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28;
    if (first >= 0xac00 && first < 0xd7a4 && (first - 0xac00) % 28 == 0 && second > 0x11a7
        && second < 0x11c3)
        return first + (second - 0x11a7);
    const auto at = compositions().find(static_cast<std::uint64_t>(first) << 32 | second);
    return at != compositions().end() ? at->second : 0;
}

void order_marks(std::vector<Element>& elements) {
    for (std::size_t k = 0; k < elements.size();) {
        if (elements[k].combining == 0) {
            ++k;
            continue;
        }
        std::size_t end = k;
        while (end < elements.size() && elements[end].combining != 0)
            ++end;
        std::stable_sort(
            elements.begin() + k, elements.begin() + end,
            [](const Element& a, const Element& b) { return a.combining < b.combining; });
        k = end;
    }
}

void compose(std::vector<Element>& elements) {
    std::size_t kept = 0;
    std::size_t starter = elements.size(); // none yet
    int last_class = -1; // of the character kept last after the starter; -1 = adjacent
    for (std::size_t k = 0; k < elements.size(); ++k) {
        const Element element = elements[k];
        if (starter < elements.size() && last_class < element.combining) {
            const char32_t whole = compose_pair(elements[starter].code, element.code);
            if (whole != 0) {
                elements[starter].code = whole;
                elements[starter].begin = std::min(elements[starter].begin, element.begin);
                elements[starter].end = std::max(elements[starter].end, element.end);
                continue;
            }
        }
        if (element.combining == 0) {
            starter = kept;
            last_class = -1;
        } else {
            last_class = element.combining;
        }
        elements[kept++] = element;
    }
    elements.resize(kept);
}

void write(const std::vector<Element>& elements, AlignedView in, AlignedText& out) {
    out.reserve(in.text.size());
    // Reordered marks overlap: their spans are cut so that places never decrease.
    std::int32_t place = in.source(0);
    for (std::size_t k = 0; k < elements.size(); ++k) {
        std::string bytes;
        unicode::append_utf8(bytes, elements[k].code);
        const std::int32_t begin = std::max(place, elements[k].begin);
        std::int32_t end = std::max(begin, elements[k].end);
        if (k + 1 < elements.size())
            end = std::max(
                begin, std::min(end, elements[k + 1].begin > begin ? elements[k + 1].begin : end));
        out.append(bytes, begin, end);
        place = begin;
    }
    out.finish(in.source(in.text.size()));
}

} // namespace

bool normalize_unicode(NormalForm form, AlignedView in, AlignedText& out) {
    if (unicode::is_ascii(in.text))
        return false;
    const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
    std::vector<Element> elements;
    elements.reserve(in.text.size());
    bool changed = false;
    for (std::size_t k = 0; k < in.text.size();) {
        std::size_t size = 1;
        const char32_t code = unicode::decode_valid(in.text.data() + k, size);
        const std::int32_t begin = in.source(k), end = in.source(k + size);
        k += size;
        if (code < 0x80) {
            elements.push_back({code, begin, end, 0});
            continue;
        }
        utf8proc_int32_t parts[32];
        const int count = decompose(code, compatible, parts, 32);
        changed = changed || count != 1 || static_cast<char32_t>(parts[0]) != code
            || combining_class(code) != 0 || (code >= 0x1161 && code < 0x11c3);
        for (int p = 0; p < count; ++p) {
            const auto part = static_cast<char32_t>(parts[p]);
            // The parts share the character's bytes in order.
            const std::int32_t length = end - begin;
            elements.push_back({part, begin + length * p / count, begin + length * (p + 1) / count,
                                combining_class(part)});
            changed = changed || combining_class(part) != 0;
        }
    }
    const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
    order_marks(elements);
    if (composes)
        compose(elements);
    if (!changed && !composes)
        return false;
    AlignedText written;
    write(elements, in, written);
    if (written.view().text == in.text)
        return false;
    out = std::move(written);
    return true;
}

} // namespace cuset::text
