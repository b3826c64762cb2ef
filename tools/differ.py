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
50,001 nets have been
drawn from seed 700000 on (`tools/random_nets build/netc N SEED`). Of the first 29,936 1,032
disagreed when they were drawn. Of the next 10,230 (from seed 704989) 285 did, and 164 did after
rules that they led to. Of 7,597 after them (from seed 706694) 110 did, 1.4 %. Of the last 2,238
(from seed 707961) 36 did, 1.6 %, and 22 do since a concat is the tensor that it gives, 1.0 %: 16
peaks, 4 predictions, 4 times what is saved. Never parameters, products, shapes or gradients.
Since then attention with `mask=` is drawn, too, and other nets by the same seeds.
Of 480 such nets (240 each from seeds 3000 and 8000) 5 disagreed, in three causes that were new.
Then each cause was traced to what PyTorch runs, and most of them became rules, twice: of 2,004
nets from seed 910000 on 20 disagreed, then 13, and 4 do, 0.2 %: three peaks for tokens, a peak
and what is saved of a product. Of 2,706 from 920000 on, which led to more rules, 21 did and 13
do, 0.5 %. With `deformattn` other nets are drawn by the same seeds: of 1,002 of those from 930000
on, which led to none, 4 disagree, 0.4 %. Every class of all these has a row.

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
