// KindBar: one button for each kind of CUDA-sensitive span: its letter and colour; on shows its
// underlines.
#pragma once

#include <array>

#include <QToolButton>
#include <QWidget>

#include "core/data/token_labels.h"

namespace cuset {

class KindBar : public QWidget {
    Q_OBJECT
public:
    explicit KindBar(QWidget* parent = nullptr);

    LabelBits shownKinds() const;
    void setShownKinds(LabelBits kinds);
    // How many spans of each kind the sample has, for the tooltips.
    void setCounts(const std::array<int, sensitive_kind_count>& counts);

signals:
    void shownKindsChanged(cuset::LabelBits kinds);

protected:
    void changeEvent(QEvent* event) override;

private:
    void applyTheme();

    std::array<QToolButton*, sensitive_kind_count> buttons_{};
};

} // namespace cuset
