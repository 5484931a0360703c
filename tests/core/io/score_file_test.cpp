// Score files: what is written is read back, and no damaged or hostile file gets past opening.
#include "core/io/score_file.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/io/safetensors_file.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Three samples: 2 tokens, none, 1 token; the last token of the first is an end-of-turn token.
std::shared_ptr<const ScoreSet> small_set() {
    ScoreProvenance from{"cuset 0.1", "tiny", "aa", "bb", "", "auto", "float32", "cpu", 4096};
    ScoreSetBuilder builder(from, 2,
                            [](std::int32_t id) { return "<" + std::to_string(id) + ">"; });
    ScoredSample sample;
    sample.sample = {"first \"\xc3\xa9\"", "say hi", "h\xc3\xa9"};
    sample.encoding.ids = {7, 3, 4};
    sample.encoding.spans = {{0, 3}, {3, 3}};
    sample.encoding.response_begin = 1;
    sample.scores = {{-0.5f, -std::numeric_limits<float>::infinity()},
                     {1.5f, 0.0f},
                     {1.25f, 0.0f},
                     {0, 12},
                     2,
                     {3, 9, 9, 8},
                     {-0.5f, -1.0f, -0.1f, -3.0f}};
    sample.labels = {kernel_bit, static_cast<LabelBits>(kernel_bit | launch_bit)};
    builder.add(sample);
    ScoredSample empty;
    empty.sample = {"second", "", "x"};
    empty.scores.top_k = 2;
    builder.add(empty);
    sample.sample = {"third", "p", "r"};
    sample.encoding.ids = {5};
    sample.encoding.spans = {{0, 1}};
    sample.encoding.response_begin = 0;
    sample.scores = {{0.0f}, {0.0f}, {0.0f}, {0}, 2, {5, 6}, {0.0f, -20.0f}};
    sample.labels = {0};
    builder.add(sample);
    return builder.snapshot();
}

class ScoreFile : public ::testing::Test {
protected:
    std::filesystem::path path() const { return folder_.path() / "a.scores.safetensors"; }

    // Writes the small set with its tensors or metadata changed, and returns the message of reading
    // it.
    std::string error_after(
        const std::function<void(std::vector<NamedTensor>&, std::map<std::string, std::string>&)>&
            change) {
        write_score_file(path(), *small_set());
        const std::filesystem::path changed = folder_.path() / "changed.safetensors";
        {
            const SafetensorsFile file(path());
            std::vector<NamedTensor> tensors;
            for (const auto& [name, view] : file.tensors())
                tensors.push_back({name, view});
            std::ranges::stable_sort(tensors, [](const NamedTensor& a, const NamedTensor& b) {
                return dtype_size(a.tensor.dtype) > dtype_size(b.tensor.dtype);
            });
            std::map<std::string, std::string> metadata(file.metadata().begin(),
                                                        file.metadata().end());
            change(tensors, metadata);
            write_safetensors(changed, tensors, metadata);
        }
        try {
            read_score_file(changed);
        } catch (const Error& error) {
            code_ = error.code();
            return error.what();
        }
        return "";
    }

    // The same with one tensor's values replaced.
    template <typename T> std::string error_with(const std::string& name, std::vector<T> values) {
        return error_after([&](auto& tensors, auto&) {
            for (NamedTensor& named : tensors)
                if (named.name == name) {
                    named.tensor.bytes = std::as_bytes(std::span<const T>(values));
                    if (named.tensor.shape.size() == 1)
                        named.tensor.shape = {static_cast<std::int64_t>(values.size())};
                }
        });
    }

    TemporaryFolder folder_;
    ErrorCode code_ = ErrorCode::failure;
};

