// Sweeps: a corpus' figures over a grid of tau, lambda and window.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/analysis/corpus_summary.h"

namespace cuset {

struct SweepGrid {
    std::vector<double> tau{0.1, 0.3, 0.5, 0.7, 0.9};
    std::vector<double> lambda{0.5, 1, 2, 4};
    std::vector<int> window{64, 128, 256, 512};
};

struct SweepPoint {
    MaskSettings settings;
    MaskSummary mask;
    double mean_difficulty = 0;
    double mean_weight = 0;
    // Share of the corpus' total push (w M (1 - c)) that falls on sensitive tokens.
    double push_sensitive = 0;
    // Of the supervised tokens (M > 0), the share in CUDA regions (Eq. 3).
    double supervised_cuda_share = 0;
};

// The full grid around `base` (its switches are kept), in this order: tau outermost, window
// innermost. It is computed window by window, the dearest change first. The analyzer is put back
// to its settings. Throws Cancelled, Error(bad_value) for a value out of range, Error(limit) for
// over 100,000 points.
std::vector<SweepPoint> sweep(CorpusAnalyzer& analyzer, const MaskSettings& base,
                              const SweepGrid& grid, RunControl& control);

// A grid wide enough for a what-if surface: `base`'s own values are among its own.
SweepGrid surface_grid(const MaskSettings& base);
// The grid with `settings`' values put in their places.
SweepGrid with_settings(SweepGrid grid, const MaskSettings& settings);

// What a sweep gives for each point, by the names of the file formats.
enum class SweepFigure : std::uint8_t {
    supervised_share,
    supervised_cuda_share,
    mean_weight,
    push_sensitive,
    mean_mask,
    confident_share,
    cuda_share,
    mean_difficulty,
};
inline constexpr int sweep_figure_count = 8;
inline constexpr std::array<std::string_view, sweep_figure_count> sweep_figure_names{
    "supervised_share", "supervised_cuda_share", "mean_weight", "push_sensitive",
    "mean_mask",        "confident_share",       "cuda_share",  "mean_difficulty"};
double sweep_figure(const SweepPoint& point, SweepFigure figure);

enum class SweepAxis : std::uint8_t { tau, lambda, window };
inline constexpr int sweep_axis_count = 3;
inline constexpr std::array<std::string_view, sweep_axis_count> sweep_axis_names{"tau", "lambda",
                                                                                 "window"};
double axis_value(const MaskSettings& settings, SweepAxis axis);
std::vector<double> axis_values(const SweepGrid& grid, SweepAxis axis);
// How far apart two settings are on the axis as it is drawn: tau as it is, the others as log2.
double axis_distance(const MaskSettings& a, const MaskSettings& b, SweepAxis axis);
// `settings` with another value on that axis; a window is rounded.
MaskSettings with_axis(MaskSettings settings, SweepAxis axis, double value);

// A plane of a sweep's grid: one value for each pair of two axes' values, the third held.
struct SweepPlane {
    SweepAxis x = SweepAxis::tau, y = SweepAxis::lambda;
    std::vector<double> x_values, y_values; // [X], [Y]
    std::vector<std::size_t> points; // [Y,X] indices into the sweep's points
};
// `points` as sweep() gave them for `grid`; x and y differ; `held` indexes the third axis' values.
SweepPlane sweep_plane(const SweepGrid& grid, SweepAxis x, SweepAxis y, std::size_t held);
SweepAxis third_axis(SweepAxis x, SweepAxis y);

} // namespace cuset
