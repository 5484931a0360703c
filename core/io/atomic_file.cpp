#include "core/io/atomic_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// Bytes that the user may still write to the file system of `folder`, or the largest number if
// unknown.
std::uint64_t free_bytes(const std::filesystem::path& folder) {
    struct statvfs status { };
    if (::statvfs(folder.c_str(), &status) != 0)
        return UINT64_MAX;
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

// True if the path is there and writing goes to something other than a regular file.
bool is_stream(const std::filesystem::path& path) {
    struct stat status { };
    return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)
        && !S_ISDIR(status.st_mode);
}

std::filesystem::path resolve_links(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error))
        return path;
    std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
    return error ? path : resolved;
}

constexpr std::string_view temporary_begin = ".cuset-", temporary_end = ".tmp";

std::string temporary_name(unsigned attempt) {
    static std::atomic<unsigned> counter{0};
    return std::string(temporary_begin) + std::to_string(::getpid()) + "-"
        + std::to_string(counter++ + attempt) + std::string(temporary_end);
}

// The process that a temporary file's name tells of, or 0 if it is no such name.
::pid_t writer_of(std::string_view name) {
    if (!name.starts_with(temporary_begin) || !name.ends_with(temporary_end))
        return 0;
    name = name.substr(temporary_begin.size(),
                       name.size() - temporary_begin.size() - temporary_end.size());
    ::pid_t process = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    unsigned number = 0;
    if (error != std::errc() || process <= 0 || rest == name.data() + name.size() || *rest != '-'
        || std::from_chars(rest + 1, name.data() + name.size(), number).ptr
            != name.data() + name.size())
        return 0;
    return process;
}

// Removes a file that its writer left behind. A living writer holds a lock on it, on other machines
// and in other containers too; one that waits for the lock looks afterwards whether its file is
// still there.
void remove_if_dead(const std::filesystem::path& path, ::pid_t writer) {
    if (::kill(writer, 0) == 0 || errno != ESRCH)
        return;
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    struct stat status { };
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid()
        && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(descriptor);
}

// What writers that were killed left in `folder`. Failing to is no reason not to save.
void remove_left_behind(const std::filesystem::path& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        if (const ::pid_t writer = writer_of(at->path().filename().native()); writer > 0)
            remove_if_dead(at->path(), writer);
}

// True if the new file is ours alone. A file system without locks is as good.
bool lock_new_file(int descriptor) {
    struct stat status { };
    static_cast<void>(::flock(descriptor, LOCK_EX));
    return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

} // namespace

