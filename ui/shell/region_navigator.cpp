#include "ui/shell/region_navigator.h"

#include <algorithm>

#include "ui/editor/region_layer.h"
#include "ui/state/navigation.h"

namespace cuset {

bool RegionNavigator::go(LabelBits labels, int direction) {
    if (selection_->sample() < 0)
        return false;
    return analysis_->figures() ? goToToken(labels, direction) : goToByte(labels, direction);
}

bool RegionNavigator::goToToken(LabelBits labels, int direction) {
    const std::shared_ptr<const ScoreSet> scores = workspace_->scores();
    const int start = selection_->sample();
    int from = selection_->token();
    if (from < 0 && direction < 0)
        from = static_cast<int>(analysis_->figures()->count());
    int row = start;
    // The start's own sample is looked through again last, for what lies on its other side.
    for (int visited = 0; visited <= workspace_->sampleCount(); ++visited) {
        if (const int index = workspace_->scoredIndex(row); index >= 0) {
            const auto begin = static_cast<std::size_t>(scores->token_begin(index));
            const auto tokens = static_cast<std::size_t>(scores->token_end(index)) - begin;
            const int found = nextRegion(scores->columns().labels.subspan(begin, tokens), labels,
                                         visited == 0        ? from
                                             : direction > 0 ? -1
                                                             : static_cast<int>(tokens),
                                         direction);
            if (found >= 0) {
                selection_->setSample(row);
                selection_->setToken(found);
                return true;
            }
        }
        row = samples_->neighbour(row, direction);
        if (row < 0)
            return false;
    }
    return false;
}

bool RegionNavigator::goToByte(LabelBits labels, int direction) {
    if (!analysis_->structure())
        return false;
    const int row = selection_->sample();
    const std::vector<ByteSpan> spans =
        pickedSpans(regionMarks(*analysis_->structure(), {},
                                static_cast<int>(workspace_->response(row).size())),
                    labels);
    if (spans.empty())
        return false;
    const int caret = editor_->codeView()->caretByte();
    const auto begins = [](const ByteSpan& span, int at) { return span.begin < at; };
    auto found =
        std::lower_bound(spans.begin(), spans.end(), direction > 0 ? caret + 1 : caret, begins);
    if (direction > 0)
        found = found == spans.end() ? spans.begin() : found;
    else
        found = std::prev(found == spans.begin() ? spans.end() : found);
    editor_->codeView()->goToByte(found->begin);
    return true;
}

} // namespace cuset
