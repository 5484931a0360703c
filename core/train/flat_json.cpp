#include "core/train/flat_json.h"

#include <charconv>
#include <limits>

namespace cuset {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

} // namespace

FlatJson::FlatJson(std::string_view text)
    : text_(text) {
    blanks();
    if (at_ < text_.size() && text_[at_] == '{') {
        ++at_;
        next();
    } else {
        fail();
    }
}

void FlatJson::blanks() {
    while (at_ < text_.size()
           && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
        ++at_;
}

// To the next member's value, or to the end of the object.
void FlatJson::next() {
    key_ = {};
    blanks();
    if (at_ < text_.size() && text_[at_] == '}') {
        ++at_;
        blanks();
        done_ = true;
        if (at_ != text_.size())
            fail();
        return;
    }
    if (!first_) {
        if (at_ >= text_.size() || text_[at_] != ',')
            return fail();
        ++at_;
        blanks();
    }
    first_ = false;
    const std::string_view name = quoted();
    blanks();
    if (!ok_ || name.empty() || at_ >= text_.size() || text_[at_] != ':')
        return fail();
    ++at_;
    blanks();
    key_ = name;
}

// Printable ASCII without an escape: what event lines hold.
std::string_view FlatJson::quoted() {
    if (at_ >= text_.size() || text_[at_] != '"') {
        fail();
        return {};
    }
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find('"', begin);
    if (end == text_.npos) {
        fail();
        return {};
    }
    bool plain = true;
    for (std::size_t i = begin; i < end; ++i)
        plain &= text_[i] >= ' ' && text_[i] <= '~' && text_[i] != '\\';
    if (!plain) {
        fail();
        return {};
    }
    at_ = end + 1;
    return text_.substr(begin, end - begin);
}

bool FlatJson::word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected)
        return false;
    at_ += expected.size();
    return true;
}

// RFC 8259, section 6.
FlatJson::Value FlatJson::number() {
    const std::size_t begin = at_;
    const auto digits = [this] {
        const std::size_t from = at_;
        while (at_ < text_.size() && is_digit(text_[at_]))
            ++at_;
        return at_ - from;
    };
    if (at_ < text_.size() && text_[at_] == '-')
        ++at_;
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const std::size_t whole = digits();
    bool good = whole > 0 && !(zero && whole > 1);
    Kind kind = Kind::integer;
    if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        kind = Kind::real;
        good = digits() > 0 && good;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
        ++at_;
        kind = Kind::real;
        if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-'))
            ++at_;
        good = digits() > 0 && good;
    }
    if (!good)
        fail();
    return {kind, text_.substr(begin, at_ - begin)};
}

FlatJson::Value FlatJson::value() {
    if (!ok_ || at_ >= text_.size()) {
        fail();
        return {};
    }
    const char c = text_[at_];
    if (c == '"')
        return {Kind::text, quoted()};
    if (c == '-' || is_digit(c))
        return number();
    if (word("true"))
        return {Kind::boolean, "t"};
    if (word("false"))
        return {Kind::boolean, "f"};
    if (word("null"))
        return {Kind::null, {}};
    fail();
    return {};
}

void FlatJson::take(double& to) {
    const Value v = value();
    to = std::numeric_limits<double>::quiet_NaN();
    if (v.kind == Kind::integer || v.kind == Kind::real) {
        const auto read = std::from_chars(v.text.data(), v.text.data() + v.text.size(), to);
        if (read.ec != std::errc())
            return fail();
    }
    if (ok_)
        next();
}

template <typename Integer> void FlatJson::take_integer(Integer& to) {
    const Value v = value();
    if (v.kind == Kind::integer) {
        const auto read = std::from_chars(v.text.data(), v.text.data() + v.text.size(), to);
        if (read.ec != std::errc())
            return fail();
    }
    if (ok_)
        next();
}

void FlatJson::take(std::int64_t& to) {
    take_integer(to);
}

void FlatJson::take(int& to) {
    take_integer(to);
}

void FlatJson::take(bool& to) {
    const Value v = value();
    if (v.kind == Kind::boolean)
        to = v.text == "t";
    if (ok_)
        next();
}

void FlatJson::take(std::string& to) {
    const Value v = value();
    if (v.kind == Kind::text)
        to = v.text;
    if (ok_)
        next();
}

void FlatJson::take(std::string_view& to) {
    const Value v = value();
    if (v.kind == Kind::text)
        to = v.text;
    if (ok_)
        next();
}

void FlatJson::skip() {
    value();
    if (ok_)
        next();
}

} // namespace cuset
