#include "core/io/text_source.h"

#include <cassert>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

namespace cuset {
namespace {

constexpr std::size_t chunk_bytes = 256 * 1024;

[[noreturn]] void throw_open_error(const std::string& name) {
    if (errno == ENOENT || errno == ENOTDIR)
        throw Error(ErrorCode::not_found, "no such file", name);
    throw Error(ErrorCode::unreadable, std::string("cannot be opened: ") + std::strerror(errno),
                name);
}

} // namespace

TextSource::TextSource(const std::filesystem::path& path, RunControl& control)
    : name_(path == "-" ? "standard input" : path.string())
    , control_(control) {
    if (path == "-") {
        descriptor_ = STDIN_FILENO;
        return;
    }
    struct stat status { };
    if (::stat(path.c_str(), &status) != 0)
        throw_open_error(name_);
    if (S_ISDIR(status.st_mode))
        throw Error(ErrorCode::unreadable, "is a folder, a file is needed", name_);
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        throw Error(ErrorCode::unreadable, "is a device or socket, a file or pipe is needed",
                    name_);
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0)
        throw_open_error(name_);
    size_ = S_ISREG(status.st_mode) ? status.st_size : 0;
}

TextSource::~TextSource() {
    if (descriptor_ >= 0 && descriptor_ != STDIN_FILENO)
        ::close(descriptor_);
}

bool TextSource::fill() {
    if (ended_)
        return false;
    control_.checkpoint({"reading data", read_, size_, "bytes"});
    if (begin_ > 0) {
        buffer_.erase(0, begin_);
        begin_ = 0;
    }
    const std::size_t old_size = buffer_.size();
    buffer_.resize(old_size + chunk_bytes);
    ssize_t got = 0;
    do {
        got = ::read(descriptor_, buffer_.data() + old_size, chunk_bytes);
        if (got < 0 && errno == EINTR)
            control_.throw_if_stopped();
    } while (got < 0 && errno == EINTR);
    const int failure = errno;
    buffer_.resize(old_size + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got < 0)
        throw Error(ErrorCode::unreadable, std::string("reading failed: ") + std::strerror(failure),
                    name_);
    read_ += got;
    ended_ = got == 0;
    return !ended_;
}

void TextSource::consume(std::size_t count) {
    assert(count <= pending().size());
    begin_ += count;
}

std::string_view TextSource::peek(std::size_t count) {
    while (pending().size() < count && fill()) { }
    return pending();
}

} // namespace cuset
