// Files, formats and faults: what read_samples does before a record is recognised.
#include "core/io/sample_reader.h"

#include <chrono>
#include <random>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/io/columnar_file.h"
#include "core/io/utf8_repair.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

using ::testing::HasSubstr;

class SampleReader : public ::testing::Test {
protected:
    Dataset read(const std::filesystem::path& path, const ReadOptions& options = {}) {
        return read_samples({path}, options, control_);
    }
    Dataset read_text(const std::string& name, std::string_view text,
                      const ReadOptions& options = {}) {
        return read(folder_.write(name, text), options);
    }
    Error error_of(const std::filesystem::path& path, const ReadOptions& options = {}) {
        try {
            read(path, options);
        } catch (const Error& error) {
            return error;
        }
        return Error(ErrorCode::failure, "nothing was thrown");
    }
    Error error_of_text(const std::string& name, std::string_view text,
                        const ReadOptions& options = {}) {
        return error_of(folder_.write(name, text), options);
    }

    TemporaryFolder folder_;
    RunControl control_;
};

constexpr std::string_view pair_a = R"({"id": "a", "prompt": "p", "response": "r"})";
constexpr std::string_view pair_b = R"({"prompt": "q", "response": "s"})";

TEST_F(SampleReader, JsonLinesWhateverTheSuffixSays) {
    const std::string text = std::string(pair_a) + "\n\n" + std::string(pair_b) + "\r\n";
    for (const char* name : {"d.jsonl", "d.json", "d.txt", "d"}) {
        const Dataset data = read_text(name, text);
        ASSERT_EQ(data.samples.size(), 2u) << name;
        EXPECT_EQ(data.samples[0].id, "a");
        EXPECT_EQ(data.samples[1].id, std::string(name) + ":3");
        EXPECT_EQ(data.samples[1].origin, (folder_.path() / name).string() + ":3");
        EXPECT_EQ(data.samples[1].prompt, "q");
        EXPECT_EQ(data.samples[1].response, "s");
        EXPECT_TRUE(data.bad_records.empty());
    }
}

TEST_F(SampleReader, ArraysAndContainersOfRecords) {
    const std::string a(pair_a);
    const std::string b(pair_b);
    const Dataset list = read_text("list.json", "[\n" + a + ",\n" + b + "\n]\n");
    ASSERT_EQ(list.samples.size(), 2u);
    EXPECT_EQ(list.samples[1].id, "list.json:3");
    EXPECT_EQ(read_text("one.json", "[" + a + "," + b + "]").samples.size(), 2u);
    EXPECT_EQ(read_text("train.json", "{\"train\": [\n" + a + ",\n" + b + "]}").samples.size(), 2u);
    EXPECT_EQ(read_text("pretty.json", "{\n  \"prompt\": \"p\",\n  \"response\": \"r\"\n}\n")
                  .samples.size(),
              1u);
    EXPECT_EQ(read_text("row.json",
                        "{\n\"prompt\": \"p\",\n\"response\": \"r\"\n}\n{\n\"prompt\": \"p\",\n"
                        "\"response\": \"r2\"\n}")
                  .samples[1]
                  .response,
              "r2");
}

TEST_F(SampleReader, ListsBadRecordsWithTheirLineAndGoesOn) {
    const std::string text = std::string(pair_a) + "\n" + R"({"prompt": "p", "resp)" + "\n"
        + R"({"prompt": "p", "response": null})" + "\n" + R"({"prompt": "p", "response": 3})" + "\n"
        + R"({"prompt": "p", "response": ""})" + "\n" + "[1, 2]\n" + "nonsense\n"
        + std::string(pair_b);
    const Dataset data = read_text("d.jsonl", text);
    EXPECT_EQ(data.samples.size(), 2u);
    ASSERT_EQ(data.bad_records.size(), 6u);
    const char* reasons[] = {"cut off",     "no response",     "is number, needs text",
                             "no response", "needs an object", "not JSON"};
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(data.bad_records[i].line, static_cast<std::int64_t>(i + 2));
        EXPECT_THAT(data.bad_records[i].reason, HasSubstr(reasons[i]));
        EXPECT_EQ(data.bad_records[i].file, (folder_.path() / "d.jsonl").string());
    }
}

TEST_F(SampleReader, ABrokenFirstLineDoesNotSwallowTheOthers) {
    for (const char* broken :
         {R"({"prompt": "p", "resp)", R"({"prompt": "p")", "oops", R"({"prompt": "p"]})"}) {
        const Dataset data =
            read_text("d.jsonl", std::string(broken) + "\n" + std::string(pair_b) + "\n");
        EXPECT_EQ(data.samples.size(), 1u) << broken;
        EXPECT_EQ(data.bad_records.size(), 1u) << broken;
    }
}

