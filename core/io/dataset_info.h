// LlamaFactory's dataset_info.json: a file that names data files and says which of their fields
// mean what.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace cuset {

// How the records of one data set are spelt.
struct ColumnMap {
    bool conversations = false; // "formatting": "sharegpt"; else alpaca
    std::map<std::string, std::string> columns; // prompt, query, response, ... -> field
    std::map<std::string, std::string> tags; // role_tag, content_tag, user_tag, ... -> word

    // The record with the usual field names: instruction, input, output, history, system, tools, or
    // conversations of {from, value}. Other fields stay.
    nlohmann::json apply(const nlohmann::json& record) const;
};

struct NamedDataset {
    std::string name;
    std::filesystem::path path; // the file or folder, relative names taken from the info's folder
    ColumnMap map;
};

// True for the content of such a file: an object of objects that say where their data is.
bool is_dataset_info(const nlohmann::json& document);

// The data sets in `document` that are local files: the one named `wanted`, or all for "". Others
// (hub, script, cloud) go to `left_out` by name. Throws Error: bad_value (a field of another type
// than needed), not_found (no data set of that name, or none that is local).
std::vector<NamedDataset> read_dataset_info(const nlohmann::json& document,
                                            const std::filesystem::path& file,
                                            std::string_view wanted,
                                            std::vector<std::string>& left_out);

} // namespace cuset
