// Builds a tokenizer from a GGUF file's vocabulary: byte-level BPE with a named pre-tokenizer
// ("gpt2"), or a SentencePiece vocabulary with scores ("llama"). Source: the GGUF specification's
// tokenizer keys; what each name stands for is what the model's own tokenizer.json has.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/text/gguf_pre_tokenizers.h"
#include "core/text/tokenizer_parts.h"
#include "core/text/unicode.h"

namespace cuset {
namespace {

using text::AddedToken;
using text::Merge;
using text::no_token;

enum TokenType : std::int64_t {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
};

std::int64_t type_of(const GgufVocabulary& in, std::size_t id) {
    return id < in.token_types.size() ? in.token_types[id] : normal;
}

void check_sizes(const GgufVocabulary& in, const std::string& subject) {
    if (in.tokens.empty())
        throw Error(ErrorCode::bad_value, "tokenizer.ggml.tokens is empty", subject);
    if (in.tokens.size() > (1U << 24))
        throw Error(ErrorCode::limit,
                    "tokenizer.ggml.tokens has " + std::to_string(in.tokens.size())
                        + " tokens, at most 16777216",
                    subject);
    const auto check = [&](std::size_t count, const char* name) {
        if (count != 0 && count != in.tokens.size())
            throw Error(ErrorCode::bad_value,
                        std::string(name) + " has " + std::to_string(count)
                            + " entries, tokenizer.ggml.tokens has "
                            + std::to_string(in.tokens.size()),
                        subject);
    };
    check(in.token_types.size(), "tokenizer.ggml.token_type");
    check(in.scores.size(), "tokenizer.ggml.scores");
}

std::int32_t check_id(const GgufVocabulary& in, std::int64_t id, const char* name,
                      const std::string& subject) {
    if (id < 0 || id >= static_cast<std::int64_t>(in.tokens.size()))
        throw Error(ErrorCode::bad_value,
                    std::string(name) + " is " + std::to_string(id) + ", the vocabulary has "
                        + std::to_string(in.tokens.size()) + " tokens",
                    subject);
    return static_cast<std::int32_t>(id);
}

// Control tokens are special; user-defined ones are looked for in any text.
std::vector<AddedToken> added_tokens(const GgufVocabulary& in, const std::string& subject) {
    std::vector<AddedToken> out;
    for (std::size_t id = 0; id < in.tokens.size(); ++id) {
        const std::int64_t type = type_of(in, id);
        if ((type != control && type != user_defined && type != unknown) || in.tokens[id].empty())
            continue;
        if (in.tokens[id].size() > added_token_bytes_limit)
            throw Error(ErrorCode::limit,
                        "token " + std::to_string(id) + " is a control token of "
                            + std::to_string(in.tokens[id].size()) + " bytes, at most "
                            + std::to_string(added_token_bytes_limit),
                        subject);
        AddedToken token;
        token.content = in.tokens[id];
        token.special = type != user_defined;
        out.push_back(std::move(token));
    }
    if (out.size() > added_token_limit)
        throw Error(ErrorCode::limit,
                    "has " + std::to_string(out.size()) + " control tokens, at most "
                        + std::to_string(added_token_limit),
                    subject);
    return out;
}

std::vector<Merge> parse_merges(const GgufVocabulary& in, const text::Vocabulary& vocabulary,
                                const std::string& subject) {
    std::vector<Merge> out;
    out.reserve(in.merges.size());
    for (std::size_t k = 0; k < in.merges.size(); ++k) {
        const std::string& line = in.merges[k];
        // A token never begins with the blank that parts the two.
        const std::size_t blank = line.find(' ', 1);
        const auto fail = [&](const std::string& what) {
            throw Error(ErrorCode::bad_value,
                        "tokenizer.ggml.merges[" + std::to_string(k) + "] \"" + line + "\" " + what,
                        subject);
        };
        if (blank == std::string::npos)
            fail("needs two tokens with a blank between");
        const std::string left = line.substr(0, blank), right = line.substr(blank + 1);
        const Merge merge{vocabulary.find(left), vocabulary.find(right),
                          static_cast<std::int32_t>(out.size()), vocabulary.find(left + right)};
        if (merge.left == no_token || merge.right == no_token || merge.result == no_token)
            fail("names a token that tokenizer.ggml.tokens lacks");
        out.push_back(merge);
    }
    return out;
}

// All pairs of tokens that join to a token, ranked by its score, best first. Equal scores rank
// equal: the leftmost pair goes first, as in the reference implementation of such vocabularies.
std::vector<Merge> merges_by_score(const GgufVocabulary& in, const text::Vocabulary& vocabulary) {
    const auto count = static_cast<std::int32_t>(in.tokens.size());
    std::vector<std::int32_t> order(in.tokens.size());
    std::iota(order.begin(), order.end(), 0);
    const auto score = [&](std::int32_t id) { return in.scores[id]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return score(a) > score(b); });
    std::vector<Merge> out;
    std::int32_t rank = 0;
    for (std::int32_t k = 0; k < count; ++k) {
        const std::int32_t id = order[k];
        rank += k > 0 && score(order[k - 1]) != score(id);
        const std::string_view token = in.tokens[id];
        if (vocabulary.find(token) != id)
            continue;
        for (std::size_t at = 0; at < token.size();) {
            at += unicode::decode(token, at).size;
            if (at >= token.size())
                break;
            const std::int32_t left = vocabulary.find(token.substr(0, at));
            const std::int32_t right =
                left == no_token ? no_token : vocabulary.find(token.substr(at));
            if (right != no_token)
                out.push_back({left, right, rank, id});
        }
    }
    return out;
}

void set_ends(const GgufVocabulary& in, bool add_bos, const std::string& subject,
              text::PostProcessor& post) {
    if (in.add_bos.value_or(add_bos)) {
        if (!in.bos_id)
            throw Error(ErrorCode::bad_value,
                        "a BOS token is to be added, tokenizer.ggml.bos_token_id is missing",
                        subject);
        post.before = {check_id(in, *in.bos_id, "tokenizer.ggml.bos_token_id", subject)};
    }
    if (in.add_eos.value_or(false) && in.eos_id)
        post.after = {check_id(in, *in.eos_id, "tokenizer.ggml.eos_token_id", subject)};
}

void build_byte_level(const GgufVocabulary& in, const std::string& subject,
                      Tokenizer::Impl& parts) {
    const text::NamedPreTokenizer named = text::find_pre_tokenizer(in.pre, subject);
    if (named.normal_form_c)
        parts.normalizer = text::make_nfc_normalizer();
    for (const text::NamedStep& step : named.steps) {
        if (step.kind == text::NamedStep::Kind::pattern)
            parts.pre_tokenizer.add_pattern(step.pattern, subject);
        else
            parts.pre_tokenizer.add_digits(step.kind == text::NamedStep::Kind::each_digit);
    }
    parts.pre_tokenizer.end_with_byte_level(named.gpt2_last);
    text::BpeOptions options;
    options.byte_level = true;
    options.ignore_merges = named.ignore_merges;
    parts.bpe = std::make_unique<text::Bpe>(parts.vocabulary, options,
                                            parse_merges(in, parts.vocabulary, subject));
    parts.decoder = text::Decoder::byte_level();
    set_ends(in, named.add_bos, subject, parts.post_processor);
}

void build_sentence_piece(const GgufVocabulary& in, const std::string& subject,
                          Tokenizer::Impl& parts) {
    if (in.scores.empty())
        throw Error(ErrorCode::bad_value, "tokenizer.ggml.scores is missing", subject);
    if (std::any_of(in.scores.begin(), in.scores.end(), [](double s) { return s != s; }))
        throw Error(ErrorCode::bad_value, "tokenizer.ggml.scores has a value that is not a number",
                    subject);
    const bool prefix = in.add_space_prefix.value_or(true);
    parts.normalizer = text::make_space_normalizer(prefix);
    text::BpeOptions options;
    options.byte_fallback = true;
    options.fuse_unknown = true;
    if (in.unknown_id)
        options.unknown_id =
            check_id(in, *in.unknown_id, "tokenizer.ggml.unknown_token_id", subject);
    parts.bpe = std::make_unique<text::Bpe>(parts.vocabulary, options,
                                            merges_by_score(in, parts.vocabulary));
    parts.decoder = text::Decoder::sentence_piece(prefix);
    set_ends(in, true, subject, parts.post_processor);
}

} // namespace

Tokenizer Tokenizer::from_gguf(const GgufVocabulary& vocabulary, const std::string& subject) {
    check_sizes(vocabulary, subject);
    auto parts = std::make_unique<Impl>();
    for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id)
        parts->vocabulary.add(vocabulary.tokens[id], static_cast<std::int32_t>(id));
    if (vocabulary.model == "gpt2")
        build_byte_level(vocabulary, subject, *parts);
    else if (vocabulary.model == "llama")
        build_sentence_piece(vocabulary, subject, *parts);
    else
        throw Error(ErrorCode::unsupported,
                    "tokenizer.ggml.model is \"" + vocabulary.model
                        + "\"; supported are gpt2 (byte-level BPE) and llama (SentencePiece)",
                    subject);
    parts->add_tokens(added_tokens(vocabulary, subject));
    return Tokenizer(std::move(parts));
}

} // namespace cuset
