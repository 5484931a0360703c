#!/usr/bin/env python3
"""The rules of the house that can be read off the source: who includes whom, and what a tree may hold."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE_MAY_INCLUDE = {
    "base": {"base"},
    "data": {"base", "data"},
    "io": {"base", "data", "io"},
    "text": {"base", "data", "text"},
    "cuda": {"base", "data", "cuda"},
    "analysis": {"base", "data", "analysis"},
    "report": {"base", "data", "analysis", "report"},
    "model": {"base", "data", "io", "text", "cuda", "analysis", "report", "model"},
    "train": {"base", "data", "io", "text", "cuda", "analysis", "report", "model", "train"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources(folder):
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in {".h", ".cpp"})


def includes(path):
    return [(quote, name) for quote, name in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def headers_reached_from(folders):
    """Our headers that any file of `folders` reaches, directly or through other headers of ours."""
    reached, waiting = set(), [p for folder in folders for p in sources(folder)]
    while waiting:
        for quote, name in includes(waiting.pop()):
            path = ROOT / name
            if quote == '"' and path.is_file() and path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached


class Layering(unittest.TestCase):
    def test_core_rooms_include_only_what_lies_below(self):
        for room, allowed in CORE_MAY_INCLUDE.items():
            for path in sources(f"core/{room}"):
                for quote, name in includes(path):
                    if quote != '"':
                        continue
                    parts = name.split("/")
                    self.assertEqual(parts[0], "core", f"{path}: includes {name}")
                    self.assertIn(parts[1], allowed, f"{path}: room {room} includes {name}")

    def test_core_knows_no_qt(self):
        for path in sources("core"):
            for quote, name in includes(path):
                self.assertIsNone(re.match(r"Q[A-Z]|Qt|Qsci", name), f"{path}: includes {name}")

    def test_no_header_that_ui_or_app_reaches_includes_torch(self):
        for path in headers_reached_from(["ui", "app"]):
            for _, name in includes(path):
                self.assertIsNone(re.match(r"(torch|ATen|c10)/", name), f"{path}: includes {name}")

    def test_a_source_includes_its_own_header_first(self):
        for path in sources("core") + sources("ui"):
            header = path.with_suffix(".h")
            if path.suffix != ".cpp" or not header.exists():
                continue
            first = includes(path)[0][1]
            self.assertEqual(first, str(header.relative_to(ROOT)), f"{path}: includes {first} first")


class Tree(unittest.TestCase):
    def tracked(self):
        listing = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True)
        return listing.stdout.split("\n")[:-1] if listing.returncode == 0 else []

    def test_top_level_is_the_fixed_one(self):
        allowed = {"CMakeLists.txt", "app", "core", "ui", "resources", "tests", "packaging", "README.md", "CMakePresets.json",
                   "CONTRIBUTING.md", "LICENSE", ".ci", ".clang-format", ".clang-tidy", ".gitignore"}
        self.assertLessEqual({name.split("/")[0] for name in self.tracked()}, allowed)

    def test_no_model_weights_beyond_the_tiny_fixtures(self):
        for name in self.tracked():
            path = ROOT / name
            if path.is_file():
                self.assertLess(path.stat().st_size, 4 << 20, f"{name} is too large to be source or test data")

    def test_no_note_to_self_is_left(self):
        marks = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
        for folder in ["app", "core", "ui", "packaging", "tests"]:
            for path in (ROOT / folder).rglob("*"):
                if path.suffix in {".h", ".cpp", ".py", ".cmake", ".sh"} and path.is_file():
                    self.assertIsNone(marks.search(path.read_text(encoding="utf-8")), str(path))


if __name__ == "__main__":
    unittest.main()
