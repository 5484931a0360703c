#!/usr/bin/env python3
"""Compare our tokenizer with the `tokenizers` library on random and adversarial strings.

Usage: tokenizer_differential.py --tool BUILD/bin/tokenize_tool --work DIR [--count N] [--seed S] [--only NAME ...]
       tokenizer_differential.py --sample OUT.json      write a small sample with the library's answers instead

DIR is filled by pip if it is empty (reference_tokenizers.py says with what). N strings for each tokenizer (default
60,000: 1,020,000 over 17 vocabularies, about half an hour on one core), every second one with special tokens
recognised. Compared:
- ids, and that nothing failed: always;
- the ids that the models' publishers' own tokenizers gave for some texts, where llama.cpp's test files have them;
- spans, as code points, and decode(encode(x)) == x, except where
  * the normalizer changes the text: the reference then gives a composed character only a part of what it came from,
    or an offset of the rewritten text; our spans always cover all of the text;
  * the vocabulary lacks a byte: the reference drops it and leaves a gap, we count it and close the gap;
  * the text is not UTF-8: the reference cannot be given it, it gets U+FFFD in the bad bytes' place, which is one to
    three bytes long in ours.
Needs: tokenizers, numpy. Not part of the fast suite.
"""
import argparse
import itertools
import json
import os
import struct
import subprocess
import sys
import threading
import time
import zlib

import numpy as np

from reference_tokenizers import Tokenizer, fetch, tokenizers_in, unpack

CODE = """__global__ void add(const float* __restrict__ a, float *b, int n) {\\n    int i = blockIdx.x * blockDim.x + threadIdx.x;
\tif (i < n) { b[i] += a[i] * 2.0f; } // don't
}
  add<<<(n + 255) / 256, 256, 0, stream>>>(a, b, n);\r\n#include <cuda_fp16.h>\r\n\r\n/* \u00fcber */ x->y::z "s'll" 'c' 0x7fffULL 1e-6f
"""
PARTS = [" ", "  ", "   ", "    ", " " * 9, " " * 17, "\t", "\t\t", "\n", "\n\n", "\r\n", "\r", "\r\n\r\n", "\u00a0", "\u2009", "\u3000", "\u200b",
         "\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x00", "\x04", "\x1d", "\x7f", "\u180e", "\ufeff", "\u2581", "'s", "'S", "'ll", "'LL", "'re", "'Ve", "'\u017f",
         "'d", "'t", "don't", "\u2019s", "a", "A", "Z", "foo", "Bar", "kernel", "__syncthreads", "(", ")", "{", "}", ";", "<<<", ">>>", "==", "!=", "//", "/*",
         "*/", "->", "::", "\"", "\\", "\\n", "#", "%", "$", "_", "`", "~", "|", "^", "&&", "0", "1", "42", "123", "1234", "1234567890", "0x7f", "1e-6f", "3.14",
         "\u00bd", "\u00b2", "\u2167", "\u0663", "\u096a", "\uff11", "\u3007", "\u4e00", "\u8f6c\u7f6e", "\u30ab\u30bf", "\u3072\u3089", "\ud55c\uad6d", "\u1112\u1161\u11ab", "\u1100\u1161",
         "e\u0301", "\u00e9", "a\u0323\u0302", "a\u0302\u0323", "\u1e9b\u0323", "\u212b", "\u2126", "\ufb01", "\u01c5", "\u0130", "\u00df", "\u0301", "\u0300\u0323", "\u0344", "\u0f73", "\u0958", "\U0001d15f",
         "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f", "\U0001f3fd", "\u05d0\u05d1", "\u0627\u0644", "\u202e", "\u2066", "\u0939\u093f\u0928\u094d", "\u0e01\u0e33",
         "\u4e00\u4e01", "\U00020000", "\U00030000", "\U00031350", "\U0001e4d0", "\U00010d40", "\U00011de0", "\ua7cb", "\u0897", "\ue000", "\uffff", "\U0010ffff", "<|endoftext|>", "<|im_start|>",
         "<|im_end|>", "<|im_end", "<s>", "</s>", "<unk>", "<0x0A>", "<|begin_of_text|>", "<|eot_id|>", "\uff5cend\u2581of", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[INST]", "<fim_prefix>",
         "<|python_tag|>", "<|user|>"]
