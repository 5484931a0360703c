// The headers of an installed CUDA toolkit: no crash, and kernels and launches as many as an
// independent count finds. CUSET_CUDA_INCLUDE names another folder; without any the test is
// skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/core/cuda/cuda_test_support.h"

namespace cuset {
namespace {

std::filesystem::path toolkit_folder() {
    if (const char* folder = std::getenv("CUSET_CUDA_INCLUDE"))
        return folder;
    return "/usr/local/cuda/include";
}

// Comments and literals blanked out: a count that shares no code with the scanner.
std::string stripped(const std::string& text) {
    std::string out = text;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t end = i;
        if (text.compare(i, 2, "//") == 0) {
            end = std::min(text.find('\n', i), text.size());
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t close = text.find("*/", i + 2);
            end = close == std::string::npos ? text.size() : close + 2;
        } else if (text[i] == '"') {
            for (end = i + 1; end < text.size() && text[end] != '"' && text[end] != '\n'; ++end)
                end += text[end] == '\\';
            end = std::min(end + 1, text.size());
        }
        for (std::size_t k = i; k < end; ++k)
            if (out[k] != '\n')
                out[k] = ' ';
        i = std::max(i, end == i ? i : end - 1);
    }
    return out;
}

// `__global__` that reaches a `{` before a `;`, outside of parentheses.
long count_kernels(const std::string& text) {
    long count = 0;
    for (std::size_t at = text.find("__global__"); at != std::string::npos;
         at = text.find("__global__", at + 10)) {
        // In a #define without a continued line nothing of the definition follows.
        long depth = 0;
        for (std::size_t i = at + 10; i < text.size(); ++i) {
            const char c = text[i];
            depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
            if (depth < 0 || (depth == 0 && (c == ';' || c == '#')))
                break;
            if (c == '\n' && text.rfind("#", at) != std::string::npos
                && text.rfind("#", at) > text.rfind("\n", at) && text[i - 1] != '\\')
                break;
            if (depth == 0 && c == '{') {
                ++count;
                break;
            }
        }
    }
    return count;
}

long count_launches(const std::string& text) {
    long count = 0;
    for (std::size_t at = text.find("<<<"); at != std::string::npos; at = text.find("<<<", at + 3))
        ++count;
    return count;
}

TEST(Toolkit, CountsAgree) {
    const std::filesystem::path folder = toolkit_folder();
    if (!std::filesystem::is_directory(folder))
        GTEST_SKIP() << folder << " is not there";
    long files = 0, kernels = 0, launches = 0, found_kernels = 0, found_launches = 0, differing = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const auto extension = entry.path().extension();
        if (!entry.is_regular_file()
            || (extension != ".h" && extension != ".cuh" && extension != ".hpp"
                && extension != ".cu"))
            continue;
        const std::string text = test::read_file(entry.path());
        const CudaStructure structure = find_cuda_structure_in_source(text);
        const std::string plain = stripped(text);
        const long chevrons = std::count_if(structure.launches.begin(), structure.launches.end(),
                                            [](const KernelLaunch& launch) { return !launch.api; });
        const long expected_kernels = count_kernels(plain);
        const long expected_launches = count_launches(plain);
        ++files;
        kernels += expected_kernels;
        launches += expected_launches;
        found_kernels += static_cast<long>(structure.kernels.size());
        found_launches += chevrons;
        const long off = std::abs(expected_kernels - static_cast<long>(structure.kernels.size()))
            + std::abs(expected_launches - chevrons);
        if (off > 0)
            std::printf("%s: kernels %ld (counted %ld), launches %ld (counted %ld)\n",
                        entry.path().c_str(), static_cast<long>(structure.kernels.size()),
                        expected_kernels, chevrons, expected_launches);
        differing += off;
    }
    std::printf("%ld files: kernels %ld (counted %ld), launches %ld (counted %ld)\n", files,
                found_kernels, kernels, found_launches, launches);
    EXPECT_LE(static_cast<double>(differing), 0.005 * static_cast<double>(kernels + launches));
}

} // namespace
} // namespace cuset
