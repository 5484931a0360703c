#!/usr/bin/env python3
"""Runs in the background and queues of them, as processes: `cuset train --detach`, `cuset queue`, `cuset runs --stop`.

usage: queue_process_test.py CUSET_PROGRAM TEST_DATA_FOLDER
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, DATA = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


class Background(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cuset 'queue' ")
        self.path = pathlib.Path(self.folder.name)
        samples = json.loads((DATA / "training/llama/data.json").read_text())
        (self.path / "data.jsonl").write_text("".join(json.dumps(s) + "\n" for s in samples))

    def tearDown(self):
        subprocess.run([PROGRAM, "runs", self.path, "--stop"], capture_output=True)
        self.folder.cleanup()

    def config(self, name, **changes):
        config = {"model": str(DATA / "models/llama"), "data": "data.jsonl", "output": str(self.path / name),
                  "gradient_accumulation": 1, "max_steps": 4, "save_steps": 1, "dtype": "float32", "device": "cpu",
                  "threads": 1, "lora": {"rank": 4, "alpha": 8, "dropout": 0}}
        config.update(changes)
        path = self.path / f"{name}.json"
        path.write_text(json.dumps(config))
        return path

    def cuset(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd="/")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def state(self, name):
        lines = self.cuset("runs", self.path / name, "--json").stdout.splitlines()
        return json.loads(lines[0]) if lines else {"state": "none", "step": None}

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, "in time")
            time.sleep(0.05)

    def started(self, name):
        """True once a step is written."""
        events = self.path / name / "events.jsonl"
        return events.exists() and '"step"' in events.read_text()

    def test_a_run_in_the_background_ends_by_itself(self):
        config = self.config("run")
        begun = json.loads(self.cuset("train", config, "--detach", "--json").stdout)
        self.assertEqual(begun["output"], str(self.path / "run"))
        self.wait(lambda: self.state("run")["state"] == "finished")
        self.assertTrue((self.path / "run/final/adapter_model.safetensors").exists())
        self.assertFalse((self.path / "run/lock").exists())
        self.assertIn("holds a run", self.cuset("train", config, "--detach", code=2).stderr)
        self.assertIn("data", self.cuset("train", self.config("bad", data=[]), "--detach", code=3).stderr)
        self.assertFalse((self.path / "bad").exists())

    def test_a_killed_run_says_so_and_goes_on(self):
        pid = json.loads(self.cuset("train", self.config("run", max_steps=100000), "--detach", "--json").stdout)["pid"]
        self.wait(lambda: self.started("run"))
        self.cuset("train", "--resume", self.path / "run", "--detach", code=2)  # it is being written
        os.kill(pid, signal.SIGKILL)
        self.wait(lambda: self.state("run")["state"] == "failed")
        last = json.loads((self.path / "run/events.jsonl").read_text().splitlines()[-1])
        self.assertEqual((last["type"], last["exit_code"]), ("failed", 137))
        self.assertIn("signal 9", last["message"])
        self.assertIn("signal 9", (self.path / "run/log.txt").read_text())
        step = self.state("run")["step"]["step"]
        self.cuset("train", "--resume", self.path / "run", "--detach")
        self.wait(lambda: self.state("run")["step"]["step"] > step)
        self.cuset("runs", self.path / "run", "--stop")
        self.wait(lambda: self.state("run")["state"] == "stopped")

    def test_a_queue_trains_every_point_of_its_grid(self):
        config = self.config("sweep")
        done = self.cuset("queue", config, "--grid", "tau=0.05,0.1", "--grid", "lambda=1,2", "--jobs", 2, "--json")
        self.assertEqual(json.loads(done.stdout)["finished"], 4)
        runs = [json.loads(line) for line in self.cuset("runs", self.path / "sweep", "--json").stdout.splitlines()]
        self.assertEqual([run["state"] for run in runs], ["finished"] * 4)
        formulas = {run["started"]["formula"] for run in runs}
        self.assertEqual(len(formulas), 4)
        self.assertIn("holds a run or a sweep", self.cuset("queue", config, "--grid", "tau=0.3", code=2).stderr)
        self.assertEqual(json.loads(self.cuset("queue", self.path / "sweep", "--json").stdout)["finished"], 4)

    def test_a_stopped_queue_saves_and_goes_on(self):
        config = self.config("sweep", max_steps=100000)
        self.cuset("queue", config, "--grid", "tau=0.05,0.1", "--make-only")
        queue = subprocess.Popen([PROGRAM, "queue", self.path / "sweep"], stderr=subprocess.DEVNULL)
        first, second = self.path / "sweep/tau0.05", self.path / "sweep/tau0.1"
        self.wait(lambda: self.started("sweep/tau0.05"))
        self.assertIn("process", self.cuset("queue", self.path / "sweep", code=2).stderr)
        queue.send_signal(signal.SIGTERM)
        self.assertEqual(queue.wait(60), 75)
        self.assertEqual(self.state("sweep/tau0.05")["state"], "stopped")
        self.assertFalse((second / "events.jsonl").exists())
        # A queue that is killed leaves its run alone; the next one waits for it and goes on.
        queue = subprocess.Popen([PROGRAM, "queue", self.path / "sweep"], stderr=subprocess.DEVNULL)
        self.wait(lambda: self.state("sweep/tau0.05")["state"] == "running")
        queue.kill()
        queue.wait()
        self.assertEqual(self.state("sweep/tau0.05")["state"], "running")
        self.cuset("queue", self.path / "sweep", "--detach")
        self.assertFalse((second / "events.jsonl").exists())
        self.cuset("runs", first, "--stop")
        self.wait(lambda: self.started("sweep/tau0.1"))
        pid = json.loads((self.path / "sweep/lock").read_text())["pid"]
        os.kill(pid, signal.SIGTERM)
        self.wait(lambda: not (self.path / "sweep/lock").exists())
        self.assertEqual(self.state("sweep/tau0.1")["state"], "stopped")

    def test_what_cannot_be_queued_is_said(self):
        config = self.config("plain")
        for axis in ("tau=", "tau=high", "rank=4", "objective=best"):
            self.cuset("queue", config, "--grid", axis, code=2)
        self.cuset("queue", config, "--grid", "tau=2", code=3)
        self.cuset("queue", self.path, code=2)
        (self.path / "sweep.json").write_text("{}")
        self.assertIn('needs "grid"', self.cuset("queue", self.path, code=3).stderr)
        self.assertFalse((self.path / "plain").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
