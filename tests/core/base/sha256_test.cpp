// SHA-256 against the examples of FIPS 180-2 (appendix B) and at every length around a block's end.
#include "core/base/sha256.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace cuset {
namespace {

std::string digest(std::string_view text) {
    Sha256 sha;
    sha.update(text);
    return sha.hex_digest();
}

TEST(Sha256, ExamplesOfTheStandard) {
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Expected: hashlib.sha256(b"q" * n).hexdigest() of Python, where padding fills or spills over the
// last block.
TEST(Sha256, LengthsAroundABlock) {
    const std::array<std::pair<std::size_t, const char*>, 6> expected{{
        {55, "85528b5baff5639cb8e7daca79d085ac29ac0978e873ed7527158616b2b6c379"},
        {56, "f8ce2f8d6990c639668fe404262f35ed72d8bb145ad6bae786af7284447386df"},
        {63, "9b49777003a4143d8c3f4d3002eb631c6bda8b030a3ccc87f8a21d5f61c89e87"},
        {64, "ee8e658590c9a5e119400a774415a01db104de1ee6e2c29ec69aa73ef46544d2"},
        {119, "c8bc8a6e9626586bb888ad131d44ed2bd37fc608e902904ade3c566c4208e6ca"},
        {120, "77a2d49d72a11e41678c51f8f0cb67f5cb570f30370c3aeffe266a0d1ee43209"},
    }};
    for (const auto& [length, hex] : expected)
        EXPECT_EQ(digest(std::string(length, 'q')), hex) << length;
}

TEST(Sha256, PiecesDoNotMatter) {
    std::string text;
    for (int i = 0; i < 300; ++i)
        text += static_cast<char>(i * 7);
    const std::string whole = digest(text);
    for (std::size_t piece : {1u, 3u, 63u, 64u, 65u, 200u}) {
        Sha256 sha;
        for (std::size_t at = 0; at < text.size(); at += piece)
            sha.update(std::string_view(text).substr(at, piece));
        EXPECT_EQ(sha.hex_digest(), whole) << piece;
    }
}

} // namespace
} // namespace cuset
