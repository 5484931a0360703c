#include "core/analysis/corpus_state.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/analysis/float_sort.h"
#include "core/analysis/kernels.h"
#include "core/analysis/mask.h"
#include "core/analysis/window_sums.h"

namespace cuset {
namespace {

// Small enough to share out evenly, large enough to outweigh the sharing out.
constexpr std::int64_t chunk_tokens = 1 << 16;

double share(double part, std::int64_t whole) {
    return whole > 0 ? part / static_cast<double>(whole) : 0.0;
}

// Eight tokens a bin on average, so that the bins' own memory stays small beside the tokens'.
int bins_for(std::int64_t tokens, std::int64_t samples) {
    constexpr std::int64_t bin_tokens = 8, most_bins = 64;
    const std::int64_t wanted = samples > 0 ? tokens / samples / (2 * bin_tokens) : 1;
    return static_cast<int>(
        std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(wanted, 1, most_bins))));
}

// `bins` is a power of two: the product is exact, and a larger confidence is never in a lower bin.
std::size_t bin_of(float confidence, int bins) {
    return static_cast<std::size_t>(
        std::min(bins - 1, static_cast<int>(confidence * static_cast<float>(bins))));
}

Moments moments_of_kind(std::span<const float> confidence, std::span<const LabelBits> labels,
                        SensitiveKind kind) {
    std::vector<float> values;
    for (std::size_t t = 0; t < confidence.size(); ++t)
        if ((labels[t] & kind_bit(kind)) != 0)
            values.push_back(confidence[t]);
    return moments(values);
}

// Mean, least and greatest of what is added.
struct RangeSum {
    double sum = 0, min = std::numeric_limits<double>::max(), max = 0;
    std::int64_t count = 0;

    void add(double value) {
        sum += value;
        min = std::min(min, value);
        max = std::max(max, value);
        ++count;
    }
    Range range() const {
        return count > 0 ? Range{sum / static_cast<double>(count), min, max} : Range{};
    }
};

// Tokens with M > 0, and the sum of M (Eq. 4), from counts: both masks overlap in `both` tokens.
struct MaskCounts {
    std::int64_t supervised = 0;
    double mask_sum = 0;
};
MaskCounts mask_counts(std::int64_t tokens, std::int64_t confident, std::int64_t cuda,
                       std::int64_t both, const MaskSettings& settings) {
    if (!settings.confidence_mask && !settings.cuda_mask)
        return {tokens, static_cast<double>(tokens)};
    const std::int64_t by_confidence = settings.confidence_mask ? confident : 0;
    const std::int64_t by_cuda = settings.cuda_mask ? cuda : 0;
    const std::int64_t overlap = settings.confidence_mask && settings.cuda_mask ? both : 0;
    return {by_confidence + by_cuda - overlap,
            static_cast<double>(by_confidence) + settings.lambda * static_cast<double>(by_cuda)};
}

} // namespace

void CorpusState::find_chunks() {
    chunk_begin = {0};
    std::int64_t first_token = 0;
    for (std::int64_t n = 0; n < samples(); ++n)
        if (scores->token_end(n) - first_token >= chunk_tokens || n + 1 == samples()) {
            chunk_begin.push_back(n + 1);
            first_token = scores->token_end(n);
        }
}

void CorpusState::for_chunks(const std::function<void(std::int64_t, std::int64_t)>& body) const {
    const auto chunks = static_cast<std::int64_t>(chunk_begin.size()) - 1;
    parallel_for(chunks, [&](std::int64_t chunk) {
        const auto i = static_cast<std::size_t>(chunk);
        body(chunk_begin[i], chunk_begin[i + 1]);
    });
}

void CorpusState::prepare_tokens() {
    const auto token_count = static_cast<std::size_t>(scores->token_count());
    const auto sample_count = static_cast<std::size_t>(samples());
    confidence.resize(token_count);
    binned.resize(token_count);
    bins = bins_for(scores->token_count(), samples());
    bin_begin.resize(sample_count * static_cast<std::size_t>(2 * bins + 1));
    sums.resize(token_count + sample_count);
    confident.resize(sample_count);
    confident_cuda.resize(sample_count);
    minimum.resize(sample_count);
    rows.resize(sample_count);
    for_chunks([&](std::int64_t from, std::int64_t to) {
        for (std::int64_t n = from; n < to; ++n) {
            const std::span<float> own = std::span(confidence).subspan(begin(n), tokens(n));
            confidences(scores->columns().log_prob.subspan(begin(n), tokens(n)), own);
            prefix_sums(
                own,
                std::span(sums).subspan(begin(n) + static_cast<std::size_t>(n), tokens(n) + 1));
            bin_sample(n);
        }
    });
}

