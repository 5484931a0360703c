#include "core/model/model_view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/model/encoder_files.h"
#include "core/model/response_tokens.h"

namespace cuset {

struct ModelView::Parts : EncoderFiles {
    using EncoderFiles::EncoderFiles;

    // Begin tokens that the sequence starts with; some models open every turn with the same token.
    std::int32_t begin_tokens(const Encoding& encoding) const {
        const std::optional<std::int32_t> begin = encoder.begin_token();
        std::int32_t count = 0;
        while (begin && count < encoding.response_begin
               && encoding.ids[static_cast<std::size_t>(count)] == *begin)
            ++count;
        return count;
    }

    std::string template_source(const Sample& sample, const PromptOptions& options) const {
        if (sample.rendered || !sample.prepared.ids.empty())
            return "as given";
        if (options.chat_template != "auto")
            return options.chat_template;
        return encoder.own_template() == nullptr ? "none" : files.template_source;
    }
};

ModelView::ModelView(const std::string& name_or_path)
    : parts_(std::make_unique<Parts>(name_or_path)) { }
ModelView::~ModelView() = default;
ModelView::ModelView(ModelView&&) noexcept = default;
ModelView& ModelView::operator=(ModelView&&) noexcept = default;

SeenSequence ModelView::see(const Sample& sample, const PromptOptions& options) const {
    const Encoding encoding = parts_->encoder.encode(sample, options);
    SeenSequence seen;
    seen.template_source = parts_->template_source(sample, options);
    seen.begin_tokens = parts_->begin_tokens(encoding);
    seen.cut_tokens = encoding.cut_tokens;
    seen.dropped_bytes = encoding.dropped_bytes;
    seen.plain_controls = encoding.plain_controls;
    seen.reasoning_tokens = count_reasoning(sample, encoding);
    for (const std::int32_t id : encoding.ids)
        seen.tokens.push_back(
            {id, parts_->tokenizer.token_bytes(id), parts_->tokenizer.is_special(id), false});
    for (std::size_t t = 0; t < encoding.spans.size(); ++t)
        seen.tokens[encoding.position(t)].response = true;
    return seen;
}

DataCheck ModelView::check(const std::vector<Sample>& samples, const PromptOptions& options,
                           RunControl& control) const {
    DataCheck check;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        control.checkpoint({"tokenizing", static_cast<std::int64_t>(i),
                            static_cast<std::int64_t>(samples.size()), "samples"});
        try {
            const Encoding encoding = parts_->encoder.encode(samples[i], options);
            ++check.samples;
            check.prompt_tokens += encoding.response_begin;
            check.response_tokens += encoding.response_tokens();
            check.longest =
                std::max(check.longest,
                         static_cast<std::int64_t>(encoding.ids.size()) + encoding.cut_tokens);
            check.cut_samples += encoding.cut_tokens > 0;
            check.cut_tokens += encoding.cut_tokens;
            check.doubled_begin += parts_->begin_tokens(encoding) > 1;
            check.dropped_bytes += encoding.dropped_bytes;
            check.plain_controls += encoding.plain_controls;
            check.reasoning_tokens += count_reasoning(samples[i], encoding);
        } catch (const Error& error) {
            check.skipped.push_back(
                {samples[i].id.empty() ? samples[i].origin : samples[i].id, error.message()});
        }
    }
    return check;
}

} // namespace cuset
