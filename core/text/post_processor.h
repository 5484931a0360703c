// PostProcessor: the special tokens that tokenizer.json's "post_processor" puts around a text.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/json_access.h"

namespace cuset::text {

struct PostProcessor {
    std::vector<std::int32_t> before, after;
};

// From tokenizer.json's component, which may be null. ByteLevel's trimming of offsets is left out:
// spans here always cover the text. Throws Error: bad_format, bad_value, unsupported (named).
PostProcessor parse_post_processor(const Node& node);

} // namespace cuset::text
