// From spans of text to the label bits of tokens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/byte_span.h"
#include "core/cuda/structure.h"
#include "core/data/token_labels.h"

namespace cuset {

// [T] bits: a token gets a bit if its span shares at least one byte with a stretch of that kind. An
// empty span (the end-of-turn token) gets none. `spans` are in order. Linear in tokens plus spans.
std::vector<LabelBits> label_tokens(const CudaStructure& structure,
                                    std::span<const ByteSpan> spans);

} // namespace cuset
