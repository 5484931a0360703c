#include "core/text/normalizer.h"

#include <utf8proc.h>

#include <vector>

#include "core/text/regex.h"
#include "core/text/unicode.h"

namespace cuset::text {
namespace {

class UnicodeForm final : public Normalizer {
public:
    explicit UnicodeForm(NormalForm form)
        : form_(form) { }
    bool apply(AlignedView in, AlignedText& out) const override {
        return normalize_unicode(form_, in, out);
    }

private:
    NormalForm form_;
};

class Chain final : public Normalizer {
public:
    explicit Chain(std::vector<std::unique_ptr<const Normalizer>> steps)
        : steps_(std::move(steps)) { }
    bool apply(AlignedView in, AlignedText& out) const override {
        bool changed = false;
        for (const auto& step : steps_) {
            AlignedText next;
            if (step->apply(changed ? out.view() : in, next)) {
                out = std::move(next);
                changed = true;
            }
        }
        return changed;
    }

private:
    std::vector<std::unique_ptr<const Normalizer>> steps_;
};

class Prepend final : public Normalizer {
public:
    explicit Prepend(std::string content)
        : content_(std::move(content)) { }
    bool apply(AlignedView in, AlignedText& out) const override {
        if (in.text.empty() || content_.empty())
            return false;
        out.append(content_, in.source(0), in.source(0));
        out.append(in);
        out.finish(in.source(in.text.size()));
        return true;
    }

private:
    std::string content_;
};

class Replace final : public Normalizer {
public:
    Replace(std::string pattern, std::unique_ptr<const Regex> regex, std::string content)
        : pattern_(std::move(pattern))
        , regex_(std::move(regex))
        , content_(std::move(content)) { }

    bool apply(AlignedView in, AlignedText& out) const override {
        std::size_t done = 0;
        bool changed = false;
        const auto replace = [&](std::size_t begin, std::size_t end) {
            out.append(in.slice(done, begin));
            out.append(content_, in.source(begin), in.source(end));
            done = end;
            changed = true;
        };
        if (regex_ != nullptr) {
            if (!in.text.empty())
                regex_->find_all(in.text, replace);
        } else if (!pattern_.empty()) {
            for (std::size_t at = in.text.find(pattern_); at != std::string_view::npos;
                 at = in.text.find(pattern_, done))
                replace(at, at + pattern_.size());
        }
        if (!changed)
            return false;
        out.append(in.slice(done, in.text.size()));
        out.finish(in.source(in.text.size()));
        return true;
    }

private:
    std::string pattern_;
    std::unique_ptr<const Regex> regex_;
    std::string content_;
};

class Strip final : public Normalizer {
public:
    Strip(bool left, bool right)
        : left_(left)
        , right_(right) { }
    bool apply(AlignedView in, AlignedText& out) const override {
        std::size_t begin = 0, end = in.text.size();
        while (left_ && begin < end) {
            const unicode::Decoded d = unicode::decode(in.text, begin);
            if (!unicode::is_white_space(d.code))
                break;
            begin += d.size;
        }
        while (right_ && end > begin) {
            const std::size_t at = unicode::previous(in.text, end);
            if (!unicode::is_white_space(unicode::decode(in.text, at).code))
                break;
            end = at;
        }
        if (begin == 0 && end == in.text.size())
            return false;
        out.append(in.slice(begin, end));
        out.finish(in.source(end));
        return true;
    }

private:
    bool left_, right_;
};

class Lowercase final : public Normalizer {
public:
    bool apply(AlignedView in, AlignedText& out) const override {
        for (std::size_t k = 0; k < in.text.size();) {
            const unicode::Decoded d = unicode::decode(in.text, k);
            std::string lower;
            // The only character whose lower case is two characters whatever stands beside it.
            if (d.code == 0x130)
                lower = "i\xcc\x87";
            else
                unicode::append_utf8(
                    lower,
                    static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(d.code))));
            out.append(lower, in.source(k), in.source(k + d.size));
            k += d.size;
        }
        out.finish(in.source(in.text.size()));
        return true;
    }
};

std::unique_ptr<const Normalizer> parse_replace(const Node& node) {
    const Node pattern = node.require_object("pattern");
    const std::string content = node.string("content");
    if (pattern.json().contains("String"))
        return std::make_unique<Replace>(pattern.string("String"), nullptr, content);
    if (!pattern.json().contains("Regex"))
        pattern.fail(ErrorCode::bad_format, "has neither String nor Regex");
    const Node regex = pattern.member("Regex");
    return std::make_unique<Replace>(
        "", std::make_unique<Regex>(pattern.string("Regex"), regex.path(), node.subject()),
        content);
}

std::unique_ptr<const Normalizer> parse_chain(const Node& node) {
    const Node list = node.require_array("normalizers");
    std::vector<std::unique_ptr<const Normalizer>> steps;
    for (std::size_t k = 0; k < list.json().size(); ++k)
        steps.push_back(parse_normalizer(list.element(k)));
    return std::make_unique<Chain>(std::move(steps));
}

} // namespace

std::unique_ptr<const Normalizer> parse_normalizer(const Node& node) {
    const std::string type = node.string("type");
    if (type == "NFC")
        return std::make_unique<UnicodeForm>(NormalForm::nfc);
    if (type == "NFD")
        return std::make_unique<UnicodeForm>(NormalForm::nfd);
    if (type == "NFKC")
        return std::make_unique<UnicodeForm>(NormalForm::nfkc);
    if (type == "NFKD")
        return std::make_unique<UnicodeForm>(NormalForm::nfkd);
    if (type == "Sequence")
        return parse_chain(node);
    if (type == "Prepend")
        return std::make_unique<Prepend>(node.string("prepend"));
    if (type == "Replace")
        return parse_replace(node);
    if (type == "Strip")
        return std::make_unique<Strip>(node.boolean("strip_left", false),
                                       node.boolean("strip_right", false));
    if (type == "Lowercase")
        return std::make_unique<Lowercase>();
    node.fail(ErrorCode::unsupported,
              "is " + type
                  + "; supported are NFC, NFD, NFKC, NFKD, Sequence, Prepend, Replace, Strip and "
                    "Lowercase");
}

std::unique_ptr<const Normalizer> make_space_normalizer(bool add_prefix) {
    std::vector<std::unique_ptr<const Normalizer>> steps;
    if (add_prefix)
        steps.push_back(std::make_unique<Prepend>("\xe2\x96\x81"));
    steps.push_back(std::make_unique<Replace>(" ", nullptr, "\xe2\x96\x81"));
    return std::make_unique<Chain>(std::move(steps));
}

std::unique_ptr<const Normalizer> make_nfc_normalizer() {
    return std::make_unique<UnicodeForm>(NormalForm::nfc);
}

} // namespace cuset::text
