#include "ui/training/run_advisor.h"

#include <algorithm>
#include <filesystem>

#include <QDir>
#include <QFile>

#include "core/train/train_data.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

constexpr int delay = 350; // ms after the last change
constexpr int mostNames = 10000;
const QString estimateChannel = QStringLiteral("estimate");
const QString previewChannel = QStringLiteral("preview");

bool sameFiles(const std::vector<std::string>& data, const QStringList& open) {
    if (static_cast<int>(data.size()) != open.size())
        return false;
    for (int i = 0; i < open.size(); ++i)
        if (QDir::cleanPath(QDir().absoluteFilePath(open[i]))
            != QDir::cleanPath(
                QDir().absoluteFilePath(pathText(data[static_cast<std::size_t>(i)]))))
            return false;
    return true;
}

// Without the keys that change neither what is read nor what it takes.
std::string readKey(const TrainConfig& config) {
    std::string key = config.model + '\n' + config.prompt_field + '\n' + config.response_field
        + (config.every_turn ? "\nevery turn" : "");
    for (const std::string& path : config.data)
        key += '\n' + path;
    return key;
}

} // namespace

// The tokenizer and samples of the last preview: kept, so that a slider costs no reading.
struct RunAdvisor::Source {
    std::unique_ptr<SamplePreviewer> previewer;
    std::string dataKey;
    std::shared_ptr<const Dataset> dataset;
};

struct RunAdvisor::Shown {
    std::shared_ptr<const SamplePreview> preview;
    QStringList names; // filled when the data were read anew
};

RunAdvisor::RunAdvisor(Workspace* workspace, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , source_(std::make_shared<Source>()) {
    timer_.setSingleShot(true);
    timer_.setInterval(delay);
    connect(&timer_, &QTimer::timeout, this, &RunAdvisor::look);
}

RunAdvisor::~RunAdvisor() = default;

QString RunAdvisor::check(const TrainConfig& config) {
    try {
        parse_train_config(train_config_json(config), {});
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

void RunAdvisor::setConfig(const TrainConfig& config) {
    config_ = config;
    timer_.start();
    preview();
}

void RunAdvisor::setSample(int index) {
    sample_ = index;
    preview();
}

void RunAdvisor::look() {
    if (!config_ || !check(*config_).isEmpty())
        return;
    pool_.start(
        estimateChannel,
        [config = *config_](RunControl& control) {
            namespace fs = std::filesystem;
            if (fs::exists(fs::path(config.output) / "events.jsonl"))
                throw Error(ErrorCode::usage,
                            "output: holds a run already; name another folder, or resume that run");
            return std::make_shared<const TrainEstimate>(estimate_run(config, false, control));
        },
        [this](JobOutcome<std::shared_ptr<const TrainEstimate>> outcome) {
            if (const auto* estimate = std::get_if<0>(&outcome)) {
                emit checked({});
                emit estimated(*estimate);
            } else if (const auto* error = std::get_if<1>(&outcome)) {
                emit checked(QString::fromUtf8(error->what()));
            }
        });
}

void RunAdvisor::preview() {
    if (!config_ || config_->model.empty() || config_->data.empty())
        return emit previewFailed(tr("Choose a model and data to see what is trained."));
    std::shared_ptr<const Dataset> open;
    std::shared_ptr<const ScoreSet> scores;
    int scored = -1;
    if (sameFiles(config_->data, workspace_->datasetPaths())) {
        open = workspace_->dataset();
        scores = workspace_->scores();
        if (sample_ >= 0 && sample_ < workspace_->sampleCount())
            scored = workspace_->scoredIndex(sample_);
    }
    lane_.start(
        previewChannel,
        [source = source_, config = *config_, open, scores, scored,
         index = sample_](RunControl& control) {
            if (!source->previewer || source->previewer->model() != config.model)
                source->previewer = std::make_unique<SamplePreviewer>(config.model);
            Shown shown;
            const std::string key = readKey(config);
            if (source->dataKey != key || (open && source->dataset != open)) {
                source->dataset = open
                    ? open
                    : std::make_shared<const Dataset>(read_samples(
                        {config.data.begin(), config.data.end()}, read_options(config), control));
                source->dataKey = key;
                for (const Sample& sample : source->dataset->samples) {
                    if (shown.names.size() == mostNames)
                        break;
                    shown.names += visibleText(sample.id, 80);
                }
            }
            const auto& samples = source->dataset->samples;
            if (samples.empty())
                throw Error(ErrorCode::bad_value, "the data hold no sample");
            const auto at = static_cast<std::size_t>(
                std::clamp<int>(index, 0, static_cast<int>(samples.size()) - 1));
            shown.preview = std::make_shared<const SamplePreview>(
                source->previewer->preview(config, samples[at], scores.get(), scored));
            return shown;
        },
        [this](JobOutcome<Shown> outcome) {
            if (const auto* shown = std::get_if<0>(&outcome)) {
                if (!shown->names.isEmpty())
                    emit sampleNames(shown->names);
                emit previewed(shown->preview);
            } else if (const auto* error = std::get_if<1>(&outcome)) {
                emit previewFailed(QString::fromUtf8(error->what()));
            }
        });
}

} // namespace cuset
