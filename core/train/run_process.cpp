#include "core/train/run_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/train/run_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) {
    return std::generic_category().message(code);
}

class Descriptor {
public:
    explicit Descriptor(int number = -1)
        : number_(number) { }
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    void close() {
        if (number_ >= 0)
            ::close(number_);
        number_ = -1;
    }

private:
    int number_;
};

// A pipe whose ends do not outlive exec: its silence says that exec went well.
struct Pipe {
    Pipe() {
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw Error(ErrorCode::failure, "no pipe: " + reason(errno));
    }
    std::array<int, 2> ends{-1, -1};
};

int open_log(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw Error(ErrorCode::disk, "cannot be made: " + error.message(), folder.string());
    const fs::path path = folder / "log.txt";
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0)
        throw Error(ErrorCode::disk, "cannot be opened: " + reason(errno), path.string());
    return log;
}

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
    std::vector<char*> list;
    for (const std::string& argument : arguments)
        list.push_back(const_cast<char*>(argument.c_str()));
    list.push_back(nullptr);
    return list;
}

// In the child: only calls that are safe after fork.
[[noreturn]] void become(char* const* arguments, int log, int report) {
    ::setpgid(0, 0); // Ctrl+C goes to whoever started it, who passes it on once
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        ::signal(signal, SIG_DFL);
    ::execv(arguments[0], arguments);
    const int code = errno;
    if (::write(report, &code, sizeof code) < 0)
        ::_exit(126);
    ::_exit(127);
}

void require_program(const std::vector<std::string>& arguments) {
    if (arguments.empty() || ::access(arguments.front().c_str(), X_OK) != 0)
        throw Error(ErrorCode::not_found, "is no program that can be started",
                    arguments.empty() ? "cuset" : arguments.front());
}

struct Started {
    pid_t pid = -1;
    int error = 0; // errno of what went wrong
};

Started fork_and_exec(const std::vector<std::string>& arguments, int log) {
    const std::vector<char*> list = pointers(arguments);
    const Pipe pipe;
    Descriptor read_end(pipe.ends[0]), write_end(pipe.ends[1]);
    const pid_t pid = ::fork();
    if (pid == 0)
        become(list.data(), log, write_end.number());
    if (pid < 0)
        return {-1, errno};
    write_end.close();
    int code = 0;
    ssize_t got = 0;
    while ((got = ::read(read_end.number(), &code, sizeof code)) < 0 && errno == EINTR) { }
    if (got == static_cast<ssize_t>(sizeof code)) {
        ::waitpid(pid, nullptr, 0);
        return {-1, code};
    }
    return {pid, 0};
}

[[noreturn]] void fail_start(const std::string& program, int code) {
    throw Error(ErrorCode::failure, "could not be started: " + reason(code), program);
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) { }
    return status;
}

// The process that outlives the caller: starts the run, says so, waits for it. Never returns.
[[noreturn]] void supervise(const std::vector<std::string>& arguments, const fs::path& folder,
                            int log, int report) {
    ::setsid();
    ::signal(SIGHUP, SIG_IGN);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        ::dup2(nothing, standard);
    const std::int64_t kills = memory_kill_count();
    Started started;
    try {
        started = fork_and_exec(arguments, log);
    } catch (const Error&) {
        started.error = EMFILE;
    }
    const bool told = ::write(report, &started, sizeof started) == sizeof started;
    ::close(report);
    ::close(log);
    if (started.pid < 0)
        ::_exit(told ? 0 : 1);
    const int status = wait_for(started.pid);
    try {
        record_end(folder, status, memory_kill_count() - kills);
    } catch (const std::exception&) {
        // A full disk takes no event; the stale lock says that the run was interrupted.
    }
    ::_exit(0);
}

} // namespace

fs::path this_program() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

std::vector<std::string> training_arguments(const fs::path& program, const fs::path& folder) {
    std::error_code ignored;
    if (fs::exists(folder / "events.jsonl", ignored))
        return {program.string(), "train", "--resume", folder.string()};
    return {program.string(), "train", (folder / "config.json").string()};
}

