// What the tests of core/cuda share: data files, code points, the gold set.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/cuda/structure.h"

namespace cuset::test {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path data_folder() {
    return CUSET_TEST_DATA;
}

// Byte offsets of the code points of UTF-8 text, and its size.
inline std::vector<std::int32_t> code_point_offsets(std::string_view text) {
    std::vector<std::int32_t> offsets;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
            offsets.push_back(static_cast<std::int32_t>(i));
    offsets.push_back(static_cast<std::int32_t>(text.size()));
    return offsets;
}

struct GoldSnippet {
    std::string name;
    std::string text; // without the marks
    std::vector<SensitiveSpan> spans; // rule: empty
};

// The snippets of tests/data/cuda_gold/gold.txt.
std::vector<GoldSnippet> read_gold();

// The .cu files of tests/data, and the gold snippets: source texts to try things on.
std::vector<std::string> source_texts();

} // namespace cuset::test
