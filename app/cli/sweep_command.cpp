// cuset sweep: the corpus' figures over a grid of tau, lambda and window.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "app/cli/format.h"
#include "app/cli/progress.h"
#include "app/cli/scored_data.h"
#include "core/analysis/sweep.h"
#include "core/analysis/worker_pool.h"
#include "core/base/error.h"
#include "core/io/atomic_file.h"

namespace cuset::cli {
namespace {

struct SweepCommand {
    ScoredDataOptions data;
    MaskSettings settings; // its switches
    SweepGrid grid;
    std::string figure;
    std::string output;
    bool surface = false;
    bool json = false;
};

std::string text_of(SweepFigure figure) {
    return std::string(sweep_figure_names[static_cast<std::size_t>(figure)]);
}
std::string text_of(SweepAxis axis) {
    return std::string(sweep_axis_names[static_cast<std::size_t>(axis)]);
}

// Shortest text that reads back as the same number.
std::string number(double value) {
    return Json(value).dump();
}

Json points_json(const std::vector<SweepPoint>& points) {
    Json list = Json::array();
    for (const SweepPoint& point : points) {
        Json entry{{"tau", point.settings.tau},
                   {"lambda", point.settings.lambda},
                   {"window", point.settings.window}};
        for (int i = 0; i < sweep_figure_count; ++i) {
            const auto figure = static_cast<SweepFigure>(i);
            entry[text_of(figure)] = sweep_figure(point, figure);
        }
        list.push_back(std::move(entry));
    }
    return list;
}

std::string points_csv(const std::vector<SweepPoint>& points) {
    std::string out = "tau,lambda,window";
    for (const std::string_view name : sweep_figure_names)
        out += ',' + std::string(name);
    out += "\r\n";
    for (const SweepPoint& point : points) {
        out += number(point.settings.tau) + ',' + number(point.settings.lambda) + ','
            + std::to_string(point.settings.window);
        for (int i = 0; i < sweep_figure_count; ++i)
            out += ',' + number(sweep_figure(point, static_cast<SweepFigure>(i)));
        out += "\r\n";
    }
    return out;
}

void print_points(const std::vector<SweepPoint>& points) {
    std::vector<std::vector<std::string>> rows;
    for (const SweepPoint& point : points)
        rows.push_back({fixed(point.settings.tau, 2), fixed(point.settings.lambda, 2),
                        std::to_string(point.settings.window), percent(point.mask.confident_share),
                        percent(point.mask.supervised_share), percent(point.supervised_cuda_share),
                        fixed(point.mask.mean_mask, 3), fixed(point.mean_weight),
                        percent(point.push_sensitive)});
    print_table({"tau", "lambda", "window", "confident", "supervised", "CUDA of these", "mean M",
                 "mean w", "push on sensitive"},
                rows);
}

// The plane that a grid with two axes of several values is; the axis with most values runs right.
SweepPlane plane_of(const SweepGrid& grid) {
    std::vector<SweepAxis> axes{SweepAxis::tau, SweepAxis::lambda, SweepAxis::window};
    std::stable_sort(axes.begin(), axes.end(), [&](SweepAxis a, SweepAxis b) {
        return axis_values(grid, a).size() > axis_values(grid, b).size();
    });
    if (axis_values(grid, axes[2]).size() != 1)
        throw Error(ErrorCode::usage,
                    "prints a table of two axes: give one of --tau, --lambda and --window a single "
                    "value",
                    "--figure");
    return sweep_plane(grid, axes[0], axes[1], 0);
}

Json plane_json(const SweepPlane& plane, const std::vector<SweepPoint>& points,
                SweepFigure figure) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < plane.y_values.size(); ++row) {
        Json line = Json::array();
        for (std::size_t column = 0; column < plane.x_values.size(); ++column)
            line.push_back(
                sweep_figure(points[plane.points[row * plane.x_values.size() + column]], figure));
        rows.push_back(std::move(line));
    }
    const SweepAxis held = third_axis(plane.x, plane.y);
    return {{"figure", text_of(figure)},
            {"x", {{"axis", text_of(plane.x)}, {"values", plane.x_values}}},
            {"y", {{"axis", text_of(plane.y)}, {"values", plane.y_values}}},
            {"held", {{"axis", text_of(held)}, {"value", axis_value(points[0].settings, held)}}},
            {"values", std::move(rows)}};
}

