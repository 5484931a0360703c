#!/usr/bin/env python3
"""Speed of the CUDA scanner on the repository's samples. CUSET_BIN names the folder of regions_bench. Ends with one line of JSON."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
program = pathlib.Path(os.environ.get("CUSET_BIN", ROOT / "build/release/bin")) / "regions_bench"
if not program.exists():
    sys.exit(f"regions.py: {program} is not there; build it with packaging/build --tests")
sys.exit(subprocess.run([program, *(sys.argv[1:] or [ROOT / "resources/samples"])]).returncode)