AtomicFile::AtomicFile(std::filesystem::path target)
    : target_(std::move(target))
    , final_(resolve_links(target_)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(final_, ignored))
        throw Error(ErrorCode::disk, "is a folder, cannot be replaced by a file", target_.string());
    if (is_stream(final_)) {
        descriptor_ = ::open(final_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0)
            fail("opening it", errno);
        return;
    }
    struct stat old { };
    const bool replaces = ::stat(final_.c_str(), &old) == 0;
    remove_left_behind(folder());
    for (unsigned attempt = 0; descriptor_ < 0; ++attempt) {
        temporary_ = folder() / temporary_name(attempt);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0) {
            if (!lock_new_file(descriptor_))
                ::close(std::exchange(descriptor_, -1));
        } else if (errno != EEXIST || attempt == 100) {
            const int code = errno;
            if (code == ENOENT || code == ENOTDIR)
                throw Error(ErrorCode::disk,
                            "the folder " + printable(folder().string())
                                + " is not there; make it first",
                            target_.string());
            fail("making a temporary file beside it", code);
        }
    }
    // A file that keeps its name keeps who may read it; failing to is no reason not to save.
    if (replaces)
        static_cast<void>(::fchmod(descriptor_, old.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
}

std::filesystem::path AtomicFile::folder() const {
    const std::filesystem::path parent = final_.parent_path();
    return parent.empty() ? std::filesystem::path(".") : parent;
}

void AtomicFile::fail(const std::string& doing, int code) const {
    std::string text = doing + " failed: " + std::generic_category().message(code);
    if (code == ENOSPC || code == EDQUOT || code == EFBIG)
        text += "; needs at least " + format_bytes(bytes_) + ", "
            + format_bytes(free_bytes(folder())) + " free in " + printable(folder().string())
            + " (free some space or name another place)";
    else if (code == EACCES || code == EPERM || code == EROFS)
        text += " (name a place that you may write to)";
    throw Error(ErrorCode::disk, text, target_.string());
}

void AtomicFile::reserve(std::uint64_t bytes) {
    if (temporary_.empty())
        return;
    const std::uint64_t there = free_bytes(folder());
    if (there < bytes)
        throw Error(ErrorCode::disk,
                    "needs " + format_bytes(bytes) + ", " + format_bytes(there) + " free in "
                        + printable(folder().string()) + " (free some space or name another place)",
                    target_.string());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
    write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::write(std::string_view text) {
    bytes_ += text.size();
    if (buffer_.size() + text.size() > buffer_bytes)
        flush();
    if (text.size() >= buffer_bytes)
        write_through(text);
    else
        buffer_ += text;
}

void AtomicFile::flush() {
    write_through(buffer_);
    buffer_.clear();
}

void AtomicFile::write_through(std::string_view text) {
    // Linux writes at most 2 GiB in one call.
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), most));
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail("writing it", errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void AtomicFile::commit() {
    flush();
    // Some file systems and all pipes cannot sync and say so; that is not a failure of ours.
    const auto sync = [](int descriptor) {
        return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
    };
    if (!sync(descriptor_))
        fail("writing it to the disk", errno);
    // Renamed before it is closed: a writer on another machine must not take it for left behind.
    if (!temporary_.empty() && ::rename(temporary_.c_str(), final_.c_str()) != 0)
        fail("renaming the temporary file to it", errno);
    const bool was_renamed = !temporary_.empty();
    temporary_.clear();
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
        fail("closing it", errno);
    if (!was_renamed)
        return;
    const int parent = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return; // a folder that may be written to but not read cannot be synced
    const bool synced = sync(parent);
    const int code = errno;
    ::close(parent);
    if (!synced)
        fail("writing its folder to the disk", code);
}

void write_file_atomically(const std::filesystem::path& target, std::string_view text) {
    AtomicFile file(target);
    file.write(text);
    file.commit();
}

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
    const auto fail = [&](int code) {
        const bool missing = code == ENOENT || code == ENOTDIR;
        throw Error(missing ? ErrorCode::not_found : ErrorCode::unreadable,
                    missing ? "no such file"
                        : code == EISDIR
                        ? "is a folder, a file is needed"
                        : "cannot be read: " + std::generic_category().message(code),
                    path.string());
    };
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        fail(errno);
    struct Closer {
        int descriptor;
        ~Closer() { ::close(descriptor); }
    } const closer{descriptor};
    struct stat status { };
    const bool sized = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const auto size = sized ? static_cast<std::uint64_t>(status.st_size) : 0;
    std::string text;
    // One byte more than is expected, so that the usual file ends with one read of nothing.
    const std::uint64_t most = max_bytes + (max_bytes == UINT64_MAX ? 0 : 1);
    text.resize(std::min(size + 1, most));
    std::size_t filled = 0;
    for (;;) {
        const ssize_t got = ::read(descriptor, text.data() + filled, text.size() - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            fail(errno);
        if (got == 0)
            break;
        filled += static_cast<std::size_t>(got);
        if (filled > max_bytes)
            throw Error(ErrorCode::limit,
                        (size > max_bytes ? "is " + format_bytes(size) : "is larger") + ", at most "
                            + format_bytes(max_bytes) + " are read",
                        path.string());
        if (filled == text.size())
            text.resize(std::min<std::uint64_t>(text.size() * 2 + 4096, most));
    }
    text.resize(filled);
    return text;
}

} // namespace cuset
