/* prompt
Batched matrix-vector product: for each b, y[b] = A[b] * x[b], where A is [batch, rows, cols] in row-major order. Use
blockIdx.y for the batch and let a warp compute one row with float4 loads; cols is a multiple of 4.
*/
#include <cuda_runtime.h>

constexpr int kWarps = 4;

__global__ void batched_gemv(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y,
                             int rows, int cols) {
    const int batch = blockIdx.y;
    const int row = blockIdx.x * kWarps + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const auto* matrix_row = reinterpret_cast<const float4*>(a + (static_cast<size_t>(batch) * rows + row) * cols);
    const auto* vector = reinterpret_cast<const float4*>(x + static_cast<size_t>(batch) * cols);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols / 4; i += 32) {
        const float4 m = __ldg(matrix_row + i);
        const float4 v = __ldg(vector + i);
        sum += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
    }
#pragma unroll
    for (int offset = 16; offset >= 1; offset >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x == 0) {
        y[static_cast<size_t>(batch) * rows + row] = sum;
    }
}

cudaError_t launch(const float* a, const float* x, float* y, int batch, int rows, int cols, cudaStream_t stream) {
    if (cols % 4 != 0 || batch > 65535) {
        return cudaErrorInvalidValue;
    }
    const dim3 threads(32, kWarps);
    const dim3 blocks((rows + kWarps - 1) / kWarps, batch);
    batched_gemv<<<blocks, threads, 0, stream>>>(a, x, y, rows, cols);
    return cudaPeekAtLastError();
}
