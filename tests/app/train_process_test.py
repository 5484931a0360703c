#!/usr/bin/env python3
"""`cuset train` as a process: a run is killed, stopped and gone on with, and ends as one that nobody touched."""
import json
import random
import signal
import time

from training_case import DATA, TrainingCase, main


class TrainProcess(TrainingCase):
    def test_stop_and_resume_equal_an_unbroken_run(self):  # PE4
        self.cuset("train", self.config("whole"))
        config = self.config("broken")
        self.cuset("train", config, "--stop-after", 5, code=75)
        self.cuset("train", "--resume", self.path / "broken")
        self.assertEqual([s["step"] for s in self.steps("broken")], list(range(1, 13)))
        self.assert_same("whole", "broken")
        for name in ("trainer_state.json", "log.txt", "config.json", "final/adapter_config.json"):
            self.assertTrue((self.path / "whole" / name).exists(), name)

    def test_kill_at_random_moments(self):  # R6, PE5; all 20 moments: tests/reference/train_faults.py
        self.cuset("train", self.config("whole"))
        run, generator = self.path / "killed", random.Random(7)
        child = self.start("train", self.config("killed"))
        for _ in range(6):
            time.sleep(generator.uniform(0.02, 0.6))
            child.kill()
            child.communicate()
            if (run / "final").exists():
                break
            child = self.start("train", "--resume", run) if (run / "events.jsonl").exists() else \
                self.start("train", self.path / "killed.json")
        if child.poll() is None:
            error = child.communicate()[1]
            self.assertEqual(child.returncode, 0, error)
        self.assert_same("whole", "killed")
        self.assertFalse([p for p in (run / "checkpoints").iterdir() if p.name.startswith(".")])

    def test_signals_save_and_exit_75(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            name = f"signal{int(number)}"
            child = self.start("train", self.config(name, epochs=2000, save_steps=None))
            events = self.path / name / "events.jsonl"
            while child.poll() is None and not (events.exists() and '"step"' in events.read_text()):
                time.sleep(0.05)
            child.send_signal(number)
            text = child.communicate(timeout=60)[1]
            self.assertEqual(child.returncode, 75, text)
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

    def test_quarantined_samples_are_left_out_when_the_notes_say_so(self):
        self.data.write_text("".join(json.dumps({"id": i, "prompt": "p", "response": "int x = 1;\n"}) + "\n" for i in "abcd"))
        notes = self.path / (self.data.stem + ".notes.json")
        for leave_out, samples in ((False, 4), (True, 3)):
            notes.write_text(json.dumps({"format": "cuset-notes", "format_version": 1, "leave_out_quarantined": leave_out,
                                         "samples": [{"id": "b", "quarantined": True}]}))
            config = self.config(f"left{leave_out}", epochs=1, gradient_accumulation=1, template="none")
            plan = json.loads(self.cuset("train", config, "--dry-run", "--json").stdout)
            self.assertEqual((plan["samples"], plan["left_out_samples"]), (samples, 4 - samples))
        notes.write_text("{")
        self.assertIn(notes.name, self.cuset("train", config, "--dry-run", code=3).stderr)

    def test_scores_of_a_runs_checkpoints(self):
        """Base and checkpoints are scored once, as `cuset score --adapter` does it; the map needs no list of files."""
        text = self.path / "text.jsonl"
        text.write_text("".join(json.dumps({"id": f"s{i}", "prompt": "p", "response": f"int x{i} = {i};\n"}) + "\n"
                                for i in range(3)))
        run, model = self.path / "run", DATA / "models/llama"
        self.cuset("train", self.config("run", epochs=1, keep_checkpoints=2, data=[str(text)], template="none"))
        how = ("--template", "none", "--dtype", "float32")
        made = json.loads(self.cuset("score", model, text, "--run", run, *how, "--json").stdout)
        self.assertEqual([(m["step"], m["kept"]) for m in made], [(0, False), (1, False), (2, False)])
        again = json.loads(self.cuset("score", model, text, "--run", run, *how, "--json").stdout)
        self.assertTrue(all(m["kept"] for m in again))
        single = self.path / "single.scores.safetensors"
        self.cuset("score", model, text, "-o", single, "--adapter", run / "checkpoints/step-2", *how)
        same = json.loads(self.cuset("compare", single, made[-1]["file"], "--json").stdout)
        self.assertEqual((same["all"]["confidence"], same["all"]["log_prob"]), (0, 0))
        points = json.loads(self.cuset("compare", run, "--data-map", "--json").stdout)
        self.assertEqual((len(points["samples"]), len(points["checkpoints"])), (3, 3))
        self.assertIn("--adapter", self.cuset("score", model, text, "--run", run, "--adapter", "x", code=2).stderr)

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
    main()
