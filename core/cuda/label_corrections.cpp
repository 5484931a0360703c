#include "core/cuda/label_corrections.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace cuset {

namespace {

using Json = nlohmann::json;

constexpr int deepest_json = 8;
constexpr std::string_view neutral_name = "neutral";

std::optional<SensitiveKind> read_kind(const std::string& name, const std::string& subject) {
    if (name == neutral_name)
        return std::nullopt;
    const auto found = std::find(sensitive_kind_names.begin(), sensitive_kind_names.end(), name);
    if (found == sensitive_kind_names.end())
        throw Error(
            ErrorCode::bad_value,
            "kind \"" + name.substr(0, 60)
                + "\" is unknown, needs neutral or one of the eight kinds, e.g. memory_access",
            subject);
    return static_cast<SensitiveKind>(found - sensitive_kind_names.begin());
}

std::int32_t read_offset(const Json& value, const std::string& subject) {
    if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::bad_value, "begin and end need to be byte offsets from 0", subject);
    return value.get<std::int32_t>();
}

const Json& member(const Json& object, const char* name, const std::string& subject) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (!object.is_object() || found == object.end())
        throw Error(ErrorCode::bad_format,
                    std::string("field \"") + name + "\" is missing; is this a NAME.labels.json?",
                    subject);
    return *found;
}

Json parse(std::string_view json, const std::string& subject) {
    try {
        const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
            if (depth > deepest_json)
                throw Error(ErrorCode::bad_format, "nested too deeply for label corrections",
                            subject);
            return true;
        };
        return Json::parse(json, shallow);
    } catch (const Json::parse_error& error) {
        throw Error(ErrorCode::bad_format,
                    error.byte > json.size() ? std::string("JSON ends before it is complete")
                                             : "is no JSON at byte " + std::to_string(error.byte),
                    subject);
    } catch (const Json::exception&) {
        throw Error(ErrorCode::bad_format, "holds a number that is out of range", subject);
    }
}

} // namespace

void apply_corrections(std::span<const LabelCorrection> corrections, std::string_view id,
                       std::span<const ByteSpan> spans, std::span<LabelBits> labels) {
    for (const LabelCorrection& correction : corrections) {
        if (correction.sample_id != id)
            continue;
        for (std::size_t t = 0; t < spans.size(); ++t) {
            if (!spans[t].overlaps(correction.span))
                continue;
            LabelBits& bits = labels[t];
            bits = static_cast<LabelBits>(bits & kernel_bit);
            if (correction.kind)
                bits = static_cast<LabelBits>(bits | kind_bit(*correction.kind));
            if (correction.kind == SensitiveKind::launch_config)
                bits = static_cast<LabelBits>(bits | launch_bit);
        }
    }
}

std::string write_corrections(std::span<const LabelCorrection> corrections) {
    std::string out = "{\"format\": \"cuset-labels\", \"format_version\": 1, \"corrections\": [";
    bool first = true;
    for (const LabelCorrection& correction : corrections) {
        const std::string_view kind = correction.kind
            ? sensitive_kind_names[static_cast<std::size_t>(*correction.kind)]
            : neutral_name;
        const Json id = correction.sample_id;
        out += first ? "\n" : ",\n";
        out += "{\"id\": " + id.dump(-1, ' ', false, Json::error_handler_t::replace);
        out += ", \"begin\": " + std::to_string(correction.span.begin)
            + ", \"end\": " + std::to_string(correction.span.end);
        out += ", \"kind\": \"" + std::string(kind) + "\"}";
        first = false;
    }
    return out + "\n]}\n";
}

std::vector<LabelCorrection> read_corrections(std::string_view json, const std::string& subject) {
    const Json file = parse(json, subject);
    if (member(file, "format", subject) != "cuset-labels")
        throw Error(ErrorCode::bad_format,
                    "format is not \"cuset-labels\"; is this a NAME.labels.json?", subject);
    if (member(file, "format_version", subject) != 1)
        throw Error(ErrorCode::unsupported, "format_version is not 1; a newer program wrote it",
                    subject);
    const Json& list = member(file, "corrections", subject);
    if (!list.is_array())
        throw Error(ErrorCode::bad_format, "\"corrections\" is no list", subject);
    std::vector<LabelCorrection> corrections;
    for (const Json& entry : list) {
        LabelCorrection correction;
        const Json& id = member(entry, "id", subject);
        const Json& kind = member(entry, "kind", subject);
        if (!id.is_string() || !kind.is_string())
            throw Error(ErrorCode::bad_format, "\"id\" and \"kind\" need to be strings", subject);
        correction.sample_id = id.get<std::string>();
        correction.span = {read_offset(member(entry, "begin", subject), subject),
                           read_offset(member(entry, "end", subject), subject)};
        correction.kind = read_kind(kind.get<std::string>(), subject);
        if (correction.span.empty())
            throw Error(ErrorCode::bad_value,
                        "correction of sample " + correction.sample_id + " ends before it begins",
                        subject);
        corrections.push_back(std::move(correction));
    }
    return corrections;
}

} // namespace cuset
