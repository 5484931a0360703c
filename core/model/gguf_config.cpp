// ModelConfig from a GGUF file's metadata: keys of
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/gguf_file.h"
#include "core/model/model_config.h"
#include "core/model/model_support.h"

namespace cuset {
namespace {

// Look-ups below one architecture's prefix, e.g. "llama.".
class GgufFields {
public:
    GgufFields(const GgufFile& file, std::string architecture)
        : file_(file)
        , prefix_(std::move(architecture) + ".") { }

    std::optional<std::int64_t> integer(const std::string& key, std::int64_t low,
                                        std::int64_t high) const {
        const auto value = file_.find_integer(prefix_ + key);
        if (value && (*value < low || *value > high))
            fail(key, std::to_string(*value));
        return value;
    }
    std::int64_t require_integer(const std::string& key, std::int64_t low,
                                 std::int64_t high) const {
        const auto value = integer(key, low, high);
        if (!value)
            throw Error(ErrorCode::bad_value, "no " + prefix_ + key, file_.path().string());
        return *value;
    }
    std::optional<double> number(const std::string& key, double low, double high) const {
        const auto value = file_.find_number(prefix_ + key);
        if (value && !(*value >= low && *value <= high))
            fail(key, std::to_string(*value));
        return value;
    }
    std::optional<std::string> text(const std::string& key) const {
        return file_.find_string(prefix_ + key);
    }

private:
    [[noreturn]] void fail(const std::string& key, const std::string& found) const {
        throw Error(ErrorCode::bad_value, prefix_ + key + " is out of range: " + found,
                    file_.path().string());
    }

    const GgufFile& file_;
    std::string prefix_;
};

ModelFamily gguf_family(const GgufFile& file) {
    const std::string name = file.find_string("general.architecture").value_or("");
    for (ModelFamily family : {ModelFamily::llama, ModelFamily::qwen2, ModelFamily::qwen3})
        if (name == model_family_name(family))
            return family;
    const bool experts = name.find("moe") != std::string::npos;
    throw Error(ErrorCode::unsupported,
                "architecture '" + printable(name, 60) + "' "
                    + (experts ? "(mixture of experts) " : "")
                    + "is not supported; supported are llama (mistral too), qwen2 and qwen3",
                file.path().string());
}

std::int64_t vocabulary_rows(const GgufFile& file) {
    const GgufTensor* embedding = file.find_tensor("token_embd.weight");
    if (!embedding || embedding->shape.size() != 2)
        throw Error(ErrorCode::not_found, "no tensor token_embd.weight [vocabulary, channels]",
                    file.path().string());
    return embedding->shape[0];
}

void read_rope_divisors(const GgufFile& file, RopeConfig& rope) {
    const GgufTensor* tensor = file.find_tensor("rope_freqs.weight");
    if (!tensor)
        return;
    const auto count = static_cast<std::size_t>(rope.dimensions / 2);
    if (tensor->type != GgmlType::f32 || tensor->bytes.size() != count * sizeof(float))
        throw Error(ErrorCode::bad_value,
                    "rope_freqs.weight must hold " + std::to_string(count) + " float32 values",
                    file.path().string());
    rope.divisors.resize(count);
    std::memcpy(rope.divisors.data(), tensor->bytes.data(), tensor->bytes.size());
    for (float divisor : rope.divisors)
        if (!(divisor > 0.f) || !std::isfinite(divisor))
            throw Error(ErrorCode::bad_value,
                        "rope_freqs.weight holds a value that is not positive",
                        file.path().string());
}

RopeConfig read_gguf_rope(const GgufFile& file, const GgufFields& f, const ModelConfig& c) {
    RopeConfig r;
    r.dimensions = f.integer("rope.dimension_count", 2, 4096).value_or(c.head_dim);
    if (r.dimensions != c.head_dim)
        throw Error(ErrorCode::unsupported,
                    "rotates " + std::to_string(r.dimensions) + " of " + std::to_string(c.head_dim)
                        + " channels of a head; partial rotation is not supported",
                    file.path().string());
    r.context_length = c.context_length;
    r.theta = f.number("rope.freq_base", 1.0001, 1e15).value_or(10000.0);
    const std::string kind = f.text("rope.scaling.type").value_or("none");
    r.factor = f.number("rope.scaling.factor", 1.0, 1e6).value_or(1.0);
    r.original_context_length =
        f.integer("rope.scaling.original_context_length", 1, 1 << 30).value_or(c.context_length);
    if (kind == "linear")
        r.kind = RopeKind::linear;
    else if (kind == "yarn") {
        r.kind = RopeKind::yarn;
        // llama.cpp multiplies YaRN's own factor by this one.
        if (auto scale = f.number("rope.scaling.attn_factor", 0.0, 1e6))
            r.attention_factor = *scale * (1.0 + 0.1 * std::log(r.factor));
    } else if (kind != "none")
        throw Error(ErrorCode::unsupported,
                    "rope scaling '" + printable(kind, 40)
                        + "' is not supported; supported are none, linear and yarn",
                    file.path().string());
    read_rope_divisors(file, r);
    return r;
}

} // namespace

ModelConfig read_gguf_config(const GgufFile& file) {
    ModelConfig c;
    c.family = gguf_family(file);
    const GgufFields f(file, std::string(model_family_name(c.family)));
    if (f.integer("expert_count", 0, 1 << 20).value_or(0) > 0)
        throw Error(ErrorCode::unsupported, "mixture of experts: not supported; use a dense model",
                    file.path().string());
    c.hidden = f.require_integer("embedding_length", 1, 1 << 20);
    c.layers = f.require_integer("block_count", 1, 4096);
    c.heads = f.require_integer("attention.head_count", 1, 65536);
    c.kv_heads = f.integer("attention.head_count_kv", 1, 65536).value_or(c.heads);
    c.intermediate = f.require_integer("feed_forward_length", 1, 1 << 22);
    c.context_length = f.require_integer("context_length", 1, 1 << 30);
    c.head_dim = f.integer("attention.key_length", 2, 4096)
                     .value_or(std::max<std::int64_t>(c.hidden / c.heads, 2));
    if (f.integer("attention.value_length", 2, 4096).value_or(c.head_dim) != c.head_dim)
        throw Error(ErrorCode::unsupported, "keys and values of different size are not supported",
                    file.path().string());
    c.norm_epsilon = f.number("attention.layer_norm_rms_epsilon", 0.0, 1.0).value_or(1e-6);
    c.vocabulary = vocabulary_rows(file);
    c.tied_head = !file.find_tensor("output.weight");
    c.qkv_bias = file.find_tensor("blk.0.attn_q.bias") != nullptr;
    c.output_bias = file.find_tensor("blk.0.attn_output.bias") != nullptr;
    c.qk_norm = file.find_tensor("blk.0.attn_q_norm.weight") != nullptr;
    c.windows.assign(static_cast<std::size_t>(c.layers),
                     f.integer("attention.sliding_window", 0, 1 << 30).value_or(0));
    check_config_shape(c, file.path().string());
    c.rope = read_gguf_rope(file, f, c);
    if (auto id = file.find_integer("tokenizer.ggml.bos_token_id"); id && *id < c.vocabulary)
        c.bos_id = static_cast<std::int32_t>(*id);
    for (const char* key : {"eos", "eot"})
        if (auto id = file.find_integer("tokenizer.ggml." + std::string(key) + "_token_id");
            id && *id >= 0 && *id < c.vocabulary)
            c.eos_ids.push_back(static_cast<std::int32_t>(*id));
    c.stored_dtype = std::string(ggml_type_name(file.tensors().front().type));
    return c;
}

} // namespace cuset
