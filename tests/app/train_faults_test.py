#!/usr/bin/env python3
"""A save that fails: at each of its system calls, on a full disk, by a kill; the run goes on from a whole checkpoint.

With CUSET_LONG_TESTS=1 every call of a save and 20 kills, else a few of them. Tests that need strace, or the right to
mount a small tmpfs, are skipped without.
"""
import concurrent.futures
import contextlib
import hashlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from training_case import PROGRAM, TrainingCase, main

LONG = os.environ.get("CUSET_LONG_TESTS") == "1"
# Calls whose failure a disk can cause; the others are only killed at.
FAILING = ("openat", "write", "fsync", "rename", "mkdir", "unlink", "unlinkat", "rmdir", "newfstatat", "getdents64",
           "statfs")


def traces():
    return shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode == 0


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode:
        raise unittest.SkipTest("may not mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path):
    """Takes all the space that is left."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


class Faults(TrainingCase):
    def content(self, name):
        newest = max((self.path / name / "checkpoints").iterdir(), key=lambda p: int(p.name.removeprefix("step-")))
        return newest.name, {file: (newest / file).read_bytes()
                             for file in ("adapter_model.safetensors", "optimizer.safetensors")}

    def assert_whole(self, name, whole):
        """Events, weights and moments as those of the run that nothing happened to."""
        self.assert_same(whole, name)
        for kind in ("checkpoint", "evaluation"):
            self.assertEqual([e | {"time": 0} for e in self.events(whole, kind)],
                             [e | {"time": 0} for e in self.events(name, kind)])
        self.assertEqual(self.content(name), self.content(whole))
        self.assertEqual([path.name for path in (self.path / name).rglob(".*")], [])  # nothing unfinished is left

    def three_steps(self, name):
        return self.config(name, max_steps=3, keep_checkpoints=1)

    def calls_of_a_save(self):
        """(system call, its number in the process) of every call from the second save's first to its last."""
        log = self.path / "trace"
        subprocess.run(["strace", "-s", "300", "-o", log, "-e", "trace=%file,%desc", PROGRAM, "train",
                        self.three_steps("traced")], check=True, capture_output=True)
        lines = [line for line in log.read_text(errors="replace").splitlines() if re.match(r"\w+\(", line)]
        makes = next(i for i, line in enumerate(lines) if line.startswith("mkdir(") and ".unfinished-step-2" in line)
        ends = max(i for i, line in enumerate(lines) if ".unfinished-old-1" in line)
        counts, calls = {}, []
        for i, line in enumerate(lines[:ends + 1]):
            name = line[:line.index("(")]
            counts[name] = counts.get(name, 0) + 1
            if i >= makes - 3:  # the free space is looked at first
                calls.append((name, counts[name]))
        return calls

    def state(self, name):
        """Everything in the run folder but times, speeds and whose lock it is: what a resumed run can see."""
        def content(path):
            if path.name == "log.txt":
                return None
            if path.name in ("events.jsonl", "lock", "state.json", "manifest.json"):
                varying = rb'"(time|tokens_per_second|memory_bytes|eta_seconds|pid|start_time|seconds)": ?[^,}]*'
                return re.sub(varying + rb'|"state.json": {[^}]*}', b"", path.read_bytes())
            return path.read_bytes().replace(name.encode(), b"")

        folder = self.path / name
        return hashlib.sha256(repr([(str(path.relative_to(folder)), path.is_file() and content(path))
                                    for path in sorted(folder.rglob("*"))]).encode()).digest()

    def end_by(self, name, call, n, fault):
        """Exit code and error text of a run with that fault at that call."""
        done = subprocess.run(["strace", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                               f"inject={call}:{fault}:when={n}", PROGRAM, "train", self.three_steps(name)],
                              capture_output=True, text=True, timeout=300)
        return done.returncode, done.stderr

    @unittest.skipUnless(traces(), "strace is not there, or may not trace")
    def test_a_fault_at_each_call_of_a_save(self):  # R4, R5
        self.cuset("train", self.three_steps("whole"))
        calls = self.calls_of_a_save()
        cases = [(call, n, "signal=KILL") for call, n in calls]
        cases += [(call, n, f"error={code}") for call, n in calls if call in FAILING for code in ("ENOSPC", "EIO")]
        chosen = cases if LONG else random.Random(3).sample(cases, 12)
        codes, resumed = {}, set()

        def check(number, call, n, fault):
            name = f"fault{number:04}"
            code, text = self.end_by(name, call, n, fault)
            # Some errors do no harm: of what is removed, closed or only logged.
            expected = (-signal.SIGKILL, 128 + signal.SIGKILL) if "KILL" in fault else (0, 5)
            self.assertIn(code, expected, f"{call} {n} {fault}: {text}")
            codes[code, fault] = codes.get((code, fault), 0) + 1
            if code != 0:
                state = self.state(name)
                if state in resumed:  # from call to call a save mostly reads: the same folder goes on the same way
                    return shutil.rmtree(self.path / name)
                resumed.add(state)
                self.cuset("train", "--resume", self.path / name)
            self.assert_whole(name, "whole")
            shutil.rmtree(self.path / name)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            for done in [workers.submit(check, number, *case) for number, case in enumerate(chosen)]:
                done.result()
        print(f"{len(calls)} calls of a save, {len(chosen)} faults, {len(resumed)} different folders resumed; exit codes: {codes}",
              file=sys.stderr)

    def wait_for_checkpoint(self, name, child, count):
        while len(self.events(name, "checkpoint") if (self.path / name / "events.jsonl").exists() else []) < count:
            self.assertIsNone(child.poll())
            time.sleep(0.01)

    def test_a_full_disk(self):
        changes = {"max_steps": 300, "save_steps": 10, "epochs": 1}
        self.cuset("train", self.config("whole", **changes))
        with small_disk(self.path / "disk", "16m"):
            config = self.config("run", output=str(self.path / "disk/run"), **changes)
            child = self.start("train", config)
            self.wait_for_checkpoint("disk/run", child, 2)
            fill(self.path / "disk/filler")
            (code,), (text,) = self.ends([child])
            self.assertEqual(code, 5, text)
            self.assertRegex(text, "No space left|are free")
            self.assertEqual(self.cuset("train", "--resume", self.path / "disk/run", code=5).returncode, 5)
            (self.path / "disk/filler").unlink()
            self.cuset("train", "--resume", self.path / "disk/run")
            self.assert_whole("disk/run", "whole")

    def test_a_full_disk_of_rank_0_ends_all_ranks(self):
        with small_disk(self.path / "disk", "16m"):
            config = self.config("run", output=str(self.path / "disk/run"), max_steps=100000, save_steps=10)
            children = self.start_ranks(2, "train", config)
            self.wait_for_checkpoint("disk/run", children[0], 2)
            fill(self.path / "disk/filler")
            begin = time.monotonic()
            codes, texts = self.ends(children)
            self.assertLess(time.monotonic() - begin, 30)  # seconds on a quiet machine
            self.assertEqual(codes, [5, 5], texts)
            self.assertIn("rank 0 of 2", texts[1])

    def test_kills_at_random_moments(self):  # R6
        changes = {"max_steps": 120, "save_steps": 7, "validation": [str(self.data)], "eval_steps": 5}
        self.cuset("train", self.config("whole", **changes))
        moments, generator, kills = 20 if LONG else 4, random.Random(11), 0
        child = self.start("train", self.config("killed", **changes))
        while kills < moments:
            time.sleep(generator.uniform(0.05, 0.8))
            if child.poll() is not None:  # it came to its end: another run takes the rest
                self.ends([child])
                self.assert_whole("killed", "whole")
                shutil.rmtree(self.path / "killed")
                child = self.start("train", self.path / "killed.json")
                continue
            child.kill()
            kills += 1
            self.ends([child])
            is_run = (self.path / "killed/events.jsonl").exists()
            child = self.start("train", *(["--resume", self.path / "killed"] if is_run else [self.path / "killed.json"]))
        (code,), (text,) = self.ends([child])
        self.assertEqual(code, 0, text)
        self.assert_whole("killed", "whole")


if __name__ == "__main__":
    main()
