// ConfidenceGutter: a bar for each line beside the code: how sure the model is of the line, or of
// the least sure token, statement, window or region on it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <QString>
#include <QWidget>

#include "core/analysis/aggregation.h"
#include "ui/editor/code_view.h"
#include "ui/editor/color_scale.h"
#include "ui/state/token_figures.h"

namespace cuset {

// What the bars show.
struct GutterMode {
    bool shown = true;
    TextUnit unit = TextUnit::line;
    Aggregate how = Aggregate::mean;

    friend bool operator==(const GutterMode&, const GutterMode&) = default;
};
inline constexpr int gutterModeCount = 9;
GutterMode gutterMode(int index); // 0: none
QString gutterModeKey(const GutterMode& mode); // in settings: "line-mean", "none"
GutterMode gutterModeFor(const QString& key); // the default for an unknown one
QString gutterModeTitle(const GutterMode& mode); // "line, mean"

class ConfidenceGutter : public QWidget {
    Q_OBJECT
public:
    explicit ConfidenceGutter(CodeView* code, QWidget* parent = nullptr);

    const GutterMode& mode() const { return mode_; }
    void setMode(const GutterMode& mode);
    // Null: nothing is known. The text is that of the figures' sample.
    void setFigures(const std::shared_ptr<const TokenFigures>& figures);
    void setColors(const ColorScale& scale);
    // One entry a line; tokens 0 where there is nothing to show.
    const std::vector<SpanConfidence>& lines() const { return lines_; }
    // What the bar of a line stands for, in words and numbers; "" for none.
    QString description(int line) const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void measure();
    int lineAt(int y) const;

    CodeView* code_;
    GutterMode mode_;
    ColorScale scale_;
    std::shared_ptr<const TokenFigures> figures_;
    std::vector<SpanConfidence> lines_;
};

} // namespace cuset
