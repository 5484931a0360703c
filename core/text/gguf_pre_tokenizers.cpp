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
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-"
    "Ჿᴀ-"
    "ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-"
    "ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-"
    "𐳲𑢠-"
    "𑣟𞤀-𞥃]+";
constexpr std::string_view deepseek_marks = "\\s?[!-/:-~！-／：-～‘-‟　-。]+";

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
