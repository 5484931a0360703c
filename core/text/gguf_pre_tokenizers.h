// What the names in a GGUF file's tokenizer.ggml.pre stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuset::text {

struct NamedStep {
    enum class Kind { pattern, each_digit, digit_runs };
    Kind kind;
    std::string_view pattern = {}; // split, isolated
};

struct NamedPreTokenizer {
    std::vector<NamedStep> steps = {};
    bool gpt2_last = false; // ByteLevel with its own pattern ends the sequence
    bool ignore_merges = false;
    bool add_bos = false; // where the file does not say
    bool normal_form_c = false;
};

// Throws Error(unsupported) that names the known ones. An empty name is refused too: the split
// would be a guess.
NamedPreTokenizer find_pre_tokenizer(std::string_view name, const std::string& subject);

} // namespace cuset::text