TEST_F(SampleReader, ATruncatedArrayKeepsItsWholeRecords) {
    const Dataset data =
        read_text("d.json", "[" + std::string(pair_a) + ",\n" + R"({"prompt": "p", "respon)");
    EXPECT_EQ(data.samples.size(), 1u);
    ASSERT_EQ(data.bad_records.size(), 1u);
    EXPECT_EQ(data.bad_records[0].line, 2);
    EXPECT_THAT(data.bad_records[0].reason, HasSubstr("cut off"));
}

TEST_F(SampleReader, StrictStopsAtTheFirstBadRecord) {
    ReadOptions options;
    options.strict = true;
    const Error error = error_of_text(
        "d.jsonl", std::string(pair_a) + "\n{\"prompt\": 1}\n" + std::string(pair_b), options);
    EXPECT_EQ(error.code(), ErrorCode::bad_format);
    EXPECT_THAT(error.subject(), HasSubstr("d.jsonl:2"));
}

TEST_F(SampleReader, RefusesFilesWithoutSamples) {
    EXPECT_EQ(error_of(folder_.path() / "none.jsonl").code(), ErrorCode::not_found);
    EXPECT_EQ(error_of("/dev/zero").code(), ErrorCode::unreadable);
    EXPECT_EQ(error_of(folder_.path()).code(), ErrorCode::not_found);
    EXPECT_THAT(error_of_text("empty.jsonl", "").what(), HasSubstr("is empty"));
    EXPECT_THAT(error_of_text("bom.jsonl", "\xef\xbb\xbf").what(), HasSubstr("is empty"));
    EXPECT_THAT(error_of_text("text.json", "hello").what(), HasSubstr("is not JSON"));
    EXPECT_THAT(error_of_text("blank.json", " \n \n").what(), HasSubstr("is not JSON"));
    EXPECT_THAT(error_of_text("list.json", "[]").what(), HasSubstr("no usable record"));
    EXPECT_THAT(error_of_text("bad.jsonl", "{\"x\": 1}").what(), HasSubstr("has x"));
    EXPECT_THAT(error_of_text("x.bin", std::string_view("ab\0c", 4)).what(),
                HasSubstr("is binary"));
    EXPECT_THAT(error_of_text("u16.jsonl", "\xff\xfe{").what(), HasSubstr("UTF-16"));
    EXPECT_EQ(error_of_text("d.parquet", "PAR1....").code(),
              has_columnar_reader() ? ErrorCode::bad_format : ErrorCode::unsupported);
    EXPECT_EQ(error_of_text("d.jsonl.gz", "\x1f\x8b....").code(), ErrorCode::unsupported);
    EXPECT_THAT(error_of_text("empty.cu", "").what(), HasSubstr("no response"));
    EXPECT_THAT(error_of_text("h.csv", "prompt,response\n").what(), HasSubstr("no usable record"));
    EXPECT_THROW(read_samples({}, {}, control_), Error);
}

TEST_F(SampleReader, ALineOverTheLimitIsSkipped) {
    std::string text = R"({"prompt": "p", "response": ")" + std::string(17 << 20, 'x') + "\"}\n";
    text += pair_b;
    const Dataset data = read_text("d.jsonl", text);
    EXPECT_EQ(data.samples.size(), 1u);
    ASSERT_EQ(data.bad_records.size(), 1u);
    EXPECT_EQ(data.bad_records[0].line, 1);
    EXPECT_THAT(data.bad_records[0].reason, HasSubstr("longer than 16.0 MiB"));
    text.pop_back();
    const Dataset list = read_text("d.json", "[" + text.replace(text.find('\n'), 1, ",\n") + "}]");
    EXPECT_EQ(list.samples.size(), 1u);
    EXPECT_EQ(list.bad_records.size(), 1u);
    EXPECT_EQ(list.samples[0].id, "d.json:2");
}

TEST_F(SampleReader, DeepNestingIsRefusedNotFollowed) {
    const std::string deep =
        "{\"prompt\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
    const Dataset data = read_text("d.jsonl", deep + "\n" + std::string(pair_b));
    EXPECT_EQ(data.samples.size(), 1u);
    ASSERT_EQ(data.bad_records.size(), 1u);
    EXPECT_THAT(data.bad_records[0].reason, HasSubstr("nested deeper than 128"));
}

