// ProofBadge: whether the open model's numbers were shown to equal a reference, with the largest
// difference; the button asks for the comparison.
#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "ui/state/workspace.h"

namespace cuset {

class ProofBadge : public QWidget {
    Q_OBJECT
public:
    explicit ProofBadge(Workspace* workspace, QWidget* parent = nullptr);

    QString text() const { return label_->text(); }
    void setCanVerify(bool can) { button_->setEnabled(can); }

signals:
    void verifyRequested();

protected:
    void changeEvent(QEvent* event) override;

private:
    void refresh();

    Workspace* workspace_;
    QLabel* label_;
    QPushButton* button_;
};

} // namespace cuset
