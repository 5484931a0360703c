/* prompt
1D convolution with a filter whose length is only known at run time. Stage the input window in dynamic shared memory.
*/
#include <cuda_runtime.h>

// out[i] = sum over k of filter[k] * in[i + k - radius], zero outside; taps = 2 * radius + 1.
__global__ void conv1d(const float* in, const float* filter, float* out, int n, int radius) {
    extern __shared__ float window[];
    float* taps = window + blockDim.x + 2 * radius;

    const int block_first = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + 2 * radius; i += blockDim.x) {
        const int source = block_first + i - radius;
        window[i] = source >= 0 && source < n ? in[source] : 0.0f;
    }
    for (int k = threadIdx.x; k < 2 * radius + 1; k += blockDim.x) {
        taps[k] = filter[k];
    }
    __syncthreads();

    const int i = block_first + threadIdx.x;
    if (i < n) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * radius; ++k) {
            sum = fmaf(taps[k], window[threadIdx.x + k], sum);
        }
        out[i] = sum;
    }
}

int run_conv1d(const float* in, const float* filter, float* out, int n, int radius, cudaStream_t stream) {
    const int threads = 256;
    const size_t shared = (threads + 2 * radius + 2 * radius + 1) * sizeof(float);
    int limit = 0;
    cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    if (shared > static_cast<size_t>(limit)) {
        return cudaErrorInvalidValue;
    }
    conv1d<<<(n + threads - 1) / threads, threads, shared, stream>>>(in, filter, out, n, radius);
    return cudaGetLastError();
}
