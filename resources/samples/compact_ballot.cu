/* prompt
Write a stream compaction kernel that keeps the positive values of an array. Use __ballot_sync and __popc so that each
warp does only one atomicAdd. Order does not matter.
*/
#include <cuda_runtime.h>

__global__ void keep_positive(const float* __restrict__ in, float* __restrict__ out, int* count, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const float value = i < n ? in[i] : 0.0f;
    const bool keep = value > 0.0f;

    const unsigned kept = __ballot_sync(0xffffffffu, keep);
    if (kept == 0) {
        return;
    }
    const int leader = __ffs(kept) - 1;
    int base = 0;
    if (lane == leader) {
        base = atomicAdd(count, __popc(kept));
    }
    base = __shfl_sync(0xffffffffu, base, leader);

    if (keep) {
        const unsigned before = kept & ((1u << lane) - 1u);
        out[base + __popc(before)] = value;
    }
}

// Returns the number of values kept, or -1.
int compact(const float* d_in, float* d_out, int n) {
    int* d_count = nullptr;
    if (cudaMalloc(&d_count, sizeof(int)) != cudaSuccess) {
        return -1;
    }
    cudaMemset(d_count, 0, sizeof(int));
    keep_positive<<<(n + 255) / 256, 256>>>(d_in, d_out, d_count, n);
    int count = -1;
    if (cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) {
        count = -1;
    }
    cudaFree(d_count);
    return count;
}
