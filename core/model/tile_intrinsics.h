// What the files of the tile products share: the attribute that compiles for tiles, the blocks'
// sizes and the vectors' conversions. GCC on x86-64 only; elsewhere CUSET_HAS_TILES is not defined.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CUSET_HAS_TILES 1
#include <immintrin.h>
// GCC's own headers of intrinsics start from undefined vectors.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#define CUSET_TILES                                                                                \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define CUSET_TILES_INLINE CUSET_TILES inline __attribute__((always_inline))
#endif

namespace cuset::cpu::tiles {

inline constexpr std::int64_t side = 32; // rows, columns and depth of a block: two tiles of 16
inline constexpr std::int64_t tile_elements = 512; // 16 rows of 64 bytes

inline std::int64_t blocks(std::int64_t n) {
    return (n + side - 1) / side;
}

#ifdef CUSET_HAS_TILES

CUSET_TILES_INLINE __m512 widen_low(__m512i pairs) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_castsi512_si256(pairs)), 16));
}

CUSET_TILES_INLINE __m512 widen_high(__m512i pairs) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(pairs, 1)), 16));
}

CUSET_TILES_INLINE __m512i narrow(__m512 low, __m512 high) {
    return __builtin_bit_cast(__m512i, _mm512_cvtne2ps_pbh(high, low));
}

CUSET_TILES_INLINE __mmask16 first16(std::int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xffffu : n <= 0 ? 0u : (1u << n) - 1u);
}

#endif

} // namespace cuset::cpu::tiles
