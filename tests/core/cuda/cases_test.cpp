// Cases from the field: tests/data/cases/D (launches, literals, cuts, Python) and C (fences,
// reasoning).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/core/cuda/cuda_test_support.h"

namespace cuset {
namespace {

using Json = nlohmann::json;
using Ranges = std::vector<std::pair<int, int>>;

std::filesystem::path folder(const std::string& name) {
    return test::data_folder() / "cases" / name;
}

// Expected ranges count code points.
Ranges expected_ranges(const Json& list, const std::string& text) {
    const auto offsets = test::code_point_offsets(text);
    Ranges ranges;
    for (const Json& entry : list) {
        const Json& range = entry.is_object() ? entry.at("range") : entry;
        ranges.emplace_back(offsets.at(range.at(0)), offsets.at(range.at(1)));
    }
    return ranges;
}

Ranges bodies(const CudaStructure& structure) {
    Ranges ranges;
    for (const KernelDefinition& kernel : structure.kernels)
        ranges.emplace_back(kernel.body.begin, kernel.body.end);
    return ranges;
}

Ranges configs(const CudaStructure& structure) {
    Ranges ranges;
    for (const KernelLaunch& launch : structure.launches)
        ranges.emplace_back(launch.config.begin, launch.config.end);
    return ranges;
}

Ranges dim3s(const CudaStructure& structure) {
    Ranges ranges;
    for (const ByteSpan span : structure.dim3)
        ranges.emplace_back(span.begin, span.end);
    return ranges;
}

class SourceCase : public testing::TestWithParam<std::pair<const char*, const char*>> { };

TEST_P(SourceCase, BodiesLaunchesAndArguments) {
    const auto [name, file] = GetParam();
    const std::string text = test::read_file(folder(name) / file);
    const Json expected = Json::parse(test::read_file(folder(name) / "expected.json"));
    for (const CudaStructure& structure :
         {find_cuda_structure_in_source(text), find_cuda_structure(text)}) {
        EXPECT_EQ(bodies(structure), expected_ranges(expected["kernel_bodies"], text));
        EXPECT_EQ(configs(structure), expected_ranges(expected["launch_configs"], text));
        for (std::size_t i = 0; expected.contains("arguments") && i < structure.launches.size();
             ++i) {
            std::vector<std::string> arguments;
            for (const ByteSpan span : structure.launches[i].arguments)
                arguments.push_back(text.substr(span.begin, span.size()));
            EXPECT_EQ(arguments, expected["arguments"][i].get<std::vector<std::string>>());
        }
        EXPECT_FALSE(structure.unfinished);
    }
}

INSTANTIATE_TEST_SUITE_P(
    D, SourceCase,
    testing::Values(std::pair("D/PD1-launch-operators", "operators.cu"),
                    std::pair("D/PD2-angle-brackets-that-are-none", "brackets.cu"),
                    std::pair("D/PD3-literals-and-comments", "literals.cu"),
                    std::pair("D/PD4-configuration-arguments", "arguments.cu")));

TEST(CutCase, RangesRunToTheEnd) {
    const Json cases = Json::parse(test::read_file(folder("D/PD5-cut-generations") / "cuts.json"));
    const std::string source = cases["source"];
    const auto offsets = test::code_point_offsets(source);
    for (const Json& cut : cases["cuts"]) {
        SCOPED_TRACE(cut["where"].get<std::string>());
        const std::string text = source.substr(0, offsets.at(cut["length"]));
        const CudaStructure structure = find_cuda_structure(text);
        EXPECT_EQ(bodies(structure), expected_ranges(cut["kernel_bodies"], text));
        EXPECT_EQ(configs(structure), expected_ranges(cut["launch_configs"], text));
        EXPECT_EQ(dim3s(structure), expected_ranges(cut["dim3"], text));
        EXPECT_TRUE(structure.unfinished);
    }
    EXPECT_FALSE(find_cuda_structure(source).unfinished);
}

TEST(PythonCase, StringsAreSearchedTritonIsNot) {
    const auto path = folder("D/PD6-python-that-holds-cuda");
    const Json expected = Json::parse(test::read_file(path / "expected.json"));
    const std::string inline_text = test::read_file(path / "inline.py");
    const CudaStructure structure = find_cuda_structure(inline_text);
    EXPECT_EQ(bodies(structure),
              expected_ranges(expected["inline.py"]["kernel_bodies"], inline_text));
    EXPECT_EQ(configs(structure),
              expected_ranges(expected["inline.py"]["launch_configs"], inline_text));
    EXPECT_EQ(structure.islands.front().kind, IslandKind::python);

    const CudaStructure triton = find_cuda_structure(test::read_file(path / "triton_add.py"));
    EXPECT_TRUE(triton.kernels.empty() && triton.launches.empty() && triton.spans.empty());
    ASSERT_EQ(triton.islands.size(), 1u);
    EXPECT_EQ(triton.islands[0].kind, IslandKind::triton);
}

// Every label lies in an expected stretch, and every stretch has one.
void expect_labels_inside(const CudaStructure& structure, const Ranges& stretches) {
    std::vector<ByteSpan> labels;
    for (const KernelDefinition& kernel : structure.kernels)
        labels.push_back(kernel.span);
    for (const KernelLaunch& launch : structure.launches)
        labels.push_back(launch.span);
    for (const SensitiveSpan& span : structure.spans)
        labels.push_back(span.span);
    std::vector<bool> used(stretches.size(), false);
    for (const ByteSpan label : labels) {
        bool inside = false;
        for (std::size_t i = 0; i < stretches.size(); ++i)
            if (label.begin >= stretches[i].first && label.end <= stretches[i].second)
                inside = used[i] = true;
        EXPECT_TRUE(inside) << label.begin << ".." << label.end;
    }
    EXPECT_THAT(used, testing::Each(true));
}

void check_responses(const std::string& name, const std::string& file, const std::string& field) {
    const Json expected = Json::parse(test::read_file(folder(name) / "expected.json"));
    std::istringstream lines(test::read_file(folder(name) / file));
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        const Json record = Json::parse(line);
        SCOPED_TRACE(record["prompt"].get<std::string>());
        const std::string text = record["response"];
        const CudaStructure structure = find_cuda_structure(text);
        expect_labels_inside(structure, expected_ranges(expected["cases"][count][field], text));
        std::int32_t at = 0;
        for (const Island& island : structure.islands) {
            EXPECT_EQ(island.span.begin, at);
            at = island.span.end;
        }
        EXPECT_EQ(at, static_cast<std::int32_t>(text.size()));
        const bool open = record["prompt"] == "never closed";
        EXPECT_EQ(structure.unfinished, open);
    }
    EXPECT_EQ(count, expected["cases"].size());
}

TEST(FenceCase, LabelsOnlyInCode) {
    check_responses("C/PC2-markdown-fences", "fences.jsonl", "code");
}

TEST(ReasoningCase, LabelsOnlyOutside) {
    check_responses("C/PC5-reasoning-first", "think.jsonl", "labelled");
}

} // namespace
} // namespace cuset
