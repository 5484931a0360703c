#include "core/data/score_set.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

void require_size(std::string_view name, std::size_t found, std::size_t needed) {
    if (found != needed)
        throw Error(ErrorCode::bad_value,
                    "has " + std::to_string(found) + " values, needs " + std::to_string(needed),
                    std::string(name));
}

void require_offsets(std::string_view name, std::span<const std::int64_t> offsets,
                     std::size_t end) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(end))
        throw Error(ErrorCode::bad_value, "must run from 0 to " + std::to_string(end),
                    std::string(name));
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1])
            throw Error(ErrorCode::bad_value, "runs backwards at " + std::to_string(i),
                        std::string(name));
}

// A log-softmax and an entropy in float32 may round to a little beyond 0.
constexpr float rounding = 1e-3f;
constexpr float largest = std::numeric_limits<float>::max();
constexpr LabelBits known_labels =
    kernel_bit | launch_bit | static_cast<LabelBits>(((1u << sensitive_kind_count) - 1) << 2);

// Nothing, or what is wrong with token t.
std::string token_problem(const ScoreColumns& columns, std::size_t t, std::int64_t response_bytes) {
    const std::int32_t begin = columns.byte_begin[t], end = columns.byte_end[t];
    if (begin < 0 || begin > end || end > response_bytes)
        return "span [" + std::to_string(begin) + ", " + std::to_string(end)
            + ") is not inside the response's " + std::to_string(response_bytes) + " bytes";
    const auto number = [](std::string_view name, float value, std::string_view needed) {
        return std::string(name) + ' ' + std::to_string(value) + ", needs " + std::string(needed);
    };
    if (!(columns.log_prob[t] <= rounding))
        return number("logprob", columns.log_prob[t], "0 or less");
    if (!(columns.entropy[t] >= -rounding && columns.entropy[t] <= largest))
        return number("entropy", columns.entropy[t], "a finite number from 0");
    if (!(columns.entropy_top20[t] >= -rounding && columns.entropy_top20[t] <= largest))
        return number("entropy_top20", columns.entropy_top20[t], "a finite number from 0");
    if (columns.token_id[t] < 0)
        return "token_id " + std::to_string(columns.token_id[t]) + ", needs 0 or more";
    if (columns.rank[t] < 0)
        return "rank " + std::to_string(columns.rank[t]) + ", needs 0 or more";
    if ((columns.labels[t] & ~known_labels) != 0)
        return "labels " + std::to_string(columns.labels[t]) + ", only bits 0 to "
            + std::to_string(sensitive_kind_count + 1) + " have a meaning";
    const auto k = static_cast<std::size_t>(columns.top_k);
    for (std::size_t i = t * k; i < (t + 1) * k; ++i) {
        if (columns.top_id[i] < 0)
            return "top_id " + std::to_string(columns.top_id[i]) + ", needs 0 or more";
        if (!(columns.top_log_prob[i] <= rounding))
            return number("top_logprob", columns.top_log_prob[i], "0 or less");
    }
    return {};
}

// True if every value lies in [least, most]; a NaN lies nowhere. One pass without an exit or a
// branch, which the compiler makes vector instructions of.
template <typename T> bool all_within(std::span<const T> values, T least, T most) {
    std::int32_t outside = 0;
    for (const T value : values)
        outside |= static_cast<std::int32_t>(!(value >= least))
            | static_cast<std::int32_t>(!(value <= most));
    return outside == 0;
}

bool spans_within(std::span<const std::int32_t> begins, std::span<const std::int32_t> ends,
                  std::int32_t response_bytes) {
    std::int32_t outside = 0;
    for (std::size_t t = 0; t < begins.size(); ++t)
        outside |= static_cast<std::int32_t>(begins[t] < 0)
            | static_cast<std::int32_t>(ends[t] < begins[t])
            | static_cast<std::int32_t>(ends[t] > response_bytes);
    return outside == 0;
}

// Tokens [begin, end) of a sample: column by column, so that each is one stream.
bool tokens_are_good(const ScoreColumns& columns, std::size_t begin, std::size_t end,
                     std::int32_t response_bytes) {
    const std::size_t count = end - begin;
    const auto k = static_cast<std::size_t>(columns.top_k);
    constexpr auto most_id = std::numeric_limits<std::int32_t>::max();
    return spans_within(columns.byte_begin.subspan(begin, count),
                        columns.byte_end.subspan(begin, count), response_bytes)
        && all_within(columns.log_prob.subspan(begin, count),
                      -std::numeric_limits<float>::infinity(), rounding)
        && all_within(columns.entropy.subspan(begin, count), -rounding, largest)
        && all_within(columns.entropy_top20.subspan(begin, count), -rounding, largest)
        && all_within(columns.token_id.subspan(begin, count), 0, most_id)
        && all_within(columns.rank.subspan(begin, count), 0, most_id)
        && all_within(columns.labels.subspan(begin, count), LabelBits{0}, known_labels)
        && all_within(columns.top_id.subspan(begin * k, count * k), 0, most_id)
        && all_within(columns.top_log_prob.subspan(begin * k, count * k),
                      -std::numeric_limits<float>::infinity(), rounding);
}

} // namespace

