#include "core/train/training_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/model/simd.h"

namespace cuset::cpu {
namespace {

using simd::Floats;
using simd::lanes;

// Element i .. i + 16 of a row of n; beyond its end zeros are read and nothing is written.
template <class T>
CUSET_INLINE void load_at(const T* row, std::int64_t i, std::int64_t n, Floats& v) {
    if (i + lanes <= n) {
        simd::load(row + i, v);
        return;
    }
    std::array<T, lanes> part{};
    std::copy_n(row + i, n - i, part.begin());
    simd::load(part.data(), v);
}

template <class T>
CUSET_INLINE void store_at(const Floats& v, T* row, std::int64_t i, std::int64_t n) {
    if (i + lanes <= n) {
        simd::store(v, row + i);
        return;
    }
    std::array<T, lanes> part;
    simd::store(v, part.data());
    std::copy_n(part.begin(), n - i, row + i);
}

template <class T>
CUSET_INLINE void norm_row_backward(const T* x, const T* gain, const T* dy, const T* residual,
                                    T* out, std::int64_t n, float epsilon) {
    Floats squares{}, along{};
    for (std::int64_t i = 0; i < n; i += lanes) {
        Floats v, g, d;
        load_at(x, i, n, v);
        load_at(gain, i, n, g);
        load_at(dy, i, n, d);
        squares += v * v;
        along += v * g * d;
    }
    const auto count = static_cast<float>(n);
    const float inverse = 1.f / std::sqrt(simd::sum(squares) / count + epsilon);
    const float pull = simd::sum(along) * inverse * inverse / count;
    for (std::int64_t i = 0; i < n; i += lanes) {
        Floats v, g, d;
        load_at(x, i, n, v);
        load_at(gain, i, n, g);
        load_at(dy, i, n, d);
        Floats y = (d * g - v * pull) * inverse;
        if (residual) {
            Floats r;
            load_at(residual, i, n, r);
            y += r;
        }
        store_at(y, out, i, n);
    }
}

template <class T>
CUSET_INLINE void swiglu_row_backward(const T* in, const T* dy, T* out, std::int64_t width) {
    for (std::int64_t i = 0; i < width; i += lanes) {
        Floats gate, up, d;
        load_at(in, i, width, gate);
        load_at(in + width, i, width, up);
        load_at(dy, i, width, d);
        Floats e = gate < 0.f ? gate : -gate;
        simd::exp_negative(e);
        const Floats sigmoid = (gate < 0.f ? e : Floats{} + 1.f) / (1.f + e);
        const Floats dup = d * gate * sigmoid;
        const Floats dgate = d * up * sigmoid * (1.f + gate * (1.f - sigmoid));
        store_at(dgate, out, i, width);
        store_at(dup, out + width, i, width);
    }
}

template <class From, class T>
CUSET_INLINE void rotate_head_back(const From* x, const float* cosine, const float* sine,
                                   float scale, std::int64_t half, T* out) {
    for (std::int64_t i = 0; i < half; i += lanes) {
        Floats a, b, c, s;
        load_at(x, i, half, a);
        load_at(x + half, i, half, b);
        load_at(cosine, i, half, c);
        load_at(sine, i, half, s);
        const Floats low = (a * c + b * s) * scale;
        const Floats high = (b * c - a * s) * scale;
        store_at(low, out, i, half);
        store_at(high, out + half, i, half);
    }
}

template <class T>
CUSET_INLINE void merge_row(const T* q, const float* k, const float* v, const float* cosine,
                            const float* sine, T* out, std::int64_t row, const HeadLayout& l) {
    const std::int64_t d = l.head_dim;
    for (std::int64_t h = 0; h < l.heads; ++h, out += d)
        rotate_head_back(q + (h * l.rows + row) * d, cosine, sine, l.query_scale, d / 2, out);
    for (std::int64_t h = 0; h < l.kv_heads; ++h, out += d)
        rotate_head_back(k + (h * l.rows + row) * d, cosine, sine, 1.f, d / 2, out);
    for (std::int64_t h = 0; h < l.kv_heads; ++h, out += d) {
        const float* from = v + (h * l.rows + row) * d;
        for (std::int64_t i = 0; i < d; i += lanes) {
            Floats x;
            load_at(from, i, d, x);
            store_at(x, out, i, d);
        }
    }
}

template <class T> CUSET_INLINE void softmax_row_backward(const T* p, T* dp, std::int64_t n) {
    Floats sums{};
    for (std::int64_t i = 0; i < n; i += lanes) {
        Floats a, b;
        load_at(p, i, n, a);
        load_at(dp, i, n, b);
        sums += a * b;
    }
    const float sum = simd::sum(sums);
    for (std::int64_t i = 0; i < n; i += lanes) {
        Floats a, b;
        load_at(p, i, n, a);
        load_at(dp, i, n, b);
        const Floats y = a * (b - sum);
        store_at(y, dp, i, n);
    }
}

template <class T>
CUSET_INLINE void softmax_rows_backward(const T* p, T* dp, std::int64_t begin, std::int64_t end,
                                        const SoftmaxLayout& l) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = r * l.columns, position = l.first_position + r % l.rows;
        const std::int64_t last = std::min(l.columns, position - l.first_key + 1);
        std::int64_t first = 0;
        if (l.window > 0)
            first = std::max<std::int64_t>(0, position - l.window + 1 - l.first_key);
        std::fill(dp + at, dp + at + first, T{});
        std::fill(dp + at + last, dp + at + l.columns, T{});
        softmax_row_backward(p + at + first, dp + at + first, last - first);
    }
}

