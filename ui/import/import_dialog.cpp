#include "ui/import/import_dialog.h"

#include <filesystem>
#include <optional>
#include <vector>

#include <QDialogButtonBox>
#include <QFile>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "core/model/model_view.h"
#include "ui/editor/text_mapping.h"
#include "ui/state/native_path.h"

namespace cuset {
namespace {

const QString previewChannel = QStringLiteral("import preview");
const QString checkChannel = QStringLiteral("import check");
constexpr std::size_t previewRows = 50;
constexpr std::size_t cellBytes = 2000;
constexpr std::size_t listedProblems = 500;
constexpr int typingDelay = 200; // milliseconds without a change before the data is read again

std::vector<std::filesystem::path> toPaths(const QStringList& paths) {
    std::vector<std::filesystem::path> out;
    for (const QString& path : paths)
        out.push_back(nativePath(path));
    return out;
}

} // namespace

struct ImportDialog::Checked {
    Dataset dataset;
    std::optional<DataCheck> tokens; // with a model
    QString modelProblem;
};

ImportDialog::ImportDialog(const QStringList& paths, const QString& modelPath,
                           const PromptOptions& prompt, JobRunner* pool, QWidget* parent)
    : QDialog(parent)
    , paths_(paths)
    , modelPath_(modelPath)
    , prompt_(prompt)
    , pool_(pool)
    , model_(new PreviewTableModel(this)) {
    setWindowTitle(tr("Import samples"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWhatsThis(tr("Choose the fields that hold prompt and response and which rows count. The "
                    "lower part says what that gives: samples, bad records with their lines, and "
                    "what would be cut at the maximum length."));
    build();
    delay_.setSingleShot(true);
    delay_.setInterval(typingDelay);
    connect(&delay_, &QTimer::timeout, this, &ImportDialog::check);
    loadPreview();
}

void ImportDialog::build() {
    const int em = fontMetrics().height();
    reason_ = new QLabel(this);
    reason_->setTextFormat(Qt::PlainText);
    reason_->setWordWrap(true);
    reason_->hide();
    source_ = new QLabel(this);
    source_->setTextFormat(Qt::PlainText);
    table_ = new QTableView(this);
    table_->setModel(model_);
    table_->setAccessibleName(tr("The first records"));
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->verticalHeader()->setDefaultSectionSize(em * 3 / 2);
    table_->verticalHeader()->setToolTip(tr("Line or row in the file"));
    table_->setMinimumHeight(em * 9);
    result_ = new QLabel(this);
    result_->setTextFormat(Qt::PlainText);
    result_->setWordWrap(true);
    result_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    result_->setAccessibleName(tr("What the choice gives"));
    problems_ = new QListWidget(this);
    problems_->setAccessibleName(tr("Bad records and samples that cannot be scored"));
    problems_->setAlternatingRowColors(true);
    problems_->setMaximumHeight(em * 8);
    problems_->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    open_ = buttons->addButton(tr("Open"), QDialogButtonBox::AcceptRole);
    open_->setEnabled(false);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        emit importRequested(paths_, options());
        accept();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(reason_);
    column->addWidget(source_);
    column->addWidget(buildMapping());
    column->addWidget(table_, 1);
    column->addWidget(result_);
    column->addWidget(problems_);
    column->addWidget(buttons);
    resize(em * 46, em * 36);
}

QWidget* ImportDialog::buildMapping() {
    const auto fields = [this](const QString& name, const QString& help) {
        auto* box = new QComboBox(this);
        box->setAccessibleName(name);
        box->setToolTip(plainToolTip(help));
        connect(box, &QComboBox::currentIndexChanged, this, &ImportDialog::checkSoon);
        return box;
    };
    promptField_ = fields(tr("Prompt"),
                          tr("The field that holds the prompt: text or a list of "
                             "messages (--prompt-field)"));
    responseField_ = fields(tr("Response"),
                            tr("The field that holds the response, which is scored "
                               "and trained (--response-field)"));
    filterField_ = fields(tr("Filter by"),
                          tr("Keep only records in which this field has the value "
                             "beside it (--where FIELD=VALUE)"));
    filterValue_ = new QLineEdit(this);
    filterValue_->setAccessibleName(tr("Value to keep"));
    filterValue_->setPlaceholderText(tr("value, e.g. true"));
    filterValue_->setClearButtonEnabled(true);
    connect(filterValue_, &QLineEdit::textChanged, this, &ImportDialog::checkSoon);
    auto* filter = new QWidget(this);
    auto* row = new QHBoxLayout(filter);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(filterField_, 1);
    row->addWidget(new QLabel(tr("is"), this));
    row->addWidget(filterValue_, 1);
    everyTurn_ = new QCheckBox(tr("&Each assistant turn is a sample"), this);
    everyTurn_->setToolTip(
        plainToolTip(tr("Of conversations: each answer of the assistant, with the turns before it, "
                        "becomes a sample; else only the last one (--every-turn)")));
    connect(everyTurn_, &QCheckBox::toggled, this, &ImportDialog::checkSoon);
    auto* box = new QWidget(this);
    auto* form = new QFormLayout(box);
    form->setContentsMargins(0, 0, 0, 0);
    form->addRow(tr("Prompt"), promptField_);
    form->addRow(tr("Response"), responseField_);
    form->addRow(tr("Only where"), filter);
    form->addRow(QString(), everyTurn_);
    return box;
}

void ImportDialog::setReason(const QString& text) {
    reason_->setText(text);
    reason_->setVisible(!text.isEmpty());
}

void ImportDialog::loadPreview() {
    pool_->start(
        previewChannel,
        [paths = toPaths(paths_)](RunControl& control) {
            return preview_data(paths, {}, previewRows, cellBytes, control);
        },
        [self = QPointer<ImportDialog>(this)](JobOutcome<DataPreview> outcome) {
            if (!self)
                return;
            if (const auto* error = std::get_if<1>(&outcome)) {
                self->result_->setText(QString::fromUtf8(error->what()));
                self->settled_ = true;
            }
            if (auto* preview = std::get_if<0>(&outcome)) {
                self->model_->setPreview(std::move(*preview));
                self->fillColumns();
                self->check();
            }
        });
}

void ImportDialog::fillColumns() {
    const DataPreview& preview = model_->preview();
    const QString name = QFileInfo(paths_.value(0)).fileName();
    source_->setText(paths_.size() > 1
                         ? tr("%1 and %n more, %2", nullptr, static_cast<int>(paths_.size()) - 1)
                               .arg(name, QString::fromStdString(preview.format))
                         : tr("%1, %2").arg(name, QString::fromStdString(preview.format)));
    const std::pair<QComboBox*, QString> boxes[] = {{promptField_, tr("recognise by its name")},
                                                    {responseField_, tr("recognise by its name")},
                                                    {filterField_, tr("(all records)")}};
    for (const auto& [box, none] : boxes) {
        const QSignalBlocker quiet(box);
        box->clear();
        box->addItem(none, QString());
        for (const std::string& column : preview.columns)
            box->addItem(visibleText(column, 60), QString::fromStdString(column));
    }
    for (int c = 0; c < model_->columnCount(); ++c)
        table_->setColumnWidth(c, fontMetrics().height() * 11);
}

ReadOptions ImportDialog::options() const {
    ReadOptions options;
    options.prompt_field = promptField_->currentData().toString().toStdString();
    options.response_field = responseField_->currentData().toString().toStdString();
    const std::string field = filterField_->currentData().toString().toStdString();
    if (!field.empty() && !filterValue_->text().isEmpty())
        options.filters[field] = filterValue_->text().toStdString();
    options.every_turn = everyTurn_->isChecked();
    return options;
}

void ImportDialog::setFields(const QString& prompt, const QString& response) {
    promptField_->setCurrentIndex(std::max(0, promptField_->findData(prompt)));
    responseField_->setCurrentIndex(std::max(0, responseField_->findData(response)));
}

void ImportDialog::setFilter(const QString& field, const QString& value) {
    filterField_->setCurrentIndex(std::max(0, filterField_->findData(field)));
    filterValue_->setText(value);
}

QStringList ImportDialog::problems() const {
    QStringList texts;
    for (int i = 0; i < problems_->count(); ++i)
        texts += problems_->item(i)->text();
    return texts;
}

void ImportDialog::checkSoon() {
    settled_ = false;
    open_->setEnabled(false);
    delay_.start();
}

void ImportDialog::check() {
    settled_ = false;
    open_->setEnabled(false);
    result_->setText(tr("Reading\u2026"));
    pool_->start(
        checkChannel,
        [paths = toPaths(paths_), options = options(), prompt = prompt_,
         model = nativePath(modelPath_).string()](RunControl& control) {
            Checked checked;
            checked.dataset = read_samples(paths, options, control);
            if (model.empty())
                return checked;
            try {
                checked.tokens = ModelView(model).check(checked.dataset.samples, prompt, control);
            } catch (const Error& error) {
                checked.modelProblem = QString::fromUtf8(error.what());
            }
            return checked;
        },
        [self = QPointer<ImportDialog>(this)](JobOutcome<Checked> outcome) {
            if (!self)
                return;
            self->settled_ = true;
            if (const auto* error = std::get_if<1>(&outcome)) {
                self->result_->setText(QString::fromUtf8(error->what()));
                self->problems_->hide();
            }
            if (const auto* checked = std::get_if<0>(&outcome))
                self->present(*checked);
        });
}

void ImportDialog::present(const Checked& checked) {
    const Dataset& dataset = checked.dataset;
    QStringList parts{tr("%n samples", nullptr, static_cast<int>(dataset.samples.size()))};
    if (dataset.filtered_records > 0)
        parts +=
            tr("%n left out by the filter", nullptr, static_cast<int>(dataset.filtered_records));
    if (!dataset.bad_records.empty())
        parts += tr("%n bad records", nullptr, static_cast<int>(dataset.bad_records.size()));
    QStringList lines{parts.join(tr(", "))};
    if (checked.tokens) {
        const DataCheck& tokens = *checked.tokens;
        lines += tr("%1 response tokens, longest sample %2; at %3 tokens %4 samples are cut and "
                    "lose %5 tokens")
                     .arg(countText(tokens.response_tokens), countText(tokens.longest),
                          countText(prompt_.max_length), countText(tokens.cut_samples),
                          countText(tokens.cut_tokens));
    } else {
        lines += checked.modelProblem.isEmpty()
            ? tr("Open a model to see how many would be cut at the maximum length.")
            : checked.modelProblem;
    }
    for (const std::string& warning : dataset.warnings)
        lines += visibleText(warning, 400);
    result_->setText(lines.join(QLatin1Char('\n')));
    problems_->clear();
    for (const BadRecord& bad : dataset.bad_records) {
        if (static_cast<std::size_t>(problems_->count()) == listedProblems)
            break;
        problems_->addItem(tr("%1:%2: %3")
                               .arg(QFileInfo(QString::fromStdString(bad.file)).fileName(),
                                    QString::number(bad.line), visibleText(bad.reason, 300)));
    }
    if (checked.tokens)
        for (const SkippedSample& skipped : checked.tokens->skipped)
            if (static_cast<std::size_t>(problems_->count()) < listedProblems)
                problems_->addItem(tr("%1: %2").arg(visibleText(skipped.id, 60),
                                                    visibleText(skipped.reason, 300)));
    problems_->setVisible(problems_->count() > 0);
    open_->setEnabled(!dataset.samples.empty());
    open_->setDefault(true);
}

} // namespace cuset
