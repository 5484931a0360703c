// The score file NAME.scores.safetensors: a ScoreSet on disk. Tensors: sample_begin, token_id,
// logprob, entropy, entropy_top20, rank, top_id, top_logprob, byte_begin, byte_end, labels,
// prompt_utf8, response_utf8, prompt_begin, response_begin, and (ours, optional) vocab_id,
// vocab_begin, vocab_bytes. Metadata: format "cuset-scores", format_version "1", and the
// provenance.
#pragma once

#include <filesystem>
#include <memory>

#include "core/data/score_set.h"

namespace cuset {

class SafetensorsFile;

// True if its metadata say so, of whatever version.
bool is_score_file(const SafetensorsFile& file);

// Maps the file; columns are views into the mapping, nothing is copied but the ids. Everything that
// users of a ScoreSet index by is checked: offsets, spans and texts, and the scores for NaN
// (ScoreSet::check_tokens). Throws Error: not_found, unreadable, bad_format (not a score file, or
// damaged), unsupported (a newer format_version).
std::shared_ptr<const ScoreSet> read_score_file(const std::filesystem::path& path);

// Writes beside the target, syncs and renames, so that the old file stays whole on any failure.
// Throws Error: disk, bad_value (two samples with one id).
void write_score_file(const std::filesystem::path& path, const ScoreSet& scores);

} // namespace cuset
