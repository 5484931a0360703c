/* prompt
On Hopper, launch a kernel with thread block clusters of size 4 using cudaLaunchKernelEx. Each block contributes a
partial sum and block 0 of the cluster adds them up through distributed shared memory.
*/
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void cluster_sum(const float* in, float* out, int n) {
    __shared__ float partial;
    cg::cluster_group cluster = cg::this_cluster();

    if (threadIdx.x == 0) {
        partial = 0.0f;
    }
    __syncthreads();

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    atomicAdd(&partial, sum);
    cluster.sync();

    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (unsigned rank = 0; rank < cluster.num_blocks(); ++rank) {
            total += *cluster.map_shared_rank(&partial, rank);
        }
        atomicAdd(out, total);
    }
    cluster.sync();  // no block may leave while its shared memory is still read
}

cudaError_t launch_cluster_sum(const float* in, float* out, int n, cudaStream_t stream) {
    cudaLaunchAttribute attributes[1];
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim.x = 4;
    attributes[0].val.clusterDim.y = 1;
    attributes[0].val.clusterDim.z = 1;

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(64);
    config.blockDim = dim3(256);
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, cluster_sum, in, out, n);
}
