// WeightSource of a GGUF file: names translated, quantised blocks decoded row by row, and the order
// of the rows of q and k put back where the architecture interleaves them.
#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/gguf_file.h"
#include "core/model/weight_source.h"

namespace cuset {
namespace {

using NameMap = std::map<std::string, std::string, std::less<>>;

// The last part of a layer's name. Where there are norms after attention and MLP, the name that is
// else the norm before the MLP is that of the one after attention.
const NameMap& layer_names(bool output_norms) {
    static const NameMap common{{"input_layernorm", "attn_norm"},
                                {"post_attention_layernorm", "ffn_norm"},
                                {"self_attn.q_proj", "attn_q"},
                                {"self_attn.k_proj", "attn_k"},
                                {"self_attn.v_proj", "attn_v"},
                                {"self_attn.qkv_proj", "attn_qkv"},
                                {"self_attn.o_proj", "attn_output"},
                                {"self_attn.q_a_proj", "attn_q_a"},
                                {"self_attn.q_a_layernorm", "attn_q_a_norm"},
                                {"self_attn.q_b_proj", "attn_q_b"},
                                {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
                                {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
                                {"self_attn.kv_b_proj", "attn_kv_b"},
                                {"self_attn.q_norm", "attn_q_norm"},
                                {"self_attn.k_norm", "attn_k_norm"},
                                {"mlp.gate_proj", "ffn_gate"},
                                {"mlp.up_proj", "ffn_up"},
                                {"mlp.gate_up_proj", "ffn_up"},
                                {"mlp.down_proj", "ffn_down"},
                                {"mlp.c_fc", "ffn_up"},
                                {"mlp.c_proj", "ffn_down"},
                                {"mlp.gate", "ffn_gate_inp"},
                                {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
                                {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
                                {"mlp.shared_experts.down_proj", "ffn_down_shexp"},
                                {"mlp.experts.gate_proj", "ffn_gate_exps"},
                                {"mlp.experts.up_proj", "ffn_up_exps"},
                                {"mlp.experts.down_proj", "ffn_down_exps"}};
    static const NameMap with_output_norms = [] {
        NameMap names = common;
        names["post_attention_layernorm"] = "post_attention_norm";
        names["pre_feedforward_layernorm"] = "ffn_norm";
        names["post_feedforward_layernorm"] = "post_ffw_norm";
        return names;
    }();
    return output_norms ? with_output_norms : common;
}

// A tensor of the file, or one expert's slice of a stacked one.
struct GgufName {
    std::string tensor;
    std::int64_t expert = -1; // -1: the whole tensor
};

GgufName gguf_name(const std::string& name, bool output_norms) {
    static const NameMap flat{{"model.embed_tokens.weight", "token_embd.weight"},
                              {"model.norm.weight", "output_norm.weight"},
                              {"model.norm.bias", "output_norm.bias"},
                              {"lm_head.weight", "output.weight"}};
    if (const auto it = flat.find(name); it != flat.end())
        return {it->second};
    constexpr std::string_view prefix = "model.layers.", experts = "mlp.experts.";
    const std::size_t dot = name.find('.', prefix.size());
    const std::size_t kind = name.rfind('.');
    if (!name.starts_with(prefix) || dot == std::string::npos || kind <= dot)
        return {};
    GgufName result;
    std::string inner = name.substr(dot + 1, kind - dot - 1);
    if (inner.starts_with(experts)) {
        const std::size_t end = inner.find('.', experts.size());
        if (end == std::string::npos)
            return {};
        result.expert = std::stoll(inner.substr(experts.size(), end - experts.size()));
        inner.erase(experts.size(), end + 1 - experts.size());
    }
    const NameMap& names = layer_names(output_norms);
    const auto it = names.find(inner);
    if (it == names.end())
        return {};
    result.tensor = "blk." + name.substr(prefix.size(), dot - prefix.size()) + "." + it->second
        + name.substr(kind);
    return result;
}

class GgufWeights : public WeightSource {
public:
    GgufWeights(const GgufFile& file, const ModelConfig& config)
        : file_(file)
        , config_(config) { }

    std::optional<std::vector<std::int64_t>> find_shape(const std::string& name) const override {
        const GgufName place = locate(name);
        const GgufTensor* tensor = file_.find_tensor(place.tensor);
        if (!tensor)
            return split_shape(place.tensor);
        std::vector<std::int64_t> shape = tensor->shape;
        if (place.expert >= 0) {
            if (shape.size() != 3 || place.expert >= shape[0])
                return std::nullopt;
            shape.erase(shape.begin());
        }
        return shape;
    }

    void read(const std::string& name, at::Tensor& out) const override {
        const GgufName place = locate(name);
        const GgufTensor* tensor = file_.find_tensor(place.tensor);
        if (!tensor)
            return read_split(place.tensor, out);
        const std::int64_t pair = rotated_rows(name);
        // The elements of a bias are put in order as the rows of its weight are.
        const std::int64_t width = out.dim() == 1 && pair > 0 ? 1 : out.size(-1);
        const std::int64_t rows = out.numel() / width;
        const at::Tensor target = out.view({rows, width});
        const std::uint64_t row_bytes = ggml_bytes(tensor->type, static_cast<std::uint64_t>(width));
        const std::uint64_t part_bytes = row_bytes * static_cast<std::uint64_t>(rows);
        const auto parts = static_cast<std::uint64_t>(place.expert >= 0 ? tensor->shape[0] : 1);
        if (tensor->bytes.size() != part_bytes * parts)
            throw Error(ErrorCode::bad_format,
                        "holds " + std::to_string(tensor->bytes.size()) + " bytes, its shape needs "
                            + std::to_string(part_bytes * parts),
                        printable(tensor->name));
        const std::span<const std::byte> bytes = tensor->bytes.subspan(
            static_cast<std::uint64_t>(std::max<std::int64_t>(place.expert, 0)) * part_bytes,
            part_bytes);
        constexpr std::int64_t step = 64; // rows decoded before they are converted
        const bool inference = c10::InferenceMode::is_enabled(); // each thread has its own
        at::parallel_for(0, rows, step, [&](std::int64_t begin, std::int64_t end) {
            const c10::InferenceMode mode(inference);
            const at::Tensor buffer = at::empty({step, width}, at::kFloat);
            for (std::int64_t first = begin; first < end; first += step) {
                const std::int64_t count = std::min(step, end - first);
                for (std::int64_t r = 0; r < count; ++r) {
                    const auto source = static_cast<std::uint64_t>(source_row(first + r, pair));
                    dequantize(tensor->type, bytes.subspan(source * row_bytes, row_bytes),
                               std::span(buffer.data_ptr<float>() + r * width,
                                         static_cast<std::size_t>(width)));
                }
                target.narrow(0, first, count).copy_(buffer.narrow(0, 0, count));
            }
        });
        drop_pages(bytes);
    }

    std::string stored_dtype() const override {
        std::map<std::string, std::size_t> bytes;
        for (const GgufTensor& tensor : file_.tensors())
            bytes[std::string(ggml_type_name(tensor.type))] += tensor.bytes.size();
        std::string most;
        for (const auto& [name, count] : bytes)
            if (most.empty() || count > bytes[most])
                most = name;
        return most;
    }

    std::string subject() const override { return file_.path().string(); }

    void visit(const Visitor& see) const override {
        for (const GgufTensor& tensor : file_.tensors()) {
            std::string kind(ggml_type_name(tensor.type));
            for (std::int64_t n : tensor.shape)
                kind.append(1, ',').append(std::to_string(n));
            see(tensor.name, kind, tensor.bytes);
        }
    }

private:
    // Latent attention's kv_b_proj, which newer files hold in two: that of the keys turned around,
    // [heads, rank, channels], and that of the values, [heads, channels, rank].
    struct SplitWeight {
        const GgufTensor *keys = nullptr, *values = nullptr;
    };
    std::optional<SplitWeight> find_split(const std::string& tensor) const {
        constexpr std::string_view ending = "attn_kv_b.weight";
        if (!tensor.ends_with(ending))
            return std::nullopt;
        const std::string layer = tensor.substr(0, tensor.size() - ending.size());
        const SplitWeight found{file_.find_tensor(layer + "attn_k_b.weight"),
                                file_.find_tensor(layer + "attn_v_b.weight")};
        if (!found.keys || !found.values)
            return std::nullopt;
        const auto &k = found.keys->shape, &v = found.values->shape;
        if (k.size() != 3 || v.size() != 3 || k[0] != v[0] || k[1] != v[2])
            return std::nullopt;
        return found;
    }

    std::optional<std::vector<std::int64_t>> split_shape(const std::string& tensor) const {
        const auto split = find_split(tensor);
        if (!split)
            return std::nullopt;
        const auto &k = split->keys->shape, &v = split->values->shape;
        return std::vector<std::int64_t>{k[0] * (k[2] + v[1]), k[1]};
    }

    void read_split(const std::string& tensor, at::Tensor& out) const {
        const SplitWeight split = find_split(tensor).value();
        const at::Tensor keys = decode_whole(*split.keys), values = decode_whole(*split.values);
        out.copy_(at::cat({keys.transpose(1, 2), values}, 1).flatten(0, 1));
        drop_pages(split.keys->bytes);
        drop_pages(split.values->bytes);
    }

    static at::Tensor decode_whole(const GgufTensor& tensor) {
        const at::Tensor all = at::empty(tensor.shape, at::kFloat);
        const std::int64_t width = all.size(-1), rows = all.numel() / width;
        const std::uint64_t row = ggml_bytes(tensor.type, static_cast<std::uint64_t>(width));
        for (std::int64_t r = 0; r < rows; ++r)
            dequantize(
                tensor.type, tensor.bytes.subspan(static_cast<std::uint64_t>(r) * row, row),
                std::span(all.data_ptr<float>() + r * width, static_cast<std::size_t>(width)));
        return all;
    }

    GgufName locate(const std::string& name) const {
        return gguf_name(name, config_.traits.output_norms);
    }

    // Rows of one head if its rotary pairs are interleaved in the file, else 0: these architectures
    // store channel i and i + D/2, which turn together, side by side.
    std::int64_t rotated_rows(const std::string& name) const {
        const bool rotated = name.find(".q_proj.") != std::string::npos
            || name.find(".k_proj.") != std::string::npos;
        const bool interleaved = config_.family == ModelFamily::llama
            || config_.family == ModelFamily::mixtral || config_.family == ModelFamily::granite
            || config_.family == ModelFamily::smollm3;
        return rotated && interleaved ? config_.head_dim : 0;
    }

    static std::int64_t source_row(std::int64_t row, std::int64_t head_rows) {
        if (head_rows == 0)
            return row;
        const std::int64_t head = row / head_rows, r = row % head_rows, half = head_rows / 2;
        return head * head_rows + r % half * 2 + r / half;
    }

    const GgufFile& file_;
    ModelConfig config_;
};

} // namespace

std::unique_ptr<WeightSource> open_weights(const GgufFile& file, const ModelConfig& config) {
    return std::make_unique<GgufWeights>(file, config);
}

} // namespace cuset
