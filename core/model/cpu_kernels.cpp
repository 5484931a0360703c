#include "core/model/cpu_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/model/simd.h"

namespace cuset::cpu {
namespace {

using simd::Floats;
using simd::lanes;

// The last few elements of a row go through a vector padded with `filler`.
template <class T>
CUSET_INLINE void load_part(const T* from, std::int64_t count, T filler, Floats& to) {
    std::array<T, lanes> part;
    part.fill(filler);
    std::copy_n(from, count, part.begin());
    simd::load(part.data(), to);
}

template <class T> CUSET_INLINE void store_part(const Floats& from, std::int64_t count, T* to) {
    std::array<T, lanes> part;
    simd::store(from, part.data());
    std::copy_n(part.begin(), count, to);
}

// f(vector, index) for each vector of a row; the last may be padded with zeros.
template <class T, class F> CUSET_INLINE void for_each_vector(const T* x, std::int64_t n, F f) {
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        Floats v;
        simd::load(x + i, v);
        f(v, i);
    }
    if (i < n) {
        Floats v;
        load_part(x + i, n - i, T{}, v);
        f(v, i);
    }
}

template <class T>
CUSET_INLINE void store_at(const Floats& v, T* row, std::int64_t i, std::int64_t n) {
    if (i + lanes <= n)
        simd::store(v, row + i);
    else
        store_part(v, n - i, row + i);
}

template <class T>
CUSET_INLINE void load_at(const T* row, std::int64_t i, std::int64_t n, Floats& v) {
    if (i + lanes <= n)
        simd::load(row + i, v);
    else
        load_part(row + i, n - i, T{}, v);
}

template <class T>
CUSET_INLINE void scale_row(const T* x, const T* gain, T* out, std::int64_t n, float squares,
                            float epsilon) {
    const float scale = 1.f / std::sqrt(squares / static_cast<float>(n) + epsilon);
    for_each_vector(
        x, n, [&](const Floats& v, std::int64_t i) __attribute__((always_inline)) {
            Floats g;
            load_at(gain, i, n, g);
            const Floats y = v * scale * g;
            store_at(y, out, i, n);
        });
}

template <class T>
CUSET_INLINE void norm_row(const T* x, const T* gain, T* out, std::int64_t n, float epsilon) {
    Floats squares{};
    for_each_vector(
        x,
        n, [&](const Floats& v, std::int64_t) __attribute__((always_inline)) { squares += v * v; });
    scale_row(x, gain, out, n, simd::sum(squares), epsilon);
}

template <class T>
CUSET_INLINE void add_norm_row(T* x, const T* delta, const T* gain, T* out, std::int64_t n,
                               float epsilon) {
    Floats squares{};
    for_each_vector(
        x, n, [&](const Floats& v, std::int64_t i) __attribute__((always_inline)) {
            Floats d;
            load_at(delta, i, n, d);
            d += v;
            store_at(d, x, i, n);
            squares += d * d;
        });
    scale_row(x, gain, out, n, simd::sum(squares), epsilon);
}

template <class T> CUSET_INLINE void swiglu_row(const T* in, T* out, std::int64_t width) {
    for_each_vector(
        in, width, [&](const Floats& gate, std::int64_t i) __attribute__((always_inline)) {
            Floats up;
            load_at(in + width, i, width, up);
            Floats e = gate < 0.f ? gate : -gate;
            simd::exp_negative(e);
            // sigmoid(x) = 1 / (1 + e^-x); for x < 0 the same with e^x, which cannot overflow.
            const Floats numerator = gate < 0.f ? e : Floats{} + 1.f;
            const Floats y = gate * up * numerator / (1.f + e);
            store_at(y, out, i, width);
        });
}

// One head: x [D] -> out [D], rotated by the angles whose cosine and sine are given for D/2 pairs.
template <class T>
CUSET_INLINE void rotate_head(const T* x, const float* cosine, const float* sine, float scale,
                              std::int64_t half, T* out) {
    for (std::int64_t i = 0; i < half; i += lanes) {
        Floats a, b, c, s;
        load_at(x, i, half, a);
        load_at(x + half, i, half, b);
        load_at(cosine, i, half, c);
        load_at(sine, i, half, s);
        const Floats low = (a * c - b * s) * scale;
        const Floats high = (b * c + a * s) * scale;
        store_at(low, out, i, half);
        store_at(high, out + half, i, half);
    }
}

template <class T>
CUSET_INLINE void split_row(const T* qkv, const T* q_gain, const T* k_gain, const float* cosine,
                            const float* sine, T* q, T* k, T* v, std::int64_t row,
                            const HeadLayout& l) {
    const std::int64_t d = l.head_dim;
    const std::int64_t first = row / l.block * l.block;
    const std::int64_t block_rows = std::min(l.block, l.rows - first);
    const T* source = qkv + row * (l.heads + 2 * l.kv_heads) * d;
    std::array<T, 4096> normed; // head_dim's limit
    for (std::int64_t h = 0; h < l.heads; ++h, source += d) {
        const T* x = source;
        if (q_gain) {
            norm_row(x, q_gain, normed.data(), d, l.epsilon);
            x = normed.data();
        }
        T* out = q + first * l.heads * d + (h * block_rows + row - first) * d;
        rotate_head(x, cosine, sine, l.query_scale, d / 2, out);
    }
    for (std::int64_t h = 0; h < l.kv_heads; ++h, source += d) {
        const T* x = source;
        if (k_gain) {
            norm_row(x, k_gain, normed.data(), d, l.epsilon);
            x = normed.data();
        }
        rotate_head(x, cosine, sine, 1.f, d / 2, k + (h * l.capacity + l.past + row) * d);
    }
    for (std::int64_t h = 0; h < l.kv_heads; ++h, source += d)
        std::copy_n(source, d, v + (h * l.capacity + l.past + row) * d);
}

template <class T> CUSET_INLINE void softmax_row(T* row, std::int64_t n) {
    Floats m = Floats{} - std::numeric_limits<float>::infinity();
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        Floats v;
        simd::load(row + i, v);
        m = v > m ? v : m;
    }
    float max = simd::largest(m);
    if (i < n) {
        Floats v;
        load_part(row + i, n - i, row[i], v);
        max = std::max(max, simd::largest(v));
    }
    Floats total{};
    for (i = 0; i + lanes <= n; i += lanes) {
        Floats v;
        simd::load(row + i, v);
        v -= max;
        simd::exp_negative(v);
        simd::store(v, row + i);
        total += v;
    }
    float rest = 0;
    if (i < n) {
        Floats v;
        load_part(row + i, n - i, row[i], v);
        v -= max;
        simd::exp_negative(v);
        store_part(v, n - i, row + i);
        for (std::int64_t j = 0; j < n - i; ++j)
            rest += v[j];
    }
    const float scale = 1.f / (simd::sum(total) + rest);
    for_each_vector(
        row, n, [&](const Floats& v, std::int64_t j) __attribute__((always_inline)) {
            const Floats y = v * scale;
            store_at(y, row, j, n);
        });
}

