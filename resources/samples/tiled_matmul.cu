/* prompt
I need a CUDA matrix product C = A * B in row-major order that uses shared memory tiles. The sizes are not always
multiples of the tile. Please include a host function that launches it.
*/
#include <cuda_runtime.h>

template <int Tile>
__global__ void matmul_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                             int m, int n, int k) {
    __shared__ float a_tile[Tile][Tile];
    __shared__ float b_tile[Tile][Tile];

    const int row = blockIdx.y * Tile + threadIdx.y;
    const int column = blockIdx.x * Tile + threadIdx.x;
    float sum = 0.0f;

    for (int first = 0; first < k; first += Tile) {
        const int a_column = first + threadIdx.x;
        const int b_row = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int i = 0; i < Tile; ++i) {
            sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

// All pointers are device pointers: a is m x k, b is k x n, c is m x n.
cudaError_t matmul(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
    constexpr int tile = 16;
    const dim3 block(tile, tile);
    const dim3 grid((n + tile - 1) / tile, (m + tile - 1) / tile);
    matmul_tiled<tile><<<grid, block, 0, stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
