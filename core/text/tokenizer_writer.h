// tokenizer.json (Hugging Face tokenizers' format) of a GGUF file's vocabulary, so that a model
// folder made from a GGUF file can be loaded by other programs.
#pragma once

#include <string>

#include "core/text/tokenizer.h"

namespace cuset {

// Gives the ids that Tokenizer::from_gguf gives; for SentencePiece vocabularies, where pairs of
// equal score meet, as Hugging Face's own conversion of such vocabularies: by the order of the
// tokens. Throws what Tokenizer::from_gguf throws.
std::string tokenizer_json(const GgufVocabulary& vocabulary, const std::string& subject);

} // namespace cuset