TEST_F(SampleReader, StopsEarlyInAFileThatHoldsNoRecords) {
    std::string text;
    for (int i = 0; i < 200'000; ++i)
        text += "x\n";
    EXPECT_THAT(error_of_text("d.jsonl", text).what(), HasSubstr("1,000 bad"));
    EXPECT_EQ(error_of_text("e.jsonl", std::string(pair_a) + "\n" + text).code(), ErrorCode::limit);
}

TEST_F(SampleReader, KeepsLineEndsAndNulAndSkipsTheByteOrderMark) {
    const Dataset data = read_text("k.cu", std::string_view("\xef\xbb\xbfint a;\r\n\0x\n", 14));
    EXPECT_EQ(data.samples[0].response, std::string_view("int a;\r\n\0x\n", 11));
    EXPECT_FALSE(data.samples[0].repaired);
    EXPECT_EQ(read_text("b.jsonl", "\xef\xbb\xbf" + std::string(pair_a)).samples[0].id, "a");
}

TEST_F(SampleReader, InvalidUtf8IsReplacedAndFlagged) {
    const Dataset data =
        read_text("d.jsonl", "{\"prompt\": \"\xc3(\", \"response\": \"a\xe2\x82z\xff\"}");
    EXPECT_EQ(data.samples[0].prompt, "\xef\xbf\xbd(");
    EXPECT_EQ(data.samples[0].response, "a\xef\xbf\xbdz\xef\xbf\xbd");
    EXPECT_TRUE(data.samples[0].repaired);
    ASSERT_EQ(data.warnings.size(), 1u);
    EXPECT_THAT(data.warnings[0], HasSubstr("d.jsonl:1"));
    EXPECT_EQ(read_text("k.cu", "// \xe9t\xe9\n").samples[0].response,
              "// \xef\xbf\xbdt\xef\xbf\xbd\n");
}

TEST_F(SampleReader, SourceFilesAndFoldersOfThem) {
    folder_.write("src/b.cu", "int b;\n");
    folder_.write("src/deep/a.CUH", "int a;\n");
    folder_.write("src/notes.md", "no\n");
    folder_.write("src/.hidden.cu", "no\n");
    folder_.write("src/data.json", "no\n");
    std::filesystem::create_directory_symlink(folder_.path() / "src", folder_.path() / "src/loop");
    ReadOptions options;
    options.prompt = "Write it";
    const Dataset data = read(folder_.path() / "src", options);
    ASSERT_EQ(data.samples.size(), 2u);
    EXPECT_EQ(data.samples[0].id, "b.cu");
    EXPECT_EQ(data.samples[0].prompt, "Write it");
    EXPECT_EQ(data.samples[0].response, "int b;\n");
    EXPECT_TRUE(data.samples[0].messages.empty());
    EXPECT_EQ(data.samples[1].id, "deep/a.CUH");
    EXPECT_EQ(read_text("odd \"name\"\n.cu", "int c;").samples[0].id, "odd \"name\"\n.cu");
}

TEST_F(SampleReader, StandardInput) {
    const auto read_stdin = [&](std::string_view text) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
        ::close(ends[1]);
        const int old = ::dup(STDIN_FILENO);
        ::dup2(ends[0], STDIN_FILENO);
        ::close(ends[0]);
        Dataset data = read("-");
        ::dup2(old, STDIN_FILENO);
        ::close(old);
        return data;
    };
    EXPECT_EQ(read_stdin(pair_b).samples[0].id, "stdin:1");
    const Dataset source = read_stdin("__global__ void k() {}\n");
    EXPECT_EQ(source.samples[0].id, "stdin");
    EXPECT_EQ(source.samples[0].response, "__global__ void k() {}\n");
}

TEST_F(SampleReader, IdsStayUnique) {
    const std::string a(pair_a);
    const Dataset data =
        read_text("d.jsonl",
                  a + "\n" + a + "\n" + R"({"id": 7, "prompt": "", "response": "r"})" + "\n"
                      + R"({"id": "a#2", "prompt": "p", "response": "r"})" + "\n" + a);
    std::vector<std::string> ids;
    for (const Sample& sample : data.samples)
        ids.push_back(sample.id);
    EXPECT_THAT(ids, ::testing::ElementsAre("a", "a#2", "7", "a#2#2", "a#3"));
    ASSERT_EQ(data.warnings.size(), 1u);
    EXPECT_THAT(data.warnings[0], HasSubstr("3 samples had an id"));
}

TEST_F(SampleReader, FiltersByAColumn) {
    const std::string text = R"({"Correct": true, "l": "CUDA", "prompt": "p", "response": "r1"}
{"Correct": false, "l": "CUDA", "prompt": "p", "response": "r2"}
{"l": "CUDA", "prompt": "p", "response": "r3"}
{"Correct": "True", "l": "cuda", "prompt": "p", "response": "r4"})";
    ReadOptions options;
    options.filters = {{"Correct", "true"}, {"l", "CUDA"}};
    const Dataset data = read_text("d.jsonl", text, options);
    ASSERT_EQ(data.samples.size(), 2u);
    EXPECT_EQ(data.samples[1].response, "r4");
    EXPECT_EQ(data.filtered_records, 2);
    options.filters = {{"l", "HIP"}};
    EXPECT_EQ(error_of_text("e.jsonl", text, options).code(), ErrorCode::bad_value);
}

