// Parquet and Arrow, written by pyarrow (tests/data/io/make_columnar_files.py), against the same
// rows as JSON.
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/columnar_file.h"
#include "core/io/data_preview.h"
#include "core/io/sample_reader.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string folder = CUSET_TEST_DATA "/io/";
constexpr std::size_t limit = 1 << 20;

std::vector<json> expected_rows() {
    std::ifstream file(folder + "rows.jsonl");
    std::vector<json> rows;
    for (std::string line; std::getline(file, line);)
        rows.push_back(json::parse(line));
    return rows;
}

std::string content(const std::string& name) {
    std::ifstream file(folder + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Where the module was not built the reader must say how to get it.
class Columnar : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        if (!has_columnar_reader())
            GTEST_SKIP() << "built without Arrow (packaging/setup --arrow)";
    }
    std::string path() const { return folder + GetParam(); }
};

TEST_P(Columnar, EveryValueIsTheOneThatWasWritten) {
    const std::vector<json> expected = expected_rows();
    const auto rows = open_columnar(path(), *columnar_format(content(GetParam())), limit);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::optional<ColumnarRow> row = rows->next();
        ASSERT_TRUE(row) << "row " << i;
        EXPECT_FALSE(row->too_long);
        EXPECT_EQ(row->repaired, i == 7) << i;
        ASSERT_EQ(row->record.size(), expected[i].size());
        for (const auto& [name, value] : expected[i].items())
            EXPECT_EQ(row->record[name], value) << "row " << i << ", " << name;
    }
    EXPECT_FALSE(rows->next());
}

TEST_P(Columnar, SamplesAreThoseOfTheSameRowsAsJson) {
    RunControl control;
    ReadOptions options;
    options.prompt_field = "problem statement";
    options.response_field = "solution";
    options.filters = {{"language", "CUDA"}, {"Correct", "true"}};
    const Dataset read = read_samples({path()}, options, control);
    const Dataset from_json = read_samples({folder + "rows.jsonl"}, options, control);
    ASSERT_EQ(read.samples.size(), from_json.samples.size());
    EXPECT_EQ(read.filtered_records, from_json.filtered_records);
    for (std::size_t i = 0; i < read.samples.size(); ++i) {
        EXPECT_EQ(read.samples[i].id, from_json.samples[i].id);
        EXPECT_EQ(read.samples[i].prompt, from_json.samples[i].prompt);
        EXPECT_EQ(read.samples[i].response, from_json.samples[i].response);
    }
}

TEST_P(Columnar, FieldsThroughStructsBadRowsByNumberAndPreview) {
    RunControl control;
    ReadOptions nested;
    nested.prompt_field = "extra_info.question";
    nested.response_field = "extra_info.answer";
    EXPECT_EQ(read_samples({path()}, nested, control).samples[3].prompt, "Q3");
    EXPECT_EQ(read_samples({path()}, {}, control).samples[2].prompt, "M2"); // its messages
    ReadOptions named;
    named.prompt_field = "problem statement";
    named.response_field = "solution";
    const Dataset read = read_samples({path()}, named, control);
    ASSERT_EQ(read.bad_records.size(), 1u); // a null
    EXPECT_EQ(read.bad_records[0].line, 6);
    EXPECT_EQ(read.samples[10].origin, path() + ":12");
    const DataPreview preview = preview_data({path()}, {}, 4, 30, control);
    EXPECT_EQ(preview.rows.size(), 4u);
    EXPECT_EQ(preview.columns.size(), expected_rows()[0].size());
}

TEST_P(Columnar, DamagedFilesSayWhichAndWhat) {
    const TemporaryFolder temporary;
    const std::string whole = content(GetParam());
    RunControl control;
    for (const std::size_t kept : {std::size_t{9}, whole.size() / 3, whole.size() - 9}) {
        const auto file = temporary.write(GetParam(), whole.substr(0, kept));
        try {
            const Dataset read = read_samples({file}, {}, control);
            // A stream that ends after a whole batch is a shorter stream.
            EXPECT_LT(read.samples.size(), expected_rows().size()) << kept;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_format) << kept;
            EXPECT_THAT(error.what(), HasSubstr(GetParam()));
        }
    }
}

TEST_P(Columnar, LongRowsAreSkippedAndCounted) {
    const auto rows = open_columnar(path(), *columnar_format(content(GetParam())), 100);
    const std::optional<ColumnarRow> row = rows->next();
    ASSERT_TRUE(row);
    EXPECT_TRUE(row->too_long);
}

INSTANTIATE_TEST_SUITE_P(Formats, Columnar,
                         ::testing::Values("rows.parquet", "rows.arrow", "rows.arrows"));

TEST(ColumnarFormat, IsToldByTheFirstBytes) {
    EXPECT_EQ(columnar_format(content("rows.parquet")), ColumnarFormat::parquet);
    EXPECT_EQ(columnar_format(content("rows.arrow")), ColumnarFormat::arrow_file);
    EXPECT_EQ(columnar_format(content("rows.arrows")), ColumnarFormat::arrow_stream);
    EXPECT_FALSE(columnar_format("PA"));
    EXPECT_FALSE(columnar_format("{\"prompt\": 1}"));
}

} // namespace
} // namespace cuset
