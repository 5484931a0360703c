// SweepForm: which settings a sweep varies, as lists of values that are checked as one types.
#pragma once

#include <vector>

#include <QCheckBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QWidget>

#include "core/train/run_sweep.h"

namespace cuset {

class SweepForm : public QWidget {
    Q_OBJECT
public:
    explicit SweepForm(QWidget* parent = nullptr);

    // What stands in the fields. Throws Error(usage) for a value that cannot be read.
    RunGrid grid() const;
    int jobs() const { return jobs_->value(); }
    bool isUsed() const; // something is varied
    void showCount(const QString& text) { count_->setText(text); }

signals:
    void changed();

private:
    QLineEdit* addAxis(QFormLayout* form, const QString& title, const QString& key,
                       const QString& example);

    std::vector<QLineEdit*> axes_; // their object names are the axes'
    std::vector<QCheckBox*> objectives_;
    QSpinBox* jobs_;
    QLabel* count_;
};

} // namespace cuset