template <class T>
CUSET_INLINE void softmax_rows(T* scores, std::int64_t begin, std::int64_t end,
                               const SoftmaxLayout& l) {
    for (std::int64_t r = begin; r < end; ++r) {
        T* row = scores + r * l.columns;
        const std::int64_t position = l.first_position + r % l.rows;
        const std::int64_t last = std::min(l.columns, position - l.first_key + 1);
        std::int64_t first = 0;
        if (l.window > 0)
            first = std::max<std::int64_t>(0, position - l.window + 1 - l.first_key);
        std::fill(row, row + first, T{});
        std::fill(row + last, row + l.columns, T{});
        softmax_row(row + first, last - first);
    }
}

} // namespace

// One pair of overloads for each kernel: the attribute that compiles a function for several
// instruction sets does not go with templates.
CUSET_SIMD void rms_norm(const float* x, const float* gain, float* out, std::int64_t begin,
                         std::int64_t end, std::int64_t channels, float epsilon) {
    for (std::int64_t r = begin; r < end; ++r)
        norm_row(x + r * channels, gain, out + r * channels, channels, epsilon);
}

CUSET_SIMD void rms_norm(const std::uint16_t* x, const std::uint16_t* gain, std::uint16_t* out,
                         std::int64_t begin, std::int64_t end, std::int64_t channels,
                         float epsilon) {
    for (std::int64_t r = begin; r < end; ++r)
        norm_row(x + r * channels, gain, out + r * channels, channels, epsilon);
}

CUSET_SIMD void add_rms_norm(float* x, const float* delta, const float* gain, float* out,
                             std::int64_t begin, std::int64_t end, std::int64_t channels,
                             float epsilon) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = r * channels;
        add_norm_row(x + at, delta + at, gain, out + at, channels, epsilon);
    }
}

CUSET_SIMD void add_rms_norm(std::uint16_t* x, const std::uint16_t* delta,
                             const std::uint16_t* gain, std::uint16_t* out, std::int64_t begin,
                             std::int64_t end, std::int64_t channels, float epsilon) {
    for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t at = r * channels;
        add_norm_row(x + at, delta + at, gain, out + at, channels, epsilon);
    }
}

CUSET_SIMD void swiglu(const float* in, float* out, std::int64_t begin, std::int64_t end,
                       std::int64_t width) {
    for (std::int64_t r = begin; r < end; ++r)
        swiglu_row(in + 2 * r * width, out + r * width, width);
}

CUSET_SIMD void swiglu(const std::uint16_t* in, std::uint16_t* out, std::int64_t begin,
                       std::int64_t end, std::int64_t width) {
    for (std::int64_t r = begin; r < end; ++r)
        swiglu_row(in + 2 * r * width, out + r * width, width);
}

CUSET_SIMD void split_rotate(const float* qkv, const float* q_gain, const float* k_gain,
                             const float* cosine, const float* sine, float* q, float* k, float* v,
                             std::int64_t begin, std::int64_t end, const HeadLayout& layout) {
    const std::int64_t half = layout.head_dim / 2;
    for (std::int64_t r = begin; r < end; ++r)
        split_row(qkv, q_gain, k_gain, cosine + r * half, sine + r * half, q, k, v, r, layout);
}

CUSET_SIMD void split_rotate(const std::uint16_t* qkv, const std::uint16_t* q_gain,
                             const std::uint16_t* k_gain, const float* cosine, const float* sine,
                             std::uint16_t* q, std::uint16_t* k, std::uint16_t* v,
                             std::int64_t begin, std::int64_t end, const HeadLayout& layout) {
    const std::int64_t half = layout.head_dim / 2;
    for (std::int64_t r = begin; r < end; ++r)
        split_row(qkv, q_gain, k_gain, cosine + r * half, sine + r * half, q, k, v, r, layout);
}

CUSET_SIMD void causal_softmax(float* scores, std::int64_t begin, std::int64_t end,
                               const SoftmaxLayout& layout) {
    softmax_rows(scores, begin, end, layout);
}

CUSET_SIMD void causal_softmax(std::uint16_t* scores, std::int64_t begin, std::int64_t end,
                               const SoftmaxLayout& layout) {
    softmax_rows(scores, begin, end, layout);
}

} // namespace cuset::cpu
