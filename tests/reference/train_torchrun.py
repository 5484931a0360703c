#!/usr/bin/env python3
"""`cuset train` under torchrun: as one rank, and on from the last checkpoint after a rank was killed.

usage: train_torchrun.py CUSET_PROGRAM TEST_DATA_FOLDER TORCHRUN
Made with torch 2.15.0's torchrun, `--no-python --standalone`. One line of JSON a check.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

TORCHRUN = sys.argv.pop(3)
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "app"))
from safetensors_values import largest_difference  # noqa: E402
from training_case import PROGRAM, TrainingCase, main  # noqa: E402



def figures(steps):
    return [{k: v for k, v in s.items() if isinstance(v, float)} for s in steps]


class Torchrun(TrainingCase):
    def torchrun(self, ranks, config, *options):
        return subprocess.Popen([TORCHRUN, "--standalone", "--no-python", "--nproc-per-node", str(ranks), *options,
                                 str(PROGRAM), "train", str(config)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def compare(self, what, one, many, file, **more):
        loss = max(abs(a[k] - b[k]) for a, b in zip(figures(self.steps(one)), figures(self.steps(many)), strict=True)
                   for k in ("loss", "grad_norm", "mean_confidence"))
        weights = largest_difference(self.path / one / "final" / file, self.path / many / "final" / file)
        print(json.dumps({"check": what, "largest_difference_of_a_figure": loss, "of_a_weight": weights, **more}))
        self.assertLess(max(loss, weights), 1e-6)

    def test_as_one_rank(self):
        for method, file in (("lora", "adapter_model.safetensors"), ("full", "model.safetensors")):
            changes = {"method": method, "gradient_accumulation": 5, "epochs": 6, "save_steps": None,
                       "learning_rate": 1e-4}
            self.cuset("train", self.config(f"{method}-1", **changes))
            for ranks in (2, 4):
                child = self.torchrun(ranks, self.config(f"{method}-{ranks}", **changes))
                out = child.communicate(timeout=300)[0]
                self.assertEqual(child.returncode, 0, out)
                self.compare(f"{method}, {ranks} ranks", f"{method}-1", f"{method}-{ranks}", file)

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
            child = self.torchrun(2, config, "--max-restarts", "2")
            events = self.path / name / "events.jsonl"
            for kill in (1, 2):
                while len(self.events(name, "checkpoint")) < 4 * kill if events.exists() else True:
                    self.assertIsNone(child.poll())
                    time.sleep(0.02)
                os.kill(self.rank_processes(config)[killed], signal.SIGKILL)
                while sum(1 for _ in self.events(name, "started")) < 1 + kill:
                    self.assertIsNone(child.poll(), "torchrun gave up")
                    time.sleep(0.05)
            out = child.communicate(timeout=300)[0]
            self.assertEqual(child.returncode, 0, out)
            resumed = [e["resumed_from"] for e in self.events(name, "started")]
            self.compare(f"rank {killed} killed twice", "whole", name, "adapter_model.safetensors", resumed_from=resumed)

    def test_sigterm_to_torchrun_saves(self):
        child = self.torchrun(2, self.config("run", epochs=5000, save_steps=None))
        events = self.path / "run/events.jsonl"
        while not (events.exists() and '"step"' in events.read_text()):
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=60)
        (finished,) = self.events("run", "finished")
        self.assertEqual(finished["reason"], "stopped")
        self.assertTrue((self.path / "run/checkpoints" / f"step-{finished['step']}").exists())
        print(json.dumps({"check": "SIGTERM to torchrun", "saved_step": finished["step"]}))


if __name__ == "__main__":
    main()
