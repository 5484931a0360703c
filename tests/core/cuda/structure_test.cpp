// Kernels, launches and dim3 of written-out constructs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/cuda/cuda_test_support.h"

namespace cuset {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> kernel_names(const CudaStructure& structure) {
    std::vector<std::string> names;
    for (const KernelDefinition& kernel : structure.kernels)
        names.push_back(kernel.name);
    return names;
}

std::vector<std::string> launched(const CudaStructure& structure) {
    std::vector<std::string> names;
    for (const KernelLaunch& launch : structure.launches)
        names.push_back(launch.kernel);
    return names;
}

std::string cut(const std::string& text, ByteSpan span) {
    return text.substr(span.begin, span.size());
}

TEST(Kernels, HeadsInEveryShape) {
    const std::string text = R"(
template <int N = (3 > 2), class T = float> __global__ void a(T* x) { x[0] = N; }
extern "C" __global__ void __launch_bounds__(256, 2) b(float* x) { x[0] = 1; }
extern "C" { __launch_bounds__(64) __global__ void c(float* x) { } }
namespace n { struct S { static __global__ void d(float* x) { x[0] = 1; } }; }
__attribute__((used)) [[maybe_unused]] __global__ static void __cluster_dims__(2, 1, 1) e(int* p) {}
template <> __global__ void f<int, 4>(int* p) { }
__global__ void MANGLE(g)(int* p) { }
__global__ void C10_LAUNCH_BOUNDS_1(512) h(int* p) { }
__global__ void declared(int* p);
template __global__ void f<float, 2>(float*);
__global__
auto i(int* p) -> void
{
}
)";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    EXPECT_THAT(kernel_names(structure),
                ElementsAre("a", "b", "c", "d", "e", "f", "MANGLE", "h", "i"));
    EXPECT_EQ(cut(text, structure.kernels[0].span).substr(0, 8), "template");
    EXPECT_EQ(cut(text, structure.kernels[0].body), "{ x[0] = N; }");
    EXPECT_EQ(cut(text, structure.kernels[1].span).substr(0, 6), "extern");
    EXPECT_EQ(cut(text, structure.kernels[3].span).substr(0, 6), "static");
}

TEST(Kernels, MadeByMacros) {
    const std::string text = R"(#define UNARY(NAME, OP)                    \
    __global__ void NAME##_kernel(float* x) {   \
        x[threadIdx.x] = OP(x[threadIdx.x]);    \
    }
#define KERNEL extern "C" __global__ void
#define DEF(NAME) __global__ void NAME##_k(float* x)
UNARY(sine, sinf)
KERNEL plain(float* x) { x[0] = 1; }
DEF(made) { x[0] = 1; }
#define LAUNCH(k, n, ...) k<<<(n + 255) / 256, 256>>>(__VA_ARGS__)
)";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    ASSERT_EQ(structure.kernels.size(), 3u);
    EXPECT_TRUE(structure.kernels[0].in_macro);
    EXPECT_EQ(structure.kernels[1].name, "plain");
    EXPECT_EQ(structure.kernels[2].name, "made");
    EXPECT_FALSE(structure.kernels[2].in_macro);
    ASSERT_EQ(structure.launches.size(), 1u);
    EXPECT_TRUE(structure.launches[0].in_macro);
}

TEST(Kernels, BranchesThatSplitBraces) {
    const std::string text = R"(#ifdef A
__global__ void k(float* x, int n) {
#else
__global__ void k(double* x, int n) {
#endif
    if (n) {
#if B
        x[0] = 1; }
#else
        x[0] = 2; }
#endif
}
__global__ void after(int* p) { p[0] = 1; }
#if 0
__global__ void dead(int* p) { don't
#endif
)";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    EXPECT_THAT(kernel_names(structure), ElementsAre("k", "k", "after"));
    const auto end = static_cast<std::int32_t>(text.find("}\n__global__ void after") + 1);
    EXPECT_EQ(structure.kernels[0].body.end, end);
    EXPECT_EQ(structure.kernels[1].body.end, end);
    EXPECT_FALSE(structure.unfinished);
}

TEST(Kernels, MissingBraceEndsAtTheNextKernel) {
    const std::string text = "__global__ void a(int* p) { if (p) { p[0] = 1; }\n__global__ void "
                             "b(int* p) { p[0] = 2; }\n";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    ASSERT_THAT(kernel_names(structure), ElementsAre("a", "b"));
    EXPECT_FALSE(structure.kernels[0].complete);
    EXPECT_EQ(cut(text, structure.kernels[0].body), "{ if (p) { p[0] = 1; }");
    EXPECT_TRUE(structure.kernels[1].complete);
}

