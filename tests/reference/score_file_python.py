#!/usr/bin/env python3
"""Score files between Python's `safetensors` and us.

  score_file_python.py make OUT     writes the file that score_file_test reads (tests/data/io/python.scores.safetensors)
  score_file_python.py check FILE   checks any score file against the format, reading it with `safetensors`

CUSET_KEEP_SCORE_FILE=FILE test_io_data --gtest_filter=ScoreFile.RoundTrip leaves one that we wrote.
Needs numpy and safetensors (0.8.0 was used).
"""
import json
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

TYPES = {
    "sample_begin": np.int64, "token_id": np.int32, "logprob": np.float32, "entropy": np.float32,
    "entropy_top20": np.float32, "rank": np.int32, "top_id": np.int32, "top_logprob": np.float32,
    "byte_begin": np.int32, "byte_end": np.int32, "labels": np.uint16, "prompt_utf8": np.uint8,
    "response_utf8": np.uint8, "prompt_begin": np.int64, "response_begin": np.int64,
}


def make(path):
    prompts, responses = ["add é", ""], ["x += 1;", "y"]
    texts = {name: np.frombuffer("".join(t).encode(), np.uint8) for name, t in
             (("prompt_utf8", prompts), ("response_utf8", responses))}
    begins = {name: np.cumsum([0] + [len(t.encode()) for t in texts_]) for name, texts_ in
              (("prompt_begin", prompts), ("response_begin", responses))}
    values = {
        "sample_begin": [0, 2, 3], "token_id": [11, 12, 13], "logprob": [-0.25, -2.5, 0.0],
        "entropy": [1.0, 2.0, 0.5], "entropy_top20": [0.5, 1.5, 0.25], "rank": [0, 3, 0],
        "top_id": [[11, 1], [2, 3], [13, 4]], "top_logprob": [[-0.25, -2.0], [-0.5, -1.0], [0.0, -9.0]],
        "byte_begin": [0, 1, 0], "byte_end": [1, 7, 1], "labels": [0, 1, 5], **texts, **begins,
    }
    metadata = {"format": "cuset-scores", "format_version": "1", "model": "none", "max_length": "64",
                "ids": json.dumps(["first", "second"])}
    save_file({name: np.ascontiguousarray(values[name], TYPES[name]) for name in TYPES}, path, metadata)


def check(path):
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    assert metadata["format"] == "cuset-scores" and metadata["format_version"] == "1", metadata
    for name, dtype in TYPES.items():
        assert tensors[name].dtype == dtype, (name, tensors[name].dtype)
    ids = json.loads(metadata["ids"])
    begin, text_begin = tensors["sample_begin"], tensors["response_begin"]
    assert len(begin) == len(text_begin) == len(tensors["prompt_begin"]) == len(ids) + 1
    tokens = len(tensors["token_id"])
    for name in ("logprob", "entropy", "entropy_top20", "rank", "byte_begin", "byte_end", "labels"):
        assert tensors[name].shape == (tokens,), name
    assert tensors["top_id"].shape == tensors["top_logprob"].shape and len(tensors["top_id"]) == tokens
    assert begin[0] == 0 and begin[-1] == tokens and np.all(np.diff(begin) >= 0)
    assert np.all(tensors["logprob"] <= 1e-4)
    for n, sample in enumerate(ids):
        text = tensors["response_utf8"][text_begin[n]:text_begin[n + 1]].tobytes().decode("utf-8")
        spans = slice(begin[n], begin[n + 1])
        assert np.all(tensors["byte_end"][spans] <= len(text.encode())), sample
        assert np.all(tensors["byte_begin"][spans] <= tensors["byte_end"][spans]), sample
    print(f"{path}: {len(ids)} samples, {tokens} tokens, as the format says")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