ScoreSet::ScoreSet(ScoreColumns columns, std::vector<std::string> ids, ScoreProvenance provenance,
                   std::shared_ptr<const void> owner)
    : columns_(columns)
    , ids_(std::move(ids))
    , provenance_(std::move(provenance))
    , owner_(std::move(owner)) {
    const std::size_t samples = ids_.size();
    const std::size_t tokens = columns_.token_id.size();
    require_size("sample_begin", columns_.sample_begin.size(), samples + 1);
    require_size("prompt_begin", columns_.prompt_begin.size(), samples + 1);
    require_size("response_begin", columns_.response_begin.size(), samples + 1);
    require_size("logprob", columns_.log_prob.size(), tokens);
    require_size("entropy", columns_.entropy.size(), tokens);
    require_size("entropy_top20", columns_.entropy_top20.size(), tokens);
    require_size("rank", columns_.rank.size(), tokens);
    require_size("byte_begin", columns_.byte_begin.size(), tokens);
    require_size("byte_end", columns_.byte_end.size(), tokens);
    require_size("labels", columns_.labels.size(), tokens);
    if (columns_.top_k < 0)
        throw Error(ErrorCode::bad_value, "top_k is negative", "top_id");
    require_size("top_id", columns_.top_id.size(),
                 tokens * static_cast<std::size_t>(columns_.top_k));
    require_size("top_logprob", columns_.top_log_prob.size(),
                 tokens * static_cast<std::size_t>(columns_.top_k));
    require_size("vocab_begin", columns_.vocab_begin.size(),
                 columns_.vocab_id.empty() ? columns_.vocab_begin.size()
                                           : columns_.vocab_id.size() + 1);
    if (!columns_.vocab_begin.empty())
        require_offsets("vocab_begin", columns_.vocab_begin, columns_.vocab_bytes.size());
    if (!std::is_sorted(columns_.vocab_id.begin(), columns_.vocab_id.end()))
        throw Error(ErrorCode::bad_value, "is not sorted", "vocab_id");
    require_offsets("sample_begin", columns_.sample_begin, tokens);
    require_offsets("prompt_begin", columns_.prompt_begin, columns_.prompt_utf8.size());
    require_offsets("response_begin", columns_.response_begin, columns_.response_utf8.size());
}

void ScoreSet::check_tokens(std::int64_t first, std::int64_t last) const {
    for (std::int64_t n = first; n < last; ++n) {
        const auto begin = static_cast<std::size_t>(token_begin(n));
        const auto end = static_cast<std::size_t>(token_end(n));
        const auto length = static_cast<std::int64_t>(response(n).size());
        if (length <= std::numeric_limits<std::int32_t>::max()
            && tokens_are_good(columns_, begin, end, static_cast<std::int32_t>(length)))
            continue;
        for (std::size_t t = begin; t < end; ++t)
            if (const std::string problem = token_problem(columns_, t, length); !problem.empty())
                throw Error(ErrorCode::bad_value,
                            "token " + std::to_string(t - begin) + ": " + problem,
                            "sample " + printable(id(n), 80));
    }
}

std::string_view ScoreSet::prompt(std::int64_t n) const {
    assert(n >= 0 && n < sample_count());
    const auto i = static_cast<std::size_t>(n);
    const auto begin = static_cast<std::size_t>(columns_.prompt_begin[i]);
    return columns_.prompt_utf8.substr(
        begin, static_cast<std::size_t>(columns_.prompt_begin[i + 1]) - begin);
}

std::string_view ScoreSet::response(std::int64_t n) const {
    assert(n >= 0 && n < sample_count());
    const auto i = static_cast<std::size_t>(n);
    const auto begin = static_cast<std::size_t>(columns_.response_begin[i]);
    return columns_.response_utf8.substr(
        begin, static_cast<std::size_t>(columns_.response_begin[i + 1]) - begin);
}

std::optional<std::string_view> ScoreSet::token_text(std::int32_t id) const {
    const auto found = std::lower_bound(columns_.vocab_id.begin(), columns_.vocab_id.end(), id);
    if (found == columns_.vocab_id.end() || *found != id)
        return std::nullopt;
    const auto i = static_cast<std::size_t>(found - columns_.vocab_id.begin());
    const auto begin = static_cast<std::size_t>(columns_.vocab_begin[i]);
    return columns_.vocab_bytes.substr(
        begin, static_cast<std::size_t>(columns_.vocab_begin[i + 1]) - begin);
}

