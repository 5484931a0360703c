#include "ui/training/sweep_form.h"

#include <algorithm>

#include <QGridLayout>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {

SweepForm::SweepForm(QWidget* parent)
    : QWidget(parent)
    , jobs_(new QSpinBox(this))
    , count_(new QLabel(this)) {
    auto* head = new QLabel(tr("One run for each combination of these values, one after another "
                               "in a queue that goes on without the window. What is left empty "
                               "stays as the other pages say."),
                            this);
    head->setWordWrap(true);
    auto* form = new QFormLayout;
    addAxis(form, tr("\u03c4 &tau"), QStringLiteral("tau"), QStringLiteral("0.05, 0.1, 0.2"));
    addAxis(form, tr("\u03bb &lambda"), QStringLiteral("lambda"), QStringLiteral("0.5, 1, 2"));
    addAxis(form, tr("l &window"), QStringLiteral("window"), QStringLiteral("64, 256"));
    addAxis(form, tr("Learning &rate"), QStringLiteral("learning_rate"),
            QStringLiteral("5e-5, 1e-4"));
    auto* choices = new QWidget(this);
    auto* grid = new QGridLayout(choices);
    grid->setContentsMargins(0, 0, 0, 0);
    for (std::size_t i = 0; i < token_objective_names.size(); ++i) {
        auto* box = new QCheckBox(QString::fromLatin1(token_objective_names[i].data()), choices);
        connect(box, &QCheckBox::toggled, this, &SweepForm::changed);
        grid->addWidget(box, static_cast<int>(i) / 3, static_cast<int>(i) % 3);
        objectives_.push_back(box);
    }
    form->addRow(tr("Objectives"), choices);
    jobs_->setRange(1, 64);
    jobs_->setToolTip(plainToolTip(tr("Each takes the memory that the estimate says")));
    connect(jobs_, &QSpinBox::valueChanged, this, &SweepForm::changed);
    form->addRow(tr("&At a time"), jobs_);
    count_->setWordWrap(true);
    count_->setTextFormat(Qt::PlainText);
    auto* column = new QVBoxLayout(this);
    column->addWidget(head);
    column->addLayout(form);
    column->addWidget(count_);
    column->addStretch(1);
}

QLineEdit* SweepForm::addAxis(QFormLayout* form, const QString& title, const QString& key,
                              const QString& example) {
    auto* edit = new QLineEdit(this);
    edit->setObjectName(QStringLiteral("sweep.") + key);
    edit->setPlaceholderText(tr("as it is, or e.g. %1").arg(example));
    edit->setAccessibleName(QString(title).remove(QLatin1Char('&')));
    edit->setToolTip(plainToolTip(tr("Values with commas between them")));
    connect(edit, &QLineEdit::textChanged, this, &SweepForm::changed);
    form->addRow(title, edit);
    axes_.push_back(edit);
    return edit;
}

bool SweepForm::isUsed() const {
    return std::any_of(axes_.begin(), axes_.end(),
                       [](const QLineEdit* edit) { return !edit->text().trimmed().isEmpty(); })
        || std::any_of(objectives_.begin(), objectives_.end(),
                       [](const QCheckBox* box) { return box->isChecked(); });
}

RunGrid SweepForm::grid() const {
    RunGrid grid;
    for (const QLineEdit* edit : axes_)
        if (!edit->text().trimmed().isEmpty())
            add_sweep_axis(
                grid, (edit->objectName().mid(6) + QLatin1Char('=') + edit->text()).toStdString());
    for (std::size_t i = 0; i < objectives_.size(); ++i)
        if (objectives_[i]->isChecked())
            grid.objectives.push_back(static_cast<TokenObjective>(i));
    return grid;
}

} // namespace cuset
