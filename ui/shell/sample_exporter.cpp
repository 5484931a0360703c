#include "ui/shell/sample_exporter.h"

#include <array>
#include <numeric>
#include <utility>

#include <QButtonGroup>
#include <QCheckBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QGroupBox>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

#include "core/analysis/corpus_summary.h"
#include "core/io/atomic_file.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString channel = QStringLiteral("export samples");

struct FormatText {
    const char* title;
    const char* explanation;
};
constexpr std::array<FormatText, export_format_count> formatTexts{{
    {QT_TRANSLATE_NOOP("Export", "&Messages with token weights"),
     QT_TRANSLATE_NOOP("Export",
                       "messages, the sample's weight, and id, span and weight of each "
                       "response token")},
    {QT_TRANSLATE_NOOP("Export", "&Segments"),
     QT_TRANSLATE_NOOP("Export",
                       "text cut where training begins or ends to see tokens, as axolotl "
                       "reads it")},
    {QT_TRANSLATE_NOOP("Export", "&Data alone"),
     QT_TRANSLATE_NOOP("Export",
                       "id, prompt and response, as cuset score and cuset train read "
                       "them")},
    {QT_TRANSLATE_NOOP("Export", "&Tokens"),
     QT_TRANSLATE_NOOP("Export",
                       "ids, labels (-100 where the weight is 0) and loss weights of the "
                       "response")},
}};

// What the dialog was left with; the path is asked for afterwards.
class ExportDialog : public QDialog {
public:
    ExportDialog(QWidget* parent, int all, int shown, int quarantined)
        : QDialog(parent) {
        setWindowTitle(SampleExporter::tr("Export samples"));
        auto* column = new QVBoxLayout(this);
        auto* which = new QGroupBox(SampleExporter::tr("Samples"), this);
        auto* whichColumn = new QVBoxLayout(which);
        shown_ =
            new QRadioButton(SampleExporter::tr("Those the &table shows (%1)").arg(shown), which);
        auto* every = new QRadioButton(SampleExporter::tr("&All (%1)").arg(all), which);
        (shown == all ? every : shown_)->setChecked(true);
        without_ = new QCheckBox(
            SampleExporter::tr("Without &quarantined ones (%1)").arg(quarantined), which);
        without_->setChecked(true);
        for (QWidget* widget : {static_cast<QWidget*>(shown_), static_cast<QWidget*>(every),
                                static_cast<QWidget*>(without_)})
            whichColumn->addWidget(widget);
        auto* form = new QGroupBox(SampleExporter::tr("Lines hold"), this);
        auto* formColumn = new QVBoxLayout(form);
        formats_ = new QButtonGroup(this);
        for (int i = 0; i < export_format_count; ++i) {
            const FormatText& texts = formatTexts[static_cast<std::size_t>(i)];
            auto* button =
                new QRadioButton(QCoreApplication::translate("Export", texts.title), form);
            auto* explanation =
                new QLabel(QCoreApplication::translate("Export", texts.explanation), form);
            explanation->setForegroundRole(QPalette::PlaceholderText);
            explanation->setIndent(fontMetrics().height() * 3 / 2);
            formats_->addButton(button, i);
            formColumn->addWidget(button);
            formColumn->addWidget(explanation);
        }
        formats_->button(0)->setChecked(true);
        auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
        buttons->addButton(SampleExporter::tr("&Export\u2026"), QDialogButtonBox::AcceptRole);
        connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
        connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
        column->addWidget(which);
        column->addWidget(form);
        column->addWidget(buttons);
    }

    bool shownOnly() const { return shown_->isChecked(); }
    bool withoutQuarantined() const { return without_->isChecked(); }
    ExportFormat format() const { return static_cast<ExportFormat>(formats_->checkedId()); }

private:
    QRadioButton* shown_;
    QCheckBox* without_;
    QButtonGroup* formats_;
};

std::int64_t writeSamples(const std::shared_ptr<const ScoreSet>& scores,
                          const std::vector<std::int64_t>& samples, const MaskSettings& settings,
                          const SampleNotes& notes, ExportFormat format, const QString& path,
                          RunControl& control) {
    CorpusAnalyzer analyzer(scores, control);
    analyzer.update(settings);
    AtomicFile file(nativePath(path));
    export_samples(
        analyzer, samples, format, notes, [&](std::string_view line) { file.write(line); },
        control);
    file.commit();
    return static_cast<std::int64_t>(samples.size());
}

} // namespace

SampleExporter::SampleExporter(Workspace* workspace, MaskSettingsState* settings, NoteState* notes,
                               JobRunner* pool, QObject* parent)
    : QObject(parent)
    , workspace_(workspace)
    , settings_(settings)
    , notes_(notes)
    , pool_(pool) { }

void SampleExporter::ask(QWidget* window, const std::vector<int>& shown) {
    if (!workspace_->scores()) {
        emit message(MessageKind::Information,
                     tr("Nothing to export: score the samples first (F5)."));
        return;
    }
    int quarantined = 0;
    for (const SampleNote& note : notes_->notes().notes)
        quarantined += note.quarantined;
    ExportDialog dialog(window, workspace_->sampleCount(), static_cast<int>(shown.size()),
                        quarantined);
    if (dialog.exec() != QDialog::Accepted)
        return;
    Request request;
    request.rows = shown;
    if (!dialog.shownOnly()) {
        request.rows.resize(static_cast<std::size_t>(workspace_->sampleCount()));
        std::iota(request.rows.begin(), request.rows.end(), 0);
    }
    request.withoutQuarantined = dialog.withoutQuarantined();
    request.format = dialog.format();
    request.path = QFileDialog::getSaveFileName(
        window, tr("Export samples"), QStringLiteral("samples.jsonl"), tr("JSON Lines (*.jsonl)"));
    if (!request.path.isEmpty())
        write(request);
}

void SampleExporter::write(const Request& request) {
    const std::shared_ptr<const ScoreSet> scores = workspace_->scores();
    if (!scores)
        return;
    std::vector<std::int64_t> samples;
    for (const int row : request.rows) {
        const SampleNote* note = notes_->find(workspace_->sampleId(row));
        const bool left = request.withoutQuarantined && note && note->quarantined;
        if (const int index = workspace_->scoredIndex(row); index >= 0 && !left)
            samples.push_back(index);
    }
    pool_->start(
        channel,
        [scores, samples = std::move(samples), settings = settings_->settings(),
         notes = notes_->notes(), request](RunControl& control) {
            return writeSamples(scores, samples, settings, notes, request.format, request.path,
                                control);
        },
        [this, path = request.path](JobOutcome<std::int64_t> outcome) {
            if (const auto* error = std::get_if<1>(&outcome))
                emit message(MessageKind::Error, QString::fromUtf8(error->what()));
            if (const auto* count = std::get_if<0>(&outcome))
                emit message(MessageKind::Information,
                             *count == 1 ? tr("1 sample exported as %1").arg(path)
                                         : tr("%1 samples exported as %2").arg(*count).arg(path));
        });
}

} // namespace cuset
