#include "ui/tuning/mask_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "ui/editor/text_mapping.h"

namespace cuset {
namespace {

constexpr int tauSteps = 1000;
// lambda and the window go by powers of two: 2^-4 .. 2^4 and 2^2 .. 2^13, this many steps to a
// doubling.
constexpr int stepsPerDoubling = 50;
constexpr int lambdaLowest = -4;
constexpr int lambdaHighest = 4;
constexpr int windowLowest = 2;
constexpr int windowHighest = 13;

struct Preset {
    const char* title;
    MaskSettings settings;
};

const std::array<Preset, 7>& presets() {
    static const std::array<Preset, 7> table{{
        {QT_TRANSLATE_NOOP("MaskPanel", "CuSeT, the paper's"), {}},
        {QT_TRANSLATE_NOOP("MaskPanel", "Confidence mask only"),
         {.cuda_mask = false, .region_weight = false}},
        {QT_TRANSLATE_NOOP("MaskPanel", "Both masks, no weights"), {.region_weight = false}},
        {QT_TRANSLATE_NOOP("MaskPanel", "Confidence and weights"), {.cuda_mask = false}},
        {QT_TRANSLATE_NOOP("MaskPanel", "CUDA mask only"),
         {.confidence_mask = false, .region_weight = false}},
        {QT_TRANSLATE_NOOP("MaskPanel", "Weights only"),
         {.confidence_mask = false, .cuda_mask = false}},
        {QT_TRANSLATE_NOOP("MaskPanel", "Plain fine-tuning (SFT)"),
         {.confidence_mask = false, .cuda_mask = false, .region_weight = false}},
    }};
    return table;
}

int logPosition(double value, int lowest) {
    return static_cast<int>(std::lround((std::log2(value) - lowest) * stepsPerDoubling));
}

double logValue(int position, int lowest) {
    return std::exp2(lowest + static_cast<double>(position) / stepsPerDoubling);
}

} // namespace

MaskPanel::MaskPanel(MaskSettingsState* state, QWidget* parent)
    : QWidget(parent)
    , state_(state) {
    setWhatsThis(tr("The thresholds of the method. Code, charts, table and figures follow at once; "
                    "nothing is scored "
                    "again. Ctrl+Z takes a whole drag back."));
    build();
    connectSlider(tauSlider_, tr("Change tau"), &MaskPanel::tauMoved);
    connectSlider(lambdaSlider_, tr("Change lambda"), &MaskPanel::lambdaMoved);
    connectSlider(windowSlider_, tr("Change window"), &MaskPanel::windowMoved);
    connect(tau_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        MaskSettings wanted = state_->settings();
        wanted.tau = value;
        if (!showing_)
            state_->set(wanted, tr("Change tau"));
    });
    connect(lambda_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        MaskSettings wanted = state_->settings();
        wanted.lambda = value;
        if (!showing_)
            state_->set(wanted, tr("Change lambda"));
    });
    connect(window_, &QSpinBox::valueChanged, this, [this](int value) {
        MaskSettings wanted = state_->settings();
        wanted.window = value;
        if (!showing_)
            state_->set(wanted, tr("Change window"));
    });
    for (QCheckBox* box : {confidenceMask_, cudaMask_, regionWeight_, wholeIfShort_})
        connect(box, &QCheckBox::clicked, this, [this, box] {
            MaskSettings wanted = state_->settings();
            wanted.confidence_mask = confidenceMask_->isChecked();
            wanted.cuda_mask = cudaMask_->isChecked();
            wanted.region_weight = regionWeight_->isChecked();
            wanted.whole_if_short = wholeIfShort_->isChecked();
            state_->set(wanted,
                        tr("Switch %1").arg(box->text().remove(QLatin1Char('&')).toLower()));
        });
    connect(preset_, &QComboBox::activated, this, &MaskPanel::applyPreset);
    connect(state_, &MaskSettingsState::changed, this, &MaskPanel::showSettings);
    showSettings();
}

