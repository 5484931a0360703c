#!/usr/bin/env python3
"""Writes statistics.json: what NumPy, SciPy and mpmath say about small sets of confidences.

Usage: make_statistics.py    (needs numpy, scipy, mpmath; versions are recorded in the file)
Confidences are float32 values written as decimals that read back to the same float32.
"""
import json
import pathlib

import mpmath
import numpy as np
import scipy
from scipy import stats


def floats(values):
    return [float(np.format_float_positional(v, unique=True)) for v in np.asarray(values, np.float32)]


def samples(rng):
    def beta(a, b, n):
        return rng.beta(a, b, n).astype(np.float32)

    coarse = (rng.integers(0, 11, 60) / 10).astype(np.float32)
    return {
        "one_each": (beta(2, 1, 1), beta(2, 1, 1)),
        "small": (beta(2, 0.7, 7), beta(1, 1, 5)),
        "ties": (coarse[:35], coarse[25:]),
        "same": (coarse, coarse),
        "near": (beta(2, 0.7, 300), beta(2, 0.8, 280)),
        "apart": (beta(4, 0.5, 300), beta(1, 1.5, 220)),
        "separate": (beta(2, 2, 40) * np.float32(0.4), np.float32(0.6) + beta(2, 2, 30) * np.float32(0.4)),
        "unequal": (beta(2, 0.7, 5), beta(1, 2, 390)),
    }


def describe(first, second):
    a, b = first.astype(np.float64), second.astype(np.float64)
    ks = stats.ks_2samp(a, b, method="asymp")
    entry = {
        "first": floats(first), "second": floats(second),
        "mean": [a.mean(), b.mean()], "std": [a.std(), b.std()],
        "histogram": [np.histogram(x, bins=10, range=(0, 1))[0].tolist() for x in (a, b)],
        "ks_statistic": float(ks.statistic),
        "ks_p": None if np.isnan(ks.pvalue) else float(ks.pvalue),
        "cliffs_delta": float(np.sign(a[:, None] - b[None, :]).mean()),
    }
    if len(a) > 1 and len(b) > 1:
        pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2)
        entry["cohens_d"] = float((a.mean() - b.mean()) / np.sqrt(pooled))
    if len(a) > 2:
        x = np.linspace(0, 1, 33)
        entry["density"] = stats.gaussian_kde(a)(x).tolist()
    return entry


def distribution():
    """[n, x, ln P(D_n >= x)] as scipy.stats.kstwo computes it (from its survival function, which keeps digits)."""
    rows = []
    for n in (1, 2, 3, 10, 50, 139, 140, 141, 500, 5000, 99999, 100001, 800000, 5000000):
        for z in (0.3, 0.5, 0.7, 0.9, 1.2, 1.48, 1.49, 1.99, 2.01, 3.0, 5.0, 10.0, 17.0):
            x = z / n**0.5
            if x < 1:
                p = stats.kstwo.sf(x, n)
                if p > 0:
                    rows.append([n, x, float(np.log(p))])
    return rows


def tail():
    """[n, x, log10 P] far below the smallest double: the sum of Smirnov's terms in 60 digits, doubled."""
    mpmath.mp.dps = 60
    rows = []
    for n, x in ((1500, 0.55), (1500, 0.9), (2500, 0.4), (4000, 0.35)):
        exact = mpmath.mpf(x)
        total = mpmath.mpf(0)
        for j in range(int(mpmath.floor(n * (1 - exact))) + 1):
            u = exact + mpmath.mpf(j) / n
            total += mpmath.binomial(n, j) * u ** (j - 1) * (1 - u) ** (n - j)
        rows.append([n, x, float(mpmath.log10(2 * exact * total))])
    return rows


def mixed(z):
    with np.errstate(over="ignore"):
        z = np.asarray(z, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def bootstrap(rng):
    """Percentile intervals of token means, drawn by sample; the same counters as the program's, in NumPy."""
    sensitive = [rng.beta(3, 1, rng.integers(0, 6)).astype(np.float32) for _ in range(23)]
    neutral = [rng.beta(2, 1, rng.integers(1, 9)).astype(np.float32) for _ in range(23)]
    s_sum, n_sum = (np.array([x.sum(dtype=np.float64) for x in side]) for side in (sensitive, neutral))
    s_count, n_count = (np.array([len(x) for x in side]) for side in (sensitive, neutral))
    seed, replicates, level, size = 7, 500, 0.9, len(sensitive)
    stats_of = []
    with np.errstate(over="ignore"):
        for r in range(replicates):
            stream = mixed(mixed(seed) ^ np.uint64(r))
            high = mixed(stream + np.arange(size, dtype=np.uint64)) >> np.uint64(32)
            drawn = (high * np.uint64(size)) >> np.uint64(32)
            a = s_sum[drawn].sum() / s_count[drawn].sum()
            b = n_sum[drawn].sum() / n_count[drawn].sum()
            stats_of.append((a, b, a - b))
    low, high = np.quantile(np.array(stats_of), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return {
        "sensitive": [floats(x) for x in sensitive], "neutral": [floats(x) for x in neutral],
        "seed": seed, "replicates": replicates, "level": level,
        "low": low.tolist(), "high": high.tolist(),
    }


def main():
    rng = np.random.default_rng(20)
    out = {
        "made_with": {"numpy": np.__version__, "scipy": scipy.__version__, "mpmath": mpmath.__version__},
        "samples": {name: describe(*pair) for name, pair in samples(rng).items()},
        "bootstrap": bootstrap(rng),
        "kolmogorov": distribution(),
        "tail": tail(),
    }
    path = pathlib.Path(__file__).with_name("statistics.json")
    path.write_text(json.dumps(out, separators=(",", ":")).replace("],[", "],\n[").replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
