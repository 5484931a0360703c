#include "core/io/sample_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/conversation.h"
#include "core/io/record_reader.h"
#include "core/io/record_recognition.h"

namespace cuset {
namespace {

using nlohmann::json;

constexpr std::size_t max_bad_records = 100'000;
constexpr std::size_t max_bad_before_first_sample = 1'000;

// Collects the samples of all files.
class DatasetBuilder : public RecordSink {
public:
    explicit DatasetBuilder(const ReadOptions& options)
        : options_(options) { }

    void begin_file(const std::string& file, const std::string& id_prefix,
                    const std::string& /*format*/) override {
        file_ = file;
        id_prefix_ = id_prefix;
        samples_before_ = dataset_.samples.size();
        bad_before_ = dataset_.bad_records.size();
        filtered_before_ = dataset_.filtered_records;
    }

    // A data file that gave nothing is an error: the reader would otherwise look at an empty
    // window.
    void end_file() override {
        if (dataset_.samples.size() > samples_before_
            || dataset_.filtered_records > filtered_before_)
            return;
        throw_no_sample();
    }

    void add_bad(std::int64_t line, const std::string& reason) override {
        if (options_.strict)
            throw Error(ErrorCode::bad_format, reason, origin(line));
        dataset_.bad_records.push_back({file_, line, reason});
        const std::size_t in_file = dataset_.bad_records.size() - bad_before_;
        if (in_file >= max_bad_before_first_sample && dataset_.samples.size() == samples_before_)
            throw_no_sample();
        if (dataset_.bad_records.size() > max_bad_records)
            throw Error(ErrorCode::limit,
                        "more than " + format_count(max_bad_records)
                            + " bad records; the last: " + reason,
                        file_);
    }

    void add_record(const json& record, std::int64_t line, bool repaired) override {
        if (!passes_filters(record, options_)) {
            ++dataset_.filtered_records;
            return;
        }
        try {
            Sample sample = sample_from_record(record, options_);
            sample.repaired = repaired;
            note_benchmark(benchmark_of_record(record));
            if (!options_.every_turn)
                return add_sample(std::move(sample), line);
            add_turns(every_turn(sample), line);
        } catch (const Error& error) {
            add_bad(line, error.message());
        }
    }

    void add_source(std::string text, std::string prompt, bool repaired) override {
        if (text.empty())
            return add_bad(0, "no response: the file is empty");
        Sample sample;
        sample.prompt = std::move(prompt);
        sample.response = std::move(text);
        sample.repaired = repaired;
        add_sample(std::move(sample), 0);
    }

    void add_warning(const std::string& text) override { dataset_.warnings.push_back(text); }

    // Samples of one record get its id and their number.
    void add_turns(std::vector<Sample> turns, std::int64_t line) {
        for (std::size_t i = 0; i < turns.size(); ++i) {
            if (turns.size() > 1)
                turns[i].id = id_of(turns[i], line) + ".turn" + std::to_string(i + 1);
            add_sample(std::move(turns[i]), line);
        }
    }

    void add_sample(Sample sample, std::int64_t line) {
        sample.origin = origin(line);
        sample.id = id_of(sample, line);
        make_unique(sample.id);
        if (sample.repaired && ++repaired_ == 1)
            first_repaired_ = sample.origin;
        dataset_.samples.push_back(std::move(sample));
    }

    Dataset finish() {
        if (dataset_.samples.empty() && dataset_.filtered_records > 0)
            throw Error(ErrorCode::bad_value,
                        "none of " + format_count(dataset_.filtered_records)
                            + " records passes the filters",
                        file_);
        if (dataset_.samples.empty()) {
            samples_before_ = bad_before_ = 0;
            throw_no_sample();
        }
        if (repaired_ > 0)
            dataset_.warnings.push_back(
                format_count(repaired_)
                + " samples held invalid UTF-8 or lone surrogates, replaced by U+FFFD; "
                  "the first at "
                + first_repaired_);
        if (renamed_ > 0)
            dataset_.warnings.push_back(
                format_count(renamed_)
                + " samples had an id that another one has; they got \"#2\", ...");
        return std::move(dataset_);
    }

private:
    std::string id_of(const Sample& sample, std::int64_t line) const {
        if (!sample.id.empty())
            return sample.id;
        return line > 0 ? id_prefix_ + ":" + std::to_string(line) : id_prefix_;
    }

    std::string origin(std::int64_t line) const {
        return line > 0 ? file_ + ":" + std::to_string(line) : file_;
    }

    [[noreturn]] void throw_no_sample() const {
        std::string message = "has no usable record";
        if (dataset_.bad_records.size() > bad_before_) {
            const BadRecord& first = dataset_.bad_records[bad_before_];
            const auto count = static_cast<std::int64_t>(dataset_.bad_records.size() - bad_before_);
            message += " (" + format_count(count) + " bad), the first";
            message += (first.line > 0 ? " at line " + std::to_string(first.line) : "") + ": "
                + first.reason;
        }
        throw Error(ErrorCode::bad_format, std::move(message), file_);
    }

    void note_benchmark(const std::string& name) {
        if (name.empty() || dataset_.benchmark_test_set)
            return;
        dataset_.benchmark_test_set = true;
        dataset_.warnings.push_back("the records of " + file_ + " are " + name
                                    + "'s test set: score them, but do not train on them");
    }

    void make_unique(std::string& id) {
        const auto [entry, is_new] = ids_.try_emplace(id, 1);
        if (is_new)
            return;
        ++renamed_;
        std::string other;
        do
            other = id + "#" + std::to_string(++entry->second);
        while (ids_.contains(other));
        ids_.emplace(other, 1);
        id = std::move(other);
    }

    const ReadOptions& options_;
    Dataset dataset_;
    std::string file_;
    std::string id_prefix_;
    std::string first_repaired_;
    std::int64_t repaired_ = 0;
    std::int64_t renamed_ = 0;
    std::unordered_map<std::string, std::int64_t> ids_; // id -> how often it was asked for
    std::size_t samples_before_ = 0;
    std::size_t bad_before_ = 0;
    std::int64_t filtered_before_ = 0;
};

} // namespace

Dataset read_samples(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     RunControl& control) {
    DatasetBuilder builder(options);
    read_records(paths, options, builder, control);
    return builder.finish();
}

} // namespace cuset
