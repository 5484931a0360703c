/* prompt
Inclusive prefix sum of an arbitrarily long int array. Three kernels are fine: scan each block, scan the block totals,
add the offsets. Use warp scans with __shfl_up_sync.
*/
#include <cuda_runtime.h>

constexpr int kBlock = 1024;

__device__ int warp_inclusive_scan(int value, int lane) {
    for (int delta = 1; delta < 32; delta <<= 1) {
        const int other = __shfl_up_sync(0xffffffffu, value, delta);
        if (lane >= delta) {
            value += other;
        }
    }
    return value;
}

__device__ int block_inclusive_scan(int value) {
    __shared__ int warp_totals[32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    value = warp_inclusive_scan(value, lane);
    if (lane == 31) warp_totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        warp_totals[lane] = warp_inclusive_scan(warp_totals[lane], lane);
    }
    __syncthreads();
    return warp > 0 ? value + warp_totals[warp - 1] : value;
}

__global__ void scan_blocks(const int* in, int* out, int* totals, int n) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    const int scanned = block_inclusive_scan(i < n ? in[i] : 0);
    if (i < n) out[i] = scanned;
    if (threadIdx.x == kBlock - 1) totals[blockIdx.x] = scanned;
}

__global__ void scan_totals(int* totals, int count) {
    int carry = 0;
    for (int first = 0; first < count; first += kBlock) {
        const int i = first + threadIdx.x;
        const int scanned = carry + block_inclusive_scan(i < count ? totals[i] : 0);
        if (i < count) totals[i] = scanned;
        __shared__ int last;
        if (threadIdx.x == kBlock - 1) last = scanned;
        __syncthreads();
        carry = last;
        __syncthreads();
    }
}

__global__ void add_offsets(int* out, const int* totals, int n) {
    const int i = blockIdx.x * kBlock + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += totals[blockIdx.x - 1];
}

cudaError_t prefix_sum(const int* in, int* out, int n, cudaStream_t stream) {
    if (n <= 0) return cudaSuccess;
    const int blocks = (n + kBlock - 1) / kBlock;
    int* totals = nullptr;
    cudaError_t status = cudaMallocAsync(&totals, blocks * sizeof(int), stream);
    if (status != cudaSuccess) return status;
    scan_blocks<<<blocks, kBlock, 0, stream>>>(in, out, totals, n);
    scan_totals<<<1, kBlock, 0, stream>>>(totals, blocks);
    add_offsets<<<blocks, kBlock, 0, stream>>>(out, totals, n);
    status = cudaGetLastError();
    cudaFreeAsync(totals, stream);
    return status;
}
