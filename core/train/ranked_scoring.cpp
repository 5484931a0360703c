#include "core/train/ranked_scoring.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/sha256.h"
#include "core/model/score_work.h"
#include "core/train/process_group.h"

namespace cuset {
namespace {

// Samples of each rank between two exchanges: few enough that a lost rank costs little.
constexpr std::size_t samples_a_round = 16;

// Values of one rank's machine, read by another of the same kind.
class Packer {
public:
    template <class T> void put(const T& value) {
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T> void put(const std::vector<T>& values) {
        put(values.size());
        text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

class Unpacker {
public:
    explicit Unpacker(const std::string& text)
        : text_(text) { }
    bool ends() const { return at_ == text_.size(); }
    template <class T> T get() {
        T value{};
        copy(&value, sizeof value);
        return value;
    }
    template <class T> std::vector<T> list() {
        std::vector<T> values(get<std::size_t>());
        copy(values.data(), values.size() * sizeof(T));
        return values;
    }

private:
    void copy(void* to, std::size_t bytes) {
        if (bytes > text_.size() - at_)
            throw Error(ErrorCode::failure, "sent scores that end early", "ranks");
        if (bytes > 0)
            std::memcpy(to, text_.data() + at_, bytes);
        at_ += bytes;
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

// A sample's scores, or why it has none.
struct Outcome {
    std::optional<ScoredSample> scored;
    std::string reason;
};

void pack(Packer& out, std::size_t index, const Outcome& outcome) {
    out.put(index);
    out.put(std::vector<char>(outcome.reason.begin(), outcome.reason.end()));
    if (!outcome.scored)
        return;
    const TokenScores& scores = outcome.scored->scores;
    out.put(scores.log_prob);
    out.put(scores.entropy);
    out.put(scores.entropy_top20);
    out.put(scores.rank);
    out.put(scores.top_k);
    out.put(scores.top_ids);
    out.put(scores.top_log_probs);
    out.put(outcome.scored->labels);
    // Scoring writes it where the data gives token ids.
    const std::string& response = outcome.scored->sample.response;
    out.put(std::vector<char>(response.begin(), response.end()));
}

Outcome unpack(Unpacker& in, const ScoreWork& work) {
    const std::vector<char> reason = in.list<char>();
    if (!reason.empty())
        return {std::nullopt, std::string(reason.begin(), reason.end())};
    ScoredSample scored{*work.sample, work.encoding, {}, {}};
    TokenScores& scores = scored.scores;
    scores.log_prob = in.list<float>();
    scores.entropy = in.list<float>();
    scores.entropy_top20 = in.list<float>();
    scores.rank = in.list<std::int32_t>();
    scores.top_k = in.get<std::int32_t>();
    scores.top_ids = in.list<std::int32_t>();
    scores.top_log_probs = in.list<float>();
    scored.labels = in.list<LabelBits>();
    const std::vector<char> response = in.list<char>();
    scored.sample.response.assign(response.begin(), response.end());
    return {std::move(scored), {}};
}

// Which rank scores each of work[begin, end): the longest first, each to the rank with the least.
std::vector<int> deal(const std::vector<ScoreWork>& work, std::size_t begin, std::size_t end,
                      int ranks) {
    std::vector<std::size_t> order(end - begin);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto tokens = [&](std::size_t i) { return work[begin + i].encoding.ids.size(); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tokens(a) > tokens(b); });
    std::vector<std::size_t> load(static_cast<std::size_t>(ranks));
    std::vector<int> owners(end - begin);
    for (const std::size_t i : order) {
        const auto least = std::min_element(load.begin(), load.end()) - load.begin();
        owners[i] = static_cast<int>(least);
        load[static_cast<std::size_t>(least)] += tokens(i);
    }
    return owners;
}

class RankedScoring {
public:
    RankedScoring(InferenceSession& session, const ScoreOptions& options, ProcessGroup& group,
                  RunControl& control)
        : session_(session)
        , options_(options)
        , group_(group)
        , control_(control)
        , builder_(session.provenance(options), options.top_k,
                   [&session](std::int32_t id) { return session.tokenizer().token_bytes(id); }) { }

    RankedScoreRun score(const std::vector<Sample>& samples) {
        const std::vector<ScoreWork> work =
            encode_samples(session_, samples, options_, result_.run, control_);
        require_equal_ranks(work);
        for (const ScoreWork& one : work)
            total_ += static_cast<std::int64_t>(one.encoding.ids.size());
        const std::size_t round = samples_a_round * static_cast<std::size_t>(group_.size());
        try {
            for (std::size_t begin = 0; begin < work.size() && !result_.run.stopped; begin += round)
                score_round(work, begin, std::min(work.size(), begin + round));
        } catch (const Error& error) {
            if (!group_.leads())
                throw;
            group_.report_failure(error);
            keep(work);
            result_.failure = error;
        }
        result_.run.scores = builder_.snapshot();
        return std::move(result_);
    }

private:
    void require_equal_ranks(const std::vector<ScoreWork>& work) {
        Sha256 sha;
        sha.update(session_.info().model_sha256 + session_.info().dtype);
        for (const ScoreWork& one : work) {
            sha.update(std::to_string(one.encoding.response_begin) + " ");
            sha.update(std::as_bytes(std::span(one.encoding.ids)));
        }
        const std::string own = sha.hex_digest();
        if (group_.broadcast(own) != own)
            throw Error(ErrorCode::bad_value,
                        "has another model or other samples than rank 0; every machine needs the "
                        "same files",
                        "rank " + std::to_string(group_.rank()));
    }

    Outcome score_one(const ScoreWork& work) {
        try {
            return {session_.score(*work.sample, work.encoding, options_, done_, total_, control_),
                    {}};
        } catch (const Error& error) {
            if (ends_scoring(error))
                throw;
            return {std::nullopt, error.what()};
        }
    }

    void score_round(const std::vector<ScoreWork>& work, std::size_t begin, std::size_t end) {
        const std::vector<int> owners = deal(work, begin, end, group_.size());
        Packer sent;
        outcomes_.assign(end - begin, std::nullopt);
        round_begin_ = begin;
        double stops = 0;
        try {
            for (std::size_t i = begin; i < end; ++i)
                if (owners[i - begin] == group_.rank()) {
                    Outcome outcome = score_one(work[i]);
                    pack(sent, i, outcome);
                    outcomes_[i - begin] = std::move(outcome);
                }
        } catch (const Cancelled&) {
            stops = 1;
        }
        const std::vector<std::string> all = group_.gather(sent.take());
        group_.all_reduce(std::span(&stops, 1));
        result_.run.stopped = stops > 0;
        for (std::size_t rank = 1; rank < all.size(); ++rank)
            for (Unpacker in(all[rank]); !in.ends();) {
                const auto i = in.get<std::size_t>();
                if (i < begin || i >= end)
                    throw Error(ErrorCode::failure, "sent scores of another round",
                                "rank " + std::to_string(rank));
                outcomes_[i - begin] = unpack(in, work[i]);
            }
        keep(work);
        for (std::size_t i = begin; i < end; ++i)
            done_ += static_cast<std::int64_t>(work[i].encoding.ids.size());
    }

    // What this round has, in the samples' order.
    void keep(const std::vector<ScoreWork>& work) {
        for (std::size_t i = 0; i < outcomes_.size() && group_.leads(); ++i) {
            if (!outcomes_[i])
                continue;
            if (outcomes_[i]->scored)
                builder_.add(*outcomes_[i]->scored);
            else
                result_.run.skipped.push_back(
                    {name_of(*work[round_begin_ + i].sample), outcomes_[i]->reason});
        }
        outcomes_.clear();
    }

    InferenceSession& session_;
    const ScoreOptions& options_;
    ProcessGroup& group_;
    RunControl& control_;
    ScoreSetBuilder builder_;
    RankedScoreRun result_;
    std::int64_t total_ = 0, done_ = 0; // tokens; `done_` of the rounds before
    std::vector<std::optional<Outcome>> outcomes_; // of the round
    std::size_t round_begin_ = 0;
};

} // namespace

ScoringRanks::ScoringRanks()
    : group_(open_process_group()) { }

ScoringRanks::~ScoringRanks() = default;

bool ScoringRanks::leads() const {
    return group_->leads();
}

SessionOptions ScoringRanks::own(SessionOptions options) const {
    const RankEnvironment environment = rank_environment();
    options.threads = threads_of_rank(environment, options.threads);
    if (environment.local_rank == 0 || (options.device != "auto" && options.device != "cuda"))
        return options;
    const std::string own = "cuda:" + std::to_string(environment.local_rank);
    for (const DeviceInfo& device : list_devices())
        if (device.name == own)
            options.device = own;
    return options;
}

void ScoringRanks::run(const std::function<void()>& work) {
    with_ranks(*group_, [&] {
        work();
        group_->barrier(); // all end with what rank 0 met while it wrote
    });
}

RankedScoreRun ScoringRanks::score(InferenceSession& session, const std::vector<Sample>& samples,
                                   const ScoreOptions& options, RunControl& control) {
    if (group_->size() == 1)
        return {score_samples(session, samples, options, {}, control), std::nullopt};
    return RankedScoring(session, options, *group_, control).score(samples);
}

} // namespace cuset
