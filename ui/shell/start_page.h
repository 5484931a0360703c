// StartPage: what the window shows while nothing is open: what to do next.
#pragma once

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>
#include <QWidget>

namespace cuset {

class StartPage : public QWidget {
    Q_OBJECT
public:
    explicit StartPage(QWidget* parent = nullptr);

    void setRecent(const QStringList& files);

signals:
    void openSamples();
    void openModel();
    void openScores();
    void openDemo();
    void openRecent(const QString& path);

private:
    QVBoxLayout* recent_;
    QLabel* recentTitle_;
};

} // namespace cuset
