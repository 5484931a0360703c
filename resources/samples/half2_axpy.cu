/* prompt
y = alpha * x + y in half precision. Use packed half2 arithmetic with __hfma2 and handle an odd element at the end.
*/
#include <cuda_fp16.h>

__global__ void haxpy(int n, __half alpha, const __half* x, __half* y) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const int pairs = n >> 1;
    const __half2 alpha2 = __half2half2(alpha);

    if (i < pairs) {
        const __half2* x2 = reinterpret_cast<const __half2*>(x);
        __half2* y2 = reinterpret_cast<__half2*>(y);
        y2[i] = __hfma2(alpha2, x2[i], y2[i]);
    }
    if (i == 0 && (n & 1)) {
        y[n - 1] = __hfma(alpha, x[n - 1], y[n - 1]);
    }
}

void launch_haxpy(int n, float alpha, const __half* x, __half* y, cudaStream_t stream) {
    const int threads = 256;
    const int pairs = n / 2 > 0 ? n / 2 : 1;
    haxpy<<<(pairs + threads - 1) / threads, threads, 0, stream>>>(n, __float2half(alpha), x, y);
}
