#!/usr/bin/env python3
"""Write tests/data/text/tokenizer_components.json: small tokenizers made here, one for each component of
tokenizer.json and its options, with texts and what the `tokenizers` library answers.

Usage: make_component_goldens.py OUT.json        Needs: tokenizers (0.23.3 was used)
A case: the tokenizer, and for each text ids, offsets (code points), with recognised special tokens and without;
`full` are the ids with the post-processor; `decoded` is what the library makes of the ids.
"""
import json
import sys

from tokenizers import Tokenizer

MARK = "\u2581"
CHARACTERS = list("abcdefxyABCX019 .,!?'-_\n\t") + [MARK, "é", "e\u0301"[1], "ß", "Σ", "世", "界", "ﬁ", "Å", "½", "Ġ", "Ċ"]
PAIRS = ["ab", "abc", "de", "def", "bc", "Ab", "AB", "01", "01 ", " a", "..", "  ", "世界", MARK + "a", MARK + "ab",
         MARK + MARK, "Ġa", "Ġab", "xy", "fi", "1/"]
TEXTS = ["", "abc", "ab cd", " abc  def ", "a.b,c!", "Ab AB X", "a1b01c019", "a\n\nb\t c", "é e\u0301 ß Σ İ", "世界abc世",
         "ﬁ½Å", "<x>ab<y>", "ab <x> ab", "ab  <x>  <x>cd", "a<w>b <w> <w>", "<X>abc<x>", "..ab..", "--a--b-", "a''b",
         "   ", "xyzq~", "~~~ab~~", MARK + "ab " + MARK + " a", "\U0001f600a\U0001f600\U0001f600", "0a1 ½b", "a-b_c"]


def vocabulary(extra=()):
    vocab = {}
    for token in [*extra, *CHARACTERS]:
        vocab.setdefault(token, len(vocab))
    merges = []
    for token in PAIRS:
        for k in range(1, len(token)):
            if token[:k] in vocab and token[k:] in vocab:
                vocab.setdefault(token, len(vocab))
                merges.append([token[:k], token[k:]])
                break
    return vocab, merges


def make(extra=(), model=None, **parts):
    vocab, merges = vocabulary(extra)
    out = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
           "pre_tokenizer": None, "post_processor": None, "decoder": None,
           "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                     "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                     "vocab": vocab, "merges": merges} | (model or {})}
    return out | parts


def added(content, **flags):
    return {"id": 900, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True} | flags


