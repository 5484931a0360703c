#!/usr/bin/env python3
"""Copy from a folder of fixture models what the tokenizer tests need into tests/data/tokenizers.

For each distinct tokenizer.json: NAME.json (the tokenizer) and NAME.golden.json (texts, ids and offsets in code
points, as transformers gave them when the fixtures were made).

Usage: copy_tokenizer_fixtures.py FIXTURE_MODELS OUT
"""
import json
import os
import shutil
import sys


def main():
    source, out = sys.argv[1:]
    seen = {}
    os.makedirs(out, exist_ok=True)
    for name in sorted(os.listdir(source)):
        path = os.path.join(source, name, "tokenizer.json")
        text = open(path, encoding="utf-8").read()
        golden = json.load(open(os.path.join(source, name, "golden.json"), encoding="utf-8"))
        kept = [{k: g[k] for k in ("prompt", "response", "ids", "prompt_tokens", "offsets")} for g in golden]
        if text in seen:
            assert seen[text] == kept, name
            continue
        seen[text] = kept
        shutil.copyfile(path, os.path.join(out, name + ".json"))
        with open(os.path.join(out, name + ".golden.json"), "w", encoding="utf-8") as f:
            json.dump(kept, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
