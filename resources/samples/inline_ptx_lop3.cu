/* prompt
Use inline PTX in a CUDA kernel: a bitwise majority of three words with lop3.b32, and the lane id read from its special
register.
*/
#include <cstdint>
#include <cuda_runtime.h>

__device__ __forceinline__ uint32_t majority(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t result;
    // 0xE8 is the truth table of (a & b) | (b & c) | (a & c).
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

__device__ __forceinline__ uint32_t lane_id() {
    uint32_t lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__global__ void vote_words(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out,
                           uint32_t* warp_bits, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t word = 0;
    if (i < n) {
        word = majority(a[i], b[i], c[i]);
        out[i] = word;
    }
    const unsigned any = __ballot_sync(0xffffffffu, word != 0);
    if (lane_id() == 0 && i < n) {
        warp_bits[i / 32] = any;
    }
}

void launch_vote(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out, uint32_t* warp_bits, int n) {
    vote_words<<<(n + 127) / 128, 128>>>(a, b, c, out, warp_bits, n);
}
