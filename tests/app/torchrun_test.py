#!/usr/bin/env python3
"""`cuset train` and `cuset score` under torchrun: as one rank, and on from the last checkpoint after a rank was killed.

usage: torchrun_test.py CUSET_PROGRAM TEST_DATA_FOLDER
ctest runs it where CUSET_TORCHRUN names a torchrun or one is in PATH, else it counts as skipped (exit code 77). Made with
torch 2.15.0's, `--standalone --no-python`. One line of JSON a check.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from safetensors_values import largest_difference
from training_case import DATA, PROGRAM, TrainingCase, main

TORCHRUN = os.environ.get("CUSET_TORCHRUN") or shutil.which("torchrun")
SAME = 1e-6  # of losses, norms (relative above 1) and weights, as in train_ranks_test.py


class Torchrun(TrainingCase):
    def torchrun(self, ranks, *command, options=()):
        return subprocess.Popen([TORCHRUN, "--standalone", "--no-python", "--nproc-per-node", str(ranks), *options,
                                 str(PROGRAM), *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def finish(self, child):
        out = child.communicate(timeout=300)[0]
        self.assertEqual(child.returncode, 0, out)

    def compare(self, what, one, many, file, **more):
        loss = max(abs(a[k] - b[k]) / max(1, abs(a[k])) for a, b in zip(self.steps(one), self.steps(many), strict=True)
                   for k in ("loss", "grad_norm", "mean_confidence"))
        weights = largest_difference(self.path / one / "final" / file, self.path / many / "final" / file)
        print(json.dumps({"check": what, "largest_difference_of_a_figure": loss, "of_a_weight": weights, **more}))
        self.assertLess(max(loss, weights), SAME)

    def test_as_one_rank(self):
        for method, file in (("lora", "adapter_model.safetensors"), ("full", "model.safetensors")):
            changes = {"method": method, "gradient_accumulation": 5, "epochs": 6, "save_steps": None,
                       "learning_rate": 1e-4}
            self.cuset("train", self.config(f"{method}-1", **changes))
            for ranks in (2, 4):
                self.finish(self.torchrun(ranks, "train", self.config(f"{method}-{ranks}", **changes)))
                self.compare(f"{method}, {ranks} ranks", f"{method}-1", f"{method}-{ranks}", file)

    def test_a_scored_corpus_is_one_ranks_byte_for_byte(self):
        def command(name):
            return ("score", DATA / "models/llama", self.data, "-o", self.path / f"{name}.scores.safetensors", "--threads", 1,
                    "--dtype", "float32")

        self.data.write_text("".join(json.dumps({"id": f"s{n}", "prompt": f"Kernel {n}?", "response":
            f"__global__ void k{n}(float* a) {{\n" + "  a[threadIdx.x] += 1.0f;\n" * (1 + n % 7) + "}\n"}) + "\n"
            for n in range(45)))
        self.cuset(*command("one"))
        one = (self.path / "one.scores.safetensors").read_bytes()
        for ranks in (2, 3):
            self.finish(self.torchrun(ranks, *command(f"ranks{ranks}")))
            self.assertEqual((self.path / f"ranks{ranks}.scores.safetensors").read_bytes(), one)
        print(json.dumps({"check": "scores of 2 and 3 ranks", "bytes": len(one), "equal": True}))

    def rank_processes(self, config):
        """Of the ranks that torchrun started for this configuration, by rank."""
        found = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[:3] == [os.fsencode(PROGRAM), b"train", os.fsencode(config)]:
                    environment = dict(e.split(b"=", 1) for e in (entry / "environ").read_bytes().split(b"\0") if b"=" in e)
                    found[int(environment[b"RANK"])] = int(entry.name)
            except (OSError, KeyError):
                continue
        return found

    def test_a_killed_rank_goes_on_from_the_last_checkpoint(self):
        changes = {"epochs": 60, "save_steps": 5}
        self.cuset("train", self.config("whole", **changes))
        for killed in (0, 1):
            name = f"killed-{killed}"
            config = self.config(name, **changes)
            child = self.torchrun(2, "train", config, options=("--max-restarts", "2"))
            events = self.path / name / "events.jsonl"
            for kill in (1, 2):
                while len(self.events(name, "checkpoint")) < 4 * kill if events.exists() else True:
                    self.assertIsNone(child.poll())
                    time.sleep(0.02)
                os.kill(self.rank_processes(config)[killed], signal.SIGKILL)
                while sum(1 for _ in self.events(name, "started")) < 1 + kill:
                    self.assertIsNone(child.poll(), "torchrun gave up")
                    time.sleep(0.05)
            self.finish(child)
            resumed = [e["resumed_from"] for e in self.events(name, "started")]
            self.compare(f"rank {killed} killed twice", "whole", name, "adapter_model.safetensors", resumed_from=resumed)

    def test_sigterm_to_torchrun_saves(self):
        child = self.torchrun(2, "train", self.config("run", epochs=5000, save_steps=None))
        self.wait_for_step("run", [child])
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        (finished,) = self.events("run", "finished")
        self.assertEqual(finished["reason"], "stopped")
        self.assertTrue((self.path / "run/checkpoints" / f"step-{finished['step']}").exists())
        print(json.dumps({"check": "SIGTERM to torchrun", "saved_step": finished["step"]}))


if __name__ == "__main__":
    if not TORCHRUN:
        print("skipped: no torchrun in PATH, and CUSET_TORCHRUN is not set")
        sys.exit(77)
    main()
