// Decoder: tokenizer.json's "decoder", from written tokens back to text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/json_access.h"

namespace cuset::text {

class DecodeStep {
public:
    virtual ~DecodeStep() = default;
    // Rewrites the tokens in place. `whole` is false for a token looked at by itself: then steps
    // that treat the text's two ends do nothing.
    virtual void apply(std::vector<std::string>& tokens, bool whole) const = 0;
};

class Decoder {
public:
    Decoder() = default; // tokens one after another as they are written
    // From tokenizer.json's component, which may be null. Throws Error: bad_format, bad_value,
    // unsupported (named).
    explicit Decoder(const Node& node);
    // The steps of SentencePiece vocabularies: marks become blanks, <0xXX> bytes, one blank goes
    // from the front.
    static Decoder sentence_piece(bool strip_prefix);
    static Decoder byte_level();

    // Unlike the reference, bytes that are not UTF-8 stay as they are.
    std::string decode(std::vector<std::string> tokens, bool whole) const;

private:
    void parse(const Node& node);

    std::vector<std::unique_ptr<const DecodeStep>> steps_;
};

} // namespace cuset::text