std::shared_ptr<const ScoreSet> ScoreSet::with_labels(std::vector<LabelBits> labels) const {
    struct Owner {
        std::vector<LabelBits> labels;
        std::shared_ptr<const void> rest;
    };
    auto owner = std::make_shared<Owner>(Owner{std::move(labels), owner_});
    ScoreColumns columns = columns_;
    columns.labels = owner->labels;
    return std::make_shared<const ScoreSet>(columns, ids_, provenance_, std::move(owner));
}

namespace {

// Columns of chosen samples, and what keeps the vocabulary alive.
struct ChosenColumns {
    std::vector<std::int64_t> sample_begin{0}, prompt_begin{0}, response_begin{0};
    std::vector<std::int32_t> token_id, rank, top_id, byte_begin, byte_end;
    std::vector<float> log_prob, entropy, entropy_top20, top_log_prob;
    std::vector<LabelBits> labels;
    std::string prompt_utf8, response_utf8;
    std::shared_ptr<const void> rest;

    void add(const ScoreColumns& from, std::size_t begin, std::size_t count) {
        const auto append = [&](auto& to, auto column, std::size_t per_token = 1) {
            const auto part = column.subspan(begin * per_token, count * per_token);
            to.insert(to.end(), part.begin(), part.end());
        };
        append(token_id, from.token_id);
        append(rank, from.rank);
        append(byte_begin, from.byte_begin);
        append(byte_end, from.byte_end);
        append(log_prob, from.log_prob);
        append(entropy, from.entropy);
        append(entropy_top20, from.entropy_top20);
        append(labels, from.labels);
        append(top_id, from.top_id, static_cast<std::size_t>(from.top_k));
        append(top_log_prob, from.top_log_prob, static_cast<std::size_t>(from.top_k));
        sample_begin.push_back(static_cast<std::int64_t>(token_id.size()));
        prompt_begin.push_back(static_cast<std::int64_t>(prompt_utf8.size()));
        response_begin.push_back(static_cast<std::int64_t>(response_utf8.size()));
    }
};

} // namespace

std::shared_ptr<const ScoreSet> ScoreSet::select(std::span<const std::int64_t> samples) const {
    auto chosen = std::make_shared<ChosenColumns>();
    chosen->rest = owner_;
    std::vector<std::string> ids;
    for (const std::int64_t n : samples) {
        ids.push_back(id(n));
        chosen->prompt_utf8 += prompt(n);
        chosen->response_utf8 += response(n);
        const auto begin = static_cast<std::size_t>(token_begin(n));
        chosen->add(columns_, begin, static_cast<std::size_t>(token_end(n)) - begin);
    }
    ScoreColumns columns = columns_; // the vocabulary and top_k are the same
    columns.sample_begin = chosen->sample_begin;
    columns.prompt_begin = chosen->prompt_begin;
    columns.response_begin = chosen->response_begin;
    columns.token_id = chosen->token_id;
    columns.rank = chosen->rank;
    columns.top_id = chosen->top_id;
    columns.byte_begin = chosen->byte_begin;
    columns.byte_end = chosen->byte_end;
    columns.log_prob = chosen->log_prob;
    columns.entropy = chosen->entropy;
    columns.entropy_top20 = chosen->entropy_top20;
    columns.top_log_prob = chosen->top_log_prob;
    columns.labels = chosen->labels;
    columns.prompt_utf8 = chosen->prompt_utf8;
    columns.response_utf8 = chosen->response_utf8;
    return std::make_shared<const ScoreSet>(columns, std::move(ids), provenance_,
                                            std::move(chosen));
}

struct ScoreSetBuilder::Store {
    ScoreProvenance provenance;
    std::int32_t top_k = 0;
    std::vector<std::string> ids;
    std::vector<std::int64_t> sample_begin{0};
    std::vector<std::int64_t> prompt_begin{0};
    std::vector<std::int64_t> response_begin{0};
    std::vector<std::int32_t> token_id, rank, top_id, byte_begin, byte_end;
    std::vector<float> log_prob, entropy, entropy_top20, top_log_prob;
    std::vector<LabelBits> labels;
    std::string prompt_utf8, response_utf8;
    std::function<std::string(std::int32_t)> token_text;
    std::map<std::int32_t, std::string> vocabulary;

    void learn(std::int32_t id) {
        if (token_text && !vocabulary.contains(id))
            vocabulary.emplace(id, token_text(id));
    }
};

