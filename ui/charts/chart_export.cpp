#include "ui/charts/chart_export.h"

#include <charconv>
#include <cmath>
#include <functional>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QImage>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include "core/base/csv.h"
#include "core/base/error.h"
#include "ui/charts/chart_panel.h"

namespace cuset {
namespace {

template <typename Number> QString shortest(Number value) {
    if (!std::isfinite(value))
        return {};
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return QString::fromLatin1(buffer, end - buffer);
}

QImage chartImage(const ChartPanel& chart, double scale) {
    const QSize size = chart.chartSize();
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    if (image.isNull())
        throw Error(ErrorCode::out_of_memory, "no memory for the picture; make the chart smaller");
    image.setDevicePixelRatio(scale);
    image.fill(Qt::transparent);
    QPainter painter(&image);
    chart.paintChart(painter);
    return image;
}

void writeFile(const QString& path, const std::function<bool(QIODevice&)>& write) {
    QSaveFile file(path);
    const auto fail = [&] {
        throw Error(ErrorCode::disk,
                    "cannot be written (" + file.errorString().toStdString()
                        + "); choose another folder",
                    path.toStdString());
    };
    if (!file.open(QIODevice::WriteOnly))
        fail();
    if (!write(file) || !file.commit())
        fail();
}

using Exporter = std::function<void(const ChartPanel&, const QString&)>;

void askAndExport(ChartPanel& chart, const QString& suffix, const Exporter& exporter) {
    const QString path = QFileDialog::getSaveFileName(
        &chart, ChartPanel::tr("Export %1").arg(chart.accessibleName()),
        chart.fileBaseName() + u'.' + suffix,
        ChartPanel::tr("%1 files (*.%2)").arg(suffix.toUpper(), suffix));
    if (path.isEmpty())
        return;
    const bool named = path.endsWith(u'.' + suffix, Qt::CaseInsensitive);
    const QString target = named ? path : path + u'.' + suffix;
    try {
        exporter(chart, target);
        emit chart.exported(target);
    } catch (const Error& error) {
        emit chart.exportFailed(QString::fromUtf8(error.what()));
    }
}

} // namespace

QString csvNumber(double value) {
    return shortest(value);
}
QString csvNumber(float value) {
    return shortest(value);
}

QString csvText(const ChartTable& table) {
    QString text;
    const auto addRow = [&text](const QStringList& row) {
        for (qsizetype i = 0; i < row.size(); ++i) {
            if (i > 0)
                text += u',';
            text += QString::fromStdString(csv_cell(row[i].toStdString()));
        }
        text += u'\n';
    };
    addRow(table.header);
    for (const QStringList& row : table.rows)
        addRow(row);
    return text;
}

void exportPng(const ChartPanel& chart, const QString& path, double scale) {
    const QImage image = chartImage(chart, scale);
    writeFile(path, [&](QIODevice& file) { return image.save(&file, "PNG"); });
}

void exportSvg(const ChartPanel& chart, const QString& path) {
    writeFile(path, [&](QIODevice& file) {
        QSvgGenerator generator;
        generator.setOutputDevice(&file);
        generator.setSize(chart.chartSize());
        generator.setViewBox(QRect(QPoint(), chart.chartSize()));
        generator.setResolution(chart.logicalDpiX());
        // QSvgGenerator writes these two as they stand.
        generator.setTitle(chart.accessibleName().toHtmlEscaped());
        generator.setDescription(chart.accessibleDescription().toHtmlEscaped());
        QPainter painter;
        if (!painter.begin(&generator))
            return false;
        chart.paintChart(painter);
        return painter.end();
    });
}

void exportCsv(const ChartPanel& chart, const QString& path) {
    const QByteArray bytes = csvText(chart.table()).toUtf8();
    writeFile(path, [&](QIODevice& file) { return file.write(bytes) == bytes.size(); });
}

void copyChart(const ChartPanel& chart) {
    auto* data = new QMimeData;
    data->setImageData(chartImage(chart, 2));
    data->setText(csvText(chart.table()));
    QApplication::clipboard()->setMimeData(data);
}

void addExportActions(QMenu& menu, ChartPanel& chart) {
    const bool enabled = !chart.isEmpty();
    const auto add = [&](const QString& text, auto call) {
        QAction* action = menu.addAction(text, &chart, call);
        action->setEnabled(enabled);
    };
    ChartPanel* panel = &chart;
    add(ChartPanel::tr("Export &PNG..."), [panel] {
        askAndExport(*panel, QStringLiteral("png"),
                     [](const ChartPanel& c, const QString& path) { exportPng(c, path); });
    });
    add(ChartPanel::tr("Export &SVG..."),
        [panel] { askAndExport(*panel, QStringLiteral("svg"), exportSvg); });
    add(ChartPanel::tr("Export &CSV..."),
        [panel] { askAndExport(*panel, QStringLiteral("csv"), exportCsv); });
    add(ChartPanel::tr("Cop&y"), [panel] {
        try {
            copyChart(*panel);
        } catch (const Error& error) {
            emit panel->exportFailed(QString::fromUtf8(error.what()));
        }
    });
}

} // namespace cuset
