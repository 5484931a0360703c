/* prompt
Transpose a matrix on the GPU with coalesced reads and writes. Avoid shared memory bank conflicts.
*/
#include <cuda_runtime.h>

#define TILE_DIM 32
#define BLOCK_ROWS 8

// Each block moves a 32 x 32 tile; a thread handles four elements of a column.
__global__ void transpose(float* out, const float* in, int width, int height) {
    // One column more than needed, so that a column of the tile lies in 32 different banks.
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    }
    __syncthreads();

    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
    }
}

void transpose_on_device(float* d_out, const float* d_in, int width, int height) {
    dim3 threads(TILE_DIM, BLOCK_ROWS);
    dim3 blocks((width + TILE_DIM - 1) / TILE_DIM, (height + TILE_DIM - 1) / TILE_DIM);
    transpose<<<blocks, threads>>>(d_out, d_in, width, height);
}