void CorpusState::bin_sample(std::int64_t n) {
    const std::span<const float> own = sample_confidence(n);
    const std::span<const LabelBits> labels = sample_labels(n);
    const auto half = static_cast<std::size_t>(bins);
    const auto place = [&](std::size_t t) {
        return bin_of(own[t], bins) + (is_cuda_masked(labels[t]) ? 0 : half);
    };
    const std::span<std::int32_t> begins =
        std::span(bin_begin).subspan(static_cast<std::size_t>(n) * (2 * half + 1), 2 * half + 1);
    for (std::size_t t = 0; t < own.size(); ++t)
        ++begins[place(t) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i)
        begins[i] += begins[i - 1];
    std::vector<std::int32_t> next(begins.begin(), begins.end());
    float* values = binned.data() + begin(n);
    for (std::size_t t = 0; t < own.size(); ++t)
        values[next[place(t)]++] = own[t];
}

void CorpusState::prepare_statistics(RunControl& control) {
    const std::span<const LabelBits> labels = scores->columns().labels;
    for (std::size_t t = 0; t < confidence.size(); ++t)
        (is_cuda_sensitive(labels[t]) ? sensitive : neutral).push_back(confidence[t]);
    control.throw_if_stopped();
    ConfidenceSummary& result = summary.confidence;
    constexpr std::int64_t groups = 3; // all, sensitive and neutral, then the kinds
    parallel_for(groups + sensitive_kind_count, [&](std::int64_t i) {
        if (i == 0) {
            result.all = moments(confidence);
        } else if (i == 1) {
            result.sensitive = moments(sensitive);
            sort_floats(sensitive);
        } else if (i == 2) {
            result.neutral = moments(neutral);
            sort_floats(neutral);
        } else {
            const auto kind = static_cast<std::size_t>(i - groups);
            result.by_kind[kind] =
                moments_of_kind(confidence, labels, static_cast<SensitiveKind>(kind));
        }
    });
    control.throw_if_stopped();
    result.ks = ks_test_sorted(sensitive, neutral);
}

void CorpusState::count_confident() {
    const auto tau = static_cast<float>(summary.settings.tau);
    const std::size_t bin = bin_of(tau, bins);
    for_chunks([&](std::int64_t from, std::int64_t to) {
        for (std::int64_t n = from; n < to; ++n) {
            const auto i = static_cast<std::size_t>(n);
            const std::span<const std::int32_t> begins = sample_bins(n);
            const float* values = binned.data() + begin(n);
            const auto above = [&](std::size_t first_bin) {
                const std::int32_t from_here = begins[first_bin + bin];
                const std::int32_t to_next = begins[first_bin + bin + 1];
                return begins[first_bin + static_cast<std::size_t>(bins)] - to_next
                    + kernels::count_above(values + from_here, to_next - from_here, tau);
            };
            confident_cuda[i] = above(0);
            confident[i] = confident_cuda[i] + above(static_cast<std::size_t>(bins));
        }
    });
}

void CorpusState::find_minima() {
    const MaskSettings& settings = summary.settings;
    for_chunks([&](std::int64_t from, std::int64_t to) {
        for (std::int64_t n = from; n < to; ++n)
            minimum[static_cast<std::size_t>(n)] = window_minimum_of(
                sample_confidence(n), sample_sums(n), settings.window, settings.whole_if_short);
    });
}

