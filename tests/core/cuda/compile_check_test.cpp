// Checking source with a compiler: its messages, its end, and that nothing else is run.
#include "core/cuda/compile_check.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using Severity = CompilerMessage::Severity;

// A program that stands in for nvcc, so that the rules are tested without a CUDA toolkit.
class Stand {
public:
    explicit Stand(const std::string& script) {
        std::string pattern = (fs::temp_directory_path() / "cuset stand XXXXXX").string();
        if (!mkdtemp(pattern.data()))
            throw std::runtime_error("no temporary folder");
        folder_ = pattern;
        std::ofstream(path()) << "#!/bin/sh\n" << script;
        fs::permissions(path(), fs::perms::owner_all);
    }
    ~Stand() { fs::remove_all(folder_); }
    Stand(const Stand&) = delete;
    Stand& operator=(const Stand&) = delete;
    fs::path path() const { return folder_ / "nvcc"; }
    fs::path folder() const { return folder_; }

private:
    fs::path folder_;
};

CompileOptions with(const Stand& stand) {
    CompileOptions options;
    options.compiler = stand.path().string();
    return options;
}

TEST(CompileCheck, ReadsNvccPtxasAndHostMessages) {
    const auto found = parse_compiler_output(
        "answer.cu(3): error: identifier \"foo\" is undefined\n"
        "    foo = 1;\n"
        "    ^\n"
        "\n"
        "answer.cu(12): warning #177-D: variable \"x\" was declared but never referenced\r\n"
        "answer.cu:5:10: fatal error: missing.h: No such file or directory\n"
        "other.h(7): error: not of this file\n"
        "answer.cu(9): catastrophic error: cannot open source file \"a:b\"\n"
        "ptxas error   : Entry function 'k' uses too much shared data\n"
        "nvcc fatal   : Unsupported gpu architecture 'compute_1'\n"
        "answer.cu(x): error: no number\n"
        "1 error detected in the compilation of \"answer.cu\".\n",
        "answer.cu");
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[0].line, 3);
    EXPECT_EQ(found[0].severity, Severity::error);
    EXPECT_EQ(found[0].text, "identifier \"foo\" is undefined");
    EXPECT_EQ(found[1].line, 12);
    EXPECT_EQ(found[1].severity, Severity::warning);
    EXPECT_EQ(found[1].text, "variable \"x\" was declared but never referenced");
    EXPECT_EQ(found[2].line, 5);
    EXPECT_EQ(found[2].column, 10);
    EXPECT_EQ(found[2].text, "missing.h: No such file or directory");
    EXPECT_EQ(found[3].text, "cannot open source file \"a:b\"");
    EXPECT_EQ(found[4].line, 0);
    EXPECT_EQ(found[4].text, "Entry function 'k' uses too much shared data");
    EXPECT_EQ(found[5].text, "Unsupported gpu architecture 'compute_1'");
}

TEST(CompileCheck, WhatIsNoSourceIsBlankAndLinesStay) {
    const std::string response = "Here it is:\n```cuda\n__global__ void k() {}\n```\nDone `x`.\n";
    const std::string source = compilable_source(response);
    ASSERT_EQ(source.size(), response.size());
    EXPECT_EQ(source.find("__global__"), response.find("__global__"));
    EXPECT_EQ(source.find("Here"), std::string::npos);
    EXPECT_EQ(source.find('`'), std::string::npos);
    EXPECT_EQ(std::count(source.begin(), source.end(), '\n'), 5);
}

TEST(CompileCheck, TheCompilerGetsTheSourceAndNoShell) {
    const Stand stand("pwd > \"$(dirname \"$0\")/where\"; printf '%s\\n' \"$@\" > \"$(dirname "
                      "\"$0\")/arguments\"\n"
                      "cat answer.cu; echo 'answer.cu(2): error: said so' >&2; exit 1\n");
    RunControl control;
    CompileOptions options = with(stand);
    options.arguments = {"-arch=sm_90", "$(touch /tmp/never)"};
    const CompileResult result = check_compiles("__global__ void k() {\n}\n", options, control);
    EXPECT_FALSE(result.ok);
    EXPECT_FALSE(result.timed_out);
    EXPECT_NE(result.output.find("__global__ void k()"), std::string::npos);
    ASSERT_EQ(result.messages.size(), 1u);
    EXPECT_EQ(result.messages[0].line, 2);
    std::ifstream arguments(stand.folder() / "arguments"), where(stand.folder() / "where");
    const std::string given((std::istreambuf_iterator<char>(arguments)), {});
    EXPECT_EQ(given, "-c\nanswer.cu\n-o\nanswer.o\n-arch=sm_90\n$(touch /tmp/never)\n");
    std::string folder;
    std::getline(where, folder);
    EXPECT_FALSE(fs::exists(folder)) << "the temporary folder is gone";
}

TEST(CompileCheck, EndsInTimeAndOnRequestWithAllItsChildren) {
    const Stand stand("sleep 100 & sleep 100\n");
    RunControl control;
    CompileOptions options = with(stand);
    options.time_limit = 0.3;
    const auto begin = std::chrono::steady_clock::now();
    const CompileResult result = check_compiles("int x;", options, control);
    EXPECT_TRUE(result.timed_out);
    EXPECT_FALSE(result.ok);
    ASSERT_EQ(result.messages.size(), 1u);
    options.time_limit = 60;
    std::thread stop([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        control.request_stop();
    });
    EXPECT_THROW(check_compiles("int x;", options, control), Cancelled);
    stop.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(CompileCheck, FailuresAreSaid) {
    RunControl control;
    CompileOptions options;
    options.compiler = "/nowhere/nvcc";
    EXPECT_THROW(check_compiles("int x;", options, control), Error);
    const Stand stand("exit 3\n");
    const CompileResult nothing =
        check_compiles("I cannot do that. Ask somebody else, please.\n", with(stand), control);
    EXPECT_FALSE(nothing.ok);
    ASSERT_EQ(nothing.messages.size(), 1u);
    EXPECT_EQ(nothing.messages[0].text, "the response holds no CUDA source to compile");
    const CompileResult silent = check_compiles("int x;", with(stand), control);
    EXPECT_FALSE(silent.ok);
    ASSERT_EQ(silent.messages.size(), 1u);
}

TEST(CompileCheck, NvccMarksTheLine) {
    if (find_nvcc().empty())
        GTEST_SKIP() << "no nvcc here";
    RunControl control;
    const CompileResult good = check_compiles(
        "```cuda\n__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\n```\n", {}, control);
    EXPECT_TRUE(good.ok) << good.output;
    const CompileResult bad = check_compiles(
        "Like this:\n```cuda\n__global__ void k(float* x) {\n    x[threadIdx.x] = undefined_name;\n"
        "}\n```\n",
        {}, control);
    EXPECT_FALSE(bad.ok);
    ASSERT_FALSE(bad.messages.empty()) << bad.output;
    EXPECT_EQ(bad.messages[0].line, 4);
    EXPECT_NE(bad.messages[0].text.find("undefined_name"), std::string::npos);
}

} // namespace
} // namespace cuset
