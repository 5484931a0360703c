// The JSON header of a safetensors file, read strictly. Used by SafetensorsFile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/safetensors_file.h"

namespace cuset {

struct SafetensorsHeader {
    struct Entry {
        std::string name;
        DType dtype = DType::f32;
        std::vector<std::int64_t> shape;
        std::uint64_t begin = 0; // bytes from the end of the header
        std::uint64_t end = 0;
    };
    std::vector<Entry> entries; // in the header's order
    std::map<std::string, std::string, std::less<>> metadata;
};

// Parses the header's text (padding included). Checks what can be checked without the file's size:
// JSON, UTF-8, no key twice, exact fields, names, ranks, and shape x dtype = length. Memory is
// O(text). Throws Error: bad_format, unsupported (a dtype we cannot hold), limit (too many
// entries), subject `file`.
SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& file);

} // namespace cuset
