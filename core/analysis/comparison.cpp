#include "core/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr std::size_t most_named = 20;

class ChangeSum {
public:
    void add(double log_prob, double confidence) {
        ++count_;
        confidence_ += confidence;
        if (std::isfinite(log_prob)) {
            ++finite_;
            log_prob_ += log_prob;
        }
    }
    void add(const ChangeSum& other) {
        count_ += other.count_;
        finite_ += other.finite_;
        log_prob_ += other.log_prob_;
        confidence_ += other.confidence_;
    }
    MeanChange mean() const {
        MeanChange result;
        result.count = count_;
        if (finite_ > 0)
            result.log_prob = log_prob_ / static_cast<double>(finite_);
        if (count_ > 0)
            result.confidence = confidence_ / static_cast<double>(count_);
        return result;
    }

private:
    std::int64_t count_ = 0, finite_ = 0;
    double log_prob_ = 0, confidence_ = 0;
};

struct Sums {
    ChangeSum sensitive, neutral;
    std::array<ChangeSum, sensitive_kind_count> by_kind;
};

// Index by id; an id that occurs twice is -1.
std::unordered_map<std::string_view, std::int64_t> index_by_id(const ScoreSet& scores) {
    std::unordered_map<std::string_view, std::int64_t> index;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        const auto [place, is_new] = index.emplace(scores.id(n), n);
        if (!is_new)
            place->second = -1;
    }
    return index;
}

std::span<const std::int32_t> token_ids(const ScoreSet& scores, std::int64_t n) {
    const auto begin = static_cast<std::size_t>(scores.token_begin(n));
    return scores.columns().token_id.subspan(begin,
                                             static_cast<std::size_t>(scores.token_end(n)) - begin);
}

ChangeSum compare_sample(const ScoreSet& a, std::int64_t index_a, const ScoreSet& b,
                         std::int64_t index_b, Sums& sums) {
    ChangeSum own;
    const auto begin_a = static_cast<std::size_t>(a.token_begin(index_a));
    const auto begin_b = static_cast<std::size_t>(b.token_begin(index_b));
    const std::size_t tokens = token_ids(a, index_a).size();
    for (std::size_t t = 0; t < tokens; ++t) {
        const float before = a.columns().log_prob[begin_a + t];
        const float after = b.columns().log_prob[begin_b + t];
        const double log_prob = static_cast<double>(after) - static_cast<double>(before);
        const double confidence =
            static_cast<double>(confidence_of(after)) - static_cast<double>(confidence_of(before));
        const LabelBits bits = a.columns().labels[begin_a + t];
        own.add(log_prob, confidence);
        (is_cuda_sensitive(bits) ? sums.sensitive : sums.neutral).add(log_prob, confidence);
        for (std::size_t kind = 0; kind < sums.by_kind.size(); ++kind)
            if ((bits & kind_bit(static_cast<SensitiveKind>(kind))) != 0)
                sums.by_kind[kind].add(log_prob, confidence);
    }
    return own;
}

void name_some(std::string_view what, const std::vector<std::string>& ids,
               std::vector<std::string>& warnings) {
    for (std::size_t i = 0; i < std::min(ids.size(), most_named); ++i)
        warnings.push_back(printable(ids[i]) + ": " + std::string(what));
    if (ids.size() > most_named)
        warnings.push_back(std::to_string(ids.size() - most_named)
                           + " more samples: " + std::string(what));
}

// What differs and makes confidences hard to compare. A model or an adapter may differ: that is the
// point.
void compare_provenance(const ScoreProvenance& a, const ScoreProvenance& b,
                        std::vector<std::string>& warnings) {
    const auto check = [&](std::string_view name, const std::string& left,
                           const std::string& right) {
        if (left != right)
            warnings.push_back(std::string(name) + " differs: '" + printable(left, 80) + "' and '"
                               + printable(right, 80) + "'");
    };
    check("tokenizer_sha256", a.tokenizer_sha256, b.tokenizer_sha256);
    check("template", a.chat_template, b.chat_template);
    check("dtype", a.dtype, b.dtype);
    check("max_length", std::to_string(a.max_length), std::to_string(b.max_length));
}

} // namespace

Comparison compare_scores(const ScoreSet& a, const ScoreSet& b) {
    Comparison result;
    compare_provenance(a.provenance(), b.provenance(), result.warnings);
    const auto in_a = index_by_id(a), in_b = index_by_id(b);
    std::vector<std::string> different, twice, empty;
    Sums sums;
    for (std::int64_t n = 0; n < a.sample_count(); ++n) {
        const std::string& id = a.id(n);
        const auto found = in_b.find(id);
        if (found == in_b.end()) {
            result.only_in_a.push_back(id);
        } else if (in_a.at(id) < 0 || found->second < 0) {
            twice.push_back(id);
        } else if (!std::ranges::equal(token_ids(a, n), token_ids(b, found->second))) {
            different.push_back(id);
        } else if (token_ids(a, n).empty()) {
            empty.push_back(id);
        } else {
            const ChangeSum own = compare_sample(a, n, b, found->second, sums);
            result.samples.push_back({id, n, found->second, own.mean()});
        }
    }
    for (std::int64_t n = 0; n < b.sample_count(); ++n)
        if (!in_a.contains(b.id(n)))
            result.only_in_b.push_back(b.id(n));
    name_some("its tokens differ, it is left out", different, result.warnings);
    name_some("its id occurs more than once, it is left out", twice, result.warnings);
    name_some("it has no response token, it is left out", empty, result.warnings);
    if (result.samples.empty())
        throw Error(ErrorCode::bad_value,
                    "share no sample with the same id and the same tokens ("
                        + std::to_string(a.sample_count()) + " and "
                        + std::to_string(b.sample_count())
                        + " samples); score the same data with the same tokenizer",
                    "score files");
    ChangeSum all = sums.sensitive;
    all.add(sums.neutral);
    result.all = all.mean();
    result.sensitive = sums.sensitive.mean();
    result.neutral = sums.neutral.mean();
    for (std::size_t kind = 0; kind < sums.by_kind.size(); ++kind)
        result.by_kind[kind] = sums.by_kind[kind].mean();
    std::ranges::stable_sort(result.samples, std::ranges::greater{},
                             [](const SampleChange& sample) { return sample.change.confidence; });
    return result;
}

} // namespace cuset
