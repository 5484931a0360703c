#include "ui/editor/cuda_lexer.h"

#include "ui/editor/color_scale.h"

namespace cuset {
namespace {

struct Theme {
    QColor text, comment, keyword, cuda, string, number, preprocessor;
};

// Far from the paper on purpose: confidence colours lie between text and paper.
Theme themeFor(const QPalette& palette) {
    if (isDark(palette))
        return {QColor(0xf2f4f8), QColor(0xc3d6c4), QColor(0xb9d6ff), QColor(0xf3c6ff),
                QColor(0xffd9b0), QColor(0xffe9b8), QColor(0xd9ceff)};
    return {QColor(0x14171c), QColor(0x2c4a2f), QColor(0x0a2f7a), QColor(0x66135c),
            QColor(0x6b2408), QColor(0x4c3000), QColor(0x3a2d80)};
}

} // namespace

CudaLexer::CudaLexer(QObject* parent)
    : QsciLexerCPP(parent) {
    setFoldComments(false);
    setFoldCompact(false);
    setFoldPreprocessor(false);
    setStylePreprocessor(false);
    setHighlightTripleQuotedStrings(false);
}

const char* CudaLexer::keywords(int set) const {
    if (set == 1)
        return "alignas alignof asm auto bool break case catch char class concept const consteval "
               "constexpr "
               "const_cast continue decltype default delete do double dynamic_cast else enum "
               "explicit export "
               "extern false float for friend goto if inline int long mutable namespace new "
               "noexcept nullptr "
               "operator private protected public register reinterpret_cast requires return short "
               "signed sizeof "
               "static static_assert static_cast struct switch template this thread_local throw "
               "true try typedef "
               "typeid typename union unsigned using virtual void volatile wchar_t while size_t "
               "int8_t int16_t "
               "int32_t int64_t uint8_t uint16_t uint32_t uint64_t half __half __half2 "
               "__nv_bfloat16 float2 float3 "
               "float4 int2 int3 int4 uint2 uint3 uint4 double2";
    if (set == 2)
        return "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ "
               "__launch_bounds__ "
               "__forceinline__ __noinline__ __grid_constant__ __cluster_dims__ __align__ "
               "threadIdx blockIdx "
               "blockDim gridDim warpSize dim3 __syncthreads __syncwarp __threadfence "
               "__threadfence_block "
               "__threadfence_system __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync "
               "__ballot_sync "
               "__any_sync __all_sync __activemask __match_any_sync __reduce_add_sync __ldg "
               "atomicAdd atomicSub "
               "atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd atomicOr "
               "atomicXor "
               "cudaMalloc cudaFree cudaMemcpy cudaMemcpyAsync cudaMemset cudaStream_t cudaEvent_t "
               "cudaError_t "
               "cudaDeviceSynchronize cudaStreamSynchronize cudaGetLastError cudaLaunchKernel "
               "cudaLaunchKernelEx";
    return nullptr;
}

void CudaLexer::applyTheme(const QPalette& palette, const QFont& font) {
    const Theme theme = themeFor(palette);
    const QColor paper = palette.color(QPalette::Base);
    setDefaultFont(font);
    setDefaultColor(theme.text);
    setDefaultPaper(paper);
    setFont(font);
    setColor(theme.text);
    setPaper(paper);
    QFont italic = font;
    italic.setItalic(true);
    for (const int style :
         {Comment, CommentLine, CommentDoc, CommentLineDoc, PreProcessorComment}) {
        setColor(theme.comment, style);
        setFont(italic, style);
    }
    setColor(theme.keyword, Keyword);
    setColor(theme.cuda, KeywordSet2);
    for (const int style :
         {DoubleQuotedString, SingleQuotedString, UnclosedString, RawString, EscapeSequence})
        setColor(theme.string, style);
    setEolFill(false);
    setColor(theme.number, Number);
    setColor(theme.preprocessor, PreProcessor);
}

std::vector<QColor> CudaLexer::textColors(const QPalette& palette) {
    const Theme t = themeFor(palette);
    return {t.text, t.comment, t.keyword, t.cuda, t.string, t.number, t.preprocessor};
}

} // namespace cuset
