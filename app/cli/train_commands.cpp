// cuset train, runs, merge.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/format.h"
#include "app/cli/progress.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/train/rank_environment.h"
#include "core/train/run_folder.h"
#include "core/train/run_process.h"
#include "core/train/trainer.h"

namespace cuset::cli {
namespace {

struct TrainCommand {
    std::string config;
    TrainOptions options;
    std::int64_t stop_after = 0;
    std::int64_t shown_samples = 2;
    bool dry_run = false;
    bool detach = false;
    bool json = false;
};

std::string duration(double seconds) {
    const auto s = static_cast<long>(seconds + 0.5);
    char text[64];
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

Json to_json(const PlannedSample& sample) {
    Json tokens = Json::array();
    for (const PlannedToken& token : sample.tokens)
        tokens.push_back({{"text", token.text},
                          {"response", token.response},
                          {"cuda", token.cuda},
                          {"confidence", token.confidence},
                          {"weight", sample.weight * token.factor}});
    return {{"id", sample.id}, {"weight", sample.weight}, {"tokens", std::move(tokens)}};
}

Json to_json(const TrainPlan& plan) {
    Json first = Json::array();
    for (const PlannedSample& sample : plan.first)
        first.push_back(to_json(sample));
    return {{"formula", plan.formula},
            {"samples", plan.samples},
            {"validation_samples", plan.validation_samples},
            {"left_out_samples", plan.left_out_samples},
            {"cut_samples", plan.cut_samples},
            {"steps", plan.steps},
            {"steps_per_epoch", plan.steps_per_epoch},
            {"warmup_steps", plan.warmup_steps},
            {"response_tokens", plan.response_tokens},
            {"sequence_tokens", plan.sequence_tokens},
            {"longest", plan.longest},
            {"parameters", plan.parameters},
            {"trainable_parameters", plan.trainable_parameters},
            {"device", plan.device},
            {"dtype", plan.dtype},
            {"weights_bytes", plan.weights_bytes},
            {"optimizer_bytes", plan.optimizer_bytes},
            {"activation_bytes", plan.activation_bytes},
            {"free_bytes", plan.free_bytes},
            {"checkpoint_bytes", plan.checkpoint_bytes},
            {"free_disk_bytes", plan.free_disk_bytes},
            {"seconds", plan.seconds},
            {"notes", plan.notes},
            {"first", std::move(first)}};
}

void print_sample(const PlannedSample& sample) {
    std::printf("\nsample %s: w %.4f\n", printable(sample.id, 80).c_str(), sample.weight);
    std::vector<std::vector<std::string>> rows;
    for (const PlannedToken& token : sample.tokens) {
        const std::string text = printable(token.text, 32);
        if (token.response)
            rows.push_back({"|" + text + "|", token.cuda ? "cuda" : "", fixed(token.confidence),
                            fixed(token.factor, 3), fixed(sample.weight * token.factor)});
        else
            rows.push_back({"|" + text + "|", "prompt", "", "", ""});
    }
    print_table({"token", "region", "p", "factor", "weight"}, rows);
}

void print_plan(const TrainPlan& plan) {
    std::printf("objective: %s\n", plan.formula.c_str());
    std::printf(
        "data: %s samples (%s cut, %s left out), %s for validation; an epoch has %s response "
        "tokens of %s in all, the longest sample %s\n",
        format_count(plan.samples).c_str(), format_count(plan.cut_samples).c_str(),
        format_count(plan.left_out_samples).c_str(), format_count(plan.validation_samples).c_str(),
        format_count(plan.response_tokens).c_str(), format_count(plan.sequence_tokens).c_str(),
        format_count(plan.longest).c_str());
    std::printf("steps: %s, %s an epoch, %s of warm-up\n", format_count(plan.steps).c_str(),
                format_count(plan.steps_per_epoch).c_str(),
                format_count(plan.warmup_steps).c_str());
    std::printf("trained: %s of %s parameters, on %s in %s\n",
                format_count(plan.trainable_parameters).c_str(),
                format_count(plan.parameters).c_str(), plan.device.c_str(), plan.dtype.c_str());
    std::printf(
        "memory: %s (weights %s, optimiser %s, activations %s); %s free\n",
        format_bytes(plan.weights_bytes + plan.optimizer_bytes + plan.activation_bytes).c_str(),
        format_bytes(plan.weights_bytes).c_str(), format_bytes(plan.optimizer_bytes).c_str(),
        format_bytes(plan.activation_bytes).c_str(), format_bytes(plan.free_bytes).c_str());
    std::printf("disk: %s a checkpoint; %s free\n", format_bytes(plan.checkpoint_bytes).c_str(),
                format_bytes(plan.free_disk_bytes).c_str());
    if (plan.seconds > 0)
        std::printf("time: about %s\n", duration(plan.seconds).c_str());
    for (const std::string& note : plan.notes)
        std::printf("note: %s\n", printable(note, 1000).c_str());
    for (const PlannedSample& sample : plan.first)
        print_sample(sample);
}

void show_event(const TrainEvent& event) {
    if (const auto* started = std::get_if<StartedEvent>(&event.body))
        std::fprintf(stderr, "%s\n%s samples, %s steps, %s on %s\n", started->formula.c_str(),
                     format_count(started->samples).c_str(),
                     format_count(started->total_steps).c_str(), started->dtype.c_str(),
                     started->device.c_str());
    else if (const auto* evaluation = std::get_if<EvaluationEvent>(&event.body))
        std::fprintf(stderr, "evaluation after step %lld: NLL %.4f%s\n",
                     static_cast<long long>(evaluation->step), evaluation->loss,
                     evaluation->best ? ", the best so far" : "");
    else if (const auto* log = std::get_if<LogEvent>(&event.body))
        std::fprintf(stderr, "%s: %s\n", log->level.c_str(), printable(log->message, 1000).c_str());
}

// The run goes on by itself: what can be known to be wrong is said before.
void detach(const TrainCommand& command, const std::optional<TrainConfig>& config) {
    namespace fs = std::filesystem;
    const std::string& resume = command.options.resume;
    const fs::path folder =
        resume.empty() ? fs::path(config->output) : fs::absolute(resume).lexically_normal();
    if (resume.empty() && fs::exists(folder / "events.jsonl"))
        throw Error(ErrorCode::usage,
                    "holds a run already; go on with it (--resume), or name another output",
                    folder.string());
    if (!resume.empty() && !is_run_folder(folder))
        throw Error(ErrorCode::not_found,
                    "is no run folder: config.json or events.jsonl is missing", folder.string());
    const LockReport lock = inspect_lock(folder / "lock");
    if (lock.state == LockState::held || lock.state == LockState::foreign)
        throw Error(ErrorCode::usage,
                    "is being written by process " + std::to_string(lock.holder.pid)
                        + (lock.state == LockState::foreign
                               ? " of machine " + printable(lock.holder.host, 80)
                               : std::string()),
                    folder.string());
    std::vector<std::string> arguments{this_program().string(), "train"};
    if (!resume.empty())
        arguments.insert(arguments.end(), {"--resume", folder.string()});
    else
        arguments.push_back(fs::absolute(command.config).string());
    if (command.options.allow_benchmark_data)
        arguments.emplace_back("--allow-benchmark-data");
    if (command.options.ignore_memory_limit)
        arguments.emplace_back("--force");
    if (command.stop_after > 0)
        arguments.insert(arguments.end(), {"--stop-after", std::to_string(command.stop_after)});
    const std::int64_t pid = spawn_detached(arguments, folder);
    if (command.json)
        print_json({{"pid", pid}, {"output", folder.string()}});
    else
        std::printf("%s: process %lld\n", printable(folder.string(), 400).c_str(),
                    static_cast<long long>(pid));
}

void show_plan(const TrainCommand& command, const std::optional<TrainConfig>& config,
               CommandRun& run) {
    if (!config)
        throw Error(ErrorCode::usage, "needs a configuration", "--dry-run");
    const TrainPlan plan =
        plan_training(*config, command.options, command.shown_samples, run.control());
    run.finish();
    if (command.json)
        print_json(to_json(plan));
    else
        print_plan(plan);
}

void run_train(TrainCommand& command) {
    std::optional<TrainConfig> config;
    if (!command.config.empty())
        config = read_train_config(command.config);
    if (command.stop_after > 0)
        command.options.stop_after = command.stop_after;
    if (command.detach) {
        if (!config && command.options.resume.empty())
            throw Error(ErrorCode::usage, "needs a configuration or --resume", "--detach");
        return detach(command, config);
    }
    const bool leads = rank_environment().rank == 0;
    CommandRun run(leads);
    if (command.dry_run) {
        if (leads)
            show_plan(command, config, run);
        return;
    }
    command.options.on_event = [&](const TrainEvent& event) {
        if (command.json) {
            std::printf("%s\n", to_json_line(event).c_str());
            std::fflush(stdout);
        } else {
            run.finish();
            show_event(event);
        }
    };
    const TrainResult result = train(config, command.options, run.control());
    run.finish();
    if (result.stopped) {
        if (result.leads)
            std::fprintf(
                stderr, "stopped after step %lld and saved; go on with: cuset train --resume %s\n",
                static_cast<long long>(result.step), printable(result.folder, 400).c_str());
        throw CLI::RuntimeError(static_cast<int>(ExitCode::can_resume));
    }
    if (!command.json && result.leads)
        std::printf("%s\n", (std::filesystem::path(result.folder) / "final").c_str());
}

struct RunsCommand {
    std::vector<std::string> folders;
    bool stop = false;
    bool json = false;
};

Json to_json(const RunSummary& run) {
    const auto event = [](const auto& body) { return Json::parse(to_json_line({"", body})); };
    return {
        {"path", run.path.string()},
        {"state", run_state_name(run.state)},
        {"time", run.last_time},
        {"started", event(run.started)},
        {"step", run.last_step.step > 0 ? event(run.last_step) : Json(nullptr)},
        {"evaluation", run.last_evaluation.step > 0 ? event(run.last_evaluation) : Json(nullptr)},
        {"checkpoint_step", run.checkpoint_step >= 0 ? Json(run.checkpoint_step) : Json(nullptr)},
        {"failure", run.failed.message.empty() ? Json(nullptr) : Json(run.failed.message)}};
}

void run_runs(const RunsCommand& command) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& folder : find_runs({command.folders.begin(), command.folders.end()})) {
        const RunSummary run = summarize_run(folder);
        if (command.stop && run.state == RunState::running)
            request_stop(folder);
        if (command.json) {
            print_json(to_json(run));
            continue;
        }
        rows.push_back(
            {run.path.string(), std::string(run_state_name(run.state)), run.started.objective,
             std::to_string(run.last_step.step) + "/" + std::to_string(run.started.total_steps),
             run.last_step.step > 0 ? fixed(run.last_step.loss) : "-",
             run.last_step.step > 0 ? fixed(run.last_step.nll) : "-",
             run.last_evaluation.step > 0 ? fixed(run.last_evaluation.loss) : "-",
             run.state == RunState::running ? duration(run.last_step.eta_seconds) : "-"});
    }
    if (!command.json)
        print_table({"run", "state", "objective", "step", "loss", "NLL", "validation", "left"},
                    rows);
}

struct MergeCommand {
    std::string model, adapter, output, dtype = "auto";
    bool json = false;
};

void run_merge(const MergeCommand& command) {
    CommandRun run;
    const MergeResult result =
        merge_adapter(command.model, command.adapter, command.output, command.dtype, run.control());
    run.finish();
    if (command.json)
        print_json({{"output", command.output},
                    {"dtype", result.dtype},
                    {"logit_difference", result.logit_difference},
                    {"logit_range", result.logit_range}});
    else
        std::printf("%s: %s, largest difference of a logit %.3g (logits reach %.3g)\n",
                    printable(command.output, 400).c_str(), result.dtype.c_str(),
                    result.logit_difference, result.logit_range);
}

void add_train(CLI::App& program) {
    auto train = std::make_shared<TrainCommand>();
    CLI::App* command = program.add_subcommand("train", "a training run, or --resume one");
    command->add_option("CONFIG", train->config,
                        "the run's configuration, JSON with comments; not needed with --resume");
    command->add_option("--resume", train->options.resume,
                        "the folder of a run to go on with, from its newest whole checkpoint");
    command->add_flag("--dry-run", train->dry_run,
                      "train nothing: steps, tokens, memory, time, and the first samples token by "
                      "token with their weights");
    command->add_option("--samples", train->shown_samples, "samples that --dry-run shows")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command
        ->add_option("--stop-after", train->stop_after,
                     "stop after this step as on SIGTERM: save, exit code 75")
        ->check(CLI::PositiveNumber);
    command->add_flag("--allow-benchmark-data", train->options.allow_benchmark_data,
                      "train on a benchmark's test set all the same");
    command->add_flag("--force", train->options.ignore_memory_limit,
                      "start even if the estimate says that it does not fit");
    command
        ->add_flag("--detach", train->detach,
                   "start the run in the background and return; its output goes to log.txt of the "
                   "run folder, and how it ended to its events")
        ->excludes("--dry-run");
    command->add_flag("--json", train->json, "print the events, or the plan, as JSON");
    command->footer(
        "Several ranks train data-parallel: torchrun --no-python --nproc-per-node N cuset train "
        "CONFIG.json,\nsrun, or RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set by hand. A group "
        "that torchrun\nor Slurm starts again goes on from its last checkpoint.");
    command->callback([train] { run_train(*train); });
}

} // namespace

