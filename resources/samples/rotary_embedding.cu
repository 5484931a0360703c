/* prompt
Apply rotary position embeddings in place to a query tensor [tokens, heads, dim] in bfloat16, half-split layout, with
cos and sin tables in float.
*/
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void rotary(__nv_bfloat16* q, const float* __restrict__ cosines, const float* __restrict__ sines,
                       const int* __restrict__ positions, int heads, int dim) {
    const int token = blockIdx.x;
    const int head = blockIdx.y;
    const int half = dim / 2;
    const int position = positions[token];
    __nv_bfloat16* row = q + (static_cast<size_t>(token) * heads + head) * dim;

    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        const float c = cosines[position * half + i];
        const float s = sines[position * half + i];
        const float first = __bfloat162float(row[i]);
        const float second = __bfloat162float(row[i + half]);
        row[i] = __float2bfloat16(first * c - second * s);
        row[i + half] = __float2bfloat16(second * c + first * s);
    }
}

void apply_rotary(__nv_bfloat16* q, const float* cosines, const float* sines, const int* positions, int tokens,
                  int heads, int dim, cudaStream_t stream) {
    if (tokens == 0) return;
    const dim3 grid(tokens, heads);
    const int threads = dim >= 128 ? 64 : 32;
    rotary<<<grid, threads, 0, stream>>>(q, cosines, sines, positions, heads, dim);
}
