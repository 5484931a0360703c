// FormPage: labelled fields in groups, each with a word on what it is for.
#pragma once

#include <vector>

#include <QCoreApplication>
#include <QFormLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {

inline QString formText(const char* source) {
    return QCoreApplication::translate("RunForm", source);
}

// Puts labelled fields into a form, with what they are for.
class FormPage {
public:
    FormPage(QWidget* page, QVBoxLayout* column)
        : page_(page)
        , column_(column) { }

    void group(const char* title) {
        auto* box = new QGroupBox(formText(title), page_);
        form_ = new QFormLayout(box);
        form_->setFieldGrowthPolicy(QFormLayout::ExpandingFieldsGrow);
        column_->addWidget(box);
    }
    void row(const char* title, QWidget* field, const char* help) {
        explain(field, formText(title), formText(help));
        form_->addRow(formText(title), field);
    }
    void row(QWidget* field, const char* help) {
        explain(field, {}, formText(help));
        form_->addRow(field);
    }
    // A switch and the number that goes with it, in one line.
    void row(QWidget* toggle, const char* title, QWidget* field, const char* help) {
        explain(toggle, {}, formText(help));
        explain(field, formText(title), formText(help));
        auto* line = new QHBoxLayout;
        line->addWidget(toggle, 1);
        auto* label = new QLabel(formText(title));
        label->setBuddy(field);
        line->addWidget(label);
        line->addWidget(field);
        form_->addRow(line);
    }
    void row(const char* title, const std::vector<QWidget*>& fields, const char* help) {
        auto* line = new QHBoxLayout;
        for (QWidget* field : fields) {
            if (!qobject_cast<QToolButton*>(field))
                explain(field, formText(title), formText(help));
            line->addWidget(field, qobject_cast<QToolButton*>(field) ? 0 : 1);
        }
        auto* label = new QLabel(formText(title));
        label->setBuddy(fields.front());
        form_->addRow(label, line);
    }
    QFormLayout* form() { return form_; }

private:
    static void explain(QWidget* field, const QString& name, const QString& help) {
        field->setToolTip(plainToolTip(help));
        if (!name.isEmpty())
            field->setAccessibleName(QString(name).remove(QLatin1Char('&')));
    }

    QWidget* page_;
    QVBoxLayout* column_;
    QFormLayout* form_ = nullptr;
};

} // namespace cuset
