#include "core/model/label_file.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/cuda/structure.h"
#include "core/cuda/token_labels.h"
#include "core/io/atomic_file.h"
#include "core/io/companion_file.h"

namespace cuset {
namespace {

constexpr std::uint64_t most_bytes = 64ull << 20;

std::vector<ByteSpan> spans_of(const ScoreSet& scores, std::int64_t n) {
    std::vector<ByteSpan> spans;
    spans.reserve(static_cast<std::size_t>(scores.token_end(n) - scores.token_begin(n)));
    for (std::int64_t t = scores.token_begin(n); t < scores.token_end(n); ++t)
        spans.push_back(scores.span(t));
    return spans;
}

} // namespace

std::filesystem::path label_file_for(const std::filesystem::path& data_or_scores) {
    return companion_file(data_or_scores, ".labels.json");
}

std::vector<LabelCorrection> read_label_file(const std::filesystem::path& path) {
    return read_corrections(read_file(path, most_bytes), path.string());
}

void write_label_file(const std::filesystem::path& path,
                      std::span<const LabelCorrection> corrections) {
    write_file_atomically(path, write_corrections(corrections));
}

std::vector<LabelCorrection> find_corrections(std::span<const std::filesystem::path> data,
                                              const std::filesystem::path& named) {
    if (!named.empty())
        return read_label_file(named);
    if (data.empty() || data.front() == "-")
        return {};
    const std::filesystem::path beside = label_file_for(data.front());
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored))
        return {};
    return read_label_file(beside);
}

std::size_t count_meant(const ScoreSet& scores, std::span<const LabelCorrection> corrections) {
    std::unordered_map<std::string_view, std::int64_t> index;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n)
        index.emplace(scores.id(n), n);
    return static_cast<std::size_t>(
        std::ranges::count_if(corrections, [&](const LabelCorrection& correction) {
            const auto found = index.find(correction.sample_id);
            return found != index.end()
                && static_cast<std::size_t>(correction.span.begin)
                < scores.response(found->second).size();
        }));
}

std::shared_ptr<const ScoreSet> corrected_scores(const std::shared_ptr<const ScoreSet>& scores,
                                                 std::span<const LabelCorrection> corrections,
                                                 std::span<const std::string> relabelled) {
    if (corrections.empty() && relabelled.empty())
        return scores;
    std::unordered_map<std::string_view, std::vector<LabelCorrection>> by_id;
    for (const LabelCorrection& correction : corrections)
        by_id[correction.sample_id].push_back(correction);
    const std::unordered_set<std::string_view> afresh(relabelled.begin(), relabelled.end());
    const std::span<const LabelBits> old = scores->columns().labels;
    std::vector<LabelBits> labels(old.begin(), old.end());
    bool meant = false;
    for (std::int64_t n = 0; n < scores->sample_count(); ++n) {
        const auto found = by_id.find(scores->id(n));
        const bool again = afresh.count(scores->id(n)) != 0;
        if (found == by_id.end() && !again)
            continue;
        meant = true;
        const std::vector<ByteSpan> spans = spans_of(*scores, n);
        const std::span<LabelBits> own = std::span(labels).subspan(
            static_cast<std::size_t>(scores->token_begin(n)), spans.size());
        if (again)
            std::ranges::copy(label_tokens(find_cuda_structure(scores->response(n)), spans),
                              own.begin());
        if (found != by_id.end())
            apply_corrections(found->second, scores->id(n), spans, own);
    }
    return meant ? scores->with_labels(std::move(labels)) : scores;
}

} // namespace cuset
