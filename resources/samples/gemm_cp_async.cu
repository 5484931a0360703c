/* prompt
Matrix product with double-buffered shared memory: prefetch the next tiles with asynchronous copies (cp.async) while
the current ones are multiplied. Assume that all dimensions are multiples of 32.
*/
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int T = 32;

__device__ void fetch(float (&a_tile)[T][T], float (&b_tile)[T][T], const float* a, const float* b, int n, int k,
                      int step) {
    // 8 x 32 threads copy four neighbouring floats each.
    const int row = threadIdx.y;
    const int column = threadIdx.x * 4;
    const float* a_from = a + static_cast<size_t>(blockIdx.y * T + row) * k + step * T + column;
    const float* b_from = b + static_cast<size_t>(step * T + row) * n + blockIdx.x * T + column;
    __pipeline_memcpy_async(&a_tile[row][column], a_from, sizeof(float4));
    __pipeline_memcpy_async(&b_tile[row][column], b_from, sizeof(float4));
    __pipeline_commit();
}

__global__ void __launch_bounds__(256) gemm_double_buffered(const float* a, const float* b, float* c, int n, int k) {
    __shared__ alignas(16) float a_tile[2][T][T];
    __shared__ alignas(16) float b_tile[2][T][T];
    float sum[4] = {0.f, 0.f, 0.f, 0.f};

    fetch(a_tile[0], b_tile[0], a, b, n, k, 0);
    const int steps = k / T;
    for (int step = 0; step < steps; ++step) {
        const int now = step & 1;
        if (step + 1 < steps) {
            fetch(a_tile[now ^ 1], b_tile[now ^ 1], a, b, n, k, step + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; ++i) {
            const float left = a_tile[now][threadIdx.y][i];
            const float4 right = *reinterpret_cast<const float4*>(&b_tile[now][i][threadIdx.x * 4]);
            sum[0] += left * right.x;
            sum[1] += left * right.y;
            sum[2] += left * right.z;
            sum[3] += left * right.w;
        }
        __syncthreads();
    }

    float4* target =
        reinterpret_cast<float4*>(c + static_cast<size_t>(blockIdx.y * T + threadIdx.y) * n + blockIdx.x * T);
    target[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    gemm_double_buffered<<<dim3(n / T, m / T), dim3(8, 32), 0, stream>>>(a, b, c, n, k);
}
