#include "core/io/session_file.h"

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/io/atomic_file.h"
#include "core/io/json_text.h"

namespace cuset {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_bytes = 16ull << 20;
constexpr int format_version = 1;

// As it is written: relative if it lies below the folder.
std::string to_file(const std::string& path, const fs::path& folder) {
    if (path.empty() || !fs::path(path).is_absolute())
        return path;
    const fs::path relative = fs::path(path).lexically_relative(folder);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return below ? relative.generic_string() : path;
}

std::string from_file(const std::string& path, const fs::path& folder) {
    if (path.empty() || fs::path(path).is_absolute())
        return path;
    return (folder / path).lexically_normal().string();
}

// A model may be named org/name; a relative path begins with a point to tell it from that.
std::string model_to_file(const std::string& model, const fs::path& folder) {
    const std::string written = to_file(model, folder);
    return written == model ? written : "./" + written;
}
std::string model_from_file(const std::string& model, const fs::path& folder) {
    return model.starts_with("./") ? from_file(model, folder) : model;
}

class Reader {
public:
    Reader(const Json& object, std::string subject)
        : object_(object)
        , subject_(std::move(subject)) { }

    // The field's value, or `fallback` if it is not there. Throws for another type.
    template <class Value> Value get(const char* name, Value fallback) const {
        const auto found = object_.find(name);
        if (found == object_.end())
            return fallback;
        const bool fits = std::is_same_v<Value, bool> ? found->is_boolean()
            : std::is_integral_v<Value>               ? found->is_number_integer()
            : std::is_floating_point_v<Value>         ? found->is_number()
            : std::is_same_v<Value, std::string>      ? found->is_string()
                                                      : is_texts(*found);
        if (!fits)
            throw Error(ErrorCode::bad_format,
                        std::string("\"") + name + "\" is a " + found->type_name()
                            + ", which it cannot be; is this a session file?",
                        subject_);
        return found->template get<Value>();
    }
    Reader inside(const char* name) const {
        static const Json nothing = Json::object();
        const auto found = object_.find(name);
        return {found != object_.end() && found->is_object() ? *found : nothing, subject_};
    }

    // All fields, which must be texts.
    std::map<std::string, std::string> texts() const {
        std::map<std::string, std::string> all;
        for (const auto& [name, value] : object_.items())
            all[name] = get(name.c_str(), std::string());
        return all;
    }

private:
    static bool is_texts(const Json& list) {
        for (const Json& item : list)
            if (!item.is_string())
                return false;
        return list.is_array();
    }

    const Json& object_;
    std::string subject_;
};

MaskSettings read_settings(const Reader& reader, const std::string& subject) {
    MaskSettings s;
    s.tau = reader.get("tau", s.tau);
    s.lambda = reader.get("lambda", s.lambda);
    const auto window = reader.get<std::int64_t>("window", s.window);
    s.confidence_mask = reader.get("confidence_mask", s.confidence_mask);
    s.cuda_mask = reader.get("cuda_mask", s.cuda_mask);
    s.region_weight = reader.get("region_weight", s.region_weight);
    s.whole_if_short = reader.get("whole_if_short", s.whole_if_short);
    if (!(s.tau >= 0 && s.tau <= 1) || !(s.lambda > 0 && std::isfinite(s.lambda)) || window < 1
        || window > 1 << 24)
        throw Error(ErrorCode::bad_value,
                    "thresholds tau " + std::to_string(s.tau) + ", lambda "
                        + std::to_string(s.lambda) + ", window " + std::to_string(window)
                        + ": tau needs to be in [0, 1], lambda above 0, window 1 or more",
                    subject);
    s.window = static_cast<int>(window);
    return s;
}

ReadOptions read_options(const Reader& reader) {
    ReadOptions options;
    options.prompt_field = reader.get("prompt_field", std::string());
    options.response_field = reader.get("response_field", std::string());
    options.prompt = reader.get("prompt", std::string());
    options.dataset = reader.get("dataset", std::string());
    options.every_turn = reader.get("every_turn", false);
    options.strict = reader.get("strict", false);
    options.filters = reader.inside("filters").texts();
    return options;
}

Json write_options(const ReadOptions& options) {
    return {{"prompt_field", options.prompt_field},
            {"response_field", options.response_field},
            {"prompt", options.prompt},
            {"dataset", options.dataset},
            {"every_turn", options.every_turn},
            {"strict", options.strict},
            {"filters", Json(options.filters)}};
}

Json parse(std::string_view json, const std::string& subject) {
    Json file;
    try {
        file = parse_json_text(json).value;
    } catch (const Error& error) {
        throw Error(error.code(), error.message(), subject);
    }
    if (!file.is_object() || file.value("format", Json()) != "cuset-session")
        throw Error(ErrorCode::bad_format,
                    "\"format\" is not \"cuset-session\"; is this a session file?", subject);
    const Json version = file.value("format_version", Json());
    if (!version.is_number_integer() || version.get<std::int64_t>() != format_version)
        throw Error(ErrorCode::unsupported,
                    "format_version is not " + std::to_string(format_version)
                        + "; a newer program wrote it",
                    subject);
    return file;
}

} // namespace

