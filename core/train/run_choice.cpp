#include "core/train/run_choice.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/train/run_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

TrainConfig configuration(const std::optional<TrainConfig>& given, const TrainOptions& options) {
    if (options.resume.empty()) {
        if (!given)
            throw Error(ErrorCode::usage, "a configuration or --resume RUN_DIR is needed");
        return *given;
    }
    TrainConfig kept = read_train_config((fs::path(options.resume) / "config.json").string());
    kept.output = fs::absolute(options.resume).lexically_normal().string();
    if (given) {
        const std::vector<std::string> differences = training_differences(*given, kept);
        if (!differences.empty())
            throw Error(ErrorCode::bad_value,
                        "the configuration is not the run's: " + differences.front()
                            + (differences.size() > 1
                                   ? " (and " + std::to_string(differences.size() - 1) + " more)"
                                   : std::string())
                            + "; start a new run, or resume without a configuration",
                        options.resume);
    }
    return kept;
}

} // namespace

RunChoice choose_run(const std::optional<TrainConfig>& given, const TrainOptions& options,
                     ProcessGroup& group) {
    RunChoice choice{{}, options};
    if (group.leads()) {
        // torchrun and Slurm start a group again with the same command: it goes on with its run.
        if (options.resume.empty() && given && rank_environment().restarts > 0
            && is_run_folder(given->output))
            choice.options.resume = given->output;
        choice.config = configuration(given, choice.options);
    }
    const std::string config =
        group.broadcast(group.leads() ? train_config_json(choice.config) : "");
    choice.options.resume = group.broadcast(choice.options.resume);
    if (!group.leads())
        choice.config = parse_train_config(config, "rank 0's configuration");
    return choice;
}

} // namespace cuset
