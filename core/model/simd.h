// What the vectorised loops of this room share. CUSET_SIMD compiles a function for AVX-512, AVX2
// and the baseline, and the loader picks one; helpers must be inlined into it, so they are
// always_inline.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUSET_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CUSET_SIMD
#endif
#define CUSET_INLINE inline __attribute__((always_inline))

namespace cuset::simd {

inline constexpr int lanes = 16;
typedef float Floats __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(64)));

CUSET_INLINE float bfloat16_to_float(std::uint16_t bits) {
    const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

// x becomes e^x for x <= 0, within 2 units in the last place; below -87 the result is about 1e-38.
// Cody-Waite reduction by ln 2 and a polynomial of degree 7 on [-ln2/2, ln2/2] (Cephes'
// coefficients). Vectors go by reference: passed by value their calling convention depends on the
// instruction set.
CUSET_INLINE void exp_negative(Floats& x) {
    const Floats lowest = Floats{} - 87.f;
    x = x < lowest ? lowest : x;
    const float magic = 12582912.f; // 1.5 * 2^23: rounds to an integer in the low bits
    const Floats shifted = x * 1.44269504088896341f + magic;
    const Floats n = shifted - magic;
    Floats r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.f;
    Ints power;
    std::memcpy(&power, &shifted, sizeof power);
    power = (power << 23) + (127 << 23);
    Floats scale;
    std::memcpy(&scale, &power, sizeof scale);
    x = p * scale;
}

CUSET_INLINE void load(const float* from, Floats& to) {
    std::memcpy(&to, from, sizeof to);
}

CUSET_INLINE void load(const std::uint16_t* from, Floats& to) {
    typedef std::uint16_t Halves __attribute__((vector_size(32)));
    typedef std::uint32_t Words __attribute__((vector_size(64)));
    Halves halves;
    std::memcpy(&halves, from, sizeof halves);
    const Words words = __builtin_convertvector(halves, Words) << 16;
    std::memcpy(&to, &words, sizeof to);
}

CUSET_INLINE void store(const Floats& from, float* to) {
    std::memcpy(to, &from, sizeof from);
}

// Round to nearest even; a NaN stays one.
CUSET_INLINE void store(const Floats& from, std::uint16_t* to) {
    typedef std::uint16_t Halves __attribute__((vector_size(32)));
    typedef std::uint32_t Words __attribute__((vector_size(64)));
    Words bits;
    std::memcpy(&bits, &from, sizeof bits);
    Words rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    rounded = (bits & 0x7fffffffu) > 0x7f800000u ? Words{} + 0x7fc0u : rounded;
    const Halves halves = __builtin_convertvector(rounded, Halves);
    std::memcpy(to, &halves, sizeof halves);
}

CUSET_INLINE float sum(const Floats& v) {
    float total = 0;
    for (int i = 0; i < lanes; ++i)
        total += v[i];
    return total;
}

CUSET_INLINE float largest(const Floats& v) {
    typedef float Eight __attribute__((vector_size(32)));
    typedef float Four __attribute__((vector_size(16)));
    Eight a, b;
    std::memcpy(&a, &v, sizeof a);
    std::memcpy(&b, reinterpret_cast<const char*>(&v) + sizeof a, sizeof b);
    a = a > b ? a : b;
    Four c, d;
    std::memcpy(&c, &a, sizeof c);
    std::memcpy(&d, reinterpret_cast<const char*>(&a) + sizeof c, sizeof d);
    c = c > d ? c : d;
    const float e = c[0] > c[1] ? c[0] : c[1];
    const float f = c[2] > c[3] ? c[2] : c[3];
    return e > f ? e : f;
}

} // namespace cuset::simd
