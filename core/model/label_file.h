// Corrections of labels beside the data they belong to, and scores with them applied: what the
// window, the command line and training share.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cuda/label_corrections.h"
#include "core/data/score_set.h"

namespace cuset {

// NAME.labels.json beside a data file, a folder of data, or NAME.scores.safetensors. Scores of
// several models of one data set (NAME.MODEL.scores.safetensors) share the data's corrections: if
// only NAME.labels.json exists, it is meant.
std::filesystem::path label_file_for(const std::filesystem::path& data_or_scores);

// Throws Error: not_found, unreadable, limit (over 64 MiB), and as read_corrections.
std::vector<LabelCorrection> read_label_file(const std::filesystem::path& path);

// Writes beside the target and renames. Throws Error(disk).
void write_label_file(const std::filesystem::path& path,
                      std::span<const LabelCorrection> corrections);

// The corrections in `named` if it is not empty, else those beside the first of `data`, else none.
// Throws as read_label_file.
std::vector<LabelCorrection> find_corrections(std::span<const std::filesystem::path> data,
                                              const std::filesystem::path& named);

// How many of the corrections mean a sample of the set and text inside its response: the rest are
// of other data. O(samples + corrections).
std::size_t count_meant(const ScoreSet& scores, std::span<const LabelCorrection> corrections);

// `scores` with the corrections on top of their labels; the same set if none is meant for it.
// Samples whose id is in `relabelled` get the labels of their text first, for scores that were
// saved with corrections which have been taken back since. O(tokens + corrections).
std::shared_ptr<const ScoreSet> corrected_scores(const std::shared_ptr<const ScoreSet>& scores,
                                                 std::span<const LabelCorrection> corrections,
                                                 std::span<const std::string> relabelled = {});

} // namespace cuset
