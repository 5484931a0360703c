#include "core/io/sample_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/csv_reader.h"
#include "core/io/data_format.h"
#include "core/io/json_lines.h"
#include "core/io/json_records.h"
#include "core/io/json_text.h"
#include "core/io/record_recognition.h"
#include "core/io/source_files.h"
#include "core/io/text_source.h"
#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

using nlohmann::json;

constexpr std::size_t max_bad_records = 100'000;
constexpr std::size_t max_bad_before_first_sample = 1'000;

// Collects the samples of all files.
class DatasetBuilder {
public:
    explicit DatasetBuilder(const ReadOptions& options)
        : options_(options) { }

    void begin_file(const std::string& file, const std::string& id_prefix) {
        file_ = file;
        id_prefix_ = id_prefix;
        samples_before_ = dataset_.samples.size();
        bad_before_ = dataset_.bad_records.size();
        filtered_before_ = dataset_.filtered_records;
    }

    // A data file that gave nothing is an error: the reader would otherwise look at an empty
    // window.
    void end_file() {
        if (dataset_.samples.size() > samples_before_
            || dataset_.filtered_records > filtered_before_)
            return;
        throw_no_sample();
    }

    void add_bad(std::int64_t line, const std::string& reason) {
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

    void add_json(std::string_view text, std::int64_t line) {
        try {
            const ParsedJson parsed = parse_json_text(text);
            add_value(parsed.value, line, parsed.repaired);
        } catch (const Error& error) {
            add_bad(line, error.message());
        }
    }

    // A record, or a container of records: {"train": [...]} or [...].
    void add_value(const json& value, std::int64_t line, bool repaired) {
        const json* list = find_container(value);
        if (list == nullptr)
            return add_record(value, line, repaired);
        for (const json& element : *list)
            add_record(element, line, repaired);
    }

    void add_record(const json& record, std::int64_t line, bool repaired) {
        if (!passes_filters(record, options_)) {
            ++dataset_.filtered_records;
            return;
        }
        try {
            Sample sample = sample_from_record(record, options_);
            sample.repaired = repaired;
            note_benchmark(benchmark_of_record(record));
            add_sample(std::move(sample), line);
        } catch (const Error& error) {
            add_bad(line, error.message());
        }
    }

    void add_sample(Sample sample, std::int64_t line) {
        sample.origin = origin(line);
        if (sample.id.empty())
            sample.id = line > 0 ? id_prefix_ + ":" + std::to_string(line) : id_prefix_;
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

    // The list of records that an object with a single list of objects, or a list, holds.
    static const json* find_container(const json& value) {
        if (value.is_array() && !value.empty() && value.front().is_object())
            return &value;
        if (!value.is_object() || value.size() > 4)
            return nullptr;
        for (const char* name :
             {"data", "train", "samples", "records", "examples", "rows", "instances"})
            if (const auto found = value.find(name); found != value.end() && found->is_array()
                && !found->empty() && found->front().is_object())
                return &*found;
        return nullptr;
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

std::string too_long_reason() {
    return "longer than " + format_bytes(max_record_bytes) + ", the longest record that is read";
}

void read_json_lines(TextSource& source, DatasetBuilder& builder) {
    LineReader lines(source);
    while (const std::optional<TextLine> line = lines.next()) {
        if (line->too_long)
            builder.add_bad(line->number, too_long_reason());
        else if (line->text.find_first_not_of(" \t\r") != std::string_view::npos)
            builder.add_json(line->text, line->number);
    }
}

void read_json_document(TextSource& source, DatasetBuilder& builder) {
    JsonPieceReader pieces(source);
    while (const std::optional<JsonPiece> piece = pieces.next()) {
        if (piece->too_long)
            builder.add_bad(piece->line, too_long_reason());
        else
            builder.add_json(piece->text, piece->line);
    }
}

void read_csv(TextSource& source, char separator, DatasetBuilder& builder) {
    CsvReader rows(source, separator);
    std::optional<CsvRow> header = rows.next();
    if (!header)
        return;
    for (std::string& name : header->fields)
        repair_utf8(name);
    while (std::optional<CsvRow> row = rows.next()) {
        if (row->fault.empty() && row->fields.size() != header->fields.size())
            row->fault = "has " + std::to_string(row->fields.size()) + " fields, the header names "
                + std::to_string(header->fields.size());
        if (!row->fault.empty()) {
            builder.add_bad(row->line, row->fault);
            continue;
        }
        json record = json::object();
        bool repaired = false;
        for (std::size_t i = 0; i < row->fields.size(); ++i) {
            repaired = repair_utf8(row->fields[i]) || repaired;
            record[header->fields[i]] = std::move(row->fields[i]);
        }
        builder.add_record(record, row->line, repaired);
    }
}

void read_source(TextSource& source, const ReadOptions& options, DatasetBuilder& builder) {
    if (source.peek(max_record_bytes + 1).size() > max_record_bytes)
        return builder.add_bad(0, too_long_reason());
    Sample sample;
    sample.prompt = options.prompt;
    repair_utf8(sample.prompt);
    sample.response = source.pending();
    sample.repaired = repair_utf8(sample.response);
    if (sample.response.empty())
        return builder.add_bad(0, "no response: the file is empty");
    builder.add_sample(std::move(sample), 0);
}

void read_file(const DataFile& file, const ReadOptions& options, RunControl& control,
               DatasetBuilder& builder) {
    TextSource source(file.path, control);
    builder.begin_file(source.name(), file.id);
    const std::string suffix = lower_suffix(file.path);
    switch (find_data_format(source, suffix)) {
    case DataFormat::source:
        return read_source(source, options, builder);
    case DataFormat::csv:
        read_csv(source, suffix == ".tsv" ? '\t' : '\0', builder);
        break;
    case DataFormat::json_lines:
        read_json_lines(source, builder);
        break;
    case DataFormat::json_document:
        read_json_document(source, builder);
        break;
    }
    builder.end_file();
}

} // namespace

Dataset read_samples(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     RunControl& control) {
    if (paths.empty())
        throw Error(ErrorCode::usage, "no data file is given");
    DatasetBuilder builder(options);
    for (const std::filesystem::path& path : paths)
        for (const DataFile& file : list_data_files(path))
            read_file(file, options, control, builder);
    return builder.finish();
}

} // namespace cuset
