#include "tests/core/cuda/cuda_test_support.h"

#include <algorithm>
#include <stdexcept>

namespace cuset::test {

namespace {

constexpr std::string_view letters = "MSTYLAWG"; // in the order of SensitiveKind
constexpr std::string_view open_mark = "\u27e6";
constexpr std::string_view close_mark = "\u27e7";

void parse_marks(std::string_view marked, GoldSnippet& snippet) {
    std::vector<std::size_t> open; // indices of spans
    for (std::size_t i = 0; i < marked.size();) {
        const std::string_view rest = marked.substr(i);
        if (rest.starts_with(open_mark)) {
            const std::size_t kind = letters.find(rest.at(open_mark.size()));
            if (kind == std::string_view::npos || rest.at(open_mark.size() + 1) != ':')
                throw std::runtime_error("bad mark in " + snippet.name);
            open.push_back(snippet.spans.size());
            snippet.spans.push_back({static_cast<SensitiveKind>(kind),
                                     {static_cast<std::int32_t>(snippet.text.size()), 0},
                                     {}});
            i += open_mark.size() + 2;
        } else if (rest.starts_with(close_mark)) {
            snippet.spans.at(open.back()).span.end = static_cast<std::int32_t>(snippet.text.size());
            open.pop_back();
            i += close_mark.size();
        } else {
            snippet.text += marked[i++];
        }
    }
    if (!open.empty())
        throw std::runtime_error("open mark in " + snippet.name);
}

} // namespace

std::vector<GoldSnippet> read_gold() {
    const std::string file = read_file(data_folder() / "cuda_gold" / "gold.txt");
    std::vector<GoldSnippet> snippets;
    std::size_t at = 0;
    while (at < file.size()) {
        const std::size_t line = file.find('\n', at);
        std::size_t next = file.find("\n=== ", line);
        next = next == std::string::npos ? file.size() : next + 1;
        GoldSnippet snippet;
        snippet.name = file.substr(at + 4, line - at - 4);
        parse_marks(std::string_view(file).substr(line + 1, next - line - 1), snippet);
        snippets.push_back(std::move(snippet));
        at = next;
    }
    return snippets;
}

std::vector<std::string> source_texts() {
    std::vector<std::filesystem::path> paths;
    for (const char* folder : {"cases/D", "cuda_samples"})
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(data_folder() / folder))
            if (entry.path().extension() == ".cu")
                paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const auto& path : paths)
        texts.push_back(read_file(path));
    for (const GoldSnippet& snippet : read_gold())
        texts.push_back(snippet.text);
    return texts;
}

} // namespace cuset::test
