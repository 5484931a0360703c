// Tells what a file really is when it is not the weights its name promises.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cuset {

// A sentence such as "is a Git LFS pointer, not the weights: ..." for what is often found in place
// of a weight file (LFS pointer, web page, pickle checkpoint, archive, another weight format), else
// "".
std::string explain_foreign_content(std::span<const std::byte> bytes);

} // namespace cuset
