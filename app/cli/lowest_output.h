// `cuset analyze --lowest`: the tokens, lines, statements, windows or regions of lowest confidence.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/format.h"
#include "core/analysis/lowest_units.h"

namespace cuset::cli {

struct LowestOptions {
    std::size_t count = 0; // 0: not asked for
    std::string unit = "statement";
    std::string aggregate = "mean";
    std::string kind; // "": all
    std::int32_t least_tokens = 0; // 0: the unit's own
    const CLI::Option* unit_given = nullptr; // knows whether it was

    // With --per-sample: a column with each sample's lowest stretch was asked for.
    bool by_sample() const { return unit_given && unit_given->count() > 0 && count == 0; }
    Aggregate how() const;
    std::string column() const { return "lowest_" + unit + '_' + aggregate; }
};

// --lowest --unit --aggregate --kind --least-tokens
void add_lowest_options(CLI::App& command, LowestOptions& options);

// Empty if it was not asked for.
std::vector<LowUnit> find_lowest(const CorpusAnalyzer& analyzer, const LowestOptions& options,
                                 RunControl& control);

// [N]: each sample's lowest stretch; empty if it was not asked for.
std::vector<SpanConfidence> find_lowest_of_samples(const CorpusAnalyzer& analyzer,
                                                   const LowestOptions& options,
                                                   RunControl& control);

Json lowest_json(const ScoreSet& scores, std::span<const LowUnit> units);
std::string lowest_json_lines(const ScoreSet& scores, std::span<const LowUnit> units);
void print_lowest(const ScoreSet& scores, std::span<const LowUnit> units,
                  const LowestOptions& options);

} // namespace cuset::cli
