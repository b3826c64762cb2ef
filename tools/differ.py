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

`make random` draws nets and compares them with PyTorch 1.13 on a CPU (`tools/random_nets
build/netc N SEED`). `tests/data/random.csv` has shrunk forms of nets that disagreed: {equal} of
{all} are now equal in all figures.

| nets | from seed | disagreed when drawn | after rules that they led to |
|--:|--:|--:|--:|
| 29,936 | 700000 | 1,032 | |
| 10,230 | 704989 | 285 | 164 |
| 7,597 | 706694 | 110 (1.4 %) | |
| 2,238 | 707961 | 36 (1.6 %) | 22 (1.0 %) |
| 480, with `mask=` | 3000, 8000 | 5 | |
| 2,004 | 910000 | 20 | 4 (0.2 %) |
| 2,706 | 920000 | 21 | 13 (0.5 %) |
| 1,002, with `deformattn` | 930000 | 4 (0.4 %) | |

The 22 differ in 16 peaks, 4 times in inference and 4 times in saved bytes; never in parameters,
products, shapes or gradients. Every class of all these nets has a row in the file. The
remaining differences, each in the smallest net that shows it (batch 1 and `inplace=off` unless
stated; bytes of netc and of PyTorch):

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
        shown = {"predict": "inference"}.get(name, name)
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
