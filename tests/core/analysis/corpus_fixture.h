// Score sets for the analysis tests, made from confidences and label bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/data/score_set.h"

namespace cuset::test {

struct CorpusSample {
    std::vector<float> confidence;
    std::vector<LabelBits> labels;
    std::string id = {}; // "sN" if empty
    std::int32_t first_token = 10;
};

// One byte a token, top_k 0; token ids run upwards from first_token.
inline std::shared_ptr<const ScoreSet> make_set(const std::vector<CorpusSample>& samples,
                                                ScoreProvenance provenance = {}) {
    ScoreSetBuilder builder(std::move(provenance), 0);
    int number = 0;
    for (const CorpusSample& sample : samples) {
        ScoredSample scored;
        const std::string name = "s" + std::to_string(number++);
        scored.sample.id = sample.id.empty() ? name : sample.id;
        scored.sample.response = std::string(sample.confidence.size(), 'x');
        for (std::size_t t = 0; t < sample.confidence.size(); ++t) {
            const auto at = static_cast<std::int32_t>(t);
            scored.encoding.ids.push_back(sample.first_token + at);
            scored.encoding.spans.push_back({at, at + 1});
            scored.scores.log_prob.push_back(std::log(sample.confidence[t]));
            scored.scores.entropy.push_back(0.5f);
            scored.scores.entropy_top20.push_back(0.1f * static_cast<float>(t % 20));
            scored.scores.rank.push_back(0);
        }
        scored.labels = sample.labels;
        builder.add(scored);
    }
    return builder.snapshot();
}

// Samples of 0 to `most` tokens; confidences with many ties, exact 0 and 1 among them; runs of
// labels.
inline std::vector<CorpusSample> random_samples(std::mt19937& random, int count, int most) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    std::vector<CorpusSample> samples;
    for (int n = 0; n < count; ++n) {
        CorpusSample sample;
        const int tokens = below(most + 1);
        LabelBits bits = 0;
        for (int t = 0; t < tokens; ++t) {
            if (below(5) == 0)
                bits = below(3) == 0 ? LabelBits{0} : static_cast<LabelBits>(random() & 0x3ff);
            const int kind = below(4);
            sample.confidence.push_back(kind == 0 ? 0.1f * static_cast<float>(below(11))
                                                  : static_cast<float>(below(1 << 20)) * 0x1p-20f);
            sample.labels.push_back(bits);
        }
        samples.push_back(std::move(sample));
    }
    return samples;
}

} // namespace cuset::test
