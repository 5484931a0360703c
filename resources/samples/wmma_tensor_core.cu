/* prompt
A minimal tensor core example: multiply 16x16 half tiles with WMMA and accumulate in float. One warp per output tile,
dimensions are multiples of 16.
*/
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// a: m x k row major, b: k x n column major, c: m x n row major.
__global__ void wmma_gemm(const __half* a, const __half* b, float* c, int m, int n, int k) {
    const int tile_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int tile_column = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    if (tile_row * 16 >= m || tile_column * 16 >= n) {
        return;
    }

    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);

    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(left, a + static_cast<size_t>(tile_row) * 16 * k + i, k);
        wmma::load_matrix_sync(right, b + static_cast<size_t>(tile_column) * 16 * k + i, k);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + static_cast<size_t>(tile_row) * 16 * n + tile_column * 16, sum, n,
                            wmma::mem_row_major);
}

void launch_wmma_gemm(const __half* a, const __half* b, float* c, int m, int n, int k, cudaStream_t stream) {
    const dim3 block(128, 4);  // 4 x 4 warps
    const dim3 grid((n / 16 + 3) / 4, (m / 16 + 3) / 4);
    wmma_gemm<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
}
