#include "app/cli/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <stdlib.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/score_file.h"

namespace cuset::cli {
namespace {

namespace fs = std::filesystem;

// A file of a name of its own in the temporary folder, gone when this is.
class TemporaryFile {
public:
    TemporaryFile() {
        std::string name = (fs::temp_directory_path() / "cuset-XXXXXX").string();
        const int descriptor = mkstemp(name.data());
        if (descriptor < 0)
            throw Error(ErrorCode::disk, std::string("cannot be made: ") + std::strerror(errno),
                        name);
        close(descriptor);
        path_ = name;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

} // namespace

void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs) {
    if (output.empty() || output == "-")
        return;
    for (const std::string& input : inputs) {
        std::error_code missing;
        if (!input.empty() && input != "-" && fs::is_regular_file(output, missing)
            && fs::equivalent(output, input, missing))
            throw Error(ErrorCode::usage,
                        "is read from, so it cannot be written to; name another file",
                        "-o " + output);
    }
}

void require_writable(const std::string& output) {
    std::error_code unknown;
    // A pipe that is opened and closed again would end for its reader.
    if (!output.empty() && output != "-" && !fs::is_other(fs::status(output, unknown)))
        const AtomicFile opened_and_dropped(output);
}

std::shared_ptr<const ScoreSet> read_scores(const std::string& path) {
    if (path != "-")
        return read_score_file(path);
    const TemporaryFile file;
    std::ofstream copy(file.path(), std::ios::binary);
    copy << std::cin.rdbuf();
    copy.close();
    if (!copy)
        throw Error(ErrorCode::disk, "cannot hold standard input", file.path().string());
    return read_score_file(file.path()); // mapped: it may lose its name
}

void write_scores(const std::string& path, const ScoreSet& scores) {
    if (path != "-") {
        write_score_file(path, scores);
        return;
    }
    const TemporaryFile file;
    write_score_file(file.path(), scores);
    std::cout << std::ifstream(file.path(), std::ios::binary).rdbuf() << std::flush;
    if (!std::cout)
        throw Error(ErrorCode::disk, "could not take the score file", "standard output");
}

void finish_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw Error(ErrorCode::disk, "could not take all of the results: is the disk full?",
                    "standard output");
}

} // namespace cuset::cli
