#include "core/io/score_file.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/json_text.h"
#include "core/io/safetensors_file.h"
#include "core/io/utf8_repair.h"

namespace cuset {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are little endian");

constexpr std::string_view format_name = "cuset-scores";
constexpr int format_version = 1;

template <typename T> constexpr DType dtype_of();
template <> constexpr DType dtype_of<std::int64_t>() {
    return DType::i64;
}
template <> constexpr DType dtype_of<std::int32_t>() {
    return DType::i32;
}
template <> constexpr DType dtype_of<float>() {
    return DType::f32;
}
template <> constexpr DType dtype_of<std::uint16_t>() {
    return DType::u16;
}
template <> constexpr DType dtype_of<char>() {
    return DType::u8;
}

class ScoreFileReader {
public:
    explicit ScoreFileReader(const std::filesystem::path& path)
        : file_(std::make_shared<const SafetensorsFile>(path)) {
        check_format();
    }

    std::shared_ptr<const ScoreSet> read() const {
        ScoreColumns columns;
        columns.sample_begin = column<std::int64_t>("sample_begin");
        columns.token_id = column<std::int32_t>("token_id");
        columns.log_prob = column<float>("logprob");
        columns.entropy = column<float>("entropy");
        columns.entropy_top20 = column<float>("entropy_top20");
        columns.rank = column<std::int32_t>("rank");
        columns.byte_begin = column<std::int32_t>("byte_begin");
        columns.byte_end = column<std::int32_t>("byte_end");
        columns.labels = column<LabelBits>("labels");
        columns.prompt_utf8 = text("prompt_utf8");
        columns.response_utf8 = text("response_utf8");
        columns.prompt_begin = column<std::int64_t>("prompt_begin");
        columns.response_begin = column<std::int64_t>("response_begin");
        read_top(columns);
        if (file_->find_tensor("vocab_id") != nullptr) {
            columns.vocab_id = column<std::int32_t>("vocab_id");
            columns.vocab_begin = column<std::int64_t>("vocab_begin");
            columns.vocab_bytes = text("vocab_bytes");
        }
        // These refuse what is wrong by themselves: outside, lest it be said twice.
        std::vector<std::string> names = ids();
        ScoreProvenance origin = provenance();
        try {
            auto scores = std::make_shared<const ScoreSet>(columns, std::move(names),
                                                           std::move(origin), file_);
            scores->check_tokens(0, scores->sample_count());
            for (std::int64_t n = 0; n < scores->sample_count(); ++n)
                if (!is_valid_utf8(scores->prompt(n)) || !is_valid_utf8(scores->response(n)))
                    throw Error(ErrorCode::bad_value, "its text is not UTF-8",
                                "sample " + printable(scores->id(n), 80));
            return scores;
        } catch (const Error& error) {
            refuse(error.what());
        }
    }

private:
    [[noreturn]] void refuse(const std::string& text) const {
        throw Error(ErrorCode::bad_format, "damaged score file: " + text, file_->path().string());
    }

    std::string metadata(std::string_view key) const {
        const auto found = file_->metadata().find(key);
        return found == file_->metadata().end() ? std::string() : found->second;
    }

    void check_format() const {
        const std::string name = file_->path().string();
        if (!is_score_file(*file_))
            throw Error(ErrorCode::bad_format,
                        "is not a score file: its metadata lack format = \"cuset-scores\" (made by "
                        "`cuset score`)",
                        name);
        const std::string version = metadata("format_version");
        if (version != std::to_string(format_version))
            throw Error(ErrorCode::unsupported,
                        "score format version \"" + printable(version, 20)
                            + "\", this program reads " + std::to_string(format_version),
                        name);
    }

    // The tensor's values; `columns` > 0 asks for a matrix with that many dimensions.
    template <typename T>
    std::span<const T> column(std::string_view name, std::size_t dimensions = 1) const {
        const TensorView* tensor = file_->find_tensor(name);
        if (tensor == nullptr)
            refuse("tensor " + std::string(name) + " is missing");
        if (tensor->dtype != dtype_of<T>())
            refuse(std::string(name) + " is " + std::string(dtype_name(tensor->dtype)) + ", needs "
                   + std::string(dtype_name(dtype_of<T>())));
        if (tensor->shape.size() != dimensions)
            refuse(std::string(name) + " has " + std::to_string(tensor->shape.size())
                   + " dimensions, needs " + std::to_string(dimensions));
        if (tensor->bytes.empty())
            return {};
        if (reinterpret_cast<std::uintptr_t>(tensor->bytes.data()) % alignof(T) != 0)
            refuse(std::string(name) + " does not begin at a multiple of "
                   + std::to_string(alignof(T)) + " bytes (write larger types first)");
        return {reinterpret_cast<const T*>(tensor->bytes.data()), tensor->bytes.size() / sizeof(T)};
    }

    std::string_view text(std::string_view name) const {
        const std::span<const char> bytes = column<char>(name);
        return {bytes.data(), bytes.size()};
    }

    void read_top(ScoreColumns& columns) const {
        columns.top_id = column<std::int32_t>("top_id", 2);
        columns.top_log_prob = column<float>("top_logprob", 2);
        const std::vector<std::int64_t>& shape = file_->require_tensor("top_id").shape;
        if (shape != file_->require_tensor("top_logprob").shape)
            refuse("top_id and top_logprob differ in shape");
        if (shape[1] > 1'000'000)
            refuse("top_id has " + std::to_string(shape[1]) + " columns");
        columns.top_k = static_cast<std::int32_t>(shape[1]);
    }

