#include "core/text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace cuset {
namespace {

using testing::HasSubstr;

std::string render(const std::string& source, const std::string& variables = "{}") {
    TemplateContext context;
    context.bos_token = "<s>";
    context.eos_token = "</s>";
    context.variables_json = variables;
    context.now = "2026-12-01T08:30:00";
    return ChatTemplate(source, "template").render({}, context);
}

Error error_of(const std::string& source) {
    try {
        const std::string text = render(source);
        ADD_FAILURE() << "rendered to " << text;
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorCode::failure, "none");
}

// Each construct beside what jinja2 makes of it; null: it refuses, and so must we. Made by
// tests/reference/template_differential.py --golden.
TEST(ChatTemplate, EqualsJinja2OnEveryConstruct) {
    std::ifstream file(CUSET_TEST_DATA "/text/jinja_constructs.json");
    const auto golden = nlohmann::ordered_json::parse(file);
    const std::string variables = golden["variables"].dump();
    ASSERT_GT(golden["constructs"].size(), 60u);
    for (const auto& construct : golden["constructs"]) {
        const std::string source = construct["template"];
        if (construct["text"].is_null())
            EXPECT_THROW(render(source, variables), Error) << source;
        else
            EXPECT_EQ(render(source, variables), construct["text"].get<std::string>()) << source;
    }
}

TEST(ChatTemplate, RendersAConversation) {
    const ChatTemplate chatml(
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m['content'] + "
        "'<|im_end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
    const std::vector<ChatMessage> messages{{"system", "s"}, {"user", "größe"}};
    TemplateContext context;
    EXPECT_EQ(chatml.render(messages, context),
              "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\ngröße<|im_end|>\n<|im_start|>"
              "assistant\n");
    context.add_generation_prompt = false;
    EXPECT_EQ(chatml.render({{"user", "u"}}, context), "<|im_start|>user\nu<|im_end|>\n");
}

TEST(ChatTemplate, KeepsEveryFieldOfAMessage) {
    const ChatTemplate source(
        "{{ messages[0].tool_calls[0].function.name }} {{ messages[0].role }}");
    const ChatMessage message{"assistant", "",
                              R"({"tool_calls": [{"function": {"name": "nvcc"}}]})"};
    EXPECT_EQ(source.render({message}, {}), "nvcc assistant");
    EXPECT_THROW(source.render({{"assistant", "", "[1]"}}, {}), Error);
    EXPECT_THROW(source.render_json("{}", {}), Error);
    EXPECT_THROW(source.render_json("[", {}), Error);
}

TEST(ChatTemplate, AnErrorNamesLineAndConstruct) {
    EXPECT_THAT(error_of("a\nb\n{{ 1 / 0 }}").what(),
                HasSubstr("template: line 3: division by zero"));
    EXPECT_THAT(error_of("\n{% if x %}").what(), HasSubstr("endif"));
    EXPECT_THAT(error_of("{% include 'x' %}").what(), HasSubstr("line 1: {% include %}"));
    EXPECT_THAT(error_of("{{ raise_exception('only user turns') }}").what(),
                HasSubstr("only user turns"));
    EXPECT_THAT(error_of("{{ a.b.c }}").what(), HasSubstr("'a' is undefined"));
    EXPECT_EQ(error_of("{% include 'x' %}").code(), ErrorCode::unsupported);
    EXPECT_EQ(error_of("{{ ").code(), ErrorCode::bad_format);
    EXPECT_EQ(error_of("{{ 1 + 'a' }}").code(), ErrorCode::bad_value);
}

// What an untrusted template may try; each must end with an error, soon.
TEST(ChatTemplate, BudgetsStopHostileTemplates) {
    std::string deep_parentheses(5000, '('), deep_lists(5000, '['), chain = "{{ 1",
                                                                    filters = "{{ 1", nots;
    for (int i = 0; i < 5000; ++i) {
        chain += " + 1";
        filters += "|abs";
        nots += "not ";
    }
    const std::string hostile[]{
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{{ range(1000000000) }}",
        "{{ 'a' * 1000000000 }}",
        "{{ [0] * 1000000000 }}",
        "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s "
        "%}{% endfor %}",
        "{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = [ns.l] %}{% endfor "
        "%}",
        "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(a) %}{{ a() }}{% endmacro %}{% for i in range(9) %}{{ m(m) }}{% endfor %}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ 'a' | center(1000000000) }}",
        "{{ 'a\n' * 100000 | indent(100000) }}",
        "{{ 10 ** 10 ** 10 }}",
        "{{ (-9223372036854775807 - 1) // -1 }}",
        "{{ " + deep_parentheses + " }}",
        "{{ " + deep_lists + " }}",
        chain + " }}",
        filters + " }}",
        "{{ " + nots + "1 }}",
    };
    for (const std::string& source : hostile) {
        const auto start = std::chrono::steady_clock::now();
        EXPECT_THROW(render(source), Error) << source.substr(0, 80);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        EXPECT_LT(seconds.count(), 5) << source.substr(0, 80);
    }
}

TEST(ChatTemplate, ANamespaceThatHoldsItselfIsFreed) {
    EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.self = ns %}{% macro m() %}{{ ns.self is "
                     "defined }}"
                     "{% endmacro %}{{ m() }}"),
              "True");
}

TEST(ChatTemplate, AnyBytesAreRefusedOrRendered) {
    const std::string pieces[]{"{{", "}}",   "{%",       "%}", "{#",  "#}", "-",      "'",   "\"",
                               "a",  " ",    "\n",       "if", "for", "in", "endfor", "set", "=",
                               "(",  ")",    "[",        "]",  "{",   "}",  "|",      "~",   ".",
                               "1",  "\xff", "\xe2\x96", "is", "not", "raw"};
    std::uint32_t state = 1;
    for (int trial = 0; trial < 20000; ++trial) {
        std::string source;
        for (int i = 0; i < 12; ++i) {
            state = state * 1664525u + 1013904223u;
            source += pieces[(state >> 8) % std::size(pieces)];
        }
        try {
            render(source);
        } catch (const Error&) { }
    }
}

} // namespace
} // namespace cuset
