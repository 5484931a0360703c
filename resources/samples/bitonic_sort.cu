/* prompt
Sort a power-of-two number of unsigned integers on the GPU with bitonic sort.
*/
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void bitonic_step(unsigned* keys, unsigned distance, unsigned length) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned partner = i ^ distance;
    if (partner <= i) return;

    const unsigned mine = keys[i];
    const unsigned theirs = keys[partner];
    const bool ascending = (i & length) == 0;
    if ((mine > theirs) == ascending) {
        keys[i] = theirs;
        keys[partner] = mine;
    }
}

void bitonic_sort(unsigned* device_keys, unsigned count) {
    const unsigned threads = std::min(count, 256u);
    const unsigned blocks = count / threads;
    for (unsigned length = 2; length <= count; length <<= 1) {
        for (unsigned distance = length >> 1; distance > 0; distance >>= 1) {
            bitonic_step<<<blocks, threads>>>(device_keys, distance, length);
        }
    }
}

int main() {
    const unsigned count = 1u << 16;
    std::vector<unsigned> keys(count);
    unsigned state = 12345u;
    for (auto& key : keys) key = state = state * 1664525u + 1013904223u;

    unsigned* device_keys;
    cudaMalloc(&device_keys, count * sizeof(unsigned));
    cudaMemcpy(device_keys, keys.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice);
    bitonic_sort(device_keys, count);
    cudaMemcpy(keys.data(), device_keys, count * sizeof(unsigned), cudaMemcpyDeviceToHost);
    cudaFree(device_keys);

    const bool sorted = std::is_sorted(keys.begin(), keys.end());
    std::puts(sorted ? "sorted" : "NOT sorted");
    return sorted ? 0 : 1;
}
