/* prompt
Apply a 5x5 filter to a grey image. Keep the filter in constant memory and clamp at the image border.
*/
#include <cuda_runtime.h>

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)

__constant__ float d_filter[WIDTH * WIDTH];

__global__ void filter_image(const float* src, float* dst, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;

    float acc = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        int sy = min(max(y + dy, 0), h - 1);
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int sx = min(max(x + dx, 0), w - 1);
            acc += src[sy * w + sx] * d_filter[(dy + RADIUS) * WIDTH + dx + RADIUS];
        }
    }
    dst[y * w + x] = acc;
}

cudaError_t convolve(const float* d_src, float* d_dst, int w, int h, const float* filter)
{
    cudaError_t err = cudaMemcpyToSymbol(d_filter, filter, sizeof(float) * WIDTH * WIDTH);
    if (err != cudaSuccess)
        return err;

    dim3 block(16, 16);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    filter_image<<<grid, block>>>(d_src, d_dst, w, h);
    return cudaGetLastError();
}
