/* prompt
Write a layer normalisation forward kernel for half precision activations. Statistics in float, half2 loads, weight
and bias in half as well. The hidden size is even.
*/
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float2 warp_sum2(float2 v) {
#pragma unroll
    for (int mask = 16; mask; mask >>= 1) {
        v.x += __shfl_xor_sync(0xffffffffu, v.x, mask);
        v.y += __shfl_xor_sync(0xffffffffu, v.y, mask);
    }
    return v;
}

// One block of 128 threads normalises one row.
__global__ __launch_bounds__(128) void layer_norm_half2(const __half2* __restrict__ in, __half2* __restrict__ out,
                                                        const __half2* __restrict__ weight,
                                                        const __half2* __restrict__ bias, int pairs, float eps) {
    __shared__ float2 partial[4];
    const __half2* row = in + size_t(blockIdx.x) * pairs;

    float2 sums = make_float2(0.f, 0.f);  // sum and sum of squares
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __half22float2(row[i]);
        sums.x += v.x + v.y;
        sums.y += v.x * v.x + v.y * v.y;
    }
    sums = warp_sum2(sums);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = sums;
    __syncthreads();

    float2 total = make_float2(0.f, 0.f);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
        total.x += partial[w].x;
        total.y += partial[w].y;
    }
    const float count = 2.f * pairs;
    const float mean = total.x / count;
    const float inverse = rsqrtf(fmaxf(total.y / count - mean * mean, 0.f) + eps);

    __half2* target = out + size_t(blockIdx.x) * pairs;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        const float2 v = __half22float2(row[i]);
        const float2 g = __half22float2(weight[i]);
        const float2 b = __half22float2(bias[i]);
        target[i] = __floats2half2_rn((v.x - mean) * inverse * g.x + b.x, (v.y - mean) * inverse * g.y + b.y);
    }
}

cudaError_t layer_norm(const __half* in, __half* out, const __half* weight, const __half* bias, int rows, int hidden,
                       float eps, cudaStream_t stream) {
    if (hidden % 2 != 0) return cudaErrorInvalidValue;
    layer_norm_half2<<<rows, 128, 0, stream>>>(
        reinterpret_cast<const __half2*>(in), reinterpret_cast<__half2*>(out),
        reinterpret_cast<const __half2*>(weight), reinterpret_cast<const __half2*>(bias), hidden / 2, eps);
    return cudaGetLastError();
}
