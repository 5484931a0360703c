#include "core/cuda/compile_check.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"
#include "core/cuda/structure.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view source_name = "answer.cu";
constexpr std::size_t output_limit = 256u << 10;
constexpr std::size_t most_messages = 200;
// A runaway #include neither fills the memory nor the disk.
constexpr rlim_t address_limit = rlim_t{16} << 30;
constexpr rlim_t file_limit = rlim_t{512} << 20;

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::error_code error;
        std::string pattern = (fs::temp_directory_path(error) / "cuset-compile-XXXXXX").string();
        if (error || !::mkdtemp(pattern.data()))
            throw Error(ErrorCode::disk, "no temporary folder can be made there", pattern);
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

class FileDescriptor {
public:
    explicit FileDescriptor(int value)
        : value_(value) { }
    ~FileDescriptor() { close(); }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return value_; }
    void close() {
        if (value_ >= 0)
            ::close(value_);
        value_ = -1;
    }

private:
    int value_;
};

bool is_program(const fs::path& path) {
    return !path.empty() && ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path);
}

// What the compiler sees of our environment: where programs are, and a home of its own.
std::vector<std::string> environment(const fs::path& folder) {
    const char* path = std::getenv("PATH");
    return {"PATH=" + std::string(path ? path : "/usr/local/bin:/usr/bin:/bin"),
            "HOME=" + folder.string(), "TMPDIR=" + folder.string(), "LC_ALL=C"};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts)
        list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

// A process group of its own in `folder`, both outputs into `output`.
pid_t start(std::vector<std::string> command, const fs::path& folder, int output) {
    std::vector<std::string> variables = environment(folder);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, command.front().c_str(), &actions, &attributes,
                                      pointers(command).data(), pointers(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (problem != 0)
        throw Error(ErrorCode::failure,
                    "cannot be started: " + std::generic_category().message(problem),
                    command.front());
    const rlimit memory{address_limit, address_limit}, files{file_limit, file_limit};
    ::prlimit(child, RLIMIT_AS, &memory, nullptr);
    ::prlimit(child, RLIMIT_FSIZE, &files, nullptr);
    return child;
}

// Kills what is left of the group however the wait ends, and reaps the compiler.
class Child {
public:
    explicit Child(pid_t id)
        : id_(id) { }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The wait status, after the whole group was asked to end at once.
    int end() {
        if (id_ > 0) {
            ::kill(-id_, SIGKILL);
            wait();
        }
        return status_;
    }
    int wait() {
        while (id_ > 0 && ::waitpid(id_, &status_, 0) < 0 && errno == EINTR) { }
        id_ = -1;
        return status_;
    }

private:
    pid_t id_;
    int status_ = -1;
};

// All that the compiler writes until it closes its outputs; false if time ran out.
bool read_all(int descriptor, double time_limit, std::string& output, RunControl& control) {
    const auto end = Clock::now() + std::chrono::duration<double>(time_limit);
    std::array<char, 8192> buffer{};
    while (Clock::now() < end) {
        control.throw_if_stopped();
        pollfd ready{descriptor, POLLIN, 0};
        if (::poll(&ready, 1, 50) <= 0)
            continue;
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count == 0)
            return true;
        if (count < 0 && errno != EINTR)
            return true;
        if (count > 0 && output.size() < output_limit)
            output.append(buffer.data(),
                          std::min(static_cast<std::size_t>(count), output_limit - output.size()));
    }
    return false;
}

// Reads a number at `at` and moves past it.
std::optional<std::int32_t> take_number(std::string_view line, std::size_t& at) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), value);
    if (error != std::errc())
        return std::nullopt;
    at = static_cast<std::size_t>(end - line.data());
    return value;
}

bool take(std::string_view line, std::size_t& at, std::string_view what) {
    if (line.substr(at, what.size()) != what)
        return false;
    at += what.size();
    return true;
}

// "error: text", "warning #177-D: text", "fatal error: text".
bool read_severity(std::string_view rest, CompilerMessage& message) {
    using Severity = CompilerMessage::Severity;
    static constexpr std::array<std::pair<std::string_view, Severity>, 7> words{
        {{"error", Severity::error},
         {"fatal error", Severity::error},
         {"catastrophic error", Severity::error},
         {"fatal", Severity::error},
         {"warning", Severity::warning},
         {"note", Severity::note},
         {"remark", Severity::note}}};
    while (!rest.empty() && rest.front() == ' ')
        rest.remove_prefix(1);
    for (const auto& [word, severity] : words) {
        if (!rest.starts_with(word))
            continue;
        std::string_view after = rest.substr(word.size());
        const std::size_t colon = after.find(':');
        // Between the word and its colon stands at most a number: " #177-D", or a blank.
        if (colon == std::string_view::npos || colon > 12 || (colon > 0 && after.front() != ' '))
            continue;
        after.remove_prefix(colon + 1);
        while (!after.empty() && after.front() == ' ')
            after.remove_prefix(1);
        message.severity = severity;
        message.text = after;
        return !after.empty();
    }
    return false;
}

