/* prompt
Write a CUDA program that computes y = a*x + y for vectors of any length with a grid-stride loop, and checks the
result on the host.
*/
#include <cstdio>
#include <vector>

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = a * x[i] + y[i];
    }
}

int main() {
    const int n = (1 << 20) + 7;
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i % 100);
        y[i] = 1.0f;
    }

    float *d_x = nullptr, *d_y = nullptr;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    saxpy<<<8 * multiprocessors, 256>>>(n, 2.0f, d_x, d_y);

    cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        wrong += y[i] != 2.0f * x[i] + 1.0f;
    }
    std::printf("%d of %d values differ\n", wrong, n);
    cudaFree(d_x);
    cudaFree(d_y);
    return wrong == 0 ? 0 : 1;
}
