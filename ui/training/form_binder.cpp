#include "ui/training/form_binder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QFile>
#include <QLocale>

#include "core/base/error.h"
#include "ui/editor/color_scale.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

// Members are reached through a changing accessor; showing one only reads.
template <class T> T& of(const FormBinder::Member<T>& member, const TrainConfig& config) {
    return member(const_cast<TrainConfig&>(config));
}

QString fromPath(const std::string& path) {
    return pathText(path);
}

std::string toPath(const QString& path) {
    return nativePath(path).string();
}

} // namespace

template <class Widget> Widget* FormBinder::add(const QString& key, Widget* widget) {
    widget->setObjectName(key);
    widgets_.push_back(widget);
    return widget;
}

QSpinBox* FormBinder::integer(const QString& key, int low, int high,
                              std::function<std::int64_t(const TrainConfig&)> get,
                              std::function<void(TrainConfig&, int)> set) {
    auto* box = add(key, new QSpinBox);
    box->setRange(low, high);
    box->setGroupSeparatorShown(true);
    connect(box, &QSpinBox::valueChanged, this, &FormBinder::changed);
    showers_.push_back([box, get = std::move(get)](const TrainConfig& c) {
        box->setValue(static_cast<int>(std::min<std::int64_t>(get(c), box->maximum())));
    });
    collectors_.push_back([box, set = std::move(set)](TrainConfig& c) { set(c, box->value()); });
    return box;
}

QSpinBox* FormBinder::integer(const QString& key, int low, int high, Member<std::int64_t> member) {
    return integer(
        key, low, high, [member](const TrainConfig& c) { return of(member, c); },
        [member](TrainConfig& c, int value) { member(c) = value; });
}

QSpinBox* FormBinder::optionalInteger(const QString& key, int low, int high,
                                      const QString& automatic,
                                      Member<std::optional<std::int64_t>> member) {
    auto* box = add(key, new QSpinBox);
    box->setRange(low - 1, high);
    box->setSpecialValueText(automatic);
    box->setGroupSeparatorShown(true);
    connect(box, &QSpinBox::valueChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) {
        box->setValue(static_cast<int>(of(member, c).value_or(low - 1)));
    });
    collectors_.push_back([=](TrainConfig& c) {
        if (box->value() < low)
            member(c).reset();
        else
            member(c) = box->value();
    });
    return box;
}

QDoubleSpinBox* FormBinder::real(const QString& key, double low, double high, int decimals,
                                 double step, Member<double> member) {
    auto* box = add(key, new QDoubleSpinBox);
    box->setRange(low, high);
    box->setDecimals(decimals);
    box->setSingleStep(step);
    connect(box, &QDoubleSpinBox::valueChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) { box->setValue(of(member, c)); });
    collectors_.push_back([=](TrainConfig& c) {
        // A value with more digits than the box shows stays what it was.
        if (std::abs(box->value() - member(c)) > std::pow(10.0, -decimals) / 2)
            member(c) = box->value();
    });
    return box;
}

QLineEdit* FormBinder::number(const QString& key, Member<double> member) {
    auto* edit = add(key, new QLineEdit);
    connect(edit, &QLineEdit::textChanged, this, &FormBinder::changed);
    showers_.push_back(
        [=](const TrainConfig& c) { edit->setText(QString::number(of(member, c), 'g', 10)); });
    collectors_.push_back([=](TrainConfig& c) {
        bool good = false;
        const double value = QLocale::c().toDouble(edit->text().trimmed(), &good);
        if (!good)
            throw Error(ErrorCode::bad_value, key.toStdString() + ": needs a number, as in 1e-4",
                        std::string());
        member(c) = value;
    });
    return edit;
}

QLineEdit* FormBinder::text(const QString& key, Member<std::string> member) {
    auto* edit = add(key, new QLineEdit);
    connect(edit, &QLineEdit::textChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) { edit->setText(fromPath(of(member, c))); });
    collectors_.push_back([=](TrainConfig& c) { member(c) = toPath(edit->text().trimmed()); });
    return edit;
}

