/* prompt
Use cooperative groups to run many Jacobi iterations in a single kernel with grid-wide synchronisation. Launch it with
cudaLaunchCooperativeKernel and pick the grid from the occupancy.
*/
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void jacobi_1d(float* a, float* b, const float* rhs, int n, int iterations) {
    cg::grid_group grid = cg::this_grid();
    float* from = a;
    float* to = b;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) {
            const float left = i > 0 ? from[i - 1] : 0.0f;
            const float right = i + 1 < n ? from[i + 1] : 0.0f;
            to[i] = 0.5f * (left + right + rhs[i]);
        }
        grid.sync();
        float* swap = from;
        from = to;
        to = swap;
    }
}

// After an even number of iterations the result is in `a`, otherwise in `b`.
cudaError_t solve(float* a, float* b, const float* rhs, int n, int iterations) {
    int device = 0, supported = 0, multiprocessors = 0, blocks_each = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device);
    if (!supported) {
        return cudaErrorNotSupported;
    }
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const int threads = 256;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, jacobi_1d, threads, 0);

    void* arguments[] = {&a, &b, &rhs, &n, &iterations};
    const dim3 grid(multiprocessors * blocks_each);
    const dim3 block(threads);
    return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(jacobi_1d), grid, block, arguments, 0, nullptr);
}
