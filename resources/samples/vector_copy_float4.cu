/* prompt
Measure the copy bandwidth of my GPU with a kernel that uses 128-bit loads and stores, timed with CUDA events.
*/
#include <cstdio>
#include <cuda_runtime.h>

__global__ void copy_float4(const float4* __restrict__ in, float4* __restrict__ out, size_t count) {
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (; i < count; i += stride) {
        out[i] = __ldg(&in[i]);
    }
}

int main() {
    const size_t bytes = size_t(256) << 20;
    const size_t count = bytes / sizeof(float4);
    float4 *in, *out;
    if (cudaMalloc(&in, bytes) != cudaSuccess || cudaMalloc(&out, bytes) != cudaSuccess) {
        std::fprintf(stderr, "needs 512 MiB of device memory\n");
        return 1;
    }
    cudaMemset(in, 0, bytes);

    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    copy_float4<<<1024, 256>>>(in, out, count);  // warm-up

    const int rounds = 20;
    cudaEventRecord(start);
    for (int round = 0; round < rounds; ++round) {
        copy_float4<<<1024, 256>>>(in, out, count);
    }
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);

    float milliseconds = 0.0f;
    cudaEventElapsedTime(&milliseconds, start, stop);
    const double gigabytes = 2.0 * double(bytes) * rounds / 1e9;
    std::printf("%.1f GB/s\n", gigabytes / (milliseconds / 1e3));

    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
