#include "core/text/json_access.h"

namespace cuset::text {
namespace {

constexpr int depth_limit = 64;

// Depth of nesting, counted outside of strings; the parser checks the rest of the grammar.
bool is_deeper_than_limit(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char c = text[k];
        if (in_string) {
            if (c == '\\')
                ++k;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > depth_limit)
                return true;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return false;
}

const Json& null_json() {
    static const Json null;
    return null;
}

} // namespace

Node Node::member(const char* name) const {
    expect_object();
    const auto at = value_->find(name);
    const std::string path = path_.empty() ? name : path_ + "." + name;
    return {at == value_->end() ? null_json() : *at, path, *subject_};
}

Node Node::require_object(const char* name) const {
    Node node = member(name);
    node.expect_object();
    return node;
}

Node Node::require_array(const char* name) const {
    Node node = member(name);
    if (!node.json().is_array())
        node.fail(ErrorCode::bad_format,
                  std::string("is ") + node.json().type_name() + ", needs an array");
    return node;
}

Node Node::element(std::size_t index) const {
    return {(*value_)[index], path_ + "[" + std::to_string(index) + "]", *subject_};
}

void Node::expect_object() const {
    if (!value_->is_object())
        fail(ErrorCode::bad_format, std::string("is ") + value_->type_name() + ", needs an object");
}

std::string Node::string(const char* name) const {
    const Node node = member(name);
    if (!node.json().is_string())
        node.fail(ErrorCode::bad_format,
                  std::string("is ") + node.json().type_name() + ", needs a string");
    return node.json().get<std::string>();
}

std::string Node::string(const char* name, std::string fallback) const {
    return member(name).json().is_null() ? fallback : string(name);
}

bool Node::boolean(const char* name, bool fallback) const {
    const Node node = member(name);
    if (node.json().is_null())
        return fallback;
    if (!node.json().is_boolean())
        node.fail(ErrorCode::bad_format,
                  std::string("is ") + node.json().type_name() + ", needs true or false");
    return node.json().get<bool>();
}

std::int64_t Node::integer(const char* name) const {
    const Node node = member(name);
    if (!node.json().is_number_integer()
        || (node.json().is_number_unsigned() && node.json().get<std::uint64_t>() > INT64_MAX))
        node.fail(ErrorCode::bad_format,
                  "is " + node.json().dump().substr(0, 40) + ", needs a whole number");
    return node.json().get<std::int64_t>();
}

std::int64_t Node::integer(const char* name, std::int64_t fallback) const {
    return member(name).json().is_null() ? fallback : integer(name);
}

void Node::fail(ErrorCode code, const std::string& message) const {
    throw Error(code, (path_.empty() ? "the file" : path_) + " " + message, *subject_);
}

Json parse_json(std::string_view text, const std::string& subject) {
    if (is_deeper_than_limit(text))
        throw Error(ErrorCode::limit,
                    "nested deeper than " + std::to_string(depth_limit) + " levels", subject);
    try {
        return Json::parse(text.begin(), text.end());
    } catch (const Json::parse_error& error) {
        throw Error(ErrorCode::bad_format,
                    error.byte > text.size() ? std::string("JSON ends before it is complete")
                                             : "is not JSON at byte " + std::to_string(error.byte),
                    subject);
    } catch (const Json::exception&) {
        throw Error(ErrorCode::bad_format, "holds a number that is out of range", subject);
    }
}

} // namespace cuset::text
