// SHA-256 (FIPS 180-4), to tell files and vocabularies apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cuset {

class Sha256 {
public:
    void update(std::span<const std::byte> bytes);
    void update(std::string_view text);
    // 64 lower-case hexadecimal digits of everything given so far; call it once, at the end.
    std::string hex_digest();

private:
    void compress(const std::byte* block);

    std::array<std::uint32_t, 8> state_{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    std::array<std::byte, 64> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t total_ = 0; // bytes
};

} // namespace cuset
