#!/usr/bin/env python3
"""What `cuset train` and `cuset merge` leave, loaded by peft and transformers: largest difference of a logit.

usage: train_outputs.py CUSET_PROGRAM TEST_DATA_FOLDER
Made with torch 2.15.0, transformers 5.24.0, peft 0.21.2, safetensors 0.8.0; one thread, float32.

Each token's log-probability by `cuset score` on what was saved, against the other program's on the same ids; and the
logits of the merged model against base plus adapter, both in float64, so that what is left is that each merged weight is
rounded to float32 once. README.md beside this file says how the limits were chosen. With the package tensorboard its
reader has to find every step's figures.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
LIMIT, MERGED_LIMIT = 2e-5, 1e-5


def cuset(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0]


def difference(model, samples, scores):
    """Largest difference of a response token's log-probability."""
    begin, largest = scores["sample_begin"].tolist(), 0.0
    for n, sample in enumerate(samples):
        ids, prompt = sample["ids"], sample["prompt_tokens"]
        rows = torch.log_softmax(logits(model, ids).float(), -1)[prompt - 1:-1]
        expected = rows.gather(1, torch.tensor(ids[prompt:])[:, None])[:, 0]
        largest = max(largest, (expected - scores["logprob"][begin[n]:begin[n + 1]]).abs().max().item())
    return largest


def check(name, value, limit=LIMIT, **more):
    print(json.dumps({"check": name, "largest_difference": value, **more}))
    return value <= limit


def run(folder, name, model, data, **changes):
    config = {"model": str(DATA / "models" / model), "data": [str(data)], "output": str(folder / name), "epochs": 4,
              "gradient_accumulation": 2, "dtype": "float32", "device": "cpu", "threads": 1, "learning_rate": 2e-3,
              "lora": {"rank": 4, "alpha": 8, "dropout": 0.05, **changes.pop("lora", {})}, **changes}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config))
    cuset("train", path)
    events = [json.loads(line) for line in (folder / name / "events.jsonl").read_text().splitlines()]
    stored = next(e for e in events if e["type"] == "finished")["logit_difference"]
    return folder / name / "final", stored


def check_tensorboard(run_folder):
    """True if the package is not there, or reads each step's figures from the run's file."""
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError:
        return True
    reader = EventAccumulator(str(run_folder / "tensorboard"), size_guidance={"scalars": 0}).Reload()
    events = [json.loads(line) for line in (run_folder / "events.jsonl").read_text().splitlines()]
    steps = {e["step"]: e for e in events if e["type"] == "step"}
    tags = [tag for tag in reader.Tags()["scalars"] if tag.startswith("train/")]
    equal = len(tags) > 4
    for tag in tags:
        found = {s.step: s.value for s in reader.Scalars(tag)}
        kept = {step: e[tag.removeprefix("train/")] for step, e in steps.items()}
        equal &= found == {step: float(torch.tensor(v, dtype=torch.float32)) for step, v in kept.items() if v is not None}
    print(json.dumps({"check": "tensorboard reads the run", "tags": tags, "steps": len(steps), "equal": equal}))
    return equal


def main():
    torch.set_num_threads(1)
    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for model in ("llama", "qwen2"):
            base, data = DATA / "models" / model, folder / f"{model}.json"
            samples = json.loads((DATA / "training" / model / "data.json").read_text())
            data.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
            scores = folder / "x.scores.safetensors"
            flags = ("--dtype", "float32", "--threads", 1, "-o", scores)
            for name, lora in (("lora", {}), ("rslora", {"rslora": True}), ("targets", {"targets": ["q_proj", "down_proj"]})):
                final, stored = run(folder, f"{model}-{name}", model, data, lora=lora)
                cuset("score", base, data, "--adapter", final, *flags)
                plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
                tuned = PeftModel.from_pretrained(plain, final).eval()
                good &= check_tensorboard(final.parent)
                good &= check(f"{model} {name} in peft", difference(tuned, samples, load_file(scores)), stored_in_run=stored)
            merged = folder / f"{model}-merged"
            report = json.loads(cuset("merge", base, final, "-o", merged, "--dtype", "float32", "--json"))
            whole = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.float32).eval()
            AutoTokenizer.from_pretrained(merged)
            whole, tuned = whole.double(), tuned.double()
            apart = max((logits(whole, s["ids"]) - logits(tuned, s["ids"])).abs().max().item() for s in samples)
            good &= check(f"{model} merged in transformers, against peft", apart, MERGED_LIMIT,
                          stored_in_run=report["logit_difference"])
            final, stored = run(folder, f"{model}-full", model, data, method="full", learning_rate=1e-4)
            cuset("score", final, data, *flags)
            whole = AutoModelForCausalLM.from_pretrained(final, dtype=torch.float32).eval()
            AutoTokenizer.from_pretrained(final)
            good &= check(f"{model} full in transformers", difference(whole, samples, load_file(scores)), stored_in_run=stored)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
