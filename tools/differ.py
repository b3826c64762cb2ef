"""For tools/accuracy.py: random nets whose figures still differ, by cause."""
import csv
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "tests/data/random.csv"
COLUMNS = "params", "macs", "saved", "grads", "peak", "predict"
TEXT = """
### Random nets

`make random` draws nets and compares them with PyTorch 1.13 on a CPU. `tests/data/random.csv`
has those in which something was found, made small: {equal} of {all} are equal in all figures.
What was left when it was written, each in the smallest net that shows it (batch 1 and
`inplace=off` if nothing else is said; bytes of netc and of PyTorch):

| cause | net | |
|---|---|---|
"""


def line_of(row):
    batch = f", batch {row[1]}" if row[1] != "1" else ""
    place = "" if row[0].startswith("train") else ", in place"
    net = row[0].replace("train inplace=off; ", "")
    each = []
    for differs in row[8].split():
        name, told = differs.split(":")
        truth = int(row[2 + COLUMNS.index(name)])
        name = {"predict": "prediction"}.get(name, name)
        each.append(f"{name} {int(told):,}, {truth:,}")
    return f"| {row[10]} | `{net}`{batch}{place} | {'; '.join(each)} |\n"


def part():
    """The table; one row for each cause, of its shortest net."""
    with open(TABLE, newline="") as table:
        found = list(csv.reader(row for row in table if row[0] != "#"))
    shown = {}
    for row in sorted((r for r in found if r[8]), key=lambda r: len(r[0])):
        shown.setdefault(row[10], row)
    text = TEXT.format(equal=sum(not r[8] for r in found), all=len(found))
    return text + "".join(line_of(row) for _, row in sorted(shown.items()))
