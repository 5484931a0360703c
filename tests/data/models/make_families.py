#!/usr/bin/env python3
"""Make a small random model of each further family, and its right answers, as make_models.py does.

Usage: make_families.py [OUT_DIR] [--only NAME]
Each folder holds what `save_pretrained` writes in bfloat16 and golden.json (see make_models.py), by
transformers in float32, attention `eager`. The models are 32 channels wide; windows, caps, scales and
rope lengths are small enough to act on the samples. Some configs are rewritten as transformers 4 wrote them.
Needs: torch transformers tokenizers safetensors numpy
"""
import argparse
import json
import os
import shutil

import torch
from transformers import (AutoModelForCausalLM, DeepseekV2Config, DeepseekV2ForCausalLM, Gemma2Config, Gemma2ForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig,
                          GraniteConfig, GraniteForCausalLM, LlamaConfig, LlamaForCausalLM, MixtralConfig,
                          MixtralForCausalLM, Olmo2Config, Olmo2ForCausalLM, Phi3Config, Phi3ForCausalLM,
                          Qwen3MoeConfig, Qwen3MoeForCausalLM, SmolLM3Config, SmolLM3ForCausalLM, Starcoder2Config,
                          Starcoder2ForCausalLM)

import make_models

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = dict(vocab_size=704, hidden_size=32, intermediate_size=80, num_hidden_layers=4, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=2048, initializer_range=0.25, attn_implementation="eager",
            bos_token_id=0, eos_token_id=2, pad_token_id=0)
LATENT = dict(num_key_value_heads=4, kv_lora_rank=24, qk_nope_head_dim=12, qk_rope_head_dim=8, v_head_dim=10,
              n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, n_shared_experts=2,
              first_k_dense_replace=1)
SHORT = [1.0 + 0.1 * i for i in range(3)]
LONG = [2.0 + 1.5 * i for i in range(3)]

MODELS = {
    "phi3-longrope": (Phi3ForCausalLM, Phi3Config, dict(
        tie_word_embeddings=False, sliding_window=40, max_position_embeddings=512, original_max_position_embeddings=96,
        rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75, short_factor=SHORT,
                             long_factor=LONG))),
    "phi3": (Phi3ForCausalLM, Phi3Config, dict(tie_word_embeddings=True)),
    "granite": (GraniteForCausalLM, GraniteConfig, dict(
        tie_word_embeddings=True, embedding_multiplier=3.0, residual_multiplier=0.4, attention_multiplier=0.17,
        logits_scaling=1.7, attention_bias=True, mlp_bias=True)),
    "olmo2": (Olmo2ForCausalLM, Olmo2Config, dict(tie_word_embeddings=False, rope_parameters=dict(
        rope_type="default", rope_theta=500000.0))),
    "smollm3": (SmolLM3ForCausalLM, SmolLM3Config, dict(tie_word_embeddings=True)),
    "starcoder2": (Starcoder2ForCausalLM, Starcoder2Config, dict(
        tie_word_embeddings=True, sliding_window=40, use_bias=True, rope_parameters=dict(
            rope_type="default", rope_theta=100000.0))),
    "gemma2": (Gemma2ForCausalLM, Gemma2Config, dict(
        head_dim=16, query_pre_attn_scalar=16, sliding_window=24, attn_logit_softcapping=2.0,
        final_logit_softcapping=6.0)),
    "gemma3": (Gemma3ForCausalLM, Gemma3TextConfig, dict(
        # llama.cpp's converter drops rows of the embedding that no token has: none here
        vocab_size=529, head_dim=16, query_pre_attn_scalar=16, sliding_window=24, num_hidden_layers=7, rope_parameters=dict(
            sliding_attention=dict(rope_type="default", rope_theta=10000.0),
            full_attention=dict(rope_type="linear", rope_theta=1000000.0, factor=4.0)))),
    "qwen3-moe": (Qwen3MoeForCausalLM, Qwen3MoeConfig, dict(
        head_dim=16, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, norm_topk_prob=True,
        tie_word_embeddings=True)),
    "mixtral": (MixtralForCausalLM, MixtralConfig, dict(
        num_local_experts=4, num_experts_per_tok=2, intermediate_size=40, tie_word_embeddings=False)),
    "llama-dynamic-rope": (LlamaForCausalLM, LlamaConfig, dict(
        tie_word_embeddings=True, max_position_embeddings=64, rope_parameters=dict(
            rope_type="dynamic", rope_theta=10000.0, factor=4.0))),
    "deepseek-v2": (DeepseekV2ForCausalLM, DeepseekV2Config, dict(  # as V2-Lite
        q_lora_rank=None, **LATENT, tie_word_embeddings=False, rope_parameters=dict(
            rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=64, beta_fast=24,
            beta_slow=2, mscale=0.707, mscale_all_dim=0.707))),
    "deepseek-v2-groups": (DeepseekV2ForCausalLM, DeepseekV2Config, dict(
        q_lora_rank=20, **LATENT, topk_method="group_limited_greedy", n_group=3, topk_group=2,
        routed_scaling_factor=1.5, tie_word_embeddings=False)),
}
OLD_STYLE = ["deepseek-v2", "phi3-longrope", "starcoder2", "gemma2", "mixtral"]


