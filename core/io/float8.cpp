#include "core/io/float8.h"

#include <array>
#include <string>
#include <utility>

#include "core/base/error.h"

namespace cuset {
namespace {

using Table = std::array<float, 256>;

constexpr Table make_table(float (*decode)(std::uint8_t) noexcept) {
    Table table{};
    for (std::size_t n = 0; n < table.size(); ++n)
        table[n] = decode(static_cast<std::uint8_t>(n));
    return table;
}

constexpr Table e4m3 = make_table(float8_e4m3_to_float);
constexpr Table e5m2 = make_table(float8_e5m2_to_float);

} // namespace

void decode_float8(const TensorView& matrix, std::span<const float> scales, std::int64_t block_rows,
                   std::int64_t block_columns, std::span<float> out) {
    if (matrix.dtype != DType::f8_e4m3 && matrix.dtype != DType::f8_e5m2)
        throw Error(ErrorCode::unsupported,
                    "dtype " + std::string(dtype_name(matrix.dtype)) + " is not an 8-bit float");
    if (matrix.shape.size() != 2 || block_rows < 1 || block_columns < 1)
        throw Error(ErrorCode::bad_value,
                    "an FP8 weight must be a matrix, its blocks at least 1 x 1");
    const std::int64_t rows = matrix.shape[0];
    const std::int64_t columns = matrix.shape[1];
    const auto blocks = [](std::int64_t size, std::int64_t block) {
        return size / block + (size % block != 0 ? 1 : 0);
    };
    const std::int64_t scale_columns = blocks(columns, block_columns);
    const std::int64_t needed = blocks(rows, block_rows) * scale_columns;
    if (std::cmp_not_equal(scales.size(), needed) || out.size() != matrix.bytes.size()
        || std::cmp_not_equal(out.size(), rows * columns))
        throw Error(ErrorCode::bad_value,
                    "an FP8 matrix [" + std::to_string(rows) + ", " + std::to_string(columns)
                        + "] in blocks of " + std::to_string(block_rows) + " x "
                        + std::to_string(block_columns) + " needs " + std::to_string(needed)
                        + " scales, there are " + std::to_string(scales.size()));
    const Table& table = matrix.dtype == DType::f8_e4m3 ? e4m3 : e5m2;
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::span<const float> row_scales =
            scales.subspan(row / block_rows * scale_columns, scale_columns);
        for (std::int64_t column = 0; column < columns; ++column) {
            const auto at = static_cast<std::size_t>(row * columns + column);
            out[at] = table[std::to_integer<std::size_t>(matrix.bytes[at])]
                * row_scales[static_cast<std::size_t>(column / block_columns)];
        }
    }
}

} // namespace cuset
