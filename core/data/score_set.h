// ScoreSet: the scores of a whole corpus as columns, immutable and shared between threads. It is
// what a score file holds: mapped from one, or built sample by sample. N samples, T response tokens
// in all, K alternatives kept for each token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"
#include "core/data/sample.h"
#include "core/data/scored_sample.h"

namespace cuset {

// Where the scores came from. Two sets are comparable token by token only if these agree.
struct ScoreProvenance {
    std::string created_by; // program and library with their versions
    std::string model;
    std::string model_sha256;
    std::string tokenizer_sha256;
    std::string adapter;
    std::string chat_template; // "auto", "none", or the template's text
    std::string dtype;
    std::string device;
    std::int32_t max_length = 0;
    ResponseChoice response = ResponseChoice::whole;
};

// Views into columns that somebody else owns.
struct ScoreColumns {
    std::span<const std::int64_t> sample_begin; // [N+1]: tokens of sample n are [n] .. [n+1]
    std::span<const std::int32_t> token_id; // [T]
    std::span<const float> log_prob; // [T]
    std::span<const float> entropy; // [T] nats
    std::span<const float> entropy_top20; // [T] nats
    std::span<const std::int32_t> rank; // [T]
    std::span<const std::int32_t> top_id; // [T,K]
    std::span<const float> top_log_prob; // [T,K]
    std::span<const std::int32_t> byte_begin; // [T] into the sample's response
    std::span<const std::int32_t> byte_end; // [T]
    std::span<const LabelBits> labels; // [T]
    std::string_view prompt_utf8; // all prompts, one after another
    std::string_view response_utf8;
    std::span<const std::int64_t> prompt_begin; // [N+1]
    std::span<const std::int64_t> response_begin; // [N+1]
    std::int32_t top_k = 0; // K
    // Bytes of the tokens that occur in token_id or top_id, so that a score file can be read
    // without its model. U tokens, sorted by id; all three empty when they are not known.
    std::span<const std::int32_t> vocab_id; // [U]
    std::span<const std::int64_t> vocab_begin; // [U+1] into vocab_bytes
    std::string_view vocab_bytes;
};

class ScoreSet {
public:
    // `owner` keeps the memory behind `columns` alive. Throws Error(bad_value) if the columns'
    // sizes do not fit together, an offset runs backwards or outside, or ids.size() is not N.
    ScoreSet(ScoreColumns columns, std::vector<std::string> ids, ScoreProvenance provenance,
             std::shared_ptr<const void> owner);

    std::int64_t sample_count() const { return static_cast<std::int64_t>(ids_.size()); }
    std::int64_t token_count() const { return static_cast<std::int64_t>(columns_.token_id.size()); }
    const ScoreColumns& columns() const { return columns_; }
    const ScoreProvenance& provenance() const { return provenance_; }

    // Checks samples [first, last) for what the constructor does not, because it has to look at
    // every token: spans inside their responses, log-probabilities <= 0, entropies finite and >= 0
    // (both but for rounding), token ids and ranks >= 0, known label bits. Ids may still lie above
    // any vocabulary, so whoever looks one up in a table checks its range. O(tokens). Throws
    // Error(bad_value) naming sample and token. Sets that were built in this program need it not;
    // those read from files have passed it.
    void check_tokens(std::int64_t first, std::int64_t last) const;

    // 0 <= n < sample_count(), asserted.
    const std::string& id(std::int64_t n) const { return ids_[static_cast<std::size_t>(n)]; }
    std::string_view prompt(std::int64_t n) const;
    std::string_view response(std::int64_t n) const;
    std::int64_t token_begin(std::int64_t n) const {
        return columns_.sample_begin[static_cast<std::size_t>(n)];
    }
    std::int64_t token_end(std::int64_t n) const {
        return columns_.sample_begin[static_cast<std::size_t>(n) + 1];
    }
    // t counts over the whole set.
    ByteSpan span(std::int64_t t) const {
        return {columns_.byte_begin[static_cast<std::size_t>(t)],
                columns_.byte_end[static_cast<std::size_t>(t)]};
    }

    // The bytes of a token that occurs in the set, or nothing if the set does not know them.
    std::optional<std::string_view> token_text(std::int32_t id) const;

    // The same scores with other labels, e.g. after a person corrected them. [T]
    std::shared_ptr<const ScoreSet> with_labels(std::vector<LabelBits> labels) const;

    // The scores of some samples, in that order, as a set of its own. O(tokens of those).
    // Indices in [0, sample_count()), asserted.
    std::shared_ptr<const ScoreSet> select(std::span<const std::int64_t> samples) const;

private:
    ScoreColumns columns_;
    std::vector<std::string> ids_;
    ScoreProvenance provenance_;
    std::shared_ptr<const void> owner_;
};

// Collects scored samples; snapshot() may be taken at any time and stays valid.
class ScoreSetBuilder {
public:
    // `token_text` gives the bytes of a token id; it may be empty, and is called by add() only.
    ScoreSetBuilder(ScoreProvenance provenance, std::int32_t top_k,
                    std::function<std::string(std::int32_t)> token_text = {});
    ~ScoreSetBuilder();
    ScoreSetBuilder(ScoreSetBuilder&&) noexcept;
    ScoreSetBuilder& operator=(ScoreSetBuilder&&) noexcept;

    // Throws Error(bad_value) if the sample's arrays do not fit together or its top_k is another.
    void add(const ScoredSample& sample);
    std::int64_t sample_count() const;
    // A copy of what is there so far. O(tokens so far).
    std::shared_ptr<const ScoreSet> snapshot() const;

private:
    struct Store;
    std::unique_ptr<Store> store_;
};

} // namespace cuset
