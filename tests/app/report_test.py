#!/usr/bin/env python3
"""cuset report and analyze's statistics, filter and export, as a process. CUSET names the program."""
import html.parser
import json
import unittest
import xml.etree.ElementTree

from cli_test import KERNEL, MODEL, OK, USAGE, BAD_INPUT, Process, run

ATTACK = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\u202e\x1b[2J"


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.attributes = set(), set()

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attributes}


class Report(Process):
    def hostile_scores(self):
        data = self.file("d.jsonl", json.dumps({"id": ATTACK, "prompt": ATTACK, "response": KERNEL + "// " + ATTACK}))
        result, out = self.score(MODEL, data)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        return out

    def test_a_hostile_sample_is_shown_as_text(self):
        page = self.folder / "report.html"
        out = self.hostile_scores()
        result = run("report", out, "-o", page)
        self.assertEqual(result.returncode, OK, result.stderr.decode())
        text = page.read_text(encoding="utf-8")
        xml.etree.ElementTree.fromstring(text)
        tags = Tags()
        tags.feed(text)
        self.assertFalse(tags.names & {"script", "img", "iframe", "object", "link", "form"})
        self.assertFalse({a for a in tags.attributes if a.startswith("on") or a in {"style", "src"}})
        self.assertNotIn("\u202e", text)
        self.assertIn("default-src 'none'", text)
        self.assertEqual(run("report", out, "-o", "-").stdout.decode(), text)

    def test_statistics_are_added_and_the_fixed_fields_stay(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        plain = json.loads(run("analyze", out, "--json").stdout)
        more = json.loads(run("analyze", out, "--json", "--statistics").stdout)
        statistics = more.pop("statistics")
        self.assertEqual(more, plain)
        self.assertEqual(set(statistics["objectives"]), {"sft", "dft", "eaft", "asft", "profit", "cuset"})
        self.assertIn(b"bootstrapped by sample", run("analyze", out, "--statistics").stdout)

    def test_lowest(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        plain = json.loads(run("analyze", out, "--json").stdout)
        for unit in ("token", "line", "statement", "window", "region"):
            more = json.loads(run("analyze", out, "--json", "--lowest", "3", "--unit", unit, "--least-tokens", "1").stdout)
            lowest = more.pop("lowest")
            self.assertEqual(more, plain)
            self.assertTrue(1 <= len(lowest) <= 3, unit)
            means = [low["mean_confidence"] for low in lowest]
            self.assertEqual(means, sorted(means))
            for low in lowest:
                self.assertEqual(low["text"], {"s0": KERNEL, "s1": "int x;\n"}[low["id"]][low["begin"]:low["end"]][:200])
                self.assertEqual(low["line"], 1 + {"s0": KERNEL, "s1": "int x;\n"}[low["id"]][:low["begin"]].count("\n"))
        kernels = json.loads(run("analyze", out, "--json", "--lowest", "9", "--unit", "region", "--kind", "kernel").stdout)
        self.assertEqual({tuple(low["labels"]) for low in kernels["lowest"]}, {("kernel",)})
        table = self.folder / "lowest.csv"
        self.assertEqual(run("analyze", out, "--lowest", "3", "-o", table).returncode, OK)
        self.assertTrue(table.read_text().startswith("id,line,begin,end,tokens,mean_confidence,"))
        self.assertIn(b"lowest line, by minimum",
                      run("analyze", out, "--lowest", "3", "--unit", "line", "--aggregate", "minimum").stdout)
        self.assert_refused(run("analyze", out, "--lowest", "0"), USAGE, "--lowest")
        self.assert_refused(run("analyze", out, "--lowest", "3", "--unit", "word"), USAGE, "--unit")
        self.assert_refused(run("analyze", out, "--lowest", "3", "-o", "x.txt"), USAGE, ".csv")
        self.assert_refused(run("analyze", out, "--lowest", "3", "--per-sample", "-o", table), USAGE, "--per-sample")

    def test_what_is_not_there_is_null_and_a_dash(self):
        _, out = self.score(MODEL, self.samples("int x;\n"))
        summary = json.loads(run("analyze", out, "--json", "--statistics").stdout)
        sensitive = summary["confidence"]["sensitive"]
        self.assertEqual(sensitive, {"count": 0, "mean": None, "std": None})
        self.assertIsNone(summary["ks"]["p_value"])
        self.assertIsNone(summary["statistics"]["mean_confidence"]["sensitive"]["estimate"])
        self.assertIsNotNone(summary["statistics"]["mean_confidence"]["neutral"]["estimate"])
        text = run("analyze", out, "--statistics").stdout.decode()
        self.assertRegex(text, r"CUDA-sensitive +0 +\u2013 +\u2013")
        self.assertIn("statistic \u2013", text)

    def test_labels_of_other_data_are_not_counted(self):
        _, out = self.score(MODEL, self.samples(KERNEL))
        def correction(name, kind="atomic"):
            return {"id": name, "begin": 0, "end": 3, "kind": kind}
        labels = self.file("l.json", json.dumps({"format": "cuset-labels", "format_version": 1,
                                                 "corrections": [correction("s0"), correction("other"), correction("s0")]}))
        result = run("analyze", out, "--labels", labels, "--json")
        self.assertIn(b"2 corrected labels", result.stderr)
        self.assertIn(b"1 more are of other data", result.stderr)
        labels = self.file("l.json", json.dumps({"format": "cuset-labels", "format_version": 1,
                                                 "corrections": [correction("other")]}))
        self.assertIn(b"warning: 0 corrected labels", run("analyze", out, "--labels", labels, "--json").stderr)

    def test_export_and_filter(self):
        _, out = self.score(MODEL, self.samples(KERNEL, "int x;\n"))
        target = self.folder / "weights.jsonl"
        self.assertEqual(run("analyze", out, "--export", target, "--filter", "cuda_share > 0").returncode, OK)
        records = [json.loads(line) for line in target.read_text().splitlines()]
        self.assertEqual([r["id"] for r in records], ["s0"])
        self.assertEqual(len(records[0]["token_weights"]), len(records[0]["token_spans"]))
        self.assertEqual(run("analyze", out, "--export", target, "--export-format", "segments").returncode, OK)
        record = json.loads(target.read_text().splitlines()[0])
        self.assertEqual("".join(s["text"] for s in record["segments"][1:]), KERNEL)
        self.assert_refused(run("analyze", out, "--export", "-", "--filter", "nothing > 1"), BAD_INPUT, "nothing")

    def test_usage(self):
        self.assert_refused(run("report", "x"), USAGE, "-o")


if __name__ == "__main__":
    unittest.main()
