// The text files of a model folder (Hugging Face) for a model that has none: one read from a GGUF
// file.
#pragma once

#include <map>
#include <string>

#include "core/model/model_config.h"
#include "core/model/model_files.h"

namespace cuset {

// config.json; parse_model_config gives the same model back. `dtype`: float32, bfloat16 or float16.
// Throws Error(unsupported): rope_freqs of a kind that config.json cannot say.
std::string config_json(const ModelConfig& config, const std::string& dtype,
                        const std::string& subject);

// config.json, tokenizer.json, tokenizer_config.json and, if there is one, chat_template.jinja, by
// name. `files` must be a GGUF file's.
std::map<std::string, std::string> folder_texts(const ModelFiles& files, const std::string& dtype);

} // namespace cuset