void MaskPanel::build() {
    auto* grid = new QGridLayout(this);
    const int gap = fontMetrics().height() / 2;
    grid->setContentsMargins(gap, gap, gap, gap);
    grid->setHorizontalSpacing(gap);
    grid->setVerticalSpacing(gap / 2);
    grid->setColumnStretch(1, 1);
    const auto addRow = [&](int row, QCheckBox*& box, const QString& title, const QString& symbol,
                            QSlider*& slider, int steps, QAbstractSpinBox* spin,
                            const QString& explanation) {
        box = new QCheckBox(title, this);
        auto* label = new QLabel(symbol, this);
        slider = new QSlider(Qt::Horizontal, this);
        slider->setRange(0, steps);
        slider->setAccessibleName(symbol);
        spin->setAccessibleName(symbol);
        spin->setKeyboardTracking(false);
        spin->setParent(this);
        label->setBuddy(spin);
        for (QWidget* widget : {static_cast<QWidget*>(box), static_cast<QWidget*>(label),
                                static_cast<QWidget*>(slider), static_cast<QWidget*>(spin)})
            widget->setToolTip(plainToolTip(explanation));
        grid->addWidget(box, row, 0, 1, 3);
        grid->addWidget(label, row + 1, 0);
        grid->addWidget(slider, row + 1, 1);
        grid->addWidget(spin, row + 1, 2);
    };
    tau_ = new QDoubleSpinBox;
    tau_->setRange(0, 1);
    tau_->setDecimals(3);
    tau_->setSingleStep(0.01);
    addRow(0, confidenceMask_, tr("C&onfidence mask"), QStringLiteral("\u03c4 tau"), tauSlider_,
           tauSteps, tau_, tr("A token with confidence c > tau is supervised (Eq. 2)"));
    lambda_ = new QDoubleSpinBox;
    lambda_->setRange(0.05, 16);
    lambda_->setDecimals(2);
    lambda_->setSingleStep(0.1);
    addRow(2, cudaMask_, tr("CU&DA mask"), QStringLiteral("\u03bb lambda"), lambdaSlider_,
           (lambdaHighest - lambdaLowest) * stepsPerDoubling, lambda_,
           tr("Tokens in kernel bodies and launch configurations get lambda more (Eq. 3, 4)"));
    window_ = new QSpinBox;
    window_->setRange(1, 8192);
    window_->setSingleStep(8);
    addRow(
        4, regionWeight_, tr("Region &weight"), tr("l window"), windowSlider_,
        (windowHighest - windowLowest) * stepsPerDoubling, window_,
        tr("A sample weighs 1 minus the lowest mean confidence of a window of l tokens (Eq. 5-8)"));
    wholeIfShort_ = new QCheckBox(tr("A sample &shorter than l is one window"), this);
    wholeIfShort_->setToolTip(
        plainToolTip(tr("Eq. 5 clips windows at both ends of the sample. The preprint's sentence "
                        "on short samples reads it as one window.")));
    grid->addWidget(wholeIfShort_, 6, 0, 1, 3);
    preset_ = new QComboBox(this);
    preset_->setAccessibleName(tr("Presets"));
    preset_->setToolTip(plainToolTip(
        tr("Sets of switches: the method, its parts one by one, and plain fine-tuning")));
    preset_->setPlaceholderText(tr("Presets"));
    preset_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (const Preset& preset : presets())
        preset_->addItem(tr(preset.title));
    auto* reset = new QPushButton(tr("&Reset"), this);
    reset->setToolTip(plainToolTip(
        tr("Back to the paper's values: tau 0.1, lambda 1, window 256, all parts on")));
    connect(reset, &QPushButton::clicked, this,
            [this] { state_->set(MaskSettings{}, tr("Reset thresholds")); });
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(preset_, 1);
    buttons->addWidget(reset);
    grid->addLayout(buttons, 7, 0, 1, 3);
    grid->setRowStretch(8, 1);
    setTabOrder(confidenceMask_, tauSlider_);
    setTabOrder(tauSlider_, tau_);
    setTabOrder(tau_, cudaMask_);
    setTabOrder(cudaMask_, lambdaSlider_);
    setTabOrder(lambdaSlider_, lambda_);
    setTabOrder(lambda_, regionWeight_);
    setTabOrder(regionWeight_, windowSlider_);
    setTabOrder(windowSlider_, window_);
    setTabOrder(window_, wholeIfShort_);
}