QPlainTextEdit* FormBinder::lines(const QString& key, Member<std::vector<std::string>> member) {
    auto* edit = add(key, new QPlainTextEdit);
    edit->setTabChangesFocus(true);
    edit->setLineWrapMode(QPlainTextEdit::NoWrap);
    connect(edit, &QPlainTextEdit::textChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) {
        QStringList list;
        for (const std::string& path : of(member, c))
            list += fromPath(path);
        edit->setPlainText(list.join(QLatin1Char('\n')));
    });
    collectors_.push_back([=](TrainConfig& c) {
        member(c).clear();
        for (const QString& line : edit->toPlainText().split(QLatin1Char('\n'), Qt::SkipEmptyParts))
            if (!line.trimmed().isEmpty())
                member(c).push_back(toPath(line.trimmed()));
    });
    return edit;
}

QLineEdit* FormBinder::wordList(const QString& key, const QString& none,
                                Member<std::vector<std::string>> member) {
    auto* edit = add(key, new QLineEdit);
    connect(edit, &QLineEdit::textChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) {
        QStringList words;
        for (const std::string& word : of(member, c))
            words += QString::fromStdString(word);
        edit->setText(words.isEmpty() ? none : words.join(QStringLiteral(", ")));
    });
    collectors_.push_back([=](TrainConfig& c) {
        member(c).clear();
        for (const QString& word : edit->text().split(QLatin1Char(','), Qt::SkipEmptyParts))
            if (!word.trimmed().isEmpty() && word.trimmed() != none)
                member(c).push_back(word.trimmed().toStdString());
    });
    return edit;
}

QCheckBox* FormBinder::toggle(const QString& key, const QString& title, Member<bool> member) {
    auto* box = add(key, new QCheckBox(title));
    connect(box, &QCheckBox::toggled, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) { box->setChecked(of(member, c)); });
    collectors_.push_back([=](TrainConfig& c) { member(c) = box->isChecked(); });
    return box;
}

QComboBox* FormBinder::choice(const QString& key, const QStringList& titles,
                              std::function<int(const TrainConfig&)> get,
                              std::function<void(TrainConfig&, int)> set) {
    auto* box = add(key, new QComboBox);
    box->addItems(titles);
    connect(box, &QComboBox::currentIndexChanged, this, &FormBinder::changed);
    showers_.push_back(
        [box, get = std::move(get)](const TrainConfig& c) { box->setCurrentIndex(get(c)); });
    collectors_.push_back(
        [box, set = std::move(set)](TrainConfig& c) { set(c, box->currentIndex()); });
    return box;
}

QComboBox* FormBinder::word(const QString& key, const QStringList& words,
                            Member<std::string> member) {
    auto* box = add(key, new QComboBox);
    box->setEditable(true);
    box->addItems(words);
    connect(box, &QComboBox::currentTextChanged, this, &FormBinder::changed);
    showers_.push_back([=](const TrainConfig& c) { box->setCurrentText(fromPath(of(member, c))); });
    collectors_.push_back(
        [=](TrainConfig& c) { member(c) = toPath(box->currentText().trimmed()); });
    return box;
}

void FormBinder::show(const TrainConfig& config) {
    const bool before = blockSignals(true);
    for (const auto& shower : showers_)
        shower(config);
    blockSignals(before);
    emit changed();
}

TrainConfig FormBinder::collect(TrainConfig base) const {
    for (const auto& collector : collectors_)
        collector(base);
    return base;
}

void FormBinder::mark(const QString& message) {
    for (QWidget* widget : widgets_) {
        const QString key = widget->objectName();
        // "objective.tau: needs ..." or "FILE: objective.tau: needs ..."
        const bool meant = message.startsWith(key + QLatin1Char(':'))
            || message.contains(QStringLiteral(": %1:").arg(key));
        QPalette palette; // the application's
        if (meant) {
            const QColor base = palette.color(QPalette::Base);
            palette.setColor(QPalette::Base, mixed(seriesColors(palette).warning, base, 0.25));
        }
        widget->setPalette(meant ? palette : QPalette());
        widget->setAccessibleDescription(meant ? message : QString());
    }
}

} // namespace cuset
