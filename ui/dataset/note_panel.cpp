#include "ui/dataset/note_panel.h"

#include <QEvent>
#include <QFormLayout>
#include <QVBoxLayout>

#include "ui/editor/text_mapping.h"

namespace cuset {

NotePanel::NotePanel(NoteState* notes, Workspace* workspace, SelectionState* selection,
                     QWidget* parent)
    : QWidget(parent)
    , notes_(notes)
    , workspace_(workspace)
    , selection_(selection) {
    setWhatsThis(tr("What you say of the selected sample. It is kept beside the data, in "
                    "NAME.notes.json, and can be undone. Quarantined samples are left out of "
                    "figures and training while the second switch is on."));
    build();
    connect(notes_, &NoteState::changed, this, &NotePanel::showNote);
    connect(workspace_, &Workspace::samplesReset, this, &NotePanel::showNote);
    connect(selection_, &SelectionState::sampleChanged, this, &NotePanel::showNote);
    connect(tags_, &QLineEdit::editingFinished, this, &NotePanel::commit);
    connect(quarantined_, &QCheckBox::toggled, this, [this](bool on) {
        if (!showing_)
            notes_->setQuarantined({id_}, on);
    });
    connect(leaveOut_, &QCheckBox::toggled, this, [this](bool on) {
        if (!showing_)
            notes_->setLeaveOutQuarantined(on);
    });
    text_->installEventFilter(this);
    showNote();
}

void NotePanel::build() {
    title_ = new QLabel(this);
    title_->setTextFormat(Qt::PlainText);
    title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    QFont bold = font();
    bold.setBold(true);
    title_->setFont(bold);
    tags_ = new QLineEdit(this);
    tags_->setPlaceholderText(tr("Tags, with commas between"));
    tags_->setAccessibleName(tr("Tags"));
    tags_->setToolTip(plainToolTip(tr("Filter the table with tag = \"name\"")));
    text_ = new QPlainTextEdit(this);
    text_->setPlaceholderText(tr("Note"));
    text_->setAccessibleName(tr("Note"));
    text_->setTabChangesFocus(true);
    quarantined_ = new QCheckBox(tr("&Quarantined"), this);
    quarantined_->setToolTip(
        plainToolTip(tr("This sample is suspect: it is struck out in the table")));
    leaveOut_ = new QCheckBox(tr("&Leave quarantined samples out"), this);
    leaveOut_->setToolTip(
        plainToolTip(tr("Quarantined samples count in no figure, are not exported with the others "
                        "and are not trained on, here and in cuset, for these data")));
    const int gap = fontMetrics().height() / 2;
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(gap, gap, gap, gap);
    column->setSpacing(gap);
    column->addWidget(title_);
    column->addWidget(tags_);
    column->addWidget(text_, 1);
    column->addWidget(quarantined_);
    column->addWidget(leaveOut_);
}

void NotePanel::commit() {
    if (showing_ || id_.isEmpty())
        return;
    const SampleNote* note = notes_->find(id_);
    if (tags_->text() != (note ? QString::fromStdString(join_tags(note->tags)) : QString()))
        notes_->setTags(id_, tags_->text());
    note = notes_->find(id_);
    if (text_->toPlainText() != (note ? QString::fromStdString(note->text) : QString()))
        notes_->setText(id_, text_->toPlainText());
}

void NotePanel::showNote() {
    const int row = selection_->sample();
    const bool any = row >= 0 && row < workspace_->sampleCount();
    const QString id = any ? workspace_->sampleId(row) : QString();
    if (id != id_)
        commit(); // of the sample that goes
    id_ = id;
    showing_ = true;
    const SampleNote* note = any ? notes_->find(id_) : nullptr;
    const QString tags = note ? QString::fromStdString(join_tags(note->tags)) : QString();
    const QString text = note ? QString::fromStdString(note->text) : QString();
    title_->setText(any ? visibleText(id_.toStdString(), 80) : tr("No sample selected"));
    if (tags_->text() != tags)
        tags_->setText(tags);
    if (text_->toPlainText() != text)
        text_->setPlainText(text);
    quarantined_->setChecked(note && note->quarantined);
    leaveOut_->setChecked(notes_->notes().leave_out_quarantined);
    for (QWidget* field : {static_cast<QWidget*>(tags_), static_cast<QWidget*>(text_),
                           static_cast<QWidget*>(quarantined_)})
        field->setEnabled(any);
    showing_ = false;
}

bool NotePanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == text_ && event->type() == QEvent::FocusOut)
        commit();
    return QWidget::eventFilter(watched, event);
}

void NotePanel::hideEvent(QHideEvent* event) {
    commit();
    QWidget::hideEvent(event);
}

} // namespace cuset
