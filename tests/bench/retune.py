#!/usr/bin/env python3
"""What a moved slider costs on five million tokens: ours with 1 and 2 threads, and NumPy, taking turns in one run.

Usage: retune.py [--rounds 3] [--tokens 5000000] [--samples 5000]
CUSET_BIN names the folder of bench_retune, CUSET_PYTHON a Python with numpy. Ends with one line of JSON: medians of the rounds
in milliseconds and ratios of processor time, which other programs disturb less.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
STEPS = ("tau", "window", "all")


def measured(command):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"retune.py: {command[0]} ended with code {result.returncode}")
    return json.loads(result.stdout.splitlines()[-1])


def medians(rounds):
    names = [name for name in rounds[0] if name.endswith("_ms")]
    return {name: round(statistics.median(r[name] for r in rounds), 3) for name in names}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--samples", type=int, default=5_000)
    arguments = parser.parse_args()
    program = pathlib.Path(os.environ.get("CUSET_BIN", HERE.parent.parent / "build/release/bin")) / "bench_retune"
    if not program.exists():
        sys.exit(f"retune.py: {program} is not there; build it with packaging/build --tests")
    python = os.environ.get("CUSET_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"retune.py: {python} has no numpy; install python3-numpy or set CUSET_PYTHON to a Python that has it")
    size = [arguments.tokens, arguments.samples]
    numpy_command = [python, HERE / "retune_numpy.py", "--tokens", size[0], "--samples", size[1]]
    one, two, numpy = [], [], []
    for _ in range(max(1, arguments.rounds)):
        one.append(measured([program, 1, *size]))
        two.append(measured([program, 2, *size]))
        numpy.append(measured(numpy_command))
    result = {"bench": "retune", "tokens": size[0], "samples": size[1], "load": os.getloadavg()[0],
              "threads_1": medians(one), "threads_2": medians(two), "numpy": medians(numpy)}
    for step in STEPS:
        result[f"{step}_numpy_over_ours"] = round(
            result["numpy"][step + "_cpu_ms"] / max(1e-6, result["threads_1"][step + "_cpu_ms"]), 2)
    result["tau_over_read"] = round(result["threads_1"]["tau_cpu_ms"] / max(1e-6, result["threads_1"]["read_cpu_ms"]), 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
