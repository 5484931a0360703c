// The patterns are those of the models' own tokenizer.json files.
#include "core/text/gguf_pre_tokenizers.h"

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "core/text/split_scanner.h"

namespace cuset::text {
namespace {

enum class Family {
    gpt2,
    digits_gpt2,
    llama3,
    qwen2,
    qwen35,
    deepseek_llm,
    deepseek_coder,
    deepseek3,
    falcon,
    tekken,
    gpt4o,
    seed_coder
};

struct Name {
    std::string_view name;
    Family family;
    bool ignore_merges = false, add_bos = false, normal_form_c = false;
};

// Proven against ids that the models' own tokenizers gave for llama.cpp's test texts: gpt-2, mpt,
// starcoder, refact, command-r, llama-bpe, qwen2, falcon, deepseek-coder, deepseek-llm; deepseek-v3
// against its tokenizer.json, smollm by SmolLM2's. The other names follow llama.cpp's table, their
// definitions were not at hand. NFC is each model's normalizer: nothing in those texts tells it
// for mpt, olmo and command-r. deepseek-llm: its vocabulary has no token of several ASCII digits,
// so runs of digits and single ones give the same ids there.
constexpr Name names[] = {
    {"gpt-2", Family::gpt2},
    {"gpt2", Family::gpt2},
    {"phi-2", Family::gpt2},
    {"mpt", Family::gpt2, false, false, true},
    {"olmo", Family::gpt2, false, false, true},
    {"jais", Family::gpt2},
    {"trillion", Family::gpt2},
    {"granite-docling", Family::gpt2},
    {"roberta-bpe", Family::gpt2},
    {"gigachat", Family::gpt2},
    {"jina-es", Family::gpt2},
    {"jina-de", Family::gpt2},
    {"jina-v1-en", Family::gpt2},
    {"jina-v2-es", Family::gpt2},
    {"jina-v2-de", Family::gpt2},
    {"jina-v2-code", Family::gpt2},
    {"a.x-4.0", Family::gpt2},
    {"mellum", Family::gpt2},
    {"modern-bert", Family::gpt2},
    {"exaone4", Family::gpt2},
    {"smollm", Family::digits_gpt2},
    {"starcoder", Family::digits_gpt2},
    {"refact", Family::digits_gpt2},
    {"command-r", Family::digits_gpt2, false, false, true},
    {"codeshell", Family::digits_gpt2},
    {"exaone", Family::digits_gpt2},
    {"minerva-7b", Family::digits_gpt2},
    {"llama-bpe", Family::llama3, true, true},
    {"llama3", Family::llama3, true, true},
    {"llama-v3", Family::llama3, true, true},
    {"falcon3", Family::llama3, true, true},
    {"falcon-h1", Family::llama3, true, true},
    {"pixtral", Family::llama3, true, true},
    {"midm-2.0", Family::llama3, true, true},
    {"lfm2", Family::llama3, true, true},
    {"dbrx", Family::llama3},
    {"smaug-bpe", Family::llama3},
    {"chatglm-bpe", Family::llama3},
    {"glm4", Family::llama3},
    {"qwen2", Family::qwen2},
    {"deepseek-r1-qwen", Family::qwen2},
    {"megrez", Family::qwen2},
    {"stablelm2", Family::qwen2},
    {"hunyuan", Family::qwen2},
    {"grok-2", Family::qwen2},
    {"qwen35", Family::qwen35},
    {"deepseek-llm", Family::deepseek_llm},
    {"deepseek-coder", Family::deepseek_coder},
    {"deepseek-v3", Family::deepseek3},
    {"hunyuan-dense", Family::deepseek3},
    {"falcon", Family::falcon},
    {"tekken", Family::tekken, true, true},
    {"gpt-4o", Family::gpt4o},
    {"llama4", Family::gpt4o},
    {"kanana2", Family::gpt4o},
    {"seed-coder", Family::seed_coder},
};

constexpr std::string_view gpt4o_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view tekken_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen35_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view seed_coder_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view deepseek3_pattern =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view deepseek_han =
    "[\xe4\xb8\x80-\xe9\xbe\xa5\xe0\xa0\x80-\xe4\xb8\x80\xea\xb0\x80-\xed\x9f\xbf]+";
constexpr std::string_view deepseek3_han =
    "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+";
// Letters with case of the scripts that DeepSeek LLM's pattern lists.
constexpr std::string_view deepseek_letters =
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295"
    "-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-"
    "\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5"
    "\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-"
    "\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-"
    "\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-"
    "\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-"
    "\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e"
    "\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-"
    "\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17"
    "\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-"
    "\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-"
    "\U0001e943]+";
constexpr std::string_view deepseek_marks =
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+";

constexpr NamedStep each_digit{NamedStep::Kind::each_digit};
constexpr NamedStep digit_runs{NamedStep::Kind::digit_runs};
NamedStep pattern(std::string_view text) {
    return {NamedStep::Kind::pattern, text};
}

NamedPreTokenizer steps_of(Family family) {
    switch (family) {
    case Family::gpt2:
        return {.gpt2_last = true};
    case Family::digits_gpt2:
        return {.steps = {each_digit}, .gpt2_last = true};
    case Family::llama3:
        return {.steps = {pattern(pattern_text(KnownPattern::llama3))}};
    case Family::qwen2:
        return {.steps = {pattern(pattern_text(KnownPattern::qwen2))}};
    case Family::qwen35:
        return {.steps = {pattern(qwen35_pattern)}};
    case Family::seed_coder:
        return {.steps = {pattern(seed_coder_pattern)}};
    case Family::tekken:
        return {.steps = {pattern(tekken_pattern)}};
    case Family::gpt4o:
        return {.steps = {pattern(gpt4o_pattern)}};
    case Family::deepseek_llm:
        return {.steps = {pattern("[\r\n]"), pattern(deepseek_letters), pattern(deepseek_marks),
                          pattern("\\s+$"), pattern(deepseek_han), digit_runs}};
    case Family::deepseek_coder:
        return {.steps = {pattern("[\r\n]"), pattern("\\s?\\p{L}+"), pattern("\\s?\\p{P}+"),
                          pattern(deepseek_han), each_digit}};
    case Family::deepseek3:
        return {
            .steps = {pattern("\\p{N}{1,3}"), pattern(deepseek3_han), pattern(deepseek3_pattern)}};
    case Family::falcon:
        break;
    }
    return {.steps = {pattern("[\\p{P}\\$\\+<=>\\^~\\|`]+"),
                      pattern(pattern_text(KnownPattern::gpt2)), pattern("[0-9][0-9][0-9]")}};
}

} // namespace

NamedPreTokenizer find_pre_tokenizer(std::string_view name, const std::string& subject) {
    const auto* found = std::find_if(std::begin(names), std::end(names),
                                     [&](const Name& known) { return known.name == name; });
    if (found == std::end(names)) {
        std::string known;
        for (const Name& one : names)
            known += (known.empty() ? "" : ", ") + std::string(one.name);
        throw Error(
            ErrorCode::unsupported,
            name.empty()
                ? "tokenizer.ggml.pre is missing, so how to split text is not known; known are "
                    + known
                : "tokenizer.ggml.pre is \"" + std::string(name) + "\"; known are " + known,
            subject);
    }
    NamedPreTokenizer out = steps_of(found->family);
    out.ignore_merges = found->ignore_merges;
    out.add_bos = found->add_bos;
    out.normal_form_c =
        found->normal_form_c || found->family == Family::qwen2 || found->family == Family::qwen35;
    return out;
}

} // namespace cuset::text