std::int64_t memory_kill_count() {
    std::ifstream file("/proc/vmstat");
    std::string name;
    for (std::int64_t value = 0; file >> name >> value;)
        if (name == "oom_kill")
            return value;
    return 0;
}

std::int64_t spawn_training(const std::vector<std::string>& arguments, const fs::path& folder) {
    require_program(arguments);
    const Descriptor log(open_log(folder));
    const Started started = fork_and_exec(arguments, log.number());
    if (started.pid < 0)
        fail_start(arguments.front(), started.error);
    return started.pid;
}

std::int64_t spawn_detached(const std::vector<std::string>& arguments, const fs::path& folder) {
    require_program(arguments);
    const Descriptor log(open_log(folder));
    const Pipe pipe;
    Descriptor read_end(pipe.ends[0]), write_end(pipe.ends[1]);
    // Twice, so that whoever called has no child to wait for.
    const pid_t between = ::fork();
    if (between < 0)
        fail_start(arguments.front(), errno);
    if (between == 0) {
        const pid_t supervisor = ::fork();
        if (supervisor == 0)
            supervise(arguments, folder, log.number(), write_end.number());
        ::_exit(supervisor < 0 ? 1 : 0);
    }
    write_end.close();
    Started started;
    ssize_t got = 0;
    while ((got = ::read(read_end.number(), &started, sizeof started)) < 0 && errno == EINTR) { }
    wait_for(between);
    if (got != sizeof started)
        fail_start(arguments.front(), ECHILD);
    if (started.pid < 0)
        fail_start(arguments.front(), started.error);
    return started.pid;
}

void record_end(const fs::path& folder, int status, std::int64_t memory_kills) {
    const bool signalled = WIFSIGNALED(status);
    if (!signalled
        && (WEXITSTATUS(status) == static_cast<int>(ExitCode::ok)
            || WEXITSTATUS(status) == static_cast<int>(ExitCode::can_resume)))
        return;
    if (!is_run_folder(folder) || summarize_run(folder).state != RunState::interrupted)
        return; // it never came to writing, said so itself, or another writer is there
    FailedEvent failed;
    if (signalled) {
        const int signal = WTERMSIG(status);
        failed.exit_code = 128 + signal;
        const bool memory = signal == SIGKILL && memory_kills > 0;
        failed.code = memory ? "out_of_memory" : "signal";
        failed.message = "the process was ended by signal " + std::to_string(signal) + " ("
            + ::strsignal(signal) + ")";
        if (memory)
            failed.message += "; the system ended " + std::to_string(memory_kills)
                + " process(es) for want of memory meanwhile: try a smaller max_length, "
                  "batch_size 1, gradient_checkpointing or bfloat16";
    } else {
        failed.exit_code = WEXITSTATUS(status);
        failed.code = "failure";
        failed.message = "the process ended with exit code " + std::to_string(failed.exit_code)
            + "; see log.txt";
    }
    RunFolder run = RunFolder::reopen(folder);
    failed.step = run.reported_step();
    run.log("failed: " + failed.message);
    run.append({time_now(), failed});
}

void request_stop(const fs::path& folder) {
    const LockReport lock = inspect_lock(folder / "lock");
    if (lock.state == LockState::foreign)
        throw Error(ErrorCode::usage,
                    "is written on machine " + printable(lock.holder.host, 80)
                        + "; stop it there: kill -TERM " + std::to_string(lock.holder.pid),
                    folder.string());
    if (lock.state != LockState::held)
        throw Error(ErrorCode::usage, "no process writes this run", folder.string());
    if (::kill(static_cast<pid_t>(lock.holder.pid), SIGTERM) != 0)
        throw Error(ErrorCode::failure,
                    "process " + std::to_string(lock.holder.pid)
                        + " cannot be asked to stop: " + reason(errno),
                    folder.string());
}

} // namespace cuset
