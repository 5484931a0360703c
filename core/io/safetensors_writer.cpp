#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/atomic_file.h"
#include "core/io/checked_math.h"
#include "core/io/safetensors_file.h"

namespace cuset {
namespace {

void check_size(const NamedTensor& named, const std::string& file) {
    std::optional<std::uint64_t> needed = dtype_size(named.tensor.dtype);
    for (const std::int64_t dimension : named.tensor.shape)
        needed = needed && dimension >= 0
            ? checked_multiply(*needed, static_cast<std::uint64_t>(dimension))
            : std::nullopt;
    if (needed != named.tensor.bytes.size())
        throw Error(ErrorCode::bad_value,
                    "`" + printable(named.name) + "`: " + std::to_string(named.tensor.bytes.size())
                        + " bytes do not fit its shape and dtype",
                    file);
}

// The header as the reference implementation writes it: metadata first, no white space, padded to 8
// bytes.
std::string header_text(const std::vector<NamedTensor>& tensors,
                        const std::map<std::string, std::string>& metadata,
                        const std::string& file) {
    std::string text = "{";
    if (!metadata.empty())
        text += "\"__metadata__\":" + nlohmann::json(metadata).dump() + ",";
    std::set<std::string_view> names;
    std::uint64_t begin = 0;
    for (const NamedTensor& named : tensors) {
        check_size(named, file);
        if (named.name == "__metadata__" || !names.insert(named.name).second)
            throw Error(ErrorCode::bad_value,
                        "two tensors of the name `" + printable(named.name) + "`", file);
        const std::uint64_t end = begin + named.tensor.bytes.size();
        const nlohmann::ordered_json entry{{"dtype", dtype_name(named.tensor.dtype)},
                                           {"shape", named.tensor.shape},
                                           {"data_offsets", {begin, end}}};
        text += nlohmann::json(named.name).dump() + ":" + entry.dump() + ",";
        begin = end;
    }
    if (text.back() == ',')
        text.pop_back();
    text += '}';
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

} // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
    std::string text;
    try {
        text = header_text(tensors, metadata, path.string());
    } catch (const nlohmann::json::exception&) {
        throw Error(ErrorCode::bad_value, "a tensor name or metadata entry is not valid UTF-8",
                    path.string());
    }
    std::string length;
    for (unsigned n = 0; n < 8; ++n)
        length += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * n) & 0xff);
    std::uint64_t total = length.size() + text.size();
    for (const NamedTensor& named : tensors)
        total += named.tensor.bytes.size();
    AtomicFile file(path);
    file.reserve(total);
    file.write(length);
    file.write(text);
    for (const NamedTensor& named : tensors)
        file.write(named.tensor.bytes);
    file.commit();
}

} // namespace cuset
