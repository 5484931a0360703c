/* prompt
Write a CUDA kernel for one decoding step of multi-head attention: a single query per head attends to a KV cache of
`length` positions. Scores fit into dynamic shared memory.
*/
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kHead = 64;
constexpr int kThreads = 128;

// q, out: [heads, 64]; keys, values: [heads, length, 64].
__global__ void attention_decode(const float* q, const float* keys, const float* values, float* out, int length,
                                 float scale) {
    extern __shared__ float scores[];  // [length]
    __shared__ float query[kHead];
    __shared__ float reduced;

    const int head = blockIdx.x;
    const size_t base = static_cast<size_t>(head) * length * kHead;
    if (threadIdx.x < kHead) {
        query[threadIdx.x] = q[head * kHead + threadIdx.x] * scale;
    }
    __syncthreads();

    for (int position = threadIdx.x; position < length; position += kThreads) {
        const float* key = keys + base + static_cast<size_t>(position) * kHead;
        float dot = 0.0f;
#pragma unroll 8
        for (int d = 0; d < kHead; ++d) {
            dot += query[d] * key[d];
        }
        scores[position] = dot;
    }
    __syncthreads();

    if (threadIdx.x < 32) {
        float largest = -INFINITY;
        for (int position = threadIdx.x; position < length; position += 32) {
            largest = fmaxf(largest, scores[position]);
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
        }
        float sum = 0.0f;
        for (int position = threadIdx.x; position < length; position += 32) {
            scores[position] = expf(scores[position] - largest);
            sum += scores[position];
        }
        for (int offset = 16; offset > 0; offset /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        }
        if (threadIdx.x == 0) {
            reduced = 1.0f / sum;
        }
    }
    __syncthreads();

    if (threadIdx.x < kHead) {
        float sum = 0.0f;
        for (int position = 0; position < length; ++position) {
            sum += scores[position] * values[base + static_cast<size_t>(position) * kHead + threadIdx.x];
        }
        out[head * kHead + threadIdx.x] = sum * reduced;
    }
}

bool run_attention_decode(const float* q, const float* keys, const float* values, float* out, int heads, int length) {
    const size_t shared_bytes = static_cast<size_t>(length) * sizeof(float);
    cudaError_t status =
        cudaFuncSetAttribute(attention_decode, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared_bytes));
    if (status == cudaSuccess) {
        attention_decode<<<heads, kThreads, shared_bytes>>>(q, keys, values, out, length, 1.0f / sqrtf(kHead));
        status = cudaGetLastError();
    }
    if (status != cudaSuccess) {
        std::fprintf(stderr, "attention over %d positions: %s\n", length, cudaGetErrorString(status));
    }
    return status == cudaSuccess;
}
