#!/usr/bin/env python3
"""Right answers for training: losses, gradient norms and final adapters of a few optimiser steps.

For a model folder made by make_fixtures.py this writes, into OUT_DIR:

  start/                 a PEFT LoRA adapter (rank 4, alpha 8, no dropout, all linear layers) with both
                         matrices drawn at random, so that every gradient is non-zero from the first step
  data.json              the samples as token ids, with the number of prompt tokens and, for each response
                         token, whether it lies in a kernel body or a launch configuration (Eq. 3's indicator)
  <objective>.json       the settings, and for each optimiser step: loss, grad_norm (before clipping), lr
  <objective>/           the adapter after the last step
  full-<objective>.json  the same with every weight trained and no adapter

One optimiser step covers `gradient_accumulation` samples, taken in file order, round and round. With
"token_mean" a step's loss is  sum_n w_n sum_t m_{n,t} * nll_{n,t}  /  sum_n T_n  (T_n response tokens);
with "sum" it is  (1/N) sum_n w_n sum_t m_{n,t} * nll_{n,t}  over the step's N samples, Eq. 9 to the letter.
Everything is float32, on one thread, dropout off. AdamW: betas 0.9, 0.999, eps 1e-8, decoupled weight decay.

Usage: make_training.py MODEL_DIR OUT_DIR
"""
import argparse, json, math, os, shutil, sys
import torch
from peft import LoraConfig, get_peft_model, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from make_models import SAMPLES

TAU, LAMBDA, WINDOW = 0.1, 1.0, 32          # a short window: the samples are short
STEPS, ACCUMULATE, LR, WD, CLIP = 6, 2, 2e-3, 0.01, 1.0
WARMUP = 2


def regions(text):
    """Character ranges of kernel bodies and launch configurations in the (well-formed) samples above."""
    out, at = [], 0
    while (at := text.find("__global__", at)) >= 0:
        begin = text.index("{", at)
        depth, end = 0, begin
        while True:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        out.append((begin, end))
        at = end
    at = 0
    while (at := text.find("<<<", at)) >= 0:
        end = text.index(">>>", at) + 3
        out.append((at, end))
        at = end
    at = 0
    while (at := text.find("dim3 ", at)) >= 0:
        end = text.index(";", at) + 1
        out.append((at, end))
        at = end
    return out


def weights(objective, logp, flags, ref_logp=None):
    """Per-token weights (detached) and sample weight. logp: [T, V] log-probabilities; flags: [T] 0/1."""
    name = objective["name"]
    target = objective["target"]
    nll = -logp.gather(1, target[:, None])[:, 0]
    c = torch.exp(-nll.detach())
    T = len(c)
    if name == "sft":
        return nll, torch.ones(T), 1.0
    if name == "dft":
        return nll, c, 1.0
    if name == "asft":
        return nll, c, 1.0
    if name == "profit":
        return nll, (c > objective["tau"]).float(), 1.0
    if name == "eaft":
        top = logp.detach().topk(20, -1).values
        q = torch.log_softmax(top, -1)
        return nll, (-(q.exp() * q).sum(-1) / math.log(20)) ** objective["alpha"], 1.0
    if name == "cuset":
        m = torch.zeros(T)
        if objective["confidence_mask"]:
            m = m + (c > objective["tau"]).float()
        if objective["cuda_mask"]:
            m = m + objective["lambda"] * flags
        if not objective["confidence_mask"] and not objective["cuda_mask"]:
            m = torch.ones(T)
        w = 1.0
        if objective["region_weight"]:
            l = objective["window"]
            means = [c[max(0, t - l // 2):min(T - 1, t + (l + 1) // 2 - 1) + 1].mean() for t in range(T)]
            w = float(1 - min(means))
        return nll, m, w
    raise ValueError(name)


def lr_at(step, total, schedule):
    """Learning rate of optimiser step `step` (from 0): linear warm-up, then cosine to zero, as transformers has it."""
    if schedule == "constant":
        return LR
    if step < WARMUP:
        return LR * step / WARMUP
    return LR * 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (total - WARMUP)))


def run(model, ref, data, objective, schedule, reduction):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=LR, weight_decay=WD)
    log, at = [], 0
    for step in range(STEPS):
        group = [data[(at + i) % len(data)] for i in range(ACCUMULATE)]
        at += ACCUMULATE
        norm = sum(len(s["cuda"]) for s in group) if reduction == "token_mean" else len(group)
        total = 0.0
        for s in group:
            ids = torch.tensor([s["ids"]])
            p = s["prompt_tokens"]
            logp = torch.log_softmax(model(ids).logits[0, p - 1:-1], -1)
            objective["target"] = ids[0, p:]
            nll, m, w = weights(objective, logp, torch.tensor(s["cuda"], dtype=torch.float32))
            loss = w * (m * nll).sum()
            if objective["name"] == "asft":
                with torch.no_grad():
                    q = torch.log_softmax(ref(ids).logits[0, p - 1:-1], -1)
                loss = loss + objective["alpha"] * (q.exp() * (q - logp)).sum()
            (loss / norm).backward()
            total += float(loss.detach()) / norm
        objective.pop("target")
        gn = float(torch.nn.utils.clip_grad_norm_(params, CLIP))
        lr = lr_at(step, STEPS, schedule)
        for g in opt.param_groups:
            g["lr"] = lr
        opt.step()
        opt.zero_grad()
        log.append(dict(step=step + 1, loss=round(total, 7), grad_norm=round(gn, 6), lr=lr))
    return log


