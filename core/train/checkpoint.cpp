#include "core/train/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/io/atomic_file.h"
#include "core/io/mapped_file.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
constexpr std::string_view unfinished = ".unfinished-";
constexpr std::uint64_t manifest_limit = 1u << 20;

[[noreturn]] void fail_disk(const fs::path& path, const std::string& doing,
                            const std::error_code& error) {
    throw Error(ErrorCode::disk, doing + " failed: " + error.message(), path.string());
}

void sync_path(const fs::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        fail_disk(path, "opening it", {errno, std::generic_category()});
    const bool done = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int code = errno;
    ::close(descriptor);
    if (!done)
        fail_disk(path, "writing it to the disk", {code, std::generic_category()});
}

std::string hash_of(const fs::path& path) {
    const MappedFile file(path);
    Sha256 sha;
    sha.update(file.bytes());
    return sha.hex_digest();
}

std::optional<std::int64_t> step_of(const std::string& name) {
    constexpr std::string_view prefix = "step-";
    if (!name.starts_with(prefix))
        return std::nullopt;
    std::int64_t step = -1;
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, step);
    if (parsed.ec != std::errc() || parsed.ptr != end || step < 0)
        return std::nullopt;
    return step;
}

// What is there; one that cannot be read to its end, as far as it can.
std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        paths.push_back(entry->path());
    return paths;
}

// Whatever goes wrong while `work` writes and reads back is the disk's.
template <class F> auto with_disk_errors(const fs::path& path, F work) {
    try {
        return work();
    } catch (const fs::filesystem_error& error) {
        fail_disk(path, "writing it", error.code());
    } catch (const Error& error) {
        throw Error(ErrorCode::disk, error.message(), error.subject());
    }
}

} // namespace

void require_space(const fs::path& folder, std::uint64_t bytes) {
    std::error_code error;
    const fs::space_info space = fs::space(folder, error);
    if (!error && space.available < bytes)
        throw Error(ErrorCode::disk,
                    "a checkpoint needs " + format_bytes(bytes) + ", "
                        + format_bytes(space.available)
                        + " are free; free some space and go on with --resume",
                    folder.string());
}

CheckpointWriter::CheckpointWriter(fs::path checkpoints, std::int64_t step, std::uint64_t bytes)
    : checkpoints_(std::move(checkpoints))
    , step_(step) {
    require_space(checkpoints_, bytes);
    const fs::path folder =
        checkpoints_ / (std::string(unfinished) + "step-" + std::to_string(step));
    std::error_code error;
    fs::remove_all(folder, error);
    if (!fs::create_directory(folder, error))
        fail_disk(folder, "making it", error);
    temporary_ = folder;
}

CheckpointWriter::~CheckpointWriter() {
    std::error_code ignored;
    if (!temporary_.empty())
        fs::remove_all(temporary_, ignored);
}

CheckpointPlace CheckpointWriter::commit() {
    return with_disk_errors(temporary_, [&] {
        write_manifest();
        return rename_to_place();
    });
}

void CheckpointWriter::write_manifest() {
    json files = json::object();
    for (const fs::directory_entry& entry : fs::directory_iterator(temporary_)) {
        sync_path(entry.path());
        files[entry.path().filename().string()] = {{"bytes", entry.file_size()},
                                                   {"sha256", hash_of(entry.path())}};
    }
    const json manifest{{"format", 1}, {"step", step_}, {"files", files}};
    write_file_atomically(temporary_ / "manifest.json", manifest.dump(1) + "\n");
    sync_path(temporary_);
}

CheckpointPlace CheckpointWriter::rename_to_place() {
    const CheckpointPlace place{step_, checkpoints_ / ("step-" + std::to_string(step_))};
    std::error_code error;
    if (fs::exists(place.path, error)) {
        // The same step of a run that went on from before it: the same content if it is whole.
        if (checkpoint_fault(place.path).empty())
            return place;
        fs::remove_all(place.path, error);
    }
    fs::rename(temporary_, place.path, error);
    if (error)
        fail_disk(place.path, "renaming the finished folder to it", error);
    temporary_.clear();
    sync_path(checkpoints_);
    return place;
}

std::vector<CheckpointPlace> list_checkpoints(const fs::path& checkpoints) {
    std::vector<CheckpointPlace> places;
    for (const fs::path& path : entries_of(checkpoints))
        if (const auto step = step_of(path.filename().string()))
            places.push_back({*step, path});
    std::sort(places.begin(), places.end(),
              [](const auto& a, const auto& b) { return a.step > b.step; });
    return places;
}

std::string checkpoint_fault(const fs::path& folder) {
    try {
        const json manifest =
            json::parse(read_file(folder / "manifest.json", manifest_limit), nullptr, false);
        if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
            return "manifest.json cannot be understood";
        for (const auto& [name, entry] : manifest["files"].items()) {
            if (name.find('/') != std::string::npos || name == "..")
                return "manifest.json names a file outside of the folder";
            std::error_code error;
            const auto size = fs::file_size(folder / name, error);
            if (error)
                return name + " is missing";
            if (size != entry.at("bytes").get<std::uint64_t>())
                return name + " is " + std::to_string(size) + " bytes, the manifest says "
                    + entry.at("bytes").dump();
            if (hash_of(folder / name) != entry.at("sha256").get<std::string>())
                return name + " has another SHA-256 than the manifest says";
        }
        return {};
    } catch (const Error& error) {
        return error.what();
    } catch (const json::exception&) {
        return "manifest.json cannot be understood";
    }
}

std::optional<CheckpointPlace> newest_checkpoint(const fs::path& checkpoints,
                                                 std::vector<std::string>& faults) {
    for (const CheckpointPlace& place : list_checkpoints(checkpoints)) {
        const std::string fault = checkpoint_fault(place.path);
        if (fault.empty())
            return place;
        faults.push_back(place.path.filename().string() + ": " + fault);
    }
    return std::nullopt;
}

void prune_checkpoints(const fs::path& checkpoints, std::int64_t keep, std::int64_t best_step) {
    std::int64_t kept = 0;
    for (const CheckpointPlace& place : list_checkpoints(checkpoints)) {
        if (kept++ < keep || place.step == best_step)
            continue;
        // Renamed first: a kill in the middle leaves no checkpoint that only looks whole.
        std::error_code error;
        const fs::path doomed =
            checkpoints / (std::string(unfinished) + "old-" + std::to_string(place.step));
        fs::rename(place.path, doomed, error);
        if (!error)
            fs::remove_all(doomed, error);
    }
    clean_unfinished(checkpoints); // what an earlier removal left
}

void clean_unfinished(const fs::path& checkpoints) {
    std::error_code ignored;
    for (const fs::path& path : entries_of(checkpoints))
        if (path.filename().string().starts_with(unfinished))
            fs::remove_all(path, ignored);
}

} // namespace cuset
