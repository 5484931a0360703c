#include "core/text/tokenizer_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/text/gguf_pre_tokenizers.h"
#include "core/text/unicode.h"

namespace cuset {
namespace {

using nlohmann::ordered_json;

enum TokenType : std::int64_t { unknown = 2, control = 3, user_defined = 4 };

std::int64_t type_of(const GgufVocabulary& in, std::size_t id) {
    return id < in.token_types.size() ? in.token_types[id] : 1;
}

ordered_json added_tokens(const GgufVocabulary& in) {
    ordered_json out = ordered_json::array();
    for (std::size_t id = 0; id < in.tokens.size(); ++id) {
        const std::int64_t type = type_of(in, id);
        if ((type != control && type != user_defined && type != unknown) || in.tokens[id].empty())
            continue;
        const bool special = type != user_defined;
        out.push_back({{"id", id},
                       {"content", in.tokens[id]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", !special},
                       {"special", special}});
    }
    return out;
}

ordered_json vocabulary_of(const GgufVocabulary& in) {
    ordered_json out = ordered_json::object();
    for (std::size_t id = 0; id < in.tokens.size(); ++id)
        if (!out.contains(in.tokens[id]))
            out[in.tokens[id]] = id;
    return out;
}

ordered_json byte_level(bool use_regex) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", true},
            {"use_regex", use_regex}};
}

ordered_json pre_tokenizer(const text::NamedPreTokenizer& named) {
    ordered_json steps = ordered_json::array();
    for (const text::NamedStep& step : named.steps)
        if (step.kind == text::NamedStep::Kind::pattern)
            steps.push_back({{"type", "Split"},
                             {"pattern", {{"Regex", step.pattern}}},
                             {"behavior", "Isolated"},
                             {"invert", false}});
        else
            steps.push_back(
                {{"type", "Digits"},
                 {"individual_digits", step.kind == text::NamedStep::Kind::each_digit}});
    steps.push_back(byte_level(named.gpt2_last));
    return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

// The tokens that stand before and after every text.
ordered_json post_processor(const GgufVocabulary& in, bool add_bos) {
    ordered_json single = ordered_json::array(), pair = ordered_json::array(),
                 special = ordered_json::object();
    const auto put = [&](std::int64_t id) {
        const std::string& token = in.tokens[static_cast<std::size_t>(id)];
        single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0}}}});
        special[token] = {{"id", token},
                          {"ids", std::vector<std::int64_t>{id}},
                          {"tokens", std::vector<std::string>{token}}};
    };
    if (in.add_bos.value_or(add_bos) && in.bos_id)
        put(*in.bos_id);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    if (in.add_eos.value_or(false) && in.eos_id)
        put(*in.eos_id);
    if (special.empty())
        return nullptr;
    for (const ordered_json& piece : single)
        pair.push_back(piece);
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", std::move(pair)},
            {"special_tokens", std::move(special)}};
}

// All pairs of tokens that join to a token, the best score first.
std::vector<std::string> merges_by_score(const GgufVocabulary& in) {
    std::unordered_map<std::string_view, std::size_t> ids;
    for (std::size_t id = 0; id < in.tokens.size(); ++id)
        ids.emplace(in.tokens[id], id);
    std::vector<std::size_t> order(in.tokens.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return in.scores[a] > in.scores[b]; });
    std::vector<std::string> out;
    for (const std::size_t id : order) {
        const std::string_view token = in.tokens[id];
        for (std::size_t at = 0; at < token.size();) {
            at += unicode::decode(token, at).size;
            if (at < token.size() && ids.contains(token.substr(0, at))
                && ids.contains(token.substr(at)))
                out.push_back(std::string(token.substr(0, at)) + " "
                              + std::string(token.substr(at)));
        }
    }
    return out;
}

ordered_json model(const GgufVocabulary& in, bool sentence_piece, bool ignore_merges) {
    ordered_json unknown_token;
    if (sentence_piece && in.unknown_id)
        unknown_token = in.tokens[static_cast<std::size_t>(*in.unknown_id)];
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", std::move(unknown_token)},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", sentence_piece},
            {"byte_fallback", sentence_piece},
            {"ignore_merges", ignore_merges},
            {"vocab", vocabulary_of(in)},
            {"merges", sentence_piece ? merges_by_score(in) : in.merges}};
}

constexpr const char* blank_mark = "\xe2\x96\x81"; // SentencePiece's for a blank

ordered_json sentence_piece_normalizer(bool prefix) {
    ordered_json steps = ordered_json::array();
    if (prefix)
        steps.push_back({{"type", "Prepend"}, {"prepend", blank_mark}});
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", blank_mark}});
    return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

ordered_json sentence_piece_decoder(bool prefix) {
    ordered_json steps = ordered_json::array();
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", blank_mark}}}, {"content", " "}});
    steps.push_back({{"type", "ByteFallback"}});
    steps.push_back({{"type", "Fuse"}});
    if (prefix)
        steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

} // namespace

std::string tokenizer_json(const GgufVocabulary& in, const std::string& subject) {
    static_cast<void>(
        Tokenizer::from_gguf(in, subject)); // whatever is wrong with it is found there
    const bool sentence_piece = in.model == "llama";
    const bool prefix = in.add_space_prefix.value_or(true);
    text::NamedPreTokenizer named;
    if (!sentence_piece)
        named = text::find_pre_tokenizer(in.pre, subject);
    ordered_json out{{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}};
    out["added_tokens"] = added_tokens(in);
    out["normalizer"] = sentence_piece ? sentence_piece_normalizer(prefix)
        : named.normal_form_c          ? ordered_json{{"type", "NFC"}}
                                       : ordered_json(nullptr);
    out["pre_tokenizer"] = sentence_piece ? ordered_json(nullptr) : pre_tokenizer(named);
    out["post_processor"] = post_processor(in, sentence_piece || named.add_bos);
    out["decoder"] = sentence_piece ? sentence_piece_decoder(prefix) : byte_level(true);
    out["model"] = model(in, sentence_piece, named.ignore_merges);
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace cuset
