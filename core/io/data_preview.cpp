#include "core/io/data_preview.h"

#include <algorithm>
#include <utility>

#include "core/io/record_reader.h"

namespace cuset {
namespace {

using nlohmann::json;

class PreviewSink : public RecordSink {
public:
    PreviewSink(std::size_t row_count, std::size_t cell_bytes)
        : row_count_(row_count)
        , cell_bytes_(cell_bytes) { }

    void begin_file(const std::string& /*file*/, const std::string& /*id_prefix*/,
                    const std::string& format) override {
        if (preview.format.empty())
            preview.format = format;
    }
    void end_file() override { }
    void add_bad(std::int64_t /*line*/, const std::string& /*reason*/) override { }
    void add_warning(const std::string& /*text*/) override { }
    bool wants_more() const override { return preview.rows.size() < row_count_; }

    void add_record(const json& record, std::int64_t line, bool /*repaired*/) override {
        if (!record.is_object() || !wants_more())
            return;
        begin_row(line);
        for (const auto& [name, value] : record.items())
            set(name,
                value.is_string()     ? value.get<std::string>()
                    : value.is_null() ? std::string()
                                      : value.dump(-1, ' ', false, json::error_handler_t::replace));
    }

    void add_source(std::string text, std::string prompt, bool /*repaired*/) override {
        if (!wants_more())
            return;
        begin_row(0);
        set("prompt", std::move(prompt));
        set("response", std::move(text));
    }

    DataPreview preview;

private:
    void begin_row(std::int64_t line) {
        preview.lines.push_back(line);
        preview.rows.emplace_back(preview.columns.size());
    }

    void set(const std::string& column, std::string text) {
        if (text.size() > cell_bytes_) {
            std::size_t end = cell_bytes_;
            while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
                --end;
            text.resize(end);
            text += "\xe2\x80\xa6"; // an ellipsis
        }
        const auto at = static_cast<std::size_t>(
            std::find(preview.columns.begin(), preview.columns.end(), column)
            - preview.columns.begin());
        if (at == preview.columns.size())
            preview.columns.push_back(column);
        std::vector<std::string>& row = preview.rows.back();
        row.resize(preview.columns.size());
        row[at] = std::move(text);
    }

    std::size_t row_count_;
    std::size_t cell_bytes_;
};

} // namespace

const std::string& DataPreview::cell(std::size_t row, std::size_t column) const {
    static const std::string none;
    return column < rows[row].size() ? rows[row][column] : none;
}

DataPreview preview_data(const std::vector<std::filesystem::path>& paths,
                         const ReadOptions& options, std::size_t row_count, std::size_t cell_bytes,
                         RunControl& control) {
    PreviewSink sink(row_count, cell_bytes);
    read_records(paths, options, sink, control);
    return std::move(sink.preview);
}

} // namespace cuset