void MaskPanel::connectSlider(QSlider* slider, const QString& what,
                              void (MaskPanel::*change)(int)) {
    connect(slider, &QSlider::sliderPressed, this, [this, what] { state_->beginGesture(what); });
    connect(slider, &QSlider::sliderReleased, this, [this] { state_->endGesture(); });
    connect(slider, &QSlider::valueChanged, this, [this, change](int position) {
        if (!showing_)
            (this->*change)(position);
    });
}

void MaskPanel::tauMoved(int position) {
    MaskSettings wanted = state_->settings();
    wanted.tau = static_cast<double>(position) / tauSteps;
    state_->set(wanted, tr("Change tau"));
}

void MaskPanel::lambdaMoved(int position) {
    MaskSettings wanted = state_->settings();
    wanted.lambda = std::round(logValue(position, lambdaLowest) * 100) / 100;
    state_->set(wanted, tr("Change lambda"));
}

void MaskPanel::windowMoved(int position) {
    MaskSettings wanted = state_->settings();
    wanted.window = static_cast<int>(std::lround(logValue(position, windowLowest)));
    state_->set(wanted, tr("Change window"));
}

void MaskPanel::applyPreset(int index) {
    const Preset& preset = presets()[static_cast<std::size_t>(index)];
    MaskSettings wanted = preset.settings;
    if (index != 0) { // the parts one by one keep the numbers that are set
        wanted.tau = state_->settings().tau;
        wanted.lambda = state_->settings().lambda;
        wanted.window = state_->settings().window;
        wanted.whole_if_short = state_->settings().whole_if_short;
    }
    state_->set(wanted, tr("Preset %1").arg(tr(preset.title)));
}

void MaskPanel::showSettings() {
    const MaskSettings& settings = state_->settings();
    showing_ = true;
    confidenceMask_->setChecked(settings.confidence_mask);
    cudaMask_->setChecked(settings.cuda_mask);
    regionWeight_->setChecked(settings.region_weight);
    wholeIfShort_->setChecked(settings.whole_if_short);
    tau_->setValue(settings.tau);
    lambda_->setValue(settings.lambda);
    window_->setValue(settings.window);
    // A slider that is being dragged is where the hand is.
    if (!tauSlider_->isSliderDown())
        tauSlider_->setValue(static_cast<int>(std::lround(settings.tau * tauSteps)));
    if (!lambdaSlider_->isSliderDown())
        lambdaSlider_->setValue(logPosition(settings.lambda, lambdaLowest));
    if (!windowSlider_->isSliderDown())
        windowSlider_->setValue(logPosition(settings.window, windowLowest));
    tauSlider_->setEnabled(settings.confidence_mask);
    tau_->setEnabled(settings.confidence_mask);
    lambdaSlider_->setEnabled(settings.cuda_mask);
    lambda_->setEnabled(settings.cuda_mask);
    const auto match = std::find_if(presets().begin(), presets().end(), [&](const Preset& preset) {
        if (&preset == &presets().front())
            return preset.settings == settings;
        return preset.settings.confidence_mask == settings.confidence_mask
            && preset.settings.cuda_mask == settings.cuda_mask
            && preset.settings.region_weight == settings.region_weight;
    });
    preset_->setCurrentIndex(
        match == presets().end() ? -1 : static_cast<int>(match - presets().begin()));
    showing_ = false;
}

} // namespace cuset
