#include "core/train/run_sweep.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::int64_t most_runs = 10000;
constexpr std::uint64_t file_limit = 64u << 20;

std::string short_number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

TokenObjective objective_named(std::string_view name) {
    for (std::size_t i = 0; i < token_objective_names.size(); ++i)
        if (token_objective_names[i] == name)
            return static_cast<TokenObjective>(i);
    std::string all;
    for (const std::string_view each : token_objective_names)
        all += (all.empty() ? "" : ", ") + std::string(each);
    throw Error(ErrorCode::usage, printable(name) + " is none of " + all, "objective");
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list(1);
    for (const char c : text) {
        if (c == ',' || c == ';')
            list.emplace_back();
        else if (c != ' ' && c != '\t')
            list.back() += c;
    }
    if (list.size() > 1 && list.back().empty())
        list.pop_back(); // a comma at the end, as one types
    return list;
}

// An axis as a list of steps: what it changes, and how it is named in the folder.
struct Point {
    std::string name;
    std::function<void(TrainConfig&)> apply;
};

template <class Values, class Name, class Apply>
std::vector<Point> axis(const Values& values, Name name, Apply apply) {
    std::vector<Point> points;
    for (const auto& value : values)
        points.push_back({name(value), [value, apply](TrainConfig& c) { apply(c, value); }});
    return points;
}

std::vector<std::vector<Point>> axes(const RunGrid& grid) {
    const auto number = [](const char* symbol) {
        return [symbol](double value) { return symbol + short_number(value); };
    };
    return {
        axis(
            grid.objectives,
            [](TokenObjective o) {
                return std::string(token_objective_names[static_cast<std::size_t>(o)]);
            },
            [](TrainConfig& c, TokenObjective o) {
                if (c.objective.name != o)
                    c.objective.alpha = default_alpha(o);
                c.objective.name = o;
            }),
        axis(grid.tau, number("tau"), [](TrainConfig& c, double v) { c.objective.mask.tau = v; }),
        axis(grid.lambda, number("lambda"),
             [](TrainConfig& c, double v) { c.objective.mask.lambda = v; }),
        axis(
            grid.window, [](std::int64_t v) { return "l" + std::to_string(v); },
            [](TrainConfig& c, std::int64_t v) { c.objective.mask.window = static_cast<int>(v); }),
        axis(grid.learning_rate, number("lr"),
             [](TrainConfig& c, double v) { c.learning_rate = v; })};
}

ordered_json to_json(const RunGrid& grid) {
    ordered_json names = ordered_json::array();
    for (const TokenObjective o : grid.objectives)
        names.push_back(token_objective_names[static_cast<std::size_t>(o)]);
    return {{"objective", names},
            {"tau", grid.tau},
            {"lambda", grid.lambda},
            {"window", grid.window},
            {"learning_rate", grid.learning_rate}};
}

RunGrid grid_from(const json& object) {
    RunGrid grid;
    for (const auto& name : object.at("objective"))
        grid.objectives.push_back(objective_named(name.get<std::string>()));
    grid.tau = object.at("tau").get<std::vector<double>>();
    grid.lambda = object.at("lambda").get<std::vector<double>>();
    grid.window = object.at("window").get<std::vector<std::int64_t>>();
    grid.learning_rate = object.at("learning_rate").get<std::vector<double>>();
    return grid;
}

} // namespace

std::int64_t RunGrid::runs() const {
    std::int64_t count = 0;
    for (const std::size_t size :
         {objectives.size(), tau.size(), lambda.size(), window.size(), learning_rate.size()})
        if (size > 0)
            count = std::min(most_runs + 1,
                             std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(size));
    return count;
}

std::vector<double> parse_sweep_values(std::string_view text, std::string_view name) {
    std::vector<double> values;
    for (const std::string& word : words(text)) {
        double value = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size()
            || !std::isfinite(value))
            throw Error(ErrorCode::usage,
                        (word.empty() ? "a value is missing" : printable(word) + " is no number")
                            + ", needs numbers with commas between them, as in 0.05,0.1",
                        std::string(name));
        values.push_back(value);
    }
    return values;
}

