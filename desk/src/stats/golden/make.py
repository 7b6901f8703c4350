"""Makes the golden vectors beside it: python3 make.py (numpy, scipy, and Rscript on PATH).

The tests hold our figures against these; they are data, made once, and name what made them.
"""

import itertools
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent
CHANCE = np.random.default_rng(20261121)
PYTHON = {"scipy": scipy.__version__, "numpy": np.__version__}


def write(name, made_by, cases):
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    text = f'{{"made_by": {json.dumps(made_by)}, "cases": [\n  {lines}\n]}}\n'
    (HERE / f"{name}.json").write_text(text)


def sample(n):
    return list(CHANCE.normal(0.01, 0.02, n))


def student():
    cases = []
    for n in [2, 3, 4, 5, 6, 7]:
        base = np.exp(CHANCE.normal(4.6, 0.02, n))
        other = base * np.exp(CHANCE.normal(0.01, 0.02, n))
        logs = np.log(other) - np.log(base)
        case = {"base": list(base), "other": list(other), "intervals": []}
        case["p"] = stats.ttest_rel(np.log(other), np.log(base)).pvalue
        for level in [0.5, 0.9, 0.95, 0.9875, 0.999]:
            ends = stats.ttest_1samp(logs, 0).confidence_interval(level)
            case["intervals"].append([level, *np.exp([ends.low, ends.high])])
        case["tost"] = []
        for margin in [0.01, 0.02, 0.1]:
            room = np.log1p(margin)
            above = stats.ttest_1samp(logs, -room, alternative="greater").pvalue
            below = stats.ttest_1samp(logs, room, alternative="less").pvalue
            case["tost"].append([margin, max(above, below)])
        cases.append(case)
    write("t", PYTHON, cases)


def ranks():
    samples = [sample(n) for n in range(6, 31)] + [sample(n) for n in (40, 50)]
    families = [list(CHANCE.uniform(0, 0.06, m)) for m in (2, 5, 13)]
    families.append([0.01, 0.04, 0.01, 0.04, 0.2])
    with tempfile.TemporaryDirectory() as place:
        asked, answered = pathlib.Path(place) / "in", pathlib.Path(place) / "out"
        lines = [f"{len(x)} " + " ".join(map(repr, map(float, x))) for x in samples]
        lines += ["holm " + " ".join(map(repr, map(float, ps))) for ps in families]
        asked.write_text("\n".join(lines) + "\n")
        subprocess.run(["Rscript", HERE / "make.R", asked, answered], check=True)
        version, *rows = [line.split() for line in answered.read_text().splitlines()]
    rows = iter([[float(x) for x in row] for row in rows])
    made_by = {**PYTHON, "R": version[0]}
    cases = []
    for x in samples:
        case = {"values": x, "intervals": []}
        for level in [0.9, 0.95, 0.975, 0.9875]:
            if 2.0 ** (1 - len(x)) <= 1 - level:
                of, low, high, centre, p = next(rows)
                assert of == level
                case["intervals"].append([level, low, high])
                case["centre"], case["p_r"] = centre, p
        # mu = 0.02, alternative greater, then less.
        case["p_above"], case["p_below"] = next(rows)[0], next(rows)[0]
        case["p"] = stats.wilcoxon(x, method="exact").pvalue
        cases.append(case)
    write("signed_rank", made_by, cases)
    holm = [{"ps": ps, "adjusted": next(rows)} for ps in families]
    write("holm", {"R": version[0]}, holm)


def max_t():
    cases = []
    for blocks, points, missing in [(8, 1, 0), (8, 3, 0), (9, 5, 2), (10, 13, 0), (12, 4, 3)]:
        values = CHANCE.normal(0.0, 0.02, (blocks, points)) + CHANCE.normal(0.0, 0.02, (blocks, 1))
        values[:, 0] += 0.04
        for _ in range(missing):
            values[CHANCE.integers(blocks), CHANCE.integers(points)] = np.nan
        cases.append({"rows": [[None if np.isnan(v) else v for v in row] for row in values],
                      **brute(values, 0.05)})
    write("max_t", PYTHON, cases)


def brute(values, alpha):
    """Every flip, by the definition of t, of the values and of what their means leave over."""
    blocks, points = values.shape

    def t_of(column):
        column = column[~np.isnan(column)]
        return abs(column.mean()) / (column.std(ddof=1) / np.sqrt(len(column)))

    own = np.array([t_of(values[:, j]) for j in range(points)])
    critical, adjusted = 0.0, np.zeros(points)
    for rows in (values, values - np.nanmean(values, axis=0)):
        largest = []
        for signs in itertools.product([1.0, -1.0], repeat=blocks):
            flipped = rows * np.array(signs)[:, None]
            largest.append(max(t_of(flipped[:, j]) for j in range(points)))
        largest = np.sort(largest)[::-1]
        critical = max(critical, largest[int(alpha * len(largest) + 1e-9)])
        share = [(largest >= t * (1 - 1e-9)).mean() for t in own]
        adjusted = np.maximum(adjusted, share)
    return {"alpha": alpha, "critical": critical, "adjusted": list(adjusted)}


student()
ranks()
max_t()
