// FormBinder: input fields bound to the members of a TrainConfig. A field carries its key in
// config.json as object name, so that the core's message about a key finds its field.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QObject>
#include <QPlainTextEdit>
#include <QSpinBox>

#include "core/train/train_config.h"

namespace cuset {

class FormBinder : public QObject {
    Q_OBJECT
public:
    template <class T> using Member = std::function<T&(TrainConfig&)>;

    using QObject::QObject;

    QSpinBox* integer(const QString& key, int low, int high,
                      std::function<std::int64_t(const TrainConfig&)> get,
                      std::function<void(TrainConfig&, int)> set);
    QSpinBox* integer(const QString& key, int low, int high, Member<std::int64_t> member);
    // Its least value is no number but `automatic`.
    QSpinBox* optionalInteger(const QString& key, int low, int high, const QString& automatic,
                              Member<std::optional<std::int64_t>> member);
    QDoubleSpinBox* real(const QString& key, double low, double high, int decimals, double step,
                         Member<double> member);
    // A number as one types it: 1e-4.
    QLineEdit* number(const QString& key, Member<double> member);
    QLineEdit* text(const QString& key, Member<std::string> member);
    QPlainTextEdit* lines(const QString& key, Member<std::vector<std::string>> member);
    // Words between commas; `none` stands for the empty list.
    QLineEdit* wordList(const QString& key, const QString& none,
                        Member<std::vector<std::string>> member);
    QCheckBox* toggle(const QString& key, const QString& title, Member<bool> member);
    QComboBox* choice(const QString& key, const QStringList& titles,
                      std::function<int(const TrainConfig&)> get,
                      std::function<void(TrainConfig&, int)> set);
    // A word of a list, or another one.
    QComboBox* word(const QString& key, const QStringList& words, Member<std::string> member);

    void show(const TrainConfig& config);
    // What stands in the fields, on top of `base`. Throws Error(bad_value) for a field that is no
    // number.
    TrainConfig collect(TrainConfig base) const;
    // Marks the field whose key begins `message`, and takes the mark off all others.
    void mark(const QString& message);

signals:
    void changed();

private:
    template <class Widget> Widget* add(const QString& key, Widget* widget);

    std::vector<QWidget*> widgets_;
    std::vector<std::function<void(const TrainConfig&)>> showers_;
    std::vector<std::function<void(TrainConfig&)>> collectors_;
};

} // namespace cuset
