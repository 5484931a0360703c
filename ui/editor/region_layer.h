// What the region layer of a sample shows: spans as they were found, with a person's corrections on
// top; tokens of chosen kinds; and what the rest of the response was taken for.
#pragma once

#include <vector>

#include <QString>

#include "core/cuda/label_corrections.h"
#include "core/cuda/structure.h"
#include "ui/editor/code_view.h"
#include "ui/state/token_figures.h"

namespace cuset {

// Kernel bodies, launches and sensitive spans; where a correction lies, its kind alone.
// `bytes`: length of the response.
std::vector<RegionMark> regionMarks(const CudaStructure& structure,
                                    const std::vector<LabelCorrection>& corrections, int bytes);
// The same from labels, while the structure is not known.
std::vector<RegionMark> regionMarks(const TokenFigures& figures);

// Stretches of tokens with any of the label bits `kinds`, in order.
std::vector<ByteSpan> pickedSpans(const TokenFigures& figures, LabelBits kinds);
// Of a response that is not scored.
std::vector<ByteSpan> pickedSpans(const std::vector<RegionMark>& marks, LabelBits kinds);

// Islands that are not CUDA source, for the margin; none if all of it is.
std::vector<IslandMark> islandMarks(const CudaStructure& structure);

// "placed 96 %, reasoning 120 tokens, Triton: not labelled; unfinished". `figures` may be null:
// shares of bytes are said then.
QString placementText(const CudaStructure& structure, const TokenFigures* figures);
QString islandTitle(IslandKind kind);

} // namespace cuset