def gemma3_old_style(folder):
    """The spelling of Gemma 3's first checkpoints."""
    path = os.path.join(folder, "config.json")
    config = json.load(open(path))
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope["full_attention"].pop("rope_theta")
    config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
    config["rope_scaling"] = rope["full_attention"]
    config["sliding_window_pattern"] = config.pop("_sliding_window_pattern", 6)
    config.pop("layer_types")
    config["torch_dtype"] = config.pop("dtype")
    json.dump(config, open(path, "w"), indent=2)


def shake(model):
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("bias"):
                value.normal_(0, 0.1)
            elif "norm" in name:
                value.add_(torch.randn_like(value) * 0.1)
            elif name.endswith(("gate.weight", "experts.gate_up_proj", "experts.down_proj")):
                value.normal_(0, 0.3)


def golden_alone(folder, tokenizer):
    """Each sample by a model of its own: with dynamic rope transformers remembers the longest it has seen."""
    samples, golden = list(make_models.SAMPLES), []
    for sample in samples:
        make_models.SAMPLES[:] = [sample]
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
        golden += make_models.golden(model, tokenizer)
    make_models.SAMPLES[:] = samples
    return golden


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?", default=HERE)
    parser.add_argument("--only")
    args = parser.parse_args()
    for number, (name, (model_class, config_class, settings)) in enumerate(MODELS.items()):
        if args.only and args.only != name:
            continue
        torch.manual_seed(4000 + number)
        model = model_class(config_class(**{**BASE, **settings}))
        shake(model)
        tokenizer = make_models.tokenizer("gpt2")
        assert len(tokenizer) <= model.config.vocab_size
        make_models.fit(model, tokenizer)
        folder = os.path.join(args.out, name)
        shutil.rmtree(folder, ignore_errors=True)
        model.to(torch.bfloat16).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        if name in OLD_STYLE:
            make_models.old_style(folder)
        if name == "gemma3":
            gemma3_old_style(folder)
        golden = golden_alone(folder, tokenizer)
        json.dump(golden, open(os.path.join(folder, "golden.json"), "w"), ensure_ascii=False, separators=(",", ":"))
        tokens = sum(len(s["logprob"]) for s in golden)
        print(name, sum(p.numel() for p in model.parameters()), "weights,", tokens, "response tokens,",
              "mean logprob %.3f," % (sum(sum(s["logprob"]) for s in golden) / tokens),
              "longest", max(len(s["ids"]) for s in golden))


if __name__ == "__main__":
    main()
