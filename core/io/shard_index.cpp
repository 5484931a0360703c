#include "core/io/shard_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr std::size_t max_depth = 64;

void check_shard_name(const std::string& name, const std::string& file) {
    const auto refuse = [&](const char* reason) {
        throw Error(ErrorCode::bad_value,
                    "shard name `" + printable(name) + "` " + reason
                        + "; it must be the plain name of a file in the model's folder",
                    file);
    };
    if (name.empty() || name.size() > 255)
        refuse("is empty or too long");
    if (name.find_first_of("/\\") != std::string::npos)
        refuse("is a path");
    if (name[0] == '.' || name.find(':') != std::string::npos)
        refuse("could lead out of the folder");
    if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
        refuse("holds control characters");
    if (name.ends_with(".bin") || name.ends_with(".pt") || name.ends_with(".pth"))
        throw Error(ErrorCode::unsupported,
                    "shard " + printable(name)
                        + " is a pickle checkpoint, which may run code when loaded and is not read "
                          "(save the model again as safetensors)",
                    file);
    if (!name.ends_with(".safetensors"))
        refuse("does not end with .safetensors");
}

// Events of nlohmann's parser: strings of the top-level object "weight_map" are kept, all else is
// passed over.
class IndexReader {
public:
    IndexReader(std::map<std::string, std::string, std::less<>>& shards, const std::string& file)
        : shards_(shards)
        , file_(file) { }

    bool null() { return other_value(); }
    bool boolean(bool) { return other_value(); }
    bool number_integer(std::int64_t) { return other_value(); }
    bool number_unsigned(std::uint64_t) { return other_value(); }
    bool number_float(double, const std::string&) { return other_value(); }
    bool binary(nlohmann::json::binary_t&) { return other_value(); }
    bool string(std::string& text) {
        if (!in_map())
            return other_value();
        check_shard_name(text, file_);
        *std::exchange(value_, nullptr) = text;
        return true;
    }
    bool key(std::string& text) {
        if (depth_ == 1) {
            at_weight_map_ = text == "weight_map";
            if (at_weight_map_ && std::exchange(has_weight_map_, true))
                fail("weight_map is there twice");
        } else if (in_map()) {
            const auto [at, added] = shards_.emplace(text, std::string());
            if (!added)
                fail("the tensor `" + printable(text) + "` is there twice");
            value_ = &at->second;
        }
        return true;
    }
    bool start_object(std::size_t) {
        if (in_map() || (depth_ == 0 && has_root_))
            return other_value();
        has_root_ = true;
        return enter();
    }
    bool end_object() { return leave(); }
    bool start_array(std::size_t) { return other_value() && enter(); }
    bool end_array() { return leave(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
        fail("not valid JSON at byte " + std::to_string(position));
    }

    bool has_weight_map() const { return has_weight_map_; }

private:
    [[noreturn]] void fail(const std::string& text) const {
        throw Error(ErrorCode::bad_format, text, file_);
    }
    bool in_map() const { return at_weight_map_ && depth_ == 2; }
    bool other_value() const {
        if (depth_ == 0)
            fail("must be one JSON object");
        if (in_map() || (at_weight_map_ && depth_ == 1))
            fail("weight_map must be an object that maps tensor names to file names");
        return true;
    }
    bool enter() {
        if (++depth_ > max_depth)
            fail("nested deeper than " + std::to_string(max_depth));
        return true;
    }
    bool leave() {
        --depth_;
        return true;
    }

    std::map<std::string, std::string, std::less<>>& shards_;
    const std::string& file_;
    std::size_t depth_ = 0;
    bool has_root_ = false;
    bool at_weight_map_ = false;
    bool has_weight_map_ = false;
    std::string* value_ = nullptr; // of the tensor whose name was read last
};

} // namespace

std::map<std::string, std::string, std::less<>> parse_shard_index(std::string_view text,
                                                                  const std::string& file) {
    std::map<std::string, std::string, std::less<>> shards;
    IndexReader reader(shards, file);
    nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
    if (shards.empty())
        throw Error(ErrorCode::bad_format,
                    reader.has_weight_map() ? "weight_map is empty" : "no weight_map in it", file);
    return shards;
}

} // namespace cuset