void CorpusState::fill_rows() {
    const MaskSettings& settings = summary.settings;
    std::int64_t all_confident = 0, all_cuda = 0, all_both = 0;
    RangeSum difficulty, weight;
    for (std::int64_t n = 0; n < samples(); ++n) {
        const auto i = static_cast<std::size_t>(n);
        const auto count = static_cast<std::int64_t>(tokens(n));
        SampleSummary& row = rows[i];
        row = {};
        if (count == 0)
            continue;
        const std::int64_t above = confident[i], cuda = cuda_count(n), both = confident_cuda[i];
        const MaskCounts masks = mask_counts(count, above, cuda, both, settings);
        const auto ratio = [&](double part) { return static_cast<float>(share(part, count)); };
        row.tokens = count;
        row.mean_confidence = ratio(sample_sums(n).back());
        row.difficulty = minimum[i].mean;
        row.weight = settings.region_weight ? 1.0f - minimum[i].mean : 1.0f;
        row.min_window_begin = window_at(minimum[i].at, static_cast<std::int32_t>(count),
                                         settings.window, settings.whole_if_short)
                                   .begin;
        row.confident_share = ratio(static_cast<double>(above));
        row.cuda_share = ratio(static_cast<double>(cuda));
        row.supervised_share = ratio(static_cast<double>(masks.supervised));
        row.mean_mask = ratio(masks.mask_sum);
        all_confident += above;
        all_cuda += cuda;
        all_both += both;
        difficulty.add(static_cast<double>(row.difficulty));
        weight.add(static_cast<double>(row.weight));
    }
    const std::int64_t all = summary.tokens;
    const MaskCounts masks = mask_counts(all, all_confident, all_cuda, all_both, settings);
    summary.mask = {share(static_cast<double>(all_confident), all),
                    share(static_cast<double>(all_cuda), all),
                    share(static_cast<double>(masks.supervised), all), share(masks.mask_sum, all)};
    summary.difficulty = difficulty.range();
    summary.weight = weight.range();
}

namespace {

struct LowCounts {
    std::int64_t windows = 0, low = 0, samples = 0;
    std::array<std::int64_t, kernels::lanes> touched{}; // low windows, by label bit
};

// `below` is scratch.
void count_low_windows(const CorpusState& state, std::int64_t n, std::int32_t window,
                       double threshold, std::vector<std::uint8_t>& below, LowCounts& counts) {
    const auto tokens = static_cast<std::int32_t>(state.tokens(n));
    if (tokens == 0)
        return;
    const std::int32_t length = std::min(window, tokens);
    const std::int32_t windows = tokens - length + 1;
    below.resize(std::max(below.size(), static_cast<std::size_t>(windows)));
    const std::int32_t low = kernels::flag_low_windows(state.sample_sums(n).data(), windows, length,
                                                       threshold, below.data());
    counts.windows += windows;
    counts.low += low;
    counts.samples += low > 0 ? 1 : 0;
    if (low > 0)
        kernels::count_touched(state.sample_labels(n).data(), below.data(), windows, length,
                               counts.touched);
}

} // namespace

void CorpusState::find_low_windows() {
    LowConfidenceSummary& result = summary.low_confidence;
    result = {.window = result.window};
    if (summary.confidence.neutral.count == 0)
        return;
    const auto chunks = static_cast<std::int64_t>(chunk_begin.size()) - 1;
    std::vector<LowCounts> parts(static_cast<std::size_t>(chunks));
    parallel_for(chunks, [&](std::int64_t chunk) {
        const auto i = static_cast<std::size_t>(chunk);
        std::vector<std::uint8_t> below;
        for (std::int64_t n = chunk_begin[i]; n < chunk_begin[i + 1]; ++n)
            count_low_windows(*this, n, result.window, summary.confidence.neutral.mean, below,
                              parts[i]);
    });
    LowCounts all;
    std::int64_t with_tokens = 0;
    for (const SampleSummary& row : rows)
        with_tokens += row.tokens > 0 ? 1 : 0;
    for (const LowCounts& part : parts) {
        all.windows += part.windows;
        all.low += part.low;
        all.samples += part.samples;
        for (std::size_t k = 0; k < all.touched.size(); ++k)
            all.touched[k] += part.touched[k];
    }
    result.windows = all.windows;
    result.low_windows = all.low;
    result.samples_share = share(static_cast<double>(all.samples), with_tokens);
    result.windows_share = share(static_cast<double>(all.low), all.windows);
    const auto touching = [&](std::size_t lane) {
        return share(static_cast<double>(all.touched[lane]), all.low);
    };
    result.sensitive_share = touching(kernels::any_sensitive_lane);
    for (std::size_t kind = 0; kind < sensitive_kind_count; ++kind)
        result.by_kind[kind] = touching(kind + 2); // the kinds' bits begin at 2
}

} // namespace cuset
