#include "ui/shell/start_page.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QGridLayout>
#include <QIcon>
#include <QPushButton>

namespace cuset {
namespace {

constexpr int shownRecent = 5;

} // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent)
    , recent_(new QVBoxLayout)
    , recentTitle_(new QLabel(tr("Recent"), this)) {
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    const int em = fontMetrics().height();
    auto* title = new QLabel(tr("Which tokens would training see, how hard, and why?"), this);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    title->setFont(large);
    title->setWordWrap(true);
    auto* hint = new QLabel(tr("Open samples and a model, then press Score. Or drop files anywhere "
                               "in this window: samples (.jsonl, "
                               ".json, .csv, .cu or a folder), a model (.gguf or a Hugging Face "
                               "folder), or a score file."),
                            this);
    hint->setWordWrap(true);
    hint->setForegroundRole(QPalette::PlaceholderText);
    const auto link = [this](const QString& text, const QString& description,
                             void (StartPage::*signal)()) {
        auto* button = new QCommandLinkButton(text, description, this);
        button->setAccessibleName(text);
        button->setIcon(QIcon());
        connect(button, &QCommandLinkButton::clicked, this, signal);
        return button;
    };
    auto* column = new QVBoxLayout;
    column->setSpacing(em / 2);
    column->addWidget(title);
    column->addWidget(hint);
    column->addSpacing(em / 2);
    column->addWidget(link(tr("Open samples"), tr("Prompt and response pairs, or CUDA source"),
                           &StartPage::openSamples));
    column->addWidget(link(tr("Open a model"), tr("A GGUF file or a Hugging Face folder"),
                           &StartPage::openModel));
    column->addWidget(
        link(tr("Open a score file"), tr("Scored before: needs no model"), &StartPage::openScores));
    column->addWidget(link(tr("Open the demo samples"),
                           tr("CUDA kernels that come with this program"), &StartPage::openDemo));
    column->addSpacing(em / 2);
    recentTitle_->setForegroundRole(QPalette::PlaceholderText);
    column->addWidget(recentTitle_);
    column->addLayout(recent_);
    recent_->setSpacing(0);
    auto* middle = new QWidget(this);
    middle->setLayout(column);
    middle->setMaximumWidth(em * 38);
    auto* grid = new QGridLayout(this);
    grid->addWidget(middle, 1, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 4);
    grid->setColumnStretch(2, 1);
    grid->setRowStretch(0, 1);
    grid->setRowStretch(2, 2);
    setRecent({});
}

void StartPage::setRecent(const QStringList& files) {
    while (QLayoutItem* item = recent_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    recentTitle_->setVisible(!files.isEmpty());
    for (const QString& path : files.mid(0, shownRecent)) {
        auto* button = new QPushButton(
            QFileInfo(path).fileName().replace(QLatin1Char('&'), QLatin1String("&&")), this);
        button->setFlat(true);
        button->setToolTip(path.toHtmlEscaped());
        button->setStyleSheet(QStringLiteral("text-align: left"));
        connect(button, &QPushButton::clicked, this, [this, path] { emit openRecent(path); });
        recent_->addWidget(button);
    }
}

} // namespace cuset
