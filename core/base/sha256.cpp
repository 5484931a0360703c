#include "core/base/sha256.h"

#include <algorithm>
#include <bit>

namespace cuset {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

std::uint32_t big_endian(const std::byte* p) {
    return std::to_integer<std::uint32_t>(p[0]) << 24 | std::to_integer<std::uint32_t>(p[1]) << 16
        | std::to_integer<std::uint32_t>(p[2]) << 8 | std::to_integer<std::uint32_t>(p[3]);
}

} // namespace

void Sha256::compress(const std::byte* block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = big_endian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3))
            + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    std::array<std::uint32_t, 8> s = state_;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        const std::uint32_t t1 = s[7]
            + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + choice
            + round_constants[i] + w[i];
        const std::uint32_t t2 =
            (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + majority;
        s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < 8; ++i)
        state_[i] += s[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
    total_ += bytes.size();
    while (!bytes.empty()) {
        if (pending_size_ == 0 && bytes.size() >= pending_.size()) {
            compress(bytes.data());
            bytes = bytes.subspan(pending_.size());
            continue;
        }
        const std::size_t n = std::min(bytes.size(), pending_.size() - pending_size_);
        std::copy_n(bytes.begin(), n,
                    pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
        pending_size_ += n;
        bytes = bytes.subspan(n);
        if (pending_size_ == pending_.size()) {
            compress(pending_.data());
            pending_size_ = 0;
        }
    }
}

void Sha256::update(std::string_view text) {
    update(std::as_bytes(std::span(text.data(), text.size())));
}

std::string Sha256::hex_digest() {
    const std::uint64_t bits = total_ * 8;
    std::array<std::byte, 72> tail{std::byte{0x80}};
    // A one bit, zeros up to 8 bytes before the end of a block, the length in bits.
    const std::size_t zeros_end = (pending_size_ < 56 ? 56 : 120) - pending_size_;
    for (std::size_t i = 0; i < 8; ++i)
        tail[zeros_end + i] = static_cast<std::byte>(bits >> (56 - 8 * i) & 0xff);
    update(std::span<const std::byte>(tail).first(zeros_end + 8));
    std::string hex;
    for (std::uint32_t word : state_)
        for (int shift = 28; shift >= 0; shift -= 4)
            hex += "0123456789abcdef"[word >> shift & 0xf];
    return hex;
}

} // namespace cuset
