// Random numbers from a key and a counter, so that a draw depends on what it is for and not on what
// was drawn before: a resumed run, another number of ranks or another batch size sees the same
// numbers. The mixing function is SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014,
// doi 10.1145/2714064.2660195).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace cuset {

// What a stream of numbers is for; part of its key.
enum class RandomUse : std::uint64_t { shuffle = 1, adapter = 2, dropout = 3, validation = 4 };

constexpr std::uint64_t mix64(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// 64 random bits number `counter` of the stream `key`.
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
    return mix64(key + (counter + 1) * 0x9e3779b97f4a7c15u);
}

// The key of a stream, e.g. (seed, step, sample, layer).
constexpr std::uint64_t random_key(RandomUse use, std::initializer_list<std::uint64_t> parts) {
    std::uint64_t key = mix64(static_cast<std::uint64_t>(use) * 0x9e3779b97f4a7c15u);
    for (const std::uint64_t part : parts)
        key = mix64(key ^ mix64(part + 0x9e3779b97f4a7c15u)) + 0x632be59bd9b4e019u;
    return key;
}

// Uniform in [0, 1), 24 bits.
constexpr float random_unit(std::uint64_t key, std::uint64_t counter) {
    return static_cast<float>(random_bits(key, counter) >> 40) * 0x1p-24f;
}

// 0 .. count-1 in the stream's random order.
std::vector<std::int64_t> random_permutation(std::int64_t count, std::uint64_t key);

// Elements begin .. begin + count of a stream's mask of inverted dropout, which has 16 random bits
// for each element; p is rounded to a multiple of 2^-16.
struct DropRange {
    std::uint64_t key = 0;
    std::int64_t begin = 0, count = 0;
    double p = 0;
};

// out[i] = in[i] / (1 - p) or 0. `in` and `out` point to the range's first element; they may be
// equal. Of floats, or of the bits of bfloat16.
void drop_elements(const float* in, float* out, const DropRange& range);
void drop_elements(const std::uint16_t* in, std::uint16_t* out, const DropRange& range);
// The same added to what is in `out`.
void add_dropped(const float* in, float* out, const DropRange& range);
void add_dropped(const std::uint16_t* in, std::uint16_t* out, const DropRange& range);

} // namespace cuset
