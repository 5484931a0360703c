// PreTokenizer: cuts normalised text into the pieces that the model encodes one by one.
#pragma once

#include <memory>
#include <vector>

#include "core/text/aligned_text.h"
#include "core/text/json_access.h"
#include "core/text/split_scanner.h"

namespace cuset::text {

// A text under work and its pieces, in order, not empty. Steps that rewrite the text keep its new
// form in `rewritten`.
struct PieceList {
    AlignedView text;
    AlignedText rewritten = {};
    std::vector<Piece> pieces = {};
};

class PreTokenStep {
public:
    virtual ~PreTokenStep() = default;
    // Throws Error(limit) where a pattern of the file exceeds its match limit.
    virtual void apply(PieceList& list) const = 0;
};

class PreTokenizer {
public:
    // Without steps the whole text is one piece.
    PreTokenizer() = default;
    // From tokenizer.json's component. Throws Error: bad_format, bad_value, unsupported (named).
    explicit PreTokenizer(const Node& node);

    void apply(PieceList& list) const;
    // True if the last step is ByteLevel: then the pieces are given as plain bytes, and the model's
    // symbols are bytes.
    bool is_byte_level() const { return byte_level_; }

    // Steps as GGUF's named pre-tokenizers need them.
    void add_pattern(std::string_view pattern, const std::string& subject); // Split, isolated
    void add_digits(bool individual);
    void end_with_byte_level(bool use_regex);

private:
    void parse(const Node& node, bool is_last);
    void add_step(const Node& node, const std::string& type);

    std::vector<std::unique_ptr<const PreTokenStep>> steps_;
    bool byte_level_ = false;
};

} // namespace cuset::text
