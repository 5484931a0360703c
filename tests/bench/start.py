#!/usr/bin/env python3
"""How long the programs take to start, beside Python's `import torch`.

Usage: start.py [--rounds N]
Reads CUSET_BIN (the folder of cuset and cuset-studio) and CUSET_DEMO_MODEL. Commands run in turns; wall time, processor
time and peak memory are medians. The window is drawn offscreen, empty, saved as a picture and closed. Ends with one
line of JSON. `import torch` takes part if the Python that runs this has torch.
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
import time


def need(variable):
    value = os.environ.get(variable)
    if not value:
        raise SystemExit(f"start: {variable} is not set; run packaging/bench start")
    return value


def commands(temporary):
    programs = pathlib.Path(need("CUSET_BIN"))
    found = {"version": [programs / "cuset", "--version"],
             "info": [programs / "cuset", "info", need("CUSET_DEMO_MODEL"), "--json"]}
    studio = programs / "cuset-studio"
    if studio.exists():
        found["window"] = [studio, "--screenshot", temporary / "window.png"]
    if importlib.util.find_spec("torch"):
        found["python_import_torch"] = [sys.executable, "-c", "import torch"]
    else:
        print(f"start: no torch to compare with; {sys.executable} -m pip install torch "
              "(or name a Python that has it in CUSET_PYTHON)", file=sys.stderr)
    return found


def measure(command, environment):
    """Wall seconds, processor seconds, peak bytes of one run."""
    start = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"start: {command[0]} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--rounds", type=int, default=3)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="cuset-bench-") as name:
        # Settings of its own, so that the user's last session is not opened and measured.
        environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", XDG_CONFIG_HOME=name, XDG_DATA_HOME=name)
        wanted = commands(pathlib.Path(name))
        results = {key: [] for key in wanted}
        for number in range(args.rounds + 1):
            for key, command in wanted.items():
                figures = measure(command, environment)
                if number:  # the first round warms the file cache
                    results[key].append(figures)
    summary = {"benchmark": "start", "load_average": round(os.getloadavg()[0], 2)}
    for key, runs in results.items():
        wall, cpu, peak = (statistics.median(column) for column in zip(*runs))
        summary[key] = {"seconds": round(wall, 4), "cpu_seconds": round(cpu, 4), "peak_rss_bytes": int(peak)}
    if "python_import_torch" in summary:
        for key in wanted:
            if key != "python_import_torch":
                summary.setdefault("ratios", {})[key] = round(
                    summary["python_import_torch"]["seconds"] / summary[key]["seconds"], 2)
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
