// MainWindow: sessions: what they keep of it, and what brings it back.
#include <algorithm>
#include <utility>

#include <QFileDialog>
#include <QFileInfo>

#include "ui/shell/main_window.h"

namespace cuset {
namespace {

std::string absolute(const QString& path) {
    return path.isEmpty() ? std::string() : QFileInfo(path).absoluteFilePath().toStdString();
}

// A model may be a name of the hub cache.
std::string modelPath(const QString& nameOrPath) {
    return QFileInfo::exists(nameOrPath) ? absolute(nameOrPath) : nameOrPath.toStdString();
}

} // namespace

void MainWindow::buildSession() {
    session_ = new SessionController(
        QFileInfo(store_.path()).absolutePath() + QStringLiteral("/recovery"),
        [this] { return sessionNow(); }, this);
    connect(session_, &SessionController::opened, this, [this](const SessionState& session) {
        if (!session_->path().isEmpty())
            Settings::remember(settings_.recentFiles, session_->path());
        restoreSession(session);
        rebuildRecentMenus();
    });
    connect(session_, &SessionController::saved, this, [this](const QString& path) {
        Settings::remember(settings_.recentFiles, path);
        rebuildRecentMenus();
        messages_->show(MessageKind::Information,
                        tr("Session saved as %1. It is kept up to date from now on.").arg(path));
    });
    connect(session_, &SessionController::failed, this,
            [this](const QString& text) { messages_->show(MessageKind::Error, text); });
    connect(session_, &SessionController::recoverable, this, [this](const QString& what) {
        messages_->ask(
            MessageKind::Warning,
            tr("CuSeT Studio did not end as it should the last time. It had %1 open.").arg(what),
            {{tr("Restore"), [this] { session_->restore(); }},
             {tr("Discard"), [this] { session_->discard(); }}});
    });
}

void MainWindow::buildSessionActions(QMenu* menu) {
    addAction(menu, tr("Open sess&ion\u2026"), QStringLiteral("Ctrl+Shift+I"),
              [this] { chooseSession(false); });
    addAction(menu, tr("&Save session"), QStringLiteral("Ctrl+S"),
              [this] { session_->path().isEmpty() ? chooseSession(true) : session_->save(); });
    addAction(menu, tr("Save session &as\u2026"), QStringLiteral("Ctrl+Shift+S"),
              [this] { chooseSession(true); });
    addAction(menu, tr("&Export samples\u2026"), QStringLiteral("Ctrl+Shift+E"),
              [this] { exporter_->ask(this, samples_->shownRows()); });
}

// From here on, after the window has found its state, every change is kept.
void MainWindow::watchSession() {
    const auto touch = [this] { session_->touch(); };
    connect(&workspace_, &Workspace::samplesReset, this, touch);
    connect(&workspace_, &Workspace::scoresChanged, this, touch);
    connect(&workspace_, &Workspace::modelChanged, this, touch);
    connect(&mask_, &MaskSettingsState::changed, this, touch);
    connect(&selection_, &SelectionState::sampleChanged, this, touch);
    connect(&selection_, &SelectionState::tokenChanged, this, touch);
    connect(&selection_, &SelectionState::kindsChanged, this, touch);
    connect(&selection_, &SelectionState::objectiveChanged, this, touch);
    connect(samples_->filterField(), &QLineEdit::textChanged, this, touch);
    connect(editor_, &EditorPanel::colorByChanged, this, touch);
    for (QDockWidget* dock : docks_)
        connect(dock, &QDockWidget::visibilityChanged, this, touch);
    connect(analysis_, &AnalysisState::figuresChanged, this, &MainWindow::selectPending);
    connect(documents_, &DocumentController::busyChanged, this, [this] {
        if (opening_) // what ended is delivered after this
            QMetaObject::invokeMethod(this, &MainWindow::finishOpening, Qt::QueuedConnection);
    });
    session_->lookForCrash();
}

void MainWindow::chooseSession(bool save) {
    const QString filter = tr("Sessions (*.cuset-session)");
    QString start = session_->path();
    if (start.isEmpty() && !workspace_.datasetPaths().isEmpty())
        start = QFileInfo(workspace_.datasetPaths().first()).absolutePath()
            + QStringLiteral("/session.cuset-session");
    const QString path = save
        ? QFileDialog::getSaveFileName(this, tr("Save the session"), start, filter)
        : QFileDialog::getOpenFileName(this, tr("Open a session"), start, filter);
    if (path.isEmpty())
        return;
    save ? session_->saveAs(path) : openPaths({path});
}

SessionState MainWindow::sessionNow() const {
    SessionState session;
    session.model = modelPath(documents_->modelPath());
    for (const QString& path : workspace_.datasetPaths())
        session.data.push_back(absolute(path));
    session.read = session.data.empty() ? ReadOptions{} : documents_->readOptions();
    session.scores = absolute(workspace_.scoresPath());
    session.notes = absolute(notes_->path());
    session.labels = absolute(labels_->path());
    session.settings = mask_.settings();
    session.objective = token_objective_names[static_cast<std::size_t>(selection_.objective())];
    session.color_by = colorMode(editor_->colorBy()).key.toStdString();
    session.color_map = editor_->colorMap() == ColorMap::Viridis ? "viridis" : "cividis";
    session.layout = saveState(Settings::version).toBase64().toStdString();
    session.filter = samples_->filterField()->text().toStdString();
    for (std::size_t kind = 0; kind < sensitive_kind_names.size(); ++kind)
        if (selection_.kinds() & kind_bit(static_cast<SensitiveKind>(kind)))
            session.kinds.emplace_back(sensitive_kind_names[kind]);
    if (selection_.sample() >= 0 && selection_.sample() < workspace_.sampleCount())
        session.sample = workspace_.sampleId(selection_.sample()).toStdString();
    session.token = selection_.token();
    return session;
}

void MainWindow::restoreSession(const SessionState& session) {
    mask_.set(session.settings, tr("Open a session"));
    if (const auto objective = find_objective(session.objective))
        selection_.setObjective(*objective);
    for (const ColorBy by : allColorModes)
        if (colorMode(by).key.toStdString() == session.color_by)
            editor_->setColorBy(by);
    editor_->setColorMap(session.color_map == "viridis" ? ColorMap::Viridis : ColorMap::Cividis);
    if (!session.layout.empty())
        restoreState(QByteArray::fromBase64(QByteArray::fromStdString(session.layout)),
                     Settings::version);
    samples_->filterField()->setText(QString::fromStdString(session.filter));
    LabelBits kinds = 0;
    for (std::size_t kind = 0; kind < sensitive_kind_names.size(); ++kind)
        if (std::find(session.kinds.begin(), session.kinds.end(), sensitive_kind_names[kind])
            != session.kinds.end())
            kinds = static_cast<LabelBits>(kinds | kind_bit(static_cast<SensitiveKind>(kind)));
    selection_.setKinds(kinds);
    pendingSample_ = QString::fromStdString(session.sample);
    pendingToken_ = static_cast<int>(std::clamp<std::int64_t>(session.token, -1, 1 << 30));
    opening_ = session;
    QMetaObject::invokeMethod(this, &MainWindow::finishOpening, Qt::QueuedConnection);
    QStringList files;
    for (const std::string& path : session.data)
        files += QString::fromStdString(path);
    if (!files.isEmpty())
        documents_->openData(files, session.read);
    if (!session.scores.empty())
        documents_->openScores(QString::fromStdString(session.scores));
    if (!session.model.empty())
        openModel(QString::fromStdString(session.model));
}

void MainWindow::finishOpening() {
    if (!opening_ || documents_->isBusy())
        return;
    const SessionState wanted = *std::exchange(opening_, std::nullopt);
    selectPending();
    pendingSample_.clear(); // what is not there by now will not come
    const SessionState now = sessionNow();
    const bool complete = now.data == wanted.data
        && (wanted.scores.empty()
            || (wanted.data.empty() ? now.scores == wanted.scores : workspace_.scores() != nullptr))
        && (wanted.model.empty() || now.model == wanted.model);
    if (!complete)
        messages_->show(MessageKind::Warning,
                        tr("Not all of the session could be opened. %1")
                            .arg(session_->path().isEmpty()
                                     ? tr("It will be offered again.")
                                     : tr("%1 stays as it is.").arg(session_->path())));
    session_->setComplete(complete);
}

// The sample and token of a session, as soon as they are there.
void MainWindow::selectPending() {
    if (pendingSample_.isEmpty())
        return;
    int row = 0;
    while (row < workspace_.sampleCount() && workspace_.sampleId(row) != pendingSample_)
        ++row;
    if (row == workspace_.sampleCount())
        return;
    if (selection_.sample() != row) {
        selection_.setSample(row); // comes back here with the figures, if there are any
        return;
    }
    const auto& figures = analysis_->figures();
    if (!figures)
        return;
    pendingSample_.clear();
    if (pendingToken_ < figures->count())
        selection_.setToken(pendingToken_);
}

} // namespace cuset
