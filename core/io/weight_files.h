// Which safetensors files of a folder are the model. Used by ModelFolder.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/io/safetensors_file.h"

namespace cuset {

struct WeightFiles {
    std::vector<std::string> names; // in the folder, sorted; all are there
    std::map<std::string, std::string, std::less<>>
        homes; // tensor -> file by the index; empty without one
    std::vector<std::string> warnings;
};

// model.safetensors, else the shards of the index, else a complete set of
// NAME-0000k-of-0000n.safetensors, else the only safetensors file. Opens none of them. Throws
// Error: not_found (which file, which tensors it should hold), bad_format, bad_value, unsupported
// (only pickle checkpoints are there).
WeightFiles find_weight_files(const std::filesystem::path& folder);

// Throws Error(bad_value) unless every tensor of the index is in the file that it names.
void check_homes(const WeightFiles& files,
                 const std::map<std::string, const SafetensorsFile*, std::less<>>& opened,
                 const std::filesystem::path& folder);

} // namespace cuset
