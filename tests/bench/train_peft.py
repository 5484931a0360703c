#!/usr/bin/env python3
"""LoRA steps of PyTorch + peft for packaging/bench train: what bench_train does, as peft's users run it.

Usage: train_peft.py MODEL_DIR IDS.json DTYPE [THREADS] < LENGTHS
Each line of the input is a length in tokens, answered by one optimiser step and one line of JSON (see bench_train).
Scaled dot product attention, no checkpointing, rank 8, alpha 16, dropout 0.05 on all linear layers, adapters in
float32 (peft's default), AdamW, clipping at 1. The loss is the paper's Eq. 9 over the sample's response tokens, from
the full logits in float32.
Needs: torch transformers peft
"""
import json
import os
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

TAU, LAMBDA, WINDOW = 0.1, 1.0, 256


def peak_bytes():
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM:"))


def weighted_loss(log_p, cuda):
    c = log_p.detach().exp()
    mask = (c > TAU).float() + LAMBDA * cuda
    n = c.numel()
    sums = torch.cat([c.new_zeros(1), c.double().cumsum(0).to(c.dtype)])
    t = torch.arange(n)
    begin, end = (t - WINDOW // 2).clamp(min=0), (t + (WINDOW + 1) // 2).clamp(max=n)
    weight = 1.0 - ((sums[end] - sums[begin]) / (end - begin)).min()
    return -(weight * mask * log_p).sum() / n


def main():
    model_dir, ids_file, dtype = sys.argv[1:4]
    torch.set_num_threads(int(sys.argv[4]) if len(sys.argv) > 4 and int(sys.argv[4]) > 0 else os.cpu_count())
    torch.manual_seed(0)
    with open(ids_file, encoding="ascii") as f:
        ids = torch.tensor([json.load(f)])
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=getattr(torch, dtype), attn_implementation="sdpa")
    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, lora_dropout=0.05, target_modules="all-linear",
                                             task_type="CAUSAL_LM"))
    model.config.use_cache = False
    model.train()
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.0)
    for line in sys.stdin:
        if line.strip() == "reset":  # the peak begins anew
            with open("/proc/self/clear_refs", "w", encoding="ascii") as f:
                f.write("5")
            continue
        x = ids[:, :int(line)]
        cuda = (torch.arange(x.shape[1] - 1) % 3 == 0).float()
        start, used = time.perf_counter(), time.process_time()
        logits = model(input_ids=x).logits[0, :-1].float()
        log_p = torch.log_softmax(logits, -1).gather(-1, x[0, 1:, None])[:, 0]
        loss = weighted_loss(log_p, cuda)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        value = loss.item()
        del logits, log_p, loss
        print(json.dumps(dict(seconds=time.perf_counter() - start, cpu_seconds=time.process_time() - used, loss=value,
                              peak_bytes=peak_bytes())), flush=True)


if __name__ == "__main__":
    main()
