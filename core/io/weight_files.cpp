#include "core/io/weight_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/model_path.h"
#include "core/io/shard_index.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;

constexpr const char* index_name = "model.safetensors.index.json";
constexpr const char* single_name = "model.safetensors";
constexpr std::uint64_t max_index_bytes = std::uint64_t{64} << 20; // the largest models' have 9 MB

// Files that models carry beside their weights.
bool is_model_weights(const std::string& name) {
    return !name.starts_with("adapter_") && !name.starts_with("optimizer")
        && !name.starts_with("consolidated");
}

// The n of NAME-0000k-of-0000n.safetensors, or 0.
std::size_t shard_count(const std::string& name) {
    const std::size_t of = name.rfind("-of-");
    const std::size_t end = name.size() - std::string_view(".safetensors").size();
    std::size_t count = 0;
    if (of == std::string::npos || of < 6 || name[of - 6] != '-' || of + 4 >= end)
        return 0;
    const auto [stop, error] = std::from_chars(name.data() + of + 4, name.data() + end, count);
    return error == std::errc() && stop == name.data() + end ? count : 0;
}

// NAME-00002-of-00003.safetensors from another shard's name.
std::string shard_name(const std::string& like, std::size_t number) {
    const std::size_t of = like.rfind("-of-");
    const std::string digits = std::to_string(number);
    std::string name = like;
    name.replace(of - 5, 5, std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits);
    return name;
}

// The first name of a full numbered set that is not in `names`, or "" if all are, or nothing if
// they are no set.
std::optional<std::string> first_missing(const std::vector<std::string>& names) {
    const std::size_t count = names.empty() ? 0 : shard_count(names.front());
    if (count == 0 || count > 99999)
        return std::nullopt;
    for (const std::string& name : names) {
        if (shard_count(name) != count || shard_name(name, 1) != shard_name(names.front(), 1))
            return std::nullopt;
    }
    if (names.size() > count)
        return std::nullopt;
    for (std::size_t n = 1; n <= count; ++n) {
        if (std::string name = shard_name(names.front(), n);
            !std::ranges::binary_search(names, name))
            return name;
    }
    return std::string();
}

[[noreturn]] void throw_no_weights(const fs::path& folder, const std::vector<std::string>& others) {
    std::string found;
    for (const std::string& name : others)
        found += (found.empty() ? "" : ", ") + printable(name, 80);
    const std::vector<std::string> pickles =
        files_ending_with(folder, {".bin", ".pt", ".pth", ".ckpt", ".bin.index.json"});
    if (others.empty() && !pickles.empty())
        throw Error(ErrorCode::unsupported, pickle_refusal(pickles.front(), folder),
                    folder.string());
    const std::vector<std::string> ggufs = gguf_models_in(folder);
    throw Error(ErrorCode::not_found,
                "no weights in it: needs model.safetensors, or shards with "
                    + std::string(index_name)
                    + (found.empty() ? "" : "; it holds " + printable(found, 300))
                    + (ggufs.empty()
                           ? ""
                           : "; it holds " + printable(ggufs.front()) + ", open that file instead"),
                folder.string());
}

[[noreturn]] void throw_missing_shard(const fs::path& folder, const std::string& shard,
                                      const std::vector<std::string>& tensors, std::size_t missing,
                                      std::size_t count) {
    std::string text = "is not there";
    if (!tensors.empty()) {
        constexpr std::size_t shown = 4;
        text += "; " + std::string(index_name) + " says it holds "
            + format_count(static_cast<std::int64_t>(tensors.size())) + " tensors: ";
        for (std::size_t n = 0; n < std::min(shown, tensors.size()); ++n)
            text += (n == 0 ? "" : ", ") + printable(tensors[n], 120);
        text += tensors.size() > shown ? ", ..." : "";
    }
    text += " (" + std::to_string(missing) + " of " + std::to_string(count)
        + " shards are missing: an incomplete download?)";
    throw Error(ErrorCode::not_found, text, (folder / shard).string());
}

std::vector<std::string> weight_names(const fs::path& folder) {
    std::vector<std::string> names = files_ending_with(folder, {".safetensors"});
    std::erase_if(names, [](const std::string& name) { return !is_model_weights(name); });
    return names;
}

WeightFiles without_index(const fs::path& folder) {
    WeightFiles files;
    files.names = weight_names(folder);
    const std::optional<std::string> missing = first_missing(files.names);
    if (missing && !missing->empty())
        throw_missing_shard(folder, *missing, {},
                            shard_count(files.names.front()) - files.names.size(),
                            shard_count(files.names.front()));
    if (missing)
        files.warnings.push_back("no " + std::string(index_name)
                                 + "; the shards were found by their names");
    else if (files.names.size() == 1)
        files.warnings.push_back("no model.safetensors; " + printable(files.names.front())
                                 + " was taken for it");
    else
        throw_no_weights(folder, files.names);
    return files;
}

// The index and the shards it names. A stale index (none of its shards there, another full set is)
// is set aside.
WeightFiles with_index(const fs::path& folder, const fs::path& index) {
    WeightFiles files;
    files.homes = parse_shard_index(read_file(index, max_index_bytes), index.string());
    std::map<std::string, std::vector<std::string>> by_shard;
    for (const auto& [tensor, shard] : files.homes)
        by_shard[shard].push_back(tensor);
    std::vector<std::string> missing;
    for (const auto& [shard, tensors] : by_shard) {
        std::error_code error;
        if (fs::exists(folder / shard, error) && find_model_file(folder, shard))
            files.names.push_back(shard);
        else
            missing.push_back(shard);
    }
    if (missing.empty())
        return files;
    if (files.names.empty() && first_missing(weight_names(folder)) == std::string()) {
        WeightFiles others = without_index(folder);
        others.warnings = {std::string(index_name) + " does not belong to these weights: it names "
                           + printable(missing.front()) + " and "
                           + std::to_string(missing.size() - 1)
                           + " more, none of which is there; the shards that are there were "
                             "loaded without it"};
        return others;
    }
    throw_missing_shard(folder, missing.front(), by_shard[missing.front()], missing.size(),
                        by_shard.size());
}

} // namespace

WeightFiles find_weight_files(const fs::path& folder) {
    const std::optional<fs::path> index = find_model_file(folder, index_name);
    if (find_model_file(folder, single_name)) {
        WeightFiles files{{single_name}, {}, {}};
        if (index)
            files.warnings.push_back(std::string(single_name) + " was loaded; "
                                     + std::string(index_name) + " beside it was not used");
        return files;
    }
    return index ? with_index(folder, *index) : without_index(folder);
}

void check_homes(const WeightFiles& files,
                 const std::map<std::string, const SafetensorsFile*, std::less<>>& opened,
                 const fs::path& folder) {
    for (const auto& [tensor, shard] : files.homes) {
        if (opened.find(shard)->second->find_tensor(tensor) != nullptr)
            continue;
        std::string where = "in none of the shards";
        for (const auto& [name, file] : opened) {
            if (file->find_tensor(tensor) != nullptr)
                where = "in " + printable(name);
        }
        throw Error(ErrorCode::bad_value,
                    "`" + printable(tensor) + "` is not in " + printable(shard)
                        + ", where it says, but " + where
                        + " (the index does not belong to these files: download them together)",
                    (folder / index_name).string());
    }
}

} // namespace cuset
