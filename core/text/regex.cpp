#include "core/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/error.h"
#include "core/text/unicode.h"

namespace cuset::text {
namespace {

// Steps that one match may take. The well-known patterns need a few for each character; a run of a
// megabyte that is gone through backwards must still fit.
constexpr std::uint32_t match_limit = 20'000'000;
constexpr std::uint32_t depth_limit = 20'000'000; // bounded by the heap limit below
constexpr std::uint32_t heap_limit_kib = 256 * 1024;
constexpr std::size_t jit_stack_bytes = 8U << 20;

// Rewrites the reference's syntax for PCRE2.
class Translator {
public:
    Translator(const std::string& pattern, const std::string& where, const std::string& subject)
        : in_(pattern)
        , where_(where)
        , subject_(subject) { }

    std::string translate() {
        while (at_ < in_.size()) {
            const char c = in_[at_];
            if (c == '\\')
                escape();
            else if (c == '[')
                open_bracket();
            else if (c == ']' && in_class_)
                close_bracket();
            else if (c == '&' && in_class_ && in_.compare(at_, 2, "&&") == 0)
                refuse("an intersection (&&) in a character class");
            else if (c == '(' && !in_class_ && in_.compare(at_, 2, "(?") == 0)
                group();
            else
                copy(1);
        }
        return std::move(out_);
    }

private:
    void copy(std::size_t count) {
        out_.append(in_, at_, count);
        at_ += count;
    }
    // Puts `members` (what may stand in a class) in place of `count` characters.
    void put(const std::string& members, std::size_t count) {
        out_ += in_class_ ? members : "[" + members + "]";
        at_ += count;
    }
    void put_negated(const std::string& members, const std::string& name, std::size_t count) {
        if (in_class_)
            refuse(name + " in a character class");
        out_ += "[^" + members + "]";
        at_ += count;
    }
    // The property as a part of a class, with the characters that the reference's tables have and
    // PCRE2's may lack.
    static std::string property(const std::string& name) {
        return "\\p{" + name + "}" + unicode::newer_members(name);
    }
    static std::string word() { // has marks and connectors
        return property("L") + property("M") + property("N") + property("Pc");
    }
    void escape() {
        // Ruby: \h is a hexadecimal digit; \R and \X are the same in both.
        static const std::string hex = "0-9a-fA-F";
        // White_Space; PCRE2's \s has U+180E too.
        static const std::string space = R"(\t-\r\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a})"
                                         R"(\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
        switch (at_ + 1 < in_.size() ? in_[at_ + 1] : '\0') {
        case 'h':
            return put(hex, 2);
        case 'H':
            return put_negated(hex, "\\H", 2);
        case 'w':
            return put(word(), 2);
        case 'W':
            return put_negated(word(), "\\W", 2);
        case 's':
            return put(space, 2);
        case 'S':
            return put(R"(\S\x{180e})", 2);
        case 'd':
            return put(property("Nd"), 2);
        case 'D':
            return put_negated(property("Nd"), "\\D", 2);
        case 'p':
        case 'P':
            return braced_property();
        case 'u':
            return code_point();
        default:
            return copy(2);
        }
    }
    void braced_property() { // \p{NAME}, \P{NAME}, \p{^NAME}
        const std::size_t end = in_.find('}', at_);
        if (in_.compare(at_ + 2, 1, "{") != 0 || end == std::string::npos)
            refuse("\\p without a name in braces");
        std::string name = in_.substr(at_ + 3, end - at_ - 3);
        bool negated = in_[at_ + 1] == 'P';
        if (name.starts_with('^')) {
            negated = !negated;
            name.erase(0, 1);
        }
        if (negated)
            put_negated(property(name), "\\P{" + name + "}", end + 1 - at_);
        else
            put(property(name), end + 1 - at_);
    }
    void code_point() { // \uHHHH
        const std::string digits = in_.substr(at_ + 2, 4);
        if (digits.size() != 4
            || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
            refuse("\\u without four hexadecimal digits");
        out_ += "\\x{" + digits + "}";
        at_ += 6;
    }
    void open_bracket() {
        if (!in_class_) {
            in_class_ = true;
            copy(1);
            if (at_ < in_.size() && in_[at_] == '^')
                copy(1);
            if (at_ < in_.size() && in_[at_] == ']') {
                out_ += '\\';
                copy(1);
            }
            return;
        }
        if (in_.compare(at_, 2, "[:") != 0)
            refuse("a character class inside another");
        const std::size_t end = in_.find(":]", at_);
        copy(end == std::string::npos ? 1 : end + 2 - at_);
    }
    void close_bracket() {
        in_class_ = false;
        copy(1);
    }
    void group() {
        // Ruby's (?m) is "dot matches newline", which is (?s) elsewhere.
        std::size_t k = at_ + 2;
        while (k < in_.size() && (in_[k] == 'i' || in_[k] == 'm' || in_[k] == 'x' || in_[k] == '-'))
            ++k;
        const bool is_flags = k > at_ + 2 && k < in_.size() && (in_[k] == ':' || in_[k] == ')');
        if (!is_flags)
            return copy(2);
        for (; at_ < k; ++at_)
            out_ += in_[at_] == 'm' ? 's' : in_[at_];
    }
    [[noreturn]] void refuse(const std::string& what) const {
        throw Error(ErrorCode::unsupported,
                    where_ + " uses " + what + ", which is not supported: " + in_, subject_);
    }

    const std::string& in_;
    const std::string& where_;
    const std::string& subject_;
    std::string out_;
    std::size_t at_ = 0;
    bool in_class_ = false;
};

struct MatchState {
    pcre2_match_context* context = pcre2_match_context_create(nullptr);
    pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
    pcre2_jit_stack* stack = pcre2_jit_stack_create(32 * 1024, jit_stack_bytes, nullptr);
    MatchState() {
        pcre2_set_match_limit(context, match_limit);
        pcre2_set_depth_limit(context, depth_limit);
        pcre2_set_heap_limit(context, heap_limit_kib);
        pcre2_jit_stack_assign(context, nullptr, stack);
    }
    ~MatchState() {
        pcre2_jit_stack_free(stack);
        pcre2_match_data_free(data);
        pcre2_match_context_free(context);
    }
    MatchState(const MatchState&) = delete;
    MatchState& operator=(const MatchState&) = delete;
};

MatchState& match_state() {
    thread_local MatchState state;
    return state;
}

std::string pcre2_message(int code) {
    PCRE2_UCHAR buffer[256] = {};
    pcre2_get_error_message(code, buffer, sizeof buffer);
    return reinterpret_cast<const char*>(buffer);
}

} // namespace

struct Regex::Code {
    pcre2_code* code = nullptr;
    ~Code() { pcre2_code_free(code); }
};

Regex::Regex(const std::string& pattern, const std::string& where, const std::string& subject)
    : pattern_(pattern)
    , where_(where)
    , subject_(subject)
    , code_(std::make_unique<Code>()) {
    const std::string translated = Translator(pattern_, where_, subject_).translate();
    pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_max_pattern_length(context, 1 << 16);
    pcre2_set_parens_nest_limit(context, 64);
    int error = 0;
    PCRE2_SIZE at = 0;
    // Ruby's ^ and $ always stand for line borders.
    code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                &error, &at, context);
    pcre2_compile_context_free(context);
    if (code_->code == nullptr)
        throw Error(ErrorCode::bad_value,
                    where_ + " does not compile (" + pcre2_message(error) + " at "
                        + std::to_string(at) + "): " + pattern_,
                    subject_);
    // Without JIT the interpreter takes over: slower, same answers.
    pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;

int Regex::match(const Code& code, std::string_view text, std::size_t at, std::size_t& begin,
                 std::size_t& end) const {
    MatchState& state = match_state();
    const auto* bytes = reinterpret_cast<PCRE2_SPTR>(text.data());
    int result = pcre2_match(code.code, bytes, text.size(), at, PCRE2_NO_UTF_CHECK, state.data,
                             state.context);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = pcre2_match(code.code, bytes, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                             state.data, state.context);
    if (result == PCRE2_ERROR_NOMATCH)
        return 0;
    if (result < 0)
        throw Error(ErrorCode::limit,
                    where_ + " stopped with \"" + pcre2_message(result)
                        + "\" on this text: " + pattern_,
                    subject_);
    const PCRE2_SIZE* places = pcre2_get_ovector_pointer(state.data);
    begin = places[0];
    end = places[1];
    return 1;
}

void Regex::find_all(std::string_view text,
                     const std::function<void(std::size_t, std::size_t)>& found) const {
    std::size_t at = 0;
    std::size_t last_end = std::string_view::npos;
    while (at <= text.size()) {
        std::size_t begin = 0, end = 0;
        if (match(*code_, text, at, begin, end) == 0)
            return;
        if (begin >= end && end == last_end) {
            // No empty match right after the last one: go on behind the next character.
            at += at < text.size() ? unicode::decode(text, at).size : 1;
            continue;
        }
        at = last_end = end;
        found(begin, end);
    }
}

} // namespace cuset::text