TEST_F(ScoreFile, RoundTrip) {
    const auto written = small_set();
    write_score_file(path(), *written);
    const auto read = read_score_file(path());
    ASSERT_EQ(read->sample_count(), 3);
    EXPECT_EQ(read->id(0), "first \"\xc3\xa9\"");
    EXPECT_EQ(read->prompt(0), "say hi");
    EXPECT_EQ(read->response(0), "h\xc3\xa9");
    EXPECT_EQ(read->response(1), "x");
    EXPECT_EQ(read->token_begin(1), 2);
    EXPECT_EQ(read->token_end(1), 2);
    const ScoreColumns& columns = read->columns();
    EXPECT_THAT(columns.token_id, ElementsAre(3, 4, 5));
    EXPECT_THAT(columns.log_prob,
                ElementsAre(-0.5f, -std::numeric_limits<float>::infinity(), 0.0f));
    EXPECT_THAT(columns.entropy, ElementsAre(1.5f, 0.0f, 0.0f));
    EXPECT_THAT(columns.entropy_top20, ElementsAre(1.25f, 0.0f, 0.0f));
    EXPECT_THAT(columns.rank, ElementsAre(0, 12, 0));
    EXPECT_EQ(columns.top_k, 2);
    EXPECT_THAT(columns.top_id, ElementsAre(3, 9, 9, 8, 5, 6));
    EXPECT_THAT(columns.top_log_prob, ElementsAre(-0.5f, -1.0f, -0.1f, -3.0f, 0.0f, -20.0f));
    EXPECT_THAT(columns.labels, ElementsAre(1, 3, 0));
    EXPECT_EQ(read->span(1), (ByteSpan{3, 3}));
    EXPECT_EQ(read->token_text(9), "<9>");
    EXPECT_EQ(read->token_text(-1), std::nullopt);
    EXPECT_EQ(read->token_text(7), std::nullopt);
    EXPECT_EQ(read->provenance().model, "tiny");
    EXPECT_EQ(read->provenance().chat_template, "auto");
    EXPECT_EQ(read->provenance().max_length, 4096);
    // Writing what was read gives the same bytes.
    const std::filesystem::path again = folder_.path() / "again.safetensors";
    write_score_file(again, *read);
    EXPECT_TRUE(std::ranges::equal(MappedFile(path()).bytes(), MappedFile(again).bytes()));
    if (const char* keep =
            std::getenv("CUSET_KEEP_SCORE_FILE")) // for tests/reference/score_file_python.py
        std::filesystem::copy_file(path(), keep, std::filesystem::copy_options::overwrite_existing);
}

// The file was written by Python's safetensors: tests/reference/score_file_python.py.
TEST_F(ScoreFile, ReadsWhatPythonWrote) {
    const auto read = read_score_file(std::filesystem::path(CUSET_TEST_DATA) / "io"
                                      / "python.scores.safetensors");
    ASSERT_EQ(read->sample_count(), 2);
    EXPECT_EQ(read->id(1), "second");
    EXPECT_EQ(read->prompt(0), "add \xc3\xa9");
    EXPECT_EQ(read->response(0), "x += 1;");
    EXPECT_EQ(read->response(1), "y");
    EXPECT_THAT(read->columns().token_id, ElementsAre(11, 12, 13));
    EXPECT_THAT(read->columns().log_prob, ElementsAre(-0.25f, -2.5f, 0.0f));
    EXPECT_THAT(read->columns().entropy_top20, ElementsAre(0.5f, 1.5f, 0.25f));
    EXPECT_THAT(read->columns().rank, ElementsAre(0, 3, 0));
    EXPECT_THAT(read->columns().top_id, ElementsAre(11, 1, 2, 3, 13, 4));
    EXPECT_THAT(read->columns().labels, ElementsAre(0, 1, 5));
    EXPECT_EQ(read->span(1), (ByteSpan{1, 7}));
    EXPECT_EQ(read->token_text(11), std::nullopt);
    EXPECT_EQ(read->provenance().max_length, 64);
}

