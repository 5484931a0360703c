#!/usr/bin/env python3
"""Write core/text/unicode_tables.inc: how the `tokenizers` library classifies every code point.

The library's regex engine, its Digits, Punctuation and Whitespace steps each carry tables of another Unicode
version, so they are asked one by one instead of being taken from one version of the standard.

Usage: make_unicode_tables.py > core/text/unicode_tables.inc        Needs: tokenizers (0.23.3 was used)
Python's own unicodedata must be of Unicode 14 (Python 3.11): it tells which characters are newer than that.
"""
import sys
import unicodedata
import tokenizers
from tokenizers import Regex, normalizers as N, pre_tokenizers as P

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def regex_hits(pattern, text):
    found = set()
    for _, (b, e) in P.Split(Regex(pattern), "removed", invert=True).pre_tokenize_str(text):
        found.update(range(b, e))
    return found


def ranges(values):
    out = []
    for v in sorted(values):
        if out and out[-1][1] == v - 1:
            out[-1][1] = v
        else:
            out.append([v, v])
    return out


def rows(items, indent="    ", width=110):
    line = indent
    for i in items:
        if len(line) + len(i) > width:
            yield line.rstrip()
            line = indent
        line += i + " "
    yield line.rstrip()


def between(step, marker, keep):
    """Code points that stand alone when put between two markers, as `keep` tells from the pieces."""
    found = set()
    for k in range(0, len(CODES), 4000):
        part = CODES[k:k + 4000]
        text = marker + "".join(chr(c) + marker for c in part)
        for piece, (b, e) in step.pre_tokenize_str(text):
            if keep(e - b) and b % 2 == 1 and e - b == 1:
                found.add(part[b // 2])
    return found


def not_normalized():
    """Characters of Unicode 14 that the library's normalisers, whose tables are older, leave as they are."""
    decompose = N.NFKD().normalize_str
    found = set()
    for c in CODES:
        text = chr(c)
        after = unicodedata.normalize("NFKD", text)
        if decompose(text) != after:
            found.add(c)
        elif after == text and unicodedata.combining(text):
            # A mark moves behind one of a lower class; class 1 is the lowest, class 240 the highest.
            low = unicodedata.combining(text) == 1
            pair = "\u0345" + text if low else text + "\u0334"
            if decompose("a" + pair) == "a" + pair:
                found.add(c)
    return found


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit("needs Python 3.11 (Unicode 14), this is " + unicodedata.unidata_version)
    text = "".join(map(chr, CODES))
    category = {}
    for c in CATEGORIES:
        for i in regex_hits(r"\p{%s}+" % c, text):
            category[CODES[i]] = c
    digits = between(P.Digits(individual_digits=True), "a", lambda n: True)
    number = {c for c in CODES if category[c][0] == "N"}
    assert number <= digits
    punctuation = set(CODES)
    for _, (b, e) in P.Punctuation("removed").pre_tokenize_str(text):
        punctuation -= {CODES[i] for i in range(b, e)}
    ours = {c for c in CODES if category[c][0] == "P" or (c < 128 and category[c][0] == "S")}
    words = {c for c in CODES} - between(P.Whitespace(), "a", lambda n: True)
    spaces = {CODES[i] for i in regex_hits(r"\s+", text)}
    words -= spaces
    ours_w = {c for c in CODES if category[c][0] in "LMN" or category[c] == "Pc"}
    onig_w = {CODES[i] for i in regex_hits(r"\w+", text)}
    print(f"// \\w of the regex engine differs from L, M, N, Pc in {len(onig_w ^ ours_w)} code points", file=sys.stderr)
    newer = {c for c in CODES if unicodedata.category(chr(c)) != category[c]}

    print("// Made by tests/reference/make_unicode_tables.py; do not edit.")
    print(f"// Source: the answers of tokenizers {tokenizers.__version__} for every code point.")
    print("constexpr CategoryRun category_runs[] = {")
    runs, last = [], None
    for c in range(0x110000):
        k = category.get(c, "Cn")
        if k != last:
            runs.append("{0x%x, %s}," % (c, k))
            last = k
    print("\n".join(rows(runs)))
    print("};")
    for name, values in [("digits_beyond_n", digits - number), ("punctuation_added", punctuation - ours),
                         ("punctuation_missing", ours - punctuation), ("word_added", words - ours_w),
                         ("word_missing", ours_w - words), ("newer_than_14", newer),
                         ("not_normalized", not_normalized())]:
        print(f"constexpr CodeRange {name}[] = {{")
        print("\n".join(rows("{0x%x, 0x%x}," % (a, b) for a, b in ranges(values))))
        print("};")


if __name__ == "__main__":
    main()
