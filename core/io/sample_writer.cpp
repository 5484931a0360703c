#include "core/io/sample_writer.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/io/atomic_file.h"

namespace cuset {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint64_t size_limit = std::uint64_t{1} << 30;

std::string id_of(const Sample& sample) {
    if (!sample.id.empty())
        return sample.id;
    Sha256 sha;
    sha.update(sample.prompt);
    sha.update("\n");
    sha.update(sample.response);
    return "generated-" + sha.hex_digest().substr(0, 8);
}

Json record_of(const Sample& sample, const std::string& id) {
    if (sample.messages.empty())
        return {{"id", id}, {"prompt", sample.prompt}, {"response", sample.response}};
    Json messages = Json::array();
    for (const ChatMessage& message : sample.messages) {
        Json turn =
            message.extra.empty() ? Json::object() : Json::parse(message.extra, nullptr, false);
        if (!turn.is_object())
            turn = Json::object();
        turn["role"] = message.role;
        turn["content"] = message.content;
        messages.push_back(std::move(turn));
    }
    messages.push_back({{"role", "assistant"}, {"content", sample.response}});
    Json record{{"id", id}, {"messages", std::move(messages)}};
    if (const Json tools = Json::parse(sample.tools, nullptr, false); tools.is_array())
        record["tools"] = tools;
    return record;
}

// True if a line of `text` is a record with that id.
bool holds_id(const std::string& text, const std::string& id) {
    for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id, at + 1)) {
        const std::size_t begin = text.rfind('\n', at) + 1; // npos + 1 is 0
        const std::string line = text.substr(begin, text.find('\n', at) - begin);
        const Json record = Json::parse(line, nullptr, false);
        if (record.is_object() && record.value("id", Json()) == Json(id))
            return true;
    }
    return false;
}

} // namespace

std::string append_sample(const std::filesystem::path& path, const Sample& sample) {
    if (path.extension() != ".jsonl")
        throw Error(ErrorCode::usage, "is not a JSON Lines file: its name must end in .jsonl",
                    path.string());
    std::error_code missing;
    std::string text = std::filesystem::exists(path, missing) ? read_file(path, size_limit) : "";
    const std::string id = id_of(sample);
    if (holds_id(text, id))
        throw Error(ErrorCode::bad_value,
                    "already holds a sample with the id '" + printable(id, 80) + "'",
                    path.string());
    if (!text.empty() && text.back() != '\n')
        text += '\n';
    text += record_of(sample, id).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    write_file_atomically(path, text);
    return id;
}

} // namespace cuset
