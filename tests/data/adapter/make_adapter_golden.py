#!/usr/bin/env python3
"""Make small LoRA adapters for the fixture model `qwen2` and their right answers, by peft in float32.

Usage: make_adapter_golden.py [MODEL_DIR] [OUT_DIR]
Writes OUT_DIR/plain (all linear layers, r 4, alpha 8), OUT_DIR/patterns (rank-stabilised, another rank and alpha for
some layers), OUT_DIR/dora (all linear layers, magnitudes moved), OUT_DIR/saved (embedding and head saved whole, though
the model ties them), OUT_DIR/embedding (low rank on embedding and head) and OUT_DIR/golden.json: the log-probability
of every response token of each of golden.json's first three samples with the adapter on, not merged.
Needs: torch transformers peft
"""
import json
import os
import shutil
import sys

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
CONFIGS = {
    "plain": dict(r=4, lora_alpha=8, target_modules=LAYERS),
    "patterns": dict(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"], use_rslora=True,
                     rank_pattern={"layers.1.self_attn.q_proj": 2}, alpha_pattern={"down_proj": 3}),
    "dora": dict(r=2, lora_alpha=6, target_modules=LAYERS, use_dora=True),
    "saved": dict(r=2, lora_alpha=4, target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"]),
    "embedding": dict(r=2, lora_alpha=4, target_modules=["v_proj", "embed_tokens", "lm_head"]),
}


def log_probs(model, sample):
    ids = torch.tensor([sample["ids"]])
    with torch.no_grad():
        logits = model(ids).logits[0].double()
    n = sample["prompt_tokens"]
    lp = torch.log_softmax(logits[n - 1:-1], -1).gather(1, ids[0, n:, None])[:, 0]
    return [round(float(v), 7) for v in lp]


def halve(path):
    """Store whole matrices of the model, which bfloat16 holds, in bfloat16."""
    tensors = load_file(path)
    for key, value in tensors.items():
        if "lora_" not in key:
            tensors[key] = value.to(torch.bfloat16)
            assert torch.equal(tensors[key].float(), value), key
    save_file(tensors, path, metadata={"format": "pt"})


def main():
    source = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "models", "qwen2")
    out = sys.argv[2] if len(sys.argv) > 2 else HERE
    samples = json.load(open(os.path.join(source, "golden.json"), encoding="utf-8"))[:3]
    golden = {}
    for number, (name, settings) in enumerate(CONFIGS.items()):
        torch.manual_seed(100 + number)
        base = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
        model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", **settings)).eval()
        for key, value in model.named_parameters():
            if "lora_magnitude" in key:
                value.data.mul_(1 + 0.2 * torch.randn_like(value))
            elif "lora_" in key:
                value.data.normal_(0, 0.15)
            elif "modules_to_save" in key:
                value.data.add_(0.1 * torch.randn_like(value))
                value.data = value.data.to(torch.bfloat16).float()  # a file half as large holds the same
        golden[name] = [log_probs(model, s) for s in samples]
        folder = os.path.join(out, name)
        shutil.rmtree(folder, ignore_errors=True)
        model.save_pretrained(folder)
        halve(os.path.join(folder, "adapter_model.safetensors"))
        if os.path.exists(os.path.join(folder, "README.md")):
            os.remove(os.path.join(folder, "README.md"))
        config = os.path.join(folder, "adapter_config.json")
        c = json.load(open(config))
        c["base_model_name_or_path"] = "qwen2"
        json.dump(c, open(config, "w"), indent=1)
    with open(os.path.join(out, "golden.json"), "w") as f:
        json.dump(golden, f)


if __name__ == "__main__":
    main()
