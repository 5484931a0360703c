#!/usr/bin/env python3
"""Scoring speed beside transformers and llama.cpp, in turns on the same threads.

Usage: score.py [--threads N] [--rounds N] [--repeats N] [--dtypes float32,bfloat16] [--samples DIR] [--files N]
Reads CUSET_BIN (the folder of bench_score) and CUSET_DEMO_MODEL (the demo model's GGUF file).
The model is rebuilt as a Hugging Face folder, and as a BF16 GGUF file for llama.cpp, in a temporary folder. In each
round every engine runs once as a process of its own, one after another, so that what else the machine does falls on
all alike; medians over the rounds are compared. `cpu` ratios compare processor time of the timed passes: they hold
on a busy machine too. First the log-probabilities of both engines are compared, token by token.
Ends with one line of JSON. Needs: torch transformers gguf; llama_cpp (llama-cpp-python) if llama.cpp is to take part
"""
import argparse
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
TOLERANCE = {"float32": 1e-3, "bfloat16": None}  # largest difference of a log-probability


def need_packages():
    names = {"torch": "torch", "transformers": "transformers", "gguf": "gguf", "safetensors": "safetensors",
             "numpy": "numpy"}
    missing = [package for name, package in names.items() if importlib.util.find_spec(name) is None]
    if missing:
        raise SystemExit("score: this benchmark compares with other programs; install them first: "
                         f"{sys.executable} -m pip install " + " ".join(missing))


def need(variable):
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"score: {variable} is not set; run packaging/bench score")
    return value


def run(command):
    """The last line of a program's output as JSON."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"score: {command[0]} ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def choose_files(args, folder):
    """A folder of links to the files that are scored."""
    files = sorted(pathlib.Path(args.samples).glob("*.cu"))
    if not files:
        raise SystemExit(f"score: no .cu files in {args.samples}")
    count = min(args.files or len(files), len(files))
    folder.mkdir()
    for i in range(count):
        file = files[(2 * i + 1) * len(files) // (2 * count)]
        (folder / file.name).symlink_to(file.resolve())
    return folder


def engines_of(args, folder, gguf, temporary):
    cuset = pathlib.Path(need("CUSET_BIN")) / "bench_score"
    engines = {}
    for dtype in args.dtypes.split(","):
        tail = [args.samples, dtype, args.threads, args.repeats]
        engines[f"cuset {dtype}"] = [cuset, folder, *tail]
        engines[f"transformers {dtype}"] = [sys.executable, HERE / "score_transformers.py", folder, *tail]
    if gguf:
        engines["llama.cpp bfloat16"] = [sys.executable, HERE / "score_llama_cpp.py", gguf,
                                         temporary / "transformers.json", args.threads, args.repeats]
    return engines


def compare_log_probs(args, folder, temporary):
    """dtype -> largest difference of a log-probability; ends the program if float32 differs."""
    found = {}
    for dtype in args.dtypes.split(","):
        values = []
        for name, start in (("cuset", [pathlib.Path(need("CUSET_BIN")) / "bench_score"]),
                            ("transformers", [sys.executable, HERE / "score_transformers.py"])):
            out = temporary / f"{name}.json"
            run([*start, folder, args.samples, dtype, args.threads, 1, out])
            values.append(json.loads(out.read_text())["logprob"])
        ours, theirs = values
        if len(ours) != len(theirs):
            raise SystemExit(f"score: {len(ours)} response tokens here, {len(theirs)} in transformers")
        found[dtype] = max(abs(a - b) for a, b in zip(ours, theirs))
        print(f"{dtype}: {len(ours)} log-probabilities, largest difference {found[dtype]:.2e}", file=sys.stderr)
        if TOLERANCE.get(dtype) and found[dtype] > TOLERANCE[dtype]:
            raise SystemExit(f"score: log-probabilities differ by {found[dtype]:.2e}, allowed {TOLERANCE[dtype]:.0e}")
    return found


def summarise(results, threads, differences):
    speed = {n: statistics.median(r["tokens_per_second"] for r in rs) for n, rs in results.items()}
    cpu = {n: statistics.median(r["cpu_seconds"] / r["tokens"] for r in rs) for n, rs in results.items()}
    peak = {n: max(r["peak_rss_bytes"] for r in rs) for n, rs in results.items()}
    summary = {"benchmark": "score", "threads": threads, "load_average": round(os.getloadavg()[0], 2),
               "tokens_per_second": {n: round(v, 1) for n, v in speed.items()},
               "cpu_us_per_token": {n: round(v * 1e6, 1) for n, v in cpu.items()}, "peak_rss_bytes": peak,
               "largest_logprob_difference": differences, "ratios": {}, "cpu_ratios": {}, "peak_rss_ratios": {}}
    for name in results:
        engine, dtype = name.split()
        ours = f"cuset {dtype}"
        if engine == "cuset" or ours not in results:
            continue
        summary["ratios"][name] = round(speed[ours] / speed[name], 3)
        summary["cpu_ratios"][name] = round(cpu[name] / cpu[ours], 3)
        summary["peak_rss_ratios"][name] = round(peak[ours] / peak[name], 3)
    return summary


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--threads", type=int, default=os.cpu_count())
    ap.add_argument("--rounds", type=int, default=3)
    ap.add_argument("--repeats", type=int, default=2, help="timed passes of one process")
    ap.add_argument("--dtypes", default="float32,bfloat16")
    ap.add_argument("--samples", default=str(SAMPLES), help="folder of .cu files")
    ap.add_argument("--files", type=int, default=2, help="files of it that are scored, spread evenly; 0: all")
    args = ap.parse_args()
    need_packages()
    model = need("CUSET_DEMO_MODEL")
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as name:
        temporary = pathlib.Path(name)
        folder, gguf = temporary / "model", None
        args.samples = choose_files(args, temporary / "samples")
        make = [sys.executable, HERE / "make_hf_folder.py", model, folder]
        if importlib.util.find_spec("llama_cpp"):
            gguf = temporary / "model.bf16.gguf"
            make += ["--write-gguf", gguf]
        else:
            print("score: llama_cpp is not installed, so llama.cpp is left out (pip install llama-cpp-python)",
                  file=sys.stderr)
        subprocess.run([str(m) for m in make], check=True)
        differences = compare_log_probs(args, folder, temporary)
        results = {}
        for number in range(args.rounds):
            for engine, command in engines_of(args, folder, gguf, temporary).items():
                result = run(command)
                results.setdefault(engine, []).append(result)
                print(f"round {number + 1}: {engine}: {result['tokens_per_second']:.0f} tokens/s", file=sys.stderr)
    print(json.dumps(summarise(results, args.threads, differences)))


if __name__ == "__main__":
    main()
