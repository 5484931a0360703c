// Scoring of a whole corpus: encode everything, then score sample by sample.
#include <algorithm>

#include "core/base/error.h"
#include "core/model/inference_session.h"

namespace cuset {
namespace {

std::string name_of(const Sample& sample) {
    return sample.id.empty() ? sample.origin : sample.id;
}

} // namespace

ScoreRun score_samples(InferenceSession& session, const std::vector<Sample>& samples,
                       const ScoreOptions& options,
                       const std::function<void(const ScoredSample&)>& on_sample,
                       RunControl& control) {
    ScoreRun run;
    ScoreSetBuilder builder(session.provenance(options), options.top_k,
                            [&](std::int32_t id) { return session.tokenizer().token_bytes(id); });
    try {
        std::vector<std::pair<const Sample*, Encoding>> work;
        std::int64_t total = 0, done = 0;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            control.checkpoint({"tokenizing", static_cast<std::int64_t>(i),
                                static_cast<std::int64_t>(samples.size()), "samples"});
            try {
                Encoding encoding = session.encode(samples[i], options.prompt);
                total += static_cast<std::int64_t>(encoding.ids.size());
                run.cut_samples += encoding.cut_tokens > 0;
                work.emplace_back(&samples[i], std::move(encoding));
            } catch (const Error& error) {
                run.skipped.push_back({name_of(samples[i]), error.what()});
            }
        }
        for (auto& [sample, encoding] : work) {
            const auto tokens = static_cast<std::int64_t>(encoding.ids.size());
            try {
                const ScoredSample scored =
                    session.score(*sample, std::move(encoding), options, done, total, control);
                builder.add(scored);
                if (on_sample)
                    on_sample(scored);
            } catch (const Error& error) {
                if (error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::usage)
                    throw;
                run.skipped.push_back({name_of(*sample), error.what()});
            }
            done += tokens;
        }
        control.checkpoint({"scoring", total, total, "tokens"});
    } catch (const Cancelled&) {
        run.stopped = true;
    }
    run.scores = builder.snapshot();
    return run;
}

} // namespace cuset
