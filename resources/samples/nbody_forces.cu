/* prompt
All-pairs gravitational n-body accelerations in CUDA with tiles of bodies in shared memory (float4: position and mass).
*/
#include <cuda_runtime.h>

#ifndef TILE
#define TILE 256
#endif

__device__ float3 interact(float3 acceleration, float4 self, float4 other, float softening2) {
    const float dx = other.x - self.x;
    const float dy = other.y - self.y;
    const float dz = other.z - self.z;
    const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
    const float strength = other.w * inverse * inverse * inverse;
    acceleration.x += dx * strength;
    acceleration.y += dy * strength;
    acceleration.z += dz * strength;
    return acceleration;
}

__global__ void accelerations(const float4* bodies, float3* result, int n, float softening2) {
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const float4 self = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);

    for (int first = 0; first < n; first += TILE) {
        const int source = first + threadIdx.x;
        // A body without mass attracts nobody, so padding needs no test below.
        tile[threadIdx.x] = source < n ? bodies[source] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 16
        for (int j = 0; j < TILE; ++j) sum = interact(sum, self, tile[j], softening2);
        __syncthreads();
    }
    if (i < n) result[i] = sum;
}

void compute_accelerations(const float4* bodies, float3* result, int n) {
    accelerations<<<(n + TILE - 1) / TILE, TILE>>>(bodies, result, n, 1e-4f);
}
