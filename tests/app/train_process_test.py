#!/usr/bin/env python3
"""`cuset train` as a process: a run is stopped and gone on with, and ends as one that nobody touched."""
import json
import signal

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

    def test_signals_save_and_exit_75(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            name = f"signal{int(number)}"
            child = self.start("train", self.config(name, epochs=2000, save_steps=None))
            self.wait_for_step(name, [child])
            child.send_signal(number)
            text = child.communicate(timeout=60)[1]
            self.assertEqual(child.returncode, 75, text)
            self.assertTrue(any((self.path / name / "checkpoints").iterdir()))
            self.assertFalse((self.path / name / "lock").exists())

    def test_a_second_signal_ends_at_once(self):
        self.cuset("train", self.config("whole", max_steps=100, save_steps=20))
        child = self.start("train", self.config("run", max_steps=100, save_steps=20))
        self.wait_for_step("run", [child])
        child.send_signal(signal.SIGSTOP)  # both are there when it wakes: the step in work is not finished
        child.send_signal(signal.SIGTERM)
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGCONT)
        (code,), (text,) = self.ends([child])
        self.assertEqual(code, 130, text)
        self.assertEqual(self.events("run", "finished"), [])
        self.assertTrue((self.path / "run/lock").exists())  # as a kill leaves it; the next writer takes it over
        self.cuset("train", "--resume", self.path / "run")
        self.assert_same("whole", "run")

    def test_resume_refuses_what_is_not_the_run(self):
        config = self.config("run")
        self.cuset("train", config, "--stop-after", 2, code=75)
        other = self.config("other", output=str(self.path / "run"), lora={"rank": 8, "alpha": 8, "dropout": 0.05})
        self.assertIn("lora.rank", self.cuset("train", other, "--resume", self.path / "run", code=3).stderr)
        self.data.write_text(self.data.read_text().splitlines()[0] + "\n")
        self.assertIn("data", self.cuset("train", "--resume", self.path / "run", code=3).stderr)
        self.assertIn("--resume", self.cuset("train", config, code=2).stderr)

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
