#include "core/model/model_files.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/model/inference_session.h"

namespace cuset {
namespace {

using nlohmann::json;

// A token in tokenizer_config.json: a string, or an object with "content".
std::string token_text(const json& config, const char* key) {
    const auto it = config.find(key);
    if (it == config.end())
        return "";
    if (it->is_string())
        return it->get<std::string>();
    if (it->is_object() && it->contains("content") && (*it)["content"].is_string())
        return (*it)["content"].get<std::string>();
    return "";
}

// chat_template: a string, or a list of named ones of which "default" is ours.
std::string template_in(const json& config) {
    const auto it = config.find("chat_template");
    if (it == config.end())
        return "";
    if (it->is_string())
        return it->get<std::string>();
    if (!it->is_array())
        return "";
    for (const json& entry : *it)
        if (entry.is_object() && entry.value("name", json()) == "default"
            && entry.contains("template") && entry["template"].is_string())
            return entry["template"].get<std::string>();
    return "";
}

void read_folder_extras(ModelFiles& files) {
    json config = json::object();
    if (const auto text = files.folder->find_text("tokenizer_config.json")) {
        config = json::parse(*text, nullptr, false);
        if (!config.is_object()) {
            files.warnings.push_back("tokenizer_config.json is not a JSON object; it is ignored");
            config = json::object();
        }
    }
    files.special = {token_text(config, "bos_token"), token_text(config, "eos_token"),
                     token_text(config, "pad_token"), token_text(config, "unk_token")};
    if (auto text = files.folder->find_text("chat_template.jinja")) {
        files.template_text = std::move(*text);
        files.template_source = "chat_template.jinja";
    } else if (auto own = template_in(config); !own.empty()) {
        files.template_text = std::move(own);
        files.template_source = "tokenizer_config.json";
    }
}

std::string gguf_token(const GgufFile& file, const char* name) {
    const auto* tokens = file.find_strings("tokenizer.ggml.tokens");
    const auto id = file.find_integer("tokenizer.ggml." + std::string(name) + "_token_id");
    if (!tokens || !id || *id < 0 || static_cast<std::size_t>(*id) >= tokens->size())
        return "";
    return (*tokens)[static_cast<std::size_t>(*id)];
}

void read_gguf_extras(ModelFiles& files) {
    const GgufFile& file = *files.gguf;
    files.special = {gguf_token(file, "bos"), gguf_token(file, "eos"), gguf_token(file, "padding"),
                     gguf_token(file, "unknown")};
    if (auto text = file.find_string("tokenizer.chat_template")) {
        files.template_text = std::move(*text);
        files.template_source = "tokenizer.chat_template";
    }
}

template <class T> std::vector<T> copy_or_empty(const std::vector<T>* values) {
    return values ? *values : std::vector<T>();
}

std::string vocabulary_sha256(const GgufVocabulary& v) {
    Sha256 sha;
    for (const std::string* text : {&v.model, &v.pre})
        sha.update(*text + "\n");
    for (const auto* list : {&v.tokens, &v.merges})
        for (const std::string& text : *list) {
            sha.update(std::to_string(text.size()) + ":");
            sha.update(text);
        }
    return sha.hex_digest();
}

} // namespace

GgufVocabulary read_vocabulary(const GgufFile& file) {
    GgufVocabulary v;
    v.model = file.find_string("tokenizer.ggml.model").value_or("");
    v.pre = file.find_string("tokenizer.ggml.pre").value_or("");
    v.tokens = copy_or_empty(file.find_strings("tokenizer.ggml.tokens"));
    v.scores = copy_or_empty(file.find_numbers("tokenizer.ggml.scores"));
    v.token_types = copy_or_empty(file.find_integers("tokenizer.ggml.token_type"));
    v.merges = copy_or_empty(file.find_strings("tokenizer.ggml.merges"));
    v.bos_id = file.find_integer("tokenizer.ggml.bos_token_id");
    v.eos_id = file.find_integer("tokenizer.ggml.eos_token_id");
    v.unknown_id = file.find_integer("tokenizer.ggml.unknown_token_id");
    v.pad_id = file.find_integer("tokenizer.ggml.padding_token_id");
    v.add_bos = file.find_bool("tokenizer.ggml.add_bos_token");
    v.add_eos = file.find_bool("tokenizer.ggml.add_eos_token");
    v.add_space_prefix = file.find_bool("tokenizer.ggml.add_space_prefix");
    return v;
}

ModelFiles open_model_files(const std::string& name_or_path) {
    ModelFiles files;
    files.location = locate_model(name_or_path);
    if (files.location.kind == ModelKind::gguf) {
        files.gguf = std::make_unique<GgufFile>(files.location.path);
        files.config = read_gguf_config(*files.gguf);
        read_gguf_extras(files);
    } else {
        files.folder = std::make_unique<ModelFolder>(files.location.path);
        const auto path = files.location.path / "config.json";
        files.config = parse_model_config(files.folder->config_json(), path.string());
        files.warnings = files.folder->warnings();
        read_folder_extras(files);
    }
    files.warnings.insert(files.warnings.end(), files.config.warnings.begin(),
                          files.config.warnings.end());
    return files;
}

LoadedTokenizer load_tokenizer(const ModelFiles& files) {
    if (files.gguf) {
        const GgufVocabulary vocabulary = read_vocabulary(*files.gguf);
        return {Tokenizer::from_gguf(vocabulary, files.location.path.string()),
                vocabulary_sha256(vocabulary)};
    }
    const std::string subject = (files.location.path / "tokenizer.json").string();
    const auto text = files.folder->find_text("tokenizer.json");
    if (!text)
        throw Error(ErrorCode::not_found,
                    "no tokenizer.json; save the tokenizer in the fast format (save_pretrained of "
                    "transformers does)",
                    files.location.path.string());
    Sha256 sha;
    sha.update(*text);
    return {Tokenizer::from_json(*text, subject), sha.hex_digest()};
}

Tokenizer load_tokenizer(const std::string& name_or_path) {
    return load_tokenizer(open_model_files(name_or_path)).tokenizer;
}

std::optional<ModelTemplate> load_chat_template(const std::string& name_or_path) {
    ModelFiles files = open_model_files(name_or_path);
    if (files.template_text.empty())
        return std::nullopt;
    TemplateContext context;
    context.bos_token = files.special.bos;
    context.eos_token = files.special.eos;
    context.pad_token = files.special.pad;
    context.unk_token = files.special.unknown;
    return ModelTemplate{ChatTemplate(files.template_text, files.template_source), context,
                         files.template_source};
}

} // namespace cuset
