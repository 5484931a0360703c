#include "core/train/sample_preview.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/model/encoder_files.h"
#include "core/model/response_tokens.h"
#include "core/train/train_event.h"

namespace cuset {
namespace {

constexpr std::int64_t all_tokens = 1 << 24;

bool needs_confidence(const Objective& objective) {
    if (objective.name == TokenObjective::sft)
        return false;
    return objective.name != TokenObjective::cuset || objective.mask.confidence_mask
        || objective.mask.region_weight;
}

// True if the first `count` trained tokens are those of the scores.
bool same_tokens(const ScoreSet& scores, std::int64_t scored, const Encoding& encoding,
                 std::size_t count) {
    const std::int64_t begin = scores.token_begin(scored);
    if (scores.token_end(scored) - begin < static_cast<std::int64_t>(count))
        return false;
    for (std::size_t t = 0; t < count; ++t)
        if (scores.columns().token_id[static_cast<std::size_t>(begin) + t] != encoding.target(t))
            return false;
    return true;
}

// The weight of a token where it does not depend on the model's confidence.
double known_weight(const Objective& objective, bool cuda) {
    if (needs_confidence(objective))
        return no_figure;
    if (objective.name == TokenObjective::sft || !objective.mask.cuda_mask)
        return 1;
    return cuda ? objective.mask.lambda : 0;
}

} // namespace

SamplePreviewer::SamplePreviewer(const std::string& model)
    : model_(model)
    , files_(std::make_unique<EncoderFiles>(model)) { }

SamplePreviewer::~SamplePreviewer() = default;

void SamplePreviewer::weigh(const TrainConfig& config, const Encoding& encoding,
                            const ScoreSet& scores, std::int64_t begin,
                            const std::vector<LabelBits>& labels, SamplePreview& preview) const {
    const std::size_t count = labels.size();
    const auto first = static_cast<std::size_t>(begin);
    std::vector<float> confidence(count), factors(count);
    for (std::size_t t = 0; t < count; ++t)
        confidence[t] = std::exp(scores.columns().log_prob[first + t]);
    const int candidates =
        static_cast<int>(std::min<std::int64_t>(20, files_->files.config.vocabulary));
    token_factors(config.objective, confidence,
                  scores.columns().entropy_top20.subspan(first, count), labels, candidates,
                  factors);
    preview.sample_weight = sample_factor(config.objective, confidence);
    for (std::size_t t = 0; t < count; ++t) {
        PreviewToken& token = preview.tokens[encoding.position(t)];
        token.confidence = static_cast<double>(confidence[t]);
        token.weight = preview.sample_weight * static_cast<double>(factors[t]);
    }
    preview.scored = true;
}

SamplePreview SamplePreviewer::preview(const TrainConfig& config, const Sample& sample,
                                       const ScoreSet* scores, std::int64_t scored) const {
    SamplePreview preview;
    preview.id = sample.id;
    PromptOptions options;
    options.chat_template = config.chat_template;
    options.response = config.response;
    options.max_length = static_cast<std::int32_t>(all_tokens);
    Encoding whole;
    try {
        whole = files_->encoder.encode(sample, options);
    } catch (const Error& error) {
        preview.left_out = true;
        preview.note = error.message();
        return preview;
    }
    const auto limit = static_cast<std::size_t>(
        std::min<std::int64_t>(config.max_length, files_->files.config.context_length));
    for (std::size_t i = 0; i < whole.ids.size(); ++i) {
        PreviewToken token;
        token.text = files_->tokenizer.token_bytes(whole.ids[i]);
        token.part = i < limit ? PreviewToken::Part::context : PreviewToken::Part::cut;
        preview.tokens.push_back(std::move(token));
    }
    std::vector<LabelBits> labels = label_response(sample, whole);
    std::size_t kept = 0; // trained tokens within the limit
    while (kept < labels.size() && whole.position(kept) < limit)
        ++kept;
    preview.cut_tokens = static_cast<std::int64_t>(labels.size() - kept) + whole.cut_tokens;
    labels.resize(kept);
    for (std::size_t t = 0; t < kept; ++t) {
        PreviewToken& token = preview.tokens[whole.position(t)];
        token.part = PreviewToken::Part::response;
        token.cuda = is_cuda_masked(labels[t]);
        token.confidence = no_figure;
        token.weight = known_weight(config.objective, token.cuda);
    }
    preview.response_tokens = static_cast<std::int64_t>(kept);
    preview.context_tokens =
        static_cast<std::int64_t>(std::min(limit, whole.ids.size())) - preview.response_tokens;
    preview.sample_weight = needs_confidence(config.objective) ? no_figure : 1;
    if (kept == 0) {
        preview.left_out = true;
        preview.note = "the prompt takes " + std::to_string(whole.response_begin)
            + " tokens, so that no response token is left within " + std::to_string(limit);
        return preview;
    }
    if (preview.cut_tokens > 0 && config.over_long != OverLong::cut) {
        preview.left_out = true;
        preview.note = config.over_long == OverLong::drop
            ? "is longer than max_length and left out"
            : "is longer than max_length: the run would refuse to start";
    }
    if (scores && scored >= 0 && same_tokens(*scores, scored, whole, kept))
        weigh(config, whole, *scores, scores->token_begin(scored), labels, preview);
    return preview;
}

} // namespace cuset
