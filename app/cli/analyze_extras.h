// What `cuset analyze` adds to the summary when asked: statistics a reviewer accepts, and exports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/format.h"
#include "app/cli/objective_tables.h"
#include "core/analysis/corpus_summary.h"
#include "core/base/run_control.h"
#include "core/report/sample_export.h"

namespace cuset::cli {

// Bootstrap intervals by sample, KS by token and by sample, effect sizes, push of each objective,
// push by kind, the regions of lowest confidence. At the analyzer's settings.
Json statistics_json(const CorpusAnalyzer& analyzer, const ObjectivePushes& pushes,
                     RunControl& control);
// The same for people, made from that JSON.
void print_statistics(const Json& statistics);

// The samples that an expression lets pass, all for "". Throws Error(bad_value).
std::vector<std::int64_t> filtered_samples(const CorpusAnalyzer& analyzer, const SampleNotes& notes,
                                           const std::string& expression);

// "-" is standard output. Throws Error(disk).
void export_to(const std::string& path, ExportFormat format, const CorpusAnalyzer& analyzer,
               const std::vector<std::int64_t>& samples, const SampleNotes& notes,
               RunControl& control);

} // namespace cuset::cli
