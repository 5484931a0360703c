#include "core/model/prompt_encoder.h"

#include <algorithm>
#include <mutex>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/model/response_tokens.h"

namespace cuset {
namespace {

constexpr std::uint64_t template_limit = 4u << 20;

std::string name_of(const Sample& sample) {
    return sample.origin.empty() ? sample.id : sample.origin;
}

std::vector<ChatMessage> turns(const Sample& sample) {
    if (!sample.messages.empty())
        return sample.messages;
    return {{"user", sample.prompt}};
}

std::string count(std::size_t n, const char* what) {
    return std::to_string(n) + " " + what;
}

} // namespace

struct PromptEncoder::FileTemplate {
    std::mutex mutex;
    std::string path;
    std::unique_ptr<const ChatTemplate> chat;
};

PromptEncoder::PromptEncoder(const ModelFiles& files, const Tokenizer& tokenizer,
                             std::vector<std::string>& warnings)
    : tokenizer_(tokenizer)
    , special_(files.special)
    , eos_ids_(files.config.eos_ids)
    , bos_id_(files.config.bos_id)
    , vocabulary_(files.config.vocabulary)
    , context_length_(files.config.context_length)
    , file_(std::make_unique<FileTemplate>()) {
    if (!special_.bos.empty())
        if (const auto id = tokenizer.find_token(special_.bos))
            bos_id_ = id;
    if (tokenizer.vocabulary_size() > vocabulary_)
        warnings.push_back("the tokenizer knows " + std::to_string(tokenizer.vocabulary_size())
                           + " ids, the model " + std::to_string(vocabulary_)
                           + "; samples that use the others are refused");
    if (files.template_text.empty())
        return;
    try {
        own_ = std::make_unique<const ChatTemplate>(files.template_text, files.template_source);
        own_end_ = probe_end_token(*own_);
    } catch (const Error& error) {
        warnings.push_back("the chat template cannot be used: " + std::string(error.what()));
    }
}

PromptEncoder::~PromptEncoder() = default;

const ChatTemplate* PromptEncoder::choose(const PromptOptions& options) const {
    if (options.chat_template == "none")
        return nullptr;
    if (options.chat_template == "auto")
        return own_.get();
    const std::lock_guard lock(file_->mutex);
    if (!file_->chat || file_->path != options.chat_template) {
        const std::string text = read_file(options.chat_template, template_limit);
        file_->chat = std::make_unique<const ChatTemplate>(text, options.chat_template);
        file_->path = options.chat_template;
    }
    return file_->chat.get();
}

std::string PromptEncoder::template_record(const PromptOptions& options) const {
    const bool own = options.chat_template == "none" || options.chat_template == "auto";
    return own ? options.chat_template : read_file(options.chat_template, template_limit);
}

TemplateContext PromptEncoder::context(const Sample& sample) const {
    TemplateContext context;
    context.bos_token = special_.bos;
    context.eos_token = special_.eos;
    context.pad_token = special_.pad;
    context.unk_token = special_.unknown;
    context.tools_json = sample.tools;
    return context;
}

std::string PromptEncoder::render(const Sample& sample, const PromptOptions& options) const {
    if (sample.rendered)
        return sample.prompt;
    if (const ChatTemplate* chat = choose(options))
        return chat->render(turns(sample), context(sample));
    if (sample.messages.empty())
        return sample.prompt;
    std::string text;
    for (const ChatMessage& message : sample.messages)
        text += (text.empty() ? "" : "\n\n") + message.content;
    return text;
}

RenderedPrompt PromptEncoder::render_apart(const Sample& sample,
                                           const PromptOptions& options) const {
    RenderedPrompt plain{render(sample, options), {}};
    const ChatTemplate* chat = sample.rendered ? nullptr : choose(options);
    if (!chat)
        return plain;
    ControlWords words(tokenizer_);
    std::vector<ChatMessage> hidden = turns(sample);
    for (ChatMessage& turn : hidden) {
        turn.role = words.hide(turn.role);
        turn.content = words.hide(turn.content);
        turn.extra = words.hide(turn.extra);
    }
    TemplateContext hidden_context = context(sample);
    hidden_context.tools_json = words.hide(hidden_context.tools_json);
    if (words.empty())
        return plain;
    // A template that reads such words itself makes something else of the stand-ins, or fails.
    try {
        RenderedPrompt apart = words.restore(chat->render(hidden, hidden_context));
        return apart.text == plain.text ? apart : plain;
    } catch (const Error&) {
        return plain;
    }
}

// Renders a finished turn with a word that no template holds and looks for the first special token
// behind it.
std::optional<std::int32_t> PromptEncoder::probe_end_token(const ChatTemplate& chat) const {
    const std::string word = "cuset-probe-of-the-end";
    TemplateContext context = this->context({});
    context.add_generation_prompt = false;
    std::string text;
    try {
        text = chat.render({{"user", "a"}, {"assistant", word}}, context);
    } catch (const Error&) {
        return std::nullopt; // the model's own end token is the next guess
    }
    const std::size_t at = text.rfind(word);
    if (at == std::string::npos)
        return std::nullopt;
    const std::string tail = text.substr(at + word.size());
    for (std::int32_t id : tokenizer_.encode(tail, {.parse_special = true}).ids)
        if (tokenizer_.is_special(id))
            return id;
    return std::nullopt;
}

std::optional<std::int32_t> PromptEncoder::end_token(const PromptOptions& options) const {
    const ChatTemplate* chat = choose(options);
    if (!chat)
        return std::nullopt;
    auto id = chat == own_.get() ? own_end_ : probe_end_token(*chat);
    if (!id && !special_.eos.empty())
        id = tokenizer_.find_token(special_.eos);
    if (!id && !eos_ids_.empty())
        id = eos_ids_.front();
    return id;
}

Encoding PromptEncoder::prepared(const Sample& sample) const {
    const PreparedIds& given = sample.prepared;
    const auto prompt = static_cast<std::size_t>(std::max(given.prompt_tokens, 0));
    if (prompt < 1 || prompt >= given.ids.size())
        throw Error(ErrorCode::bad_value,
                    count(given.ids.size(), "ids with ") + count(prompt, "of the prompt")
                        + ", needed at least one of each",
                    name_of(sample));
    Encoding encoding;
    encoding.ids = given.ids;
    encoding.response_begin = static_cast<std::int32_t>(prompt);
    encoding.rows = given.rows;
    std::int32_t end = 0;
    std::size_t kept = 0;
    for (std::size_t i = prompt; i < encoding.ids.size(); ++i) {
        const std::int32_t begin = end;
        end += static_cast<std::int32_t>(tokenizer_.token_bytes(encoding.ids[i]).size());
        const auto row = static_cast<std::int32_t>(i - prompt);
        if (given.rows.empty() || (kept < given.rows.size() && given.rows[kept] == row)) {
            encoding.spans.push_back({begin, end});
            ++kept;
        }
    }
    return encoding;
}

Encoding PromptEncoder::tokenized(const Sample& sample, const PromptOptions& options) const {
    if (sample.response.empty())
        throw Error(ErrorCode::bad_value, "the response is empty", name_of(sample));
    Encoding encoding;
    RenderedPrompt prompt = render_apart(sample, options);
    encoding.plain_controls = static_cast<std::int64_t>(
        prompt.plain.size() + tokenizer_.find_special(sample.response).size());
    TokenizeOptions reading;
    reading.parse_special = true;
    reading.plain_spans = std::move(prompt.plain);
    encoding.ids = tokenizer_.encode(prompt.text, reading).ids;
    // Without a token before it the first response token has no probability.
    if (encoding.ids.empty() && (bos_id_ || !eos_ids_.empty()))
        encoding.ids.push_back(bos_id_ ? *bos_id_ : eos_ids_.front());
    encoding.response_begin = static_cast<std::int32_t>(encoding.ids.size());
    TokenizedText response = tokenizer_.encode(sample.response, {});
    encoding.dropped_bytes = response.dropped_bytes;
    encoding.ids.insert(encoding.ids.end(), response.ids.begin(), response.ids.end());
    encoding.spans = std::move(response.spans);
    const auto end = sample.rendered ? std::nullopt : end_token(options);
    if (end) {
        const auto size = static_cast<std::int32_t>(sample.response.size());
        encoding.ids.push_back(*end);
        encoding.spans.push_back({size, size});
    }
    return encoding;
}

Encoding PromptEncoder::encode(const Sample& sample, const PromptOptions& options) const {
    const auto limit = static_cast<std::int32_t>(
        std::min<std::int64_t>(std::max(options.max_length, 1), context_length_));
    Encoding encoding = sample.prepared.ids.empty() ? tokenized(sample, options) : prepared(sample);
    if (sample.prepared.ids.empty())
        choose_response(sample, options.response, encoding);
    cut_encoding(limit, encoding);
    if (encoding.response_begin < 1)
        throw Error(
            ErrorCode::bad_value,
            "the prompt is empty and the model has no begin token, so that nothing comes before "
            "the response; give a prompt",
            name_of(sample));
    if (encoding.response_begin >= limit || encoding.spans.empty())
        throw Error(
            ErrorCode::bad_value,
            "what comes before the response takes " + std::to_string(encoding.response_begin)
                + " tokens, so that no response token is left within " + std::to_string(limit),
            name_of(sample));
    for (std::int32_t id : encoding.ids)
        if (id < 0 || id >= vocabulary_)
            throw Error(
                ErrorCode::bad_value,
                "token id " + std::to_string(id) + " is outside of the model's vocabulary of "
                    + std::to_string(vocabulary_) + "; the tokenizer belongs to another model",
                name_of(sample));
    return encoding;
}

} // namespace cuset
