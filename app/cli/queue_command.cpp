// cuset queue: a sweep of training runs, made and worked off.
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
#include "core/train/run_process.h"
#include "core/train/run_sweep.h"

namespace cuset::cli {
namespace {

struct QueueCommand {
    std::string place;
    std::vector<std::string> axes;
    int jobs = 1;
    bool detach = false;
    bool make_only = false;
    bool json = false;
};

Sweep open_sweep(const QueueCommand& command) {
    if (command.axes.empty()) {
        if (!is_sweep_folder(command.place))
            throw Error(ErrorCode::usage,
                        "is no sweep folder; to make one, give a configuration and --grid",
                        command.place);
        return read_sweep(std::filesystem::absolute(command.place).lexically_normal());
    }
    RunGrid grid;
    for (const std::string& axis : command.axes)
        add_sweep_axis(grid, axis);
    return write_sweep(read_train_config(command.place), grid);
}

void print_report(const QueueCommand& command, const Sweep& sweep, const QueueReport& report) {
    if (command.json)
        print_json({{"output", sweep.folder.string()},
                    {"runs", sweep.runs.size()},
                    {"finished", report.finished},
                    {"failed", report.failed},
                    {"waiting", report.waiting},
                    {"stopped", report.stopped}});
    else
        std::printf("%s: %s of %s runs finished, %s failed, %s waiting\n",
                    printable(sweep.folder.string(), 400).c_str(),
                    format_count(report.finished).c_str(),
                    format_count(static_cast<std::int64_t>(sweep.runs.size())).c_str(),
                    format_count(report.failed).c_str(), format_count(report.waiting).c_str());
}

void run_command(const QueueCommand& command) {
    const Sweep sweep = open_sweep(command);
    if (command.make_only) {
        QueueReport report;
        report.waiting = static_cast<std::int64_t>(sweep.runs.size());
        return print_report(command, sweep, report);
    }
    if (command.detach) {
        const LockReport lock = inspect_lock(sweep.folder / "lock");
        if (lock.state == LockState::held || lock.state == LockState::foreign)
            throw Error(ErrorCode::usage,
                        "process " + std::to_string(lock.holder.pid) + " works on it already",
                        sweep.folder.string());
        const std::int64_t pid =
            spawn_detached({this_program().string(), "queue", sweep.folder.string(), "--jobs",
                            std::to_string(command.jobs)},
                           sweep.folder);
        if (command.json)
            print_json({{"pid", pid}, {"output", sweep.folder.string()}});
        else
            std::printf("%s: process %lld\n", printable(sweep.folder.string(), 400).c_str(),
                        static_cast<long long>(pid));
        return;
    }
    CommandRun run;
    const QueueReport report = run_queue(
        sweep, command.jobs, this_program(),
        [](const std::filesystem::path& folder) {
            const std::string state = is_run_folder(folder)
                ? std::string(run_state_name(summarize_run(folder).state))
                : std::string("started");
            std::fprintf(stderr, "%s: %s\n", printable(folder.filename().string(), 200).c_str(),
                         state.c_str());
        },
        run.control());
    run.finish();
    print_report(command, sweep, report);
    if (report.stopped)
        throw CLI::RuntimeError(static_cast<int>(ExitCode::can_resume));
    if (report.failed > 0)
        throw CLI::RuntimeError(static_cast<int>(ExitCode::failure));
}

} // namespace

void add_queue_command(CLI::App& program) {
    auto queue = std::make_shared<QueueCommand>();
    CLI::App* command = program.add_subcommand(
        "queue", "a sweep of training runs: one for each point of a grid, one after another");
    command
        ->add_option("PLACE", queue->place,
                     "the folder of a sweep to go on with; with --grid, the configuration whose "
                     "output becomes that folder")
        ->required();
    command->add_option("--grid", queue->axes,
                        "what varies, e.g. tau=0.05,0.1; also lambda, window, objective, "
                        "learning_rate. Several make a grid");
    command->add_option("--jobs", queue->jobs, "runs at a time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    CLI::Option* detach = command->add_flag(
        "--detach", queue->detach, "work in the background; cuset runs and the window follow");
    command->add_flag("--make-only", queue->make_only, "make the folders and train nothing")
        ->excludes(detach);
    command->add_flag("--json", queue->json, "print JSON");
    command->callback([queue] { run_command(*queue); });
}

} // namespace cuset::cli
