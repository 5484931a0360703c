#!/usr/bin/env python3
"""Evaluate the same prompts and responses with llama.cpp on the CPU, logits of the last token only.

Usage: score_llama_cpp.py MODEL.gguf VALUES.json [THREADS] [REPEATS]
VALUES.json is what score_transformers.py wrote: its "ids" are the samples. Last logits only is the engine's best case: no statistics, and the head once for a sample. Prints one line of JSON.
Needs: llama_cpp (llama-cpp-python)
"""
import json
import os
import resource
import statistics
import sys
import time

import llama_cpp as ll


def evaluate(context, batch, ids):
    ll.llama_memory_clear(ll.llama_get_memory(context), True)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, i, 1
        batch.seq_id[i][0] = 0
        batch.logits[i] = i == len(ids) - 1
    if ll.llama_decode(context, batch):
        raise SystemExit("llama_decode failed")
    ll.llama_synchronize(context)


def main():
    path, values = sys.argv[1:3]
    threads = int(sys.argv[3]) if len(sys.argv) > 3 and int(sys.argv[3]) > 0 else os.cpu_count()
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    quiet = ll.llama_log_callback(lambda level, text, data: None)
    ll.llama_log_set(quiet, None)
    model = ll.llama_model_load_from_file(path.encode(), ll.llama_model_default_params())
    if not model:
        raise SystemExit("cannot load " + path)
    with open(values, encoding="utf-8") as f:
        work = json.load(f)["ids"]
    params = ll.llama_context_default_params()
    params.n_ctx = params.n_batch = max(512, max(map(len, work)))
    params.n_threads = params.n_threads_batch = threads
    context = ll.llama_init_from_model(model, params)
    batch = ll.llama_batch_init(params.n_batch, 0, 1)
    times, cpu = [], []
    for repeat in range(repeats + 1):
        start, used = time.perf_counter(), time.process_time()
        for ids in work:
            evaluate(context, batch, ids)
        if repeat:
            times.append(time.perf_counter() - start)
            cpu.append(time.process_time() - used)
    tokens = sum(map(len, work))
    print(json.dumps(dict(engine="llama.cpp", dtype="bfloat16", tokens=tokens,
                          tokens_per_second=tokens / statistics.median(times), cpu_seconds=statistics.median(cpu),
                          peak_rss_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)))


if __name__ == "__main__":
    main()
