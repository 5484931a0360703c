// ModelFiles: a model's files opened and understood, before any weight is read. Free of torch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/gguf_file.h"
#include "core/io/model_folder.h"
#include "core/model/model_config.h"
#include "core/text/tokenizer.h"

namespace cuset {

struct SpecialTokens {
    std::string bos, eos, pad, unknown; // as written, "" where the model has none
};

struct ModelFiles {
    ModelLocation location;
    std::unique_ptr<ModelFolder> folder; // one of these two
    std::unique_ptr<GgufFile> gguf;
    ModelConfig config;
    SpecialTokens special;
    std::string template_text; // the model's own chat template, or ""
    std::string template_source; // where it was found: a file's name or a metadata key, or ""
    std::vector<std::string> warnings;
};

// Throws Error: not_found, unreadable, bad_format, bad_value, unsupported.
ModelFiles open_model_files(const std::string& name_or_path);

// The model's tokenizer, and the SHA-256 of what it was made from.
struct LoadedTokenizer {
    Tokenizer tokenizer;
    std::string sha256;
};
LoadedTokenizer load_tokenizer(const ModelFiles& files);
// The tokenizer's keys as they stand.
GgufVocabulary read_vocabulary(const GgufFile& file);

} // namespace cuset