TEST_F(SampleReader, CsvWithQuotesSeparatorsAndLineEnds) {
    const std::string text =
        "instruction,output,id\r\n\"say \"\"hi\"\", please\",\"int a;\r\nint b;\n\",x1\r\n"
        "two,\"r\",x2\n\nshort,row\nlast,\"never closed";
    const Dataset data = read_text("d.csv", text);
    ASSERT_EQ(data.samples.size(), 2u);
    EXPECT_EQ(data.samples[0].prompt, "say \"hi\", please");
    EXPECT_EQ(data.samples[0].response, "int a;\r\nint b;\n");
    EXPECT_EQ(data.samples[0].id, "x1");
    EXPECT_EQ(data.samples[1].response, "r");
    ASSERT_EQ(data.bad_records.size(), 2u);
    EXPECT_EQ(data.bad_records[0].line, 7);
    EXPECT_THAT(data.bad_records[0].reason, HasSubstr("has 2 fields"));
    EXPECT_EQ(data.bad_records[1].line, 8);
    EXPECT_THAT(data.bad_records[1].reason, HasSubstr("never closed"));
    EXPECT_EQ(read_text("d.tsv", "prompt\tresponse\na, b\tc").samples[0].prompt, "a, b");
    EXPECT_EQ(read_text("s.csv", "prompt;response\na, b;c").samples[0].response, "c");
}

TEST_F(SampleReader, AStopEndsTheReading) {
    control_.request_stop();
    EXPECT_THROW(read_text("d.jsonl", pair_a), Cancelled);
}

// Whatever bytes are damaged: an Error or a Dataset, and every sample has a response of valid
// UTF-8.
TEST_F(SampleReader, DamagedFilesNeverCrash) {
    const std::string seeds[] = {
        "[" + std::string(pair_a) + ",\n" + std::string(pair_b) + "]",
        std::string(pair_a) + "\n"
            + R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "\ud83e\udd13"}]}, )"
            + R"({"role": "assistant", "content": "r"}], "tools": [1]})" + "\n",
        "prompt,response\n\"a \"\"b\"\"\",\"c\nd\"\ne,f\n",
        R"({"ids": [1, 2, 3], "prompt_tokens": 1, "cuda": [1, 0]})"};
    const char* names[] = {"d.json", "d.jsonl", "d.csv", "d.jsonl"};
    const std::string_view bytes("\"\\{}[],:\n\r\0\x80\xff\xf0uNI-0e", 19);
    std::minstd_rand random(7);
    for (int round = 0; round < 4'000; ++round) {
        const std::size_t seed = random() % std::size(seeds);
        std::string text = seeds[seed];
        for (auto n = 1 + random() % 4; n > 0; --n) {
            const std::size_t at = random() % text.size();
            if (random() % 3 == 0)
                text.erase(at, 1 + random() % 20);
            else if (random() % 2 == 0)
                text.insert(at, 1, bytes[random() % bytes.size()]);
            else
                text[at] = bytes[random() % bytes.size()];
            if (text.empty())
                text = "x";
        }
        try {
            for (const Sample& sample : read_text(names[seed], text).samples) {
                EXPECT_TRUE(is_valid_utf8(sample.response + sample.prompt)) << text;
                EXPECT_TRUE(!sample.response.empty() || !sample.prepared.ids.empty()) << text;
            }
        } catch (const Error&) { }
    }
}

// 10,000 records of about 3 KB in under a second is what the window needs; sanitizers are given
// more.
TEST_F(SampleReader, ReadsTenThousandRecordsASecond) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) {
        text += R"({"prompt": "write kernel )" + std::to_string(i) + R"(", "response": ")";
        for (int line = 0; line < 50; ++line)
            text += R"(    sum += x[threadIdx.x + blockIdx.x] * \"y\";\n// \u00e9\n)";
        text += "\"}\n";
    }
    const std::filesystem::path file = folder_.write("big.jsonl", text);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(read(file).samples.size(), 10'000u);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    RecordProperty("seconds", std::to_string(seconds.count()));
    EXPECT_LT(seconds.count(), 10.0);
}

} // namespace
} // namespace cuset