std::string write_session(const SessionState& session, const fs::path& folder) {
    Json data = Json::array();
    for (const std::string& path : session.data)
        data.push_back(to_file(path, folder));
    const MaskSettings& s = session.settings;
    const Json file{{"format", "cuset-session"},
                    {"format_version", format_version},
                    {"model", model_to_file(session.model, folder)},
                    {"data", std::move(data)},
                    {"read", write_options(session.read)},
                    {"scores", to_file(session.scores, folder)},
                    {"notes", to_file(session.notes, folder)},
                    {"labels", to_file(session.labels, folder)},
                    {"thresholds",
                     {{"tau", s.tau},
                      {"lambda", s.lambda},
                      {"window", s.window},
                      {"confidence_mask", s.confidence_mask},
                      {"cuda_mask", s.cuda_mask},
                      {"region_weight", s.region_weight},
                      {"whole_if_short", s.whole_if_short}}},
                    {"objective", session.objective},
                    {"color_by", session.color_by},
                    {"color_map", session.color_map},
                    {"filter", session.filter},
                    {"kinds", session.kinds},
                    {"sample", session.sample},
                    {"token", session.token},
                    {"layout", session.layout}};
    return file.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

SessionState read_session(std::string_view json, const fs::path& path) {
    const std::string subject = path.string();
    const Json file = parse(json, subject);
    const Reader reader(file, subject);
    const fs::path folder = path.parent_path();
    SessionState session;
    session.model = model_from_file(reader.get("model", std::string()), folder);
    for (const std::string& data : reader.get("data", std::vector<std::string>()))
        session.data.push_back(from_file(data, folder));
    session.read = read_options(reader.inside("read"));
    session.scores = from_file(reader.get("scores", std::string()), folder);
    session.notes = from_file(reader.get("notes", std::string()), folder);
    session.labels = from_file(reader.get("labels", std::string()), folder);
    session.settings = read_settings(reader.inside("thresholds"), subject);
    session.objective = reader.get("objective", session.objective);
    session.color_by = reader.get("color_by", std::string());
    session.color_map = reader.get("color_map", std::string());
    session.filter = reader.get("filter", std::string());
    session.kinds = reader.get("kinds", std::vector<std::string>());
    session.sample = reader.get("sample", std::string());
    session.token = reader.get<std::int64_t>("token", -1);
    session.layout = reader.get("layout", std::string());
    return session;
}

SessionState read_session_file(const fs::path& path) {
    return read_session(read_file(path, most_bytes), fs::absolute(path));
}

void write_session_file(const fs::path& path, const SessionState& session) {
    write_file_atomically(path, write_session(session, fs::absolute(path).parent_path()));
}

} // namespace cuset
