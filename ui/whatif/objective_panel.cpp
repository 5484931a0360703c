#include "ui/whatif/objective_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QVBoxLayout>

#include "ui/charts/axis_ticks.h"
#include "ui/editor/text_mapping.h"
#include "ui/editor/token_colors.h"

namespace cuset {
namespace {

QString nameOf(int objective) {
    const std::string_view name = token_objective_names[static_cast<std::size_t>(objective)];
    return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

} // namespace

ObjectivePanel::ObjectivePanel(ObjectiveFigures* figures, SelectionState* selection,
                               QWidget* parent)
    : QWidget(parent)
    , figures_(figures)
    , selection_(selection)
    , bars_(new BarListChart(tr("Push over the corpus"), this))
    , curves_(new ObjectiveChart(this))
    , choice_(new QComboBox(this)) {
    setWhatsThis(tr("Where one training step would push, before it is made: a token's push is its "
                    "weight under the objective times 1 - c. Left over the corpus, right in the "
                    "selected sample. The chosen objective's push is what the code shows when it "
                    "is coloured by push, and what the Regions and Samples tables count."));
    bars_->setPartName(tr("on sensitive tokens"));
    bars_->setPickable(true);
    choice_->setAccessibleName(tr("Objective whose push is shown"));
    for (int i = 0; i < token_objective_count; ++i) {
        choice_->addItem(nameOf(i));
        choice_->setItemData(i, plainToolTip(pushFormula(static_cast<TokenObjective>(i))),
                             Qt::ToolTipRole);
    }
    auto* label = new QLabel(tr("&Push of"), this);
    label->setBuddy(choice_);
    auto* controls = new QHBoxLayout;
    controls->addWidget(label);
    controls->addWidget(choice_);
    controls->addStretch(1);
    auto* left = new QWidget(this);
    auto* column = new QVBoxLayout(left);
    const int gap = fontMetrics().height() / 4;
    column->setContentsMargins(gap, gap, gap, 0);
    column->setSpacing(gap);
    column->addLayout(controls);
    column->addWidget(bars_, 1);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->addWidget(left);
    splitter->addWidget(curves_);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    splitter->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter);

    const auto choose = [this](int index) {
        selection_->setObjective(static_cast<TokenObjective>(index));
    };
    connect(choice_, &QComboBox::activated, this, choose);
    connect(bars_, &BarListChart::rowClicked, this, choose);
    connect(curves_, &ObjectiveChart::tokenClicked, selection_, &SelectionState::setToken);
    connect(curves_, &ObjectiveChart::tokenHovered, selection_, &SelectionState::setHover);
    const auto mark = [this] { curves_->setMarkedToken(selection_->shownToken()); };
    connect(selection_, &SelectionState::tokenChanged, this, mark);
    connect(selection_, &SelectionState::hoverChanged, this, mark);
    connect(selection_, &SelectionState::objectiveChanged, this, &ObjectivePanel::showChosen);
    connect(figures_, &ObjectiveFigures::corpusChanged, this, &ObjectivePanel::showCorpus);
    connect(figures_, &ObjectiveFigures::sampleChanged, this, &ObjectivePanel::showSample);
    showChosen();
}

void ObjectivePanel::showChosen() {
    const int index = static_cast<int>(selection_->objective());
    choice_->setCurrentIndex(index);
    bars_->setCurrent(index);
    curves_->setChosen(selection_->objective());
}

void ObjectivePanel::showCorpus() {
    const auto& totals = figures_->corpus();
    if (!totals) {
        bars_->clear();
        return;
    }
    std::vector<BarRowItem> rows;
    for (int i = 0; i < token_objective_count; ++i) {
        const PushTotals& push = (*totals)[static_cast<std::size_t>(i)];
        BarRowItem row;
        row.label = nameOf(i);
        row.value = push.total;
        row.part = push.sensitive;
        row.numbers = tr("%1,  %2 %")
                          .arg(numberText(push.total, 4))
                          .arg(push.sensitive_share() * 100, 0, 'f', 1);
        row.explanation = tr("push %1: the sum over all tokens; the hatched part falls on "
                             "CUDA-sensitive tokens\nclick to show this objective's push "
                             "everywhere")
                              .arg(pushFormula(static_cast<TokenObjective>(i)));
        row.figures = {push.total, push.sensitive, push.sensitive_share()};
        rows.push_back(std::move(row));
    }
    bars_->setRows(std::move(rows), 0,
                   {QStringLiteral("objective"), QStringLiteral("push"),
                    QStringLiteral("push_sensitive"), QStringLiteral("sensitive_share")});
    showChosen();
}

void ObjectivePanel::showSample() {
    if (!figures_->sample()) {
        curves_->clear();
        return;
    }
    curves_->setObjectives(*figures_->sample());
    curves_->setMarkedToken(selection_->shownToken());
}

} // namespace cuset
