#include "core/analysis/sweep.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
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

// With the CUDA mask every CUDA token is supervised; without any mask every token is; with the
// confidence mask alone they have to be counted.
double supervised_cuda_share(const CorpusAnalyzer& analyzer, const MaskSettings& settings) {
    const MaskSummary& mask = analyzer.summary().mask;
    if (!(mask.supervised_share > 0))
        return 0;
    if (settings.cuda_mask || !settings.confidence_mask)
        return mask.cuda_share / mask.supervised_share;
    const ScoreSet& scores = *analyzer.scores();
    const auto tau = static_cast<float>(settings.tau);
    std::atomic<std::int64_t> both{0};
    analyzer.parallel_for()(scores.sample_count(), [&](std::int64_t n) {
        std::int64_t own = 0;
        for (auto t = static_cast<std::size_t>(scores.token_begin(n));
             t < static_cast<std::size_t>(scores.token_end(n)); ++t)
            own += analyzer.confidence()[t] > tau && is_cuda_masked(scores.columns().labels[t]);
        both += own;
    });
    return static_cast<double>(both) / static_cast<double>(scores.token_count())
        / mask.supervised_share;
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
    std::vector<SweepPoint> points(settings.size());
    if (settings.empty())
        return points;
    const Restore restore{analyzer};
    const std::vector<std::uint8_t> sensitive = sensitive_flags(*analyzer.scores());
    std::vector<SampleRoom> rooms = fixed_room(analyzer);
    const std::size_t windows = grid.window.size();
    std::int64_t done = 0;
    double tau = -1;
    for (std::size_t window = 0; window < windows; ++window)
        for (std::size_t i = window; i < points.size(); i += windows) {
            control.checkpoint({"sweeping", done++, total, "points"});
            const MaskSettings& here = settings[i];
            if (here.tau != tau)
                set_confident_room(analyzer, sensitive, tau = here.tau, rooms);
            analyzer.update(here);
            const CorpusSummary& summary = analyzer.summary();
            points[i] = {here,
                         summary.mask,
                         summary.difficulty.mean,
                         summary.weight.mean,
                         sensitive_push_share(analyzer.samples(), rooms, here),
                         supervised_cuda_share(analyzer, here)};
        }
    control.checkpoint({"sweeping", total, total, "points"});
    return points;
}

SweepGrid with_settings(SweepGrid grid, const MaskSettings& settings) {
    const auto insert = [](auto& values, auto value) {
        const auto at = std::lower_bound(values.begin(), values.end(), value);
        if (at == values.end() || *at != value)
            values.insert(at, value);
    };
    insert(grid.tau, settings.tau);
    insert(grid.lambda, settings.lambda);
    insert(grid.window, settings.window);
    return grid;
}

SweepGrid surface_grid(const MaskSettings& base) {
    return with_settings({{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9},
                          {0.25, 0.5, 1, 2, 4, 8},
                          {16, 32, 64, 128, 256, 512, 1024}},
                         base);
}

double sweep_figure(const SweepPoint& point, SweepFigure figure) {
    switch (figure) {
    case SweepFigure::supervised_share:
        return point.mask.supervised_share;
    case SweepFigure::supervised_cuda_share:
        return point.supervised_cuda_share;
    case SweepFigure::mean_weight:
        return point.mean_weight;
    case SweepFigure::push_sensitive:
        return point.push_sensitive;
    case SweepFigure::mean_mask:
        return point.mask.mean_mask;
    case SweepFigure::confident_share:
        return point.mask.confident_share;
    case SweepFigure::cuda_share:
        return point.mask.cuda_share;
    case SweepFigure::mean_difficulty:
        break;
    }
    return point.mean_difficulty;
}

double axis_value(const MaskSettings& settings, SweepAxis axis) {
    switch (axis) {
    case SweepAxis::tau:
        return settings.tau;
    case SweepAxis::lambda:
        return settings.lambda;
    case SweepAxis::window:
        break;
    }
    return settings.window;
}

std::vector<double> axis_values(const SweepGrid& grid, SweepAxis axis) {
    switch (axis) {
    case SweepAxis::tau:
        return grid.tau;
    case SweepAxis::lambda:
        return grid.lambda;
    case SweepAxis::window:
        break;
    }
    return {grid.window.begin(), grid.window.end()};
}

double axis_distance(const MaskSettings& a, const MaskSettings& b, SweepAxis axis) {
    const double first = axis_value(a, axis), second = axis_value(b, axis);
    return axis == SweepAxis::tau ? std::abs(first - second)
                                  : std::abs(std::log2(first) - std::log2(second));
}

MaskSettings with_axis(MaskSettings settings, SweepAxis axis, double value) {
    switch (axis) {
    case SweepAxis::tau:
        settings.tau = value;
        break;
    case SweepAxis::lambda:
        settings.lambda = value;
        break;
    case SweepAxis::window:
        settings.window = static_cast<int>(std::lround(value));
        break;
    }
    return settings;
}

SweepAxis third_axis(SweepAxis x, SweepAxis y) {
    assert(x != y);
    return static_cast<SweepAxis>(sweep_axis_count - static_cast<int>(x) - static_cast<int>(y));
}

SweepPlane sweep_plane(const SweepGrid& grid, SweepAxis x, SweepAxis y, std::size_t held) {
    SweepPlane plane{x, y, axis_values(grid, x), axis_values(grid, y), {}};
    assert(held < axis_values(grid, third_axis(x, y)).size());
    std::array<std::size_t, sweep_axis_count> at{};
    at[static_cast<std::size_t>(third_axis(x, y))] = held;
    for (std::size_t row = 0; row < plane.y_values.size(); ++row)
        for (std::size_t column = 0; column < plane.x_values.size(); ++column) {
            at[static_cast<std::size_t>(x)] = column;
            at[static_cast<std::size_t>(y)] = row;
            plane.points.push_back((at[0] * grid.lambda.size() + at[1]) * grid.window.size()
                                   + at[2]);
        }
    return plane;
}

} // namespace cuset
