#!/usr/bin/env python3
"""`cuset train` as a process: a run is killed, stopped and gone on with, and ends as one that nobody touched.

usage: train_process_test.py CUSET_PROGRAM TEST_DATA_FOLDER
"""
import hashlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
VARYING = ("time", "tokens_per_second", "memory_bytes", "eta_seconds")


class TrainProcess(unittest.TestCase):
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

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, "train", *map(str, arguments)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def cuset(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def steps(self, name):
        lines = (self.path / name / "events.jsonl").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        return [{k: v for k, v in e.items() if k not in VARYING} for e in events if e["type"] == "step"]

    def adapter(self, name):
        return hashlib.sha256((self.path / name / "final/adapter_model.safetensors").read_bytes()).hexdigest()

    def assert_same(self, a, b):
        self.assertEqual(self.steps(a), self.steps(b))
        self.assertEqual(self.adapter(a), self.adapter(b))

    def test_stop_and_resume_equal_an_unbroken_run(self):  # PE4
        self.cuset("train", self.config("whole"))
        config = self.config("broken")
        self.cuset("train", config, "--stop-after", 5, code=75)
        self.cuset("train", "--resume", self.path / "broken")
        self.assertEqual([s["step"] for s in self.steps("broken")], list(range(1, 13)))
        self.assert_same("whole", "broken")
        for name in ("trainer_state.json", "log.txt", "config.json", "final/adapter_config.json"):
            self.assertTrue((self.path / "whole" / name).exists(), name)

    def test_kill_at_random_moments(self):  # R6, PE5
        self.cuset("train", self.config("whole"))
        run, generator = self.path / "killed", random.Random(7)
        child = self.start(self.config("killed"))
        for _ in range(20):
            time.sleep(generator.uniform(0.02, 0.4))
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stderr.close()
            if not (run / "events.jsonl").exists():
                child = self.start(self.path / "killed.json")
            elif (run / "final").exists():
                break
            else:
                child = self.start("--resume", run)
        else:
            self.assertIn(child.wait(), (0,), child.stderr.read())
            child.stderr.close()
        self.assert_same("whole", "killed")
        self.assertFalse([p for p in (run / "checkpoints").iterdir() if p.name.startswith(".")])

    def test_signals_save_and_exit_75(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            name = f"signal{int(number)}"
            child = self.start(self.config(name, epochs=2000, save_steps=None))
            events = self.path / name / "events.jsonl"
            while child.poll() is None and not (events.exists() and '"step"' in events.read_text()):
                time.sleep(0.05)
            child.send_signal(number)
            self.assertEqual(child.wait(timeout=60), 75, child.stderr.read())
            child.stderr.close()
            self.assertTrue(any((self.path / name / "checkpoints").iterdir()))
            self.assertFalse((self.path / name / "lock").exists())

    def test_resume_refuses_what_is_not_the_run(self):
        config = self.config("run")
        self.cuset("train", config, "--stop-after", 2, code=75)
        other = self.config("other", output=str(self.path / "run"), lora={"rank": 8, "alpha": 8, "dropout": 0.05})
        self.assertIn("lora.rank", self.cuset("train", other, "--resume", self.path / "run", code=3).stderr)
        self.data.write_text(self.data.read_text().splitlines()[0] + "\n")
        self.assertIn("data", self.cuset("train", "--resume", self.path / "run", code=3).stderr)
        self.assertIn("--resume", self.cuset("train", config, code=2).stderr)

    def test_batches_and_accumulation_agree(self):  # PE1
        losses = []
        for batch, accumulation in ((1, 4), (2, 2), (4, 1)):
            name = f"batch{batch}"
            self.cuset("train", self.config(name, batch_size=batch, gradient_accumulation=accumulation))
            losses.append([s["loss"] for s in self.steps(name)])
        for other in losses[1:]:
            for a, b in zip(losses[0], other):
                self.assertAlmostEqual(a, b, delta=2e-5 * abs(a))

    def test_corrected_labels_are_trained_on(self):
        self.data.write_text(json.dumps({"id": "a", "prompt": "p", "response": "int x = 1;\n"}) + "\n")
        labels = self.path / (self.data.stem + ".labels.json")
        for name in ("plain", "corrected"):
            self.cuset("train", self.config(name, epochs=1, max_steps=1, template="none"))
            labels.write_text(json.dumps({"format": "cuset-labels", "format_version": 1, "corrections": [
                {"id": "a", "begin": 0, "end": 8, "kind": "launch_config"}]}))
        before, after = (self.steps(name)[0] for name in ("plain", "corrected"))
        self.assertIsNone(before["sensitive_confidence"])
        self.assertGreater(after["sensitive_confidence"], 0)
        self.assertGreater(after["loss"], before["loss"])  # Eq. 3 counts those tokens once more

    def test_dry_run_runs_and_merge(self):
        config = self.config("plain", epochs=1)
        plan = json.loads(self.cuset("train", config, "--dry-run", "--json").stdout)
        self.assertEqual(plan["steps"], 4)
        self.assertEqual(len(plan["first"]), 2)
        self.assertFalse((self.path / "plain").exists())
        self.cuset("train", config)
        run = json.loads(self.cuset("runs", self.path, "--json").stdout)
        self.assertEqual((run["state"], run["step"]["step"]), ("finished", 4))
        merged = json.loads(self.cuset("merge", DATA / "models/llama", self.path / "plain/final", "-o",
                                       self.path / "merged", "--json").stdout)
        self.assertLess(merged["logit_difference"], 1e-4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
