/* prompt
Sparse matrix-vector product for a CSR matrix where rows have dozens of entries: assign one warp to each row.
*/
#include <cuda_runtime.h>

struct CsrMatrix {
    int rows;
    const int* row_begin;  // rows + 1 entries
    const int* columns;
    const double* values;
};

__global__ void spmv_csr_warp(CsrMatrix matrix, const double* __restrict__ x, double* __restrict__ y) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / 32;
    const int lane = thread % 32;
    if (row >= matrix.rows)
        return;

    const int begin = matrix.row_begin[row];
    const int end = matrix.row_begin[row + 1];
    double sum = 0.0;
    for (int i = begin + lane; i < end; i += 32)
        sum += matrix.values[i] * __ldg(&x[matrix.columns[i]]);

    for (int delta = 16; delta > 0; delta >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, delta);
    if (lane == 0)
        y[row] = sum;
}

void spmv(const CsrMatrix& matrix, const double* x, double* y, cudaStream_t stream) {
    const int threads = 128;
    const int rows_per_block = threads / 32;
    const int blocks = (matrix.rows + rows_per_block - 1) / rows_per_block;
    if (blocks > 0)
        spmv_csr_warp<<<blocks, threads, 0, stream>>>(matrix, x, y);
}
