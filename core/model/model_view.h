// What a model sees of a sample, and what would be cut or left out of a data set, found with the
// tokenizer and the template alone: no weight is read. Free of torch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/run_control.h"
#include "core/data/sample.h"
#include "core/model/inference_session.h"

namespace cuset {

struct SeenToken {
    std::int32_t id = 0;
    std::string bytes; // may be part of a character
    bool special = false; // a control token, not text
    bool response = false; // is scored and trained; others are context
};

struct SeenSequence {
    std::vector<SeenToken> tokens; // [S]
    std::string
        template_source; // where the template was found; "none", "as given" (token ids, text)
    std::int32_t begin_tokens = 0; // that the sequence starts with: 2 is a doubled BOS
    std::int64_t cut_tokens = 0;
    std::int64_t dropped_bytes = 0;
    std::int64_t plain_controls = 0; // words like control tokens that were encoded as text
    std::int64_t reasoning_tokens = 0; // of the scored ones
};

struct DataCheck {
    std::int64_t samples = 0; // that can be scored
    std::int64_t prompt_tokens = 0, response_tokens = 0; // of those
    std::int64_t longest = 0; // tokens of prompt and response, uncut
    std::int64_t cut_samples = 0, cut_tokens = 0; // that lose tokens at max_length
    std::int64_t doubled_begin = 0; // samples that start with more than one begin token
    std::int64_t dropped_bytes = 0; // that the vocabulary has no token for
    std::int64_t plain_controls = 0; // words like control tokens that were encoded as text
    std::int64_t reasoning_tokens = 0; // of the scored ones
    std::vector<SkippedSample> skipped; // that cannot be scored, and why
};

class ModelView {
public:
    // Opens the model's files. Throws Error as open_model_files and load_tokenizer.
    explicit ModelView(const std::string& name_or_path);
    ~ModelView();
    ModelView(ModelView&&) noexcept;
    ModelView& operator=(ModelView&&) noexcept;

    // Throws Error(bad_value) if the sample cannot be encoded.
    SeenSequence see(const Sample& sample, const PromptOptions& options) const;
    DataCheck check(const std::vector<Sample>& samples, const PromptOptions& options,
                    RunControl& control) const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace cuset
