// A chart as a file or on the clipboard: PNG at twice the size, SVG, and CSV of the data behind it.
#pragma once

#include <vector>

#include <QString>
#include <QStringList>

class QMenu;

namespace cuset {

class ChartPanel;

// The data behind a chart: one row of texts a point, numbers in the C locale.
struct ChartTable {
    QStringList header;
    std::vector<QStringList> rows;
};

// RFC 4180 with "\n" line ends. Fields with a comma, quote or line end are quoted. A text cell that
// starts with = + - @, tab or return gets an apostrophe in front and is quoted, so that no
// spreadsheet runs it as a formula; numbers are left as they are.
QString csvText(const ChartTable& table);

// Shortest text that reads back as the same number; empty for what is not finite.
QString csvNumber(double value);
QString csvNumber(float value);

// Each throws Error(disk) that names the file and says why. Written beside and renamed: never half
// a file.
void exportPng(const ChartPanel& chart, const QString& path, double scale = 2);
void exportSvg(const ChartPanel& chart, const QString& path);
void exportCsv(const ChartPanel& chart, const QString& path);

// The chart as a picture, and its data as text, on the clipboard.
void copyChart(const ChartPanel& chart);

// Adds "Export PNG...", "Export SVG...", "Export CSV..." and "Copy". They ask for the file and
// report through the chart's signals exported() and exportFailed().
void addExportActions(QMenu& menu, ChartPanel& chart);

} // namespace cuset
