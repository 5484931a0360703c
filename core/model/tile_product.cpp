#include "core/model/tile_product.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

#include "core/model/tile_intrinsics.h"
#include "core/model/tile_packing.h"

#ifdef CUSET_HAS_TILES
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace cuset::cpu {

using namespace tiles;

TileStorage::~TileStorage() {
    std::free(data_);
}

std::uint16_t* TileStorage::reserve(std::int64_t elements) {
    if (elements > capacity_) {
        std::free(data_);
        capacity_ = 0;
        // Huge pages: a product walks through all of it, a kilobyte here and one there.
        constexpr std::size_t page = std::size_t{2} << 20;
        const std::size_t bytes = (static_cast<std::size_t>(elements) * 2 + page - 1) / page * page;
        data_ = std::aligned_alloc(page, bytes);
        if (!data_)
            throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        madvise(data_, bytes, MADV_HUGEPAGE); // slower without, no more
#endif
        capacity_ = elements;
    }
    return static_cast<std::uint16_t*>(data_);
}

namespace {

constexpr std::int64_t most_depth = 768; // of a pass over the depth in float32
constexpr std::int64_t most_group = 8; // streamed blocks of a unit
constexpr std::int64_t cached_elements = 3 << 17; // 768 KiB of the second-level cache

} // namespace

TileProduct::TileProduct(std::span<const ProductTerm> terms, const ProductTarget& target,
                         TileStorage& storage)
    : terms_(terms.begin(), terms.end())
    , target_(target)
    , rows_(terms.front().left.rows)
    , columns_(terms.front().right.columns)
    , row_blocks_(blocks(rows_))
    , column_blocks_(blocks(columns_))
    , splits_(terms.front().left.type == Element::float32 ? 3 : 1) {
    for (const ProductTerm& term : terms_) {
        assert(term.left.rows == rows_ && term.right.columns == columns_);
        assert(term.left.columns == term.right.rows && term.left.type == term.right.type);
        depth_blocks_ += blocks(term.left.columns);
    }
    packs_left_ = row_blocks_ <= column_blocks_;
    // Passes over the depth need a target that adds up without rounding away: float32.
    pass_ = target_.type == Element::float32
        ? std::min(depth_blocks_, most_depth / side * 3 / splits_)
        : depth_blocks_;
    group_ =
        std::clamp<std::int64_t>(cached_elements / (pass_ * step_elements()), 1,
                                 std::clamp<std::int64_t>(streamed_blocks() / 8, 1, most_group));
    packed_ = storage.reserve(pack_units() * depth_blocks_ * step_elements());
    packed_terms_.resize(static_cast<std::size_t>(pack_units()));
}

#ifdef CUSET_HAS_TILES

namespace {

// Linux keeps the tiles' state for a process only when it is asked to.
bool ask_for_tiles() {
    constexpr long request_permission = 0x1023, tile_data = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return false;
    const bool amx = (d >> 22 & 1u) && (d >> 24 & 1u), avx512 = (b >> 16 & 1u) && (b >> 30 & 1u);
    if (!amx || !avx512 || !__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1u))
        return false;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

struct TileConfiguration {
    std::uint8_t palette = 1, start_row = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> row_bytes{};
    std::array<std::uint8_t, 16> rows{};
};

CUSET_TILES_INLINE void load_left(const std::uint16_t* pair) {
    _tile_loadd(4, pair, 64);
    _tile_loadd(5, pair + tile_elements, 64);
}

CUSET_TILES_INLINE void load_right(const std::uint16_t* pair) {
    _tile_loadd(6, pair, 64);
    _tile_loadd(7, pair + tile_elements, 64);
}

CUSET_TILES_INLINE void accumulate() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
}

// Sums of 32 x 32 over `depth` blocks to `sums`, rows `stride` floats apart; `adds` to what is
// there. Of terms i and j those with i + j < 3 are kept; small products first; each line loads one
// side anew.
template <int left_terms, int right_terms>
CUSET_TILES_INLINE void multiply_block(const std::uint16_t* left, const std::uint16_t* right,
                                       std::int64_t depth, bool adds, float* sums,
                                       std::int64_t stride) {
    constexpr std::int64_t pair = 2 * tile_elements;
    const auto bytes = static_cast<std::size_t>(stride) * sizeof(float);
    float* const low = sums + 16 * stride;
    if (adds) {
        _tile_loadd(0, sums, bytes);
        _tile_loadd(1, sums + 16, bytes);
        _tile_loadd(2, low, bytes);
        _tile_loadd(3, low + 16, bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (std::int64_t k = 0; k < depth;
         ++k, left += left_terms * pair, right += right_terms * pair) {
        if constexpr (left_terms == 1) {
            load_left(left);
            for (int s = right_terms; s-- > 0;) {
                load_right(right + s * pair);
                accumulate();
            }
        } else if constexpr (right_terms == 1) {
            load_right(right);
            for (int s = left_terms; s-- > 0;) {
                load_left(left + s * pair);
                accumulate();
            }
        } else {
            load_left(left);
            load_right(right + 2 * pair);
            accumulate();
            load_left(left + pair);
            load_right(right + pair);
            accumulate();
            load_left(left + 2 * pair);
            load_right(right);
            accumulate();
            load_left(left + pair);
            accumulate();
            load_left(left);
            accumulate();
            load_right(right + pair);
            accumulate();
        }
    }
    _tile_stored(0, sums, bytes);
    _tile_stored(1, sums + 16, bytes);
    _tile_stored(2, low, bytes);
    _tile_stored(3, low + 16, bytes);
}

using MultiplyBlock = void (*)(const std::uint16_t*, const std::uint16_t*, std::int64_t, bool,
                               float*, std::int64_t);

template <int left_terms, int right_terms>
CUSET_TILES void multiply_terms(const std::uint16_t* left, const std::uint16_t* right,
                                std::int64_t depth, bool adds, float* sums, std::int64_t stride) {
    multiply_block<left_terms, right_terms>(left, right, depth, adds, sums, stride);
}

MultiplyBlock multiply_of(int left_terms, int right_terms) {
    if (left_terms == 1)
        return right_terms == 1 ? multiply_terms<1, 1> : multiply_terms<1, 3>;
    return right_terms == 1 ? multiply_terms<3, 1> : multiply_terms<3, 3>;
}

// sums [32, 32] -> rows x columns of the target from (row, column) on.
CUSET_TILES_INLINE void write_block(const float* sums, const ProductTarget& target, bool adds,
                                    std::int64_t row, std::int64_t column, std::int64_t rows,
                                    std::int64_t columns) {
    const __mmask16 mask0 = first16(columns), mask1 = first16(columns - 16);
    for (std::int64_t i = 0; i < rows; ++i, sums += side) {
        __m512 low = _mm512_load_ps(sums), high = _mm512_load_ps(sums + 16);
        const std::int64_t at = (row + i) * target.row_stride + column;
        if (target.type == Element::float32) {
            float* to = static_cast<float*>(target.data) + at;
            if (adds) {
                low = _mm512_add_ps(low, _mm512_maskz_loadu_ps(mask0, to));
                high = _mm512_add_ps(high, _mm512_maskz_loadu_ps(mask1, to + 16));
            }
            _mm512_mask_storeu_ps(to, mask0, low);
            _mm512_mask_storeu_ps(to + 16, mask1, high);
        } else {
            const auto mask = static_cast<__mmask32>(mask1) << 16 | mask0;
            auto* to = static_cast<std::uint16_t*>(target.data) + at;
            if (adds) {
                const __m512i before = _mm512_maskz_loadu_epi16(mask, to);
                low = _mm512_add_ps(low, widen_low(before));
                high = _mm512_add_ps(high, widen_high(before));
            }
            _mm512_mask_storeu_epi16(to, mask, narrow(low, high));
        }
    }
}

} // namespace

bool has_tiles() {
    static const bool has = !std::getenv("CUSET_NO_TILES") && ask_for_tiles();
    return has;
}

void TileProduct::pack(std::int64_t begin, std::int64_t end) const {
    const std::int64_t size = depth_blocks_ * step_elements();
    for (std::int64_t block = begin; block < end; ++block)
        packed_terms_[static_cast<std::size_t>(block)] = static_cast<std::uint8_t>(
            pack_depth(terms_, packs_left_, block, 0, depth_blocks_, packed_ + block * size));
}

// Blocks [first, last) of the streamed operand with all of the packed one.
CUSET_TILES void TileProduct::multiply_group(std::int64_t first, std::int64_t last,
                                             std::uint16_t* streamed) const {
    alignas(64) std::array<float, side * side> sums;
    const std::int64_t step = step_elements();
    for (std::int64_t depth = 0; depth < depth_blocks_; depth += pass_) {
        const std::int64_t n = std::min(pass_, depth_blocks_ - depth);
        std::array<int, most_group> terms{};
        for (std::int64_t block = first; block < last; ++block)
            terms[static_cast<std::size_t>(block - first)] =
                pack_depth(terms_, !packs_left_, block, depth, depth + n,
                           streamed + (block - first) * n * step);
        const bool adds = target_.adds || depth > 0;
        for (std::int64_t other = 0; other < pack_units(); ++other)
            for (std::int64_t block = first; block < last; ++block) {
                const int other_terms = packed_terms_[static_cast<std::size_t>(other)];
                const int block_terms = terms[static_cast<std::size_t>(block - first)];
                const std::uint16_t* p = packed_ + other * depth_blocks_ * step
                    + depth * other_terms * 2 * tile_elements;
                const std::uint16_t* q = streamed + (block - first) * n * step;
                const MultiplyBlock product = packs_left_ ? multiply_of(other_terms, block_terms)
                                                          : multiply_of(block_terms, other_terms);
                const std::int64_t row = side * (packs_left_ ? other : block);
                const std::int64_t column = side * (packs_left_ ? block : other);
                const std::int64_t rows = std::min(side, rows_ - row);
                const std::int64_t columns = std::min(side, columns_ - column);
                if (target_.type == Element::float32 && rows == side && columns == side) {
                    product(packs_left_ ? p : q, packs_left_ ? q : p, n, adds,
                            static_cast<float*>(target_.data) + row * target_.row_stride + column,
                            target_.row_stride);
                    continue;
                }
                product(packs_left_ ? p : q, packs_left_ ? q : p, n, false, sums.data(), side);
                write_block(sums.data(), target_, adds, row, column, rows, columns);
            }
    }
}

CUSET_TILES void TileProduct::multiply(std::int64_t begin, std::int64_t end) const {
    static thread_local TileStorage storage;
    std::uint16_t* streamed = storage.reserve(group_ * pass_ * step_elements());
    alignas(64) TileConfiguration configuration;
    for (std::size_t i = 0; i < 8; ++i) {
        configuration.row_bytes[i] = 64;
        configuration.rows[i] = 16;
    }
    _tile_loadconfig(&configuration);
    for (std::int64_t unit = begin; unit < end; ++unit)
        multiply_group(unit * group_, std::min((unit + 1) * group_, streamed_blocks()), streamed);
    _tile_release();
}

#else

bool has_tiles() {
    return false;
}

void TileProduct::pack(std::int64_t, std::int64_t) const { }

void TileProduct::multiply(std::int64_t, std::int64_t) const { }

#endif

} // namespace cuset::cpu
