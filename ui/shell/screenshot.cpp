#include "ui/shell/screenshot.h"

#include <cstdio>
#include <utility>

#include <QBuffer>
#include <QDialog>
#include <QPainter>
#include <QPixmap>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "ui/generate/generate_panel.h"
#include "ui/state/native_path.h"
#include "ui/state/navigation.h"

namespace cuset {
namespace {

constexpr int checkInterval = 25; // ms
constexpr int quietNeeded = 4; // checks in a row with nothing going on

} // namespace

Screenshot::Screenshot(MainWindow* window, ScreenshotRequest request, QObject* parent)
    : QObject(parent)
    , window_(window)
    , request_(std::move(request)) {
    connect(&timer_, &QTimer::timeout, this, &Screenshot::check);
    timer_.start(checkInterval);
}

void Screenshot::check() {
    quietChecks_ = window_->isSettled() ? quietChecks_ + 1 : 0;
    if (quietChecks_ < quietNeeded)
        return;
    quietChecks_ = 0;
    switch (step_) {
    case Step::Load:
        step_ = Step::Select;
        if (request_.score
            && window_->workspace()->scoredCount() < window_->workspace()->sampleCount())
            window_->score();
        break;
    case Step::Select:
        step_ = request_.prompt.isEmpty() ? Step::Settle : Step::Generate;
        if (!select()) {
            timer_.stop();
            emit done(ExitCode::usage);
        }
        break;
    case Step::Generate:
        step_ = Step::Compile;
        generate();
        break;
    case Step::Compile:
        step_ = Step::Settle;
        if (!find_nvcc().empty())
            for (AnswerView* view : window_->generatePanel()->findChildren<AnswerView*>())
                view->compile();
        break;
    case Step::Settle:
        timer_.stop();
        save();
        break;
    }
}

// With the newest adapter of what is compared, if there is one.
void Screenshot::generate() {
    GeneratePanel* panel = window_->generatePanel();
    panel->setPrompt(request_.prompt);
    panel->chooseNewestAdapter();
    emit panel->generateRequested();
}

bool Screenshot::select() {
    for (const QString& view : std::as_const(request_.views))
        window_->showView(view);
    Workspace* workspace = window_->workspace();
    if (!request_.sample.isEmpty()) {
        int row = 0;
        while (row < workspace->sampleCount() && workspace->sampleId(row) != request_.sample)
            ++row;
        if (row == workspace->sampleCount()) {
            std::fprintf(stderr, "cuset-studio: --sample %s: no such sample\n",
                         qPrintable(request_.sample));
            return false;
        }
        window_->selection()->setSample(row);
    }
    if (const auto& figures = window_->analysis()->figures()) {
        int token = request_.token;
        if (token < 0)
            token = nextUncertainSensitive(*figures, -1);
        if (token < 0)
            token = lowestWindowAt(*figures);
        if (token >= 0 && token < figures->count())
            window_->selection()->setToken(token);
    }
    return true;
}

// The window, and the dialog that stands before it.
QPixmap Screenshot::picture() const {
    QPixmap picture = window_->grab();
    for (QDialog* dialog : window_->findChildren<QDialog*>()) {
        if (!dialog->isVisible())
            continue;
        const QPixmap front = dialog->grab();
        const QPointF corner(
            (picture.deviceIndependentSize().width() - front.deviceIndependentSize().width()) / 2,
            (picture.deviceIndependentSize().height() - front.deviceIndependentSize().height())
                / 2);
        QPainter painter(&picture);
        painter.fillRect(picture.rect(), QColor(0, 0, 0, 90));
        painter.drawPixmap(corner, front);
    }
    return picture;
}

void Screenshot::save() {
    const QStringList texts = window_->messages()->texts();
    if (window_->outcome() != ExitCode::ok) {
        std::fprintf(stderr, "cuset-studio: %s\n", qPrintable(texts.join(QLatin1Char('\n'))));
        emit done(window_->outcome());
        return;
    }
    try {
        QByteArray png;
        QBuffer buffer(&png);
        if (!buffer.open(QIODevice::WriteOnly) || !picture().save(&buffer, "PNG"))
            throw Error(ErrorCode::failure, "the picture could not be made");
        write_file_atomically(nativePath(request_.file),
                              {png.constData(), static_cast<std::size_t>(png.size())});
    } catch (const Error& error) {
        std::fprintf(stderr, "cuset-studio: %s\n", error.what());
        emit done(exit_code(error.code()));
        return;
    }
    std::fprintf(stderr, "cuset-studio: picture saved as %s\n", qPrintable(request_.file));
    emit done(ExitCode::ok);
}

} // namespace cuset