void add_train_commands(CLI::App& program) {
    add_train(program);
    auto runs = std::make_shared<RunsCommand>();
    CLI::App* command =
        program.add_subcommand("runs", "training runs, their state and last figures");
    command->add_option("DIR", runs->folders, "run folders, or folders of them")->required();
    command->add_flag("--stop", runs->stop,
                      "ask those that run here to finish the step, save and end");
    command->add_flag("--json", runs->json, "print JSON, one line a run");
    command->callback([runs] { run_runs(*runs); });

    auto merge = std::make_shared<MergeCommand>();
    command = program.add_subcommand("merge", "base model + adapter -> a model folder");
    command
        ->add_option("MODEL", merge->model,
                     "Hugging Face folder, .gguf file (dequantised), or org/name in the hub cache")
        ->required();
    command->add_option("ADAPTER", merge->adapter, "folder of a PEFT LoRA adapter")->required();
    command->add_option("-o,--output", merge->output, "the folder to make")->required();
    command
        ->add_option("--dtype", merge->dtype,
                     "auto (as the model is stored), float32, bfloat16 or float16")
        ->check(CLI::IsMember({"auto", "float32", "bfloat16", "float16"}))
        ->capture_default_str();
    command->add_flag("--json", merge->json, "print JSON");
    command->callback([merge] { run_merge(*merge); });
}

} // namespace cuset::cli
