// From tensors to the kernels' plain pointers. Sees torch: for this room and core/train only.
#pragma once

#include <algorithm>
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

} // namespace cuset::cpu