    std::vector<std::string> ids() const {
        std::vector<std::string> ids;
        std::unordered_set<std::string_view> seen;
        try {
            ids = parse_json_text(metadata("ids")).value.get<std::vector<std::string>>();
        } catch (const Error& error) {
            refuse("metadata ids " + error.message());
        } catch (const nlohmann::json::exception&) {
            refuse("metadata ids is not a JSON array of strings");
        }
        for (const std::string& id : ids)
            if (!seen.insert(id).second)
                refuse("two samples have the id \"" + printable(id, 80) + "\"");
        return ids;
    }

    ScoreProvenance provenance() const {
        ScoreProvenance provenance{metadata("created_by"),   metadata("model"),
                                   metadata("model_sha256"), metadata("tokenizer_sha256"),
                                   metadata("adapter"),      metadata("template"),
                                   metadata("dtype"),        metadata("device")};
        const std::string length = metadata("max_length");
        const bool is_number = !length.empty() && length.size() <= 9
            && length.find_first_not_of("0123456789") == std::string::npos;
        if (!length.empty() && !is_number)
            refuse("metadata max_length is \"" + printable(length, 20) + "\", needs a number");
        provenance.max_length = is_number ? std::stoi(length) : 0;
        provenance.response =
            find_response_choice(metadata("response")).value_or(ResponseChoice::whole);
        return provenance;
    }

    std::shared_ptr<const SafetensorsFile> file_;
};

template <typename T>
NamedTensor tensor(std::string name, std::span<const T> values,
                   std::vector<std::int64_t> shape = {}) {
    if (shape.empty())
        shape = {static_cast<std::int64_t>(values.size())};
    return {std::move(name), {dtype_of<T>(), std::move(shape), std::as_bytes(values)}};
}

NamedTensor text_tensor(std::string name, std::string_view text) {
    return tensor(std::move(name), std::span<const char>(text.data(), text.size()));
}

std::map<std::string, std::string> score_metadata(const ScoreSet& scores) {
    const ScoreProvenance& from = scores.provenance();
    nlohmann::json ids = nlohmann::json::array();
    std::unordered_set<std::string_view> seen;
    for (std::int64_t n = 0; n < scores.sample_count(); ++n) {
        if (!seen.insert(scores.id(n)).second)
            throw Error(ErrorCode::bad_value,
                        "two samples have the id \"" + printable(scores.id(n), 80) + "\"");
        ids.push_back(scores.id(n));
    }
    return {{"format", std::string(format_name)},
            {"format_version", std::to_string(format_version)},
            {"created_by", from.created_by},
            {"model", from.model},
            {"model_sha256", from.model_sha256},
            {"tokenizer_sha256", from.tokenizer_sha256},
            {"adapter", from.adapter},
            {"template", from.chat_template},
            {"dtype", from.dtype},
            {"device", from.device},
            {"max_length", std::to_string(from.max_length)},
            {"response", std::string(response_choice_name(from.response))},
            {"ids", ids.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
}

} // namespace

bool is_score_file(const SafetensorsFile& file) {
    const auto format = file.metadata().find("format");
    return format != file.metadata().end() && format->second == format_name;
}

std::shared_ptr<const ScoreSet> read_score_file(const std::filesystem::path& path) {
    return ScoreFileReader(path).read();
}

void write_score_file(const std::filesystem::path& path, const ScoreSet& scores) {
    const ScoreColumns& columns = scores.columns();
    const std::vector<std::int64_t> top_shape{scores.token_count(), columns.top_k};
    // Large types first: every tensor is aligned, whatever the counts are.
    std::vector<NamedTensor> tensors{
        tensor("sample_begin", columns.sample_begin),
        tensor("prompt_begin", columns.prompt_begin),
        tensor("response_begin", columns.response_begin),
    };
    if (!columns.vocab_begin.empty())
        tensors.push_back(tensor("vocab_begin", columns.vocab_begin));
    tensors.push_back(tensor("token_id", columns.token_id));
    tensors.push_back(tensor("logprob", columns.log_prob));
    tensors.push_back(tensor("entropy", columns.entropy));
    tensors.push_back(tensor("entropy_top20", columns.entropy_top20));
    tensors.push_back(tensor("rank", columns.rank));
    tensors.push_back(tensor("top_id", columns.top_id, top_shape));
    tensors.push_back(tensor("top_logprob", columns.top_log_prob, top_shape));
    tensors.push_back(tensor("byte_begin", columns.byte_begin));
    tensors.push_back(tensor("byte_end", columns.byte_end));
    if (!columns.vocab_begin.empty())
        tensors.push_back(tensor("vocab_id", columns.vocab_id));
    tensors.push_back(tensor("labels", columns.labels));
    tensors.push_back(text_tensor("prompt_utf8", columns.prompt_utf8));
    tensors.push_back(text_tensor("response_utf8", columns.response_utf8));
    if (!columns.vocab_begin.empty())
        tensors.push_back(text_tensor("vocab_bytes", columns.vocab_bytes));
    write_safetensors(path, tensors, score_metadata(scores));
}

} // namespace cuset
