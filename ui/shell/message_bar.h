// MessageBar: what went wrong or has been done, above the code, in the way of nothing.
#pragma once

#include <functional>
#include <vector>

#include <QString>
#include <QVBoxLayout>
#include <QWidget>

namespace cuset {

enum class MessageKind { Information, Warning, Error };

class MessageBar : public QWidget {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    // Plain text. A new piece of information replaces the older one; warnings and errors stay until
    // closed, the newest few of them. The same text is not shown twice.
    void show(MessageKind kind, const QString& text);
    // With buttons; pressing one runs it and closes the message.
    struct Choice {
        QString text;
        std::function<void()> run;
    };
    void ask(MessageKind kind, const QString& text, const std::vector<Choice>& choices);
    QStringList texts() const; // newest last
    void clear();

protected:
    void changeEvent(QEvent* event) override;

private:
    class Row;
    Row* add(MessageKind kind, const QString& text);
    void remove(Row* row);

    QVBoxLayout* layout_;
    QList<Row*> rows_;
};

} // namespace cuset
