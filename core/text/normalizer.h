// Normalizer: what tokenizer.json's "normalizer" does to the text, with the place that each byte
// came from.
#pragma once

#include <memory>

#include "core/text/aligned_text.h"
#include "core/text/json_access.h"

namespace cuset::text {

class Normalizer {
public:
    virtual ~Normalizer() = default;
    // Rewrites `in` into `out` and returns true, or returns false and leaves `out` alone if nothing
    // changes. Throws Error(limit) where a pattern of the file exceeds its match limit.
    virtual bool apply(AlignedView in, AlignedText& out) const = 0;
};

// From tokenizer.json's component. Throws Error: bad_format, bad_value, unsupported (named).
std::unique_ptr<const Normalizer> parse_normalizer(const Node& node);

// Prepend and replace, as the SentencePiece vocabularies of GGUF files need them.
std::unique_ptr<const Normalizer> make_space_normalizer(bool add_prefix);
std::unique_ptr<const Normalizer> make_nfc_normalizer();

// The Unicode normalisation forms.
enum class NormalForm { nfc, nfd, nfkc, nfkd };
// Unicode Standard Annex 15. Linear in the text but for the sorting of combining marks (n log n).
bool normalize_unicode(NormalForm form, AlignedView in, AlignedText& out);

} // namespace cuset::text
