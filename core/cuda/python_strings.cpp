#include "core/cuda/python_strings.h"

#include <algorithm>

namespace cuset::cuda_scan {

namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
        || static_cast<unsigned char>(c) >= 0x80;
}

bool holds_cuda(std::string_view text) {
    for (std::string_view sign : {"__global__", "__device__", "__shared__", "<<<", "#include",
                                  "cudaMalloc", "cudaMemcpy", "threadIdx", "hipLaunchKernelGGL"})
        if (text.find(sign) != std::string_view::npos)
            return true;
    return false;
}

class PythonReader {
public:
    explicit PythonReader(std::string_view text)
        : text_(text)
        , size_(static_cast<std::int32_t>(text.size())) { }

    std::vector<EmbeddedSource> run() {
        while (at_ < size_)
            step();
        flush();
        return std::move(found_);
    }

private:
    struct Literal {
        bool raw = false;
        bool formatted = false;
        char quote = 0;
        bool triple = false;
    };

    char peek(std::int32_t offset = 0) const {
        return at_ + offset < size_ ? text_[at_ + offset] : '\0';
    }

    void step() {
        const char c = text_[at_];
        if (c == '#') {
            const std::size_t end = text_.find('\n', at_);
            at_ = end == std::string_view::npos ? size_ : static_cast<std::int32_t>(end);
        } else if (c == '\n') {
            ++at_;
            if (depth_ == 0) {
                statement_begin_ = true;
                flush();
            }
        } else if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '\\' && peek(1) == '\n') {
            at_ += 2;
        } else if (c == '"' || c == '\'') {
            read_literal({});
        } else if (is_word(c)) {
            read_word();
        } else {
            if (c == '(' || c == '[' || c == '{')
                ++depth_;
            else if ((c == ')' || c == ']' || c == '}') && depth_ > 0)
                --depth_;
            significant();
            ++at_;
        }
    }

    void significant() {
        flush();
        statement_begin_ = false;
    }

    void read_word() {
        const std::int32_t begin = at_;
        Literal literal;
        bool prefix = true;
        while (at_ < size_ && is_word(text_[at_])) {
            const char c = text_[at_++] | 0x20;
            prefix = prefix && at_ - begin <= 2
                && (c == 'r' || c == 'b' || c == 'u' || c == 'f' || c == 't');
            literal.raw = literal.raw || c == 'r';
            literal.formatted = literal.formatted || c == 'f' || c == 't';
        }
        if (prefix && (peek() == '"' || peek() == '\''))
            read_literal(literal);
        else
            significant();
    }

    void emit(const char* bytes, std::int32_t count, std::int32_t begin, std::int32_t end) {
        for (std::int32_t i = 0; i < count; ++i) {
            source_.text += bytes[i];
            source_.begin.push_back(begin);
            source_.end.push_back(end);
        }
    }

    void read_literal(Literal literal) {
        literal.quote = text_[at_];
        literal.triple = peek(1) == literal.quote && peek(2) == literal.quote;
        at_ += literal.triple ? 3 : 1;
        const bool first = !pending_;
        if (first) {
            source_ = EmbeddedSource{};
            source_.span.begin = at_;
            pending_ = true;
            docstring_ = statement_begin_ && depth_ == 0;
        }
        statement_begin_ = false;
        while (at_ < size_) {
            const char c = text_[at_];
            if (c == literal.quote && (!literal.triple || (peek(1) == c && peek(2) == c))) {
                source_.span.end = at_;
                at_ += literal.triple ? 3 : 1;
                return;
            }
            if (c == '\n' && !literal.triple)
                break; // never closed: Python ends it with the line
            read_piece(literal);
        }
        source_.span.end = std::min(at_, size_);
        source_.unfinished = at_ >= size_;
    }

    void read_piece(const Literal& literal) {
        const char c = text_[at_];
        const std::int32_t begin = at_;
        if (c == '\\' && at_ + 1 < size_) {
            if (literal.raw) { // the backslash stays and guards the next character
                emit(text_.data() + at_, 2, at_, at_ + 2);
                source_.end[source_.end.size() - 2] = at_ + 1;
                source_.begin.back() = at_ + 1;
                at_ += 2;
            } else {
                read_escape();
            }
        } else if (literal.formatted && (c == '{' || c == '}') && peek(1) == c) {
            at_ += 2;
            emit(&c, 1, begin, at_);
        } else if (literal.formatted && c == '{') {
            skip_field(literal);
            emit("_", 1, begin, at_);
        } else {
            ++at_;
            emit(&c, 1, begin, at_);
        }
    }

    // A replacement field, to its `}` or the end of the literal.
    void skip_field(const Literal& literal) {
        std::int32_t depth = 0;
        while (at_ < size_) {
            const char c = text_[at_];
            if (c == literal.quote || (c == '\n' && !literal.triple))
                return;
            ++at_;
            if (c == '{')
                ++depth;
            else if (c == '}' && --depth == 0)
                return;
        }
    }

    void read_escape() {
        const std::int32_t begin = at_;
        const char c = text_[at_ + 1];
        at_ += 2;
        const std::string_view from = "abfnrtv\\'\"";
        const std::string_view to = "\a\b\f\n\r\t\v\\'\"";
        if (c == '\n')
            return;
        if (const std::size_t found = from.find(c); found != std::string_view::npos) {
            emit(&to[found], 1, begin, at_);
        } else if (c == 'x' || c == 'u' || c == 'U') {
            const std::int32_t digits = c == 'x' ? 2 : (c == 'u' ? 4 : 8);
            const std::int32_t first = at_;
            while (at_ < size_ && at_ - first < digits && is_hex(text_[at_]))
                ++at_;
            emit_code(begin, first, 16);
        } else if (c >= '0' && c <= '7') {
            const std::int32_t first = at_ - 1;
            while (at_ < size_ && at_ - first < 3 && text_[at_] >= '0' && text_[at_] <= '7')
                ++at_;
            emit_code(begin, first, 8);
        } else {
            emit(text_.data() + begin, 2, begin, at_);
        }
    }

    static bool is_hex(char c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    }

    // The character whose number stands in [first, at_); beyond ASCII a letter stands for it.
    void emit_code(std::int32_t begin, std::int32_t first, unsigned base) {
        unsigned long long code = 0;
        for (std::int32_t i = first; i < at_; ++i) {
            const char c = text_[i];
            code = code * base + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        }
        const char byte = code < 0x80 ? static_cast<char>(code) : '_';
        emit(&byte, 1, begin, at_);
    }

    void flush() {
        if (pending_ && !docstring_ && !source_.text.empty() && holds_cuda(source_.text))
            found_.push_back(std::move(source_));
        pending_ = false;
    }

    std::string_view text_;
    std::int32_t size_;
    std::int32_t at_ = 0;
    std::int32_t depth_ = 0; // open brackets
    bool statement_begin_ = true;
    bool pending_ = false; // source_ may go on in the next literal
    bool docstring_ = false;
    EmbeddedSource source_;
    std::vector<EmbeddedSource> found_;
};

} // namespace

ByteSpan EmbeddedSource::place(ByteSpan part) const {
    const auto size = static_cast<std::int32_t>(begin.size());
    if (size == 0)
        return {span.begin, span.begin};
    const std::int32_t first = std::clamp(part.begin, 0, size - 1);
    const std::int32_t last = std::clamp(part.end - 1, first, size - 1);
    return {begin[first], part.empty() ? begin[first] : end[last]};
}

std::vector<EmbeddedSource> find_python_sources(std::string_view python) {
    return PythonReader(python).run();
}

} // namespace cuset::cuda_scan
