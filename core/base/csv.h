// Cells of CSV files (RFC 4180) that no spreadsheet runs as a formula.
#pragma once

#include <string>
#include <string_view>

namespace cuset {

// `text` as one cell: quoted if it holds a comma, a quote or a line end. A text that starts with
// = + - @, tab or return gets an apostrophe in front and is quoted; finite numbers stay as they
// are.
std::string csv_cell(std::string_view text);

} // namespace cuset
