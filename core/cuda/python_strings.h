// CUDA source in Python's string literals: decoded, with each byte's place in the Python text.
// Source: the Python Language Reference, 2.4 "Literals".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"

namespace cuset::cuda_scan {

struct EmbeddedSource {
    std::string text; // escapes undone, `{{` of an f-string as `{`, a replacement field as `_`
    std::vector<std::int32_t> begin, end; // of each byte of `text`: its place in the Python text
    ByteSpan span; // the literals' contents, without the first and the last quotes
    bool unfinished = false; // the Python text ends inside the literal

    // The place of [span.begin, span.end) of `text` in the Python text.
    ByteSpan place(ByteSpan part) const;
};

// The string literals of `python` that hold CUDA, in order; neighbours that Python joins are one
// source. A string that is a statement (a docstring) holds none. Any bytes, linear.
std::vector<EmbeddedSource> find_python_sources(std::string_view python);

} // namespace cuset::cuda_scan
