#include "core/train/run_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"

namespace cuset {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
constexpr std::uint64_t limit = 1u << 16;

std::string read_or_empty(const fs::path& path) {
    try {
        return read_file(path, limit);
    } catch (const Error&) {
        return {};
    }
}

std::string first_line(std::string text) {
    return text.substr(0, text.find('\n'));
}

// The fields of /proc/PID/stat (proc(5)) after the command's name, which, in parentheses, may hold
// anything; empty if there is no such process.
std::vector<std::string> status_of(std::int64_t pid) {
    const std::string text = read_or_empty("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = text.rfind(')');
    std::vector<std::string> fields;
    if (name_end != std::string::npos) {
        std::istringstream words(text.substr(name_end + 1));
        for (std::string word; words >> word;)
            fields.push_back(word);
    }
    return fields;
}

// Fields 3 and 22 of them.
constexpr std::size_t state_field = 0, start_field = 19;

std::string start_time(const std::vector<std::string>& fields) {
    if (fields.size() <= start_field)
        return {};
    return first_line(read_or_empty("/proc/sys/kernel/random/boot_id")) + ":" + fields[start_field];
}

// Serialises those who would take over the same stale lock.
class FolderGuard {
public:
    explicit FolderGuard(const fs::path& folder)
        : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (descriptor_ >= 0)
            while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) { }
    }
    ~FolderGuard() {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }
    FolderGuard(const FolderGuard&) = delete;
    FolderGuard& operator=(const FolderGuard&) = delete;

private:
    int descriptor_;
};

} // namespace

LockHolder this_process() {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    const auto pid = static_cast<std::int64_t>(::getpid());
    return {pid, start_time(status_of(pid)), host};
}

bool is_alive(const LockHolder& holder) {
    const std::vector<std::string> fields = status_of(holder.pid);
    return fields.size() > start_field && start_time(fields) == holder.start_time
        && fields[state_field] != "Z" && fields[state_field] != "X";
}

LockReport inspect_lock(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
        return {};
    LockReport report;
    report.state = LockState::stale;
    const json object = json::parse(read_or_empty(path), nullptr, false);
    if (!object.is_object() || !object.contains("pid") || !object["pid"].is_number_integer())
        return report;
    report.holder.pid = object["pid"].get<std::int64_t>();
    const auto text = [&](const char* key) {
        const auto found = object.find(key);
        return found != object.end() && found->is_string() ? found->get<std::string>()
                                                           : std::string();
    };
    report.holder.start_time = text("start_time");
    report.holder.host = text("host");
    if (report.holder.host != this_process().host)
        report.state = LockState::foreign;
    else if (is_alive(report.holder))
        report.state = LockState::held;
    else
        // The number is in use, but by another process.
        report.recycled = report.holder.pid > 0 && !status_of(report.holder.pid).empty()
            && start_time(status_of(report.holder.pid)) != report.holder.start_time;
    return report;
}

RunLock::RunLock(fs::path path)
    : path_(std::move(path)) {
    const FolderGuard guard(path_.parent_path());
    const LockReport report = inspect_lock(path_);
    const LockHolder& holder = report.holder;
    if (report.state == LockState::held)
        throw Error(ErrorCode::usage,
                    "the run is being written by process " + std::to_string(holder.pid)
                        + "; stop it first (kill -TERM), or name another output",
                    path_.string());
    if (report.state == LockState::foreign)
        throw Error(ErrorCode::usage,
                    "the run is locked by process " + std::to_string(holder.pid) + " of machine "
                        + printable(holder.host, 80)
                        + "; if that process is gone, delete this file and start again",
                    path_.string());
    const LockHolder me = this_process();
    write_file_atomically(
        path_,
        json{{"pid", me.pid}, {"start_time", me.start_time}, {"host", me.host}}.dump() + "\n");
}

RunLock::~RunLock() {
    std::error_code ignored;
    fs::remove(path_, ignored);
}

} // namespace cuset
