/* prompt
Implement one k-means iteration in CUDA for 2D points: assign each point to the nearest centroid, accumulate sums and
counts with shared-memory atomics, then a second tiny kernel that moves the centroids.
*/
#include <cfloat>
#include <cuda_runtime.h>

constexpr int kMaxClusters = 128;

__global__ void assign(const float2* points, int n, const float2* centroids, int k, int* labels, float2* sums,
                       int* counts) {
    __shared__ float2 s_centroids[kMaxClusters];
    __shared__ float s_x[kMaxClusters];
    __shared__ float s_y[kMaxClusters];
    __shared__ int s_count[kMaxClusters];
    for (int c = threadIdx.x; c < k; c += blockDim.x) {
        s_centroids[c] = centroids[c];
        s_x[c] = 0.0f;
        s_y[c] = 0.0f;
        s_count[c] = 0;
    }
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float2 p = points[i];
        int nearest = 0;
        float best = FLT_MAX;
        for (int c = 0; c < k; ++c) {
            const float dx = p.x - s_centroids[c].x;
            const float dy = p.y - s_centroids[c].y;
            const float distance = dx * dx + dy * dy;
            if (distance < best) {
                best = distance;
                nearest = c;
            }
        }
        labels[i] = nearest;
        atomicAdd(&s_x[nearest], p.x);
        atomicAdd(&s_y[nearest], p.y);
        atomicAdd(&s_count[nearest], 1);
    }
    __syncthreads();

    for (int c = threadIdx.x; c < k; c += blockDim.x) {
        if (s_count[c] == 0) continue;
        atomicAdd(&sums[c].x, s_x[c]);
        atomicAdd(&sums[c].y, s_y[c]);
        atomicAdd(&counts[c], s_count[c]);
    }
}

__global__ void move_centroids(float2* centroids, const float2* sums, const int* counts, int k) {
    const int c = threadIdx.x;
    if (c < k && counts[c] > 0) {
        centroids[c] = make_float2(sums[c].x / counts[c], sums[c].y / counts[c]);
    }
}

cudaError_t kmeans_iteration(const float2* points, int n, float2* centroids, int k, int* labels, float2* sums,
                             int* counts) {
    if (k < 1 || k > kMaxClusters) return cudaErrorInvalidValue;
    cudaMemset(sums, 0, k * sizeof(float2));
    cudaMemset(counts, 0, k * sizeof(int));
    assign<<<(n + 255) / 256, 256>>>(points, n, centroids, k, labels, sums, counts);
    move_centroids<<<1, kMaxClusters>>>(centroids, sums, counts, k);
    return cudaGetLastError();
}
