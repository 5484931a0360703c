// StartPage: what the window shows while nothing is open: the three steps to the first colours,
// what was open lately, and where files may be dropped.
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
    class Card;
    QWidget* buildSteps();
    QWidget* buildRecent();
    QWidget* buildDropZone();

    QVBoxLayout* recent_ = nullptr;
    QLabel* noRecent_ = nullptr;
};

} // namespace cuset
