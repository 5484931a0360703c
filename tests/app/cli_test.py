#!/usr/bin/env python3
"""The command line as a process: what it prints, where, and how it ends. CUSET names the program."""
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

CUSET = os.environ["CUSET"]
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
MODEL = DATA / "models" / "llama"
SHARDED = DATA / "models" / "qwen2-yarn"
KERNEL = "__global__ void k(float* a) {\n    a[threadIdx.x] = 1.0f;\n}\nvoid f(float* a) { k<<<1, 32>>>(a); }\n"

OK, FAILURE, USAGE, BAD_INPUT, NO_DEVICE, DISK, CANCELLED = 0, 1, 2, 3, 4, 5, 130


def run(*arguments, stdin=None, **options):
    return subprocess.run([CUSET, *map(str, arguments)], input=stdin, capture_output=True, timeout=120, **options)


class Process(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cuset cli 'test' "))  # blanks and quotes in every path
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def copy_model(self, source=MODEL):
        target = self.folder / "model"
        shutil.copytree(source, target)
        return target

    def samples(self, *responses):
        lines = [json.dumps({"id": f"s{i}", "prompt": "Write a kernel.", "response": r}) for i, r in enumerate(responses)]
        return self.file("samples.jsonl", "\n".join(lines) + "\n")

    def score(self, model=MODEL, data=None, *options):
        out = self.folder / "out.scores.safetensors"
        data = data or self.samples(KERNEL)
        return run("score", model, data, "-o", out, "--template", "none", "--dtype", "float32", *options), out

    def assert_refused(self, result, code, *words):
        message = result.stderr.decode("utf-8")
        self.assertEqual(result.returncode, code, message)
        self.assertTrue(message.startswith("cuset: ") or "\ncuset: " in message or code == USAGE, message)
        for word in words:
            self.assertIn(word, message)
        self.assertEqual(result.stdout, b"")


class MainJob(Process):
    def test_score_then_analyze(self):
        result, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertEqual(result.stdout, b"")
        analysis = run("analyze", out, "--json")
        self.assertEqual(analysis.returncode, OK, analysis.stderr.decode())
        figures = json.loads(analysis.stdout)
        self.assertEqual(figures["samples"], 2)
        self.assertEqual({"samples", "tokens", "tau", "lambda", "window", "confidence", "ks", "mask", "difficulty", "weight",
                          "low_confidence"} - set(figures), set())
        self.assertEqual(figures["confidence"]["all"]["count"], figures["tokens"])
        self.assertAlmostEqual(figures["weight"]["mean"], 1 - figures["difficulty"]["mean"], places=6)

    def test_per_sample_files(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        for name in ["rows.csv", "rows.jsonl"]:
            rows = self.folder / name
            result = run("analyze", out, "--per-sample", "-o", rows)
            self.assertEqual(result.returncode, OK, result.stderr.decode())
            lines = rows.read_text().splitlines()
            self.assertEqual(len(lines), 3 if name.endswith("csv") else 2)
        self.assertEqual((self.folder / "rows.csv").read_text().splitlines()[0],
                         "id,tokens,mean_confidence,difficulty,weight,min_window_begin,confident_share,cuda_share")
        self.assert_refused(run("analyze", out, "--per-sample", "-o", self.folder / "rows.txt"), USAGE, ".csv or .jsonl")

    def test_per_sample_lowest_unit(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        rows = self.folder / "rows.jsonl"
        result = run("analyze", out, "--per-sample", "--unit", "line", "--aggregate", "minimum", "-o", rows)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        samples = [json.loads(line) for line in rows.read_text().splitlines()]
        corpus = json.loads(run("analyze", out, "--lowest", "1", "--unit", "line", "--aggregate", "minimum", "--json").stdout)
        lowest = min(samples, key=lambda s: s["lowest_line_minimum"])
        self.assertEqual(lowest["id"], corpus["lowest"][0]["id"])
        self.assertAlmostEqual(lowest["lowest_line_minimum"], corpus["lowest"][0]["minimum_confidence"], places=6)
        self.assertEqual(lowest["lowest_begin"], corpus["lowest"][0]["begin"])
        head = run("analyze", out, "--per-sample", "--unit", "region", "-o", "-").stdout.decode().splitlines()[0]
        self.assertTrue(head.endswith(",cuda_share,lowest_region_mean,lowest_begin,lowest_end"), head)

    def test_a_formula_in_an_id_is_not_one_in_csv(self):
        data = self.file("d.jsonl", json.dumps({"id": "=1+1,\"x\"", "prompt": "p", "response": KERNEL}))
        _, out = self.score(MODEL, data)
        rows = run("analyze", out, "--per-sample", "-o", "-").stdout.decode().splitlines()
        self.assertTrue(rows[1].startswith("\"'=1+1,\"\"x\"\"\","), rows[1])

    def test_sweep_and_compare(self):
        _, out = self.score()
        sweep = run("sweep", out, "--tau", "0.1,0.5", "--lambda", "1", "--window", "8,16", "--json")
        points = json.loads(sweep.stdout)
        self.assertEqual([(p["tau"], p["window"]) for p in points], [(0.1, 8), (0.1, 16), (0.5, 8), (0.5, 16)])
        same = json.loads(run("compare", out, out, "--json").stdout)
        self.assertEqual(same["all"]["confidence"], 0)
        self.assertEqual(same["warnings"], [])

    def test_sweep_surface_figure_and_files(self):
        _, out = self.score()
        plane = json.loads(run("sweep", out, "--tau", "0.1,0.5,0.9", "--lambda", "1,2", "--window", "16", "--figure",
                               "push_sensitive", "--json").stdout)
        self.assertEqual(plane["x"], {"axis": "tau", "values": [0.1, 0.5, 0.9]})
        self.assertEqual(plane["held"], {"axis": "window", "value": 16.0})
        self.assertEqual([len(row) for row in plane["values"]], [3, 3])
        points = self.folder / "points.csv"
        result = run("sweep", out, "--surface", "-o", points)
        self.assertEqual((result.returncode, result.stdout), (OK, b""), result.stderr.decode())
        lines = points.read_text().splitlines()
        self.assertEqual(len(lines), 1 + 11 * 6 * 7)
        self.assertTrue(lines[0].startswith("tau,lambda,window,supervised_share,supervised_cuda_share"))
        rows = json.loads(run("sweep", out, "--tau", "0.1,0.5", "--lambda", "1", "--window", "16", "--no-cuda-mask",
                              "--json").stdout)
        self.assertEqual(rows[0]["mean_mask"], rows[0]["confident_share"])
        self.assert_refused(run("sweep", out, "--figure", "mean_weight"), USAGE, "single value")
        self.assert_refused(run("sweep", out, "-o", self.folder / "x.txt"), USAGE, ".csv or .json")
        self.assert_refused(run("sweep", out, "--lambda", "0"), BAD_INPUT, "lambda")

    def test_objectives_push_by_kind_sample_and_token(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        pushes = json.loads(run("analyze", out, "--objectives", "--json").stdout)["objectives"]
        self.assertEqual(list(pushes), ["sft", "dft", "eaft", "asft", "profit", "cuset"])
        rows = run("analyze", out, "--objectives", "--per-sample", "-o", "-").stdout.decode().splitlines()
        columns = rows[0].split(",")
        for name in pushes:
            column = columns.index("push_" + name)
            self.assertAlmostEqual(sum(float(row.split(",")[column]) for row in rows[1:]), pushes[name]["push"], places=4)
        one = rows[1].split(",")[0]
        weights = json.loads(run("analyze", out, "--token-weights", one, "--json").stdout)
        for name, own in weights["objectives"].items():
            push = sum(w * (1 - c) for w, c in zip(own["weights"], weights["confidence"]))
            self.assertAlmostEqual(push, own["push"], places=4)
        table = run("analyze", out, "--token-weights", one).stdout.decode().splitlines()
        self.assertEqual(table[0], "token,begin,end,confidence,sft,dft,eaft,asft,profit,cuset")
        self.assertEqual(len(table), 1 + len(weights["confidence"]))
        self.assert_refused(run("analyze", out, "--token-weights", "nobody"), BAD_INPUT, "nobody")
        self.assertIn(b"share of push by kind", run("analyze", out, "--objectives").stdout)

    def notes(self, out, *quarantined, leave_out=False):
        beside = out.with_name(out.name.replace(".scores.safetensors", ".notes.json"))
        beside.write_text(json.dumps({"format": "cuset-notes", "format_version": 1, "leave_out_quarantined": leave_out,
                                      "samples": [{"id": i, "tags": ["race"], "quarantined": True} for i in quarantined]}))
        return beside

    def test_notes_beside_the_scores_are_honoured(self):
        data = self.file("d.jsonl", "".join(json.dumps({"id": i, "prompt": "p", "response": KERNEL}) + "\n" for i in "abc"))
        _, out = self.score(MODEL, data)
        beside = self.notes(out, "b")
        count = lambda *options: json.loads(run("analyze", out, "--json", *options).stdout)["samples"]
        self.assertEqual(count(), 3)
        self.assertEqual(count("--quarantined", "leave-out"), 2)
        self.notes(out, "b", leave_out=True)
        left = run("analyze", out, "--json")
        self.assertEqual(json.loads(left.stdout)["samples"], 2)
        self.assertIn(b"1 quarantined sample left out", left.stderr)
        self.assertEqual(count("--quarantined", "keep"), 3)
        chosen = self.folder / "chosen.jsonl"
        result = run("analyze", out, "--quarantined", "keep", "--filter", 'tag = "race" and quarantined', "--export", chosen,
                     "--export-format", "data")
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertEqual([json.loads(line)["id"] for line in chosen.read_text().splitlines()], ["b"])
        again = self.folder / "again.scores.safetensors"
        self.assertEqual(run("score", MODEL, chosen, "-o", again).returncode, OK, "the exported data are data")
        beside.write_text("{")
        self.assert_refused(run("analyze", out), BAD_INPUT, beside.name)

    def test_an_unknown_command_is_named(self):
        self.assert_refused(run("bogus"), USAGE, '"bogus"')
        self.assert_refused(run("analyse"), USAGE, 'perhaps "analyze"')
        refused = run("analyze", "x", "--lambda", "-1")
        self.assert_refused(refused, USAGE, "above 0")
        self.assertNotIn(b"e-308", refused.stderr)

    def test_compare_says_what_is_not_compared(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        before = self.folder / "before.scores.safetensors"
        out.rename(before)
        _, after = self.score(MODEL, self.samples(KERNEL, "int y;\n", "int z;\n"))
        result = run("compare", before, after, "-o", self.folder / "samples.csv")
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertIn("s1: its tokens differ, it is left out", result.stderr.decode())
        self.assertIn("1 samples are in B alone and left out: s2", result.stderr.decode())
        rows = (self.folder / "samples.csv").read_text().splitlines()
        self.assertEqual(len(rows), 2)
        self.assertTrue(rows[0].startswith("id,tokens,confidence_before,"))
        self.assert_refused(run("compare", before), USAGE, "two score files")
        self.assert_refused(run("compare", before, after, "-o", before), USAGE)

    def test_data_map(self):
        model, adapter = DATA / "models" / "qwen2", DATA / "adapter" / "plain"
        data = self.samples(KERNEL, "int x;\n")
        files = []
        for name, options in (("base", []), ("tuned", ["--adapter", adapter])):
            files.append(self.folder / f"{name}.scores.safetensors")
            made = run("score", model, data, "-o", files[-1], "--template", "none", "--dtype", "float32", *options)
            self.assertEqual(made.returncode, OK, made.stderr.decode())
        change = json.loads(run("compare", *files, "--json").stdout)
        points = json.loads(run("compare", *files, "--data-map", "--json").stdout)
        self.assertEqual(len(points["checkpoints"]), 2)
        for point in points["samples"]:
            sample = next(s for s in change["samples"] if s["id"] == point["id"])
            before, after = sample["confidence_before"], sample["confidence_after"]
            self.assertAlmostEqual(point["confidence"], (before + after) / 2, places=9)
            self.assertAlmostEqual(point["variability"], abs(after - before) / 2, places=9)
            self.assertTrue(0 <= point["correctness"] <= 1)
        table = run("compare", *files, "--data-map", "-o", "-").stdout.decode().splitlines()
        self.assertEqual(table[0], "id,tokens,confidence,variability,correctness")
        self.assertEqual(len(table), 3)
        self.assert_refused(run("compare", files[0], "--data-map"), USAGE, "two checkpoints")

    def test_tokenize_covers_the_text_without_gaps(self):
        text = "// größe 🧮\r\n\tint x = 1234;\n"
        out = json.loads(run("tokenize", MODEL, "-", "--json", stdin=text.encode()).stdout)
        self.assertEqual(len(out["ids"]), len(out["spans"]))
        self.assertEqual(out["spans"][0][0], 0)
        self.assertEqual(out["spans"][-1][1], len(text.encode()))
        for before, after in zip(out["spans"], out["spans"][1:]):
            self.assertEqual(before[1], after[0])

    def test_regions(self):
        source = self.file("k.cu", KERNEL)
        line = json.loads(run("regions", source, "--json").stdout)
        self.assertEqual(line["kernels"][0]["name"], "k")
        self.assertEqual(KERNEL[slice(*line["launches"][0]["config"])], "<<<1, 32>>>")
        self.assertIn("thread_index", {span["kind"] for span in line["spans"]})
        self.assertIn(b"thread_index", run("regions", source, "--explain").stdout)

    def test_template_renders_messages(self):
        messages = self.file("m.json", json.dumps([{"role": "user", "content": "hi"}]))
        result = run("template", DATA / "models" / "qwen3", messages)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertIn("<|im_start|>user\nhi<|im_end|>", result.stdout.decode())
        plain = self.copy_model()
        (plain / "chat_template.jinja").unlink(missing_ok=True)
        config = json.loads((plain / "tokenizer_config.json").read_text())
        config.pop("chat_template", None)
        (plain / "tokenizer_config.json").write_text(json.dumps(config))
        self.assert_refused(run("template", plain, messages), BAD_INPUT, "chat template")

    def test_info_models_doctor(self):
        info = json.loads(run("info", MODEL, "--json").stdout)
        self.assertEqual(info["family"], "llama")
        self.assertGreater(info["parameters"], 0)
        self.assertIn("weights_bytes", info["memory"][0])
        empty = {**os.environ, "HF_HUB_CACHE": str(self.folder)}
        self.assertEqual(json.loads(run("models", "--json", env=empty).stdout), [])
        self.assertTrue(all("name" in finding for finding in json.loads(run("doctor", "--json").stdout)))

    def test_verify(self):
        model = self.copy_model(DATA / "models" / "smollm3")
        result = run("verify", model, "--json")
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        found = json.loads(result.stdout)
        self.assertEqual((found["verdict"], found["equal_texts"]), ("proven", 3))
        self.assertEqual([d["dtype"] for d in found["dtypes"]], ["float32", "bfloat16"])
        self.assertLess(found["dtypes"][0]["largest"], 1e-4)
        people = run("verify", model, "--dtype", "float32")
        self.assertEqual(people.returncode, OK)
        self.assertIn(b"proven: largest difference", people.stdout)
        reference = json.loads((model / "cuset-reference.json").read_text())
        reference["samples"][0]["log_probs"][3] -= 1
        wrong = self.file("wrong.json", json.dumps(reference))
        failed = run("verify", model, "--reference", wrong, "--dtype", "float32", "--json")
        self.assertEqual(failed.returncode, FAILURE)
        self.assertEqual(json.loads(failed.stdout)["verdict"], "failed")
        (model / "cuset-reference.json").unlink()
        unproven = run("verify", model)
        self.assertEqual(unproven.returncode, FAILURE)
        self.assertIn(b"unproven", unproven.stdout)
        self.assert_refused(run("verify", model, "--reference", self.file("no.json", "{}")), BAD_INPUT, "no reference")

    def test_generate_appends_a_sample_and_compiles(self):
        out = self.folder / "made.jsonl"
        ask = ("generate", MODEL, "--prompt", "int", "--template", "none", "--max-tokens", 5, "--dtype", "float32")
        text = json.loads(run(*ask, "--json").stdout)["text"]
        result = run(*ask, "--append", out)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        record = json.loads(out.read_text())
        self.assertEqual((record["prompt"], record["response"]), ("int", text))
        self.assert_refused(run(*ask, "--json", "--append", out), BAD_INPUT, "already holds")
        # A stand-in for nvcc: what it says reaches the JSON.
        (self.folder / "bin").mkdir()
        nvcc = self.folder / "bin" / "nvcc"
        nvcc.write_text("#!/bin/sh\necho 'answer.cu(1): error: said so'\nexit 1\n")
        nvcc.chmod(0o755)
        result = run(*ask, "--json", "--compile", env={**os.environ, "CUDA_HOME": str(self.folder)})
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        compiled = json.loads(result.stdout)["compile"]
        self.assertFalse(compiled["ok"])
        self.assertEqual(compiled["messages"], [{"severity": "error", "line": 1, "column": 0, "text": "said so"}])

    def test_generate(self):
        result = run("generate", MODEL, "--prompt", "__global__ void", "--template", "none", "--max-tokens", 5, "--json",
                     "--dtype", "float32")
        out = json.loads(result.stdout)
        self.assertLessEqual(len(out["tokens"]), 5)
        self.assertTrue(all(t["logprob"] <= 0 and t["rank"] == 0 for t in out["tokens"]))

    def test_help_and_version(self):
        for arguments in [["--help"], ["--version"], ["score", "--help"], ["regions", "--help"]]:
            result = run(*arguments)
            self.assertEqual(result.returncode, OK)
            self.assertTrue(result.stdout)


class BadInput(Process):
    """Each message names the file, the thing, what was found and what was needed; nothing is written or lost."""

    def assert_nothing_written(self, out):
        self.assertFalse(out.exists())
        self.assertEqual([p for p in self.folder.iterdir() if "scores" in p.name], [])

    def refuse_model(self, model, *words, code=BAD_INPUT):
        result, out = self.score(model)
        self.assert_refused(result, code, *words)
        self.assert_nothing_written(out)

    def refuse_data(self, data, *words):
        result, out = self.score(MODEL, data)
        self.assert_refused(result, BAD_INPUT, *words)
        self.assert_nothing_written(out)

    def test_usage(self):
        self.assert_refused(run("score"), USAGE, "MODEL")
        self.assert_refused(run(), USAGE)
        self.assert_refused(run("nothing"), USAGE)
        self.assert_refused(run("analyze", "x", "--tau", "2"), USAGE, "--tau")

    def test_missing_files(self):
        self.refuse_model(self.folder / "none", "none")
        self.refuse_data(self.folder / "none.jsonl", "none.jsonl")
        self.assert_refused(run("analyze", self.folder / "none.safetensors"), BAD_INPUT, "none.safetensors")

    def test_empty_files(self):
        self.refuse_data(self.file("empty.jsonl", ""), "empty.jsonl")
        self.assert_refused(run("analyze", self.file("empty.safetensors", "")), BAD_INPUT, "empty.safetensors")
        model = self.copy_model()
        (model / "model.safetensors").write_bytes(b"")
        self.refuse_model(model, "model.safetensors")

    def test_half_a_shard(self):
        model = self.copy_model(SHARDED)
        shard = sorted(model.glob("*.safetensors"))[2]
        shard.write_bytes(shard.read_bytes()[: shard.stat().st_size // 2])
        self.refuse_model(model, shard.name)

    def test_missing_shard(self):
        model = self.copy_model(SHARDED)
        shard = sorted(model.glob("*.safetensors"))[1]
        shard.unlink()
        self.refuse_model(model, shard.name)

    def change_config(self, **changes):
        model = self.copy_model()
        config = json.loads((model / "config.json").read_text())
        config.update(changes)
        (model / "config.json").write_text(json.dumps(config))
        return model

    def test_wrong_shape(self):
        self.refuse_model(self.change_config(hidden_size=128, head_dim=32), "shape", "64", "128")

    def test_unknown_family(self):
        self.refuse_model(self.change_config(model_type="hyperformer", architectures=["HyperformerForCausalLM"]), "hyperformer")

    def test_config_that_is_no_json(self):
        model = self.copy_model()
        (model / "config.json").write_text("{\"model_type\": ")
        self.refuse_model(model, "config.json")

    def test_pickle_checkpoint(self):
        model = self.copy_model()
        (model / "model.safetensors").rename(model / "pytorch_model.bin")
        self.refuse_model(model, "pytorch_model.bin", "save_pretrained")

    def test_unknown_dtype(self):
        model = self.copy_model()
        path = model / "model.safetensors"
        raw = path.read_bytes()
        length = struct.unpack("<Q", raw[:8])[0]
        header = raw[8:8 + length].replace(b'"F32"', b'"Q77"', 1)
        path.write_bytes(raw[:8] + header + raw[8 + length:])
        self.refuse_model(model, "model.safetensors", "Q77")

    def test_unknown_dtype_option(self):
        result, out = self.score(MODEL, None, "--dtype", "int3")
        self.assert_refused(result, USAGE, "--dtype")
        self.assert_nothing_written(out)

    def test_no_response(self):
        self.refuse_data(self.samples(""), "response")
        self.refuse_data(self.file("d.json", "[{\"prompt\": \"p\"}]"), "response")

    def test_a_bad_record_among_good_ones_is_said_and_skipped(self):
        data = self.file("d.jsonl", json.dumps({"prompt": "p", "response": KERNEL}) + "\n{\"prompt\": 1\n")
        result, out = self.score(MODEL, data)
        self.assertEqual(result.returncode, OK)
        self.assertIn("d.jsonl:2", result.stderr.decode())
        self.assertEqual(json.loads(run("analyze", out, "--json").stdout)["samples"], 1)
        strict, _ = self.score(MODEL, data, "--strict")
        self.assert_refused(strict, BAD_INPUT, "2")

    def test_not_utf8_and_nul_bytes_are_scored_and_kept(self):
        data = self.file("d.cu", KERNEL.encode() + b"// \xff\xfe and \x00 nul\n")
        result, out = self.score(MODEL, data)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        self.assertGreater(json.loads(run("analyze", out, "--json").stdout)["tokens"], 0)

    def test_no_such_device(self):
        result, out = self.score(MODEL, None, "--device", "cuda:7")
        self.assert_refused(result, NO_DEVICE, "cuda:7")
        self.assert_nothing_written(out)

    def test_output_that_cannot_be_written(self):
        target = self.folder / "no folder" / "x.scores.safetensors"
        result = run("score", MODEL, self.samples(KERNEL), "-o", target, "--template", "none")
        self.assert_refused(result, DISK, "no folder")
        # Before the model is loaded, not after hours of scoring.
        result = run("score", self.folder / "no model", self.samples(KERNEL), "-o", target)
        self.assert_refused(result, DISK, "no folder")

    def test_an_old_score_file_stays_when_scoring_fails(self):
        _, out = self.score()
        before = out.read_bytes()
        result, _ = self.score(self.folder / "none")
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertEqual(out.read_bytes(), before)

    def test_terminal_escapes_in_names_are_shown_not_obeyed(self):
        result = run("info", self.folder / "\x1b[31mred")
        self.assertNotIn(b"\x1b", result.stderr)


class Outputs(Process):
    def test_an_output_never_lands_on_an_input(self):
        data = self.samples(KERNEL)
        before = data.read_bytes()
        self.assert_refused(run("score", MODEL, data, "-o", data, "--template", "none"), USAGE, "read from")
        link = self.folder / "link.jsonl"
        link.symlink_to(data)
        self.assert_refused(run("score", MODEL, data, "-o", link, "--template", "none"), USAGE, "read from")
        self.assertEqual(data.read_bytes(), before)
        _, out = self.score(MODEL, data)
        scores = out.read_bytes()
        renamed = self.folder / "renamed.jsonl"
        renamed.write_bytes(scores)
        self.assert_refused(run("report", renamed, "-o", renamed), USAGE, "read from")
        self.assert_refused(run("analyze", renamed, "--export", renamed), USAGE, "read from")
        self.assert_refused(run("analyze", renamed, "--per-sample", "-o", renamed), USAGE, "read from")
        self.assertEqual(renamed.read_bytes(), scores)

    def test_streams(self):
        data = self.samples(KERNEL)
        _, out = self.score(MODEL, data)
        piped = run("score", MODEL, "-", "-o", "-", "--template", "none", "--dtype", "float32", stdin=data.read_bytes(),
                    cwd=self.folder)
        self.assertEqual(piped.returncode, OK, piped.stderr.decode())
        self.assertFalse((self.folder / "-").exists())
        expected = json.loads(run("analyze", out, "--json").stdout)
        self.assertEqual(json.loads(run("analyze", "-", "--json", stdin=piped.stdout).stdout), expected)

    def test_a_full_standard_output_is_an_error(self):
        _, out = self.score()
        with open("/dev/full", "wb") as full:
            for arguments in [("analyze", out, "--json"), ("analyze", out), ("doctor",)]:
                result = subprocess.run([CUSET, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(result.returncode, DISK, result.stderr.decode())
                self.assertIn(b"standard output", result.stderr)

    def test_a_filter_needs_something_to_choose_for(self):
        _, out = self.score()
        self.assert_refused(run("analyze", out, "--filter", "tokens > 1"), USAGE, "--per-sample")

    def test_generate_keeps_to_max_length(self):
        result = run("generate", MODEL, "--prompt", "int", "--template", "none", "--max-tokens", 500, "--max-length", 12,
                     "--dtype", "float32", "--json")
        self.assertLessEqual(len(json.loads(result.stdout)["tokens"]), 11)
        self.assert_refused(run("generate", MODEL, "--prompt", "int x = 1;" * 9, "--template", "none", "--max-length", 5,
                                "--dtype", "float32"), BAD_INPUT, "--max-length")


class Stop(Process):
    def test_a_stop_keeps_what_is_done(self):
        out = self.folder / "out.scores.safetensors"
        before, _ = self.score(MODEL, self.samples(KERNEL))
        self.assertEqual(before.returncode, OK)
        whole = out.read_bytes()
        data = self.samples(*[f"// {i}\n" + KERNEL * 8 for i in range(400)])
        process = subprocess.Popen([CUSET, "score", MODEL, data, "-o", out, "--template", "none", "--threads", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        if process.returncode == OK:
            self.skipTest("scored 400 samples before it could be stopped")
        self.assertEqual(process.returncode, CANCELLED, stderr.decode())
        self.assertEqual(out.read_bytes(), whole)  # a part never replaces what is there
        partial = self.folder / "out.partial.scores.safetensors"
        if partial.exists():  # stopped within the first sample: nothing to keep
            samples = json.loads(run("analyze", partial, "--json").stdout)["samples"]
            self.assertGreater(samples, 0)
            self.assertLess(samples, 400)


if __name__ == "__main__":
    unittest.main()
