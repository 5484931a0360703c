#include "core/cuda/token_labels.h"

#include <algorithm>

namespace cuset {

namespace {

// Sorted, without overlap.
std::vector<ByteSpan> united(std::vector<ByteSpan> spans) {
    std::sort(spans.begin(), spans.end(), [](ByteSpan a, ByteSpan b) { return a.begin < b.begin; });
    std::vector<ByteSpan> out;
    for (const ByteSpan span : spans) {
        if (span.empty())
            continue;
        if (!out.empty() && span.begin <= out.back().end)
            out.back().end = std::max(out.back().end, span.end);
        else
            out.push_back(span);
    }
    return out;
}

void set_bit(std::vector<ByteSpan> stretches, LabelBits bit, std::span<const ByteSpan> tokens,
             std::vector<LabelBits>& labels) {
    stretches = united(std::move(stretches));
    std::size_t at = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        while (at < stretches.size() && stretches[at].end <= tokens[t].begin)
            ++at;
        if (at < stretches.size() && stretches[at].overlaps(tokens[t]))
            labels[t] = static_cast<LabelBits>(labels[t] | bit);
    }
}

} // namespace

std::vector<LabelBits> label_tokens(const CudaStructure& structure,
                                    std::span<const ByteSpan> spans) {
    std::vector<LabelBits> labels(spans.size(), 0);
    std::vector<ByteSpan> stretches;
    for (const KernelDefinition& kernel : structure.kernels)
        stretches.push_back(kernel.body);
    set_bit(std::move(stretches), kernel_bit, spans, labels);

    stretches = structure.dim3;
    for (const KernelLaunch& launch : structure.launches) {
        stretches.push_back(launch.config);
        if (launch.api)
            stretches.insert(stretches.end(), launch.arguments.begin(), launch.arguments.end());
    }
    set_bit(std::move(stretches), launch_bit, spans, labels);

    for (int k = 0; k < sensitive_kind_count; ++k) {
        const auto kind = static_cast<SensitiveKind>(k);
        stretches.clear();
        for (const SensitiveSpan& span : structure.spans)
            if (span.kind == kind)
                stretches.push_back(span.span);
        set_bit(std::move(stretches), kind_bit(kind), spans, labels);
    }
    return labels;
}

} // namespace cuset
