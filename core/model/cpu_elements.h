// From tensors to the kernels' plain pointers. Sees torch: for this room and core/train only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/model/torch_pch.h"

namespace cuset::cpu {

// True for what the kernels of cpu_kernels.h take.
inline bool has_kernels(const at::Tensor& t) {
    return t.is_cpu() && (t.scalar_type() == at::kFloat || t.scalar_type() == at::kBFloat16);
}

// f(T{}) with the kernels' element type for a tensor's type.
template <class F> void with_element(at::ScalarType dtype, F f) {
    if (dtype == at::kFloat)
        f(float{});
    else
        f(std::uint16_t{});
}

template <class T> T* data(const at::Tensor& t) {
    return static_cast<T*>(t.data_ptr());
}

template <class T> T* data_or_null(const at::Tensor& t) {
    return t.defined() ? static_cast<T*>(t.data_ptr()) : nullptr;
}

// Rows for one thread so that each has some 32k elements to work on.
inline std::int64_t grain(std::int64_t row_elements) {
    return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, row_elements));
}

// f(begin, end) over parts of [0, count), `part` or more at a time, on all threads. A thread takes
// the next part when it is done with one: on a shared machine threads are seldom equally fast. What
// f computes of an element must not depend on the part that it lies in.
template <class F> void for_each_part(std::int64_t count, std::int64_t part, const F& f) {
    const std::int64_t threads = at::get_num_threads();
    const std::int64_t size = std::max(part, (count + 8 * threads - 1) / (8 * threads));
    if (count <= size || threads == 1) {
        if (count > 0)
            f(std::int64_t{0}, count);
        return;
    }
    std::atomic<std::int64_t> next{0};
    at::parallel_for(0, threads, 1, [&](std::int64_t, std::int64_t) {
        for (std::int64_t begin = next.fetch_add(size); begin < count; begin = next.fetch_add(size))
            f(begin, std::min(begin + size, count));
    });
}

} // namespace cuset::cpu
