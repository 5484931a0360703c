#include "core/io/dataset_info.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

using nlohmann::json;

// LlamaFactory's names and their defaults (data/README.md there), to ours.
struct ColumnName {
    const char* key;
    const char* usual;
    const char* ours;
};
constexpr std::array<ColumnName, 6> alpaca_columns{{
    {"prompt", "instruction", "instruction"},
    {"query", "input", "input"},
    {"response", "output", "output"},
    {"history", "history", "history"},
    {"system", "system", "system"},
    {"tools", "tools", "tools"},
}};
constexpr std::array<ColumnName, 3> conversation_columns{{
    {"messages", "conversations", "conversations"},
    {"system", "system", "system"},
    {"tools", "tools", "tools"},
}};
constexpr std::array<ColumnName, 5> role_tags{{
    {"user_tag", "human", "human"},
    {"assistant_tag", "gpt", "gpt"},
    {"system_tag", "system", "system"},
    {"observation_tag", "observation", "observation"},
    {"function_tag", "function_call", "function_call"},
}};

std::string named(const std::map<std::string, std::string>& names, const char* key,
                  const char* usual) {
    const auto found = names.find(key);
    return found == names.end() ? usual : found->second;
}

std::map<std::string, std::string> texts(const json& entry, const char* key,
                                         const std::string& subject) {
    std::map<std::string, std::string> out;
    const auto found = entry.find(key);
    if (found == entry.end() || found->is_null())
        return out;
    if (!found->is_object())
        throw Error(ErrorCode::bad_value,
                    std::string(key) + " is " + found->type_name() + ", needs an object", subject);
    for (const auto& [name, value] : found->items()) {
        if (value.is_null())
            continue;
        if (!value.is_string())
            throw Error(ErrorCode::bad_value,
                        std::string(key) + "." + printable(name, 40) + " is " + value.type_name()
                            + ", needs text",
                        subject);
        out[name] = value.get<std::string>();
    }
    return out;
}

json renamed_turn(const json& turn, const std::map<std::string, std::string>& tags) {
    const auto role = turn.is_object() ? turn.find(named(tags, "role_tag", "from")) : turn.end();
    const auto content =
        turn.is_object() ? turn.find(named(tags, "content_tag", "value")) : turn.end();
    if (!turn.is_object() || role == turn.end() || content == turn.end())
        return turn; // the reader of conversations says what is wrong with it
    json out = {{"from", *role}, {"value", *content}};
    for (const ColumnName& tag : role_tags)
        if (*role == named(tags, tag.key, tag.usual))
            out["from"] = tag.ours;
    return out;
}

ColumnMap column_map(const json& entry, const std::string& subject) {
    ColumnMap map;
    const auto formatting = entry.find("formatting");
    if (formatting != entry.end() && *formatting != "alpaca" && *formatting != "sharegpt")
        throw Error(ErrorCode::bad_value,
                    "formatting is " + printable(formatting->dump(), 40)
                        + ", needs \"alpaca\" or \"sharegpt\"",
                    subject);
    map.conversations = formatting != entry.end() && *formatting == "sharegpt";
    map.columns = texts(entry, "columns", subject);
    map.tags = texts(entry, "tags", subject);
    return map;
}

} // namespace

json ColumnMap::apply(const json& record) const {
    if (!record.is_object())
        return record;
    json out = record;
    const auto rename = [&](const ColumnName& column) {
        const std::string field = named(columns, column.key, column.usual);
        const auto found = record.find(field);
        if (field == column.ours || found == record.end())
            return;
        out.erase(field);
        out[column.ours] = *found;
    };
    if (!conversations) {
        std::for_each(alpaca_columns.begin(), alpaca_columns.end(), rename);
        return out;
    }
    std::for_each(conversation_columns.begin(), conversation_columns.end(), rename);
    if (const auto turns = out.find("conversations"); turns != out.end() && turns->is_array())
        for (json& turn : *turns)
            turn = renamed_turn(turn, tags);
    return out;
}

bool is_dataset_info(const json& document) {
    return document.is_object() && !document.empty()
        && std::all_of(document.begin(), document.end(), [](const json& entry) {
               return entry.is_object()
                   && (entry.contains("file_name") || entry.contains("hf_hub_url")
                       || entry.contains("ms_hub_url") || entry.contains("om_hub_url")
                       || entry.contains("script_url") || entry.contains("cloud_file_name"));
           });
}

std::vector<NamedDataset> read_dataset_info(const json& document, const std::filesystem::path& file,
                                            std::string_view wanted,
                                            std::vector<std::string>& left_out) {
    std::vector<NamedDataset> found;
    std::string names;
    for (const auto& [name, entry] : document.items()) {
        names += (names.empty() ? "" : ", ") + printable(name, 60);
        if (!wanted.empty() && name != wanted)
            continue;
        const std::string subject = file.string() + ": " + printable(name, 60);
        const auto path = entry.find("file_name");
        if (path == entry.end()) {
            left_out.push_back(name);
            continue;
        }
        if (!path->is_string())
            throw Error(ErrorCode::bad_value,
                        std::string("file_name is ") + path->type_name() + ", needs text", subject);
        found.push_back(
            {name, file.parent_path() / path->get<std::string>(), column_map(entry, subject)});
    }
    if (found.empty())
        throw Error(ErrorCode::not_found,
                    (wanted.empty() ? std::string("names no local data file (file_name)")
                                    : "has no local data set \"" + printable(wanted, 60) + "\"")
                        + "; it names " + printable(names, 400),
                    file.string());
    return found;
}

} // namespace cuset
