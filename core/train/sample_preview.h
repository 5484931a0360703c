// What is trained of a sample: the rendered prompt, every response token with its weight in the
// loss, and the part that the maximum length cuts off. From a configuration, the model's tokenizer
// and scores that are there already: no weight of the model is read. Free of torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/data/sample.h"
#include "core/data/score_set.h"
#include "core/train/train_config.h"

namespace cuset {

struct PreviewToken {
    enum class Part : std::uint8_t {
        context, // read, not trained: the prompt, and text around code where only code is trained
        response,
        cut, // beyond the maximum length: not seen
    };
    std::string text; // bytes
    Part part = Part::context;
    bool cuda = false; // Eq. 3's indicator
    double confidence = 0; // of a response token, NaN where it is not known
    double weight = 0; // w_n times the token's factor, NaN where it depends on what is not known
};

struct SamplePreview {
    std::string id;
    double sample_weight = 0; // w_n, NaN where it is not known
    std::int64_t context_tokens = 0, response_tokens = 0, cut_tokens = 0;
    bool scored = false; // confidences come from scores of these very tokens
    bool left_out = false; // trains nothing; `note` says why
    std::string note;
    std::vector<PreviewToken> tokens;
};

struct EncoderFiles;

class SamplePreviewer {
public:
    // Reads the model's configuration, tokenizer and template. Throws Error as open_model_files.
    explicit SamplePreviewer(const std::string& model);
    ~SamplePreviewer();

    const std::string& model() const { return model_; }
    // `scores` and the sample's number in them may be null and -1. Scores are used if they are of
    // the same tokens. Throws Error(bad_value) for a template that cannot be rendered.
    SamplePreview preview(const TrainConfig& config, const Sample& sample, const ScoreSet* scores,
                          std::int64_t scored) const;

private:
    void weigh(const TrainConfig& config, const Encoding& encoding, const ScoreSet& scores,
               std::int64_t begin, const std::vector<LabelBits>& labels,
               SamplePreview& preview) const;

    std::string model_;
    std::unique_ptr<const EncoderFiles> files_;
};

} // namespace cuset
