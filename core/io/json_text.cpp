#include "core/io/json_text.h"

#include <optional>

#include "core/base/error.h"
#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

constexpr std::string_view escaped_replacement = "\\ufffd";

// The code unit of the escape \uXXXX at text[at], or nothing if there is none.
std::optional<unsigned> unicode_escape(std::string_view text, std::size_t at) {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u')
        return std::nullopt;
    unsigned unit = 0;
    for (const char digit : text.substr(at + 2, 4)) {
        unit <<= 4;
        if (digit >= '0' && digit <= '9')
            unit |= static_cast<unsigned>(digit - '0');
        else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
            unit |= static_cast<unsigned>((digit | 0x20) - 'a' + 10);
        else
            return std::nullopt;
    }
    return unit;
}

bool is_high_surrogate(unsigned unit) {
    return unit >= 0xD800 && unit <= 0xDBFF;
}

bool is_low_surrogate(unsigned unit) {
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

// One pass over a JSON text that repairs it; copies only if there is something to repair.
class JsonCleaner {
public:
    explicit JsonCleaner(std::string_view text)
        : text_(text) { }

    std::string_view run() {
        while (at_ < text_.size())
            in_string_ ? step_in_string() : step_outside();
        if (storage_.empty())
            return text_;
        storage_.append(text_.substr(kept_));
        return storage_;
    }
    bool repaired() const { return repaired_; }

private:
    void step_outside() {
        const char c = text_[at_];
        if (c == '"') {
            in_string_ = true;
        } else if (c == '{' || c == '[') {
            if (++depth_ > max_json_depth)
                throw Error(ErrorCode::limit,
                            "nested deeper than " + std::to_string(max_json_depth) + " levels");
        } else if (c == '}' || c == ']') {
            --depth_;
        } else if (c == 'N' || c == 'I' || c == '-') {
            for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
                if (text_.substr(at_).starts_with(word))
                    return replace(word.size(), "null");
        }
        ++at_;
    }

    void step_in_string() {
        const char c = text_[at_];
        if (c == '\\')
            return step_escape();
        const Utf8Step step = utf8_step(text_, at_);
        if (!step.valid) {
            repaired_ = true;
            return replace(step.size, replacement_utf8);
        }
        in_string_ = c != '"';
        at_ += step.size;
    }

    void step_escape() {
        const std::optional<unsigned> unit = unicode_escape(text_, at_);
        if (!unit) {
            at_ = std::min(at_ + 2, text_.size());
            return;
        }
        if (is_high_surrogate(*unit)) {
            const std::optional<unsigned> next = unicode_escape(text_, at_ + 6);
            if (next && is_low_surrogate(*next)) {
                at_ += 12;
                return;
            }
        } else if (!is_low_surrogate(*unit)) {
            at_ += 6;
            return;
        }
        repaired_ = true;
        replace(6, escaped_replacement);
    }

    void replace(std::size_t size, std::string_view by) {
        storage_.append(text_.substr(kept_, at_ - kept_)).append(by);
        at_ += size;
        kept_ = at_;
    }

    std::string_view text_;
    std::string storage_;
    std::size_t at_ = 0;
    std::size_t kept_ = 0;
    int depth_ = 0;
    bool in_string_ = false;
    bool repaired_ = false;
};

} // namespace

ParsedJson parse_json_text(std::string_view text) {
    JsonCleaner cleaner(text);
    const std::string_view clean = cleaner.run();
    try {
        return {nlohmann::json::parse(clean), cleaner.repaired()};
    } catch (const nlohmann::json::parse_error& error) {
        if (error.byte > clean.size())
            throw Error(ErrorCode::bad_format, "JSON ends before it is complete (cut off?)");
        throw Error(ErrorCode::bad_format, "is not JSON at byte " + std::to_string(error.byte));
    } catch (const nlohmann::json::exception&) {
        // A number outside of double's range.
        throw Error(ErrorCode::bad_format, "holds a number that is out of range");
    }
}

} // namespace cuset
