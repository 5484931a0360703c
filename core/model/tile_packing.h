// Operands of tile products in the order in which the tiles load them.
#pragma once

#include <cstdint>
#include <span>

#include "core/model/tile_product.h"

namespace cuset::cpu::tiles {

// One block of 32 rows of the left operands of a sum of products, or of 32 columns of the right
// ones, as tiles; depth blocks [begin, end) of 32, counted over all products. Returns how many
// terms each number has: one where all are bfloat16 numbers, else three. Only where has_tiles().
// out: [depth block][term][2 tiles][16 rows][32], or of right operands [16 pairs][16][2].
int pack_depth(std::span<const ProductTerm> sum, bool left, std::int64_t block, std::int64_t begin,
               std::int64_t end, std::uint16_t* out);

} // namespace cuset::cpu::tiles
