// What the sections of a report are made from.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/objective_weights.h"
#include "core/analysis/sweep.h"
#include "core/report/report.h"

namespace cuset {

struct ReportData {
    const CorpusAnalyzer& analyzer;
    const ReportOptions& options;
    SampleStatistics statistics;
    std::array<ObjectivePush, token_objective_count> push; // in order of TokenObjective
    // Each around the analyzer's settings, which are a point of each.
    std::vector<SweepPoint> by_tau, by_lambda, by_window;
    std::vector<std::int64_t> hardest; // samples that have tokens, lowest C_n first

    const CorpusSummary& summary() const { return analyzer.summary(); }
    const ObjectivePush& cuset_push() const {
        return push[static_cast<std::size_t>(TokenObjective::cuset)];
    }
};

// "memory access"
std::string kind_title(int kind);

// Sections, each an HTML fragment.
std::string key_figures(const ReportData& data);
std::string confidence_section(const ReportData& data);
std::string low_window_section(const ReportData& data);
std::string push_section(const ReportData& data);
std::string sweep_section(const ReportData& data);
std::string sample_table(const ReportData& data);
std::string sample_views(const ReportData& data, RunControl& control);
std::string provenance_section(const ReportData& data);

} // namespace cuset
