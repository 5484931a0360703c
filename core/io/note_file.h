// NAME.notes.json beside the data: tags, notes and quarantine of samples, keyed by id, so that they
// survive a new scoring.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/data/sample_note.h"
#include "core/data/score_set.h"

namespace cuset {

// Where the notes of these data or scores are (see companion_file).
std::filesystem::path note_file_for(const std::filesystem::path& data_or_scores);

// The file's text: {"format": "cuset-notes", "format_version": 1, "leave_out_quarantined": bool,
// "samples": [{"id", "tags": [..], "note", "quarantined"}]}, one sample a line.
std::string write_notes(const SampleNotes& notes);
// Throws Error(bad_format) if `json` is no such text, Error(unsupported) for a newer version.
// `subject` names the file in messages. Of two entries of one sample the later one holds.
SampleNotes read_notes(std::string_view json, const std::string& subject);

// Throws Error: not_found, unreadable, limit (over 64 MiB), and as read_notes.
SampleNotes read_note_file(const std::filesystem::path& path);
// Writes beside the target and renames. Throws Error(disk).
void write_note_file(const std::filesystem::path& path, const SampleNotes& notes);

// The notes in `named` if it is not empty, else those beside `data_or_scores`, else none. "-" has
// none beside it. Throws as read_note_file.
SampleNotes find_notes(const std::filesystem::path& data_or_scores,
                       const std::filesystem::path& named = {});

// `scores` without the samples that the notes leave out; the same set if there is none.
std::shared_ptr<const ScoreSet> without_quarantined(const std::shared_ptr<const ScoreSet>& scores,
                                                    const SampleNotes& notes);

} // namespace cuset
