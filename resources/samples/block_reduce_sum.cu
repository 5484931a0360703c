/* prompt
How do I sum a large float array in CUDA without atomics on every element? Use warp shuffles inside the block and a
second pass over the block sums.
*/
#include <cuda_runtime.h>

__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

// Thread 0 returns the sum over the block; blockDim.x must be a multiple of 32.
__device__ float block_sum(float value) {
    __shared__ float partial[32];
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;

    value = warp_sum(value);
    if (lane == 0) {
        partial[warp] = value;
    }
    __syncthreads();

    const int warps = blockDim.x / warpSize;
    value = threadIdx.x < warps ? partial[lane] : 0.0f;
    if (warp == 0) {
        value = warp_sum(value);
    }
    return value;
}

__global__ void reduce_kernel(const float* in, float* out, size_t n) {
    float sum = 0.0f;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
         i += static_cast<size_t>(gridDim.x) * blockDim.x) {
        sum += in[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}

// `scratch` holds 1024 floats on the device; the result is written to scratch[0].
cudaError_t sum(const float* in, size_t n, float* scratch, cudaStream_t stream) {
    const int threads = 512;
    const size_t wanted = (n + threads - 1) / threads;
    const int blocks = static_cast<int>(wanted < 1024 ? (wanted > 0 ? wanted : 1) : 1024);
    reduce_kernel<<<blocks, threads, 0, stream>>>(in, scratch, n);
    reduce_kernel<<<1, 1024, 0, stream>>>(scratch, scratch, blocks);
    return cudaGetLastError();
}
