/* prompt
My loop launches two tiny kernels thousands of times and launch overhead dominates. Capture the pair into a CUDA graph
and replay it.
*/
#include <cstdio>
#include <cuda_runtime.h>

__global__ void decay(float* state, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) state[i] *= 0.999f;
}

__global__ void inject(float* state, int n, int position) {
    if (threadIdx.x == 0 && position < n) state[position] += 1.0f;
}

int main() {
    const int n = 4096;
    float* state;
    cudaMalloc(&state, n * sizeof(float));
    cudaMemset(state, 0, n * sizeof(float));

    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    decay<<<n / 256, 256, 0, stream>>>(state, n);
    inject<<<1, 32, 0, stream>>>(state, n, 17);
    cudaStreamEndCapture(stream, &graph);

    cudaGraphExec_t replay;
    if (cudaGraphInstantiate(&replay, graph, 0) != cudaSuccess) {
        std::fprintf(stderr, "could not instantiate the graph\n");
        return 1;
    }
    for (int step = 0; step < 10000; ++step) {
        cudaGraphLaunch(replay, stream);
    }
    cudaStreamSynchronize(stream);

    float value = 0.0f;
    cudaMemcpy(&value, state + 17, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("state[17] = %f\n", value);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(state);
    return 0;
}
