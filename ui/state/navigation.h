// Where to go next in a sample: what F7 and F8 look for.
#pragma once

#include "ui/state/token_figures.h"

namespace cuset {

// The first token after `from` at which a stretch of windows with a mean below `neutralMean`
// begins; -1 if none.
int nextLowWindow(const TokenFigures& figures, double neutralMean, int from);

// The next CUDA-sensitive token after `from` whose confidence is not above tau; -1 if none.
int nextUncertainSensitive(const TokenFigures& figures, int from);

// The next (direction 1) or previous (-1) token from `from` at which a stretch begins that has one
// of the bits `kinds`, or a further one of them; -1 if none. `labels`: [T].
int nextRegion(std::span<const LabelBits> labels, LabelBits kinds, int from, int direction);

// The token at which the window mean is smallest (Eq. 7), -1 without tokens.
int lowestWindowAt(const TokenFigures& figures);

} // namespace cuset
