#include "core/io/json_lines.h"

namespace cuset {
namespace {

TextLine make_line(std::string_view text, std::int64_t number) {
    if (text.ends_with('\r'))
        text.remove_suffix(1);
    return {text, number, false};
}

} // namespace

std::optional<TextLine> LineReader::next() {
    source_.consume(taken_);
    taken_ = 0;
    std::size_t scanned = 0;
    for (;;) {
        const std::string_view pending = source_.pending();
        const std::size_t end = pending.find('\n', scanned);
        if (end != std::string_view::npos && end <= max_bytes_) {
            taken_ = end + 1;
            return make_line(pending.substr(0, end), ++number_);
        }
        if (pending.size() > max_bytes_)
            return skip_long_line();
        scanned = pending.size();
        if (source_.fill())
            continue;
        if (pending.empty())
            return std::nullopt;
        taken_ = source_.pending().size();
        return make_line(source_.pending(), ++number_);
    }
}

TextLine LineReader::skip_long_line() {
    std::size_t end = std::string_view::npos;
    while ((end = source_.pending().find('\n')) == std::string_view::npos) {
        source_.consume(source_.pending().size());
        if (!source_.fill())
            return {{}, ++number_, true};
    }
    source_.consume(end + 1);
    return {{}, ++number_, true};
}

} // namespace cuset
