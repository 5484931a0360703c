/* prompt
For every row of a [rows, columns] float matrix find the index of its largest value on the GPU, lowest index on ties.
One warp per row.
*/
#include <cfloat>
#include <cuda_runtime.h>

struct Candidate {
    float value;
    int index;
};

__device__ Candidate better(Candidate a, Candidate b) {
    if (b.value > a.value || (b.value == a.value && b.index < a.index)) {
        return b;
    }
    return a;
}

__global__ void argmax_rows(const float* matrix, int* result, int rows, int columns) {
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }

    Candidate best = {-FLT_MAX, 0x7fffffff};
    const float* values = matrix + static_cast<long long>(row) * columns;
    for (int column = lane; column < columns; column += 32) {
        best = better(best, Candidate {values[column], column});
    }

    for (int mask = 16; mask > 0; mask >>= 1) {
        Candidate other;
        other.value = __shfl_xor_sync(0xffffffff, best.value, mask);
        other.index = __shfl_xor_sync(0xffffffff, best.index, mask);
        best = better(best, other);
    }
    if (lane == 0) {
        result[row] = best.index;
    }
}

extern "C" int launch_argmax_rows(const float* matrix, int* result, int rows, int columns) {
    dim3 block(32, 8);
    dim3 grid((rows + block.y - 1) / block.y);
    argmax_rows<<<grid, block>>>(matrix, result, rows, columns);
    return static_cast<int>(cudaGetLastError());
}
