#include "core/analysis/comparison.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <unordered_map>

#include "core/analysis/mask.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr std::size_t most_named = 20;
constexpr std::string_view tokens_differ = "its tokens differ, it is left out";
constexpr std::string_view cut_differently = "it was cut at another length, it is left out";
constexpr std::string_view id_twice = "its id occurs more than once, it is left out";
constexpr std::string_view no_token = "it has no response token, it is left out";
constexpr std::array reasons{tokens_differ, cut_differently, id_twice, no_token};

class ChangeSum {
public:
    void add(float before, float after) {
        ++count_;
        before_ += static_cast<double>(confidence_of(before));
        after_ += static_cast<double>(confidence_of(after));
        const double change = static_cast<double>(after) - static_cast<double>(before);
        if (std::isfinite(change)) {
            ++finite_;
            log_prob_ += change;
        }
    }
    void add(const ChangeSum& other) {
        count_ += other.count_;
        finite_ += other.finite_;
        log_prob_ += other.log_prob_;
        before_ += other.before_;
        after_ += other.after_;
    }
    MeanChange mean() const {
        MeanChange result;
        result.count = count_;
        if (finite_ > 0)
            result.log_prob = log_prob_ / static_cast<double>(finite_);
        if (count_ == 0)
            return result;
        const auto count = static_cast<double>(count_);
        result.confidence = (after_ - before_) / count;
        result.confidence_before = before_ / count;
        result.confidence_after = after_ / count;
        return result;
    }

private:
    std::int64_t count_ = 0, finite_ = 0;
    double log_prob_ = 0, before_ = 0, after_ = 0;
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
        const LabelBits bits = a.columns().labels[begin_a + t];
        own.add(before, after);
        (is_cuda_sensitive(bits) ? sums.sensitive : sums.neutral).add(before, after);
        for (std::size_t kind = 0; kind < sums.by_kind.size(); ++kind)
            if ((bits & kind_bit(static_cast<SensitiveKind>(kind))) != 0)
                sums.by_kind[kind].add(before, after);
    }
    return own;
}

// The first few of each reason by name, then how many more there are.
void name_some(const std::vector<LeftOutSample>& samples, std::vector<std::string>& warnings) {
    for (const std::string_view reason : reasons) {
        std::size_t count = 0;
        for (const LeftOutSample& sample : samples)
            if (sample.reason == reason && ++count <= most_named)
                warnings.push_back(printable(sample.id) + ": " + sample.reason);
        if (count > most_named)
            warnings.push_back(std::to_string(count - most_named)
                               + " more samples: " + std::string(reason));
    }
}

} // namespace

std::vector<std::string> provenance_differences(const ScoreProvenance& a,
                                                const ScoreProvenance& b) {
    std::vector<std::string> differences;
    const auto check = [&](std::string_view name, const std::string& left,
                           const std::string& right) {
        if (left != right)
            differences.push_back(std::string(name) + " differs: '" + printable(left, 80)
                                  + "' and '" + printable(right, 80) + "'");
    };
    check("tokenizer_sha256", a.tokenizer_sha256, b.tokenizer_sha256);
    check("template", a.chat_template, b.chat_template);
    check("response", std::string(response_choice_name(a.response)),
          std::string(response_choice_name(b.response)));
    check("dtype", a.dtype, b.dtype);
    check("device", a.device, b.device);
    check("max_length", std::to_string(a.max_length), std::to_string(b.max_length));
    return differences;
}

std::string_view token_difference(const ScoreSet& a, std::int64_t index_a, const ScoreSet& b,
                                  std::int64_t index_b) {
    const auto of_a = token_ids(a, index_a), of_b = token_ids(b, index_b);
    const std::size_t common = std::min(of_a.size(), of_b.size());
    if (!std::ranges::equal(of_a.first(common), of_b.first(common)))
        return tokens_differ;
    if (of_a.size() == of_b.size())
        return of_a.empty() ? no_token : std::string_view();
    // One text, and one sequence of tokens begins the other.
    return a.response(index_a) == b.response(index_b) ? cut_differently : tokens_differ;
}

std::vector<float> confidence_changes(const ScoreSet& a, std::int64_t index_a, const ScoreSet& b,
                                      std::int64_t index_b) {
    const auto begin_a = static_cast<std::size_t>(a.token_begin(index_a));
    const auto begin_b = static_cast<std::size_t>(b.token_begin(index_b));
    std::vector<float> changes(token_ids(a, index_a).size());
    assert(changes.size() == token_ids(b, index_b).size());
    for (std::size_t t = 0; t < changes.size(); ++t)
        changes[t] = confidence_of(b.columns().log_prob[begin_b + t])
            - confidence_of(a.columns().log_prob[begin_a + t]);
    return changes;
}

ComparedConfidences compared_confidences(const Comparison& comparison, const ScoreSet& a,
                                         const ScoreSet& b) {
    ComparedConfidences out;
    for (const SampleChange& sample : comparison.samples) {
        const auto begin_a = static_cast<std::size_t>(a.token_begin(sample.index_a));
        const auto begin_b = static_cast<std::size_t>(b.token_begin(sample.index_b));
        const std::size_t tokens = token_ids(a, sample.index_a).size();
        for (std::size_t t = 0; t < tokens; ++t) {
            const bool sensitive = is_cuda_sensitive(a.columns().labels[begin_a + t]);
            (sensitive ? out.sensitive_before : out.neutral_before)
                .push_back(confidence_of(a.columns().log_prob[begin_a + t]));
            (sensitive ? out.sensitive_after : out.neutral_after)
                .push_back(confidence_of(b.columns().log_prob[begin_b + t]));
        }
    }
    return out;
}

Comparison compare_scores(const ScoreSet& a, const ScoreSet& b) {
    Comparison result;
    result.differences = provenance_differences(a.provenance(), b.provenance());
    result.warnings = result.differences;
    const auto in_a = index_by_id(a), in_b = index_by_id(b);
    Sums sums;
    for (std::int64_t n = 0; n < a.sample_count(); ++n) {
        const std::string& id = a.id(n);
        const auto found = in_b.find(id);
        if (found == in_b.end()) {
            result.only_in_a.push_back(id);
            continue;
        }
        const bool twice = in_a.at(id) < 0 || found->second < 0;
        const std::string_view problem =
            twice ? id_twice : token_difference(a, n, b, found->second);
        if (!problem.empty()) {
            result.left_out.push_back({id, std::string(problem)});
            continue;
        }
        const ChangeSum own = compare_sample(a, n, b, found->second, sums);
        result.samples.push_back({id, n, found->second, own.mean()});
    }
    for (std::int64_t n = 0; n < b.sample_count(); ++n)
        if (!in_a.contains(b.id(n)))
            result.only_in_b.push_back(b.id(n));
    name_some(result.left_out, result.warnings);
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
