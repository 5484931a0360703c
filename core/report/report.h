// The report: one self-contained HTML page with the paper's figures (section 3 of Chen et al.,
// "From Tokens to Regions", Findings of EMNLP 2026, doi 10.18653/2026.findings-emnlp.2045), their
// numbers, where training would push, and coloured samples. It holds no script and asks for nothing
// from elsewhere: its content security policy allows its own stylesheet only, by hash.
#pragma once

#include <string>

#include "core/analysis/corpus_summary.h"
#include "core/analysis/sample_statistics.h"
#include "core/base/run_control.h"

namespace cuset {

struct ReportOptions {
    int samples = 12; // coloured samples, hardest first; 0 .. 1,000
    int tokens_per_sample = 1500; // coloured in each, around its lowest window; 1 .. 100,000
    int table_rows = 500; // rows of the table of samples, hardest first; 0 .. 100,000
    BootstrapOptions bootstrap = {};
    std::string program = {}; // what wrote it, e.g. "cuset 0.1.0"
    std::string source = {}; // the score file's name
    std::string date = {}; // shown as given; without it the page is the same at any time
};

// The page, at the analyzer's settings; the same input gives the same bytes. It is HTML and
// well-formed XML. Sweeps move the analyzer's settings and put them back. At 200 to 400 bytes a
// coloured token, the default page stays under 8 MB. Throws Cancelled, Error(bad_value) for an
// option out of range.
std::string render_report(CorpusAnalyzer& analyzer, const ReportOptions& options,
                          RunControl& control);

} // namespace cuset
