#include "core/model/lora.h"

#include <array>
#include <map>

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/io/safetensors_file.h"

namespace cuset {
namespace {

// What the file holds for one module of the model.
struct ModuleTensors {
    const TensorView* a = nullptr; // [r, in]
    const TensorView* b = nullptr; // [out, r]
    const TensorView* embedding_a = nullptr; // [r, vocabulary]
    const TensorView* embedding_b = nullptr; // [channels, r]
    const TensorView* magnitude = nullptr; // [out], DoRA
    const TensorView* base = nullptr; // the model's own weight, stored again
    const TensorView* whole = nullptr; // the weight instead of the model's
};

struct Ending {
    std::string_view text;
    const TensorView* ModuleTensors::*slot;
};
// The last one is the end of others, too: it comes last.
constexpr std::array<Ending, 8> endings{{
    {".lora_A.weight", &ModuleTensors::a},
    {".lora_B.weight", &ModuleTensors::b},
    {".lora_embedding_A", &ModuleTensors::embedding_a},
    {".lora_embedding_B", &ModuleTensors::embedding_b},
    {".lora_magnitude_vector", &ModuleTensors::magnitude},
    {".lora_magnitude_vector.weight", &ModuleTensors::magnitude},
    {".base_layer.weight", &ModuleTensors::base},
    {".weight", &ModuleTensors::whole},
}};

constexpr std::string_view embedding_name = "model.embed_tokens", head_name = "lm_head";

// "base_model.model.NAME.lora_A.weight" -> NAME; fills what each module has.
std::map<std::string, ModuleTensors> collect_modules(const SafetensorsFile& file) {
    constexpr std::string_view prefix = "base_model.model.";
    std::map<std::string, ModuleTensors> modules;
    for (const auto& [full, view] : file.tensors()) {
        std::string_view name = full;
        if (name.starts_with(prefix))
            name.remove_prefix(prefix.size());
        const auto ending =
            std::ranges::find_if(endings, [&](const Ending& e) { return name.ends_with(e.text); });
        if (ending != endings.end())
            name.remove_suffix(ending->text.size());
        const bool outer = name == embedding_name || name == head_name;
        const bool is_weight = ending != endings.end()
            && (ending->slot == &ModuleTensors::whole || ending->slot == &ModuleTensors::base);
        if (ending == endings.end() || (is_weight && !outer))
            throw Error(ErrorCode::unsupported,
                        "tensor " + printable(full, 120)
                            + " is not a LoRA weight; merge the adapter into its model with PEFT",
                        file.path().string());
        modules[std::string(name)].*(ending->slot) = &view;
    }
    return modules;
}

std::string shape_text(at::IntArrayRef shape) {
    std::string text;
    for (std::int64_t n : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

at::Tensor to_tensor(const TensorView& view, at::IntArrayRef shape, const std::string& name,
                     at::ScalarType dtype, at::Device device) {
    if (at::IntArrayRef(view.shape) != shape)
        throw Error(ErrorCode::bad_value,
                    "shape " + shape_text(view.shape) + ", the model needs " + shape_text(shape)
                        + "; the adapter belongs to another model",
                    name);
    at::ScalarType stored;
    switch (view.dtype) {
    case DType::f32:
        stored = at::kFloat;
        break;
    case DType::f16:
        stored = at::kHalf;
        break;
    case DType::bf16:
        stored = at::kBFloat16;
        break;
    default:
        throw Error(
            ErrorCode::unsupported,
            "stored as " + std::string(dtype_name(view.dtype)) + ", needed F32, F16 or BF16", name);
    }
    void* bytes = const_cast<std::byte*>(view.bytes.data()); // only read
    at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype));
    out.copy_(at::from_blob(bytes, shape, at::TensorOptions().dtype(stored)));
    return out.to(device);
}

class Attacher {
public:
    Attacher(CausalLM& model, const LoraConfig& config, std::string subject, at::ScalarType dtype)
        : model_(model)
        , config_(config)
        , subject_(std::move(subject))
        , dtype_(dtype) { }

    AdapterEffect attach(const std::map<std::string, ModuleTensors>& modules) {
        for (const auto& [name, tensors] : modules) {
            require_complete(name, tensors);
            if (name == embedding_name)
                attach_embedding(name, tensors);
            else if (name == head_name)
                attach_head(name, tensors);
            else
                attach_linear(name, tensors);
        }
        model_.embedding = embedding_.defined() ? embedding_ : model_.embedding;
        model_.head = head_.defined() ? head_ : model_.head;
        effect_.unties_head = model_.config.tied_head && !model_.head.is_same(model_.embedding);
        model_.config.tied_head = model_.config.tied_head && !effect_.unties_head;
        return effect_;
    }

private:
    void require_complete(const std::string& name, const ModuleTensors& m) const {
        const auto missing = [&](const char* what) {
            throw Error(ErrorCode::bad_format,
                        std::string(what) + " of " + printable(name, 120) + " is missing",
                        subject_);
        };
        if (!m.a != !m.b)
            missing(m.a ? "lora_B" : "lora_A");
        if (!m.embedding_a != !m.embedding_b)
            missing(m.embedding_a ? "lora_embedding_B" : "lora_embedding_A");
        if (m.a && config_.dora && !m.magnitude)
            missing("lora_magnitude_vector");
        const bool for_embedding = m.embedding_a && (name != embedding_name || m.magnitude);
        if (for_embedding || (m.magnitude && (!config_.dora || !m.a))
            || (name == embedding_name && m.a))
            throw Error(ErrorCode::unsupported,
                        "what it holds for " + printable(name, 120)
                            + " is not supported; merge the adapter into its model with PEFT",
                        subject_);
    }

