#!/usr/bin/env python3
"""What a moved slider costs in NumPy, on one thread: the anchor beside bench_retune.

Usage: retune_numpy.py [--tokens 5000000] [--samples 5000] [--repetitions 7]    (needs numpy)
Prints one line of JSON with medians in milliseconds:
  tau      masks, counts, and the sum of the hybrid mask for each sample
  window   clipped window means from a kept prefix sum, the minimum of each sample, weights
  all      both
  low      shares of low-confidence windows of 64 tokens, and of those that touch a sensitive token
  open     confidences, prefix sums and moments: what no setting changes
  read     the largest confidence: a plain read of the same bytes
"""
import argparse
import json
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
import numpy as np


class Corpus:
    def __init__(self, tokens, samples):
        rng = np.random.default_rng(1)
        inner = np.sort(rng.choice(np.arange(1, tokens), samples - 1, replace=False))
        self.begin = np.concatenate([[0], inner, [tokens]])
        uniform = rng.random(tokens)
        self.log_prob = np.log1p(-0.999999 * uniform * uniform).astype(np.float32)
        run = np.repeat(rng.random(tokens // 8 + 1), 8)[:tokens]
        self.cuda = run < 0.55
        self.sensitive = np.repeat(rng.random(tokens // 8 + 1), 8)[:tokens] < 0.2
        lengths = np.diff(self.begin)
        self.first = np.repeat(self.begin[:-1], lengths)
        self.last = np.repeat(self.begin[1:], lengths)
        self.index = np.arange(tokens)

    def open(self):
        self.confidence = np.exp(self.log_prob)
        self.sums = np.concatenate([[0.0], np.cumsum(self.confidence, dtype=np.float64)])
        self.touched = np.concatenate([[0], np.cumsum(self.sensitive)])
        self.neutral = self.confidence[~self.sensitive].mean(dtype=np.float64)
        return self.neutral, self.confidence[self.sensitive].std(dtype=np.float64)

    def set_tau(self, tau):
        confident = self.confidence > np.float32(tau)
        mask = confident + np.float32(1) * self.cuda
        return (np.add.reduceat(mask, self.begin[:-1]), int(np.count_nonzero(confident)),
                int(np.count_nonzero(confident | self.cuda)))

    def set_window(self, window):
        low = np.maximum(self.index - window // 2, self.first)
        high = np.minimum(self.index + (window + 1) // 2, self.last)
        means = ((self.sums[high] - self.sums[low]) / (high - low)).astype(np.float32)
        return 1 - np.minimum.reduceat(means, self.begin[:-1])

    def low_windows(self, window):
        end = np.minimum(self.index + window, self.last)
        full = (end - self.index == window) | ((self.index == self.first) & (end == self.last))
        mean = (self.sums[end] - self.sums[self.index]) / (end - self.index)
        low = full & (mean < self.neutral)
        touching = low & (self.touched[end] > self.touched[self.index])
        return (np.logical_or.reduceat(low, self.begin[:-1]).mean(), low.sum() / full.sum(),
                touching.sum() / max(1, low.sum()))


def measure(result, name, step, repetitions):
    """Adds NAME_ms by the clock, and NAME_cpu_ms of processor time, which other programs disturb less."""
    times, processor = [], []
    for i in range(repetitions):
        begin, used = time.perf_counter(), time.process_time()
        step(i)
        times.append(1e3 * (time.perf_counter() - begin))
        processor.append(1e3 * (time.process_time() - used))
    result[name + "_ms"] = round(sorted(times)[repetitions // 2], 3)
    result[name + "_cpu_ms"] = round(sorted(processor)[repetitions // 2], 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--repetitions", type=int, default=7)
    arguments = parser.parse_args()
    corpus = Corpus(arguments.tokens, arguments.samples)
    n = arguments.repetitions
    result = {"bench": "retune_numpy", "numpy": np.__version__, "tokens": arguments.tokens,
              "samples": arguments.samples}
    measure(result, "open", lambda i: corpus.open(), 3)

    def tau(i):
        return 0.05 + 0.09 * ((i + 1) * 7 % 10)

    def window(i):
        return 64 if i % 2 == 0 else 256

    measure(result, "tau", lambda i: corpus.set_tau(tau(i)), n)
    measure(result, "window", lambda i: corpus.set_window(window(i)), n)
    measure(result, "all", lambda i: (corpus.set_tau(tau(i)), corpus.set_window(window(i))), n)
    measure(result, "low", lambda i: corpus.low_windows(32 if i % 2 == 0 else 64), n)
    measure(result, "read", lambda i: corpus.confidence.max(), n)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
