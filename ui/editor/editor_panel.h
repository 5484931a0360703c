// EditorPanel: the code view with its prompt, legend, region switches and ruler. Shows the selected
// sample at the present thresholds and writes nothing but the selection.
#pragma once

#include <memory>

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QStackedWidget>
#include <QToolButton>
#include <QWidget>

#include "ui/editor/code_view.h"
#include "ui/editor/confidence_gutter.h"
#include "ui/editor/heat_ruler.h"
#include "ui/editor/kind_bar.h"
#include "ui/editor/legend.h"
#include "ui/editor/token_colors.h"
#include "ui/state/analysis_state.h"
#include "ui/state/label_state.h"

namespace cuset {

class EditorPanel : public QWidget {
    Q_OBJECT
public:
    EditorPanel(Workspace* workspace, AnalysisState* analysis, SelectionState* selection,
                LabelState* labels, QWidget* parent = nullptr);

    ColorBy colorBy() const { return colorBy_; }
    void setColorBy(ColorBy by);
    ColorMap colorMap() const { return map_; }
    void setColorMap(ColorMap map);
    // What the bars beside the code show.
    const GutterMode& gutterMode() const { return gutter_->mode(); }
    void setGutterMode(const GutterMode& mode);
    ConfidenceGutter* gutter() { return gutter_; }
    // The choices of gutter modes, for the button above it.
    void setGutterMenu(QMenu* menu) { gutterButton_->setMenu(menu); }
    CodeView* codeView() { return code_; }
    KindBar* kindBar() { return kinds_; }
    // The page that says what to do while nothing is open.
    void setEmptyPage(QWidget* page);
    // What an action on the code is about: the selected text, else the selected token.
    ByteSpan chosenSpan() const;

signals:
    void colorByChanged();
    void gutterModeChanged();

protected:
    void changeEvent(QEvent* event) override;

private:
    void build();
    void connectAll();
    void showSample();
    void showFigures();
    void showRegions();
    void showPicked();
    void showHeader();
    void showSelection();
    void showLegend();
    void updateRuler(const std::vector<QColor>& colors);
    void updateViewport();
    int tokenAt(int byte) const;
    ByteSpan spanOf(int token) const;
    QString describe(int byte) const;

    Workspace* workspace_;
    AnalysisState* analysis_;
    SelectionState* selection_;
    LabelState* labels_;
    std::vector<RegionMark> marks_;
    QStackedWidget* pages_ = nullptr;
    CodeView* code_ = nullptr;
    ConfidenceGutter* gutter_ = nullptr;
    QToolButton* gutterButton_ = nullptr;
    HeatRuler* ruler_ = nullptr;
    Legend* legend_ = nullptr;
    KindBar* kinds_ = nullptr;
    QComboBox* colorChoice_ = nullptr;
    QToolButton* promptToggle_ = nullptr;
    QPlainTextEdit* prompt_ = nullptr;
    QLabel* header_ = nullptr;
    ColorBy colorBy_ = ColorBy::Confidence;
    ColorMap map_ = ColorMap::Cividis;
    ColorScale scale_;
};

} // namespace cuset
