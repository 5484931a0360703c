// Text and numbers for an HTML page that is also well-formed XML. Everything that comes from a file
// goes through one of these functions, so that no markup, control or invisible character of it
// reaches the page as such.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset::markup {

// `text` for element content and quoted attributes: & < > " ' as entities; control, bidi and
// invisible characters and invalid UTF-8 as visible escapes (\n, \x1b, \u202e). At most `max_bytes`
// bytes before entities, ended with "..." when cut.
std::string escaped(std::string_view text, std::size_t max_bytes = 200);

// The same for code in a <pre>: line feeds and tabs stay as they are, other escapes stand in
// <i>...</i> to tell them from text that was written so.
std::string escaped_code(std::string_view text);

// With `digits` after the point, independent of the locale; "-" for what is not finite, no "-0".
std::string number(double value, int digits);
std::string percent(double share, int digits = 1); // "81.2 %"

// Cells and caption are markup already. A cell of the first column names its row.
std::string table(std::string_view caption, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows);
// An SVG picture with a caption that is markup already.
std::string figure(std::string_view picture, std::string_view caption);

} // namespace cuset::markup
