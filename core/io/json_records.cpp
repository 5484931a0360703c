#include "core/io/json_records.h"

namespace cuset {
namespace {

bool is_json_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

} // namespace

// Consumes spaces and, around elements, the array's brackets and commas. False at the end of the
// input.
bool JsonPieceReader::skip_between() {
    for (;;) {
        const std::string_view pending = source_.pending();
        std::size_t at = 0;
        for (; at < pending.size(); ++at) {
            const char c = pending[at];
            if (c == '\n')
                ++line_;
            else if (c == '[' && !begun_)
                in_array_ = true;
            else if (c == ']' && in_array_)
                in_array_ = false;
            else if (!is_json_space(c) && !(c == ',' && in_array_))
                break;
            begun_ = begun_ || c == '[';
        }
        source_.consume(at);
        if (!source_.pending().empty()) {
            begun_ = true;
            return true;
        }
        if (!source_.fill())
            return false;
    }
}

// True if the value ends with `c`, the next character of it. Keeps the state between calls.
bool JsonPieceReader::value_ends(char c) {
    if (in_string_) {
        if (escaped_)
            escaped_ = false;
        else if (c == '\\')
            escaped_ = true;
        else if (c == '"')
            in_string_ = false;
        return !in_string_ && depth_ == 0;
    }
    if (c == '"')
        in_string_ = true;
    else if (c == '{' || c == '[')
        ++depth_;
    else if (c == '}' || c == ']')
        return --depth_ <= 0;
    return false;
}

std::optional<JsonPiece> JsonPieceReader::next() {
    source_.consume(taken_);
    taken_ = 0;
    if (!skip_between())
        return std::nullopt;
    JsonPiece piece{{}, line_, false};
    depth_ = 0;
    in_string_ = escaped_ = false;
    std::size_t at = 0;
    bool ended = false;
    const bool is_scalar =
        std::string_view("{[\"").find(source_.pending().front()) == std::string_view::npos;
    while (!ended) {
        const std::string_view pending = source_.pending();
        for (; at < pending.size() && !ended; ++at) {
            if (is_scalar
                && (is_json_space(pending[at]) || pending[at] == ',' || pending[at] == ']'))
                break;
            line_ += pending[at] == '\n';
            ended = !is_scalar && value_ends(pending[at]);
        }
        ended = ended || at < pending.size();
        if (at > max_bytes_) {
            piece.too_long = true;
            source_.consume(at);
            at = 0;
        }
        if (!ended && !source_.fill())
            break;
    }
    // A stray bracket is not part of any scalar: take it, so that every call goes on.
    if (at == 0 && !piece.too_long)
        at = 1;
    taken_ = at;
    if (!piece.too_long)
        piece.text = source_.pending().substr(0, at);
    return piece;
}

} // namespace cuset
