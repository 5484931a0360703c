#include "core/model/deepseek_config.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/message.h"

namespace cuset {
namespace {

[[noreturn]] void refuse(const ConfigFields& f, const std::string& what) {
    throw Error(ErrorCode::unsupported, what, f.subject());
}

void check_groups(const ExpertConfig& e, const std::string& subject) {
    if (e.count % e.groups != 0 || e.used > e.groups_used * (e.count / e.groups))
        throw Error(ErrorCode::bad_value,
                    std::to_string(e.count) + " experts do not make " + std::to_string(e.groups)
                        + " groups, " + std::to_string(e.groups_used) + " of which hold the "
                        + std::to_string(e.used) + " to use",
                    subject);
}

void read_groups(const ConfigFields& f, ExpertConfig& e) {
    const std::string method = f.text("topk_method").value_or("greedy");
    if (method == "greedy")
        return;
    if (method != "group_limited_greedy")
        refuse(f,
               "topk_method '" + printable(method, 40)
                   + "' is not supported; supported are greedy and group_limited_greedy");
    e.groups = f.require_integer("n_group", 1, e.count);
    e.groups_used = f.require_integer("topk_group", 1, e.groups);
    check_groups(e, f.subject());
}

// transformers does not read these, the models' own code does: only values are taken where both
// agree.
void refuse_other_routers(const ConfigFields& f) {
    if (f.boolean("norm_topk_prob").value_or(false))
        refuse(f, "norm_topk_prob with deepseek_v2 is not supported");
    if (f.integer("moe_layer_freq", 1, 1 << 20).value_or(1) != 1)
        refuse(f, "moe_layer_freq other than 1 is not supported");
    const std::string scores = f.text("scoring_func").value_or("softmax");
    if (scores != "softmax")
        refuse(f,
               "scoring_func '" + printable(scores, 40)
                   + "' is not supported; supported is softmax");
}

} // namespace

void read_latent_attention(const ConfigFields& f, ModelConfig& c) {
    if (f.boolean("attention_bias").value_or(false))
        refuse(f, "attention_bias with latent attention is not supported");
    LatentConfig& l = c.latent;
    l.key_rank = f.integer("kv_lora_rank", 1, 1 << 20).value_or(512);
    l.query_rank = f.object().contains("q_lora_rank")
        ? f.integer("q_lora_rank", 1, 1 << 20).value_or(0)
        : 1536;
    l.rotated = f.integer("qk_rope_head_dim", 2, 4096).value_or(64);
    l.value_dim = f.integer("v_head_dim", 1, 4096).value_or(128);
    c.head_dim = f.integer("qk_nope_head_dim", 1, 4096).value_or(128) + l.rotated;
    c.kv_heads = c.heads;
    if (l.rotated % 2 != 0)
        throw Error(ErrorCode::bad_value,
                    "qk_rope_head_dim is " + std::to_string(l.rotated)
                        + ", rotary position embedding needs an even number",
                    f.subject());
}

double latent_attention_scale(std::int64_t head_dim, const RopeConfig& rope) {
    const double plain = 1.0 / std::sqrt(static_cast<double>(head_dim));
    if (rope.kind == RopeKind::standard || rope.factor <= 1.0)
        return plain;
    const double mscale = 1.0 + 0.1 * rope.mscale_all_dim.value_or(0.0) * std::log(rope.factor);
    return plain * mscale * mscale;
}

void read_deepseek_experts(const ConfigFields& f, ModelConfig& c) {
    ExpertConfig& e = c.experts;
    e.count = f.integer("n_routed_experts", 1, 65536).value_or(64);
    e.used = f.require_integer("num_experts_per_tok", 1, e.count);
    e.intermediate = f.integer("moe_intermediate_size", 1, 1 << 22).value_or(1407);
    e.shared = f.integer("n_shared_experts", 0, 1024).value_or(2) * e.intermediate;
    e.normalized = false;
    e.scale = f.number("routed_scaling_factor").value_or(1.0);
    e.wide_router = true;
    read_groups(f, e);
    refuse_other_routers(f);
    const std::int64_t dense = f.integer("first_k_dense_replace", 0, 1 << 20).value_or(0);
    for (std::int64_t i = 0; i < c.layers; ++i)
        c.expert_layers.push_back(i >= dense);
}

// llama.cpp writes the sizes of what its own way of latent attention makes as key_length and
// value_length; older files those of the heads.
void read_latent_attention(const GgufFields& f, ModelConfig& c) {
    LatentConfig& l = c.latent;
    l.key_rank = f.require_integer("attention.kv_lora_rank", 1, 1 << 20);
    l.query_rank = f.integer("attention.q_lora_rank", 0, 1 << 20).value_or(0);
    l.rotated = f.require_integer("rope.dimension_count", 2, 4096);
    const auto head = f.integer("attention.key_length_mla", 2, 4096);
    c.head_dim = head ? *head : f.require_integer("attention.key_length", 2, 4096);
    const auto value = f.integer("attention.value_length_mla", 1, 4096);
    l.value_dim = value ? *value : f.require_integer("attention.value_length", 1, 4096);
    c.kv_heads = c.heads;
    if (l.rotated >= c.head_dim)
        throw Error(ErrorCode::bad_value,
                    "rotates " + std::to_string(l.rotated) + " of " + std::to_string(c.head_dim)
                        + " channels of a head, needed fewer",
                    f.file().path().string());
}

// V3's files have the same architecture's name and another router.
void read_deepseek_experts(const GgufFields& f, ModelConfig& c) {
    const std::string subject = f.file().path().string();
    constexpr std::int64_t softmax_gate = 1;
    const std::string last = "blk." + std::to_string(c.layers - 1);
    if (f.integer("expert_gating_func", 0, 1 << 20).value_or(softmax_gate) > softmax_gate
        || f.file().find_tensor(last + ".exp_probs_b.bias"))
        throw Error(ErrorCode::unsupported,
                    "the router of DeepSeek-V3 and its kin is not supported; supported is V2's",
                    subject);
    if (f.is_on("expert_weights_norm"))
        throw Error(ErrorCode::unsupported, "expert_weights_norm with deepseek2 is not supported",
                    subject);
    ExpertConfig& e = c.experts;
    e.normalized = false;
    e.wide_router = true;
    const double scale = f.number("expert_weights_scale", 0.0, 1e6).value_or(0.0);
    e.scale = scale > 0 ? scale : 1.0;
    e.shared = f.integer("expert_shared_count", 0, 1024).value_or(0) * e.intermediate;
    const auto at_least_one = [&](const char* key, std::int64_t high, std::int64_t otherwise) {
        return std::max<std::int64_t>(1, f.integer(key, 0, high).value_or(otherwise));
    };
    e.groups = at_least_one("expert_group_count", e.count, 1);
    e.groups_used = at_least_one("expert_group_used_count", e.groups, e.groups);
    check_groups(e, subject);
}

} // namespace cuset
