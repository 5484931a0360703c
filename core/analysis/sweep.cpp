#include "core/analysis/sweep.h"

#include <cstdint>
#include <string>

#include "core/analysis/kernels.h"
#include "core/analysis/mask.h"
#include "core/base/error.h"

namespace cuset {
namespace {

// Sums of (1 - c) of one sample, from which its push follows for any lambda and switches.
struct SampleRoom {
    double all = 0, all_sensitive = 0; // what no setting changes
    double cuda = 0, cuda_sensitive = 0; // in CUDA regions
    kernels::PushSums confident; // c > tau
};

std::vector<std::uint8_t> sensitive_flags(const ScoreSet& scores) {
    std::vector<std::uint8_t> flags;
    flags.reserve(static_cast<std::size_t>(scores.token_count()));
    for (const LabelBits bits : scores.columns().labels)
        flags.push_back(is_cuda_sensitive(bits) ? 1 : 0);
    return flags;
}

std::vector<SampleRoom> fixed_room(const CorpusAnalyzer& analyzer) {
    const ScoreSet& scores = *analyzer.scores();
    std::vector<SampleRoom> rooms(static_cast<std::size_t>(scores.sample_count()));
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        SampleRoom& room = rooms[static_cast<std::size_t>(n)];
        for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t) {
            const auto i = static_cast<std::size_t>(t);
            const double rest = 1.0 - static_cast<double>(analyzer.confidence()[i]);
            const LabelBits bits = scores.columns().labels[i];
            const double sensitive = is_cuda_sensitive(bits) ? rest : 0.0;
            room.all += rest;
            room.all_sensitive += sensitive;
            if (is_cuda_masked(bits)) {
                room.cuda += rest;
                room.cuda_sensitive += sensitive;
            }
        }
    }
    return rooms;
}

void set_confident_room(const CorpusAnalyzer& analyzer, const std::vector<std::uint8_t>& sensitive,
                        double tau, std::vector<SampleRoom>& rooms) {
    const ScoreSet& scores = *analyzer.scores();
    analyzer.parallel_for()(scores.sample_count(), [&](std::int64_t n) {
        const auto begin = static_cast<std::size_t>(scores.token_begin(n));
        rooms[static_cast<std::size_t>(n)].confident = kernels::push_sums(
            analyzer.confidence().data() + begin, sensitive.data() + begin,
            static_cast<std::int32_t>(scores.token_end(n) - scores.token_begin(n)),
            static_cast<float>(tau));
    });
}

double sensitive_push_share(std::span<const SampleSummary> rows,
                            const std::vector<SampleRoom>& rooms, const MaskSettings& settings) {
    double total = 0, sensitive = 0;
    for (std::size_t n = 0; n < rooms.size(); ++n) {
        const SampleRoom& room = rooms[n];
        const auto weight = static_cast<double>(rows[n].weight);
        if (!settings.confidence_mask && !settings.cuda_mask) {
            total += weight * room.all;
            sensitive += weight * room.all_sensitive;
            continue;
        }
        const double confident = settings.confidence_mask ? 1.0 : 0.0;
        const double lambda = settings.cuda_mask ? settings.lambda : 0.0;
        total += weight * (confident * room.confident.confident + lambda * room.cuda);
        sensitive += weight
            * (confident * room.confident.confident_sensitive + lambda * room.cuda_sensitive);
    }
    return total > 0 ? sensitive / total : 0.0;
}

// Puts the analyzer back to its settings, also when the sweep is cancelled.
struct Restore {
    CorpusAnalyzer& analyzer;
    MaskSettings settings = analyzer.summary().settings;
    ~Restore() { analyzer.update(settings); }
};

std::vector<MaskSettings> grid_settings(const MaskSettings& base, const SweepGrid& grid) {
    constexpr std::size_t most = 100000;
    if (grid.tau.size() > most || grid.lambda.size() > most || grid.window.size() > most
        || grid.tau.size() * grid.lambda.size() > most
        || grid.tau.size() * grid.lambda.size() * grid.window.size() > most)
        throw Error(ErrorCode::limit, "has more than 100000 points", "sweep grid");
    std::vector<MaskSettings> points;
    for (const double tau : grid.tau)
        for (const double lambda : grid.lambda)
            for (const int window : grid.window) {
                MaskSettings settings = base;
                settings.tau = tau;
                settings.lambda = lambda;
                settings.window = window;
                require_valid(settings);
                points.push_back(settings);
            }
    return points;
}

} // namespace

std::vector<SweepPoint> sweep(CorpusAnalyzer& analyzer, const MaskSettings& base,
                              const SweepGrid& grid, RunControl& control) {
    const std::vector<MaskSettings> settings = grid_settings(base, grid);
    const auto total = static_cast<std::int64_t>(settings.size());
    std::vector<SweepPoint> points;
    if (settings.empty())
        return points;
    const Restore restore{analyzer};
    const std::vector<std::uint8_t> sensitive = sensitive_flags(*analyzer.scores());
    std::vector<SampleRoom> rooms = fixed_room(analyzer);
    double tau = -1;
    for (const MaskSettings& here : settings) {
        control.checkpoint({"sweeping", static_cast<std::int64_t>(points.size()), total, "points"});
        if (here.tau != tau)
            set_confident_room(analyzer, sensitive, tau = here.tau, rooms);
        analyzer.update(here);
        const CorpusSummary& summary = analyzer.summary();
        points.push_back({here, summary.mask, summary.difficulty.mean, summary.weight.mean,
                          sensitive_push_share(analyzer.samples(), rooms, here)});
    }
    control.checkpoint({"sweeping", total, total, "points"});
    return points;
}

} // namespace cuset
