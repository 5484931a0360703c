#!/usr/bin/env python3
"""A score file of five million tokens in the window: time to the first painting, and the frames of slider drags.

Usage: frames.py [--tokens 5000000] [--sample-tokens 1000] [--limit 16]
CUSET_BIN names the folder of bench_frames. Runs offscreen and, where Xvfb is installed, in a real window. Ends with one line of
JSON, and with code 1 if 95 of 100 frames of a drag cost the GUI thread more processor time than the limit, in milliseconds.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def measured(command, environment):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, env=environment)
    lines = result.stdout.splitlines()
    if not lines or not lines[-1].startswith("{"):
        sys.exit(f"frames.py: {command[0]} ended with code {result.returncode} and no figures")
    return json.loads(lines[-1]), result.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--sample-tokens", type=int, default=1_000)
    parser.add_argument("--limit", type=float, default=16)
    arguments = parser.parse_args()
    program = pathlib.Path(os.environ.get("CUSET_BIN", ROOT / "build/release/bin")) / "bench_frames"
    if not program.exists():
        sys.exit(f"frames.py: {program} is not there; build it with packaging/build --tests")
    command = [program, arguments.tokens, arguments.sample_tokens, arguments.limit]
    summary = {"bench": "frames", "load_average": round(os.getloadavg()[0], 2), "limit_ms": arguments.limit}
    summary["offscreen"], code = measured(command, dict(os.environ, QT_QPA_PLATFORM="offscreen"))
    if shutil.which("xvfb-run"):
        window = ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24", *command]
        summary["real_window"], in_window = measured(window, dict(os.environ, QT_QPA_PLATFORM="xcb"))
        code = max(code, in_window)
    else:
        print("frames.py: no xvfb-run, so no real window was measured; apt-get install xvfb", file=sys.stderr)
    print(json.dumps(summary))
    sys.exit(code)


if __name__ == "__main__":
    main()
