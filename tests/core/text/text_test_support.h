// Helpers shared by the tokenizer tests.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/text/tokenizer.h"

namespace cuset::test {

inline std::string read_data(const std::string& name) {
    std::ifstream file(std::string(CUSET_TEST_DATA) + "/" + name, std::ios::binary);
    EXPECT_TRUE(file.good()) << name;
    return {std::istreambuf_iterator<char>(file), {}};
}

inline nlohmann::json read_json(const std::string& name) {
    return nlohmann::json::parse(read_data(name));
}

inline Tokenizer load_tokenizer(const std::string& name) {
    return Tokenizer::from_json(read_data(name), name);
}

// Byte spans as the reference counts them: [begin, end) in code points, parts of a character
// widened to all of it.
inline std::vector<std::vector<int>> code_point_offsets(const std::string& text,
                                                        const std::vector<ByteSpan>& spans) {
    std::vector<int> before(text.size() + 1, 0); // characters that begin before byte k
    for (std::size_t k = 0; k < text.size(); ++k)
        before[k + 1] = before[k] + ((static_cast<unsigned char>(text[k]) & 0xc0) != 0x80);
    std::vector<std::vector<int>> out;
    for (const ByteSpan& span : spans) {
        const bool inside = span.begin < static_cast<int>(text.size())
            && (static_cast<unsigned char>(text[span.begin]) & 0xc0) == 0x80;
        out.push_back({before[span.begin] - inside, before[span.end]});
    }
    return out;
}

// The contract of TokenizedText::spans: in order, no gaps, all of the text.
inline void expect_cover(const std::string& text, const TokenizedText& out) {
    ASSERT_EQ(out.ids.size(), out.spans.size());
    if (out.spans.empty())
        return;
    EXPECT_EQ(out.spans.front().begin, 0);
    EXPECT_EQ(out.spans.back().end, static_cast<int>(text.size()));
    for (std::size_t k = 0; k + 1 < out.spans.size(); ++k)
        EXPECT_EQ(out.spans[k].end, out.spans[k + 1].begin) << k;
}

} // namespace cuset::test