OBJECTIVES = [
    ("sft", dict(name="sft"), "constant", "token_mean"),
    ("dft", dict(name="dft"), "constant", "token_mean"),
    ("asft", dict(name="asft", alpha=0.1), "constant", "token_mean"),
    ("eaft", dict(name="eaft", alpha=1.0), "constant", "token_mean"),
    ("profit", dict(name="profit", tau=0.3), "constant", "token_mean"),
] + [
    ("cuset" + tag, dict(name="cuset", confidence_mask=c, tau=TAU, cuda_mask=k, **{"lambda": lam}, region_weight=r,
                         window=WINDOW), sched, red)
    for tag, c, k, r, lam, sched, red in [
        ("", True, True, True, LAMBDA, "cosine", "token_mean"), ("-sum", True, True, True, LAMBDA, "constant", "sum"),
        ("-lambda2", True, True, True, 2.0, "constant", "token_mean"),
        ("-conf", True, False, False, LAMBDA, "constant", "token_mean"),
        ("-conf-cuda", True, True, False, LAMBDA, "constant", "token_mean"),
        ("-conf-region", True, False, True, LAMBDA, "constant", "token_mean"),
        ("-none", False, False, False, LAMBDA, "constant", "token_mean")]]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("model"); ap.add_argument("out"); ap.add_argument("--seed", type=int, default=11)
    a = ap.parse_args()
    torch.set_num_threads(1)
    tok = AutoTokenizer.from_pretrained(a.model)
    data = []
    for prompt, response in SAMPLES:
        p = tok(prompt + "\n", add_special_tokens=False)["input_ids"]
        e = tok(response, add_special_tokens=False, return_offsets_mapping=True)
        rs = regions(response)
        cuda = [int(any(b < r1 and r0 < x for r0, r1 in rs)) for b, x in e["offset_mapping"]]
        data.append(dict(ids=p + e["input_ids"], prompt_tokens=len(p), cuda=cuda))
    os.makedirs(a.out, exist_ok=True)
    json.dump(data, open(os.path.join(a.out, "data.json"), "w"), separators=(",", ":"))
    load = lambda: AutoModelForCausalLM.from_pretrained(a.model, dtype=torch.float32).eval()
    torch.manual_seed(a.seed)
    start = get_peft_model(load(), LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, target_modules="all-linear",
                                              task_type="CAUSAL_LM"))
    with torch.no_grad():
        for n, p in start.named_parameters():
            if "lora_" in n:
                p.normal_(0, 0.05)
    start.save_pretrained(os.path.join(a.out, "start"))
    ref = load()
    common = dict(gradient_accumulation=ACCUMULATE, learning_rate=LR, weight_decay=WD, max_grad_norm=CLIP)
    for tag, objective, schedule, reduction in OBJECTIVES:
        model = PeftModel.from_pretrained(load(), os.path.join(a.out, "start"), is_trainable=True)
        log = run(model, ref, data, objective, schedule, reduction)
        model.save_pretrained(os.path.join(a.out, tag))
        rec = dict(objective=objective, schedule=schedule, warmup_steps=WARMUP if schedule == "cosine" else 0,
                   reduction=reduction, **common, steps=log)
        json.dump(rec, open(os.path.join(a.out, tag + ".json"), "w"), indent=1)
        print(tag, [s["loss"] for s in log], [s["grad_norm"] for s in log][:2])
        if tag in ("sft", "cuset"):
            log = run(load().requires_grad_(True), ref, data, objective, schedule, reduction)
            rec["steps"] = log
            json.dump(rec, open(os.path.join(a.out, "full-" + tag + ".json"), "w"), indent=1)
            print("full", tag, [s["loss"] for s in log])
    for d, _, fs in os.walk(a.out):
        for f in fs:
            if f == "README.md":
                os.remove(os.path.join(d, f))


if __name__ == "__main__":
    main()
