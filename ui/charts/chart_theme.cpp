#include "ui/charts/chart_theme.h"

#include <array>

#include "ui/editor/color_scale.h"

namespace cuset {

// The groups' colours are those of the code view and its legend. Labels are drawn in the colour of
// what they name, so each is moved to 4.5:1 against the background.
ChartTheme ChartTheme::fromPalette(const QPalette& palette) {
    const SeriesColors shared = seriesColors(palette);
    ChartTheme theme;
    theme.dark = isDark(palette);
    theme.background = palette.color(QPalette::Base);
    theme.text = palette.color(QPalette::Text);
    const auto readable = [&theme](const QColor& color) {
        return readableOn(color, theme.background);
    };
    theme.muted = readable(shared.mutedText);
    theme.grid = shared.grid;
    theme.frame = mixed(theme.text, theme.background, 0.5);
    theme.sensitive = readable(shared.sensitive);
    theme.neutral = readable(shared.neutral);
    theme.line = readable(theme.dark ? QColor(0x4c, 0xd6, 0xaa) : QColor(0x00, 0x6e, 0x52));
    theme.low = readable(shared.warning);
    theme.marker = readable(shared.accent);
    return theme;
}

QColor ChartTheme::series(int index) const {
    const std::array<QColor, 6> light{neutral,
                                      sensitive,
                                      line,
                                      QColor(0x8a, 0x3c, 0x8c),
                                      QColor(0x7a, 0x5c, 0x00),
                                      QColor(0x50, 0x50, 0x50)};
    const std::array<QColor, 6> onDark{neutral,
                                       sensitive,
                                       line,
                                       QColor(0xe0, 0x9c, 0xd0),
                                       QColor(0xf0, 0xe4, 0x60),
                                       QColor(0xc0, 0xc0, 0xc0)};
    return (dark ? onDark : light)[static_cast<std::size_t>(index) % light.size()];
}

Qt::PenStyle ChartTheme::seriesStyle(int index) {
    constexpr std::array styles{Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    return styles[static_cast<std::size_t>(index) % styles.size()];
}

} // namespace cuset
