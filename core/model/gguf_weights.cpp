// WeightSource of a GGUF file: names translated, quantised blocks decoded row by row, and the order
// of the rows of q and k put back for the llama architecture.
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/gguf_file.h"
#include "core/model/weight_source.h"

namespace cuset {
namespace {

std::string gguf_name(const std::string& name) {
    static const std::map<std::string, std::string, std::less<>> flat{
        {"model.embed_tokens.weight", "token_embd.weight"},
        {"model.norm.weight", "output_norm.weight"},
        {"lm_head.weight", "output.weight"}};
    static const std::map<std::string, std::string, std::less<>> in_layer{
        {"input_layernorm", "attn_norm"},    {"post_attention_layernorm", "ffn_norm"},
        {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
        {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
        {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"}};
    if (const auto it = flat.find(name); it != flat.end())
        return it->second;
    constexpr std::string_view prefix = "model.layers.";
    if (!name.starts_with(prefix))
        return "";
    const std::size_t dot = name.find('.', prefix.size());
    const std::size_t kind = name.rfind('.');
    if (dot == std::string::npos || kind <= dot)
        return "";
    const auto it = in_layer.find(name.substr(dot + 1, kind - dot - 1));
    if (it == in_layer.end())
        return "";
    return "blk." + name.substr(prefix.size(), dot - prefix.size()) + "." + it->second
        + name.substr(kind);
}

class GgufWeights : public WeightSource {
public:
    GgufWeights(const GgufFile& file, const ModelConfig& config)
        : file_(file)
        , config_(config) { }

    std::optional<std::vector<std::int64_t>> find_shape(const std::string& name) const override {
        const GgufTensor* tensor = file_.find_tensor(gguf_name(name));
        return tensor ? std::optional(tensor->shape) : std::nullopt;
    }

    void read(const std::string& name, at::Tensor& out) const override {
        const GgufTensor* tensor = file_.find_tensor(gguf_name(name));
        const std::int64_t width = out.size(-1);
        const std::int64_t rows = out.numel() / width;
        const at::Tensor target = out.view({rows, width});
        const std::uint64_t row_bytes = ggml_bytes(tensor->type, static_cast<std::uint64_t>(width));
        if (tensor->bytes.size() != row_bytes * static_cast<std::uint64_t>(rows))
            throw Error(ErrorCode::bad_format,
                        "holds " + std::to_string(tensor->bytes.size()) + " bytes, its shape needs "
                            + std::to_string(row_bytes * static_cast<std::uint64_t>(rows)),
                        printable(tensor->name));
        const std::int64_t pair = rotated_rows(name);
        constexpr std::int64_t step = 64; // rows decoded before they are converted
        at::parallel_for(0, rows, step, [&](std::int64_t begin, std::int64_t end) {
            const at::Tensor buffer = at::empty({step, width}, at::kFloat);
            for (std::int64_t first = begin; first < end; first += step) {
                const std::int64_t count = std::min(step, end - first);
                for (std::int64_t r = 0; r < count; ++r) {
                    const auto source = static_cast<std::uint64_t>(source_row(first + r, pair));
                    dequantize(tensor->type, tensor->bytes.subspan(source * row_bytes, row_bytes),
                               std::span(buffer.data_ptr<float>() + r * width,
                                         static_cast<std::size_t>(width)));
                }
                target.narrow(0, first, count).copy_(buffer.narrow(0, 0, count));
            }
        });
        drop_pages(tensor->bytes);
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
    // Rows of one head if its rotary pairs are interleaved in the file, else 0: the llama
    // architecture stores channel i and i + D/2, which turn together, side by side.
    std::int64_t rotated_rows(const std::string& name) const {
        const bool rotated = name.find(".q_proj.") != std::string::npos
            || name.find(".k_proj.") != std::string::npos;
        return rotated && config_.family == ModelFamily::llama ? config_.head_dim : 0;
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