TEST(Launches, EveryApi) {
    const std::string text = R"(void go() {
    cudaLaunchKernel((void*)k, dim3(1), dim3(2), args, 3, stream);
    cudaLaunchCooperativeKernel((void*)k, grid, block, args);
    cudaLaunchKernelEx(&config, k<float, 2>, a, b);
    cudaLaunchKernelExC(&config, fn, args);
    cuLaunchKernel(f, 1, 2, 3, 4, 5, 6, 7, s, params, 0);
    cuLaunchKernelEx(&cfg, f, params, 0);
    hipLaunchKernelGGL(k<float, 2>, dim3(8), dim3(64), 0, 0, a, b);
    this->kernel<<<1, 2>>>(a);
    obj.k<float><<<1, 2>>>(a);
    p->k[3]<<<1, 2>>>(a);
    pick(n)<<<1, 2>>>(a);
    if (x) (*f)<<<1, 2>>>(a);
}
cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t s, cudaStream_t t);
)";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    EXPECT_THAT(launched(structure),
                ElementsAre("(void*)k", "(void*)k", "k<float, 2>", "fn", "f", "f", "k<float, 2>",
                            "this->kernel", "obj.k<float>", "p->k[3]", "pick(n)", "(*f)"));
    std::vector<std::string> configs;
    for (const KernelLaunch& launch : structure.launches)
        configs.push_back(cut(text, launch.config));
    EXPECT_THAT(configs,
                ElementsAre("dim3(1), dim3(2)", "grid, block", "&config", "&config",
                            "1, 2, 3, 4, 5, 6, 7, s", "&cfg", "dim3(8), dim3(64), 0, 0",
                            "<<<1, 2>>>", "<<<1, 2>>>", "<<<1, 2>>>", "<<<1, 2>>>", "<<<1, 2>>>"));
    EXPECT_EQ(structure.launches[0].arguments.size(), 4u);
}

TEST(Launches, WhatIsNone) {
    const std::string text = R"(
<<<<<<< HEAD
int a = b << 3;
=======
std::cout << "<<<1, 1>>>" << x;
>>>>>>> branch
// k<<<1, 1>>>();
x = a <<<b;
)";
    EXPECT_THAT(find_cuda_structure_in_source(text).launches, IsEmpty());
}

TEST(Dim3, DeclarationsOnly) {
    const std::string text = R"(dim3 make(int n) { return dim3(n); }
void f(dim3 a, const dim3& b) {
    const dim3 g(1, 2), h = g;
    dim3 block{32, 8};
    dim3 blocks = dim3(4);
    g.x = 3;
    dim3 declared(int n);
}
)";
    const CudaStructure structure = find_cuda_structure_in_source(text);
    std::vector<std::string> found;
    for (const ByteSpan span : structure.dim3)
        found.push_back(cut(text, span));
    EXPECT_THAT(
        found, ElementsAre("dim3 g(1, 2), h = g;", "dim3 block{32, 8};", "dim3 blocks = dim3(4);"));
}

TEST(Islands, LeadingCodeThatThePromptOpened) {
    const std::string text = "#include <cstdio>\n__global__ void k(int* p) { p[0] = 1; "
                             "}\n```\nThis uses `k<<<1, 1>>>(p);` once.\n";
    const CudaStructure structure = find_cuda_structure(text);
    EXPECT_THAT(kernel_names(structure), ElementsAre("k"));
    EXPECT_THAT(structure.launches, IsEmpty());
}

TEST(Islands, FencedPythonAndUnknownText) {
    const std::string text =
        "Use it:\n```python\nsrc = '''\n__global__ void k(float* x) { x[0] = '\\\\n'; }\n'''\n```\n"
        "and\n```\n__global__ void z(int* p) { p[0] = 1; }\n```\n```yaml\na: <<<1>>>\n```\n";
    const CudaStructure structure = find_cuda_structure(text);
    EXPECT_THAT(kernel_names(structure), ElementsAre("k", "z"));
    EXPECT_THAT(structure.launches, IsEmpty());
    EXPECT_LT(structure.placed_share, 1.0);
    EXPECT_GT(structure.placed_share, 0.85);
}

TEST(Islands, EscapesMapBackToTheResponse) {
    const std::string text =
        "import cupy\nk = cupy.RawKernel('extern \"C\" __global__\\nvoid \\x61dd(float* x) {'\n"
        "    '\\tx[threadIdx.x] += 1; }', 'add')\n";
    const CudaStructure structure = find_cuda_structure(text);
    ASSERT_EQ(structure.kernels.size(), 1u);
    EXPECT_EQ(structure.kernels[0].name, "add");
    EXPECT_EQ(text[structure.kernels[0].body.begin], '{');
    EXPECT_EQ(text[structure.kernels[0].body.end - 1], '}');
    bool access = false;
    for (const SensitiveSpan& span : structure.spans)
        access = access
            || (span.kind == SensitiveKind::memory_access
                && cut(text, span.span) == "x[threadIdx.x]");
    EXPECT_TRUE(access);
}

} // namespace
} // namespace cuset
