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

The others differ in {peak} peaks, {predict} peaks of inference and {saved} figures of saved bytes;
never in parameters, products, shapes or gradients. The file names the {causes} causes, mostly
the order of axes in which PyTorch stores a gradient, or the moment at which it sums two of
them.

| nets | from seed | disagreed when drawn | after rules that they led to |
|--:|--:|--:|--:|
| 2,238 | 707961 | 36 (1.6 %) | 22 (1.0 %) |
| 2,004 | 910000 | 20 | 4 (0.2 %) |
| 2,706 | 920000 | 21 | 13 (0.5 %) |
| 1,002, with `deformattn` | 930000 | 4 (0.4 %) | |
"""
ROWS = """
Random nets that differ, the smallest for each cause. Batch 1 and `inplace=off` unless stated;
bytes of netc and of PyTorch.

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


def nets():
    with open(TABLE, newline="") as table:
        return list(csv.reader(row for row in table if row[0] != "#"))


def part():
    """The figures that differ, counted."""
    found = nets()
    differ = [differs.split(":")[0] for row in found for differs in row[8].split()]
    counts = {name: differ.count(name) for name in COLUMNS}
    if sum(counts[name] for name in ("params", "macs", "grads")):
        sys.exit("differ.py: the text says that only memory differs")
    return TEXT.format(equal=sum(not row[8] for row in found), all=len(found),
                       causes=len({row[10] for row in found if row[8]}), **counts)


def table(netc):
    """One row for each cause, of its shortest net."""
    shown = {}
    for row in sorted((r for r in nets() if r[8]), key=lambda r: len(r[0])):
        shown.setdefault(row[10], row)
    return ROWS + "".join(line_of(netc, row) for _, row in sorted(shown.items()))
