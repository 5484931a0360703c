/* prompt
dot product of two double vectors, one atomicAdd per block
*/
#include <cuda_runtime.h>

const int threadsPerBlock = 256;

__global__ void dot(const double *a, const double *b, double *result, int n)
{
    __shared__ double cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;

    double temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();

    for (int i = blockDim.x / 2; i != 0; i /= 2) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
    }

    if (cacheIndex == 0)
        atomicAdd(result, cache[0]);
}

double dotOnDevice(const double *d_a, const double *d_b, int n)
{
    double *d_result, result = 0;
    cudaMalloc(&d_result, sizeof(double));
    cudaMemset(d_result, 0, sizeof(double));
    int blocks = (n + threadsPerBlock - 1) / threadsPerBlock;
    if (blocks > 512)
        blocks = 512;
    dot<<<blocks, threadsPerBlock>>>(d_a, d_b, d_result, n);
    cudaMemcpy(&result, d_result, sizeof(double), cudaMemcpyDeviceToHost);
    cudaFree(d_result);
    return result;
}
