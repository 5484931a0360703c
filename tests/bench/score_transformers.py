#!/usr/bin/env python3
"""Score the CUDA files of a folder with transformers on the CPU, as bench_score does, for comparison.

Usage: score_transformers.py MODEL_DIR SAMPLES [DTYPE] [THREADS] [REPEATS] [VALUES.json]
Prints one line of JSON: tokens, tokens and processor seconds of a pass (medians of the repeats), peak memory in bytes.
VALUES.json gets the log-probability of every response token and the ids of every sample.
Needs: torch transformers
"""
import glob
import json
import os
import resource
import statistics
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

ASK = "Write a complete CUDA C++ file that does what the following comment line says. Answer with code only.\n"


def encode(tok, path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    prompt = tok.apply_chat_template([{"role": "user", "content": ASK + text.split("\n", 1)[0]}],
                                     add_generation_prompt=True, tokenize=False)
    p = tok(prompt, add_special_tokens=False)["input_ids"]
    r = tok(text, add_special_tokens=False)["input_ids"] + [tok.eos_token_id]
    return torch.tensor([p + r]), len(p)


def score(model, ids, prompt):
    """Log-probability, entropy, rank and top 5 of each response token, in float32."""
    logits = model(input_ids=ids, use_cache=False).logits[0, prompt - 1:-1].float()
    target = ids[0, prompt:, None]
    lse = torch.logsumexp(logits, -1, keepdim=True)
    chosen = logits.gather(-1, target)
    lp = logits - lse
    entropy = -(lp.exp() * lp).sum(-1)
    rank = (logits > chosen).sum(-1)
    top = torch.topk(lp, 5, -1)
    return (chosen - lse)[:, 0], entropy, rank, top.values, top.indices


def main():
    model_dir, samples = sys.argv[1:3]
    dtype = sys.argv[3] if len(sys.argv) > 3 else "float32"
    torch.set_num_threads(int(sys.argv[4]) if len(sys.argv) > 4 and int(sys.argv[4]) > 0 else os.cpu_count())
    repeats = int(sys.argv[5]) if len(sys.argv) > 5 else 3
    torch.set_grad_enabled(False)
    tok = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModelForCausalLM.from_pretrained(model_dir, dtype=getattr(torch, dtype)).eval()
    work = [encode(tok, p) for p in sorted(glob.glob(os.path.join(samples, "*.cu")))]
    tokens = sum(ids.shape[1] for ids, _ in work)
    times, cpu, log_probs = [], [], []
    for repeat in range(repeats + 1):
        start, used = time.perf_counter(), time.process_time()
        log_probs = [score(model, *w)[0] for w in work]
        if repeat:
            times.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
    if len(sys.argv) > 6:
        with open(sys.argv[6], "w", encoding="utf-8") as f:
            json.dump(dict(logprob=torch.cat(log_probs).tolist(), ids=[ids[0].tolist() for ids, _ in work]), f)
    print(json.dumps(dict(engine="transformers", dtype=dtype, tokens=tokens,
                          response_tokens=sum(map(len, log_probs)),
                          tokens_per_second=tokens / statistics.median(times),
                          cpu_seconds=statistics.median(cpu), mean_confidence=float(torch.cat(log_probs).exp().mean()),
                          peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)))


if __name__ == "__main__":
    main()
