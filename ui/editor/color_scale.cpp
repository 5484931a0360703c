#include "ui/editor/color_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace cuset {
namespace {

constexpr std::array<QRgb, 18> cividisAnchors{
    0xff00204c, 0xff002a66, 0xff00346e, 0xff273f6c, 0xff3c4a6b, 0xff4c556b,
    0xff5b5f6d, 0xff686a70, 0xff757575, 0xff838178, 0xff928c78, 0xffa19876,
    0xffb0a572, 0xffc0b16d, 0xffd1bf66, 0xffe1cc5c, 0xfff3db4f, 0xffffe945};
constexpr std::array<QRgb, 10> viridisAnchors{0xff440154, 0xff482878, 0xff3e4989, 0xff31688e,
                                              0xff26828e, 0xff1f9e89, 0xff35b779, 0xff6ece58,
                                              0xffb5de2b, 0xfffde725};
constexpr std::array<QRgb, 7> divergingAnchors{0xff8c3b00, 0xffd0742a, 0xfff2c08a, 0xfff2f2f2,
                                               0xffa9bfe6, 0xff5a7fc4, 0xff1f3f8f};

std::span<const QRgb> anchors(ColorMap map) {
    switch (map) {
    case ColorMap::Cividis:
        return cividisAnchors;
    case ColorMap::Viridis:
        return viridisAnchors;
    case ColorMap::Diverging:
        break;
    }
    return divergingAnchors;
}

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& color) {
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF())
        + 0.0722 * linear(color.blueF());
}

bool isDarkPaper(const QColor& paper) {
    return luminance(paper) < 0.18;
}

// A map's colour for dark paper: at least this bright, of the same hue.
QColor lifted(const QColor& color) {
    constexpr float least = 0.72f; // of the brightest channel
    float hue, saturation, value;
    color.getHsvF(&hue, &saturation, &value);
    return value >= least ? color : QColor::fromHsvF(std::max(hue, 0.0f), saturation, least);
}

// As a scale paints it.
QColor overPaper(ColorMap map, double position, const QColor& paper, double strength, bool onDark) {
    const auto colorAt = [map, onDark](double at) {
        const QColor color = mapColor(map, at);
        return onDark ? lifted(color) : color;
    };
    if (map != ColorMap::Diverging)
        return mixed(colorAt(position), paper, strength);
    const double x = std::isnan(position) ? 0.5 : std::clamp(position, 0.0, 1.0);
    // The map's own ends on dark paper, lighter ones on light paper.
    const double end = onDark ? 0.0 : 1.0 / 6;
    return mixed(colorAt(x < 0.5 ? end : 1 - end), paper, strength * std::abs(2 * x - 1));
}

} // namespace

QColor mapColor(ColorMap map, double position) {
    const std::span<const QRgb> stops = anchors(map);
    const double x = std::isnan(position) ? 0.0 : std::clamp(position, 0.0, 1.0);
    const double scaled = x * static_cast<double>(stops.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(scaled), stops.size() - 2);
    return mixed(QColor(stops[index + 1]), QColor(stops[index]),
                 scaled - static_cast<double>(index));
}

QColor mapOverPaper(ColorMap map, double position, const QColor& paper, double strength) {
    return overPaper(map, position, paper, strength, isDarkPaper(paper));
}

bool isDark(const QPalette& palette) {
    return luminance(palette.color(QPalette::Text)) > luminance(palette.color(QPalette::Base));
}

