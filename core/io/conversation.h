// Turns of a conversation in the spellings of data sets: OpenAI's messages, ShareGPT's
// conversations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/data/sample.h"

namespace cuset {

// The text of a field: a string, null (""), or a list of text parts. `what` names it in messages.
// Throws Error(bad_value) for anything else, also for parts that are not text.
std::string text_content(const nlohmann::json& value, std::string_view what);

// The turns of a list of messages: {role, content} or {from, value}; human becomes user; gpt and
// function_call assistant; observation and function tool. Throws Error(bad_value).
std::vector<ChatMessage> read_turns(const nlohmann::json& list, std::string_view what);

// Makes the last assistant turn that is to be trained the sample's response and the turns before it
// its messages and prompt. One plain user turn needs no messages. Throws Error(bad_value) if there
// is no assistant such turn or it is empty.
void split_turns(std::vector<ChatMessage> turns, Sample& sample);

// The conversation of `sample`, in which split_turns chose the last turn, as a sample for each
// assistant turn that is to be trained and says something, in order. A conversation whose last such
// turn is empty has no such choice: it is a bad record, as without this.
std::vector<Sample> every_turn(const Sample& sample);

// The same with the response given: all `turns` stand before it.
void set_turns(std::vector<ChatMessage> turns, std::string response, Sample& sample);

} // namespace cuset
