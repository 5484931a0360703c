#include "core/io/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

class Descriptor {
public:
    explicit Descriptor(int value)
        : value_(value) { }
    ~Descriptor() {
        if (value_ >= 0)
            ::close(value_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return value_; }

private:
    int value_;
};

[[noreturn]] void throw_open_error(const std::filesystem::path& path, int code) {
    const std::string subject = path.string();
    if (code != ENOENT && code != ENOTDIR)
        throw Error(ErrorCode::unreadable,
                    "cannot be opened: " + std::generic_category().message(code), subject);
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored))
        throw Error(ErrorCode::not_found,
                    "is a link to "
                        + printable(std::filesystem::read_symlink(path, ignored).string())
                        + ", which is not there (an incomplete download?)",
                    subject);
    throw Error(ErrorCode::not_found, "no such file", subject);
}

} // namespace

MappedFile::MappedFile(const std::filesystem::path& path)
    : path_(path) {
    // O_NONBLOCK: a pipe in place of a file must be refused below, not waited for.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        throw_open_error(path, errno);
    struct stat status { };
    if (::fstat(file.get(), &status) != 0)
        throw_open_error(path, errno);
    if (S_ISDIR(status.st_mode))
        throw Error(ErrorCode::unreadable, "is a folder, a file is needed", path.string());
    if (!S_ISREG(status.st_mode))
        throw Error(ErrorCode::unreadable, "is a device or pipe, a regular file is needed",
                    path.string());
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0)
        return;
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED)
        throw Error(errno == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::unreadable,
                    "cannot be mapped into memory (" + format_bytes(size)
                        + "): " + std::generic_category().message(errno),
                    path.string());
    bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::~MappedFile() {
    if (!bytes_.empty())
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

} // namespace cuset
