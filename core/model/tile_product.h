// Matrix products on Intel's AMX tiles, for bfloat16 and for float32. A float32 is the exact sum of
// three bfloat16 (8 significant bits each), and the six largest of the nine products of two such
// sums are kept: what is left out is below 2^-24 of a product, so that the error is that of
// float32's own rounding (Henry, Tang, Heinecke, arXiv 1904.06376). Where 32 rows or columns hold
// bfloat16 numbers only, as a checkpoint's weights mostly do, three products are all there are.
// Plain C++: the caller shares the units of work out among threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cuset::cpu {

enum class Element : std::uint8_t { float32, bfloat16 };

// [rows, columns]; one of the strides, counted in elements, is 1.
struct MatrixView {
    const void* data = nullptr;
    Element type = Element::float32;
    std::int64_t rows = 0, columns = 0;
    std::int64_t row_stride = 0, column_stride = 1;
};

// Of a sum of products: left [M, K] times right [K, N], of the same type.
struct ProductTerm {
    MatrixView left, right;
};

struct ProductTarget {
    void* data = nullptr; // [M, N]
    Element type = Element::float32;
    std::int64_t row_stride = 0;
    bool adds = false; // to what is there, else it is overwritten
};

// True if the processor has tiles and the system lets this process use them; false where the
// environment variable CUSET_NO_TILES is set.
bool has_tiles();

// Grow-only, aligned storage of packed operands; one for each thread that calls.
class TileStorage {
public:
    ~TileStorage();
    TileStorage() = default;
    TileStorage(const TileStorage&) = delete;
    TileStorage& operator=(const TileStorage&) = delete;
    std::uint16_t* reserve(std::int64_t elements);

private:
    void* data_ = nullptr;
    std::int64_t capacity_ = 0; // elements
};

// target (+)= sum of the terms, in two passes: all units of pack(), then all of multiply(); units
// of one pass may run at the same time. The operand with fewer blocks is packed in the first pass;
// the other one in the second, piece by piece where the cache holds it. Only where has_tiles().
class TileProduct {
public:
    TileProduct(std::span<const ProductTerm> terms, const ProductTarget& target,
                TileStorage& storage);

    std::int64_t pack_units() const { return packs_left_ ? row_blocks_ : column_blocks_; }
    void pack(std::int64_t begin, std::int64_t end) const;
    std::int64_t multiply_units() const { return (streamed_blocks() + group_ - 1) / group_; }
    void multiply(std::int64_t begin, std::int64_t end) const;

private:
    std::int64_t step_elements() const { return splits_ * 2 * 512; } // of one depth block
    std::int64_t streamed_blocks() const { return packs_left_ ? column_blocks_ : row_blocks_; }
    void multiply_group(std::int64_t first, std::int64_t last, std::uint16_t* streamed) const;

    std::vector<ProductTerm> terms_;
    ProductTarget target_;
    std::int64_t rows_ = 0, columns_ = 0;
    std::int64_t row_blocks_ = 0, column_blocks_ = 0; // of 32
    std::int64_t depth_blocks_ = 0; // of 32, over all terms
    std::int64_t splits_ = 1; // 3 for float32
    std::int64_t pass_ = 1; // depth blocks at a time
    std::int64_t group_ = 1; // streamed blocks of a unit
    bool packs_left_ = true;
    // Left: [row block][depth block][term][2 tiles][16][32], or right: [column block][depth
    // block][term][2 tiles][16 pairs][16][2]. Of a block's splits_ terms packed_terms_ are filled,
    // one depth block right after the other.
    std::uint16_t* packed_ = nullptr;
    mutable std::vector<std::uint8_t> packed_terms_; // of each packed block
};

} // namespace cuset::cpu
