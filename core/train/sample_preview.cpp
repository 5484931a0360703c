#include "core/train/sample_preview.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/model/model_files.h"
#include "core/model/prompt_encoder.h"
#include "core/model/response_tokens.h"
#include "core/train/train_data.h"
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

// The first `count` trained tokens are those that were scored.
bool same_tokens(const ScoreSet& scores, std::int64_t begin, std::int64_t end,
                 const Encoding& encoding, std::size_t count) {
    if (end - begin < static_cast<std::int64_t>(count))
        return false;
    const auto scored = scores.columns().token_id.subspan(static_cast<std::size_t>(begin), count);
    for (std::size_t t = 0; t < count; ++t)
        if (scored[t] != encoding.target(t))
            return false;
    return true;
}

} // namespace

struct SamplePreviewer::Files {
    explicit Files(const std::string& model)
        : files(open_model_files(model))
        , tokenizer(load_tokenizer(files).tokenizer)
        , encoder(files, tokenizer, warnings) { }

    ModelFiles files;
    Tokenizer tokenizer;
    std::vector<std::string> warnings;
    PromptEncoder encoder;
};

SamplePreviewer::SamplePreviewer(const std::string& model)
    : model_(model)
    , files_(std::make_unique<Files>(model)) { }

SamplePreviewer::~SamplePreviewer() = default;

void SamplePreviewer::weigh(const TrainConfig& config, const ScoreSet& scores, std::int64_t begin,
                            const Encoding& encoding, const std::vector<LabelBits>& labels,
                            SamplePreview& preview) const {
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
        PreviewToken& token =
            preview.tokens[static_cast<std::size_t>(encoding.response_begin + encoding.row(t))];
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
    options.max_length = static_cast<std::int32_t>(all_tokens);
    options.response = config.response;
    Encoding whole;
    try {
        whole = files_->encoder.encode(sample, options);
    } catch (const Error& error) {
        preview.left_out = true;
        preview.note = error.message();
        return preview;
    }
    const std::int64_t limit =
        std::min<std::int64_t>(config.max_length, files_->files.config.context_length);
    const auto kept = std::min<std::int64_t>(limit, static_cast<std::int64_t>(whole.ids.size()));
    preview.prompt_tokens = std::min<std::int64_t>(whole.response_begin, kept);
    std::vector<LabelBits> labels = label_response(sample, whole);
    while (!labels.empty() && whole.response_begin + whole.row(labels.size() - 1) >= kept)
        labels.pop_back();
    preview.response_tokens = static_cast<std::int64_t>(labels.size());
    preview.cut_tokens = whole.response_tokens() - preview.response_tokens + whole.cut_tokens;
    const bool known = !needs_confidence(config.objective);
    preview.sample_weight = known ? 1 : no_figure;
    std::size_t t = 0; // of the trained tokens
    for (std::size_t i = 0; i < whole.ids.size(); ++i) {
        PreviewToken token;
        token.text = files_->tokenizer.token_bytes(whole.ids[i]);
        const auto at = static_cast<std::int64_t>(i);
        if (at >= kept) {
            token.part = PreviewToken::Part::cut;
        } else if (t < labels.size() && at == whole.response_begin + whole.row(t)) {
            token.part = PreviewToken::Part::response;
            token.cuda = is_cuda_masked(labels[t++]);
            token.confidence = no_figure;
            token.weight = !known ? no_figure
                : config.objective.name == TokenObjective::sft || !config.objective.mask.cuda_mask
                ? 1
                : token.cuda ? config.objective.mask.lambda
                             : 0;
        }
        preview.tokens.push_back(std::move(token));
    }
    if (preview.response_tokens == 0) {
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
    if (scores && scored >= 0
        && same_tokens(*scores, scores->token_begin(scored), scores->token_end(scored), whole,
                       labels.size()))
        weigh(config, *scores, scores->token_begin(scored), whole, labels, preview);
    return preview;
}

} // namespace cuset
