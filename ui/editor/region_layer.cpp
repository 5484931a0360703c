#include "ui/editor/region_layer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QCoreApplication>
#include <QStringList>

namespace cuset {
namespace {

constexpr int islandKindCount = 6;

QString text(const char* source) {
    return QCoreApplication::translate("RegionLayer", source);
}

void markBytes(std::vector<LabelBits>& bytes, ByteSpan span, LabelBits bits) {
    const int end = std::min(span.end, static_cast<int>(bytes.size()));
    for (int i = std::max(span.begin, 0); i < end; ++i) {
        LabelBits& byte = bytes[static_cast<std::size_t>(i)];
        byte = static_cast<LabelBits>(byte | bits);
    }
}

// Stretches of equal, non-zero bits.
std::vector<RegionMark> runsOf(const std::vector<LabelBits>& bytes) {
    std::vector<RegionMark> marks;
    const int size = static_cast<int>(bytes.size());
    for (int begin = 0; begin < size;) {
        const LabelBits bits = bytes[static_cast<std::size_t>(begin)];
        int end = begin + 1;
        while (end < size && bytes[static_cast<std::size_t>(end)] == bits)
            ++end;
        if (bits != 0)
            marks.push_back({{begin, end}, bits});
        begin = end;
    }
    return marks;
}

} // namespace

std::vector<RegionMark> regionMarks(const CudaStructure& structure,
                                    const std::vector<LabelCorrection>& corrections, int bytes) {
    std::vector<RegionMark> marks;
    for (const SensitiveSpan& span : structure.spans)
        marks.push_back({span.span, kind_bit(span.kind)});
    for (const KernelLaunch& launch : structure.launches)
        marks.push_back({launch.config, launch_bit});
    std::vector<RegionMark> kernels;
    for (const KernelDefinition& kernel : structure.kernels)
        kernels.push_back({kernel.body, kernel_bit});
    if (!corrections.empty()) {
        std::vector<LabelBits> labels(static_cast<std::size_t>(bytes), 0);
        for (const RegionMark& mark : marks)
            markBytes(labels, mark.span, mark.labels);
        for (const LabelCorrection& correction : corrections) {
            const ByteSpan span{std::min(correction.span.begin, bytes),
                                std::min(correction.span.end, bytes)};
            std::fill(labels.begin() + span.begin, labels.begin() + span.end, LabelBits{0});
            if (!correction.kind)
                continue;
            markBytes(labels, span, kind_bit(*correction.kind));
            if (*correction.kind == SensitiveKind::launch_config)
                markBytes(labels, span, launch_bit);
        }
        marks = runsOf(labels);
    }
    marks.insert(marks.end(), kernels.begin(), kernels.end());
    return marks;
}

std::vector<RegionMark> regionMarks(const TokenFigures& figures) {
    std::vector<RegionMark> marks;
    for (int t = 0; t < figures.count(); ++t)
        if (const LabelBits bits = figures.labels()[static_cast<std::size_t>(t)])
            marks.push_back({figures.spans()[static_cast<std::size_t>(t)], bits});
    return marks;
}

std::vector<ByteSpan> pickedSpans(const TokenFigures& figures, LabelBits kinds) {
    std::vector<ByteSpan> spans;
    for (int t = 0; t < figures.count(); ++t) {
        const ByteSpan span = figures.spans()[static_cast<std::size_t>(t)];
        if (!(figures.labels()[static_cast<std::size_t>(t)] & kinds) || span.empty())
            continue;
        if (!spans.empty() && spans.back().end == span.begin)
            spans.back().end = span.end;
        else
            spans.push_back(span);
    }
    return spans;
}

std::vector<ByteSpan> pickedSpans(const std::vector<RegionMark>& marks, LabelBits kinds) {
    std::vector<ByteSpan> spans;
    for (const RegionMark& mark : marks)
        if (mark.labels & kinds)
            spans.push_back(mark.span);
    std::sort(spans.begin(), spans.end(), [](ByteSpan a, ByteSpan b) { return a.begin < b.begin; });
    return spans;
}

QString islandTitle(IslandKind kind) {
    switch (kind) {
    case IslandKind::cuda_source:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "CUDA source"));
    case IslandKind::prose:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "prose"));
    case IslandKind::reasoning:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "reasoning"));
    case IslandKind::python:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "Python"));
    case IslandKind::other_code:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "other code"));
    case IslandKind::triton:
        return text(QT_TRANSLATE_NOOP("RegionLayer", "Triton"));
    }
    return {};
}

std::vector<IslandMark> islandMarks(const CudaStructure& structure) {
    std::vector<IslandMark> marks;
    for (const Island& island : structure.islands)
        if (island.kind != IslandKind::cuda_source)
            marks.push_back({island.span, static_cast<int>(island.kind),
                             islandTitle(island.kind).at(0).toUpper().toLatin1()});
    return marks;
}

QString placementText(const CudaStructure& structure, const TokenFigures* figures) {
    std::array<int, islandKindCount> bytes{}, tokens{};
    for (const Island& island : structure.islands) {
        bytes[static_cast<std::size_t>(island.kind)] += island.span.size();
        if (!figures)
            continue;
        const auto spans = figures->spans();
        const auto before = [](const ByteSpan& span, int at) { return span.begin < at; };
        const auto first = std::lower_bound(spans.begin(), spans.end(), island.span.begin, before);
        const auto last = std::lower_bound(first, spans.end(), island.span.end, before);
        tokens[static_cast<std::size_t>(island.kind)] += static_cast<int>(last - first);
    }
    // Rounded down, so that 100 % means all of it.
    QStringList parts{text(QT_TRANSLATE_NOOP("RegionLayer", "placed %1 %"))
                          .arg(std::floor(structure.placed_share * 100))};
    for (int kind = 0; kind < islandKindCount; ++kind) {
        const auto index = static_cast<std::size_t>(kind);
        if (bytes[index] == 0)
            continue;
        const QString size = figures
            ? text(QT_TRANSLATE_NOOP("RegionLayer", "%1 tokens")).arg(tokens[index])
            : text(QT_TRANSLATE_NOOP("RegionLayer", "%1 bytes")).arg(bytes[index]);
        QString part =
            QStringLiteral("%1 %2").arg(islandTitle(static_cast<IslandKind>(kind)), size);
        if (static_cast<IslandKind>(kind) == IslandKind::triton)
            part += text(QT_TRANSLATE_NOOP("RegionLayer", " (not labelled)"));
        parts += part;
    }
    QString line = parts.join(QStringLiteral(", "));
    if (structure.unfinished)
        line += text(QT_TRANSLATE_NOOP("RegionLayer", "; unfinished: the text breaks off"));
    return line;
}

} // namespace cuset
