#include "core/model/family_defaults.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

constexpr DecoderTraits llama_traits;

constexpr DecoderTraits make_gemma_traits() {
    DecoderTraits t;
    t.activation = Activation::gelu_tanh;
    t.norm = NormKind::rms_wide;
    t.gain_adds_one = true;
    t.output_norms = true;
    return t;
}

constexpr DecoderTraits make_olmo2_traits() {
    DecoderTraits t;
    t.norm = NormKind::rms_wide;
    t.input_norms = false;
    t.output_norms = true;
    return t;
}

constexpr DecoderTraits make_starcoder2_traits() {
    DecoderTraits t;
    t.activation = Activation::gelu_tanh;
    t.norm = NormKind::layer;
    t.gated_mlp = false;
    return t;
}

constexpr std::array families{
    FamilyDefaults{.name = "llama",
                   .family = ModelFamily::llama,
                   .reads_biases = true,
                   .reads_mlp_bias = true,
                   .traits = llama_traits},
    FamilyDefaults{.name = "qwen2",
                   .family = ModelFamily::qwen2,
                   .qkv_bias = true,
                   .window = WindowRule::switched,
                   .context_length = 32768,
                   .traits = llama_traits},
    FamilyDefaults{.name = "qwen3",
                   .family = ModelFamily::qwen3,
                   .reads_biases = true,
                   .qk_norm = QueryKeyNorm::head,
                   .window = WindowRule::switched,
                   .context_length = 32768,
                   .head_dim = 128,
                   .traits = llama_traits},
    FamilyDefaults{.name = "mistral",
                   .family = ModelFamily::mistral,
                   .window = WindowRule::all_by_default,
                   .context_length = 131072,
                   .traits = llama_traits},
    FamilyDefaults{.name = "phi3",
                   .family = ModelFamily::phi3,
                   .window = WindowRule::all,
                   .context_length = 4096,
                   .norm_epsilon = 1e-5,
                   .partial_rope = true,
                   .fused_projections = true,
                   .traits = llama_traits},
    FamilyDefaults{.name = "granite",
                   .family = ModelFamily::granite,
                   .reads_biases = true,
                   .reads_mlp_bias = true,
                   .traits = llama_traits},
    FamilyDefaults{.name = "olmo2",
                   .family = ModelFamily::olmo2,
                   .reads_biases = true,
                   .qk_norm = QueryKeyNorm::full,
                   .norm_epsilon = 1e-5,
                   .traits = make_olmo2_traits()},
    FamilyDefaults{.name = "smollm3",
                   .family = ModelFamily::smollm3,
                   .reads_biases = true,
                   .reads_mlp_bias = true,
                   .window = WindowRule::unrotated,
                   .context_length = 32768,
                   .kv_heads = 4,
                   .theta = 2000000.0,
                   .tied = true,
                   .traits = llama_traits},
    FamilyDefaults{.name = "starcoder2",
                   .family = ModelFamily::starcoder2,
                   .window = WindowRule::all,
                   .context_length = 4096,
                   .kv_heads = 2,
                   .norm_epsilon = 1e-5,
                   .tied = true,
                   .traits = make_starcoder2_traits()},
    FamilyDefaults{.name = "gemma2",
                   .family = ModelFamily::gemma2,
                   .reads_biases = true,
                   .window = WindowRule::pattern,
                   .window_pattern = 2,
                   .context_length = 8192,
                   .head_dim = 256,
                   .kv_heads = 4,
                   .tied = true,
                   .traits = make_gemma_traits()},
    FamilyDefaults{.name = "gemma3_text",
                   .family = ModelFamily::gemma3,
                   .reads_biases = true,
                   .qk_norm = QueryKeyNorm::head,
                   .window = WindowRule::pattern,
                   .window_pattern = 6,
                   .context_length = 131072,
                   .head_dim = 256,
                   .kv_heads = 4,
                   .theta = 1000000.0,
                   .tied = true,
                   .traits = make_gemma_traits()},
    FamilyDefaults{.name = "qwen3_moe",
                   .family = ModelFamily::qwen3_moe,
                   .reads_biases = true,
                   .qk_norm = QueryKeyNorm::head,
                   .window = WindowRule::all_if_on,
                   .context_length = 32768,
                   .kv_heads = 4,
                   .traits = llama_traits},
    FamilyDefaults{.name = "mixtral",
                   .family = ModelFamily::mixtral,
                   .window = WindowRule::all,
                   .context_length = 131072,
                   .kv_heads = 8,
                   .norm_epsilon = 1e-5,
                   .theta = 1000000.0,
                   .traits = llama_traits},
    FamilyDefaults{.name = "deepseek_v2",
                   .family = ModelFamily::deepseek_v2,
                   .reads_mlp_bias = true,
                   .traits = llama_traits},
};

} // namespace

const FamilyDefaults& require_family(std::string_view name, const std::string& subject) {
    for (const FamilyDefaults& f : families)
        if (f.name == name)
            return f;
    throw Error(ErrorCode::unsupported,
                "model family '" + printable(std::string(name), 60)
                    + "' is not supported; supported are " + supported_families(),
                subject);
}

bool is_supported_family(std::string_view name) noexcept {
    return std::ranges::any_of(families, [&](const FamilyDefaults& f) { return f.name == name; });
}

const FamilyDefaults& family_defaults(ModelFamily family) noexcept {
    for (const FamilyDefaults& f : families)
        if (f.family == family)
            return f;
    return families.front();
}

std::string supported_families() {
    std::string text;
    for (std::size_t i = 0; i < families.size(); ++i)
        text.append(i == 0                         ? ""
                        : i + 1 == families.size() ? " and "
                                                   : ", ")
            .append(families[i].name);
    return text;
}

std::string_view model_family_name(ModelFamily family) noexcept {
    return family_defaults(family).name;
}

} // namespace cuset
