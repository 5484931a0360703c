#!/usr/bin/env python3
"""What is installed beside the programs: every command has its entry in the manual page, completion offers it, and the
desktop entry and the AppStream file name programs that are installed.

Needs CUSET_BIN (the folder of cuset) and bash.
"""
import configparser
import os
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree

INSTALL = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "install"
BIN = pathlib.Path(os.environ["CUSET_BIN"])


def commands():
    text = subprocess.run([BIN / "cuset", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"^  ([a-z]+) ", text.split("Subcommands:")[1], re.M)


def complete(*words):
    """What bash offers for the last word."""
    script = (f'source "{INSTALL / "cuset.bash"}"; COMP_WORDS=({" ".join(repr(w) for w in words)}); '
              f'COMP_CWORD={len(words) - 1}; _cuset; printf "%s\\n" "${{COMPREPLY[@]}}"')
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True, env=environment)
    return done.stdout.split()


class Install(unittest.TestCase):
    def test_the_manual_has_every_command_and_no_other(self):
        page = (INSTALL / "cuset.1").read_text(encoding="utf-8")
        listed = page.split(".SH COMMANDS")[1].split(".SH EXIT STATUS")[0]
        named = re.findall(r"^\.BI? ([a-z]+)", listed, re.M)
        self.assertEqual(sorted(set(named)), sorted(commands()))

    def test_completion_offers_commands_options_and_values(self):
        self.assertTrue(set(commands()) <= set(complete("cuset", "")))
        self.assertEqual(complete("cuset", "regi"), ["regions"])
        self.assertIn("--max-length", complete("cuset", "score", "--m"))
        self.assertEqual(complete("cuset", "score", "--dtype", "bf"), ["bfloat16"])

    def test_desktop_entry_and_metainfo_agree(self):
        entry = configparser.ConfigParser(interpolation=None)
        entry.optionxform = str
        entry.read(INSTALL / "cuset-studio.desktop", encoding="utf-8")
        self.assertEqual(entry["Desktop Entry"]["Exec"].split()[0], "cuset-studio")
        root = xml.etree.ElementTree.parse(INSTALL / "cuset-studio.metainfo.xml").getroot()
        self.assertEqual(root.findtext("launchable"), "cuset-studio.desktop")
        self.assertEqual(sorted(e.text for e in root.iter("binary")), ["cuset", "cuset-studio"])


if __name__ == "__main__":
    unittest.main()
