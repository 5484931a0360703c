// EncoderFiles: what turns samples into tokens, opened from a model without its weights. Free of
// torch.
#pragma once

#include <string>
#include <vector>

#include "core/model/model_files.h"
#include "core/model/prompt_encoder.h"

namespace cuset {

struct EncoderFiles {
    // Throws Error as open_model_files and load_tokenizer.
    explicit EncoderFiles(const std::string& name_or_path)
        : files(open_model_files(name_or_path))
        , tokenizer(load_tokenizer(files).tokenizer)
        , encoder(files, tokenizer, warnings) { }

    ModelFiles files;
    Tokenizer tokenizer;
    std::vector<std::string> warnings;
    PromptEncoder encoder; // refers to the tokenizer: this stays where it is
};

} // namespace cuset