std::optional<CompilerMessage> read_line(std::string_view line, std::string_view file) {
    CompilerMessage message;
    std::size_t at = 0;
    if (take(line, at, file)) {
        std::optional<std::int32_t> number;
        if (take(line, at, "(")) {
            number = take_number(line, at);
            if (!number || !take(line, at, "):"))
                return std::nullopt;
        } else if (take(line, at, ":")) {
            number = take_number(line, at);
            if (!number || !take(line, at, ":"))
                return std::nullopt;
            if (const auto column = take_number(line, at); column && take(line, at, ":"))
                message.column = *column;
        } else {
            return std::nullopt;
        }
        message.line = *number;
        return read_severity(line.substr(at), message) ? std::optional(message) : std::nullopt;
    }
    for (const std::string_view program : {"ptxas", "nvcc", "nvlink", "cicc", "cudafe++"})
        if (at = 0; take(line, at, program) && read_severity(line.substr(at), message))
            return message;
    return std::nullopt;
}

} // namespace

std::string_view severity_name(CompilerMessage::Severity severity) noexcept {
    switch (severity) {
    case CompilerMessage::Severity::note:
        return "note";
    case CompilerMessage::Severity::warning:
        return "warning";
    case CompilerMessage::Severity::error:
        break;
    }
    return "error";
}

std::string find_nvcc() {
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable); home && *home)
            if (const fs::path path = fs::path(home) / "bin" / "nvcc"; is_program(path))
                return path.string();
    const char* all = std::getenv("PATH");
    for (std::string_view rest = all ? all : ""; !rest.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        if (const fs::path path = fs::path(rest.substr(0, end)) / "nvcc";
            end > 0 && is_program(path))
            return path.string();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const fs::path usual = "/usr/local/cuda/bin/nvcc";
    return is_program(usual) ? usual.string() : std::string();
}

std::string compilable_source(std::string_view response) {
    std::string source(response.size(), ' ');
    for (std::size_t i = 0; i < response.size(); ++i)
        if (response[i] == '\n')
            source[i] = '\n';
    for (const Island& island : find_cuda_structure(response).islands)
        if (island.kind == IslandKind::cuda_source)
            for (auto i = static_cast<std::size_t>(island.span.begin);
                 i < static_cast<std::size_t>(island.span.end); ++i)
                source[i] = response[i];
    return source;
}

CompileResult check_compiles(std::string_view response, const CompileOptions& options,
                             RunControl& control) {
    const std::string compiler = options.compiler.empty() ? find_nvcc() : options.compiler;
    if (compiler.empty())
        throw Error(ErrorCode::not_found,
                    "is not in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin; install the CUDA "
                    "toolkit",
                    "nvcc");
    const std::string source = compilable_source(response);
    if (source.find_first_not_of(" \t\r\n") == std::string::npos) {
        CompileResult nothing;
        nothing.messages.push_back({CompilerMessage::Severity::error, 0, 0,
                                    "the response holds no CUDA source to compile"});
        return nothing;
    }
    const TemporaryFolder folder;
    const fs::path path = folder.path() / source_name;
    if (!(std::ofstream(path, std::ios::binary) << source).flush())
        throw Error(ErrorCode::disk, "cannot be written", path.string());
    std::vector<std::string> command{compiler, "-c", std::string(source_name), "-o", "answer.o"};
    command.insert(command.end(), options.arguments.begin(), options.arguments.end());

    control.checkpoint({"compiling", 0, 0, ""});
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw Error(ErrorCode::failure, "no pipe: " + std::generic_category().message(errno));
    FileDescriptor reading(ends[0]), writing(ends[1]);
    const auto begin = Clock::now();
    CompileResult result;
    Child child(start(std::move(command), folder.path(), writing.get()));
    writing.close();
    result.timed_out = !read_all(reading.get(), options.time_limit, result.output, control);
    const int status = result.timed_out ? child.end() : child.wait();
    result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    result.ok = !result.timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    result.messages = parse_compiler_output(result.output, source_name);
    if (result.timed_out)
        result.messages.push_back({CompilerMessage::Severity::error, 0, 0,
                                   "the compiler was stopped after its time limit"});
    else if (!result.ok && result.messages.empty())
        result.messages.push_back(
            {CompilerMessage::Severity::error, 0, 0, "the compiler failed and named no line"});
    return result;
}

std::vector<CompilerMessage> parse_compiler_output(std::string_view output, std::string_view file) {
    std::vector<CompilerMessage> messages;
    while (!output.empty() && messages.size() < most_messages) {
        const std::size_t end = std::min(output.find('\n'), output.size());
        std::string_view line = output.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (auto message = read_line(line, file))
            messages.push_back(std::move(*message));
        output.remove_prefix(std::min(end + 1, output.size()));
    }
    return messages;
}

} // namespace cuset
