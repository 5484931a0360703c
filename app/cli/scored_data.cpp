#include "app/cli/scored_data.h"

#include <cstdio>

#include "app/cli/data_options.h"
#include "app/cli/files.h"
#include "core/io/note_file.h"

namespace cuset::cli {

void add_scored_data_options(CLI::App& command, ScoredDataOptions& options) {
    command.add_option("SCORES", options.scores, "score file")->required();
    add_label_option(command, options.labels);
    command.add_option("--notes", options.notes,
                       "tags, notes and quarantine; without it NAME.notes.json beside the data, if "
                       "it is there");
    command
        .add_option(
            "--quarantined", options.quarantined,
            "keep: count quarantined samples; leave-out: do not; as-noted: as the notes say")
        ->check(CLI::IsMember({"keep", "leave-out", "as-noted"}))
        ->capture_default_str();
}

ScoredData read_scored_data(const ScoredDataOptions& options) {
    ScoredData data;
    data.notes = find_notes(options.scores, options.notes);
    if (options.quarantined != "as-noted")
        data.notes.leave_out_quarantined = options.quarantined == "leave-out";
    const auto scores =
        with_labels(read_scores(options.scores), read_labels(options.labels, {options.scores}));
    data.scores = without_quarantined(scores, data.notes);
    if (const auto left = scores->sample_count() - data.scores->sample_count(); left > 0)
        std::fprintf(stderr, "%lld quarantined sample%s left out\n", static_cast<long long>(left),
                     left == 1 ? "" : "s");
    return data;
}

} // namespace cuset::cli
