// Text that is cut, mutated or no code at all.
//
// The property: cutting a text at byte c may change only what the cut touches. Precisely: let q be
// the begin of the statement that c lies in, i.e. the place after the last `;`, `{` or `}` before c
// that the lexer sees as a token. Then the results that end before q are the same for the
// whole text and for its first c bytes, and a kernel whose body opens before q is found in both
// with the same head. (An unclosed kernel body that a later kernel would end is touched by every
// cut after its `{`; the texts here have none.)
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <tuple>

#include "core/cuda/source_lexer.h"
#include "tests/core/cuda/cuda_test_support.h"

namespace cuset {
namespace {

using Result = std::tuple<std::string, int, int, std::string>;

std::vector<Result> results_before(const CudaStructure& structure, std::int32_t limit) {
    std::vector<Result> results;
    for (const KernelDefinition& kernel : structure.kernels)
        if (kernel.body.begin < limit) {
            results.emplace_back("kernel", kernel.span.begin, kernel.body.begin, kernel.name);
            if (kernel.body.end < limit && kernel.complete)
                results.emplace_back("body", kernel.body.begin, kernel.body.end, kernel.name);
        }
    for (const KernelLaunch& launch : structure.launches)
        if (launch.span.end < limit)
            results.emplace_back("launch", launch.config.begin, launch.config.end, launch.kernel);
    for (const ByteSpan span : structure.dim3)
        if (span.end < limit)
            results.emplace_back("dim3", span.begin, span.end, "");
    for (const SensitiveSpan& span : structure.spans)
        if (span.span.end < limit)
            results.emplace_back(
                std::string(sensitive_kind_names[static_cast<std::size_t>(span.kind)]),
                span.span.begin, span.span.end, std::string(span.rule));
    return results;
}

// For every cut 0..size the place q.
std::vector<std::int32_t> statement_begins(const std::string& text) {
    std::vector<std::int32_t> begins(text.size() + 1, 0);
    const auto lexed = cuda_scan::lex_source(text);
    std::vector<bool> ends(text.size() + 1, false);
    for (const cuda_scan::Token& token : lexed.code)
        if (token.kind == cuda_scan::TokenKind::sign
            && (token.sign == ';' || token.sign == '{' || token.sign == '}'))
            ends[token.end] = true;
    std::int32_t last = 0;
    for (std::size_t c = 0; c <= text.size(); ++c) {
        if (ends[c])
            last = static_cast<std::int32_t>(c);
        begins[c] = last;
    }
    return begins;
}

void expect_in_bounds(const CudaStructure& structure, std::size_t text_size) {
    const auto size = static_cast<std::int32_t>(text_size);
    const auto check = [&](ByteSpan span) {
        ASSERT_TRUE(0 <= span.begin && span.begin <= span.end && span.end <= size);
    };
    for (const KernelDefinition& kernel : structure.kernels) {
        check(kernel.span);
        check(kernel.body);
    }
    for (const KernelLaunch& launch : structure.launches) {
        check(launch.span);
        check(launch.config);
        for (const ByteSpan argument : launch.arguments)
            check(argument);
    }
    for (const ByteSpan span : structure.dim3)
        check(span);
    for (const SensitiveSpan& span : structure.spans)
        check(span.span);
    std::int32_t at = 0;
    for (const Island& island : structure.islands) {
        ASSERT_EQ(island.span.begin, at);
        at = island.span.end;
    }
    ASSERT_EQ(at, size);
}

TEST(Cut, EveryPrefixChangesOnlyWhatTheCutTouches) {
    const auto texts = test::source_texts();
    ASSERT_GE(texts.size(), 30u);
    for (const std::string& text : texts) {
        const CudaStructure whole = find_cuda_structure_in_source(text);
        const auto begins = statement_begins(text);
        for (std::size_t c = 0; c <= text.size(); ++c) {
            const CudaStructure prefix =
                find_cuda_structure_in_source(std::string_view(text).substr(0, c));
            expect_in_bounds(prefix, c);
            ASSERT_EQ(results_before(prefix, begins[c]), results_before(whole, begins[c]))
                << "cut at " << c << " after:\n"
                << text.substr(c > 120 ? c - 120 : 0, std::min<std::size_t>(c, 120));
        }
    }
}

TEST(Stress, MutatedTextNeverCrashes) {
    const auto texts = test::source_texts();
    std::mt19937 random(20261201);
    const std::string pieces[] = {"<<<",        ">>>",         "{",         "}",
                                  "(",          ")",           "\"",        "'",
                                  "R\"x(",      "/*",          "*/",        "//",
                                  "\\\n",       "#if 0\n",     "\n#else\n", "\n#endif\n",
                                  "#define K ", "__global__",  "<",         ">",
                                  ";",          "\n```\n",     "```cuda\n", "<think>",
                                  "</think>",   "\n\"\"\"",    "f'{",       "asm(\"",
                                  "dim3 ",      "__shared__ ", "\xff\xfe",  std::string("\0", 1)};
    for (int round = 0; round < 3000; ++round) {
        std::string text = texts[random() % texts.size()];
        for (int edits = static_cast<int>(random() % 12); edits >= 0; --edits) {
            const std::size_t at = random() % (text.size() + 1);
            if (random() % 3 == 0)
                text.erase(at, random() % 40);
            else
                text.insert(at, pieces[random() % std::size(pieces)]);
        }
        expect_in_bounds(find_cuda_structure(text), text.size());
        expect_in_bounds(find_cuda_structure_in_source(text), text.size());
        expect_in_bounds(find_cuda_structure("import torch\nsrc = \"\"\"" + text),
                         text.size() + 22);
    }
}

TEST(Stress, RandomBytes) {
    std::mt19937 random(7);
    for (int round = 0; round < 400; ++round) {
        std::string text(random() % 2000, '\0');
        const bool printable = round % 2 == 0;
        for (char& c : text)
            c = static_cast<char>(printable ? 32 + random() % 95 : random() % 256);
        expect_in_bounds(find_cuda_structure(text), text.size());
    }
}

// Each of these made some scanner quadratic: 200 kB of it has to pass in well under a second.
TEST(Stress, LongRunsAreLinear) {
    for (const std::string unit : {"(",
                                   "{",
                                   "[",
                                   "<",
                                   "a<",
                                   "a<<<",
                                   "a<<<(",
                                   "k<<<1,",
                                   "__global__ ",
                                   "__global__ void k(int*p){",
                                   "x=[]{",
                                   "*",
                                   "a[",
                                   "a.b",
                                   "R\"x(",
                                   "'",
                                   "\"\\",
                                   "#if 0\n",
                                   "#if X\n{\n#else\n",
                                   "#if X\n{\n#else\n{\n#endif\n",
                                   "#define M(x) a[x]\n",
                                   "dim3 a",
                                   "__shared__ ",
                                   "a::",
                                   "cudaMalloc(",
                                   "cudaLaunchKernel(f,",
                                   "<think>",
                                   "```\n",
                                   "asm(\"",
                                   "atomicAdd_block",
                                   "int a=threadIdx.x+",
                                   "/*",
                                   "template<"}) {
        std::string text;
        while (text.size() < 200'000)
            text += unit;
        for (const std::string head : {"", "__global__ void k(int* p) {"}) {
            const auto begin = std::chrono::steady_clock::now();
            const std::string input = head + text;
            expect_in_bounds(find_cuda_structure(input), input.size());
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
            EXPECT_LT(taken.count(), 5.0) << unit;
        }
    }
}

} // namespace
} // namespace cuset
