/* prompt
Numerically stable softmax over the last dimension of a [rows, cols] tensor, one thread block per row, written for
rows longer than the block.
*/
#include <cmath>
#include <cuda_runtime.h>

template <typename Op>
__device__ float block_reduce(float value, Op op, float identity, float* shared) {
    const unsigned lane = threadIdx.x & 31u;
    const unsigned warp = threadIdx.x >> 5;
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    __syncthreads();  // `shared` may still be read from an earlier call
    if (lane == 0) {
        shared[warp] = value;
    }
    __syncthreads();
    value = lane < (blockDim.x + 31) / 32 ? shared[lane] : identity;
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    return value;
}

struct Max {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float shared[32];
    const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
    float* out = y + static_cast<size_t>(blockIdx.x) * cols;

    float largest = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        largest = fmaxf(largest, row[c]);
    }
    largest = block_reduce(largest, Max {}, -INFINITY, shared);

    float total = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        const float e = __expf(row[c] - largest);
        out[c] = e;
        total += e;
    }
    total = block_reduce(total, Sum {}, 0.0f, shared);

    const float scale = 1.0f / total;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        out[c] *= scale;
    }
}

void softmax(const float* x, float* y, int rows, int cols, cudaStream_t stream) {
    if (rows > 0 && cols > 0) {
        softmax_rows<<<rows, 256, 0, stream>>>(x, y, cols);
    }
}
