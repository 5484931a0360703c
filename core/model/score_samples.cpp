// Scoring of a whole corpus: encode everything, then score sample by sample.
#include <algorithm>

#include "core/base/error.h"
#include "core/model/inference_session.h"
#include "core/model/score_work.h"

namespace cuset {

std::string name_of(const Sample& sample) {
    return sample.id.empty() ? sample.origin : sample.id;
}

bool ends_scoring(const Error& error) {
    return error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::usage;
}

std::vector<ScoreWork> encode_samples(InferenceSession& session, const std::vector<Sample>& samples,
                                      const ScoreOptions& options, ScoreRun& run,
                                      RunControl& control) {
    std::vector<ScoreWork> work;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        control.checkpoint({"tokenizing", static_cast<std::int64_t>(i),
                            static_cast<std::int64_t>(samples.size()), "samples"});
        try {
            Encoding encoding = session.encode(samples[i], options.prompt);
            run.cut_samples += encoding.cut_tokens > 0;
            run.plain_controls += encoding.plain_controls;
            work.push_back({&samples[i], std::move(encoding)});
        } catch (const Error& error) {
            run.skipped.push_back({name_of(samples[i]), error.what()});
        }
    }
    return work;
}

ScoreRun score_samples(InferenceSession& session, const std::vector<Sample>& samples,
                       const ScoreOptions& options,
                       const std::function<void(const ScoredSample&)>& on_sample,
                       RunControl& control) {
    ScoreRun run;
    ScoreSetBuilder builder(session.provenance(options), options.top_k,
                            [&](std::int32_t id) { return session.tokenizer().token_bytes(id); });
    try {
        std::vector<ScoreWork> work = encode_samples(session, samples, options, run, control);
        std::int64_t total = 0, done = 0;
        for (const ScoreWork& one : work)
            total += static_cast<std::int64_t>(one.encoding.ids.size());
        for (auto& [sample, encoding] : work) {
            const auto tokens = static_cast<std::int64_t>(encoding.ids.size());
            try {
                const ScoredSample scored =
                    session.score(*sample, std::move(encoding), options, done, total, control);
                builder.add(scored);
                if (on_sample)
                    on_sample(scored);
            } catch (const Error& error) {
                if (ends_scoring(error))
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
