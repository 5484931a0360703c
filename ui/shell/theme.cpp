#include "ui/shell/theme.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QStyle>
#include <QSvgRenderer>

namespace cuset {
namespace {

struct Shades {
    QColor window, base, alternate, text, button, highlight, highlightedText, muted, disabled,
        shadow, light, mid;
};

QPalette paletteFrom(const Shades& s) {
    QPalette palette;
    const auto set = [&palette](QPalette::ColorRole role, const QColor& color) {
        palette.setColor(role, color);
    };
    set(QPalette::Window, s.window);
    set(QPalette::WindowText, s.text);
    set(QPalette::Base, s.base);
    set(QPalette::AlternateBase, s.alternate);
    set(QPalette::Text, s.text);
    set(QPalette::Button, s.button);
    set(QPalette::ButtonText, s.text);
    set(QPalette::BrightText, s.highlightedText);
    set(QPalette::Highlight, s.highlight);
    set(QPalette::HighlightedText, s.highlightedText);
    set(QPalette::PlaceholderText, s.muted);
    set(QPalette::ToolTipBase, s.alternate);
    set(QPalette::ToolTipText, s.text);
    set(QPalette::Link, s.highlight);
    set(QPalette::Light, s.light);
    set(QPalette::Midlight, s.light);
    set(QPalette::Mid, s.mid);
    set(QPalette::Dark, s.mid);
    set(QPalette::Shadow, s.shadow);
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, s.disabled);
    palette.setColor(QPalette::Disabled, QPalette::Highlight, s.mid);
    palette.setColor(QPalette::Inactive, QPalette::Highlight, s.highlight);
    return palette;
}

QPalette& systemPalette() {
    static QPalette palette = QApplication::palette();
    return palette;
}

} // namespace

QPalette lightPalette() {
    return paletteFrom({.window = QColor(0xf3f4f6),
                        .base = QColor(0xffffff),
                        .alternate = QColor(0xf7f8fa),
                        .text = QColor(0x1b1f26),
                        .button = QColor(0xeceef2),
                        .highlight = QColor(0x2a62b8),
                        .highlightedText = QColor(0xffffff),
                        .muted = QColor(0x5c6470),
                        .disabled = QColor(0x9aa1ab),
                        .shadow = QColor(0x8a919c),
                        .light = QColor(0xffffff),
                        .mid = QColor(0xc3c8d0)});
}

QPalette darkPalette() {
    return paletteFrom({.window = QColor(0x23262c),
                        .base = QColor(0x1a1c21),
                        .alternate = QColor(0x1f2227),
                        .text = QColor(0xe6e8ec),
                        .button = QColor(0x2e323a),
                        .highlight = QColor(0x3b78d0),
                        .highlightedText = QColor(0xffffff),
                        .muted = QColor(0xa2a9b5),
                        .disabled = QColor(0x6d7480),
                        .shadow = QColor(0x0e0f12),
                        .light = QColor(0x3a3f49),
                        .mid = QColor(0x454b56)});
}

void applyAppearance(const QString& appearance) {
    systemPalette(); // remembered before the first change
    if (appearance == QLatin1String("light"))
        QApplication::setPalette(lightPalette());
    else if (appearance == QLatin1String("dark"))
        QApplication::setPalette(darkPalette());
    else
        QApplication::setPalette(QPalette()); // nothing of ours: the desktop's is followed
}

QIcon themedIcon(const QString& name, const QPalette& palette) {
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray source = file.readAll();
    QIcon icon;
    const auto add = [&](QPalette::ColorGroup group, QIcon::Mode mode) {
        QByteArray colored = source;
        colored.replace("currentColor",
                        palette.color(group, QPalette::WindowText).name().toLatin1());
        QSvgRenderer renderer(colored);
        for (const int side : {16, 24, 32, 48, 64}) {
            QPixmap pixmap(side, side);
            pixmap.fill(Qt::transparent);
            QPainter painter(&pixmap);
            renderer.render(&painter);
            icon.addPixmap(pixmap, mode);
        }
    };
    add(QPalette::Active, QIcon::Normal);
    add(QPalette::Disabled, QIcon::Disabled);
    return icon;
}

} // namespace cuset
