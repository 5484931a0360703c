// SamplePreviewView: what is trained of a sample: the rendered prompt, each token coloured by its
// weight, what is cut off struck out. Long samples come in pieces, so that the window stays live.
#pragma once

#include <memory>

#include <QLabel>
#include <QTextEdit>
#include <QTimer>
#include <QWidget>

#include "core/train/sample_preview.h"
#include "ui/editor/color_scale.h"
#include "ui/editor/legend.h"

namespace cuset {

class SamplePreviewView : public QWidget {
    Q_OBJECT
public:
    explicit SamplePreviewView(QWidget* parent = nullptr);

    void setPreview(std::shared_ptr<const SamplePreview> preview);
    void showProblem(const QString& text);
    bool isSettled() const { return !timer_.isActive(); }
    QTextEdit* text() { return text_; } // for tests

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void begin();
    void addPiece();
    void showLegend(double largest);
    QString headline() const;
    QString toolTip(std::size_t token) const;
    QTextCharFormat format(const PreviewToken& token) const;

    QLabel* head_;
    Legend* legend_;
    QTextEdit* text_;
    QTimer timer_;
    std::shared_ptr<const SamplePreview> preview_;
    std::vector<int> ends_; // where each shown token ends in the document
    std::size_t next_ = 0;
    ColorScale scale_;
};

} // namespace cuset
