/* prompt
Count how often each byte value occurs in a big buffer. The naive version with global atomicAdd is slow because of
contention; give each block its own histogram in shared memory.
*/
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kBins = 256;

__global__ void histogram_bytes(const uint8_t* __restrict__ data, size_t size, unsigned int* __restrict__ bins) {
    __shared__ unsigned int local[kBins];
    for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();

    const size_t step = static_cast<size_t>(blockDim.x) * gridDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
        if (local[bin] != 0) {
            atomicAdd(&bins[bin], local[bin]);
        }
    }
}

cudaError_t count_bytes(const uint8_t* data, size_t size, unsigned int* bins, cudaStream_t stream = 0) {
    cudaError_t status = cudaMemsetAsync(bins, 0, kBins * sizeof(unsigned int), stream);
    if (status != cudaSuccess) {
        return status;
    }
    const int threads = 256;
    const int blocks = 240;
    histogram_bytes<<<blocks, threads, 0, stream>>>(data, size, bins);
    return cudaGetLastError();
}
