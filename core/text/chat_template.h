// ChatTemplate: a model's chat template (Jinja), rendered by a bounded engine of our own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/sample.h"

namespace cuset {

// What templates may read beside the messages.
struct TemplateContext {
    std::string bos_token;
    std::string eos_token;
    std::string pad_token = {};
    std::string unk_token = {};
    std::string tools_json = {}; // JSON array, or "" for none
    std::string documents_json = {}; // JSON array, or "" for none
    std::string variables_json =
        {}; // JSON object of further variables (enable_thinking, ...), or ""
    bool add_generation_prompt = true;
    std::string now = {}; // ISO 8601 local time for strftime_now; "" = the clock
};

// Budgets for a template, which is untrusted input.
struct TemplateLimits {
    long steps = 1'000'000;
    long output_bytes = 4L << 20;
    int depth = 64;
    int milliseconds = 250;
};

class ChatTemplate {
public:
    // Throws Error(bad_format) with line and construct, unsupported, limit.
    explicit ChatTemplate(std::string source, std::string subject = "chat template");
    ~ChatTemplate();
    ChatTemplate(ChatTemplate&&) noexcept;
    ChatTemplate& operator=(ChatTemplate&&) noexcept;

    // Equal to jinja2 3.1 as transformers sets it up (trim_blocks, lstrip_blocks). Throws Error:
    // bad_value (raise_exception's message, an operation on the wrong type; with the line), limit
    // (a budget is used up).
    std::string render(const std::vector<ChatMessage>& messages, const TemplateContext& context,
                       const TemplateLimits& limits = {}) const;
    // The same from a JSON array of messages, every field kept.
    std::string render_json(std::string_view messages_json, const TemplateContext& context,
                            const TemplateLimits& limits = {}) const;

    const std::string& source() const;

private:
    struct Impl;
    std::unique_ptr<const Impl> impl_;
};

} // namespace cuset
