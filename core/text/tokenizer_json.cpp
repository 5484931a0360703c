// Reads tokenizer.json, the format of the Hugging Face `tokenizers` library.
#include "core/text/json_access.h"
#include "core/text/tokenizer_parts.h"

namespace cuset {
namespace {

using text::AddedToken;
using text::Json;
using text::Merge;
using text::no_token;
using text::Node;
using text::Vocabulary;

void parse_vocabulary(const Node& model, Vocabulary& vocabulary) {
    const Node vocab = model.require_object("vocab");
    const std::int64_t limit = id_limit(vocab.json().size());
    for (const auto& [written, id] : vocab.json().items()) {
        if (!id.is_number_integer() || id < 0 || id >= limit)
            vocab.fail(ErrorCode::bad_value,
                       "gives \"" + written + "\" the id " + id.dump().substr(0, 40)
                           + ", needs a whole number from 0 to " + std::to_string(limit - 1));
        vocabulary.add(written, id.get<std::int32_t>());
    }
}

// A merge is written as ["a", "b"] or, in older files, as "a b".
std::pair<std::string, std::string> merge_pair(const Node& merges, std::size_t index) {
    const Json& json = merges.json()[index];
    if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string())
        return {json[0].get<std::string>(), json[1].get<std::string>()};
    if (!json.is_string())
        merges.element(index).fail(ErrorCode::bad_format, "needs two strings");
    const auto& line = json.get_ref<const std::string&>();
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || line.find(' ', blank + 1) != std::string::npos)
        merges.element(index).fail(ErrorCode::bad_format,
                                   "is \"" + line + "\", needs two tokens with one blank between");
    return {line.substr(0, blank), line.substr(blank + 1)};
}

std::vector<Merge> parse_merges(const Node& model, const Vocabulary& vocabulary,
                                const std::string& prefix) {
    const Node merges = model.require_array("merges");
    std::vector<Merge> out;
    out.reserve(merges.json().size());
    for (std::size_t k = 0; k < merges.json().size(); ++k) {
        const Json& json = merges.json()[k];
        if (json.is_string() && json.get_ref<const std::string&>().starts_with("#version"))
            continue;
        const auto [left, right] = merge_pair(merges, k);
        if (!prefix.empty() && right.size() < prefix.size())
            merges.element(k).fail(ErrorCode::bad_value, "lacks the prefix " + prefix);
        const std::string result = left + right.substr(prefix.size());
        const Merge merge{vocabulary.find(left), vocabulary.find(right),
                          static_cast<std::int32_t>(out.size()), vocabulary.find(result)};
        for (const auto& [id, written] :
             {std::pair(merge.left, &left), {merge.right, &right}, {merge.result, &result}})
            if (id == no_token)
                merges.element(k).fail(ErrorCode::bad_value,
                                       "names \"" + *written + "\", which is not in model.vocab");
        out.push_back(merge);
    }
    return out;
}

std::vector<AddedToken> parse_added_tokens(const Node& root) {
    std::vector<AddedToken> out;
    if (root.member("added_tokens").json().is_null())
        return out;
    const Node list = root.require_array("added_tokens");
    if (list.json().size() > added_token_limit)
        list.fail(ErrorCode::limit,
                  "has " + std::to_string(list.json().size()) + " tokens, at most "
                      + std::to_string(added_token_limit) + " are taken");
    for (std::size_t k = 0; k < list.json().size(); ++k) {
        const Node node = list.element(k);
        AddedToken token;
        token.content = node.string("content");
        token.single_word = node.boolean("single_word", false);
        token.strip_left = node.boolean("lstrip", false);
        token.strip_right = node.boolean("rstrip", false);
        token.special = node.boolean("special", false);
        token.normalized = node.boolean("normalized", !token.special);
        const std::int64_t id = node.integer("id");
        if (id < 0 || id > INT32_MAX)
            node.member("id").fail(ErrorCode::bad_value,
                                   "is " + std::to_string(id) + ", needs 0 or more");
        if (token.content.size() > added_token_bytes_limit)
            node.member("content").fail(ErrorCode::limit,
                                        "has " + std::to_string(token.content.size())
                                            + " bytes, at most "
                                            + std::to_string(added_token_bytes_limit));
        out.push_back(std::move(token));
    }
    return out;
}

void parse_model(const Node& root, Tokenizer::Impl& parts) {
    const Node model = root.require_object("model");
    const std::string type = model.string("type", "BPE");
    if (type != "BPE")
        model.member("type").fail(ErrorCode::unsupported,
                                  "is " + type + "; only BPE models are supported");
    if (!model.member("dropout").json().is_null() && model.member("dropout").json() != 0)
        model.member("dropout").fail(ErrorCode::unsupported,
                                     "is set: tokens would differ from run to run");
    parse_vocabulary(model, parts.vocabulary);
    text::BpeOptions options;
    options.byte_level = parts.pre_tokenizer.is_byte_level();
    options.ignore_merges = model.boolean("ignore_merges", false);
    options.byte_fallback = model.boolean("byte_fallback", false);
    options.fuse_unknown = model.boolean("fuse_unk", false);
    options.continuing_prefix = model.string("continuing_subword_prefix", "");
    options.word_suffix = model.string("end_of_word_suffix", "");
    if (options.byte_level && !(options.continuing_prefix.empty() && options.word_suffix.empty()))
        model.fail(ErrorCode::unsupported,
                   "has a subword prefix or word suffix after a ByteLevel step");
    const std::string unknown = model.string("unk_token", "");
    if (!unknown.empty()) {
        options.unknown_id = parts.vocabulary.find(unknown);
        if (options.unknown_id == no_token)
            model.member("unk_token")
                .fail(ErrorCode::bad_value, "is \"" + unknown + "\", which is not in model.vocab");
    }
    const std::vector<Merge> merges =
        parse_merges(model, parts.vocabulary, options.continuing_prefix);
    parts.bpe = std::make_unique<text::Bpe>(parts.vocabulary, options, merges);
}

} // namespace

Tokenizer Tokenizer::from_json(std::string_view json, const std::string& subject) {
    const Json parsed = text::parse_json(json, subject);
    const Node root(parsed, "", subject);
    root.expect_object();
    const std::string version = root.string("version", "1.0");
    if (version != "1.0")
        root.member("version").fail(ErrorCode::unsupported, "is " + version + ", needs 1.0");
    auto parts = std::make_unique<Impl>();
    const Node normalizer = root.member("normalizer");
    if (!normalizer.json().is_null())
        parts->normalizer = text::parse_normalizer(normalizer);
    parts->pre_tokenizer = text::PreTokenizer(root.member("pre_tokenizer"));
    parse_model(root, *parts);
    parts->decoder = text::Decoder(root.member("decoder"));
    if (root.member("decoder").json().is_null() && parts->pre_tokenizer.is_byte_level())
        parts->decoder = text::Decoder::byte_level();
    parts->post_processor = text::parse_post_processor(root.member("post_processor"));
    parts->add_tokens(parse_added_tokens(root));
    const auto check = [&](const std::vector<std::int32_t>& ids) {
        for (const std::int32_t id : ids)
            if (id >= parts->size)
                throw Error(ErrorCode::bad_value,
                            "post_processor names token " + std::to_string(id)
                                + ", the vocabulary ends at " + std::to_string(parts->size - 1),
                            subject);
    };
    check(parts->post_processor.before);
    check(parts->post_processor.after);
    return Tokenizer(std::move(parts));
}

} // namespace cuset
