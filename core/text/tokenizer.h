// Tokenizer: text to token ids with exact byte spans, equal to the Hugging Face `tokenizers`
// library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_span.h"

namespace cuset {

struct TokenizedText {
    std::vector<std::int32_t> ids;
    // One span a token, in bytes of the text as given; in order, half open, without gaps, covering
    // the text (a byte that no token covers belongs to the token before it, or to the first). A
    // token that holds part of a character spans exactly its bytes.
    std::vector<ByteSpan> spans;
    std::int64_t dropped_bytes =
        0; // bytes the vocabulary has no token for; the reference drops them silently
    std::int64_t special_tokens = 0; // special tokens recognised in the text
};

struct TokenizeOptions {
    bool parse_special =
        false; // recognise special tokens in the text (a rendered prompt: yes; a response: no)
    bool add_special_tokens = false; // apply the post-processor (BOS, EOS templates)
    // Stretches of the text in which special tokens are never recognised: what a chat template
    // copies from a sample. In order, none over another.
    std::vector<ByteSpan> plain_spans = {};
};

// What a GGUF file's metadata says about its vocabulary.
struct GgufVocabulary {
    std::string model; // tokenizer.ggml.model: "gpt2", "llama"
    std::string pre; // tokenizer.ggml.pre
    std::vector<std::string> tokens;
    std::vector<double> scores;
    std::vector<std::int64_t>
        token_types; // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
    std::vector<std::string> merges;
    std::optional<std::int64_t> bos_id, eos_id, unknown_id, pad_id;
    std::optional<bool> add_bos, add_eos, add_space_prefix;
};

class Tokenizer {
public:
    // `json` is tokenizer.json's text, `subject` the file's name for messages. Throws Error:
    // bad_format, bad_value, unsupported (a component we do not implement, named), limit.
    static Tokenizer from_json(std::string_view json, const std::string& subject);
    static Tokenizer from_gguf(const GgufVocabulary& vocabulary, const std::string& subject);

    ~Tokenizer();
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;

    // Thread-safe. Any bytes are accepted; invalid UTF-8 is treated as U+FFFD, its spans cover the
    // bytes given. Throws Error(limit) if a pattern of the pre-tokenizer exceeds its match limit.
    TokenizedText encode(std::string_view text, const TokenizeOptions& options = {}) const;

    // Bytes of the tokens, one after another (special tokens as written unless skipped). Unknown
    // ids: nothing.
    std::string decode(std::span<const std::int32_t> ids, bool skip_special = false) const;
    // The bytes a token stands for ("\xe2\x96" for a part of a character); "" for an unknown id.
    std::string token_bytes(std::int32_t id) const;
    std::optional<std::int32_t> find_token(std::string_view text) const; // by its written form
    bool is_special(std::int32_t id) const;
    // Where `text` holds what looks like a special token.
    std::vector<ByteSpan> find_special(std::string_view text) const;
    std::int32_t vocabulary_size() const; // largest id + 1

    struct Impl; // tokenizer_parts.h

private:
    explicit Tokenizer(std::unique_ptr<const Impl> impl);
    std::unique_ptr<const Impl> impl_;
};

} // namespace cuset