double contrastRatio(const QColor& first, const QColor& second) {
    const double a = luminance(first);
    const double b = luminance(second);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QColor mixed(const QColor& color, const QColor& base, double amount) {
    const double a = std::clamp(amount, 0.0, 1.0);
    const auto channel = [a](int over, int under) {
        return static_cast<int>(std::lround(a * over + (1 - a) * under));
    };
    return QColor(channel(color.red(), base.red()), channel(color.green(), base.green()),
                  channel(color.blue(), base.blue()));
}

QColor readableOn(const QColor& color, const QColor& background, double ratio) {
    const QColor end = luminance(background) > 0.18 ? QColor(Qt::black) : QColor(Qt::white);
    for (int step = 0; step <= 20; ++step) {
        const QColor candidate = mixed(end, color, step / 20.0);
        if (contrastRatio(candidate, background) >= ratio)
            return candidate;
    }
    return end;
}

SeriesColors seriesColors(const QPalette& palette) {
    const QColor base = palette.color(QPalette::Base);
    const QColor text = palette.color(QPalette::Text);
    SeriesColors colors;
    if (isDark(palette)) {
        colors.sensitive = QColor(0xf2, 0xa5, 0x4a);
        colors.neutral = QColor(0x6b, 0xb1, 0xf0);
        colors.accent = QColor(0xe5, 0x8f, 0xd0);
        colors.warning = QColor(0xff, 0x7a, 0x6b);
    } else {
        colors.sensitive = QColor(0xc2, 0x60, 0x00);
        colors.neutral = QColor(0x1f, 0x6f, 0xb5);
        colors.accent = QColor(0xa0, 0x2c, 0x83);
        colors.warning = QColor(0xc2, 0x2f, 0x22);
    }
    colors.grid = mixed(text, base, isDark(palette) ? 0.16 : 0.12);
    colors.mutedText = readableOn(mixed(text, base, 0.62), base);
    return colors;
}

QColor kindColor(SensitiveKind kind, const QPalette& palette) {
    // Hues apart in lightness as well as in hue, darkened or lightened for the paper.
    static constexpr std::array<QRgb, sensitive_kind_count> hues{0xff1f77c9, 0xff8a4fc4, 0xff00897b,
                                                                 0xffc2342f, 0xffb8600b, 0xffad1f74,
                                                                 0xff5d7a0c, 0xff6b5a4a};
    const QColor hue(hues[static_cast<std::size_t>(kind)]);
    return readableOn(isDark(palette) ? hue.lighter(145) : hue, palette.color(QPalette::Base));
}

QChar kindSign(SensitiveKind kind) {
    static constexpr std::array<char16_t, sensitive_kind_count> signs{u'M', u'S', u'T', u'Y',
                                                                      u'L', u'A', u'W', u'G'};
    return QChar(signs[static_cast<std::size_t>(kind)]);
}

QString kindTitle(SensitiveKind kind) {
    const std::string_view name = sensitive_kind_names[static_cast<std::size_t>(kind)];
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()))
        .replace(u'_', u' ');
}

ColorScale::ColorScale(ColorMap map, double low, double high)
    : map_(map)
    , low_(low)
    , high_(high > low ? high : low + 1) { }

void ColorScale::setPaper(const QColor& paper, double strength) {
    paper_ = paper;
    strength_ = strength;
    onDark_ = isDarkPaper(paper);
}

QColor ColorScale::color(double value) const {
    return colorAt((value - low_) / (high_ - low_));
}

QColor ColorScale::colorAt(double position) const {
    return overPaper(map_, position, paper_, strength_, onDark_);
}

std::vector<double> ColorScale::ticks(int count) const {
    const double rough = (high_ - low_) / std::max(count, 1);
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {2.0, 2.5, 5.0, 10.0})
        if (step < rough * 0.999)
            step = power * factor;
    std::vector<double> values;
    for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + step * 1e-6; ++k)
        values.push_back(k * step);
    return values;
}

double readableStrength(ColorMap map, const QColor& paper, const std::vector<QColor>& texts,
                        double wanted) {
    for (double strength = wanted; strength > 0.02; strength -= 0.02) {
        bool readable = true;
        for (int step = 0; readable && step <= 32; ++step) {
            const QColor background = mapOverPaper(map, step / 32.0, paper, strength);
            readable = std::all_of(texts.begin(), texts.end(), [&](const QColor& text) {
                return contrastRatio(text, background) >= 4.5;
            });
        }
        if (readable)
            return strength;
    }
    return 0;
}

} // namespace cuset
