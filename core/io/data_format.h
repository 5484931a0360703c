// What a data file is, found out from its first bytes; its suffix only decides where the bytes do
// not.
#pragma once

#include "core/io/text_source.h"

namespace cuset {

enum class DataFormat { json_lines, json_document, csv, source, columnar };

// Looks at the beginning of `source` and consumes nothing but a byte order mark. `suffix` is that
// of the file's name, in lower case. Throws Error: bad_format (empty, UTF-16, not JSON though its
// name says so), unsupported (compressed).
DataFormat find_data_format(TextSource& source, const std::string& suffix);

} // namespace cuset
