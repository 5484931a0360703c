#include "core/io/record_reader.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/columnar_file.h"
#include "core/io/csv_reader.h"
#include "core/io/data_format.h"
#include "core/io/dataset_info.h"
#include "core/io/json_lines.h"
#include "core/io/json_records.h"
#include "core/io/json_text.h"
#include "core/io/source_files.h"
#include "core/io/text_source.h"
#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view dataset_info_name = "dataset_info.json";

std::string too_long_reason() {
    return "longer than " + format_bytes(max_record_bytes) + ", the longest record that is read";
}

// The list of records that an object with a single list of objects, or a list, holds.
const json* find_container(const json& value) {
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

std::string format_name(DataFormat format, std::string_view start) {
    switch (format) {
    case DataFormat::json_lines:
        return "JSON Lines";
    case DataFormat::json_document:
        return "JSON";
    case DataFormat::csv:
        return "CSV";
    case DataFormat::source:
        return "source";
    case DataFormat::columnar:
        break;
    }
    return columnar_format(start) == ColumnarFormat::parquet ? "Parquet" : "Arrow";
}

// Reads one file into the sink.
class FileWalk {
public:
    FileWalk(const DataFile& file, const ColumnMap* map, const ReadOptions& options,
             RecordSink& sink, RunControl& control)
        : file_(file)
        , map_(map)
        , options_(options)
        , sink_(sink)
        , control_(control)
        , source_(file.path, control) { }

    void run() {
        const std::string suffix = lower_suffix(file_.path);
        const DataFormat format = find_data_format(source_, suffix);
        sink_.begin_file(source_.name(), file_.id, format_name(format, source_.pending()));
        switch (format) {
        case DataFormat::source:
            read_source();
            return; // a folder may hold an empty source file beside others
        case DataFormat::csv:
            read_csv(suffix == ".tsv" ? '\t' : '\0');
            break;
        case DataFormat::json_lines:
            read_json_lines();
            break;
        case DataFormat::json_document:
            read_json_document();
            break;
        case DataFormat::columnar:
            read_columnar(*columnar_format(source_.pending()));
            break;
        }
        sink_.end_file();
    }

private:
    void add_record(const json& record, std::int64_t line, bool repaired) {
        if (map_ != nullptr)
            sink_.add_record(map_->apply(record), line, repaired);
        else
            sink_.add_record(record, line, repaired);
    }

    // A record, or a container of records: {"train": [...]} or [...].
    void add_json(std::string_view text, std::int64_t line) {
        ParsedJson parsed;
        try {
            parsed = parse_json_text(text);
        } catch (const Error& error) {
            return sink_.add_bad(line, error.message());
        }
        const json* list = find_container(parsed.value);
        if (list == nullptr)
            return add_record(parsed.value, line, parsed.repaired);
        for (const json& element : *list)
            add_record(element, line, parsed.repaired);
    }

    void read_json_lines() {
        LineReader lines(source_);
        while (const std::optional<TextLine> line = next(lines)) {
            if (line->too_long)
                sink_.add_bad(line->number, too_long_reason());
            else if (line->text.find_first_not_of(" \t\r") != std::string_view::npos)
                add_json(line->text, line->number);
        }
    }

    void read_json_document() {
        JsonPieceReader pieces(source_);
        while (const std::optional<JsonPiece> piece = next(pieces)) {
            if (piece->too_long)
                sink_.add_bad(piece->line, too_long_reason());
            else
                add_json(piece->text, piece->line);
        }
    }

    void read_csv(char separator) {
        CsvReader rows(source_, separator);
        std::optional<CsvRow> header = rows.next();
        if (!header)
            return;
        for (std::string& name : header->fields)
            repair_utf8(name);
        while (std::optional<CsvRow> row = next(rows)) {
            if (row->fault.empty() && row->fields.size() != header->fields.size())
                row->fault = "has " + std::to_string(row->fields.size())
                    + " fields, the header names " + std::to_string(header->fields.size());
            if (!row->fault.empty()) {
                sink_.add_bad(row->line, row->fault);
                continue;
            }
            json record = json::object();
            bool repaired = false;
            for (std::size_t i = 0; i < row->fields.size(); ++i) {
                repaired = repair_utf8(row->fields[i]) || repaired;
                record[header->fields[i]] = std::move(row->fields[i]);
            }
            add_record(record, row->line, repaired);
        }
    }

    void read_columnar(ColumnarFormat format) {
        if (file_.path == "-")
            throw Error(ErrorCode::unsupported,
                        "Parquet and Arrow cannot be read from a pipe: give the file's path",
                        "standard input");
        const std::unique_ptr<ColumnarRows> rows =
            open_columnar(file_.path, format, max_record_bytes);
        std::int64_t number = 0;
        while (const std::optional<ColumnarRow> row = next(*rows)) {
            control_.checkpoint({"reading rows", number, rows->row_count()});
            ++number;
            if (row->too_long)
                sink_.add_bad(number, too_long_reason());
            else
                add_record(row->record, number, row->repaired);
        }
    }

    void read_source() {
        if (source_.peek(max_record_bytes + 1).size() > max_record_bytes)
            return sink_.add_bad(0, too_long_reason());
        std::string text(source_.pending());
        std::string prompt = options_.prompt.empty() ? prompt_beside() : options_.prompt;
        repair_utf8(prompt);
        const bool repaired = repair_utf8(text);
        sink_.add_source(std::move(text), std::move(prompt), repaired);
    }

    // The text of kernel.prompt.txt, kernel.prompt.md, kernel.txt or kernel.md beside kernel.cu.
    std::string prompt_beside() const {
        static constexpr std::array<const char*, 4> endings{".prompt.txt", ".prompt.md", ".txt",
                                                            ".md"};
        if (file_.path == "-")
            return {};
        for (const char* ending : endings) {
            fs::path beside = file_.path;
            beside.replace_extension();
            beside += ending;
            std::error_code ignored; // not there
            if (fs::is_regular_file(beside, ignored))
                return read_file(beside, max_record_bytes);
        }
        return {};
    }

    template <typename Reader> auto next(Reader& reader) -> decltype(reader.next()) {
        if (!sink_.wants_more())
            return std::nullopt;
        return reader.next();
    }

    const DataFile& file_;
    const ColumnMap* map_;
    const ReadOptions& options_;
    RecordSink& sink_;
    RunControl& control_;
    TextSource source_;
};

// Reads the data sets that a dataset_info.json names; false if the file is none.
bool read_named_datasets(const fs::path& path, const ReadOptions& options, RecordSink& sink,
                         RunControl& control) {
    if (path.filename() != dataset_info_name)
        return false;
    const json document = parse_json_text(read_file(path, max_record_bytes)).value;
    if (!is_dataset_info(document))
        return false;
    std::vector<std::string> left_out;
    for (const NamedDataset& dataset : read_dataset_info(document, path, options.dataset, left_out))
        for (const DataFile& file : list_data_files(dataset.path))
            if (sink.wants_more())
                FileWalk(file, &dataset.map, options, sink, control).run();
    if (!left_out.empty())
        sink.add_warning(format_count(static_cast<std::int64_t>(left_out.size())) + " data sets of "
                         + path.string() + " are not local files and were left out, the first: "
                         + printable(left_out.front(), 60));
    return true;
}

} // namespace

void read_records(const std::vector<fs::path>& paths, const ReadOptions& options, RecordSink& sink,
                  RunControl& control) {
    if (paths.empty())
        throw Error(ErrorCode::usage, "no data file is given");
    for (const fs::path& path : paths) {
        if (read_named_datasets(path, options, sink, control))
            continue;
        for (const DataFile& file : list_data_files(path))
            if (sink.wants_more())
                FileWalk(file, nullptr, options, sink, control).run();
    }
}

} // namespace cuset