BAD = [b"\x80", b"\xff", b"\xc0\x80", b"\xc3", b"\xe2\x96", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xe0\x9f\xbf", b"\xf5\xf1\xc1"]


class Strings:
    """An endless stream of test strings (bytes), the same for the same name and seed."""

    def __init__(self, name, seed, specials):
        self.rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        self.specials = specials

    def characters(self, count):
        tops = np.array([0x80, 0x250, 0x800, 0x3100, 0x10000, 0x20000, 0x110000])
        codes = (self.rng.random(count) * self.rng.choice(tops, count)).astype(int)
        codes[(codes >= 0xd800) & (codes < 0xe000)] = 0xfffd
        return [chr(c) for c in codes]

    def batch(self, count):
        rng = self.rng
        size = 40 * count   # of the pools below; a string takes fewer than 24 of each
        parts = [PARTS[k] for k in rng.integers(0, len(PARTS), size)]
        characters = self.characters(size)
        mixed = [p if r < 0.7 else c for p, c, r in zip(parts, characters, rng.random(size))]
        kinds = rng.random(count).tolist()
        lengths = rng.integers(1, 24, count).tolist()
        places = rng.integers(0, size - 24, count).tolist()
        repeats = rng.integers(1, 400, count).tolist()
        marks = rng.random((count, 3)).tolist()
        out = []
        for kind, length, at, repeat, (insert, special, bad) in zip(kinds, lengths, places, repeats, marks):
            if kind < 0.25:
                begin = at % len(CODE)
                text = CODE[begin:begin + 5 * length]
            elif kind < 0.7:
                text = "".join(parts[at:at + length])
            elif kind < 0.8:
                text = "".join(characters[at:at + length])
            elif kind < 0.82:
                text = parts[at] * repeat
            else:
                text = "".join(mixed[at:at + length])
            if self.specials and special < 0.2:
                k = int(insert * (len(text) + 1))
                text = text[:k] + self.specials[at % len(self.specials)] + text[k:]
            data = text.encode()
            if bad < 0.08:
                k = int(insert * (len(data) + 1))
                data = data[:k] + BAD[at % len(BAD)] + data[k:]
            out.append(data)
        return out


class Tool:
    """One tokenize_tool process."""

    def __init__(self, tool, path):
        self.process = subprocess.Popen([tool, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, records):
        """Starts on a batch of (flags, bytes); the answers come from the function returned."""
        payload = b"".join(struct.pack("<II", flags, len(d)) + d for flags, d in records[:-1])
        flags, last = records[-1]
        payload += struct.pack("<II", flags | 8, len(last)) + last
        answers = []

        def talk():
            answers.extend(self.read(flags) for flags, _ in records)
        reader = threading.Thread(target=talk)
        reader.start()
        self.process.stdin.write(payload)
        self.process.stdin.flush()

        def wait():
            reader.join()
            if len(answers) < len(records):
                raise RuntimeError(f"the tool ended after {len(answers)} of {len(records)} answers")
            return answers
        return wait

    def read(self, flags):
        """Status, ids, spans (as int32 bytes), dropped bytes, decoded text."""
        read = self.process.stdout.read
        status, n, dropped = struct.unpack("<III", read(12))
        ids = memoryview(read(4 * n)).cast("i").tolist()
        spans = read(8 * n)
        back = read(struct.unpack("<I", read(4))[0]) if flags & 4 else None
        return status, ids, spans, dropped, back

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def code_points(data, spans):
    """Byte spans in valid UTF-8 as the reference counts them: code points, parts of a character widened to it."""
    inside = np.concatenate([(data & 0xc0) == 0x80, [False]])
    before = np.concatenate([[0], np.cumsum(~inside[:-1])])
    return before[spans[:, 0]] - inside[spans[:, 0]], before[spans[:, 1]]


def wrong_spans(batch, spans, offsets):
    """Which of the strings have other spans than the reference; all strings are looked at in one piece."""
    counts = np.array([len(o) for o in offsets])
    begins = np.cumsum([0] + [len(d) for d in batch])
    data = np.frombuffer(b"".join(batch), np.uint8)
    ours = np.frombuffer(b"".join(spans), np.int32).reshape(-1, 2).astype(np.int64)
    ours += np.repeat(begins[:-1], counts)[:, None]
    flat = itertools.chain.from_iterable(itertools.chain.from_iterable(offsets))
    theirs = np.fromiter(flat, np.int64, 2 * int(counts.sum())).reshape(-1, 2)
    characters = np.concatenate([[0], np.cumsum((data & 0xc0) != 0x80)])[begins[:-1]]
    begin, end = code_points(data, ours)
    shift = np.repeat(characters, counts)
    bad = (begin - shift != theirs[:, 0]) | (end - shift != theirs[:, 1])
    return np.unique(np.repeat(np.arange(len(batch)), counts)[bad]).tolist()


def encode_reference(reference, texts):
    """Encodings of the texts, every second one with special tokens recognised."""
    answers = [None] * len(texts)
    for special in (0, 1):
        reference.encode_special_tokens = special == 0
        answers[special::2] = reference.encode_batch(texts[special::2], add_special_tokens=False)
    return answers


def compare_batch(name, tool, reference, batch, show):
    """Numbers of differences, of strings with spans compared, of strings decoded back."""
    wait = tool.ask([(4 | (k & 1), d) for k, d in enumerate(batch)])
    texts = [d.decode("utf-8", errors="replace") for d in batch]
    normalize = reference.normalizer.normalize_str if reference.normalizer is not None else lambda text: text
    expected = encode_reference(reference, texts)
    answers = wait()
    wrong, plain = set(), []
    for k, (status, ids, spans, dropped, back) in enumerate(answers):
        if status != 0 or ids != expected[k].ids:
            wrong.add(k)
        elif dropped == 0 and texts[k].encode() == batch[k] and normalize(texts[k]) == texts[k]:
            plain.append(k)
            if back != batch[k]:
                wrong.add(k)
    if plain:
        found = wrong_spans([batch[k] for k in plain], [answers[k][2] for k in plain],
                            [expected[k].offsets for k in plain])
        wrong.update(plain[k] for k in found)
    for k in sorted(wrong)[:show]:
        status, ids, spans, dropped, back = answers[k]
        print(f"  {name} {batch[k]!r} special={k & 1} status={status} dropped={dropped}\n    ours {ids}\n"
              f"    ref  {expected[k].ids}\n    bytes {memoryview(spans).cast('i').tolist()}\n"
              f"    ref   {expected[k].offsets} back {back!r}")
    return len(wrong), len(plain)


def compare(name, tool, reference, count, seed, show):
    strings = Strings(name, seed, [t.content for t in reference.get_added_tokens_decoder().values()])
    done = bad = plain = 0
    while done < count:
        batch = strings.batch(min(10000, count - done))
        wrong, checked = compare_batch(name, tool, reference, batch, max(0, show - bad))
        done, bad, plain = done + len(batch), bad + wrong, plain + checked
    return bad, plain


def compare_published(name, tool, work):
    """llama.cpp's test texts with the ids that the publisher's tokenizer gave; (texts, differences)."""
    path = os.path.join(work, f"ggml-vocab-{name}.gguf")
    # qwen35's ids for decomposed letters are llama.cpp's own, which knows no NFC; the model's definition has it.
    if not os.path.exists(path + ".out") or name == "qwen35":
        return 0, 0
    with open(path + ".inp", encoding="utf-8", newline="") as f:
        texts = f.read().split("\n__ggml_vocab_test__\n")
    with open(path + ".out", encoding="utf-8") as f:
        expected = [[int(x) for x in line.split()] for line in f.read().split("\n")]
    bad = 0
    for text, want, answer in zip(texts, expected, tool.ask([(1, t.encode()) for t in texts])()):
        if answer[1] != want:
            bad += 1
            print(f"  {name}, published: {text!r}\n    ours {answer[1]}\n    ref  {want}")
    return len(texts), bad


def sample(path):
    """A small fixed sample for the fast suite: made with the fixture tokenizers of tests/data."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tokenizers")
    out = []
    for name in ("llama", "llama3-rope", "qwen2"):
        reference = Tokenizer.from_file(os.path.join(data, name + ".json"))
        strings = Strings(name, 0, [t.content for t in reference.get_added_tokens_decoder().values()])
        batch = [d[:160] for d in strings.batch(80)]
        texts = [d.decode("utf-8", errors="replace") for d in batch]
        for k, (d, e) in enumerate(zip(batch, encode_reference(reference, texts))):
            out.append({"tokenizer": name, "hex": d.hex(), "special": k % 2 == 1, "ids": e.ids})
    with open(path, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(x) for x in out) + "\n]\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tool")
    ap.add_argument("--work")
    ap.add_argument("--count", type=int, default=60000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", nargs="*")
    ap.add_argument("--show", type=int, default=3)
    ap.add_argument("--sample")
    args = ap.parse_args()
    if args.sample:
        return sample(args.sample)
    fetch(args.work)
    unpack(args.work)
    total = wrong = 0
    for name, path, make in tokenizers_in(args.work, args.only):
        begin = time.time()
        tool = Tool(args.tool, path)
        published, published_bad = compare_published(name, tool, args.work)
        bad, plain = compare(name, tool, make(), args.count, args.seed, args.show)
        tool.close()
        total, wrong = total + args.count, wrong + bad + published_bad
        print(f"{name}: {args.count} strings, {bad} differences, {plain} with spans and round trip; published texts: "
              f"{published}, {published_bad} differences; {time.time() - begin:.0f} s", flush=True)
    print(f"{total} strings, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
