#include "core/model/tile_packing.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/model/tile_intrinsics.h"

namespace cuset::cpu::tiles {

#ifdef CUSET_HAS_TILES

namespace {

struct Tile {
    __m512i row[16]; // of sixteen pairs of bfloat16
};
struct Splits {
    __m512i part[3];
};
template <int terms> struct Tiles { Tile part[terms]; };

// Sixteen floats of each of two vectors -> one row of 32 bfloat16 for each term.
template <int terms> CUSET_TILES_INLINE void split(__m512 low, __m512 high, Splits& out) {
    for (int s = 0; s < terms; ++s) {
        out.part[s] = narrow(low, high);
        if (s + 1 == terms)
            break;
        low = _mm512_sub_ps(low, widen_low(out.part[s]));
        high = _mm512_sub_ps(high, widen_high(out.part[s]));
    }
}

CUSET_TILES_INLINE __m512i interleave(__m512i halves) {
    alignas(64) static constexpr std::array<std::uint16_t, 32> order{
        0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
        8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    return _mm512_permutexvar_epi16(_mm512_load_si512(order.data()), halves);
}

// A matrix's line: the direction whose stride is 1. `lines` are strided by `stride`.
struct Lines {
    const void* data;
    std::int64_t stride, lines, length;
};

// Tiles whose rows are 16 lines, from element `at` on 32 of each.
template <Element element, int terms>
CUSET_TILES_INLINE void load_along(const Lines& m, std::int64_t line, std::int64_t at,
                                   Tiles<terms>& tiles) {
    const std::int64_t left = m.length - at;
    for (std::int64_t i = 0; i < 16; ++i) {
        Splits row{};
        if (line + i < m.lines) {
            const std::int64_t offset = (line + i) * m.stride + at;
            if constexpr (element == Element::float32) {
                const auto* from = static_cast<const float*>(m.data) + offset;
                split<terms>(_mm512_maskz_loadu_ps(first16(left), from),
                             _mm512_maskz_loadu_ps(first16(left - 16), from + 16), row);
            } else {
                const auto* from = static_cast<const std::uint16_t*>(m.data) + offset;
                const __mmask32 mask = left >= 32 ? 0xffffffffu : (1u << left) - 1u;
                row.part[0] = _mm512_maskz_loadu_epi16(mask, from);
            }
        }
        for (int s = 0; s < terms; ++s)
            tiles.part[s].row[i] = row.part[s];
    }
}

// Tiles whose rows are pairs of 32 lines, from element `at` on 16 of each.
template <Element element, int terms>
CUSET_TILES_INLINE void load_across(const Lines& m, std::int64_t line, std::int64_t at,
                                    Tiles<terms>& tiles) {
    const __mmask16 mask = first16(m.length - at);
    for (std::int64_t i = 0; i < 16; ++i) {
        const std::int64_t first = line + 2 * i;
        const __mmask16 mask0 = first < m.lines ? mask : 0, mask1 = first + 1 < m.lines ? mask : 0;
        const std::int64_t offset0 = mask0 ? first * m.stride + at : 0;
        const std::int64_t offset1 = mask1 ? (first + 1) * m.stride + at : 0;
        Splits row{};
        if constexpr (element == Element::float32) {
            const auto* from = static_cast<const float*>(m.data);
            split<terms>(_mm512_maskz_loadu_ps(mask0, from + offset0),
                         _mm512_maskz_loadu_ps(mask1, from + offset1), row);
        } else {
            const auto* from = static_cast<const std::uint16_t*>(m.data);
            row.part[0] = _mm512_inserti64x4(
                _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(mask0, from + offset0)),
                _mm256_maskz_loadu_epi16(mask1, from + offset1), 1);
        }
        for (int s = 0; s < terms; ++s)
            tiles.part[s].row[i] = interleave(row.part[s]);
    }
}

// Whether all float32 numbers of a rectangle are bfloat16 ones: lines [line, line + lines),
// elements [at, at + count) of each.
CUSET_TILES bool is_bfloat16(const Lines& m, std::int64_t line, std::int64_t lines, std::int64_t at,
                             std::int64_t count) {
    const __m512i low = _mm512_set1_epi32(0xffff);
    for (std::int64_t i = line; i < std::min(line + lines, m.lines); ++i) {
        const float* from = static_cast<const float*>(m.data) + i * m.stride + at;
        const std::int64_t n = std::min(count, m.length - at);
        __m512i bits = _mm512_setzero_si512();
        for (std::int64_t k = 0; k < n; k += 16)
            bits = _mm512_or_si512(bits, _mm512_maskz_loadu_epi32(first16(n - k), from + k));
        if (_mm512_test_epi32_mask(bits, low) != 0)
            return false;
    }
    return true;
}

// 16 x 16 of 32 bits.
CUSET_TILES_INLINE void transpose(Tile& tile) {
    __m512i u[16];
    __m512i(&t)[16] = tile.row;
    for (int i = 0; i < 16; i += 2) {
        u[i] = _mm512_unpacklo_epi32(t[i], t[i + 1]);
        u[i + 1] = _mm512_unpackhi_epi32(t[i], t[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        t[i] = _mm512_unpacklo_epi64(u[i], u[i + 2]);
        t[i + 1] = _mm512_unpackhi_epi64(u[i], u[i + 2]);
        t[i + 2] = _mm512_unpacklo_epi64(u[i + 1], u[i + 3]);
        t[i + 3] = _mm512_unpackhi_epi64(u[i + 1], u[i + 3]);
    }
    for (int h = 0; h < 16; h += 8)
        for (int i = 0; i < 4; ++i) {
            u[h + i] = _mm512_shuffle_i32x4(t[h + i], t[h + i + 4], 0x88);
            u[h + i + 4] = _mm512_shuffle_i32x4(t[h + i], t[h + i + 4], 0xdd);
        }
    for (int i = 0; i < 8; ++i) {
        t[i] = _mm512_shuffle_i32x4(u[i], u[i + 8], 0x88);
        t[i + 8] = _mm512_shuffle_i32x4(u[i], u[i + 8], 0xdd);
    }
}

// Depth elements [begin, end) of one block of 32 rows of a left operand, or of 32 columns of a
// right one; begin a multiple of 32.
template <Element element, int terms>
CUSET_TILES void pack_block(const Lines& lines, bool along, bool left, std::int64_t block,
                            std::int64_t begin, std::int64_t end, std::uint16_t* out) {
    for (std::int64_t k = begin; k < end; k += side, out += terms * 2 * tile_elements)
        for (std::int64_t half = 0; half < 2; ++half) {
            const std::int64_t outer = block * side + 16 * half;
            Tiles<terms> tiles;
            if (along)
                load_along<element, terms>(lines, outer, k, tiles);
            else
                load_across<element, terms>(lines, k, outer, tiles);
            for (std::int64_t s = 0; s < terms; ++s) {
                Tile& tile = tiles.part[s];
                if (along != left) // left tiles hold rows, right ones pairs of the depth
                    transpose(tile);
                std::uint16_t* to = out + (s * 2 + half) * tile_elements;
                for (int i = 0; i < 16; ++i)
                    _mm512_store_si512(to + i * 32, tile.row[i]);
            }
        }
}

} // namespace

int pack_depth(std::span<const ProductTerm> sum, bool left, std::int64_t block, std::int64_t begin,
               std::int64_t end, std::uint16_t* out) {
    struct Part {
        Lines lines;
        bool along; // the lines run along the depth
        std::int64_t from, to; // elements of the depth
    };
    std::vector<Part> parts;
    const bool wide = sum.front().left.type == Element::float32;
    bool exact = wide;
    std::int64_t first = 0; // depth block of the term
    for (const ProductTerm& term : sum) {
        const std::int64_t depth = term.left.columns, last = first + blocks(depth);
        const std::int64_t from = (std::max(begin, first) - first) * side;
        const std::int64_t to = std::min((std::min(end, last) - first) * side, depth);
        if (from < to) {
            const MatrixView& m = left ? term.left : term.right;
            const bool by_rows = m.column_stride == 1;
            const Lines lines{m.data, by_rows ? m.row_stride : m.column_stride,
                              by_rows ? m.rows : m.columns, by_rows ? m.columns : m.rows};
            const bool along = left == by_rows;
            parts.push_back({lines, along, from, to});
            exact = exact
                && (along ? is_bfloat16(lines, block * side, side, from, to - from)
                          : is_bfloat16(lines, from, to - from, block * side, side));
        }
        first = last;
    }
    const bool three = wide && !exact;
    for (const Part& p : parts) {
        const auto pack = !wide ? pack_block<Element::bfloat16, 1>
            : three             ? pack_block<Element::float32, 3>
                                : pack_block<Element::float32, 1>;
        pack(p.lines, p.along, left, block, p.from, p.to, out);
        out += blocks(p.to - p.from) * (three ? 3 : 1) * 2 * tile_elements;
    }
    return three ? 3 : 1;
}

#else

int pack_depth(std::span<const ProductTerm>, bool, std::int64_t, std::int64_t, std::int64_t,
               std::uint16_t*) {
    return 1;
}

#endif

} // namespace cuset::cpu::tiles
