#include "core/io/record_recognition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/conversation.h"
#include "core/io/json_text.h"

namespace cuset {
namespace {

using nlohmann::json;

struct FieldPair {
    const char* prompt;
    const char* response;
};

// Most specific first. Sources: TRL (prompt, completion), CUDA-L1, the CUDA engineer archives,
// HPC-Instruct, CUDABench, question-answer sets.
constexpr std::array<FieldPair, 11> known_pairs{{
    {"prompt", "response"},
    {"prompt", "completion"},
    {"prompt", "answer"},
    {"PyTorch_Code_Module", "CUDA_Code"},
    {"ref_code", "custom_code"},
    {"problem statement", "solution"},
    {"level1_prompt", "bench.cu"},
    {"task_description", "bench.cu"},
    {"question", "answer"},
    {"question", "response"},
    {"query", "response"},
}};
constexpr std::array<const char*, 3> response_only{"cuda_source", "CUDA_Code", "text"};
constexpr std::array<const char*, 2> turn_lists{"messages", "conversations"};

// The field with that very name; else, for a name with dots, the one that it leads to through
// objects.
const json* find_field(const json& record, const std::string& name) {
    if (const auto found = record.find(name); found != record.end())
        return &*found;
    const json* at = &record;
    std::size_t begin = 0;
    while (begin <= name.size()) {
        const std::size_t dot = std::min(name.find('.', begin), name.size());
        const auto found = at->is_object() ? at->find(name.substr(begin, dot - begin)) : at->end();
        if (!at->is_object() || found == at->end())
            return nullptr;
        at = &*found;
        begin = dot + 1;
    }
    return at;
}

// The field, unless it is absent or null.
const json* find_value(const json& record, const char* name) {
    const auto found = record.find(name);
    return found == record.end() || found->is_null() ? nullptr : &*found;
}

std::string field_names(const json& record) {
    std::string names;
    for (const auto& [name, value] : record.items())
        names += (names.empty() ? "" : ", ") + printable(name, 60);
    return names.empty() ? "no field" : printable(names, 400);
}

// CSV holds lists as their JSON text. Throws Error(bad_format) if the text is none.
json as_list(const json& value) {
    return value.is_string() ? parse_json_text(value.get_ref<const std::string&>()).value : value;
}

bool is_turn_list(const json& value) {
    return value.is_array() && !value.empty() && value.front().is_object()
        && (value.front().contains("role") || value.front().contains("from"));
}

// A prompt's turns: a list of messages, or one user turn.
std::vector<ChatMessage> prompt_turns(const json& value, std::string_view name) {
    if (is_turn_list(value))
        return read_turns(value, name);
    std::string text = text_content(value, name);
    if (text.empty())
        return {};
    return {{"user", std::move(text)}};
}

// Puts the record's system text before turns that have none.
void add_system(const json& record, std::vector<ChatMessage>& turns) {
    const json* system = find_value(record, "system");
    if (system == nullptr || !system->is_string() || system->get_ref<const std::string&>().empty())
        return;
    if (turns.empty() || turns.front().role != "system")
        turns.insert(turns.begin(), ChatMessage{"system", system->get<std::string>()});
}

void read_tools(const json& record, Sample& sample) {
    const json* tools = find_value(record, "tools");
    if (tools == nullptr)
        return;
    if (tools->is_array() && !tools->empty())
        sample.tools = tools->dump();
    else if (tools->is_string() && tools->get_ref<const std::string&>().starts_with('['))
        sample.tools = tools->get<std::string>();
}

void set_response(std::vector<ChatMessage> turns, const json& response, std::string_view name,
                  const json& record, Sample& sample) {
    add_system(record, turns);
    if (is_turn_list(response)) {
        std::vector<ChatMessage> rest = read_turns(response, name);
        std::move(rest.begin(), rest.end(), std::back_inserter(turns));
        return split_turns(std::move(turns), sample);
    }
    if (response.is_null())
        throw Error(ErrorCode::bad_value, "no response: " + printable(name, 60) + " is null");
    set_turns(std::move(turns), text_content(response, name), sample);
}

// instruction, input, output, system, history = [[user, assistant], ...].
bool read_alpaca(const json& record, Sample& sample) {
    const json* instruction = find_value(record, "instruction");
    const auto output = record.find("output");
    if (instruction == nullptr || output == record.end())
        return false;
    std::vector<ChatMessage> turns;
    if (const json* history = find_value(record, "history")) {
        const json list = as_list(*history);
        if (!list.is_array())
            throw Error(ErrorCode::bad_value, "history is not a list of [user, assistant] pairs");
        for (const json& pair : list) {
            if (!pair.is_array() || pair.size() != 2)
                throw Error(ErrorCode::bad_value,
                            "history is not a list of [user, assistant] pairs");
            turns.push_back({"user", text_content(pair[0], "history")});
            turns.push_back({"assistant", text_content(pair[1], "history")});
        }
    }
    std::string prompt = text_content(*instruction, "instruction");
    if (const json* input = find_value(record, "input"))
        if (const std::string text = text_content(*input, "input"); !text.empty())
            prompt += (prompt.empty() ? "" : "\n") + text;
    turns.push_back({"user", std::move(prompt)});
    set_response(std::move(turns), *output, "output", record, sample);
    return true;
}

bool read_conversation(const json& record, Sample& sample) {
    for (const char* name : turn_lists) {
        const json* value = find_value(record, name);
        if (value == nullptr)
            continue;
        std::vector<ChatMessage> turns = read_turns(as_list(*value), name);
        add_system(record, turns);
        split_turns(std::move(turns), sample);
        return true;
    }
    return false;
}

bool read_pair(const json& record, const FieldPair& pair, Sample& sample) {
    const auto response = record.find(pair.response);
    if (!record.contains(pair.prompt) || response == record.end())
        return false;
    set_response(prompt_turns(record[pair.prompt], pair.prompt), *response, pair.response, record,
                 sample);
    return true;
}

std::int32_t token_id(const json& value, std::string_view what) {
    if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<std::int32_t>::max())
        throw Error(ErrorCode::bad_value,
                    std::string(what) + " must hold integers from 0 to 2147483647");
    return value.get<std::int32_t>();
}

// {"ids", "prompt_tokens", "cuda"}: used as they stand.
bool read_prepared(const json& record, Sample& sample) {
    const json* ids = find_value(record, "ids");
    const json* prompt_tokens = find_value(record, "prompt_tokens");
    if (ids == nullptr || prompt_tokens == nullptr)
        return false;
    const json* cuda = find_value(record, "cuda");
    if (!ids->is_array() || cuda == nullptr || !cuda->is_array())
        throw Error(ErrorCode::bad_value, "ids and cuda must be lists of integers");
    PreparedIds& prepared = sample.prepared;
    for (const json& id : *ids)
        prepared.ids.push_back(token_id(id, "ids"));
    prepared.prompt_tokens = token_id(*prompt_tokens, "prompt_tokens");
    const std::size_t begin = static_cast<std::size_t>(prepared.prompt_tokens);
    if (begin >= prepared.ids.size())
        throw Error(ErrorCode::bad_value,
                    "no response: prompt_tokens is " + std::to_string(begin) + " of "
                        + std::to_string(prepared.ids.size()) + " ids");
    if (cuda->size() != prepared.ids.size() - begin)
        throw Error(ErrorCode::bad_value,
                    "cuda has " + std::to_string(cuda->size()) + " flags, needs one for each of "
                        + std::to_string(prepared.ids.size() - begin) + " response tokens");
    for (const json& flag : *cuda) {
        const bool on = flag == 1 || flag == true;
        if (!on && flag != 0 && flag != false)
            throw Error(ErrorCode::bad_value, "cuda must hold 0 or 1 only");
        prepared.cuda.push_back(on ? 1 : 0);
    }
    for (const auto& [name, text] :
         {std::pair{"prompt", &sample.prompt}, std::pair{"response", &sample.response}})
        if (const json* value = find_value(record, name); value != nullptr && value->is_string())
            *text = value->get<std::string>();
    return true;
}

// {"input_ids", "labels"} as trainers store them: -100 where a token is not trained, the labels not
// shifted. attention_mask 0 marks padding.
bool read_labelled_ids(const json& record, Sample& sample) {
    constexpr int ignored = -100;
    const json* ids = find_value(record, "input_ids");
    const json* labels = find_value(record, "labels");
    if (ids == nullptr || labels == nullptr)
        return false;
    if (!ids->is_array() || !labels->is_array() || ids->size() != labels->size())
        throw Error(ErrorCode::bad_value, "input_ids and labels must be lists of the same length");
    const json* mask = find_value(record, "attention_mask");
    if (mask != nullptr && (!mask->is_array() || mask->size() != ids->size()))
        throw Error(ErrorCode::bad_value, "attention_mask must be as long as input_ids");
    PreparedIds& prepared = sample.prepared;
    std::vector<std::int32_t> trained; // positions
    for (std::size_t i = 0; i < ids->size(); ++i) {
        if (mask != nullptr && (*mask)[i] == 0)
            continue;
        const std::int32_t id = token_id((*ids)[i], "input_ids");
        if ((*labels)[i] != ignored) {
            if ((*labels)[i] != id)
                throw Error(ErrorCode::bad_value,
                            "labels[" + std::to_string(i) + "] is " + (*labels)[i].dump()
                                + ", needs -100 or input_ids[" + std::to_string(i)
                                + "] = " + std::to_string(id) + ": labels must not be shifted");
            trained.push_back(static_cast<std::int32_t>(prepared.ids.size()));
        }
        prepared.ids.push_back(id);
    }
    if (trained.empty() || trained.front() == 0)
        throw Error(ErrorCode::bad_value,
                    trained.empty() ? "no response: every label is -100"
                                    : "no prompt: the first label is not -100, and a first token "
                                      "has no probability");
    prepared.prompt_tokens = trained.front();
    prepared.ids.resize(static_cast<std::size_t>(trained.back()) + 1);
    if (trained.back() - trained.front() + 1 != static_cast<std::int32_t>(trained.size()))
        for (const std::int32_t position : trained)
            prepared.rows.push_back(position - trained.front());
    return true;
}

// axolotl's segments = [{label, text}], already rendered: texts that are not learnt, then texts
// that are.
bool read_segments(const json& record, Sample& sample) {
    const json* segments = find_value(record, "segments");
    if (segments == nullptr)
        return false;
    if (!segments->is_array())
        throw Error(ErrorCode::bad_value, "segments is not a list of {label, text}");
    bool answering = false;
    for (const json& segment : *segments) {
        const auto text = segment.is_object() ? segment.find("text") : segment.end();
        const auto label = segment.is_object() ? segment.find("label") : segment.end();
        if (!segment.is_object() || text == segment.end() || !text->is_string()
            || label == segment.end() || !label->is_boolean())
            throw Error(ErrorCode::bad_value, "segments is not a list of {label, text}");
        if (answering && *label == false)
            throw Error(ErrorCode::bad_value,
                        "segments: a text that is not learnt comes after one that is");
        answering = answering || *label == true;
        (answering ? sample.response : sample.prompt) += text->get_ref<const std::string&>();
    }
    if (sample.response.empty())
        throw Error(ErrorCode::bad_value, "no response: no segment is learnt");
    sample.rendered = true;
    return true;
}

const json& require_field(const json& record, const std::string& name) {
    if (const json* found = find_field(record, name))
        return *found;
    throw Error(ErrorCode::bad_value,
                "has no field \"" + printable(name, 60) + "\"; has " + field_names(record));
}

// With --response-field alone the prompt is what it would be without; with --prompt-field alone the
// response.
void read_named(const json& record, const ReadOptions& options, Sample& sample) {
    const json* prompt = nullptr;
    if (!options.prompt_field.empty())
        prompt = &require_field(record, options.prompt_field);
    const json* response = nullptr;
    if (!options.response_field.empty())
        response = &require_field(record, options.response_field);
    for (const FieldPair& pair : known_pairs) {
        if (prompt == nullptr)
            prompt = find_value(record, pair.prompt);
        if (response == nullptr)
            response = find_value(record, pair.response);
    }
    if (prompt == nullptr)
        prompt = find_value(record, "instruction");
    if (response == nullptr)
        response = find_value(record, "output");
    if (response == nullptr)
        throw Error(
            ErrorCode::bad_value,
            "no response: none of the fields is known as one; name it with --response-field; has "
                + field_names(record));
    std::vector<ChatMessage> turns;
    if (prompt != nullptr)
        turns = prompt_turns(*prompt, "prompt field");
    set_response(std::move(turns), *response, "response field", record, sample);
}

void read_recognised(const json& record, Sample& sample) {
    if (read_pair(record, known_pairs.front(), sample) || read_alpaca(record, sample)
        || read_conversation(record, sample))
        return;
    for (const FieldPair& pair : known_pairs)
        if (read_pair(record, pair, sample))
            return;
    for (const char* name : response_only)
        if (const auto found = record.find(name); found != record.end())
            return set_response({}, *found, name, record, sample);
    const bool has_prompt =
        std::any_of(known_pairs.begin(), known_pairs.end(),
                    [&](const FieldPair& pair) { return record.contains(pair.prompt); })
        || record.contains("instruction");
    throw Error(ErrorCode::bad_value,
                std::string(has_prompt ? "no response" : "the fields are not known")
                    + ": name them with --prompt-field and --response-field; has "
                    + field_names(record));
}

std::string scalar_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
        return std::tolower(x) == std::tolower(y);
    });
}

} // namespace

