// Scores made up for tests of the window: words and blanks of a text as tokens, confidences that
// follow from the position.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/score_set.h"

namespace cuset::test {

// A small kernel with launch, thread index, shared memory and a barrier, ASCII.
std::string kernelText();

// One token for each run of letters or digits, and for each other byte. Confidence of token t: 0.05
// + 0.9 (t mod 10) / 10. Tokens between the first `{` and the last `}` have the kernel bit,
// `threadIdx` the thread-index bit.
ScoredSample scoredSample(const std::string& id, const std::string& prompt,
                          const std::string& response);

// The same tokens with the labels that the text's structure gives them, and no prompt.
ScoredSample labelledSample(const std::string& id, const std::string& response);

std::shared_ptr<const ScoreSet> scoreSet(const std::vector<ScoredSample>& samples);

// Runs the event loop until `condition` holds; false after `milliseconds`.
bool waitFor(const std::function<bool()>& condition, int milliseconds = 20000);

} // namespace cuset::test
