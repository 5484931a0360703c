// Finds the functions that run on the device: kernels (`__global__`, or a macro of the file that
// holds it) and
// `__device__` functions and lambdas, each with its body.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/cuda/code_view.h"

namespace cuset::cuda_scan {

struct DeviceFunction {
    bool kernel = false; // else a __device__ function or lambda
    std::int32_t first = 0; // token its head begins with (template, extern, __global__, ...)
    std::int32_t name = -1; // token of its name, -1: a lambda
    std::int32_t parameters = -1; // token of the `(` of its parameters, -1: none
    std::int32_t body = 0; // token of the `{`
    std::int32_t body_end = 0; // byte offset after its `}`, or where it is cut off
    bool complete = true; // the closing brace is there
};

// Names of macros with a property, each from its definition on.
class MacroSet {
public:
    explicit MacroSet(std::size_t names)
        : defined_at_(names, never) { }
    void add(std::int32_t name, std::int32_t offset) {
        defined_at_[name] = std::min(defined_at_[name], offset);
    }
    bool holds(const Token& token) const {
        return token.name >= 0 && defined_at_[token.name] < token.begin;
    }

private:
    static constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> defined_at_; // byte offset of the definition, by name
};

// `kernel_macros`: macros of the file whose replacement holds `__global__` and no body.
// Sorted by `first`. Linear. A kernel whose body is still open where the next kernel's definition
// begins ends there: no kernel can be defined inside another.
std::vector<DeviceFunction> find_device_functions(const CodeView& code,
                                                  const MacroSet& kernel_macros);

// Marks the macros of the file whose replacement holds `__global__` and no body of its own.
MacroSet find_kernel_macros(const LexedSource& source);

} // namespace cuset::cuda_scan