void print_plane(const Json& plane) {
    std::vector<std::string> header{plane["y"]["axis"].get<std::string>() + " \\ "
                                    + plane["x"]["axis"].get<std::string>()};
    for (const Json& x : plane["x"]["values"])
        header.push_back(x.dump());
    std::vector<std::vector<std::string>> rows;
    for (std::size_t row = 0; row < plane["values"].size(); ++row) {
        rows.push_back({plane["y"]["values"][row].dump()});
        for (const Json& value : plane["values"][row])
            rows.back().push_back(fixed(value));
    }
    std::printf("%s at %s %s\n", plane["figure"].get<std::string>().c_str(),
                plane["held"]["axis"].get<std::string>().c_str(),
                plane["held"]["value"].dump().c_str());
    print_table(header, rows);
}

void write_points(const SweepCommand& options, const std::vector<SweepPoint>& points) {
    const std::string text =
        options.output.ends_with(".json") ? points_json(points).dump() + "\n" : points_csv(points);
    if (options.output == "-")
        std::fwrite(text.data(), 1, text.size(), stdout);
    else
        write_file_atomically(options.output, text);
}

void run_sweep(const SweepCommand& options) {
    const std::string& output = options.output;
    if (!output.empty() && output != "-" && !output.ends_with(".csv") && !output.ends_with(".json"))
        throw Error(ErrorCode::usage, "must end in .csv or .json", "-o " + output);
    refuse_overwriting(output, {options.data.scores, options.data.labels, options.data.notes});
    const SweepGrid grid = options.surface ? surface_grid(options.settings) : options.grid;
    std::optional<SweepPlane> plane;
    if (!options.figure.empty())
        plane = plane_of(grid);
    CommandRun run;
    WorkerPool pool(0);
    CorpusAnalyzer analyzer(read_scored_data(options.data).scores, run.control(),
                            pool.parallel_for());
    const std::vector<SweepPoint> points = sweep(analyzer, options.settings, grid, run.control());
    run.finish();
    if (!output.empty())
        write_points(options, points);
    if (plane && !points.empty()) {
        const auto name =
            std::find(sweep_figure_names.begin(), sweep_figure_names.end(), options.figure);
        const Json json =
            plane_json(*plane, points, static_cast<SweepFigure>(name - sweep_figure_names.begin()));
        options.json ? print_json(json) : print_plane(json);
    } else if (options.json) {
        print_json(points_json(points));
    } else if (output.empty()) {
        print_points(points);
    }
}

} // namespace

void add_sweep_command(CLI::App& program) {
    auto options = std::make_shared<SweepCommand>();
    CLI::App* command =
        program.add_subcommand("sweep", "the same over a grid of tau, lambda and window");
    add_scored_data_options(*command, options->data);
    command->add_option("--tau", options->grid.tau, "values of tau")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--lambda", options->grid.lambda, "values of lambda")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--window", options->grid.window, "values of l")
        ->delimiter(',')
        ->capture_default_str();
    command->add_flag("--surface", options->surface,
                      "the wide grid of the window's what-if surface instead");
    add_mask_switches(*command, options->settings);
    command
        ->add_option("--figure", options->figure,
                     "print one figure as a table over two axes; the third has a single value")
        ->check(CLI::IsMember(
            std::vector<std::string>(sweep_figure_names.begin(), sweep_figure_names.end())));
    command->add_option("-o,--output", options->output, "FILE.csv or FILE.json with all points");
    command->add_flag("--json", options->json, "print JSON");
    command->callback([options] { run_sweep(*options); });
}

} // namespace cuset::cli
