// Walks the records of data files of every format, one after another, and hands them to a sink.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/run_control.h"
#include "core/io/sample_reader.h"

namespace cuset {

class RecordSink {
public:
    virtual ~RecordSink() = default;
    // A file begins; `id_prefix` names its samples that have no id. Ends before the next begins.
    virtual void begin_file(const std::string& file, const std::string& id_prefix,
                            const std::string& format) = 0;
    virtual void end_file() = 0;
    // `line` counts lines, or rows of Parquet and Arrow, from 1.
    virtual void add_record(const nlohmann::json& record, std::int64_t line, bool repaired) = 0;
    virtual void add_bad(std::int64_t line, const std::string& reason) = 0;
    // A source file: one response. `prompt` comes from the file beside it, or is options.prompt.
    virtual void add_source(std::string text, std::string prompt, bool repaired) = 0;
    virtual void add_warning(const std::string& text) = 0;
    virtual bool wants_more() const { return true; }
};

// Reads all `paths` in order, folders and dataset_info.json files expanded, until the sink has
// enough. Throws Error as read_samples does, but for what the sink decides; Cancelled.
void read_records(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                  RecordSink& sink, RunControl& control);

} // namespace cuset
