/* prompt
Estimate pi with Monte Carlo on the GPU. I don't want to link cuRAND, so write a small per-thread random generator.
*/
#include <cstdint>
#include <cstdio>

// splitmix64: turns a thread's number into a well mixed seed.
__device__ uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ uint32_t next(uint32_t& state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__global__ void throw_darts(unsigned long long* hits, int darts, uint64_t seed) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t state = static_cast<uint32_t>(mix(seed + thread)) | 1u;

    unsigned inside = 0;
    for (int i = 0; i < darts; ++i) {
        const float x = next(state) * 2.3283064e-10f;
        const float y = next(state) * 2.3283064e-10f;
        inside += x * x + y * y <= 1.0f;
    }

    inside = __reduce_add_sync(0xffffffffu, inside);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(hits, static_cast<unsigned long long>(inside));
    }
}

int main() {
    const int blocks = 256, threads = 256, darts = 4096;
    unsigned long long* hits = nullptr;
    if (cudaMallocManaged(&hits, sizeof(*hits)) != cudaSuccess) {
        std::fprintf(stderr, "no device memory\n");
        return 1;
    }
    *hits = 0;
    throw_darts<<<blocks, threads>>>(hits, darts, 2024);
    if (cudaDeviceSynchronize() != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    const double total = double(blocks) * threads * darts;
    std::printf("pi is about %.6f\n", 4.0 * double(*hits) / total);
    cudaFree(hits);
    return 0;
}
