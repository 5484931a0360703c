#include "ui/generate/answer.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace cuset {

void Answer::add(AnswerToken token) {
    const int begin = static_cast<int>(text.size());
    text += token.bytes;
    spans.push_back({begin, static_cast<int>(text.size())});
    tokens.push_back(std::move(token));
}

int Answer::tokenAt(int byte) const {
    const auto after =
        std::upper_bound(spans.begin(), spans.end(), byte,
                         [](int offset, const ByteSpan& span) { return offset < span.end; });
    return after != spans.end() && after->contains(byte) ? static_cast<int>(after - spans.begin())
                                                         : -1;
}

Answer::Means Answer::means() const {
    double sums[3]{};
    int counts[3]{};
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        const double c = static_cast<double>(tokens[t].confidence);
        const auto add = [&](int group) {
            sums[group] += c;
            ++counts[group];
        };
        add(0);
        if (t < labels.size())
            add(is_cuda_sensitive(labels[t]) ? 1 : 2);
    }
    const auto mean = [&](int group) {
        return counts[group] > 0 ? sums[group] / counts[group]
                                 : std::numeric_limits<double>::quiet_NaN();
    };
    return {mean(0), mean(1), mean(2)};
}

} // namespace cuset
