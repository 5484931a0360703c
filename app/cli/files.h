// Files that commands read and write: outputs never land on inputs, and "-" is a stream.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/data/score_set.h"

namespace cuset::cli {

// Throws Error(usage) if `output` is, or leads to, one of `inputs` ("-" and "" are nothing).
void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs);

// Throws Error(disk) if no file could be put there: said before hours of work, not after. "-" and
// "" are nothing.
void require_writable(const std::string& output);

// A score file, or one on standard input for "-". Throws as read_score_file.
std::shared_ptr<const ScoreSet> read_scores(const std::string& path);

// To a file, or to standard output for "-". Throws Error(disk).
void write_scores(const std::string& path, const ScoreSet& scores);

// Sends what was printed on its way. Throws Error(disk) if standard output could not take all of
// it.
void finish_output();

} // namespace cuset::cli
