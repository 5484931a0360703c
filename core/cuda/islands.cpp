#include "core/cuda/islands.h"

#include <algorithm>
#include <optional>
#include <string>

namespace cuset::cuda_scan {

namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && (is_blank(text.back()) || text.back() == '\n'))
        text.remove_suffix(1);
    return text;
}

// Calls visit(line, begin) for each line of [begin, end), its line end included; stops if it
// answers false.
template <class Visit>
void for_lines(std::string_view text, std::size_t begin, std::size_t end, Visit visit) {
    while (begin < end) {
        const std::size_t found = text.substr(0, end).find('\n', begin);
        const std::size_t next = found == std::string_view::npos ? end : found + 1;
        if (!visit(text.substr(begin, next - begin), begin))
            return;
        begin = next;
    }
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> list) {
    return std::any_of(list.begin(), list.end(),
                       [&](std::string_view head) { return text.starts_with(head); });
}

// ---- what a text without fences is ----

bool is_name(std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || c == '_' || c == '.' || c == ',';
    });
}

// `import a.b`, `import a as b`, `from a import b`, `def f(`, `class C`, decorators.
bool is_python_line(std::string_view line) {
    if (line.starts_with("from "))
        return line.find(" import ") != std::string_view::npos && line.back() != ';';
    if (line.starts_with("import ")) {
        const std::string_view rest = trim(line.substr(7));
        const std::size_t space = rest.find(' ');
        return is_name(rest.substr(0, space))
            && (space == std::string_view::npos || rest.substr(space).starts_with(" as ")
                || rest[space - 1] == ',');
    }
    if (line.starts_with("@triton."))
        return true;
    return starts_with_any(line, {"def ", "class "}) && line.back() == ':';
}

bool is_source_line(std::string_view line) {
    if (starts_with_any(line,
                        {"#include", "#define", "#pragma", "#if", "#ifdef", "#ifndef", "#endif",
                         "__global__", "__device__", "__host__", "template", "extern \"C\"",
                         "using namespace", "//", "/*", "__shared__", "__constant__", "static ",
                         "namespace "}))
        return true;
    return line.back() == ';' || line.back() == '{' || line.back() == '}';
}

// A line that reads as a sentence: a capital first, words, and an end like a sentence's.
bool is_sentence(std::string_view line) {
    const bool capital = line.front() >= 'A' && line.front() <= 'Z';
    const bool ended = is_any(line.substr(line.size() - 1), {".", ":", "!", "?", ","});
    return capital && ended && std::count(line.begin(), line.end(), ' ') >= 2;
}

std::optional<IslandKind> classify_by_lines(std::string_view text) {
    std::optional<IslandKind> kind;
    bool sentence = false;
    bool code = false;
    for_lines(text, 0, text.size(), [&](std::string_view line, std::size_t) {
        const bool indented = !line.empty() && is_blank(line.front());
        line = trim(line);
        if (line.empty())
            return true;
        if (!indented && is_python_line(line))
            kind = IslandKind::python;
        else if (is_source_line(line))
            kind = IslandKind::cuda_source;
        else if (is_sentence(line))
            sentence = true;
        else
            code = true;
        return !kind.has_value();
    });
    if (!kind && sentence && !code)
        return IslandKind::prose;
    return kind;
}

IslandKind python_kind(std::string_view text) {
    const bool triton = text.find("triton.jit") != std::string_view::npos
        || text.find("import triton") != std::string_view::npos;
    return triton ? IslandKind::triton : IslandKind::python;
}

bool shows_cuda(std::string_view text) {
    for (std::string_view sign : {"__global__", "__device__", "__shared__", "<<<", "cudaMalloc",
                                  "cudaMemcpy", "threadIdx", "blockIdx", "cuda_runtime", "dim3 "})
        if (text.find(sign) != std::string_view::npos)
            return true;
    return false;
}

IslandKind classify_plain(std::string_view text) {
    if (trim(text).empty())
        return IslandKind::prose;
    const auto kind = classify_by_lines(text);
    if (kind == IslandKind::python)
        return python_kind(text);
    return kind.value_or(IslandKind::cuda_source);
}

// ---- fences ----

struct Fence {
    char sign = 0;
    std::size_t length = 0;
    std::size_t indent = 0;
    std::string info; // first word, lower case
};

std::string info_word(std::string_view info) {
    info = trim(info);
    std::string word;
    for (const char c : info) {
        if (is_blank(c) || c == '{' || c == ',' || c == ':')
            break;
        word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        if (word.size() > 32)
            break;
    }
    return word;
}

std::optional<Fence> opening_fence(std::string_view line) {
    Fence fence;
    while (fence.indent < line.size() && line[fence.indent] == ' ')
        ++fence.indent;
    line.remove_prefix(fence.indent);
    if (line.empty() || (line.front() != '`' && line.front() != '~'))
        return std::nullopt;
    fence.sign = line.front();
    fence.length = std::min(line.find_first_not_of(fence.sign), line.size());
    const std::string_view info = line.substr(fence.length);
    if (fence.length < 3 || (fence.sign == '`' && info.find('`') != std::string_view::npos))
        return std::nullopt;
    fence.info = info_word(info);
    // Deeper than three blanks is an indented block, or a fence in a list: only a language's name
    // tells.
    if (fence.indent > 3 && fence.info.empty())
        return std::nullopt;
    return fence;
}

