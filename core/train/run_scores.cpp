#include "core/train/run_scores.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "core/analysis/comparison.h"
#include "core/base/error.h"
#include "core/io/score_file.h"
#include "core/train/checkpoint.h"
#include "core/train/run_folder.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view suffix = ".scores.safetensors";

fs::path scores_folder(const fs::path& run) {
    return run / "scores";
}

fs::path score_path(const fs::path& run, std::int64_t step) {
    const std::string name = step == 0 ? "base" : "step-" + std::to_string(step);
    return scores_folder(run) / (name + std::string(suffix));
}

// N of "step-N.scores.safetensors".
std::optional<std::int64_t> step_of(std::string_view name) {
    constexpr std::string_view prefix = "step-";
    if (!name.starts_with(prefix) || !name.ends_with(suffix))
        return std::nullopt;
    name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (error != std::errc() || end != name.data() + name.size() || step <= 0)
        return std::nullopt;
    return step;
}

bool is_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
}

// An adapter or a model that can be loaded; nothing of a folder that is being written or removed.
std::optional<RunCheckpoint> as_checkpoint(const fs::path& run, std::int64_t step,
                                           const fs::path& folder) {
    const bool adapter =
        is_file(folder / "adapter_config.json") && is_file(folder / "adapter_model.safetensors");
    if (!adapter && !is_file(folder / "config.json"))
        return std::nullopt;
    return RunCheckpoint{step, folder, adapter, score_path(run, step)};
}

std::map<std::int64_t, fs::path> kept_files(const fs::path& run) {
    std::map<std::int64_t, fs::path> files;
    std::error_code error;
    for (fs::directory_iterator entry(scores_folder(run), error), end; !error && entry != end;
         entry.increment(error))
        if (const auto step = step_of(entry->path().filename().string()))
            files.emplace(*step, entry->path());
    return files;
}

// A file that was written before the checkpoint's weights are of another run of that name.
bool is_older(const fs::path& scores, const RunCheckpoint& checkpoint) {
    if (checkpoint.folder.empty())
        return false;
    std::error_code error;
    const auto written = fs::last_write_time(scores, error);
    if (error)
        return true;
    const fs::path weights =
        checkpoint.folder / (checkpoint.is_adapter ? "adapter_model.safetensors" : "config.json");
    const auto made = fs::last_write_time(weights, error);
    return !error && written < made;
}

std::shared_ptr<const ScoreSet> read_if_sound(const fs::path& path) {
    if (!is_file(path))
        return nullptr;
    try {
        return read_score_file(path);
    } catch (const Error&) {
        return nullptr; // damaged: it is made again
    }
}

// Same ids in the same order with the same tokens.
bool same_tokens(const ScoreSet& a, const ScoreSet& b) {
    if (a.sample_count() != b.sample_count())
        return false;
    for (std::int64_t n = 0; n < a.sample_count(); ++n)
        if (a.id(n) != b.id(n)
            || !std::ranges::equal(
                a.columns().token_id.subspan(
                    static_cast<std::size_t>(a.token_begin(n)),
                    static_cast<std::size_t>(a.token_end(n) - a.token_begin(n))),
                b.columns().token_id.subspan(
                    static_cast<std::size_t>(b.token_begin(n)),
                    static_cast<std::size_t>(b.token_end(n) - b.token_begin(n)))))
            return false;
    return true;
}

// Every sample that can be scored is in `scores` as it is, and nothing else.
bool holds_samples(const ScoreSet& scores, const std::vector<Sample>& samples) {
    std::unordered_map<std::string_view, const Sample*> by_id;
    for (const Sample& sample : samples)
        by_id.emplace(sample.id, &sample);
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        const auto found = by_id.find(scores.id(n));
        if (found == by_id.end() || found->second->prompt != scores.prompt(n)
            || (found->second->prepared.ids.empty()
                && found->second->response != scores.response(n)))
            return false;
    }
    return scores.sample_count() == static_cast<std::int64_t>(samples.size());
}

} // namespace

std::vector<RunCheckpoint> list_run_checkpoints(const fs::path& run) {
    if (!is_run_folder(run))
        throw Error(ErrorCode::not_found,
                    "is no run folder: it needs config.json and events.jsonl, as `cuset train` "
                    "makes them",
                    run.string());
    std::map<std::int64_t, RunCheckpoint> found;
    for (const CheckpointPlace& place : list_checkpoints(run / "checkpoints"))
        if (const auto checkpoint = as_checkpoint(run, place.step, place.path))
            found.emplace(place.step, *checkpoint);
    const std::int64_t last = summarize_run(run).finished.step;
    if (last > 0 && !found.contains(last))
        if (const auto checkpoint = as_checkpoint(run, last, run / "final"))
            found.emplace(last, *checkpoint);
    for (const auto& [step, path] : kept_files(run))
        if (!found.contains(step))
            found.emplace(step, RunCheckpoint{step, {}, true, path});
    std::vector<RunCheckpoint> list{{0, {}, true, score_path(run, 0)}};
    for (auto& [step, checkpoint] : found)
        list.push_back(std::move(checkpoint));
    return list;
}

std::shared_ptr<const ScoreSet> kept_scores(const RunCheckpoint& checkpoint, const ScoreSet& base) {
    const auto kept = read_if_sound(checkpoint.scores);
    if (!kept || is_older(checkpoint.scores, checkpoint)
        || !provenance_differences(base.provenance(), kept->provenance()).empty()
        || (checkpoint.is_adapter
            && kept->provenance().model_sha256 != base.provenance().model_sha256)
        || !same_tokens(base, *kept))
        return nullptr;
    return kept;
}

std::shared_ptr<const ScoreSet> kept_base_scores(const RunCheckpoint& base,
                                                 std::shared_ptr<const ScoreSet> present,
                                                 const InferenceSession& session,
                                                 const std::vector<Sample>& samples,
                                                 const ScoreOptions& options) {
    const ScoreProvenance wanted = session.provenance(options);
    for (const auto& candidate : {std::move(present), read_if_sound(base.scores)})
        if (candidate && candidate->provenance().adapter.empty()
            && candidate->provenance().model_sha256 == wanted.model_sha256
            && provenance_differences(wanted, candidate->provenance()).empty()
            && holds_samples(*candidate, samples))
            return candidate;
    return nullptr;
}

void keep_scores(const RunCheckpoint& checkpoint, const ScoreSet& scores) {
    std::error_code error;
    fs::create_directories(checkpoint.scores.parent_path(), error);
    if (error)
        throw Error(ErrorCode::disk, "cannot be made: " + error.message(),
                    checkpoint.scores.parent_path().string());
    write_score_file(checkpoint.scores, scores);
}

std::vector<fs::path> run_score_files(const fs::path& run) {
    std::vector<fs::path> files;
    for (const RunCheckpoint& checkpoint : list_run_checkpoints(run))
        if (is_file(checkpoint.scores))
            files.push_back(checkpoint.scores);
    return files;
}

} // namespace cuset
