#include "core/io/ggml_blocks.h"

#include <array>

namespace cuset::ggml_blocks {
namespace {

// Non-uniform steps of IQ4_NL and IQ4_XS.
constexpr std::array<std::int8_t, 16> iq4_steps{-127, -104, -83, -65, -49, -35, -22, -10,
                                                1,    13,   25,  38,  53,  69,  89,  113};
// Twice the values of a 4-bit float with two bits of exponent and one of mantissa (E2M1).
constexpr std::array<std::int8_t, 16> e2m1_steps{0, 1,  2,  3,  4,  6,  8,  12,
                                                 0, -1, -2, -3, -4, -6, -8, -12};

// 16 bytes hold elements 0..15 in their low halves and 16..31 in their high ones.
template <typename Decode>
void decode_nibbles(const std::uint8_t* bytes, float* out, Decode decode) {
    for (int n = 0; n < 16; ++n) {
        out[n] = decode(n, bytes[n] & 0x0f);
        out[n + 16] = decode(n + 16, bytes[n] >> 4);
    }
}

// 0.5 * 2^(exponent - 127): the halved power makes up for the doubled steps.
float half_power(std::uint8_t exponent) {
    return std::bit_cast<float>(exponent < 2 ? 0x00200000u << exponent
                                             : static_cast<std::uint32_t>(exponent - 1) << 23);
}

// Six-bit scales and minima of eight rows in twelve bytes (Q4_K, Q5_K).
struct RowScales {
    std::array<std::uint8_t, 8> scale{};
    std::array<std::uint8_t, 8> minimum{};
};

RowScales unpack_row_scales(const std::uint8_t* bytes) {
    RowScales rows;
    for (std::size_t n = 0; n < 4; ++n) {
        const unsigned scale = bytes[n], minimum = bytes[n + 4], both = bytes[n + 8];
        rows.scale[n] = scale & 0x3f;
        rows.minimum[n] = minimum & 0x3f;
        rows.scale[n + 4] = static_cast<std::uint8_t>((both & 0x0f) | (scale >> 2 & 0x30));
        rows.minimum[n + 4] = static_cast<std::uint8_t>(both >> 4 | (minimum >> 2 & 0x30));
    }
    return rows;
}

} // namespace

void decode_q4_0(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    decode_nibbles(block + 2, out, [d](int, int q) { return d * static_cast<float>(q - 8); });
}

void decode_q4_1(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const float m = load_half(block + 2);
    decode_nibbles(block + 4, out, [d, m](int, int q) { return d * static_cast<float>(q) + m; });
}

void decode_q5_0(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const auto high = load<std::uint32_t>(block + 2);
    decode_nibbles(block + 6, out, [d, high](int n, int q) {
        return d * static_cast<float>((q | static_cast<int>(high >> n & 1) << 4) - 16);
    });
}

void decode_q5_1(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const float m = load_half(block + 2);
    const auto high = load<std::uint32_t>(block + 4);
    decode_nibbles(block + 8, out, [d, m, high](int n, int q) {
        return d * static_cast<float>(q | static_cast<int>(high >> n & 1) << 4) + m;
    });
}

void decode_q8_0(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    for (int n = 0; n < 32; ++n)
        out[n] = d * static_cast<float>(static_cast<std::int8_t>(block[2 + n]));
}

// Like Q8_0 with the sum of the block, which only products of blocks need, after the scale.
void decode_q8_1(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    for (int n = 0; n < 32; ++n)
        out[n] = d * static_cast<float>(static_cast<std::int8_t>(block[4 + n]));
}

void decode_iq4_nl(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    decode_nibbles(block + 2, out, [d](int, int q) {
        return d * static_cast<float>(iq4_steps[static_cast<std::size_t>(q)]);
    });
}

void decode_mxfp4(const std::uint8_t* block, float* out) {
    const float d = half_power(block[0]);
    decode_nibbles(block + 1, out, [d](int, int q) {
        return d * static_cast<float>(e2m1_steps[static_cast<std::size_t>(q)]);
    });
}

// 16 scales and minima of four bits, two-bit values in rows of 32.
void decode_q2_k(const std::uint8_t* block, float* out) {
    const std::uint8_t* values = block + 16;
    const float d = load_half(block + 80);
    const float minimum = load_half(block + 82);
    for (int part = 0; part < 16; ++part) {
        const float dl = d * static_cast<float>(block[part] & 0x0f);
        const float ml = minimum * static_cast<float>(block[part] >> 4);
        const int row = part / 2;
        const std::uint8_t* bytes = values + row / 4 * 32 + part % 2 * 16;
        const int shift = 2 * (row % 4);
        for (int n = 0; n < 16; ++n)
            out[part * 16 + n] = dl * static_cast<float>(bytes[n] >> shift & 3) - ml;
    }
}

// Two low bits in rows of 32, the third of row r in bit r of the mask, where a clear bit means
// minus four.
void decode_q3_k(const std::uint8_t* block, float* out) {
    const std::uint8_t* values = block + 32;
    const std::uint8_t* scales = block + 96;
    const float d = load_half(block + 108);
    for (int part = 0; part < 16; ++part) {
        const int low = part < 8 ? scales[part] & 0x0f : scales[part - 8] >> 4;
        const int high = scales[8 + part % 4] >> (2 * (part / 4)) & 3;
        const float dl = d * static_cast<float>((low | high << 4) - 32);
        const int row = part / 2;
        const std::uint8_t* bytes = values + row / 4 * 32 + part % 2 * 16;
        const std::uint8_t* mask = block + part % 2 * 16;
        const int shift = 2 * (row % 4);
        for (int n = 0; n < 16; ++n) {
            const int offset = 4 - (mask[n] >> row & 1) * 4;
            out[part * 16 + n] = dl * static_cast<float>((bytes[n] >> shift & 3) - offset);
        }
    }
}

void decode_q4_k(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const float minimum = load_half(block + 2);
    const RowScales rows = unpack_row_scales(block + 4);
    for (int row = 0; row < 8; ++row) {
        const float dl = d * static_cast<float>(rows.scale[static_cast<std::size_t>(row)]);
        const float ml = minimum * static_cast<float>(rows.minimum[static_cast<std::size_t>(row)]);
        const std::uint8_t* bytes = block + 16 + row / 2 * 32;
        const int shift = 4 * (row % 2);
        for (int n = 0; n < 32; ++n)
            out[row * 32 + n] = dl * static_cast<float>(bytes[n] >> shift & 0x0f) - ml;
    }
}

void decode_q5_k(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const float minimum = load_half(block + 2);
    const RowScales rows = unpack_row_scales(block + 4);
    const std::uint8_t* high = block + 16;
    for (int row = 0; row < 8; ++row) {
        const float dl = d * static_cast<float>(rows.scale[static_cast<std::size_t>(row)]);
        const float ml = minimum * static_cast<float>(rows.minimum[static_cast<std::size_t>(row)]);
        const std::uint8_t* bytes = block + 48 + row / 2 * 32;
        const int shift = 4 * (row % 2);
        for (int n = 0; n < 32; ++n) {
            const int q = (bytes[n] >> shift & 0x0f) | (high[n] >> row & 1) << 4;
            out[row * 32 + n] = dl * static_cast<float>(q) - ml;
        }
    }
}

void decode_q6_k(const std::uint8_t* block, float* out) {
    const std::uint8_t* scales = block + 192;
    const float d = load_half(block + 208);
    for (int part = 0; part < 16; ++part) {
        const float dl = d * static_cast<float>(static_cast<std::int8_t>(scales[part]));
        const int row = part / 2;
        const int column = part % 2 * 16;
        const std::uint8_t* low = block + row / 4 * 64 + row % 2 * 32 + column;
        const std::uint8_t* high = block + 128 + row / 4 * 32 + column;
        const int low_shift = 4 * (row / 2 % 2);
        const int high_shift = 2 * (row % 4);
        for (int n = 0; n < 16; ++n) {
            const int q = (low[n] >> low_shift & 0x0f) | (high[n] >> high_shift & 3) << 4;
            out[part * 16 + n] = dl * static_cast<float>(q - 32);
        }
    }
}

void decode_q8_k(const std::uint8_t* block, float* out) {
    const auto d = load<float>(block);
    for (int n = 0; n < 256; ++n)
        out[n] = d * static_cast<float>(static_cast<std::int8_t>(block[4 + n]));
}

void decode_iq4_xs(const std::uint8_t* block, float* out) {
    const float d = load_half(block);
    const auto high = load<std::uint16_t>(block + 2);
    for (int row = 0; row < 8; ++row) {
        const int low = block[4 + row / 2] >> (4 * (row % 2)) & 0x0f;
        const float dl = d * static_cast<float>((low | (high >> (2 * row) & 3) << 4) - 32);
        decode_nibbles(block + 8 + row * 16, out + row * 32, [dl](int, int q) {
            return dl * static_cast<float>(iq4_steps[static_cast<std::size_t>(q)]);
        });
    }
}

// Five ternary digits in a byte as a fraction of 243 scaled to 256: multiplied by 3^n (modulo 256),
// the next digit is the whole part of three times the fraction.
void decode_tq1_0(const std::uint8_t* block, float* out) {
    static constexpr std::array<std::uint8_t, 5> powers{1, 3, 9, 27, 81};
    const float d = load_half(block + 52);
    const auto decode = [&](const std::uint8_t* bytes, int count, std::size_t digits) {
        for (std::size_t digit = 0; digit < digits; ++digit) {
            for (int n = 0; n < count; ++n) {
                const auto q = static_cast<std::uint8_t>(bytes[n] * powers[digit]);
                *out++ = d * static_cast<float>((q * 3 >> 8) - 1);
            }
        }
    };
    decode(block, 32, 5);
    decode(block + 32, 16, 5);
    decode(block + 48, 4, 4);
}

void decode_tq2_0(const std::uint8_t* block, float* out) {
    const float d = load_half(block + 64);
    for (int row = 0; row < 8; ++row) {
        const std::uint8_t* bytes = block + row / 4 * 32;
        const int shift = 2 * (row % 4);
        for (int n = 0; n < 32; ++n)
            out[row * 32 + n] = d * static_cast<float>((bytes[n] >> shift & 3) - 1);
    }
}

} // namespace cuset::ggml_blocks
