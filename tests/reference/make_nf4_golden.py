#!/usr/bin/env python3
"""NF4 by bitsandbytes, for tests/core/train/quantization_test.cpp.

Usage: make_nf4_golden.py > tests/data/training/nf4.json
Blocks of 64 values of several kinds: normal, heavy-tailed, tiny, one value among zeros, all zero, every level and
the middle between two. "values" as given, "codes" (two to a byte, the first value in the high bits), "absmax" of each
block, "dequantized", and the 16 "levels"; no double quantisation.
"losses": plain NLL in nats a token of the golden samples (tests/data/training/MODEL/data.json), by the float64 decoder of
make_float64.py over weights quantised as core/train/block_quantization.h says, double quantisation included.
Versions it was run with: bitsandbytes 0.50.2 (its CPU kernels), torch 2.15.0. Needs: torch bitsandbytes safetensors peft transformers
"""
import json
import pathlib
import sys

import torch
from bitsandbytes import functional as F

TRAINING = pathlib.Path(__file__).resolve().parents[1] / "data" / "training"
sys.path[:0] = [str(TRAINING), str(TRAINING.parent / "models")]
from make_float64 import MODELS, PARTS, Decoder  # noqa: E402


def int8(values, dim):
    step = values.abs().amax(dim, keepdim=True) / 127
    return torch.round(values / step.clamp(min=1e-30)) * step


def narrow(scales):
    """8 bits in groups of 256 about the mean."""
    rest = torch.nn.functional.pad(scales - scales.mean(), (0, -len(scales) % 256)).view(-1, 256)
    return scales.mean() + int8(rest, 1).flatten()[:len(scales)]


def nf4(weight):
    codes, state = F.quantize_4bit(weight.float().contiguous(), blocksize=64, quant_type="nf4")
    scales = narrow(state.absmax.double())
    levels = F.get_4bit_type("nf4", device="cpu").double()
    index = torch.stack([codes.flatten() >> 4, codes.flatten() & 15], 1).flatten().long()
    return (levels[index] * scales.repeat_interleave(64)[:len(index)]).view(weight.shape)


def loss(name, quantise):
    """The layers' fused weights are quantised, as the trainer keeps them: q, k, v and gate, up as one."""
    model = Decoder(MODELS / name)
    for i in range(model.config["num_hidden_layers"]):
        names = [f"model.layers.{i}.{part}.weight" for part in PARTS]
        for group in (names[:3], names[3:4], names[4:6], names[6:]):
            whole = quantise(torch.cat([model.weights[n] for n in group]))
            for n, part in zip(group, whole.split([len(model.weights[n]) for n in group])):
                model.weights[n] = part
    total = count = 0
    for sample in json.loads((TRAINING / name / "data.json").read_text()):
        ids, p = torch.tensor(sample["ids"]), sample["prompt_tokens"]
        total -= float(model.log_probs(ids)[p - 1:-1].gather(1, ids[p:, None]).sum())
        count += len(ids) - p
    return total / count


def main():
    g = torch.Generator().manual_seed(4)
    levels = F.get_4bit_type("nf4", device="cpu")
    near = torch.cat([levels, (levels[1:] + levels[:-1]) / 2 + 1e-4, (levels[1:] + levels[:-1]) / 2 - 1e-4])
    parts = [torch.randn(256, generator=g), torch.randn(128, generator=g) ** 3, 1e-6 * torch.randn(64, generator=g),
             torch.nn.functional.one_hot(torch.tensor(9), 64) * -2.5, torch.zeros(64),
             torch.nn.functional.pad(near, (0, 64 - len(near)))]
    values = torch.cat(parts).float()
    codes, state = F.quantize_4bit(values, blocksize=64, quant_type="nf4")
    back = F.dequantize_4bit(codes, state)
    kinds = dict(none=lambda w: w, int8=lambda w: int8(w, 1), nf4=nf4)
    losses = {m: {k: loss(m, f) for k, f in kinds.items()} for m in ("llama", "qwen2")}
    print(json.dumps(dict(losses=losses, levels=levels.tolist(), values=values.tolist(), codes=codes.flatten().tolist(),
                          absmax=state.absmax.tolist(), dequantized=back.flatten().tolist())))


if __name__ == "__main__":
    main()
