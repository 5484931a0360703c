// Renders chat templates for tests/reference/template_differential.py: a JSON object a line on
// standard input
// ({"template", "messages", "tools", "variables", "add_generation_prompt", "now"}), a line of JSON
// ({"text"} or {"error"}) for each on standard output.
#include <cstdio>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/text/chat_template.h"

int main() {
    using Json = nlohmann::ordered_json;
    for (std::string line; std::getline(std::cin, line);) {
        Json answer;
        try {
            const Json request = Json::parse(line);
            cuset::TemplateContext context;
            context.bos_token = request.value("bos_token", "");
            context.eos_token = request.value("eos_token", "");
            if (request.contains("tools") && !request["tools"].is_null())
                context.tools_json = request["tools"].dump();
            if (request.contains("variables"))
                context.variables_json = request["variables"].dump();
            context.add_generation_prompt = request.value("add_generation_prompt", true);
            context.now = request.value("now", "");
            const cuset::ChatTemplate chat_template(request["template"].get<std::string>(),
                                                    "template");
            answer["text"] = chat_template.render_json(request["messages"].dump(), context);
        } catch (const cuset::Error& error) {
            answer["error"] = error.what();
            answer["code"] = cuset::error_code_name(error.code());
        }
        std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    }
}
