#!/usr/bin/env python3
"""`cuset score` over several ranks: one rank's file, byte for byte, and what is done is kept when a rank ends."""
import json
import os
import pathlib
import signal
import struct
import time

from training_case import DATA, TrainingCase, main

TICK = os.sysconf("SC_CLK_TCK")


class ScoreRanks(TrainingCase):
    def samples(self, count):
        self.data.write_text("".join(json.dumps({"id": f"s{n}", "prompt": f"Kernel {n}?", "response":
            f"__global__ void k{n}(float* a) {{\n" + "  a[threadIdx.x] += 1.0f;\n" * (1 + n % 7) + "}\n"}) + "\n"
            for n in range(count)))

    def command(self, file):
        return ("score", DATA / "models/llama", self.data, "-o", self.path / file, "--threads", 1, "--dtype", "float32",
                "--template", "none")

    def ids(self, file):
        data = (self.path / file).read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        return json.loads(json.loads(data[8:8 + length])["__metadata__"]["ids"])

    def test_the_file_is_one_ranks_byte_for_byte(self):
        self.samples(75)  # not a whole number of rounds
        with self.data.open("a") as file:  # with one that cannot be scored, and token ids
            file.write(json.dumps({"id": "empty", "prompt": "p", "response": ""}) + "\n")
            for n, sample in enumerate(json.loads((DATA / "training/llama/data.json").read_text())):
                file.write(json.dumps(sample | {"id": f"ids{n}"}) + "\n")
        one = self.cuset(*self.command("one.scores.safetensors"), "--json")
        for ranks in (2, 3):
            file = f"ranks{ranks}.scores.safetensors"
            children = self.start_ranks(ranks, *self.command(file), "--json")
            outputs = [child.communicate(timeout=120) for child in children]
            self.assertEqual([child.returncode for child in children], [0] * ranks, outputs)
            self.assertEqual([bool(out) for out, _ in outputs], [True] + [False] * (ranks - 1))
            said, expected = json.loads(outputs[0][0]), json.loads(one.stdout)
            self.assertEqual(said | {"file": ""}, expected | {"file": ""})
            self.assertEqual((self.path / "one.scores.safetensors").read_bytes(), (self.path / file).read_bytes())

    def end_one_in_the_middle(self, rank, number):
        """Exit codes and texts after rank `rank` of 2 got a signal well inside the scoring."""
        children = self.start_ranks(2, *self.command("part.scores.safetensors"))
        stat = pathlib.Path(f"/proc/{children[rank].pid}/stat")
        while int(stat.read_text().rsplit(")", 1)[1].split()[11]) < 1.5 * TICK:  # time on the processor
            self.assertIsNone(children[rank].poll())
            time.sleep(0.02)
        children[rank].send_signal(number)
        return self.ends(children)

    def assert_part(self):
        ids = self.ids("part.scores.safetensors")
        self.assertTrue(0 < len(ids) < 6000, len(ids))
        self.assertEqual(ids, sorted(ids, key=lambda id: int(id[1:])))

    def test_a_stop_or_a_loss_keeps_what_is_done(self):
        self.samples(6000)
        codes, texts = self.end_one_in_the_middle(1, signal.SIGTERM)
        self.assertEqual(codes, [130, 130], texts)
        self.assert_part()
        (self.path / "part.scores.safetensors").unlink()
        codes, texts = self.end_one_in_the_middle(1, signal.SIGKILL)
        self.assertEqual(codes, [1, -signal.SIGKILL], texts)
        self.assertIn("rank 1 of 2 is gone", texts[0])
        self.assert_part()

    def test_an_error_of_one_rank_is_everyones(self):
        self.samples(3)
        file = self.path / "no folder/x.scores.safetensors"
        children = self.start_ranks(2, *self.command(file))
        codes, texts = self.ends(children)
        self.assertEqual(codes, [5, 5], texts)
        self.assertIn("no folder", texts[1])  # outputs are tried by every rank, before any work


if __name__ == "__main__":
    main()