def split(pattern, behavior, invert=False):
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def cases():
    for behavior in ("Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"):
        for invert in (False, True):
            for kind, pattern in (("string", {"String": "b"}), ("regex", {"Regex": r"[.\s]|b+"})):
                yield f"split {kind} {behavior} invert={invert}", make(pre_tokenizer=split(pattern, behavior, invert))
        yield f"punctuation {behavior}", make(pre_tokenizer={"type": "Punctuation", "behavior": behavior})
    for name in ("Whitespace", "WhitespaceSplit"):
        yield name, make(pre_tokenizer={"type": name})
    for individual in (False, True):
        yield f"digits {individual}", make(pre_tokenizer={"type": "Digits", "individual_digits": individual})
    for scheme in ("always", "first", "never"):
        for cut in (True, False):
            meta = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": cut}
            yield f"metaspace {scheme} split={cut}", make(pre_tokenizer=meta, decoder=meta,
                                                         added_tokens=[added("<x>"), added("<y>")])
    for prefix in (False, True):
        for regex in (False, True):
            step = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": False, "use_regex": regex}
            yield f"byte level prefix={prefix} regex={regex}", make(pre_tokenizer=step, decoder=step)
            yield (f"byte level then split prefix={prefix} regex={regex}",
                   make(pre_tokenizer={"type": "Sequence",
                                       "pretokenizers": [step, split({"String": "b"}, "Isolated")]}))
    for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase"):
        yield name, make(normalizer={"type": name})
    for left in (False, True):
        for right in (False, True):
            yield f"strip {left} {right}", make(normalizer={"type": "Strip", "strip_left": left,
                                                            "strip_right": right})
    yield "prepend", make(normalizer={"type": "Prepend", "prepend": "ab"})
    yield "replace string", make(normalizer={"type": "Replace", "pattern": {"String": "b"}, "content": "de"})
    yield "replace regex", make(normalizer={"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": ""})
    yield "normalizers", make(normalizer={"type": "Sequence", "normalizers": [
        {"type": "Lowercase"}, {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "NFKD"},
        {"type": "Replace", "pattern": {"String": "a"}, "content": "bc"}, {"type": "Prepend", "prepend": "x"}]})
    for flags in ({}, {"lstrip": True}, {"rstrip": True}, {"lstrip": True, "rstrip": True}, {"single_word": True},
                  {"normalized": True}, {"special": False}, {"special": False, "normalized": True, "rstrip": True}):
        name = ", ".join(flags) or "plain"
        for normalizer in (None, {"type": "Lowercase"}):
            yield f"added token {name}, normalizer {normalizer is not None}", make(
                normalizer=normalizer, added_tokens=[added("<x>", **flags), added("<Y>", **flags),
                                                     added("<w>", single_word=True), added("ab", **flags),
                                                     added("<x>a", **flags)])
    gaps = make(added_tokens=[added("<x>"), added("<y>", id=3), added("ab"), added("<w>", id=1)])
    gaps["model"]["vocab"]["ab"] = 500
    yield "added ids with gaps", gaps
    for name, model in (("unknown", {"unk_token": "<unk>"}), ("unknown fused", {"unk_token": "<unk>", "fuse_unk": True}),
                        ("bytes", {"unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True}),
                        ("dropped", {})):
        extra = ["<unk>"] + ([f"<0x{b:02X}>" for b in range(256)] if name == "bytes" else [])
        yield f"model {name}", make(extra=extra, model=model)
        yield f"sentence piece {name}", make(
            extra=extra, model=model,
            normalizer={"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": MARK}, {"type": "Replace", "pattern": {"String": " "}, "content": MARK}]},
            decoder={"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": MARK}, "content": " "}, {"type": "ByteFallback"},
                {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})
    for ignore in (False, True):
        tokenizer = make(model={"ignore_merges": ignore}, pre_tokenizer={"type": "WhitespaceSplit"})
        tokenizer["model"]["vocab"]["xyzq~"] = tokenizer["model"]["vocab"]["a1b01c019"] = 300
        yield f"ignore_merges {ignore}", tokenizer
    template = {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                           {"SpecialToken": {"id": "<y>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"<x>": {"id": "<x>", "ids": [2, 3], "tokens": ["c", "d"]},
                                   "<y>": {"id": "<y>", "ids": [4], "tokens": ["e"]}}}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    yield "template", make(post_processor=template)
    yield "template after ByteLevel", make(post_processor={"type": "Sequence", "processors": [byte_level, template]})
    yield "roberta", make(post_processor={"type": "RobertaProcessing", "cls": ["a", 0], "sep": ["b", 1],
                                          "trim_offsets": False, "add_prefix_space": False})
    yield "bert", make(post_processor={"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]})


def main():
    out = []
    for name, definition in cases():
        reference = Tokenizer.from_str(json.dumps(definition))
        answers = []
        for text in TEXTS:
            reference.encode_special_tokens = True
            plain = reference.encode(text, add_special_tokens=False)
            reference.encode_special_tokens = False
            special = reference.encode(text, add_special_tokens=False)
            same = reference.normalizer is None or reference.normalizer.normalize_str(text) == text
            answers.append({"text": text, "ids": plain.ids, "special": special.ids,
                            "offsets": [list(o) for o in plain.offsets] if same else None,
                            "full": reference.encode(text).ids,
                            "decoded": reference.decode(plain.ids, skip_special_tokens=False)})
        out.append({"name": name, "tokenizer": definition, "answers": answers})
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(x, ensure_ascii=False, separators=(",", ":")) for x in out) + "\n]\n")


if __name__ == "__main__":
    main()
