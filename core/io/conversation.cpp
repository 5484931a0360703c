#include "core/io/conversation.h"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace cuset {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> role_aliases{{
    {"human", "user"},
    {"gpt", "assistant"},
    {"chatgpt", "assistant"},
    {"model", "assistant"},
    {"bot", "assistant"},
    {"function_call", "assistant"},
    {"observation", "tool"},
    {"function", "tool"},
}};

constexpr std::array<std::string_view, 4> train_flags{"train", "loss", "weight", "trainable"};

std::string usual_role(const std::string& role) {
    for (const auto& [alias, usual] : role_aliases)
        if (role == alias)
            return std::string(usual);
    return role;
}

[[noreturn]] void throw_type(std::string_view what, const json& found, std::string_view needed) {
    throw Error(ErrorCode::bad_value,
                std::string(what) + " is " + found.type_name() + ", needs " + std::string(needed));
}

const json* find_any(const json& object, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto found = object.find(name); found != object.end())
            return &*found;
    return nullptr;
}

// What data sets write beside a turn that is not to be learnt: axolotl's train, ms-swift's loss,
// Mistral's weight, TRL's and others' trainable.
bool is_trained(const json& turn) {
    for (const std::string_view name : train_flags)
        if (const auto found = turn.find(name); found != turn.end())
            if (*found == false || *found == 0)
                return false;
    return true;
}

ChatMessage read_turn(const json& turn, const std::string& what) {
    if (!turn.is_object())
        throw_type(what, turn, "an object with role and content");
    const json* role = find_any(turn, {"role", "from"});
    if (role == nullptr || !role->is_string())
        throw Error(ErrorCode::bad_value, what + " has no role");
    const json* content = find_any(turn, {"content", "value", "text"});
    ChatMessage message{usual_role(role->get<std::string>()), {}};
    if (content != nullptr)
        message.content = text_content(*content, what + ".content");

    message.trained = is_trained(turn);
    json extra = json::object();
    for (const auto& [key, value] : turn.items())
        if (&value != role && &value != content && !value.is_null()
            && std::find(train_flags.begin(), train_flags.end(), key) == train_flags.end())
            extra[key] = value;
    if (*role == "function_call")
        extra["from"] = *role; // the alias alone would hide that the text is a call
    if (!extra.empty())
        message.extra = extra.dump();
    if (content == nullptr && extra.empty())
        throw Error(ErrorCode::bad_value, what + " has no content");
    return message;
}

} // namespace

std::string text_content(const json& value, std::string_view what) {
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_null())
        return {};
    if (!value.is_array())
        throw_type(what, value, "text");
    std::string text;
    for (const json& part : value) {
        if (part.is_string()) {
            text += part.get_ref<const std::string&>();
            continue;
        }
        const json* content = part.is_object() ? find_any(part, {"text"}) : nullptr;
        if (content == nullptr || !content->is_string())
            throw Error(ErrorCode::bad_value, std::string(what) + " has a part that is not text");
        text += content->get_ref<const std::string&>();
    }
    return text;
}

std::vector<ChatMessage> read_turns(const json& list, std::string_view what) {
    if (!list.is_array())
        throw_type(what, list, "a list of messages");
    std::vector<ChatMessage> turns;
    for (std::size_t i = 0; i < list.size(); ++i)
        turns.push_back(read_turn(list[i], std::string(what) + "[" + std::to_string(i) + "]"));
    return turns;
}

void split_turns(std::vector<ChatMessage> turns, Sample& sample) {
    const auto last = std::find_if(turns.rbegin(), turns.rend(), [](const ChatMessage& turn) {
        return turn.role == "assistant" && turn.trained;
    });
    if (last == turns.rend()) {
        const bool any = std::any_of(turns.begin(), turns.end(), [](const ChatMessage& turn) {
            return turn.role == "assistant";
        });
        throw Error(ErrorCode::bad_value,
                    any ? "no response: every assistant turn is marked as not to be trained"
                        : "no response: the conversation has no assistant turn");
    }
    std::string response = std::move(last->content);
    turns.erase(std::prev(last.base()), turns.end());
    set_turns(std::move(turns), std::move(response), sample);
}

void set_turns(std::vector<ChatMessage> turns, std::string response, Sample& sample) {
    if (response.empty())
        throw Error(ErrorCode::bad_value, "no response: it is empty");
    sample.response = std::move(response);
    if (turns.size() == 1 && turns.front().role == "user" && turns.front().extra.empty()) {
        sample.prompt = std::move(turns.front().content);
        return;
    }
    for (const ChatMessage& turn : turns) {
        if (!sample.prompt.empty())
            sample.prompt += "\n\n";
        sample.prompt += turn.role + ": " + turn.content;
    }
    sample.messages = std::move(turns);
}

std::vector<Sample> every_turn(const Sample& sample) {
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < sample.messages.size(); ++i) {
        const ChatMessage& turn = sample.messages[i];
        if (turn.role != "assistant" || !turn.trained || turn.content.empty())
            continue;
        Sample one = sample;
        one.prompt.clear();
        one.messages.clear();
        const auto end = sample.messages.begin() + static_cast<std::ptrdiff_t>(i);
        set_turns({sample.messages.begin(), end}, turn.content, one);
        samples.push_back(std::move(one));
    }
    samples.push_back(sample);
    return samples;
}

} // namespace cuset
