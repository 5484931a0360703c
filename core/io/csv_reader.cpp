#include "core/io/csv_reader.h"

#include <algorithm>

namespace cuset {

void CsvReader::choose_separator() {
    std::string_view header = source_.pending();
    while (header.find('\n') == std::string_view::npos && header.size() < max_bytes_
           && source_.fill())
        header = source_.pending();
    header = source_.pending();
    header = header.substr(0, header.find('\n'));
    separator_ = ',';
    for (const char candidate : {';', '\t'})
        if (std::count(header.begin(), header.end(), candidate)
            > std::count(header.begin(), header.end(), separator_))
            separator_ = candidate;
}

void CsvReader::end_field(CsvRow& row) {
    if (row.fault.empty())
        row.fields.push_back(std::move(field_));
    field_.clear();
    state_ = State::field_start;
}

// Takes one character; true if it ends the row.
bool CsvReader::take(char c, CsvRow& row) {
    line_ += c == '\n';
    if (++row_bytes_ > max_bytes_ && row.fault.empty()) {
        row.fault = "longer than " + std::to_string(max_bytes_) + " bytes";
        row.fields.clear();
    }
    if (!row.fault.empty())
        field_.clear();
    switch (state_) {
    case State::quoted:
        if (c == '"')
            state_ = State::quote_in_quoted;
        else
            field_ += c;
        return false;
    case State::quote_in_quoted:
        if (c == '"') {
            field_ += c;
            state_ = State::quoted;
            return false;
        }
        state_ = State::plain;
        break;
    case State::field_start:
        if (c == '"') {
            state_ = State::quoted;
            return false;
        }
        state_ = State::plain;
        break;
    case State::plain:
        break;
    }
    if (c == separator_) {
        end_field(row);
    } else if (c == '\n') {
        if (field_.ends_with('\r'))
            field_.pop_back();
        end_field(row);
        return true;
    } else {
        field_ += c;
    }
    return false;
}

std::optional<CsvRow> CsvReader::next() {
    if (separator_ == 0)
        choose_separator();
    for (;;) {
        CsvRow row{{}, line_};
        row_bytes_ = 0;
        bool ended = false;
        while (!ended) {
            const std::string_view pending = source_.pending();
            std::size_t at = 0;
            while (at < pending.size() && !ended)
                ended = take(pending[at++], row);
            source_.consume(at);
            if (ended || source_.fill())
                continue;
            if (row_bytes_ == 0)
                return std::nullopt;
            if (state_ == State::quoted && row.fault.empty())
                row.fault = "a quote that is opened here is never closed";
            end_field(row);
            ended = true;
        }
        const bool blank =
            row.fault.empty() && row.fields.size() == 1 && row.fields.front().empty();
        if (!blank)
            return row;
    }
}

} // namespace cuset
