"""What the tests of `cuset train` as a process share: samples, configurations, starting and reading runs.

Programs that import this are called: TEST.py CUSET_PROGRAM TEST_DATA_FOLDER [unittest arguments]
"""
import hashlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
VARYING = ("time", "tokens_per_second", "memory_bytes", "eta_seconds")
RANK_VARIABLES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


class TrainingCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cuset train ")
        self.path = pathlib.Path(self.folder.name)
        samples = json.loads((DATA / "training/llama/data.json").read_text())
        self.data = self.path / "data 'with' quotes.jsonl"
        self.data.write_text("".join(json.dumps(samples[i % 5]) + "\n" for i in range(8)))

    def tearDown(self):
        self.folder.cleanup()

    def config(self, name, **changes):
        """PE4's steps: 8 samples, LoRA with dropout, accumulation 2, 3 epochs: 12 steps."""
        config = {"model": str(DATA / "models/llama"), "data": [str(self.data)], "output": str(self.path / name),
                  "gradient_accumulation": 2, "epochs": 3, "save_steps": 1, "dtype": "float32", "device": "cpu",
                  "threads": 1, "learning_rate": 2e-3, "lora": {"rank": 4, "alpha": 8, "dropout": 0.05}}
        config.update(changes)
        path = self.path / f"{name}.json"
        path.write_text("// made by a test\n" + json.dumps(config))
        return path

    def start(self, *arguments, cwd=None, **environment):
        variables = {k: v for k, v in os.environ.items() if k not in RANK_VARIABLES}
        return subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=cwd, env=variables | {k: str(v) for k, v in environment.items()})

    def start_ranks(self, count, *arguments, **environment):
        """One process a rank, as by hand."""
        port = free_port()
        return [self.start(*arguments, RANK=rank, WORLD_SIZE=count, MASTER_ADDR="127.0.0.1", MASTER_PORT=port,
                           **environment) for rank in range(count)]

    def cuset(self, *arguments, code=0, **environment):
        child = self.start(*arguments, **environment)
        try:
            out, err = child.communicate(timeout=250)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        self.assertEqual(child.returncode, code, err)
        return subprocess.CompletedProcess(arguments, code, out, err)

    def ends(self, children, timeout=120):
        """Exit codes and error texts of all, in order."""
        texts = [child.communicate(timeout=timeout)[1] for child in children]
        return [child.returncode for child in children], texts

    def wait_for_step(self, name, children):
        events = self.path / name / "events.jsonl"
        while not (events.exists() and '"step"' in events.read_text()):
            self.assertEqual([child.poll() for child in children], [None] * len(children))
            time.sleep(0.02)

    def events(self, name, kind):
        lines = (self.path / name / "events.jsonl").read_text().splitlines()
        return [e for e in map(json.loads, lines) if e["type"] == kind]

    def steps(self, name):
        return [{k: v for k, v in e.items() if k not in VARYING} for e in self.events(name, "step")]

    def adapter(self, name):
        return hashlib.sha256((self.path / name / "final/adapter_model.safetensors").read_bytes()).hexdigest()

    def assert_same(self, a, b):
        self.assertEqual(self.steps(a), self.steps(b))
        self.assertEqual(self.adapter(a), self.adapter(b))
