// The response's tokens: which of them are scored and trained, their text, their labels. Free of
// torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/sample.h"
#include "core/data/token_labels.h"
#include "core/text/tokenizer.h"

namespace cuset {

// Keeps the response tokens that `choice` asks for. ResponseChoice::code keeps those that share a
// byte with CUDA, C or C++ source in sample.response (in fences, after reasoning, inside Python
// strings; Triton where there is none of it); what stands before and between is context, what comes
// after the last is dropped, the end token too unless the code goes to the end of the response.
// ResponseChoice::answer keeps those outside of the reasoning. Throws Error(bad_value) if nothing
// is left.
void choose_response(const Sample& sample, ResponseChoice choice, Encoding& encoding);

// How many of the scored tokens lie in the response's reasoning with all their bytes.
std::int64_t count_reasoning(const Sample& sample, const Encoding& encoding);

// Shortens the sequence to `limit` >= 1 tokens and counts the scored tokens that this drops.
void cut_encoding(std::int32_t limit, Encoding& encoding);

// [T] labels of the scored tokens: found in the response's text, or, where the data gives token ids
// and a CUDA flag for each, that flag as bit 0.
std::vector<LabelBits> label_response(const Sample& sample, const Encoding& encoding);

// The text that prepared token ids stand for.
std::string prepared_response(const Sample& sample, const Tokenizer& tokenizer);

} // namespace cuset
