#!/usr/bin/env python3
"""LoRA training speed and memory beside PyTorch + peft, step by step in turns on the same threads.

Usage: train.py [--threads N] [--rounds N] [--dtypes float32,bfloat16] [--lengths 512,1024] [--samples DIR]
Reads CUSET_BIN (the folder of bench_train) and CUSET_DEMO_MODEL (the demo model's GGUF file).
The model is rebuilt as a Hugging Face folder. For each type one process of each program loads it; then they take
turns, one optimiser step each, so that what else the machine does falls on both alike. The first step of each length
warms up; medians of the others are compared. `cpu` ratios compare processor time: they hold on a busy machine too. The
loss of the first step must be the same in both: nothing is dropped then, since B of LoRA is zero.
Prints a table and ends with one line of JSON. Needs: torch transformers peft gguf safetensors tokenizers
"""
import argparse
import glob
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parent / "data" / "cuda_samples"
TOLERANCE = {"float32": 1e-4, "bfloat16": 2e-2}  # relative, of the first step's loss


def need_packages():
    names = ["torch", "transformers", "peft", "gguf", "safetensors", "tokenizers", "numpy"]
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit("train: this benchmark compares with other programs; install them first: "
                         f"{sys.executable} -m pip install " + " ".join(missing))


def need(variable):
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"train: {variable} is not set; run packaging/bench train")
    return value


class Program:
    """A process that does one step for each length it is sent."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def send(self, line):
        print(line, file=self.process.stdin, flush=True)

    def step(self, length):
        self.send(length)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"train: {self.name} ended with {self.process.wait()}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def write_ids(folder, samples, length, out):
    """Token ids of all files of the folder, one after another."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = "\n".join(pathlib.Path(p).read_text(encoding="utf-8") for p in sorted(glob.glob(f"{samples}/*.cu")))
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    if len(ids) < length:
        raise SystemExit(f"train: {samples} has {len(ids)} tokens, {length} are needed")
    out.write_text(json.dumps(ids[:length]), encoding="ascii")


def measure(programs, length, rounds, tolerance):
    """name -> its steps after the first; the losses of the first have to agree."""
    for program in programs:
        program.send("reset")
    first = [program.step(length)["loss"] for program in programs]
    difference = abs(first[0] - first[1]) / abs(first[1])
    if tolerance is not None and difference > tolerance:
        raise SystemExit(f"train: first losses {first} differ by {difference:.1e}, allowed {tolerance:.0e}")
    steps = {program.name: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            steps[program.name].append(program.step(length))
    return steps, difference


def figures(steps, length):
    return dict(tokens_per_second=round(length / statistics.median(s["seconds"] for s in steps), 1),
                cpu_us_per_token=round(1e6 * statistics.median(s["cpu_seconds"] for s in steps) / length, 1),
                peak_rss_bytes=max(s["peak_bytes"] for s in steps))


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--threads", type=int, default=os.cpu_count())
    ap.add_argument("--rounds", type=int, default=4, help="timed steps of each program and length")
    ap.add_argument("--dtypes", default="float32,bfloat16")
    ap.add_argument("--lengths", default="512,1024")
    ap.add_argument("--samples", default=str(SAMPLES))
    args = ap.parse_args()
    need_packages()
    model, cuset = need("CUSET_DEMO_MODEL"), pathlib.Path(need("CUSET_BIN")) / "bench_train"
    lengths = [int(n) for n in args.lengths.split(",")]
    rows = []
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as name:
        temporary = pathlib.Path(name)
        folder, ids = temporary / "model", temporary / "ids.json"
        subprocess.run([sys.executable, str(HERE / "make_hf_folder.py"), model, str(folder)], check=True)
        write_ids(folder, args.samples, max(lengths), ids)
        for dtype in args.dtypes.split(","):
            tail = [folder, ids, dtype, args.threads]
            programs = [Program("cuset", [cuset, *tail]),
                        Program("peft", [sys.executable, HERE / "train_peft.py", *tail])]
            for number, length in enumerate(lengths):
                # The adapters differ after a step: only the first length begins with equal models.
                steps, difference = measure(programs, length, args.rounds, None if number else TOLERANCE.get(dtype))
                ours, theirs = (figures(steps[p.name], length) for p in programs)
                ratios = dict(
                    speed=round(ours["tokens_per_second"] / theirs["tokens_per_second"], 3),
                    cpu=round(theirs["cpu_us_per_token"] / ours["cpu_us_per_token"], 3),
                    peak_rss=round(ours["peak_rss_bytes"] / theirs["peak_rss_bytes"], 3))
                rows.append(dict(dtype=dtype, length=length, first_loss_difference=difference, cuset=ours, peft=theirs,
                                 ratios=ratios))
            for program in programs:
                program.close()
    print(f"{'type':9} {'tokens':>6} {'cuset tok/s':>12} {'peft tok/s':>11} {'speed':>6} {'cpu':>6} "
          f"{'cuset MiB':>10} {'peft MiB':>9} {'memory':>7}")
    for r in rows:
        print(f"{r['dtype']:9} {r['length']:6} {r['cuset']['tokens_per_second']:12} "
              f"{r['peft']['tokens_per_second']:11} {r['ratios']['speed']:6.2f} {r['ratios']['cpu']:6.2f} "
              f"{r['cuset']['peak_rss_bytes'] >> 20:10} {r['peft']['peak_rss_bytes'] >> 20:9} "
              f"{r['ratios']['peak_rss']:7.2f}")
    print(json.dumps(dict(benchmark="train", threads=args.threads, load_average=round(os.getloadavg()[0], 2),
                          rows=rows)))


if __name__ == "__main__":
    main()