// Sums of 16 lanes over some thousand elements, then float64: a vocabulary is long.
constexpr std::int64_t sum_block = 1024;

CUSET_INLINE double exponentiate(float* row, std::int64_t n, float largest) {
    double total = 0;
    for (std::int64_t block = 0; block < n; block += sum_block) {
        const std::int64_t end = std::min(n, block + sum_block);
        Floats sums{};
        float rest = 0;
        std::int64_t i = block;
        for (; i + lanes <= end; i += lanes) {
            Floats v;
            simd::load(row + i, v);
            v -= largest;
            simd::exp_negative(v);
            simd::store(v, row + i);
            sums += v;
        }
        if (i < end) {
            Floats v;
            load_at(row, i, end, v);
            v -= largest;
            simd::exp_negative(v);
            store_at(v, row, i, end);
            for (std::int64_t j = 0; j < end - i; ++j)
                rest += v[j];
        }
        total += static_cast<double>(simd::sum(sums) + rest);
    }
    return total;
}

CUSET_INLINE float largest_of(const float* row, std::int64_t n) {
    Floats m = Floats{} - std::numeric_limits<float>::infinity();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        Floats v;
        simd::load(row + i, v);
        m = v > m ? v : m;
    }
    float largest = simd::largest(m);
    for (; i < n; ++i)
        largest = std::max(largest, row[i]);
    return largest;
}

template <class T>
CUSET_INLINE void gradient_row(const float* values, std::int32_t target, double sum, float factor,
                               T* out, std::int64_t n) {
    const auto scale = static_cast<float>(static_cast<double>(factor) / sum);
    const float chosen = values[target] * scale - factor;
    for (std::int64_t i = 0; i < n; i += lanes) {
        Floats v;
        load_at(values, i, n, v);
        v *= scale;
        store_at(v, out, i, n);
    }
    Floats v = Floats{} + chosen;
    store_at(v, out + target, 0, 1);
}

} // namespace

// One pair of overloads for each kernel: the attribute that compiles a function for several
// instruction sets does not go with templates.
CUSET_SIMD void rms_norm_backward(const float* x, const float* gain, const float* dy,
                                  const float* residual, float* out, std::int64_t begin,
                                  std::int64_t end, std::int64_t channels, float epsilon) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = r * channels;
        norm_row_backward(x + at, gain, dy + at, residual ? residual + at : nullptr, out + at,
                          channels, epsilon);
    }
}

