#include "core/io/atomic_file.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/io/mapped_file.h"
#include "tests/core/io/temporary_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t plenty = 1 << 24;

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

template <typename Action> Error error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::failure, "nothing was thrown");
}

TEST(AtomicFile, ReplacesTheOldFileOnlyOnCommit) {
    const TemporaryFolder folder;
    const auto path = folder.write("a b\n\"c\".txt", "old");
    {
        AtomicFile file(path);
        file.write("new");
        EXPECT_EQ(read_file(path, plenty), "old");
    }
    EXPECT_EQ(read_file(path, plenty), "old");
    EXPECT_EQ(files_in(folder.path()), 1u);
    write_file_atomically(path, "new");
    EXPECT_EQ(read_file(path, plenty), "new");
    EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, KeepsModeAndFollowsLinks) {
    const TemporaryFolder folder;
    const auto path = folder.write("target", "old");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    fs::create_symlink("target", folder.path() / "link");
    write_file_atomically(folder.path() / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
    EXPECT_EQ(read_file(path, plenty), "new");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, ManySmallAndLargeWritesKeepTheirOrder) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a";
    std::string expected;
    AtomicFile file(path);
    for (std::size_t n = 0; n < 300; ++n) {
        const std::string piece(n * n * 7 % 40'000, static_cast<char>('a' + n % 26));
        file.write(piece);
        expected += piece;
    }
    const std::string large(1'000'000, 'z');
    file.write(large);
    file.write("end");
    file.commit();
    EXPECT_EQ(read_file(path, plenty), expected + large + "end");
}

TEST(AtomicFile, SaysWhenThereIsNoRoom) {
    // A file size limit stands for a full disk: it stops the write in the middle.
    const TemporaryFolder folder;
    const auto path = folder.write("a", "old");
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    rlimit small = old;
    small.rlim_cur = 100'000;
    std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const Error error = error_of([&] { write_file_atomically(path, std::string(2'000'000, 'x')); });
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(error.code(), ErrorCode::disk);
    EXPECT_EQ(error.subject(), path.string());
    EXPECT_NE(error.message().find("needs at least 1.9 MiB"), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("free in"), std::string::npos);
    EXPECT_EQ(read_file(path, plenty), "old");
    EXPECT_EQ(files_in(folder.path()), 1u);
}

// A process that writes a little and is killed before it commits; its id.
::pid_t killed_writer(const fs::path& path) {
    int opened[2];
    EXPECT_EQ(::pipe(opened), 0);
    const ::pid_t child = ::fork();
    if (child == 0) {
        AtomicFile file(path);
        file.write("half");
        static_cast<void>(::write(opened[1], "x", 1));
        ::pause();
        ::_exit(1);
    }
    char ready = 0;
    EXPECT_EQ(::read(opened[0], &ready, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(opened[0]);
    ::close(opened[1]);
    return child;
}

TEST(AtomicFile, TheNextWriterRemovesWhatAKilledOneLeft) {
    const TemporaryFolder folder;
    const auto path = folder.write("a", "old");
    const ::pid_t dead = killed_writer(path);
    const std::string dead_name = ".cuset-" + std::to_string(dead) + "-";
    EXPECT_EQ(files_in(folder.path()), 2u);
    // Not ours to remove: other names, what only looks like one, a living writer's file.
    folder.write(".cuset-" + std::to_string(dead) + ".tmp", "");
    folder.write(".cuset-1x-2.tmp", "");
    folder.write(dead_name + "3.tmp.kept", "");
    fs::create_directory(folder.path() / (dead_name + "4.tmp"));
    const AtomicFile living(folder.path() / "b");
    EXPECT_EQ(files_in(folder.path()),
              6u); // the killed writer's is gone, the living one's is there
    write_file_atomically(path, "new");
    EXPECT_EQ(read_file(path, plenty), "new");
    EXPECT_EQ(files_in(folder.path()), 6u);
}

TEST(AtomicFile, AFileThatSomebodyHoldsStays) {
    // As a writer on another machine does, whose process id means nothing here.
    const TemporaryFolder folder;
    const ::pid_t dead = killed_writer(folder.path() / "a");
    const auto held = folder.write(".cuset-" + std::to_string(dead) + "-77.tmp", "half");
    const int descriptor = ::open(held.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
    write_file_atomically(folder.path() / "a", "x");
    EXPECT_TRUE(fs::exists(held));
    ::close(descriptor);
    write_file_atomically(folder.path() / "a", "x");
    EXPECT_FALSE(fs::exists(held));
    EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(AtomicFile, ReserveRefusesWhatTheDiskCannotHold) {
    const TemporaryFolder folder;
    AtomicFile file(folder.path() / "a");
    file.reserve(1);
    const Error error = error_of([&] { file.reserve(std::uint64_t{1} << 62); });
    EXPECT_EQ(error.code(), ErrorCode::disk);
    EXPECT_NE(error.message().find(" free in "), std::string::npos);
}

TEST(AtomicFile, DevicesAreWrittenStraight) {
    write_file_atomically("/dev/null", "x");
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(error_of([] { write_file_atomically("/dev/full", "x"); }).code(), ErrorCode::disk);
}

TEST(AtomicFile, MissingFoldersAndFoldersAsTargetsAreRefused) {
    const TemporaryFolder folder;
    const Error missing = error_of([&] { write_file_atomically(folder.path() / "no" / "a", "x"); });
    EXPECT_EQ(missing.code(), ErrorCode::disk);
    EXPECT_NE(missing.message().find("make it first"), std::string::npos);
    EXPECT_EQ(error_of([&] { write_file_atomically(folder.path(), "x"); }).code(), ErrorCode::disk);
}

TEST(ReadFile, HasALimitAndCodes) {
    const TemporaryFolder folder;
    const auto path = folder.write("a", std::string(1000, 'x'));
    EXPECT_EQ(read_file(path, 1000).size(), 1000u);
    EXPECT_EQ(read_file(path, UINT64_MAX).size(), 1000u);
    EXPECT_EQ(error_of([&] { read_file(path, 999); }).code(), ErrorCode::limit);
    EXPECT_EQ(error_of([&] { read_file("/dev/zero", 5000); }).code(), ErrorCode::limit);
    EXPECT_EQ(read_file("/dev/null", 5), "");
    EXPECT_EQ(read_file(folder.write("empty", ""), 0), "");
    EXPECT_EQ(error_of([&] { read_file(folder.path(), 5); }).code(), ErrorCode::unreadable);
    EXPECT_EQ(error_of([&] { read_file(folder.path() / "no", 5); }).code(), ErrorCode::not_found);
}

TEST(MappedFile, MapsFilesAndRefusesTheRest) {
    const TemporaryFolder folder;
    EXPECT_EQ(MappedFile(folder.write("a", "abc")).bytes().size(), 3u);
    EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(error_of([&] { MappedFile file(pipe); }).code(), ErrorCode::unreadable);
    EXPECT_EQ(error_of([&] { MappedFile file(folder.path() / "no"); }).code(),
              ErrorCode::not_found);
}

} // namespace
} // namespace cuset
