#!/usr/bin/env python3
"""Store the fixture model smollm3 in the FP8 forms that checkpoints have, and their right answers.

Usage: make_fp8.py [MODELS_DIR]
Writes beside it:
  fp8-block   F8_E4M3 with weight_scale_inv for blocks of 32 x 16 (as DeepSeek-V3, there 128 x 128), quant_method fp8
  fp8-row     F8_E4M3 with weight_scale [rows, 1] in bfloat16, as compressed-tensors' float-quantized
  fp8-tensor  F8_E5M2 with one weight_scale for each weight, quant_method fp8
golden.json is transformers' in float32 on the weights that torch makes of the stored bytes and scales, for the
first three samples. Embedding and norms stay as they are.
Needs: torch transformers tokenizers safetensors
"""
import json
import os
import shutil
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

import make_models

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = (32, 16)


def largest(dtype):
    return torch.finfo(dtype).max


def blocks_of(weight, size):
    """Views of the weight's blocks with their places."""
    for i, row in enumerate(range(0, weight.shape[0], size[0])):
        for j, column in enumerate(range(0, weight.shape[1], size[1])):
            yield i, j, weight[row:row + size[0], column:column + size[1]]


def quantize(weight, size, dtype, scale_dtype):
    """Bytes, scales, and what they stand for in float32."""
    rows, columns = -(-weight.shape[0] // size[0]), -(-weight.shape[1] // size[1])
    scales = torch.zeros(rows, columns, dtype=scale_dtype)
    stored = torch.zeros(weight.shape, dtype=dtype)
    meant = torch.zeros(weight.shape)
    for (i, j, part), (_, _, low), (_, _, out) in zip(blocks_of(weight, size), blocks_of(stored, size),
                                                      blocks_of(meant, size)):
        scales[i, j] = part.abs().max() / largest(dtype)
        low.copy_((part / scales[i, j].float()).clamp(-largest(dtype), largest(dtype)).to(dtype))
        out.copy_(low.float() * scales[i, j].float())
    return stored, scales, meant


FORMS = {
    "fp8-block": (torch.float8_e4m3fn, torch.float32, lambda w: BLOCK, "weight_scale_inv", dict(
        quant_method="fp8", activation_scheme="dynamic", weight_block_size=list(BLOCK))),
    "fp8-row": (torch.float8_e4m3fn, torch.bfloat16, lambda w: (1, w.shape[1]), "weight_scale", dict(
        quant_method="compressed-tensors", format="float-quantized", quantization_status="compressed",
        config_groups=dict(group_0=dict(targets=["Linear"], weights=dict(
            num_bits=8, type="float", strategy="channel", symmetric=True))), ignore=["lm_head"])),
    "fp8-tensor": (torch.float8_e5m2, torch.float32, lambda w: tuple(w.shape), "weight_scale", dict(
        quant_method="fp8", activation_scheme="static")),
}


def main():
    models = sys.argv[1] if len(sys.argv) > 1 else HERE
    source = os.path.join(models, "smollm3")
    tokenizer = AutoTokenizer.from_pretrained(source)
    for name, (dtype, scale_dtype, size, suffix, settings) in FORMS.items():
        folder = os.path.join(models, name)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("cuset-reference.json"))
        stored, meant = {}, {}
        for key, value in load_file(os.path.join(source, "model.safetensors")).items():
            if not key.endswith("_proj.weight"):
                stored[key] = value
                continue
            low, scales, wide = quantize(value.float(), size(value), dtype, scale_dtype)
            stored[key] = low
            stored[key[:-len("weight")] + suffix] = scales if name != "fp8-tensor" else scales.reshape(())
            meant[key] = wide
        save_file(stored, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        path = os.path.join(folder, "config.json")
        config = json.load(open(path))
        config["quantization_config"] = settings
        json.dump(config, open(path, "w"), indent=2)
        model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
        state = dict(model.named_parameters())
        with torch.no_grad():
            for key, value in meant.items():
                state[key].copy_(value)
        golden = make_models.golden(model, tokenizer)[:3]
        json.dump(golden, open(os.path.join(folder, "golden.json"), "w"), ensure_ascii=False, separators=(",", ":"))
        print(name, len(meant), "weights in", dtype)


if __name__ == "__main__":
    main()
