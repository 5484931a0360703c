// From a sample to token ids: the chat template, the seam between prompt and response, the end
// token, the cut. Free of torch.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/data/sample.h"
#include "core/model/control_words.h"
#include "core/model/inference_session.h"
#include "core/model/model_files.h"
#include "core/text/chat_template.h"
#include "core/text/tokenizer.h"

namespace cuset {

class PromptEncoder {
public:
    // A template of the model that cannot be read is reported in `warnings` and counts as none.
    PromptEncoder(const ModelFiles& files, const Tokenizer& tokenizer,
                  std::vector<std::string>& warnings);
    ~PromptEncoder();

    const ChatTemplate* own_template() const { return own_.get(); }
    std::optional<std::int32_t> begin_token() const { return bos_id_; }
    std::string render(const Sample& sample, const PromptOptions& options) const;
    // What a score file says of the template: "auto", "none", or the text of the file.
    std::string template_record(const PromptOptions& options) const;
    // Throws Error(bad_value): an empty response, no code where only code is wanted, no room for
    // it, ids outside the vocabulary.
    Encoding encode(const Sample& sample, const PromptOptions& options) const;

    // The token that the template puts after an assistant's turn, else the model's end token, else
    // none.
    std::optional<std::int32_t> end_token(const PromptOptions& options) const;

private:
    struct FileTemplate;
    const ChatTemplate* choose(const PromptOptions& options) const;
    TemplateContext context(const Sample& sample) const;
    std::optional<std::int32_t> probe_end_token(const ChatTemplate& chat) const;
    // What `render` gives, with the places of words that look like control tokens and come from the
    // sample; none where the prompt is taken as it stands.
    RenderedPrompt render_apart(const Sample& sample, const PromptOptions& options) const;
    Encoding prepared(const Sample& sample) const;
    Encoding tokenized(const Sample& sample, const PromptOptions& options) const;

    const Tokenizer& tokenizer_;
    SpecialTokens special_;
    std::vector<std::int32_t> eos_ids_;
    std::optional<std::int32_t> bos_id_;
    std::int64_t vocabulary_;
    std::int64_t context_length_;
    std::unique_ptr<const ChatTemplate> own_;
    std::optional<std::int32_t> own_end_;
    mutable std::unique_ptr<FileTemplate> file_; // the last template that was read from a file
};

} // namespace cuset