bool closes_fence(std::string_view line, const Fence& fence) {
    std::size_t indent = 0;
    while (indent < line.size() && line[indent] == ' ')
        ++indent;
    if (indent > std::max<std::size_t>(3, fence.indent))
        return false;
    line.remove_prefix(indent);
    const std::size_t length = std::min(line.find_first_not_of(fence.sign), line.size());
    return length >= fence.length && trim(line.substr(length)).empty();
}

IslandKind fenced_kind(const Fence& fence, std::string_view text) {
    if (is_any(fence.info,
               {"cuda", "cu", "c", "c++", "cpp", "cxx", "cc", "h", "hpp", "cuh", "hip", "cuda-c",
                "cuda-cpp", "cuda-c++", "cudac", "nvcc"}))
        return IslandKind::cuda_source;
    if (is_any(fence.info, {"python", "py", "python3", "ipython"}))
        return python_kind(text);
    if (fence.info == "triton")
        return IslandKind::triton;
    if (fence.info.empty()) {
        const auto kind = classify_by_lines(text);
        if (kind == IslandKind::python)
            return python_kind(text);
        if (shows_cuda(text))
            return IslandKind::cuda_source;
    }
    return IslandKind::other_code;
}

class IslandFinder {
public:
    explicit IslandFinder(std::string_view text)
        : text_(text) { }

    IslandMap run() {
        std::size_t at = 0;
        if (const std::size_t orphan = orphan_end(); orphan > 0) {
            add(IslandKind::reasoning, 0, orphan);
            at = orphan;
        }
        while (at < text_.size()) {
            const std::size_t open = find_reasoning(at);
            split_fences(at, open);
            if (open >= text_.size())
                break;
            const auto [close, size] = find_tag("</think", open);
            if (close == std::string_view::npos) {
                map_.unfinished = true;
                add(IslandKind::reasoning, open, text_.size());
                break;
            }
            add(IslandKind::reasoning, open, close + size);
            at = close + size;
        }
        return std::move(map_);
    }

private:
    void add(IslandKind kind, std::size_t begin, std::size_t end) {
        if (begin >= end)
            return;
        const ByteSpan span{static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end)};
        if (!map_.islands.empty() && map_.islands.back().kind == kind
            && kind != IslandKind::cuda_source)
            map_.islands.back().span.end = span.end;
        else
            map_.islands.push_back({kind, span});
    }

    // Place and length of `<think>` or `<thinking>` (or the closing ones) from `at` on.
    std::pair<std::size_t, std::size_t> find_tag(std::string_view head, std::size_t at) const {
        while ((at = text_.find(head, at)) != std::string_view::npos) {
            const std::string_view rest = text_.substr(at + head.size(), 4);
            if (rest.starts_with('>'))
                return {at, head.size() + 1};
            if (rest == "ing>")
                return {at, head.size() + 4};
            at += head.size();
        }
        return {std::string_view::npos, 0};
    }

    bool at_line_begin(std::size_t at) const {
        while (at > 0 && is_blank(text_[at - 1]))
            --at;
        return at == 0 || text_[at - 1] == '\n';
    }

    std::size_t find_reasoning(std::size_t from) const {
        std::size_t at = from;
        while (true) {
            const auto [open, size] = find_tag("<think", at);
            if (open == std::string_view::npos)
                return text_.size();
            if (open == from || at_line_begin(open))
                return open;
            at = open + size;
        }
    }

    // After a closing tag that nothing opened, 0 if there is none.
    std::size_t orphan_end() const {
        const auto [close, size] = find_tag("</think", 0);
        return close != std::string_view::npos && find_reasoning(0) > close ? close + size : 0;
    }

    void split_fences(std::size_t begin, std::size_t end) {
        std::size_t outside = begin; // where the text outside of fences goes on
        std::size_t block = 0; // where the open fence's text begins
        bool any = false;
        std::optional<Fence> open;
        for_lines(text_, begin, end, [&](std::string_view line, std::size_t at) {
            if (!open) {
                open = opening_fence(line);
                if (!open)
                    return true;
                block = at + line.size();
                if (!any && open->info.empty()
                    && closes_prompt(text_.substr(outside, at - outside))) {
                    add(classify_plain(text_.substr(outside, at - outside)), outside, at);
                    outside = at;
                    open.reset();
                } else {
                    add(IslandKind::prose, outside, block);
                }
                any = true;
            } else if (closes_fence(line, *open)) {
                add(fenced_kind(*open, text_.substr(block, at - block)), block, at);
                outside = at;
                open.reset();
            }
            return true;
        });
        if (open) {
            add(fenced_kind(*open, text_.substr(block, end - block)), block, end);
            map_.unfinished = map_.unfinished || end == text_.size();
        } else {
            add(any ? IslandKind::prose : classify_plain(text_.substr(outside, end - outside)),
                outside, end);
        }
    }

    static bool closes_prompt(std::string_view before) {
        const auto kind = classify_by_lines(before);
        return kind == IslandKind::python
            || (kind == IslandKind::cuda_source && shows_cuda(before) && !begins_as_prose(before));
    }

    static bool begins_as_prose(std::string_view text) {
        bool prose = false;
        for_lines(text, 0, text.size(), [&](std::string_view line, std::size_t) {
            line = trim(line);
            prose = !line.empty() && is_sentence(line);
            return line.empty();
        });
        return prose;
    }

    std::string_view text_;
    IslandMap map_;
};

} // namespace

IslandMap find_islands(std::string_view text) {
    return IslandFinder(text).run();
}

} // namespace cuset::cuda_scan
