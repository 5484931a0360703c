#!/usr/bin/env python3
"""What a run computes beside its steps and leaves behind: evaluations, the best checkpoint, reports, other types."""
import json
import math
import shutil
import struct
import time

from safetensors_values import tensors
from training_case import DATA, TrainingCase, main


def crc32c(data):
    """Bit by bit, as RFC 3720 has it; TensorBoard's files hold it rotated and shifted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, length_crc = struct.unpack("<QI", data[:12])
        assert crc32c(data[:8]) == length_crc
        body = data[12:12 + length]
        assert crc32c(body) == struct.unpack("<I", data[12 + length:16 + length])[0]
        yield body
        data = data[16 + length:]


def fields(message):
    """A protobuf message as (field, value): wire types 0, 1, 2 and 5."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value, at = message[at:at + size], at + size
        yield key >> 3, value


class Outputs(TrainingCase):
    def score(self, name, *arguments):
        """Plain NLL and confidences of the validation data, by `cuset score` (another path through the model)."""
        path = self.path / f"{name}.scores.safetensors"
        self.cuset("score", DATA / "models/llama", self.data, "-o", path, "--dtype", "float32", "--threads", 1,
                   *arguments)
        data = path.read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + length])

        def column(key, letter, size):
            begin, end = header[key]["data_offsets"]
            return struct.unpack(f"<{(end - begin) // size}{letter}", data[8 + length + begin:8 + length + end])

        logprob, labels = column("logprob", "f", 4), column("labels", "H", 2)
        confidence = [math.exp(value) for value in logprob]
        sensitive = [c for c, bits in zip(confidence, labels) if bits & ~1]
        neutral = [c for c, bits in zip(confidence, labels) if not bits & ~1]

        def mean(values):
            return sum(values) / len(values) if values else None

        return {"loss": -mean(logprob), "mean_confidence": mean(confidence), "sensitive_confidence": mean(sensitive),
                "neutral_confidence": mean(neutral), "tokens": len(logprob)}

    def assert_evaluation(self, event, expected):
        for key, value in expected.items():
            if isinstance(value, float):
                self.assertAlmostEqual(event[key], value, delta=2e-5 * max(1, abs(value)), msg=key)
            else:
                self.assertEqual(event[key], value, key)

    def real_samples(self):
        """CUDA text, so that sensitive and neutral tokens are there."""
        self.data.write_text("".join(json.dumps({"id": f"s{n}", "prompt": f"Write kernel {n}.", "response":
            f"__global__ void k{n}(float* a, int n) {{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"  if (i < n) a[i] *= {n};\n}}\nint main() {{\n  k{n}<<<1, 32>>>(nullptr, {n});\n}}\n"}) + "\n"
            for n in range(8)))

    def test_evaluations_are_what_scoring_finds(self):
        self.real_samples()
        self.cuset("train", self.config("run", validation=[str(self.data)], eval_steps=3, max_steps=6, epochs=1,
                                        save_steps=3, template="none"))
        events = self.events("run", "evaluation")
        self.assertEqual([e["step"] for e in events], [3, 6])
        for event in events:
            adapter = self.path / f"run/checkpoints/step-{event['step']}"
            self.assert_evaluation(event, self.score(f"step{event['step']}", "--template", "none", "--adapter", adapter))
        self.assertLess(events[1]["loss"], events[0]["loss"])
        self.assertGreater(events[1]["sensitive_confidence"], events[0]["sensitive_confidence"])

    def test_the_best_checkpoint_is_kept_and_patience_ends_the_run(self):
        # A rate so high that validation gets worse after the first evaluations.
        self.cuset("train", self.config("run", validation=[str(self.data)], eval_steps=1, epochs=50, save_steps=1,
                                        keep_checkpoints=1, patience=3, learning_rate=0.05, schedule="constant",
                                        warmup_steps=0))
        best, without, losses = math.inf, 0, []
        for event in self.events("run", "evaluation"):
            losses.append(event["loss"])
            self.assertEqual(event["best"], event["loss"] < best)
            without = 0 if event["loss"] < best else without + 1
            best = min(best, event["loss"])
        self.assertEqual(without, 3)
        finished = self.events("run", "finished")[0]
        self.assertEqual(finished["reason"], "early_stopping")
        self.assertEqual((finished["best_loss"], finished["best_step"]), (best, losses.index(best) + 1))
        self.assertEqual(finished["step"], len(losses))
        kept = sorted(int(p.name.removeprefix("step-")) for p in (self.path / "run/checkpoints").iterdir())
        self.assertEqual(kept, [losses.index(best) + 1, len(losses)])

    def test_a_held_out_share_is_the_seeds_and_stored(self):
        samples = [json.loads(line) | {"id": f"s{n}"} for n, line in enumerate(self.data.read_text().splitlines())]
        self.data.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
        held = []
        for name, seed in (("a", 1), ("b", 1), ("c", 2)):
            self.cuset("train", self.config(name, validation_share=0.3, seed=seed, max_steps=1))
            stored = json.loads((self.path / name / "validation.json").read_text())
            self.assertEqual((stored["seed"], stored["share"], len(stored["ids"])), (seed, 0.3, 3))
            held.append(stored["ids"])
            started = self.events(name, "started")[0]
            self.assertEqual((started["samples"], started["validation_samples"]), (5, 3))
        self.assertEqual(held[0], held[1])
        self.assertNotEqual(held[0], held[2])

    def test_the_turns_of_a_conversation_are_held_out_together(self):
        def talk(n):
            turns = [("user", f"first {n}"), ("assistant", f"int a{n};"), ("user", "more"), ("assistant", "int b;")]
            return {"id": f"s{n}", "messages": [{"role": role, "content": text} for role, text in turns]}

        self.data.write_text("".join(json.dumps(talk(n)) + "\n" for n in range(8)))
        self.cuset("train", self.config("turns", validation_share=0.3, every_turn=True, max_steps=1))
        ids = json.loads((self.path / "turns" / "validation.json").read_text())["ids"]
        records = {i.split(".")[0] for i in ids}
        self.assertEqual(len(records), 3)
        self.assertEqual(sorted(ids), sorted(f"{r}.turn{n}" for r in records for n in (1, 2)))
        started = self.events("turns", "started")[0]
        self.assertEqual((started["samples"], started["validation_samples"]), (10, 6))

    def test_bfloat16_is_near_float32(self):
        # PyTorch with float32 masters of the stored weights is up to 0.6 % off in the same run of full (tests/reference/README.md).
        for method, rate in (("lora", 5e-4), ("full", 1e-4)):
            losses = {}
            for dtype in ("float32", "bfloat16"):
                name = f"{method}-{dtype}"
                # Plain: a confidence that rounding takes over tau would turn its token on or off.
                self.cuset("train", self.config(name, method=method, dtype=dtype, learning_rate=rate,
                                                objective={"name": "sft"}))
                self.assertEqual(self.events(name, "started")[0]["dtype"], dtype)
                losses[dtype] = [s["loss"] for s in self.steps(name)]
            for a, b in zip(losses["float32"], losses["bfloat16"], strict=True):
                self.assertAlmostEqual(a, b, delta=0.01 * abs(a))
            self.assertNotEqual(losses["float32"], losses["bfloat16"])
            epochs = [sum(losses["bfloat16"][i:i + 4]) for i in (0, 8)]  # the same samples in each
            self.assertLess(epochs[1], epochs[0])

    def test_batches_and_accumulation_agree(self):  # PE1: packed or padded, attention stays within each sample
        for method in ("lora", "full"):
            losses, weights = [], []
            for batch, accumulation, packing in ((1, 8, True), (2, 4, True), (8, 1, True), (8, 1, False)):
                name = f"{method}{batch}{packing}"
                self.cuset("train", self.config(name, method=method, batch_size=batch, epochs=4, packing=packing,
                                                gradient_accumulation=accumulation))
                losses.append([s["loss"] for s in self.steps(name)])
                final = self.path / name / "final"
                weights.append(tensors(next(final.glob("*model.safetensors"))))
            for other, values in zip(losses[1:], weights[1:]):
                for a, b in zip(losses[0], other, strict=True):
                    self.assertAlmostEqual(a, b, delta=2e-5 * abs(a))
                difference = max(abs(x - y) for key in values for x, y in zip(values[key], weights[0][key]))
                self.assertLess(difference, 2e-4)

    def model_that_fails_on(self, token):
        """A copy of a model with one row of the embedding not a number: samples that hold the token have no loss."""
        copy = self.path / "model"
        shutil.copytree(DATA / "models/llama-linear-rope", copy)
        file = copy / "model.safetensors"
        data = bytearray(file.read_bytes())
        length = struct.unpack("<Q", data[:8])[0]
        entry = json.loads(data[8:8 + length])["model.embed_tokens.weight"]
        begin, end = entry["data_offsets"]
        row = (end - begin) // entry["shape"][0]
        at = 8 + length + begin + token * row
        data[at:at + row] = b"\xff" * row
        file.write_bytes(data)
        return str(copy)

    def train_on(self, order, code, **changes):
        samples = json.loads((DATA / "training/llama/data.json").read_text())
        self.data.write_text("".join(json.dumps(samples[i]) + "\n" for i in order))
        others = set().union(*(s["ids"] for i, s in enumerate(samples) if i != 2))
        bad = min(set(samples[2]["ids"]) - others)  # a token of sample 2 alone
        return self.cuset("train", self.config("run", model=self.model_that_fails_on(bad), shuffle=False, epochs=1,
                                               gradient_accumulation=1, max_bad_steps=3, **changes), code=code)

    def test_steps_that_are_not_finite_are_skipped_and_counted(self):
        self.train_on([0, 2, 2, 1, 2, 3], code=0)
        steps = self.steps("run")
        self.assertEqual([s["skipped"] for s in steps], [False, True, True, False, True, False])
        self.assertEqual([s["loss"] is None for s in steps], [s["skipped"] for s in steps])
        self.assertEqual(self.events("run", "finished")[0]["skipped_steps"], 3)
        # The weights are those of a run without them; only their learning rates passed.
        kept = sorted(int(p.name.removeprefix("step-")) for p in (self.path / "run/checkpoints").iterdir())
        self.assertEqual(kept, [1, 4, 6])

    def test_too_many_of_them_in_a_row_end_the_run(self):
        error = self.train_on([0, 1, 3, 4, 2, 2, 2, 0], code=1).stderr
        self.assertEqual([s["skipped"] for s in self.steps("run")], [False] * 4 + [True] * 3)
        (failed,) = self.events("run", "failed")
        # step-4's weights have not led to a finite loss, so that it may be the one at fault.
        self.assertEqual((failed["exit_code"], failed["step"], failed["checkpoint"]), (1, 7, "checkpoints/step-3"))
        self.assertIn("3 steps in a row", error)
        self.assertIn("the last good checkpoint is checkpoints/step-3", error)
        self.assertTrue((self.path / "run/checkpoints/step-3/manifest.json").exists())

    def test_reports_for_other_programs(self):
        self.cuset("train", self.config("run", validation=[str(self.data)], eval_steps=4))
        state = json.loads((self.path / "run/trainer_state.json").read_text())
        self.assertEqual((state["global_step"], state["max_steps"], state["num_train_epochs"]), (12, 12, 3))
        logged = [entry for entry in state["log_history"] if "loss" in entry]
        self.assertEqual([entry["loss"] for entry in logged], [s["loss"] for s in self.steps("run")])
        evaluations = {e["step"]: e for e in self.events("run", "evaluation")}
        self.assertEqual({e["step"]: e["eval_loss"] for e in state["log_history"] if "eval_loss" in e},
                         {step: e["loss"] for step, e in evaluations.items()})
        self.assertEqual(state["best_metric"], min(e["loss"] for e in evaluations.values()))

        (path,) = (self.path / "run/tensorboard").iterdir()
        self.assertTrue(path.name.startswith("events.out.tfevents."))
        first, *rest = [dict(fields(body)) for body in records(path.read_bytes())]
        self.assertEqual(first[3], b"brain.Event:2")
        scalars = {}
        for event in rest:
            self.assertLess(abs(struct.unpack("<d", event[1])[0] - time.time()), 600)
            value = dict(fields(dict(fields(event[5]))[1]))
            scalars.setdefault(value[1].decode(), {})[event[2]] = struct.unpack("<f", value[2])[0]
        for step in self.steps("run"):
            for tag in ("loss", "grad_norm", "learning_rate", "mean_confidence"):
                self.assertEqual(scalars[f"train/{tag}"][step["step"]],
                                 struct.unpack("<f", struct.pack("<f", step[tag]))[0])
        for step, event in evaluations.items():
            self.assertEqual(scalars["eval/loss"][step], struct.unpack("<f", struct.pack("<f", event["loss"]))[0])

    def test_what_is_saved_computes_as_what_was_trained(self):
        for method in ("lora", "full"):
            self.cuset("train", self.config(method, method=method, max_steps=2))
            difference = self.events(method, "finished")[0]["logit_difference"]
            self.assertIsNotNone(difference)
            self.assertLess(difference, 1e-5)


if __name__ == "__main__":
    main()
