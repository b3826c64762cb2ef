"""For tools/accuracy.py: random nets whose figures still differ, by cause."""
import csv
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "random_nets"))

from netc import netc_figures  # noqa: E402, in that folder

TABLE = Path(__file__).resolve().parent.parent / "tests/data/random.csv"
COLUMNS = "params", "macs", "saved", "grads", "peak", "predict"
TEXT = """
### Random nets

`make random` draws nets and compares them with PyTorch 1.13 on a CPU. `tests/data/random.csv`
has those in which something was found, made small: {equal} of {all} are equal in all figures.
Of the 504 nets of `make check-long` 6 disagree. Of 29,936 others (`tools/random_nets build/netc
29936 700000`) 1,032 did, 3.4 %: 820 peaks, 285 times what is saved, 279 predictions. Of the next
10,230 (from seed 704989) 285 do, 2.8 %: 206 peaks, 75 times what is saved, 67 predictions. Never
parameters, products, shapes or gradients. Some of both, below seeds 703000 and 705430, led to
rules that are in these figures.

What is left, each in the smallest net that shows it (batch 1 and
`inplace=off` if nothing else is said; bytes of netc and of PyTorch):

| cause | net | |
|---|---|---|
"""


def line_of(netc, row):
    batch = f", batch {row[1]}" if row[1] != "1" else ""
    place = "" if row[0].startswith("train") else ", in place"
    net = row[0].replace("train inplace=off; ", "")
    told = netc_figures(netc, row[0].replace("; ", "\n"), int(row[1]))
    each = []
    for name in (differs.split(":")[0] for differs in row[8].split()):
        truth = int(row[2 + COLUMNS.index(name)])
        shown = {"predict": "prediction"}.get(name, name)
        each.append(f"{shown} {told[name]:,}, {truth:,}")
    return f"| {row[10]} | `{net}`{batch}{place} | {'; '.join(each)} |\n"


def part(netc):
    """The table; one row for each cause, of its shortest net."""
    with open(TABLE, newline="") as table:
        found = list(csv.reader(row for row in table if row[0] != "#"))
    shown = {}
    for row in sorted((r for r in found if r[8]), key=lambda r: len(r[0])):
        shown.setdefault(row[10], row)
    text = TEXT.format(equal=sum(not r[8] for r in found), all=len(found))
    return text + "".join(line_of(netc, row) for _, row in sorted(shown.items()))
