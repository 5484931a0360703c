// One GGUF file taken apart; GgufFile puts the parts of a split model together.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/io/gguf_file.h"

namespace cuset {

struct GgufPart {
    std::uint32_t version = 0;
    std::map<std::string, GgufValue, std::less<>> metadata;
    std::vector<GgufTensor> tensors; // in the file's order; bytes point into the mapping
};

// Time and memory are O(metadata): no count or length is believed before the bytes for it are known
// to be there. Throws Error: bad_format, unsupported (version, byte order, nested arrays, tensor
// type), limit.
GgufPart parse_gguf(const MappedFile& file);

} // namespace cuset
