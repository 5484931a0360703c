#include "core/text/chat_template.h"

#include <utility>

#include "core/base/error.h"
#include "core/text/jinja_builtins.h"
#include "core/text/jinja_interpreter.h"
#include "core/text/jinja_syntax.h"

namespace cuset {

struct ChatTemplate::Impl {
    std::string source;
    std::string subject;
    jinja::Block block;
};

namespace {

using jinja::Dict;
using jinja::Value;

constexpr std::size_t max_source_bytes = 1 << 20;

void set(Dict& variables, const char* name, Value value) {
    for (auto& [known, old] : variables)
        if (known.string() == name) {
            old = std::move(value);
            return;
        }
    variables.emplace_back(Value(name), std::move(value));
}

Value message_value(const ChatMessage& message, const std::string& subject) {
    Dict fields{{Value("role"), Value(message.role)}, {Value("content"), Value(message.content)}};
    if (!message.extra.empty()) {
        const Value extra = jinja::from_json_text(message.extra, subject);
        if (!extra.is_dict())
            throw Error(ErrorCode::bad_value, "further fields of a message must be a JSON object",
                        subject);
        for (const auto& [key, value] : extra.entries())
            set(fields, key.string().c_str(), value);
    }
    return Value::dict(std::move(fields));
}

Dict variables_of(const TemplateContext& context, const std::string& subject) {
    Dict variables = jinja::global_functions(context.now);
    set(variables, "bos_token", Value(context.bos_token));
    set(variables, "eos_token", Value(context.eos_token));
    if (!context.pad_token.empty())
        set(variables, "pad_token", Value(context.pad_token));
    if (!context.unk_token.empty())
        set(variables, "unk_token", Value(context.unk_token));
    const auto optional_json = [&](const std::string& json) {
        return json.empty() ? Value(jinja::None{}) : jinja::from_json_text(json, subject);
    };
    set(variables, "tools", optional_json(context.tools_json));
    set(variables, "documents", optional_json(context.documents_json));
    set(variables, "add_generation_prompt", Value(context.add_generation_prompt));
    const Value further = optional_json(context.variables_json);
    if (further.is_dict())
        for (const auto& [key, value] : further.entries())
            set(variables, key.string().c_str(), value);
    else if (!further.is_none())
        throw Error(ErrorCode::bad_value, "template variables must be a JSON object", subject);
    return variables;
}

} // namespace

ChatTemplate::ChatTemplate(std::string source, std::string subject) {
    if (source.size() > max_source_bytes)
        throw Error(ErrorCode::limit, "template is larger than 1 MiB", subject);
    jinja::Block block = jinja::parse(source, subject);
    impl_ =
        std::make_unique<const Impl>(Impl{std::move(source), std::move(subject), std::move(block)});
}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

const std::string& ChatTemplate::source() const {
    return impl_->source;
}

std::string ChatTemplate::render(const std::vector<ChatMessage>& messages,
                                 const TemplateContext& context,
                                 const TemplateLimits& limits) const {
    jinja::List list;
    for (const ChatMessage& message : messages)
        list.push_back(message_value(message, impl_->subject));
    Dict variables = variables_of(context, impl_->subject);
    set(variables, "messages", Value::list(std::move(list)));
    return jinja::Interpreter(
               {limits.steps, limits.output_bytes, limits.depth, limits.milliseconds})
        .render(impl_->block, variables, impl_->subject);
}

std::string ChatTemplate::render_json(std::string_view messages_json,
                                      const TemplateContext& context,
                                      const TemplateLimits& limits) const {
    Value messages = jinja::from_json_text(messages_json, "messages");
    if (messages.kind() != Value::Kind::list)
        throw Error(ErrorCode::bad_value, "must be a JSON array of {\"role\", \"content\"} objects",
                    "messages");
    Dict variables = variables_of(context, impl_->subject);
    set(variables, "messages", std::move(messages));
    return jinja::Interpreter(
               {limits.steps, limits.output_bytes, limits.depth, limits.milliseconds})
        .render(impl_->block, variables, impl_->subject);
}

} // namespace cuset