TEST_F(ScoreFile, ASetWithoutSamplesOrAlternatives) {
    ScoreSetBuilder none({}, 0);
    write_score_file(path(), *none.snapshot());
    EXPECT_EQ(read_score_file(path())->sample_count(), 0);
}

TEST_F(ScoreFile, ReplacesTheFileThatItIsMappedFrom) {
    write_score_file(path(), *small_set());
    const auto read = read_score_file(path());
    write_score_file(path(), *read->with_labels({0, 0, 0}));
    EXPECT_EQ(read->columns().labels[0], kernel_bit);
    EXPECT_EQ(read_score_file(path())->columns().labels[0], 0);
}

TEST_F(ScoreFile, RefusesOtherFilesAndVersions) {
    EXPECT_THROW(read_score_file(folder_.path() / "none"), Error);
    EXPECT_THROW(read_score_file(folder_.write("text.safetensors", "hello")), Error);
    EXPECT_THROW(read_score_file(folder_.write("empty.safetensors", "")), Error);
    EXPECT_THAT(error_after([](auto&, auto& metadata) { metadata.erase("format"); }),
                HasSubstr("not a score file"));
    EXPECT_THAT(error_after([](auto&, auto& metadata) { metadata["format_version"] = "2"; }),
                HasSubstr("version \"2\""));
    EXPECT_EQ(code_, ErrorCode::unsupported);
    EXPECT_THAT(error_after([](auto&, auto& metadata) { metadata["max_length"] = "-5"; }),
                HasSubstr("max_length"));
}

TEST_F(ScoreFile, RefusesEveryMissingTensorAndTruncation) {
    write_score_file(path(), *small_set());
    const SafetensorsFile file(path());
    for (const auto& [name, view] : file.tensors()) {
        const std::string message = error_after([&, wanted = name](auto& tensors, auto&) {
            std::erase_if(tensors, [&](const NamedTensor& named) { return named.name == wanted; });
        });
        if (name == "vocab_id")
            EXPECT_EQ(message, ""); // the vocabulary is optional
        else
            EXPECT_THAT(message, HasSubstr(name));
    }
    const auto bytes = MappedFile(path()).bytes().size();
    const std::string whole(reinterpret_cast<const char*>(file.file()->bytes().data()), bytes);
    for (std::size_t size = 0; size < bytes; size += 7)
        EXPECT_THROW(read_score_file(folder_.write("cut.safetensors", whole.substr(0, size))),
                     Error)
            << size;
}

TEST_F(ScoreFile, RefusesWrongTypesShapesAndAlignment) {
    EXPECT_THAT(error_after([](auto& tensors, auto&) {
                    for (NamedTensor& named : tensors)
                        if (named.name == "logprob")
                            named.tensor.dtype = DType::i32;
                }),
                HasSubstr("logprob is I32, needs F32"));
    EXPECT_THAT(error_after([](auto& tensors, auto&) {
                    for (NamedTensor& named : tensors)
                        if (named.name == "top_id")
                            named.tensor.shape = {6};
                }),
                HasSubstr("top_id has 1 dimensions"));
    EXPECT_THAT(error_after([](auto& tensors, auto&) {
                    for (NamedTensor& named : tensors)
                        if (named.name == "top_id")
                            named.tensor.shape = {2, 3};
                }),
                HasSubstr("differ in shape"));
    EXPECT_THAT(error_after([](auto& tensors, auto&) {
                    // Seven bytes of text before everything else.
                    std::ranges::stable_partition(tensors, [](const NamedTensor& named) {
                        return named.name == "prompt_utf8";
                    });
                }),
                HasSubstr("does not begin at a multiple"));
}

