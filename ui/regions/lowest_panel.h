// LowestPanel: the tokens, lines, statements, windows or regions of the whole corpus that the model
// is least sure of; each a click away.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QTableView>
#include <QToolButton>
#include <QWidget>

#include "core/base/byte_span.h"
#include "ui/regions/lowest_table_model.h"

namespace cuset {

class LowestPanel : public QWidget {
    Q_OBJECT
public:
    explicit LowestPanel(LowestState* lowest, QWidget* parent = nullptr);

    QTableView* table() { return table_; }
    // Writes the list as CSV; emits exported or exportFailed.
    void exportTo(const QString& path);

signals:
    // A stretch was chosen: sample of the score set, bytes of its response, its first token.
    void spanRequested(int scoredIndex, cuset::ByteSpan span, int token);
    void exported(const QString& path);
    void exportFailed(const QString& message);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void build();
    void buildTable();
    void ask();
    void choose(const QModelIndex& index);
    void showState();
    void chooseExport();

    LowestState* lowest_;
    LowestTableModel* model_;
    QComboBox* unit_ = nullptr;
    QComboBox* how_ = nullptr;
    QComboBox* kind_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* hint_ = nullptr;
    QToolButton* save_ = nullptr;
};

} // namespace cuset
