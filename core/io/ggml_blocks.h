// Decoders of ggml's quantised blocks, one block at a time. Layouts and the order of the float
// operations follow dequantize_row_* of https://github.com/ggml-org/ggml (src/ggml-quants.c), which
// the `gguf` package repeats.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/io/half_float.h"

namespace cuset::ggml_blocks {

template <typename T> T load(const std::uint8_t* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}

inline float load_half(const std::uint8_t* bytes) {
    return half_to_float(load<std::uint16_t>(bytes));
}

// Each reads one block at `block` and writes its elements to `out`: 32 of them ...
void decode_q4_0(const std::uint8_t* block, float* out);
void decode_q4_1(const std::uint8_t* block, float* out);
void decode_q5_0(const std::uint8_t* block, float* out);
void decode_q5_1(const std::uint8_t* block, float* out);
void decode_q8_0(const std::uint8_t* block, float* out);
void decode_q8_1(const std::uint8_t* block, float* out);
void decode_iq4_nl(const std::uint8_t* block, float* out);
void decode_mxfp4(const std::uint8_t* block, float* out);
// ... or 256.
void decode_q2_k(const std::uint8_t* block, float* out);
void decode_q3_k(const std::uint8_t* block, float* out);
void decode_q4_k(const std::uint8_t* block, float* out);
void decode_q5_k(const std::uint8_t* block, float* out);
void decode_q6_k(const std::uint8_t* block, float* out);
void decode_q8_k(const std::uint8_t* block, float* out);
void decode_iq4_xs(const std::uint8_t* block, float* out);
void decode_tq1_0(const std::uint8_t* block, float* out);
void decode_tq2_0(const std::uint8_t* block, float* out);

} // namespace cuset::ggml_blocks
