#include "ui/shell/start_page.h"

#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QIcon>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>

#include "ui/editor/color_scale.h"
#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr int shownRecent = 6;

QFont scaled(const QFont& font, double factor, bool bold) {
    QFont other = font;
    other.setPointSizeF(font.pointSizeF() * factor);
    other.setBold(bold);
    return other;
}

QLabel* label(const QString& text, const QFont& font, QWidget* parent, bool muted = false) {
    auto* made = new QLabel(text, parent);
    made->setFont(font);
    made->setWordWrap(true);
    if (muted)
        made->setForegroundRole(QPalette::PlaceholderText);
    return made;
}

} // namespace

// A panel with rounded corners, lifted off the page; a drop zone has a dashed line. With a number
// it is a step.
class StartPage::Card : public QWidget {
public:
    Card(int number, bool dashed, QWidget* parent)
        : QWidget(parent)
        , number_(number)
        , dashed_(dashed) { }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const double em = fontMetrics().height();
        const QColor text = palette().color(QPalette::Text);
        const QColor base = palette().color(QPalette::Base);
        painter.setPen(QPen(mixed(text, base, dashed_ ? 0.45 : 0.16), em / 14,
                            dashed_ ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(dashed_ ? QBrush(Qt::NoBrush) : QBrush(mixed(text, base, 0.035)));
        const double inset = em / 14;
        painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), em / 2,
                                em / 2);
        if (number_ == 0)
            return;
        const double side = em * 1.7;
        const QRectF circle(em * 0.9, em * 0.85, side, side);
        painter.setPen(Qt::NoPen);
        painter.setBrush(palette().color(QPalette::Highlight));
        painter.drawEllipse(circle);
        painter.setPen(palette().color(QPalette::HighlightedText));
        painter.setFont(scaled(font(), 1.05, true));
        painter.drawText(circle, Qt::AlignCenter, QString::number(number_));
    }

private:
    int number_;
    bool dashed_;
};

StartPage::StartPage(QWidget* parent)
    : QWidget(parent) {
    setBackgroundRole(QPalette::Base);
    setAutoFillBackground(true);
    const int em = fontMetrics().height();
    auto* page = new QWidget(this);
    page->setBackgroundRole(QPalette::Base);
    auto* icon = new QLabel(page);
    icon->setPixmap(QIcon(QStringLiteral(":/icons/cuset-studio.svg"))
                        .pixmap(QSize(em * 3, em * 3), devicePixelRatioF()));
    auto* names = new QVBoxLayout;
    names->setSpacing(em / 6);
    names->addWidget(label(tr("CuSeT Studio"), scaled(font(), 1.7, true), page));
    names->addWidget(label(tr("Which tokens would training see, how hard, and why?"),
                           scaled(font(), 1.15, false), page, true));
    auto* head = new QHBoxLayout;
    head->setSpacing(em);
    head->addWidget(icon, 0, Qt::AlignTop);
    head->addLayout(names, 1);
    auto* lower = new QHBoxLayout;
    lower->setSpacing(em);
    lower->addWidget(buildRecent(), 3);
    lower->addWidget(buildDropZone(), 2);
    auto* column = new QVBoxLayout;
    column->setSpacing(em);
    column->addLayout(head);
    column->addSpacing(em / 2);
    column->addWidget(buildSteps());
    column->addLayout(lower);
    auto* middle = new QWidget(page);
    middle->setLayout(column);
    middle->setMaximumWidth(em * 54);
    auto* grid = new QGridLayout(page);
    grid->setContentsMargins(em, em, em, em);
    grid->addWidget(middle, 1, 1);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 12);
    grid->setColumnStretch(2, 1);
    grid->setRowStretch(0, 2);
    grid->setRowStretch(2, 3);
    auto* area = new QScrollArea(this);
    area->setWidget(page);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(area);
    setRecent({});
}

QWidget* StartPage::buildSteps() {
    const int em = fontMetrics().height();
    auto* steps = new QWidget(this);
    auto* row = new QHBoxLayout(steps);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(em);
    struct Button {
        QString text;
        void (StartPage::*signal)();
    };
    const auto add = [&](int number, const QString& title, const QString& text,
                         const std::vector<Button>& buttons) {
        auto* card = new Card(number, false, steps);
        auto* column = new QVBoxLayout(card);
        column->setContentsMargins(em, em, em, em);
        column->setSpacing(em / 2);
        QLabel* heading = label(title, scaled(font(), 1.15, true), card);
        heading->setMinimumHeight(em * 3 / 2);
        heading->setIndent(em * 9 / 4);
        column->addWidget(heading);
        column->addWidget(label(text, font(), card, true), 1, Qt::AlignTop);
        for (const Button& each : buttons) {
            auto* button = new QPushButton(each.text, card);
            connect(button, &QPushButton::clicked, this, each.signal);
            column->addWidget(button);
        }
        row->addWidget(card, 1);
    };
    add(1, tr("Open samples"),
        tr("Prompt and response pairs, or CUDA source: .jsonl, .json, .csv, .cu, or a folder."),
        {{tr("Open &samples\u2026"), &StartPage::openSamples},
         {tr("Try the &demo samples"), &StartPage::openDemo}});
    add(2, tr("Open a model"),
        tr("A .gguf file or a Hugging Face folder. It stays on this machine."),
        {{tr("Open a &model\u2026"), &StartPage::openModel}});
    add(3, tr("Score"),
        tr("F5 colours every token by how sure the model is of it. Scored before? A score file "
           "needs no model."),
        {{tr("Open a s&core file\u2026"), &StartPage::openScores}});
    return steps;
}

QWidget* StartPage::buildRecent() {
    const int em = fontMetrics().height();
    auto* card = new Card(0, false, this);
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(em, em, em, em);
    column->setSpacing(em / 4);
    column->addWidget(label(tr("Recent"), scaled(font(), 1.15, true), card));
    recent_ = new QVBoxLayout;
    recent_->setSpacing(0);
    column->addLayout(recent_);
    noRecent_ = label(tr("What you open is listed here."), font(), card, true);
    column->addWidget(noRecent_);
    column->addStretch(1);
    return card;
}

QWidget* StartPage::buildDropZone() {
    const int em = fontMetrics().height();
    auto* zone = new Card(0, true, this);
    zone->setMinimumHeight(em * 8);
    auto* column = new QVBoxLayout(zone);
    column->setContentsMargins(em, em, em, em);
    QLabel* title = label(tr("Drop files here"), scaled(font(), 1.15, true), zone);
    QLabel* text = label(tr("Samples, a model, a score file or a session; several at once. "
                            "Anywhere in this window will do."),
                         font(), zone, true);
    for (QLabel* each : {title, text})
        each->setAlignment(Qt::AlignHCenter);
    column->addStretch(1);
    column->addWidget(title);
    column->addWidget(text);
    column->addStretch(1);
    return zone;
}

void StartPage::setRecent(const QStringList& files) {
    while (QLayoutItem* item = recent_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    noRecent_->setVisible(files.isEmpty());
    for (const QString& path : files.mid(0, shownRecent)) {
        const QFileInfo info(path);
        auto* button = new QPushButton(visibleText(info.fileName().toStdString(), 60)
                                           .replace(QLatin1Char('&'), QLatin1String("&&")),
                                       this);
        button->setFlat(true);
        button->setToolTip(plainToolTip(QDir::toNativeSeparators(path)));
        button->setStyleSheet(QStringLiteral("text-align: left"));
        connect(button, &QPushButton::clicked, this, [this, path] { emit openRecent(path); });
        recent_->addWidget(button);
    }
}

} // namespace cuset