void add_sweep_axis(RunGrid& grid, std::string_view text) {
    const std::size_t sign = text.find('=');
    const std::string name(text.substr(0, sign));
    const std::string_view values = sign == text.npos ? "" : text.substr(sign + 1);
    if (name == "objective") {
        grid.objectives.clear();
        for (const std::string& word : words(values))
            grid.objectives.push_back(objective_named(word));
    } else if (name == "tau") {
        grid.tau = parse_sweep_values(values, name);
    } else if (name == "lambda") {
        grid.lambda = parse_sweep_values(values, name);
    } else if (name == "learning_rate") {
        grid.learning_rate = parse_sweep_values(values, name);
    } else if (name == "window") {
        grid.window.clear();
        for (const double value : parse_sweep_values(values, name)) {
            if (value != std::floor(value) || value < 1 || value > 1 << 24)
                throw Error(ErrorCode::usage, "needs whole numbers of tokens from 1", name);
            grid.window.push_back(static_cast<std::int64_t>(value));
        }
    } else {
        throw Error(ErrorCode::usage,
                    "varies nothing; a grid has objective, tau, lambda, window, learning_rate",
                    printable(text));
    }
}

std::vector<TrainConfig> expand_sweep(const TrainConfig& base, const RunGrid& grid) {
    if (grid.runs() == 0)
        throw Error(ErrorCode::usage, "nothing varies: give at least one axis", "grid");
    if (grid.runs() > most_runs)
        throw Error(ErrorCode::usage,
                    "more than " + std::to_string(most_runs) + " runs; use fewer values", "grid");
    std::vector<std::pair<std::string, TrainConfig>> configs{{"", base}};
    for (const std::vector<Point>& points : axes(grid)) {
        if (points.empty())
            continue;
        std::vector<std::pair<std::string, TrainConfig>> next;
        for (const auto& [name, config] : configs)
            for (const Point& point : points) {
                next.emplace_back(name.empty() ? point.name : name + "_" + point.name, config);
                point.apply(next.back().second);
            }
        configs = std::move(next);
    }
    std::vector<TrainConfig> expanded;
    for (auto& [name, config] : configs) {
        config.output = (fs::path(base.output) / name).string();
        // The same check as of a file that somebody wrote.
        expanded.push_back(parse_train_config(train_config_json(config), name));
    }
    return expanded;
}

bool is_sweep_folder(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / "sweep.json", ignored);
}

Sweep write_sweep(const TrainConfig& base, const RunGrid& grid) {
    const std::vector<TrainConfig> configs = expand_sweep(base, grid);
    const fs::path folder = base.output;
    if (is_sweep_folder(folder) || is_run_folder(folder))
        throw Error(ErrorCode::usage,
                    "holds a run or a sweep already; go on with it (cuset queue), or name another "
                    "output",
                    folder.string());
    Sweep sweep{folder, grid, {}};
    ordered_json names = ordered_json::array();
    for (const TrainConfig& config : configs) {
        const fs::path run = config.output;
        std::error_code error;
        fs::create_directories(run, error);
        if (error)
            throw Error(ErrorCode::disk, "cannot be made: " + error.message(), run.string());
        write_file_atomically(run / "config.json", train_config_json(config));
        sweep.runs.push_back(run);
        names.push_back(run.filename().string());
    }
    // Last: a folder without it is no sweep.
    const ordered_json object{{"v", 1}, {"grid", to_json(grid)}, {"runs", names}};
    write_file_atomically(folder / "sweep.json", object.dump(1) + "\n");
    return sweep;
}

Sweep read_sweep(const fs::path& folder) {
    const fs::path file = folder / "sweep.json";
    Sweep sweep{folder, {}, {}};
    try {
        const json object = json::parse(read_file(file, file_limit));
        if (!object.is_object() || !object.contains("grid") || !object.contains("runs"))
            throw Error(ErrorCode::bad_format, "is no sweep: needs \"grid\" and \"runs\"",
                        file.string());
        sweep.grid = grid_from(object.at("grid"));
        for (const auto& name : object.at("runs")) {
            const fs::path run = name.get<std::string>();
            if (run.has_parent_path() || run.empty() || run == ".." || run == ".")
                throw Error(ErrorCode::bad_format, "a run's name leads out of the folder",
                            file.string());
            sweep.runs.push_back(folder / run);
        }
    } catch (const json::exception& error) {
        throw Error(ErrorCode::bad_format, printable(error.what()), file.string());
    }
    return sweep;
}

} // namespace cuset