    at::Tensor read(const TensorView& view, at::IntArrayRef shape, const std::string& name,
                    at::ScalarType dtype) const {
        return to_tensor(view, shape, name, dtype, model_.device());
    }

    static std::int64_t rows_of(const TensorView& view) {
        return view.shape.empty() ? 0 : view.shape[0];
    }

    // The weight that embedding or head begin from.
    at::Tensor start(const std::string& name, const ModuleTensors& m, const at::Tensor& own) const {
        const TensorView* given = m.whole ? m.whole : m.base;
        return given ? read(*given, own.sizes(), name + ".weight", own.scalar_type()) : own;
    }

    void attach_embedding(const std::string& name, const ModuleTensors& m) {
        at::Tensor weight = start(name, m, model_.embedding);
        // A base layer that is stored again is the tied head's, too.
        if (m.base && !m.whole && model_.config.tied_head && !head_.defined())
            model_.head = weight;
        if (m.embedding_a) {
            const std::int64_t r = rows_of(*m.embedding_a);
            const at::Tensor a =
                read(*m.embedding_a, {r, weight.size(0)}, name + ".lora_embedding_A", at::kFloat);
            const at::Tensor b =
                read(*m.embedding_b, {weight.size(1), r}, name + ".lora_embedding_B", at::kFloat);
            weight = at::addmm(weight.to(at::kFloat), a.t(), b.t(), 1, config_.scale(name, r))
                         .to(weight.scalar_type());
        }
        embedding_ = weight;
        effect_.changes_weights = true;
    }

    void attach_head(const std::string& name, const ModuleTensors& m) {
        at::Tensor weight = start(name, m, model_.head);
        if (m.a) {
            weight = weight.clone(); // a tied embedding stays as it is
            LowRankBranch branch =
                read_branch(name, m, {0, weight.size(0)}, weight.size(1), at::kFloat);
            if (m.magnitude)
                apply_magnitude(name, *m.magnitude, weight, branch);
            weight = at::addmm(weight.to(at::kFloat), branch.b, branch.a, 1, branch.scale)
                         .to(weight.scalar_type());
        }
        head_ = weight;
        effect_.changes_weights = true;
    }

    struct Rows {
        std::int64_t begin, end;
    };
    LowRankBranch read_branch(const std::string& name, const ModuleTensors& m, Rows rows,
                              std::int64_t in, at::ScalarType dtype) const {
        LowRankBranch branch;
        branch.begin = rows.begin;
        branch.end = rows.end;
        const std::int64_t r = rows_of(*m.a);
        branch.a = read(*m.a, {r, in}, name + ".lora_A.weight", dtype);
        branch.b = read(*m.b, {rows.end - rows.begin, r}, name + ".lora_B.weight", dtype);
        branch.scale = config_.scale(name, r);
        branch.dropout = config_.dropout;
        return branch;
    }

    // DoRA: m / |W + s B A| (W + s B A), row by row, is a plain branch beside W once the rows of W
    // and of B are multiplied by the quotient.
    void apply_magnitude(const std::string& name, const TensorView& magnitude, at::Tensor weight,
                         LowRankBranch& branch) {
        const at::Tensor lengths =
            read(magnitude, {weight.size(0)}, name + ".lora_magnitude_vector", at::kFloat);
        const at::Tensor adapted = at::addmm(weight.to(at::kFloat), branch.b.to(at::kFloat),
                                             branch.a.to(at::kFloat), 1, branch.scale);
        const at::Tensor quotient = (lengths / adapted.pow(2).sum({1}).sqrt()).unsqueeze(1);
        weight.copy_(weight.to(at::kFloat) * quotient);
        branch.b = (branch.b.to(at::kFloat) * quotient).to(branch.b.scalar_type());
        effect_.changes_weights = true;
    }

    void attach_linear(const std::string& name, const ModuleTensors& m) {
        for (Linear* linear : model_.linears())
            if (const LinearPart* part = linear->find_part(name)) {
                LowRankBranch branch =
                    read_branch(name, m, {part->begin, part->end}, linear->weight.size(1), dtype_);
                if (m.magnitude)
                    apply_magnitude(name, *m.magnitude,
                                    linear->weight.narrow(0, part->begin, part->end - part->begin),
                                    branch);
                linear->branches.push_back(std::move(branch));
                return;
            }
        throw Error(ErrorCode::unsupported,
                    "adapts " + printable(name, 120)
                        + ", which is not a linear layer of this model's decoder",
                    subject_);
    }

    CausalLM& model_;
    const LoraConfig& config_;
    std::string subject_;
    at::ScalarType dtype_;
    at::Tensor embedding_, head_;
    AdapterEffect effect_;
};

} // namespace

AdapterEffect attach_adapter(CausalLM& model, const std::filesystem::path& folder,
                             at::ScalarType dtype) {
    const LoraConfig config = read_lora_config(folder);
    const SafetensorsFile file(folder / "adapter_model.safetensors");
    return Attacher(model, config, file.path().string(), dtype).attach(collect_modules(file));
}

} // namespace cuset
