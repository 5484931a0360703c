#include "ui/state/navigation.h"

#include <algorithm>

namespace cuset {

int nextLowWindow(const TokenFigures& figures, double neutralMean, int from) {
    const std::vector<float>& means = figures.masked().window_mean;
    const auto low = [&](int t) {
        return static_cast<double>(means[static_cast<std::size_t>(t)]) < neutralMean;
    };
    for (int t = std::max(from + 1, 0); t < figures.count(); ++t)
        if (low(t) && (t == 0 || !low(t - 1)))
            return t;
    return -1;
}

int nextUncertainSensitive(const TokenFigures& figures, int from) {
    for (int t = std::max(from + 1, 0); t < figures.count(); ++t) {
        const auto index = static_cast<std::size_t>(t);
        if (is_cuda_sensitive(figures.labels()[index])
            && static_cast<double>(figures.confidence()[index]) <= figures.settings().tau)
            return t;
    }
    return -1;
}

int nextRegion(std::span<const LabelBits> labels, LabelBits kinds, int from, int direction) {
    const int tokens = static_cast<int>(labels.size());
    for (int t = from + direction; t >= 0 && t < tokens; t += direction) {
        const auto index = static_cast<std::size_t>(t);
        const int before = index == 0 ? 0 : labels[index - 1];
        if (labels[index] & kinds & ~before)
            return t;
    }
    return -1;
}

int lowestWindowAt(const TokenFigures& figures) {
    const std::vector<float>& means = figures.masked().window_mean;
    return means.empty()
        ? -1
        : static_cast<int>(std::min_element(means.begin(), means.end()) - means.begin());
}

} // namespace cuset
