/* prompt
Show how to overlap host-to-device copies, a kernel and device-to-host copies with several CUDA streams and pinned
memory. Check every CUDA call.
*/
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                           \
    do {                                                                                      \
        const cudaError_t status_ = (call);                                                   \
        if (status_ != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(EXIT_FAILURE);                                                          \
        }                                                                                     \
    } while (0)

__global__ void square_root(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = sqrtf(data[i]);
}

int main() {
    const int streams = 4;
    const int chunk = 1 << 20;
    const int n = streams * chunk;
    const size_t chunk_bytes = chunk * sizeof(float);

    float *host = nullptr, *device = nullptr;
    CHECK(cudaMallocHost(&host, n * sizeof(float)));
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    for (int i = 0; i < n; ++i) host[i] = float(i);

    cudaStream_t stream[streams];
    for (auto& s : stream) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));

    for (int s = 0; s < streams; ++s) {
        const int first = s * chunk;
        CHECK(cudaMemcpyAsync(device + first, host + first, chunk_bytes, cudaMemcpyHostToDevice, stream[s]));
        square_root<<<(chunk + 255) / 256, 256, 0, stream[s]>>>(device + first, chunk);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host + first, device + first, chunk_bytes, cudaMemcpyDeviceToHost, stream[s]));
    }
    CHECK(cudaDeviceSynchronize());
    std::printf("sqrt(1000000) = %f\n", host[1000000]);

    for (auto& s : stream) CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(host));
    return 0;
}
