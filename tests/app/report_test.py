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
