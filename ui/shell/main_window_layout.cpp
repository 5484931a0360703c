// MainWindow: its panels, docks and tool bar.
#include <algorithm>

#include <QHBoxLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/shell/main_window.h"
#include "ui/tuning/mask_panel.h"
#include "ui/tuning/summary_panel.h"

namespace cuset {
namespace {

// A panel that scrolls where the screen is small.
QScrollArea* scrollable(QWidget* widget, QWidget* parent) {
    auto* area = new QScrollArea(parent);
    area->setWidget(widget);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setMinimumWidth(widget->minimumSizeHint().width()
                          + area->verticalScrollBar()->sizeHint().width());
    return area;
}

// Tabs of docks have whole titles, and arrows where these do not fit; Qt makes the bars as it needs
// them and would cut the titles.
class DockTabs : public QObject {
public:
    explicit DockTabs(QMainWindow* window)
        : QObject(window) {
        window->installEventFilter(this);
    }

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::ChildPolished)
            if (auto* tabs = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
                tabs->setElideMode(Qt::ElideNone);
                tabs->setUsesScrollButtons(true);
            }
        return false;
    }
};

} // namespace

void MainWindow::buildCentre() {
    messages_ = new MessageBar(this);
    editor_ = new EditorPanel(&workspace_, analysis_, &selection_, labels_, this);
    start_ = new StartPage(this);
    editor_->setEmptyPage(start_);
    connect(start_, &StartPage::openSamples, this, [this] { chooseSamples(false); });
    connect(start_, &StartPage::openModel, this, [this] { chooseModel(false); });
    connect(start_, &StartPage::openScores, this, &MainWindow::chooseScores);
    connect(start_, &StartPage::openDemo, this, &MainWindow::openDemoSamples);
    connect(start_, &StartPage::openRecent, this,
            [this](const QString& path) { openPaths({path}); });
    connect(editor_, &EditorPanel::colorByChanged, this, [this] {
        for (QAction* action : std::as_const(colorActions_))
            action->setChecked(action->data().toInt() == static_cast<int>(editor_->colorBy()));
    });
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages_);
    column->addWidget(editor_, 1);
    setCentralWidget(centre);
}

QDockWidget* MainWindow::addDock(const QString& name, const QString& title, QWidget* widget,
                                 Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(widget);
    dock->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable
                      | QDockWidget::DockWidgetClosable);
    addDockWidget(area, dock);
    panelMenu_->addAction(dock->toggleViewAction());
    docks_.push_back(dock);
    return dock;
}

void MainWindow::buildDocks() {
    new DockTabs(this);
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    samples_ = new DatasetPanel(&workspace_, analysis_, &selection_, kinds_, units_, notes_, this);
    model_ = new ModelPanel(&workspace_, &pool_, this);
    addDock(QStringLiteral("samples"), tr("Samples"), samples_, Qt::LeftDockWidgetArea);
    QDockWidget* thresholds = addDock(QStringLiteral("thresholds"), tr("Thresholds"),
                                      new MaskPanel(&mask_, this), Qt::RightDockWidgetArea);
    QDockWidget* summary =
        addDock(QStringLiteral("summary"), tr("Summary"),
                scrollable(new SummaryPanel(analysis_, this), this), Qt::RightDockWidgetArea);
    QDockWidget* model = addDock(QStringLiteral("model"), tr("Model"), scrollable(model_, this),
                                 Qt::RightDockWidgetArea);
    splitDockWidget(thresholds, summary, Qt::Vertical);
    buildRegionPanels(summary);
    tabifyDockWidget(summary, model);
    buildDataPanels();
    summary->raise();
    QDockWidget* token =
        addDock(QStringLiteral("token"), tr("Token"),
                new TokenPanel(analysis_, &selection_, labels_, this), Qt::BottomDockWidgetArea);
    QDockWidget* density = addDock(QStringLiteral("density"), tr("Confidence density"),
                                   charts_->density(), Qt::BottomDockWidgetArea);
    splitDockWidget(token, density, Qt::Vertical);
    QDockWidget* windows = addDock(QStringLiteral("windows"), tr("Window confidence"),
                                   charts_->window(), Qt::BottomDockWidgetArea);
    splitDockWidget(density, windows, Qt::Horizontal);
    QDockWidget* tokens =
        addDock(QStringLiteral("tokens"), tr("Tokens"), charts_->bars(), Qt::BottomDockWidgetArea);
    splitDockWidget(windows, tokens, Qt::Horizontal);
    QDockWidget* sweep =
        addDock(QStringLiteral("sweep"), tr("Sweep"), charts_->sweep(), Qt::BottomDockWidgetArea);
    tabifyDockWidget(density, sweep);
    buildComparePanels(summary, density);
    buildGeneratePanel();
    summary->raise();
    density->raise();
    sweep->hide(); // so that the charts' titles stand in one line
    buildLowestPanel();
    connect(sweep, &QDockWidget::visibilityChanged, charts_, &ChartBinder::setSweepVisible);
    buildViews(density);
}

void MainWindow::resetLayout() {
    restoreState(defaultState_, Settings::version);
    applyProportions();
}

void MainWindow::applyProportions() {
    const auto find = [this](const char* name) {
        return findChild<QDockWidget*>(QString::fromLatin1(name));
    };
    const int em = fontMetrics().height();
    const int wide = width();
    resizeDocks({find("samples"), find("thresholds")},
                {std::clamp(wide * 22 / 100, em * 19, em * 27),
                 std::clamp(wide * 26 / 100, em * 16, em * 25)},
                Qt::Horizontal);
    resizeDocks({find("token"), find("density")},
                {em * 7, std::clamp(height() * 24 / 100, em * 11, em * 20)}, Qt::Vertical);
    resizeDocks({find("density"), find("windows"), find("tokens")},
                {wide * 30 / 100, wide * 33 / 100, wide * 37 / 100}, Qt::Horizontal);
    resizeDocks({find("thresholds"), find("summary")}, {em * 14, em * 22}, Qt::Vertical);
}

void MainWindow::buildToolBar() {
    QToolBar* bar = addToolBar(tr("Main"));
    bar->setObjectName(QStringLiteral("toolbar"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    const int em = fontMetrics().height();
    bar->setIconSize(QSize(em * 5 / 4, em * 5 / 4));
    const auto withMenu = [bar](QAction* action, QMenu* menu) {
        auto* button = new QToolButton(bar);
        button->setDefaultAction(action);
        button->setMenu(menu);
        button->setPopupMode(QToolButton::MenuButtonPopup);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setFocusPolicy(Qt::TabFocus);
        bar->addWidget(button);
    };
    withMenu(openModelAction_, recentModels_);
    withMenu(openSamplesAction_, recentFiles_);
    bar->addSeparator();
    bar->addAction(scoreAction_);
    bar->addAction(stopAction_);
    progress_ = new QProgressBar(bar);
    progress_->setTextVisible(false);
    progress_->setMaximumWidth(em * 14);
    progress_->setMaximumHeight(em);
    progress_->setAccessibleName(tr("Progress"));
    progressText_ = new QLabel(bar);
    progressText_->setTextFormat(Qt::PlainText);
    auto* box = new QWidget(bar);
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(em / 2, 0, em / 2, 0);
    row->addWidget(progress_);
    row->addWidget(progressText_);
    row->addStretch(1);
    bar->addWidget(box);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addAction(nextSensitiveAction_);
    bar->addAction(nextLowAction_);
    bar->addSeparator();
    bar->addAction(paletteAction_);
}

} // namespace cuset