TEST_F(ScoreFile, RefusesHostileValues) {
    using I = std::vector<std::int64_t>;
    using S = std::vector<std::int32_t>;
    using F = std::vector<float>;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_THAT(error_with("sample_begin", I{0, 2, 2, 9}), HasSubstr("sample_begin"));
    EXPECT_THAT(error_with("sample_begin", I{0, 3, 2, 3}), HasSubstr("runs backwards"));
    EXPECT_THAT(error_with("sample_begin", I{0, -1, 2, 3}), HasSubstr("runs backwards"));
    EXPECT_THAT(error_with("sample_begin", I{0, 2, 3}), HasSubstr("sample_begin"));
    EXPECT_THAT(error_with("response_begin", I{0, 3, 4, 1'000'000}), HasSubstr("response_begin"));
    EXPECT_THAT(error_with("prompt_begin", I{1, 6, 6, 7}), HasSubstr("prompt_begin"));
    EXPECT_THAT(error_with("byte_end", S{4, 3, 1}), HasSubstr("token 0: span [0, 4)"));
    EXPECT_THAT(error_with("byte_end", S{3, 3, 2}), HasSubstr("sample third"));
    EXPECT_THAT(error_with("byte_begin", S{-1, 3, 0}), HasSubstr("token 0"));
    EXPECT_THAT(error_with("byte_begin", S{0, 3, 2}), HasSubstr("token 0: span [2, 1)"));
    EXPECT_THAT(error_with("byte_begin", S{0, 3}), HasSubstr("byte_begin"));
    EXPECT_THAT(error_with("logprob", F{0, nan, 0}), HasSubstr("token 1"));
    EXPECT_THAT(error_with("logprob", F{0, 0.5f, 0}), HasSubstr("logprob 0.5"));
    EXPECT_THAT(error_with("entropy", F{0, infinity, 0}), HasSubstr("token 1"));
    EXPECT_THAT(error_with("entropy_top20", F{nan, 0, 0}), HasSubstr("token 0"));
    EXPECT_THAT(error_with("entropy", F{0, 0, -0.5f}), HasSubstr("sample third: token 0: entropy"));
    EXPECT_THAT(error_with("entropy_top20", F{0, -1, 0}), HasSubstr("entropy_top20 -1"));
    EXPECT_THAT(error_with("token_id", S{-3, 4, 5}), HasSubstr("token 0: token_id -3"));
    EXPECT_THAT(error_with("rank", S{0, -1, 0}), HasSubstr("token 1: rank -1"));
    EXPECT_THAT(error_with("labels", std::vector<LabelBits>{0, 1 << 10, 0}),
                HasSubstr("token 1: labels 1024"));
    EXPECT_THAT(error_with("top_id", S{1, 2, 3, -4, 5, 6}), HasSubstr("token 1: top_id -4"));
    EXPECT_THAT(error_with("top_logprob", F{0, -1, 0, nan, 0, 0}),
                HasSubstr("token 1: top_logprob"));
    EXPECT_EQ(error_with("entropy", F{0, -1e-5f, 0}), ""); // rounding
    EXPECT_THAT(error_with("vocab_id", S{9, 8, 7, 6, 5, 4}), HasSubstr("vocab_id"));
    EXPECT_EQ(code_, ErrorCode::bad_format);
}

TEST_F(ScoreFile, RefusesTextThatIsNotUtf8) {
    using U = std::vector<unsigned char>;
    EXPECT_THAT(error_with("response_utf8", U{'h', 0xff, 0xff, 'x', 'r'}), HasSubstr("not UTF-8"));
    EXPECT_THAT(error_with("prompt_utf8", U{'s', 'a', 'y', ' ', 'h', 0xc3, 'p'}),
                HasSubstr("not UTF-8"));
}

