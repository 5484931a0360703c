// SampleExporter: writes chosen samples with their weights as JSON Lines that training programs
// read (core/report/sample_export), in the pool.
#pragma once

#include <vector>

#include <QObject>
#include <QString>

#include "core/report/sample_export.h"
#include "ui/async/job_runner.h"
#include "ui/shell/message_bar.h"
#include "ui/state/mask_settings_state.h"
#include "ui/state/note_state.h"
#include "ui/state/workspace.h"

namespace cuset {

class SampleExporter : public QObject {
    Q_OBJECT
public:
    SampleExporter(Workspace* workspace, MaskSettingsState* settings, NoteState* notes,
                   JobRunner* pool, QObject* parent = nullptr);

    struct Request {
        std::vector<int> rows; // of the workspace; unscored ones are left out
        bool withoutQuarantined = true;
        ExportFormat format = ExportFormat::messages;
        QString path;
    };
    // Asks for the samples, the format and the file. `shown`: the rows that the table shows now.
    void ask(QWidget* window, const std::vector<int>& shown);
    void write(const Request& request);

signals:
    void message(cuset::MessageKind kind, const QString& text);

private:
    Workspace* workspace_;
    MaskSettingsState* settings_;
    NoteState* notes_;
    JobRunner* pool_;
};

} // namespace cuset
