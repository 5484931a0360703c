/* prompt
Simulate heat diffusion on a 2D grid with an explicit five-point stencil. Load a tile with its halo into shared
memory, keep the border fixed, and swap the buffers between time steps.
*/
#include <cstdio>
#include <utility>
#include <vector>

constexpr int BX = 32;
constexpr int BY = 8;

__global__ void heat_step(const float* in, float* out, int nx, int ny, float alpha) {
    __shared__ float tile[BY + 2][BX + 2];
    const int gx = blockIdx.x * BX + threadIdx.x;
    const int gy = blockIdx.y * BY + threadIdx.y;
    const int lx = threadIdx.x + 1;
    const int ly = threadIdx.y + 1;

    if (gx < nx && gy < ny) {
        tile[ly][lx] = in[gy * nx + gx];
        if (threadIdx.x == 0 && gx > 0) tile[ly][0] = in[gy * nx + gx - 1];
        if (threadIdx.x == BX - 1 && gx + 1 < nx) tile[ly][BX + 1] = in[gy * nx + gx + 1];
        if (threadIdx.y == 0 && gy > 0) tile[0][lx] = in[(gy - 1) * nx + gx];
        if (threadIdx.y == BY - 1 && gy + 1 < ny) tile[BY + 1][lx] = in[(gy + 1) * nx + gx];
    }
    __syncthreads();

    if (gx >= nx || gy >= ny) return;
    const float here = tile[ly][lx];
    if (gx == 0 || gy == 0 || gx == nx - 1 || gy == ny - 1) {
        out[gy * nx + gx] = here;
        return;
    }
    const float laplacian =
        tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx] - 4.0f * here;
    out[gy * nx + gx] = here + alpha * laplacian;
}

int main() {
    const int nx = 500, ny = 300, steps = 1000;
    std::vector<float> field(nx * ny, 0.0f);
    for (int x = 0; x < nx; ++x) field[x] = 100.0f;  // hot upper edge

    const size_t bytes = field.size() * sizeof(float);
    float *now, *next;
    cudaMalloc((void**)&now, bytes);
    cudaMalloc((void**)&next, bytes);
    cudaMemcpy(now, field.data(), bytes, cudaMemcpyHostToDevice);

    dim3 block(BX, BY);
    dim3 grid((nx + BX - 1) / BX, (ny + BY - 1) / BY);
    for (int step = 0; step < steps; ++step) {
        heat_step<<<grid, block>>>(now, next, nx, ny, 0.2f);
        std::swap(now, next);
    }
    cudaMemcpy(field.data(), now, bytes, cudaMemcpyDeviceToHost);
    std::printf("temperature below the edge: %.3f\n", field[10 * nx + nx / 2]);
    cudaFree(now);
    cudaFree(next);
}
