#include "core/text/pre_tokenizer.h"

#include <algorithm>
#include <functional>

#include "core/text/regex.h"
#include "core/text/unicode.h"
#include "core/text/vocabulary.h"

namespace cuset::text {
namespace {

enum class Behavior { isolated, removed, contiguous, merged_with_previous, merged_with_next };

// A stretch of a piece that a pattern matched, or one between matches.
struct Match {
    Piece range;
    bool is_match;
};

Piece make_piece(std::size_t begin, std::size_t end) {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

void push(std::vector<Piece>& out, Piece piece) {
    if (piece.begin < piece.end)
        out.push_back(piece);
}

// The reference's rules for what becomes of matches and of the text between them.
void apply_behavior(Behavior behavior, std::vector<Match>& matches, std::vector<Piece>& out) {
    std::vector<Piece> joined;
    bool previous = false;
    const bool backwards = behavior == Behavior::merged_with_next;
    if (backwards)
        std::reverse(matches.begin(), matches.end());
    for (const Match& match : matches) {
        bool join = false;
        switch (behavior) {
        case Behavior::isolated:
            break;
        case Behavior::removed:
            if (match.is_match)
                continue;
            break;
        case Behavior::contiguous:
            join = match.is_match == previous;
            break;
        case Behavior::merged_with_previous:
        case Behavior::merged_with_next:
            join = match.is_match && !previous;
            break;
        }
        previous = match.is_match;
        if (join && !joined.empty()) {
            if (backwards)
                joined.back().begin = match.range.begin;
            else
                joined.back().end = match.range.end;
        } else {
            joined.push_back(match.range);
        }
    }
    if (backwards)
        std::reverse(joined.begin(), joined.end());
    for (const Piece piece : joined)
        push(out, piece);
}

// Splits pieces by something that finds matches in a piece.
class SplitStep : public PreTokenStep {
public:
    SplitStep(Behavior behavior, bool invert)
        : behavior_(behavior)
        , invert_(invert) { }

    void apply(PieceList& list) const override {
        std::vector<Piece> out;
        out.reserve(list.pieces.size() * 2);
        std::vector<Match> matches;
        for (const Piece piece : list.pieces) {
            matches.clear();
            std::size_t done = 0;
            const std::string_view text =
                list.text.text.substr(piece.begin, piece.end - piece.begin);
            const auto add = [&](std::size_t begin, std::size_t end, bool is_match) {
                matches.push_back(
                    {make_piece(piece.begin + begin, piece.begin + end), is_match != invert_});
            };
            find(text, [&](std::size_t begin, std::size_t end) {
                if (begin > done)
                    add(done, begin, false);
                add(begin, end, true);
                done = end;
            });
            if (done < text.size())
                add(done, text.size(), false);
            apply_behavior(behavior_, matches, out);
        }
        list.pieces = std::move(out);
    }

protected:
    using Found = std::function<void(std::size_t, std::size_t)>;
    virtual void find(std::string_view text, const Found& found) const = 0;

private:
    Behavior behavior_;
    bool invert_;
};

class RegexSplit final : public SplitStep {
public:
    RegexSplit(std::unique_ptr<const Regex> regex, Behavior behavior, bool invert)
        : SplitStep(behavior, invert)
        , regex_(std::move(regex)) { }

protected:
    void find(std::string_view text, const Found& found) const override {
        regex_->find_all(text, found);
    }

private:
    std::unique_ptr<const Regex> regex_;
};

class StringSplit final : public SplitStep {
public:
    StringSplit(std::string pattern, Behavior behavior, bool invert)
        : SplitStep(behavior, invert)
        , pattern_(std::move(pattern)) { }

protected:
    void find(std::string_view text, const Found& found) const override {
        for (std::size_t at = text.find(pattern_); at != std::string_view::npos;
             at = text.find(pattern_, at + pattern_.size()))
            found(at, at + pattern_.size());
    }

private:
    std::string pattern_;
};

// Every character of a class is a match by itself; with `runs`, every run of them.
class ClassSplit final : public SplitStep {
public:
    ClassSplit(bool (*in_class)(char32_t), Behavior behavior)
        : SplitStep(behavior, false)
        , in_class_(in_class) { }

protected:
    void find(std::string_view text, const Found& found) const override {
        for (std::size_t at = 0; at < text.size();) {
            const unicode::Decoded d = unicode::decode(text, at);
            if (in_class_(d.code))
                found(at, at + d.size);
            at += d.size;
        }
    }

private:
    bool (*in_class_)(char32_t);
};

// \w+|[^\w\s]+, the rest removed.
class WordSplit final : public SplitStep {
public:
    WordSplit()
        : SplitStep(Behavior::removed, true) { }

protected:
    void find(std::string_view text, const Found& found) const override {
        const auto kind = [](char32_t code) {
            return unicode::is_word(code) ? 1 : unicode::is_white_space(code) ? 0 : 2;
        };
        for (std::size_t at = 0; at < text.size();) {
            unicode::Decoded d = unicode::decode(text, at);
            const int wanted = kind(d.code);
            const std::size_t begin = at;
            do {
                at += d.size;
                if (at < text.size())
                    d = unicode::decode(text, at);
            } while (at < text.size() && kind(d.code) == wanted);
            if (wanted != 0)
                found(begin, at);
        }
    }
};

class DigitSplit final : public PreTokenStep {
public:
    explicit DigitSplit(bool individual)
        : individual_(individual) { }
    void apply(PieceList& list) const override {
        std::vector<Piece> out;
        out.reserve(list.pieces.size() * 2);
        for (const Piece piece : list.pieces)
            scan_digits(list.text.text, piece, individual_, out);
        list.pieces = std::move(out);
    }

private:
    bool individual_;
};

class KnownSplit final : public PreTokenStep {
public:
    explicit KnownSplit(KnownPattern known)
        : known_(known) { }
    void apply(PieceList& list) const override {
        std::vector<Piece> out;
        out.reserve(list.text.text.size() / 3 + list.pieces.size());
        for (const Piece piece : list.pieces)
            scan(known_, list.text.text, piece, out);
        list.pieces = std::move(out);
    }

private:
    KnownPattern known_;
};

// Rewrites the text piece by piece.
class RewriteStep : public PreTokenStep {
public:
    void apply(PieceList& list) const override {
        AlignedText next;
        std::vector<Piece> pieces;
        for (const Piece piece : list.pieces) {
            const std::size_t begin = next.size();
            rewrite(list.text.slice(piece.begin, piece.end), next);
            push(pieces, make_piece(begin, next.size()));
        }
        next.finish(list.text.source(list.text.text.size()));
        list.rewritten = std::move(next);
        list.text = list.rewritten.view();
        list.pieces = std::move(pieces);
    }

protected:
    virtual void rewrite(AlignedView piece, AlignedText& out) const = 0;
};

// ByteLevel's add_prefix_space.
class PrefixSpace final : public RewriteStep {
protected:
    void rewrite(AlignedView piece, AlignedText& out) const override {
        if (!piece.text.starts_with(' '))
            out.append(" ", piece.source(0), piece.source(0));
        out.append(piece);
    }
};

// Bytes spelled as printable characters, for a ByteLevel step that is not the last.
class SpellBytes final : public RewriteStep {
protected:
    void rewrite(AlignedView piece, AlignedText& out) const override {
        for (std::size_t k = 0; k < piece.text.size(); ++k)
            out.append(byte_level_encode(piece.text.substr(k, 1)), piece.source(k),
                       piece.source(k + 1));
    }
};

enum class PrependScheme { first, never, always };

class SpaceMark final : public RewriteStep {
public:
    SpaceMark(std::string mark, PrependScheme scheme)
        : mark_(std::move(mark))
        , scheme_(scheme) { }

protected:
    void rewrite(AlignedView piece, AlignedText& out) const override {
        const bool marked = piece.text.starts_with(' ') || piece.text.starts_with(mark_);
        const std::int32_t begin = piece.source(0);
        if (!marked
            && (scheme_ == PrependScheme::always
                || (scheme_ == PrependScheme::first && begin == 0)))
            out.append(mark_, begin, begin);
        for (std::size_t k = 0; k < piece.text.size(); ++k) {
            if (piece.text[k] == ' ')
                out.append(mark_, piece.source(k), piece.source(k + 1));
            else
                out.append(piece.slice(k, k + 1));
        }
    }

private:
    std::string mark_;
    PrependScheme scheme_;
};

Behavior parse_behavior(const Node& node, const std::string& name) {
    static constexpr std::pair<std::string_view, Behavior> names[] = {
        {"Isolated", Behavior::isolated},
        {"Removed", Behavior::removed},
        {"Contiguous", Behavior::contiguous},
        {"MergedWithPrevious", Behavior::merged_with_previous},
        {"MergedWithNext", Behavior::merged_with_next},
    };
    for (const auto& [known, behavior] : names)
        if (name == known)
            return behavior;
    node.member("behavior")
        .fail(
            ErrorCode::bad_value,
            "is " + name
                + "; known are Isolated, Removed, Contiguous, MergedWithPrevious, MergedWithNext");
}

std::unique_ptr<const PreTokenStep> make_pattern_step(const std::string& pattern, Behavior behavior,
                                                      bool invert, const std::string& where,
                                                      const std::string& subject) {
    const KnownPattern known = find_known_pattern(pattern);
    // The known patterns match everywhere, so isolated and contiguous behaviour need no text
    // between matches.
    if (known != KnownPattern::none && behavior == Behavior::isolated)
        return std::make_unique<KnownSplit>(known);
    return std::make_unique<RegexSplit>(std::make_unique<Regex>(pattern, where, subject), behavior,
                                        invert);
}

std::unique_ptr<const PreTokenStep> parse_split(const Node& node) {
    const Behavior behavior = parse_behavior(node, node.string("behavior"));
    const bool invert = node.boolean("invert", false);
    const Node pattern = node.require_object("pattern");
    if (pattern.json().contains("String")) {
        const std::string literal = pattern.string("String");
        if (literal.empty())
            pattern.fail(ErrorCode::bad_value, "is an empty string");
        return std::make_unique<StringSplit>(literal, behavior, invert);
    }
    if (!pattern.json().contains("Regex"))
        pattern.fail(ErrorCode::bad_format, "has neither String nor Regex");
    return make_pattern_step(pattern.string("Regex"), behavior, invert,
                             pattern.member("Regex").path(), node.subject());
}

std::unique_ptr<const PreTokenStep> parse_space_mark(const Node& node, std::string& mark) {
    mark = node.string("replacement");
    if (mark.empty() || unicode::decode(mark, 0).size != mark.size())
        node.member("replacement").fail(ErrorCode::bad_value, "needs exactly one character");
    std::string scheme = node.string("prepend_scheme", "always");
    if (!node.boolean("add_prefix_space", true)) {
        if (scheme != "never" && !node.member("prepend_scheme").json().is_null())
            node.fail(ErrorCode::bad_value,
                      "has add_prefix_space false and prepend_scheme " + scheme);
        scheme = "never";
    }
    if (scheme != "always" && scheme != "first" && scheme != "never")
        node.member("prepend_scheme")
            .fail(ErrorCode::bad_value, "is " + scheme + "; known are always, first, never");
    return std::make_unique<SpaceMark>(mark,
                                       scheme == "always"      ? PrependScheme::always
                                           : scheme == "first" ? PrependScheme::first
                                                               : PrependScheme::never);
}

} // namespace

PreTokenizer::PreTokenizer(const Node& node) {
    if (!node.json().is_null())
        parse(node, true);
}

void PreTokenizer::parse(const Node& node, bool is_last) {
    const std::string type = node.string("type");
    if (type == "Sequence") {
        const Node list = node.require_array("pretokenizers");
        for (std::size_t k = 0; k < list.json().size(); ++k)
            parse(list.element(k), is_last && k + 1 == list.json().size());
        return;
    }
    if (type != "ByteLevel")
        return add_step(node, type);
    if (node.boolean("add_prefix_space", true))
        steps_.push_back(std::make_unique<PrefixSpace>());
    if (node.boolean("use_regex", true))
        steps_.push_back(std::make_unique<KnownSplit>(KnownPattern::gpt2));
    if (is_last)
        byte_level_ = true;
    else
        steps_.push_back(std::make_unique<SpellBytes>());
}

void PreTokenizer::add_step(const Node& node, const std::string& type) {
    if (type == "Split") {
        steps_.push_back(parse_split(node));
    } else if (type == "Digits") {
        add_digits(node.boolean("individual_digits", false));
    } else if (type == "Punctuation") {
        const Behavior behavior = parse_behavior(node, node.string("behavior", "Isolated"));
        steps_.push_back(std::make_unique<ClassSplit>(unicode::is_punctuation, behavior));
    } else if (type == "Whitespace") {
        steps_.push_back(std::make_unique<WordSplit>());
    } else if (type == "WhitespaceSplit") {
        steps_.push_back(std::make_unique<ClassSplit>(unicode::is_white_space, Behavior::removed));
    } else if (type == "Metaspace") {
        std::string mark;
        steps_.push_back(parse_space_mark(node, mark));
        if (node.boolean("split", true))
            steps_.push_back(
                std::make_unique<StringSplit>(mark, Behavior::merged_with_next, false));
    } else {
        node.fail(ErrorCode::unsupported,
                  "is " + type
                      + "; supported are Sequence, Split, ByteLevel, Digits, "
                        "Punctuation, Whitespace, WhitespaceSplit and Metaspace");
    }
}

void PreTokenizer::add_pattern(std::string_view pattern, const std::string& subject) {
    steps_.push_back(make_pattern_step(std::string(pattern), Behavior::isolated, false,
                                       "tokenizer.ggml.pre's pattern", subject));
}

void PreTokenizer::add_digits(bool individual) {
    steps_.push_back(std::make_unique<DigitSplit>(individual));
}

void PreTokenizer::end_with_byte_level(bool use_regex) {
    if (use_regex)
        steps_.push_back(std::make_unique<KnownSplit>(KnownPattern::gpt2));
    byte_level_ = true;
}

void PreTokenizer::apply(PieceList& list) const {
    list.pieces.clear();
    push(list.pieces, make_piece(0, list.text.text.size()));
    for (const auto& step : steps_)
        step->apply(list);
}

} // namespace cuset::text
