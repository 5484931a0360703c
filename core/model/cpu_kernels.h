// The decoder's pointwise work on the processor, each as one pass over memory. Plain C++ on rows
// [begin, end), so that the caller decides who works on which; sums in float32 whatever the element
// type. Element types: float, and std::uint16_t for bfloat16's bits.
#pragma once

#include <cstdint>

namespace cuset::cpu {

// out = x / sqrt(mean(x^2) + epsilon) * gain, each row of `channels`. RMSNorm: arXiv 1910.07467.
void rms_norm(const float* x, const float* gain, float* out, std::int64_t begin, std::int64_t end,
              std::int64_t channels, float epsilon);
void rms_norm(const std::uint16_t* x, const std::uint16_t* gain, std::uint16_t* out,
              std::int64_t begin, std::int64_t end, std::int64_t channels, float epsilon);

// x += delta, then as above.
void add_rms_norm(float* x, const float* delta, const float* gain, float* out, std::int64_t begin,
                  std::int64_t end, std::int64_t channels, float epsilon);
void add_rms_norm(std::uint16_t* x, const std::uint16_t* delta, const std::uint16_t* gain,
                  std::uint16_t* out, std::int64_t begin, std::int64_t end, std::int64_t channels,
                  float epsilon);

// out [rows, width] = silu(in[:, :width]) * in[:, width:], in [rows, 2 width]. SwiGLU: arXiv
// 2002.05202.
void swiglu(const float* in, float* out, std::int64_t begin, std::int64_t end, std::int64_t width);
void swiglu(const std::uint16_t* in, std::uint16_t* out, std::int64_t begin, std::int64_t end,
            std::int64_t width);

// Where the rows of a product q|k|v go. D head_dim, H query heads, K key heads, G = H / K.
struct HeadLayout {
    std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
    std::int64_t rows = 0; // rows of the product
    std::int64_t block = 0; // rows of a query block
    std::int64_t capacity = 0; // positions that k and v have room for
    std::int64_t past = 0; // position of row 0
    float query_scale = 1; // folded into q
    float epsilon = 0; // of the head norms
};

// Splits qkv [rows, (H + 2K) D], norms each head where a gain [D] is given, rotates q and k by cos
// and sin [rows, D/2], and stores q block by block as [K, G, rows of the block, D], k and v as [K,
// capacity, D].
void split_rotate(const float* qkv, const float* q_gain, const float* k_gain, const float* cosine,
                  const float* sine, float* q, float* k, float* v, std::int64_t begin,
                  std::int64_t end, const HeadLayout& layout);
void split_rotate(const std::uint16_t* qkv, const std::uint16_t* q_gain,
                  const std::uint16_t* k_gain, const float* cosine, const float* sine,
                  std::uint16_t* q, std::uint16_t* k, std::uint16_t* v, std::int64_t begin,
                  std::int64_t end, const HeadLayout& layout);

// Softmax over the visible part of each row of scores [groups * rows, columns]; the rest becomes 0.
// Row r is position first_position + r % rows; column c is key first_key + c; a window of 0 sees
// every key before.
struct SoftmaxLayout {
    std::int64_t rows = 0, columns = 0;
    std::int64_t first_position = 0, first_key = 0, window = 0;
};
void causal_softmax(float* scores, std::int64_t begin, std::int64_t end,
                    const SoftmaxLayout& layout);
void causal_softmax(std::uint16_t* scores, std::int64_t begin, std::int64_t end,
                    const SoftmaxLayout& layout);

} // namespace cuset::cpu
