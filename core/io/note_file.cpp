#include "core/io/note_file.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/io/companion_file.h"
#include "core/io/json_text.h"

namespace cuset {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t most_bytes = 64ull << 20;

std::string quoted(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void refuse(const std::string& what, const std::string& subject) {
    throw Error(ErrorCode::bad_format, what + "; is this a NAME.notes.json?", subject);
}

// A field of `object` that must have the type of `fallback`; `fallback` if it is not there.
Json field(const Json& object, const char* name, const Json& fallback, const std::string& subject) {
    const auto found = object.find(name);
    if (found == object.end())
        return fallback;
    if (found->type() != fallback.type())
        refuse(std::string("\"") + name + "\" is a " + found->type_name() + ", needs a "
                   + fallback.type_name(),
               subject);
    return *found;
}

SampleNote read_note(const Json& entry, const std::string& subject) {
    if (!entry.is_object() || !entry.contains("id") || !entry["id"].is_string())
        refuse("an entry of \"samples\" has no \"id\"", subject);
    SampleNote note;
    note.id = entry["id"].get<std::string>();
    note.text = field(entry, "note", "", subject).get<std::string>();
    note.quarantined = field(entry, "quarantined", false, subject).get<bool>();
    std::string tags;
    for (const Json& tag : field(entry, "tags", Json::array(), subject)) {
        if (!tag.is_string())
            refuse("a tag of sample " + note.id + " is no text", subject);
        tags += clean_tag(tag.get<std::string>()) + ',';
    }
    note.tags = split_tags(tags);
    return note;
}

Json parse(std::string_view json, const std::string& subject) {
    try {
        return parse_json_text(json).value;
    } catch (const Error& error) {
        throw Error(error.code(), error.message(), subject);
    }
}

} // namespace

std::filesystem::path note_file_for(const std::filesystem::path& data_or_scores) {
    return companion_file(data_or_scores, ".notes.json");
}

std::string write_notes(const SampleNotes& notes) {
    std::string out = "{\"format\": \"cuset-notes\", \"format_version\": 1, "
                      "\"leave_out_quarantined\": ";
    out += notes.leave_out_quarantined ? "true" : "false";
    out += ", \"samples\": [";
    bool first = true;
    for (const SampleNote& note : notes.notes) {
        out += first ? "\n" : ",\n";
        first = false;
        out += "{\"id\": " + quoted(note.id) + ", \"tags\": [";
        for (std::size_t i = 0; i < note.tags.size(); ++i)
            out += (i == 0 ? "" : ", ") + quoted(note.tags[i]);
        out += "], \"note\": " + quoted(note.text) + ", \"quarantined\": ";
        out += note.quarantined ? "true}" : "false}";
    }
    return out + "\n]}\n";
}

SampleNotes read_notes(std::string_view json, const std::string& subject) {
    const Json file = parse(json, subject);
    if (!file.is_object() || file.value("format", Json()) != "cuset-notes")
        refuse("\"format\" is not \"cuset-notes\"", subject);
    if (file.value("format_version", Json()) != 1)
        throw Error(ErrorCode::unsupported, "format_version is not 1; a newer program wrote it",
                    subject);
    SampleNotes notes;
    notes.leave_out_quarantined = field(file, "leave_out_quarantined", false, subject).get<bool>();
    for (const Json& entry : field(file, "samples", Json::array(), subject))
        notes.set(read_note(entry, subject));
    return notes;
}

SampleNotes read_note_file(const std::filesystem::path& path) {
    return read_notes(read_file(path, most_bytes), path.string());
}

void write_note_file(const std::filesystem::path& path, const SampleNotes& notes) {
    write_file_atomically(path, write_notes(notes));
}

SampleNotes find_notes(const std::filesystem::path& data_or_scores,
                       const std::filesystem::path& named) {
    if (!named.empty())
        return read_note_file(named);
    if (data_or_scores.empty() || data_or_scores == "-")
        return {};
    const std::filesystem::path beside = note_file_for(data_or_scores);
    std::error_code ignored;
    return std::filesystem::exists(beside, ignored) ? read_note_file(beside) : SampleNotes{};
}

std::shared_ptr<const ScoreSet> without_quarantined(const std::shared_ptr<const ScoreSet>& scores,
                                                    const SampleNotes& notes) {
    std::vector<std::int64_t> kept;
    for (std::int64_t n = 0; n < scores->sample_count(); ++n)
        if (!notes.leaves_out(scores->id(n)))
            kept.push_back(n);
    return static_cast<std::int64_t>(kept.size()) == scores->sample_count() ? scores
                                                                            : scores->select(kept);
}

} // namespace cuset
