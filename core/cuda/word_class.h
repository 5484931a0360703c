// What a C++ or CUDA identifier is known for. The sets stand in word_class.cpp; the rules that use
// them in sensitivity.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace cuset::cuda_scan {

enum class Word : std::uint8_t {
    none,
    // the language
    qualifier, // const, static, inline, __restrict__, ...
    integer_type, // int, unsigned, size_t, uint32_t, auto, ...
    other_type, // float, double, void, bool, half, float4, ...
    cast, // reinterpret_cast, static_cast, const_cast, dynamic_cast
    flow, // return, else, case, ...: a name after it is no declarator
    control, // if, for, while, switch
    attribute, // takes parentheses that are no parameters: __attribute__, alignas, noexcept, ...
    launch_bounds, // __launch_bounds__, __cluster_dims__, ...
    access, // public, private, protected
    operator_word,
    template_word,
    asm_word,
    integer_math, // min, max, and functions whose result is an index if their argument is one
    // CUDA's execution spaces and memory
    global_space,
    device_space,
    shared_space,
    constant_space, // __constant__, __managed__: variables of the device
    // thread indices
    index_vector, // threadIdx, blockIdx, blockDim, gridDim
    index_value, // warpSize, hipThreadIdx_x
    index_call, // __lane_id()
    index_method, // group.thread_rank()
    // calls and methods by kind
    sync_call,
    sync_method,
    sync_type, // cudaEvent_t, cuda::barrier
    atomic_call,
    atomic_method,
    atomic_type,
    warp_call,
    warp_method,
    warp_type, // wmma::fragment
    memory_call, // __ldg, memcpy_async, tex2D
    shared_call, // __cvta_generic_to_shared
    manage_call, // cudaMalloc, cudaStreamCreate
    manage_type, // cudaStream_t, thrust::device_vector
    // launches
    dim3_type,
    launch_config_type, // cudaLaunchConfig_t
    launch_config_call, // occupancy queries, cudaFuncSetAttribute
    launch_runtime, // (function, grid, block, arguments, shared, stream)
    launch_ex, // (configuration, function, ...)
    launch_driver, // (function, gx, gy, gz, bx, by, bz, shared, stream, ...)
    launch_hip, // (function, grid, block, shared, stream, arguments...)
};

// Linear in the word's length.
Word classify_word(std::string_view word);

} // namespace cuset::cuda_scan
