// The seam between the program and the module that reads Parquet and Arrow.
#pragma once

#include <cstddef>

#include "core/io/columnar_file.h"

namespace cuset::columnar_module {

inline constexpr char file_name[] = "libcuset_columnar.so";
inline constexpr char open_name[] = "cuset_open_columnar";

// The caller owns the rows. Throws std::runtime_error with what is wrong with the file; the rows'
// next() does the same.
using OpenFunction = ColumnarRows*(const char* path, ColumnarFormat format, std::size_t max_bytes);

} // namespace cuset::columnar_module