CUSET_SIMD void rms_norm_backward(const std::uint16_t* x, const std::uint16_t* gain,
                                  const std::uint16_t* dy, const std::uint16_t* residual,
                                  std::uint16_t* out, std::int64_t begin, std::int64_t end,
                                  std::int64_t channels, float epsilon) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = r * channels;
        norm_row_backward(x + at, gain, dy + at, residual ? residual + at : nullptr, out + at,
                          channels, epsilon);
    }
}

CUSET_SIMD void swiglu_backward(const float* gate_up, const float* dy, float* out,
                                std::int64_t begin, std::int64_t end, std::int64_t width) {
    for (std::int64_t r = begin; r < end; ++r)
        swiglu_row_backward(gate_up + 2 * r * width, dy + r * width, out + 2 * r * width, width);
}

CUSET_SIMD void swiglu_backward(const std::uint16_t* gate_up, const std::uint16_t* dy,
                                std::uint16_t* out, std::int64_t begin, std::int64_t end,
                                std::int64_t width) {
    for (std::int64_t r = begin; r < end; ++r)
        swiglu_row_backward(gate_up + 2 * r * width, dy + r * width, out + 2 * r * width, width);
}

CUSET_SIMD void merge_rotate_back(const float* q, const float* k, const float* v,
                                  const float* cosine, const float* sine, float* out,
                                  std::int64_t begin, std::int64_t end, const HeadLayout& layout) {
    const std::int64_t half = layout.head_dim / 2,
                       width = (layout.heads + 2 * layout.kv_heads) * layout.head_dim;
    for (std::int64_t r = begin; r < end; ++r)
        merge_row(q, k, v, cosine + r * half, sine + r * half, out + r * width, r, layout);
}

CUSET_SIMD void merge_rotate_back(const std::uint16_t* q, const float* k, const float* v,
                                  const float* cosine, const float* sine, std::uint16_t* out,
                                  std::int64_t begin, std::int64_t end, const HeadLayout& layout) {
    const std::int64_t half = layout.head_dim / 2,
                       width = (layout.heads + 2 * layout.kv_heads) * layout.head_dim;
    for (std::int64_t r = begin; r < end; ++r)
        merge_row(q, k, v, cosine + r * half, sine + r * half, out + r * width, r, layout);
}

CUSET_SIMD void causal_softmax_backward(const float* p, float* dp, std::int64_t begin,
                                        std::int64_t end, const SoftmaxLayout& layout) {
    softmax_rows_backward(p, dp, begin, end, layout);
}

CUSET_SIMD void causal_softmax_backward(const std::uint16_t* p, std::uint16_t* dp,
                                        std::int64_t begin, std::int64_t end,
                                        const SoftmaxLayout& layout) {
    softmax_rows_backward(p, dp, begin, end, layout);
}

CUSET_SIMD void exponentials(float* logits, const std::int32_t* targets, double* sums,
                             float* log_probs, std::int64_t begin, std::int64_t end,
                             std::int64_t columns) {
    for (std::int64_t r = begin; r < end; ++r) {
        float* row = logits + r * columns;
        const float chosen = row[targets[r]];
        const float largest = largest_of(row, columns);
        // A NaN is no largest; it stays one in the sum.
        sums[r] = exponentiate(row, columns, largest);
        log_probs[r] = static_cast<float>(static_cast<double>(chosen) - static_cast<double>(largest)
                                          - std::log(sums[r]));
    }
}

CUSET_SIMD void softmax_gradient(const float* values, const std::int32_t* targets,
                                 const double* sums, const float* factors, float* out,
                                 std::int64_t begin, std::int64_t end, std::int64_t columns) {
    for (std::int64_t r = begin; r < end; ++r)
        gradient_row(values + r * columns, targets[r], sums[r], factors[r], out + r * columns,
                     columns);
}

CUSET_SIMD void softmax_gradient(const float* values, const std::int32_t* targets,
                                 const double* sums, const float* factors, std::uint16_t* out,
                                 std::int64_t begin, std::int64_t end, std::int64_t columns) {
    for (std::int64_t r = begin; r < end; ++r)
        gradient_row(values + r * columns, targets[r], sums[r], factors[r], out + r * columns,
                     columns);
}

} // namespace cuset::cpu
