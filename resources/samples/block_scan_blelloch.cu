/* prompt
Implement Blelloch's work-efficient exclusive scan for one block of 1024 integers in shared memory.
*/
#include <cstdio>

const int N = 1024;

// N / 2 threads; each works on two elements.
__global__ void exclusive_scan(int* data) {
    __shared__ int temp[N];
    const int t = threadIdx.x;
    temp[2 * t] = data[2 * t];
    temp[2 * t + 1] = data[2 * t + 1];

    // Up-sweep: build partial sums in place.
    int offset = 1;
    for (int d = N / 2; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            const int left = offset * (2 * t + 1) - 1;
            const int right = offset * (2 * t + 2) - 1;
            temp[right] += temp[left];
        }
        offset *= 2;
    }

    if (t == 0) temp[N - 1] = 0;

    // Down-sweep: hand the sums back.
    for (int d = 1; d < N; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int left = offset * (2 * t + 1) - 1;
            const int right = offset * (2 * t + 2) - 1;
            const int carried = temp[left];
            temp[left] = temp[right];
            temp[right] += carried;
        }
    }
    __syncthreads();
    data[2 * t] = temp[2 * t];
    data[2 * t + 1] = temp[2 * t + 1];
}

int main() {
    int host[N];
    for (int i = 0; i < N; ++i) host[i] = i % 5;

    int* device;
    cudaMalloc(&device, sizeof(host));
    cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
    exclusive_scan<<<1, N / 2>>>(device);
    int scanned[N];
    cudaMemcpy(scanned, device, sizeof(scanned), cudaMemcpyDeviceToHost);
    cudaFree(device);

    int expected = 0;
    for (int i = 0; i < N; ++i) {
        if (scanned[i] != expected) {
            printf("element %d is %d, should be %d\n", i, scanned[i], expected);
            return 1;
        }
        expected += host[i];
    }
    puts("scan is correct");
    return 0;
}