Sample sample_from_record(const json& record, const ReadOptions& options) {
    if (!record.is_object())
        throw Error(ErrorCode::bad_value,
                    std::string("the record is ") + record.type_name()
                        + ", needs an object with fields");
    Sample sample;
    if (const json* id = find_value(record, "id");
        id != nullptr && (id->is_string() || id->is_number()))
        sample.id = scalar_text(*id);
    read_tools(record, sample);
    if (!options.prompt_field.empty() || !options.response_field.empty())
        read_named(record, options, sample);
    else if (!read_prepared(record, sample) && !read_labelled_ids(record, sample)
             && !read_segments(record, sample))
        read_recognised(record, sample);
    return sample;
}

bool passes_filters(const json& record, const ReadOptions& options) {
    if (!record.is_object())
        return true; // the reader will say what is wrong with it
    return std::all_of(options.filters.begin(), options.filters.end(), [&](const auto& filter) {
        const json* value = find_field(record, filter.first);
        return value != nullptr && !value->is_structured()
            && equal_ignoring_case(scalar_text(*value), filter.second);
    });
}

std::string benchmark_of_record(const json& record) {
    const auto count = [&](std::initializer_list<const char*> names) {
        return std::count_if(names.begin(), names.end(),
                             [&](const char* name) { return record.contains(name); });
    };
    if (!record.is_object())
        return {};
    if (count(
            {"bench.cu", "gen.py", "compare.py", "level1_prompt", "level2_prompt", "level3_prompt"})
        >= 2)
        return "CUDABench";
    if (count({"baseline_solution", "test_command", "test_files", "min_cuda_toolkit"}) >= 3)
        return "ComputeEval";
    return {};
}

} // namespace cuset
