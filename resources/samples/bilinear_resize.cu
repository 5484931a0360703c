/* prompt
Resize an RGBA8 image with bilinear interpolation in CUDA. Pixel centres at half integers, edges clamped.
*/
#include <cuda_runtime.h>

__device__ __forceinline__ float4 to_float(uchar4 p) {
    return make_float4(p.x, p.y, p.z, p.w);
}

__device__ __forceinline__ float4 mix(float4 a, float4 b, float t) {
    return make_float4(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t, a.z + (b.z - a.z) * t, a.w + (b.w - a.w) * t);
}

__global__ void resize_bilinear(const uchar4* __restrict__ src, int src_w, int src_h, uchar4* __restrict__ dst,
                                int dst_w, int dst_h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dst_w || y >= dst_h) {
        return;
    }

    const float fx = fminf(fmaxf((x + 0.5f) * src_w / dst_w - 0.5f, 0.0f), src_w - 1.0f);
    const float fy = fminf(fmaxf((y + 0.5f) * src_h / dst_h - 0.5f, 0.0f), src_h - 1.0f);
    const int x0 = static_cast<int>(fx);
    const int y0 = static_cast<int>(fy);
    const int x1 = min(x0 + 1, src_w - 1);
    const int y1 = min(y0 + 1, src_h - 1);

    const float4 top = mix(to_float(src[y0 * src_w + x0]), to_float(src[y0 * src_w + x1]), fx - x0);
    const float4 bottom = mix(to_float(src[y1 * src_w + x0]), to_float(src[y1 * src_w + x1]), fx - x0);
    const float4 colour = mix(top, bottom, fy - y0);
    dst[y * dst_w + x] = make_uchar4(__float2uint_rn(colour.x), __float2uint_rn(colour.y),
                                     __float2uint_rn(colour.z), __float2uint_rn(colour.w));
}

void resize(const uchar4* src, int src_w, int src_h, uchar4* dst, int dst_w, int dst_h, cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid((dst_w + 31) / 32, (dst_h + 7) / 8);
    resize_bilinear<<<grid, block, 0, stream>>>(src, src_w, src_h, dst, dst_w, dst_h);
}
