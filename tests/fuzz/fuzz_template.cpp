// A chat template is refused with an Error, at the latest when its budget is used up, or rendered.
#include <cstdint>

#include "core/base/error.h"
#include "core/text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    cuset::TemplateContext context;
    context.bos_token = "<s>";
    context.eos_token = "</s>";
    context.tools_json = R"([{"type":"function","function":{"name":"f","parameters":{}}}])";
    context.now = "2026-01-02T03:04:05";
    cuset::TemplateLimits limits;
    limits.steps = 20'000;
    limits.output_bytes = 1 << 16;
    try {
        const cuset::ChatTemplate text(std::string(reinterpret_cast<const char*>(data), size));
        text.render_json(R"([{"role":"system","content":"s"},{"role":"user","content":"u \u00fc"},
            {"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"x":[1,2.5]}}}]}])",
                         context, limits);
    } catch (const cuset::Error&) { }
    return 0;
}