ScoreSetBuilder::ScoreSetBuilder(ScoreProvenance provenance, std::int32_t top_k,
                                 std::function<std::string(std::int32_t)> token_text)
    : store_(std::make_unique<Store>()) {
    store_->provenance = std::move(provenance);
    store_->top_k = top_k;
    store_->token_text = std::move(token_text);
}

ScoreSetBuilder::~ScoreSetBuilder() = default;
ScoreSetBuilder::ScoreSetBuilder(ScoreSetBuilder&&) noexcept = default;
ScoreSetBuilder& ScoreSetBuilder::operator=(ScoreSetBuilder&&) noexcept = default;

std::int64_t ScoreSetBuilder::sample_count() const {
    return static_cast<std::int64_t>(store_->ids.size());
}

void ScoreSetBuilder::add(const ScoredSample& scored) {
    Store& store = *store_;
    const TokenScores& scores = scored.scores;
    const std::size_t tokens = scored.encoding.spans.size();
    const auto k = static_cast<std::size_t>(store.top_k);
    require_size("logprob", scores.log_prob.size(), tokens);
    require_size("entropy", scores.entropy.size(), tokens);
    require_size("entropy_top20", scores.entropy_top20.size(), tokens);
    require_size("rank", scores.rank.size(), tokens);
    require_size("labels", scored.labels.size(), tokens);
    require_size("top_id", scores.top_ids.size(), tokens * k);
    require_size("top_logprob", scores.top_log_probs.size(), tokens * k);
    if (scored.encoding.rows.empty())
        require_size("token_id", scored.encoding.ids.size(),
                     static_cast<std::size_t>(scored.encoding.response_begin) + tokens);
    else
        require_size("rows", scored.encoding.rows.size(), tokens);

    const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (std::size_t t = 0; t < tokens; ++t) {
        store.token_id.push_back(scored.encoding.target(t));
        store.learn(scored.encoding.target(t));
    }
    for (const std::int32_t id : scores.top_ids)
        store.learn(id);
    append(store.log_prob, scores.log_prob);
    append(store.entropy, scores.entropy);
    append(store.entropy_top20, scores.entropy_top20);
    append(store.rank, scores.rank);
    append(store.top_id, scores.top_ids);
    append(store.top_log_prob, scores.top_log_probs);
    append(store.labels, scored.labels);
    for (const ByteSpan span : scored.encoding.spans) {
        store.byte_begin.push_back(span.begin);
        store.byte_end.push_back(span.end);
    }
    store.prompt_utf8 += scored.sample.prompt;
    store.response_utf8 += scored.sample.response;
    store.ids.push_back(scored.sample.id);
    store.sample_begin.push_back(static_cast<std::int64_t>(store.token_id.size()));
    store.prompt_begin.push_back(static_cast<std::int64_t>(store.prompt_utf8.size()));
    store.response_begin.push_back(static_cast<std::int64_t>(store.response_utf8.size()));
}

std::shared_ptr<const ScoreSet> ScoreSetBuilder::snapshot() const {
    struct Snapshot {
        Store store;
        std::vector<std::int32_t> vocab_id;
        std::vector<std::int64_t> vocab_begin;
        std::string vocab_bytes;
    };
    auto owner = std::make_shared<Snapshot>(Snapshot{*store_, {}, {}, {}});
    if (!owner->store.vocabulary.empty())
        owner->vocab_begin.push_back(0);
    for (const auto& [id, bytes] : owner->store.vocabulary) {
        owner->vocab_id.push_back(id);
        owner->vocab_bytes += bytes;
        owner->vocab_begin.push_back(static_cast<std::int64_t>(owner->vocab_bytes.size()));
    }
    const Store* copy = &owner->store;
    ScoreColumns columns;
    columns.vocab_id = owner->vocab_id;
    columns.vocab_begin = owner->vocab_begin;
    columns.vocab_bytes = owner->vocab_bytes;
    columns.sample_begin = copy->sample_begin;
    columns.token_id = copy->token_id;
    columns.log_prob = copy->log_prob;
    columns.entropy = copy->entropy;
    columns.entropy_top20 = copy->entropy_top20;
    columns.rank = copy->rank;
    columns.top_id = copy->top_id;
    columns.top_log_prob = copy->top_log_prob;
    columns.byte_begin = copy->byte_begin;
    columns.byte_end = copy->byte_end;
    columns.labels = copy->labels;
    columns.prompt_utf8 = copy->prompt_utf8;
    columns.response_utf8 = copy->response_utf8;
    columns.prompt_begin = copy->prompt_begin;
    columns.response_begin = copy->response_begin;
    columns.top_k = copy->top_k;
    return std::make_shared<const ScoreSet>(columns, copy->ids, copy->provenance, owner);
}

} // namespace cuset