// Whatever bytes are damaged: refused, or every user's way through the set stays inside.
TEST_F(ScoreFile, DamagedFilesNeverLeadOutside) {
    write_score_file(path(), *small_set());
    const std::string whole = read_file(path(), 1 << 20);
    std::minstd_rand random(11);
    int opened = 0;
    for (int round = 0; round < 3'000; ++round) {
        std::string text = whole;
        for (auto n = 1 + random() % 3; n > 0; --n)
            text[random() % text.size()] = static_cast<char>(random());
        try {
            const auto read = read_score_file(folder_.write("damaged.safetensors", text));
            ++opened;
            for (std::int64_t n = 0; n < read->sample_count(); ++n)
                for (std::int64_t t = read->token_begin(n); t < read->token_end(n); ++t) {
                    const ByteSpan span = read->span(t);
                    EXPECT_LE(span.size(), 3);
                    EXPECT_NO_THROW(
                        read->response(n).substr(static_cast<std::size_t>(span.begin), 3));
                    read->token_text(read->columns().top_id[static_cast<std::size_t>(t) * 2]);
                }
        } catch (const Error&) { }
    }
    EXPECT_GT(opened, 0); // damage of a score is no damage of the file
}

TEST_F(ScoreFile, RefusesWrongIds) {
    const char* values[] = {"",
                            "[",
                            "{}",
                            "[1, 2, 3]",
                            R"(["a", "b"])",
                            R"(["a", "b", "c", "d"])",
                            R"(["a", "b", "a"])"};
    for (const char* value : values)
        EXPECT_NE(error_after([&](auto&, auto& metadata) { metadata["ids"] = value; }), "")
            << value;
    EXPECT_THAT(error_after([](auto&, auto& metadata) { metadata["ids"] = R"(["a", "b", "a"])"; }),
                HasSubstr("two samples have the id \"a\""));
}

TEST_F(ScoreFile, TheWriterRefusesWhatTheReaderWould) {
    ScoreSetBuilder builder({}, 0);
    ScoredSample sample;
    sample.sample.id = "same";
    builder.add(sample);
    builder.add(sample);
    EXPECT_THROW(write_score_file(path(), *builder.snapshot()), Error);
    EXPECT_FALSE(std::filesystem::exists(path()));
}

// 5 M tokens in 5,000 samples open in under 0.1 s on the reference machine; sanitizers are given
// more.
TEST_F(ScoreFile, OpensFast) {
    constexpr std::size_t samples = 5'000;
    constexpr std::size_t tokens = 5'000'000;
    struct Columns {
        std::vector<std::int64_t> sample_begin, prompt_begin, response_begin;
        std::vector<std::int32_t> ints = std::vector<std::int32_t>(tokens, 0);
        std::vector<float> floats = std::vector<float>(tokens, -0.25f);
        std::vector<float> entropies = std::vector<float>(tokens, 0.25f);
        std::vector<LabelBits> labels = std::vector<LabelBits>(tokens, 1);
        std::string responses;
    } store;
    std::vector<std::string> ids;
    for (std::size_t n = 0; n <= samples; ++n) {
        store.sample_begin.push_back(static_cast<std::int64_t>(n * (tokens / samples)));
        store.prompt_begin.push_back(0);
        store.response_begin.push_back(static_cast<std::int64_t>(n * 3'000));
        if (n < samples)
            ids.push_back("sample " + std::to_string(n));
    }
    store.responses.assign(samples * 3'000, 'x');
    ScoreColumns columns;
    columns.sample_begin = store.sample_begin;
    columns.prompt_begin = store.prompt_begin;
    columns.response_begin = store.response_begin;
    columns.token_id = columns.rank = columns.byte_begin = columns.byte_end = columns.top_id =
        store.ints;
    columns.log_prob = columns.top_log_prob = store.floats;
    columns.entropy = columns.entropy_top20 = store.entropies;
    columns.top_k = 1;
    columns.labels = store.labels;
    columns.response_utf8 = store.responses;
    write_score_file(path(), ScoreSet(columns, ids, {}, nullptr));

    const auto begin = std::chrono::steady_clock::now();
    const auto read = read_score_file(path());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(read->token_count(), static_cast<std::int64_t>(tokens));
    RecordProperty("seconds", std::to_string(seconds.count()));
    EXPECT_LT(seconds.count(), 1.0);
}

} // namespace
} // namespace cuset
