"""For tools/accuracy.py: what PyTorch 2.6 measured, and how much is equal."""
import csv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tests/data/torch2"
# Columns that tests compare; None: not a figure.
COLUMNS = {
    "steps": (None, None, None, "saved", "gradients", "peak"),
    "layout": (None, None, None, "saved", "gradients", "peak", "predict"),
    "sequence": (None, None, "params", "macs", "saved", "peak"),
    "small": (None, None, "params", "macs", "saved"),
    "random": (None, None, "params", "macs", "saved", "gradients", "peak",
               "predict"),
    "cuda": (None, None, None, "saved", "peak")}
DIFFER = {"random": 8, "cuda": 5}  # that column says what differs
NAMES = {"saved": "saved for backward", "peak": "peak of tensors in a step",
         "predict": "peak of inference"}
HEAD = """\
## In one table

| quantity | against | compared | equal to the byte | worst of the others |
|---|---|--:|--:|--:|
"""


def rows_of(path):
    with open(path, newline="") as table:
        return list(csv.reader(row for row in table if row[0] != "#"))


def differing(words):
    return {name: int(value) for name, value in
            (word.split(":") for word in words.split())}


def figures(table):
    """(name, precision, netc's, PyTorch's) of each figure."""
    known = {(net, batch): differing(words) for net, batch, words, _ in
             rows_of(FOLDER / "differ.csv")}
    for row in rows_of(FOLDER / f"{table}.csv"):
        told = differing(row[DIFFER[table]]) if table in DIFFER \
            else known.get((row[0], row[1]), {})
        for name, value in zip(COLUMNS[table], row):
            if name and value not in ("", "-"):
                yield name, row[2], told.get(name, int(value)), int(value)


def line(quantity, against, pairs):
    errors = [(ours - theirs) / theirs if theirs else 0
              for ours, theirs in pairs if ours != theirs]
    worst = f"{100 * max(errors, key=abs):+.2f} %" if errors else "="
    return (f"| {quantity} | {against} | {len(pairs):,} | "
            f"{len(pairs) - len(errors):,} | {worst} |\n")


TRACKERS = """
### Beside MemTracker

MemTracker (torch.distributed._tools.mem_tracker) follows a step of PyTorch on fake tensors, and
needs the model. `make oracle-steps` runs it, netc, and the step itself, each in one thread: the
peak of the second step of SGD with momentum, with parameters, state, buffers and inputs.
MemTracker stops the engine from adding gradients in place. The allocator's peak has the memory
of kernels, too. Seconds were taken once, beside other work.

| net, batch 2 | netc | MemTracker | less netc | allocator | less netc | seconds: netc | \
MemTracker | the step |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""


def trackers():
    """netc, MemTracker and real steps, side by side."""
    text = TRACKERS
    for net, _, ours, tracker, real, *seconds in rows_of(
            FOLDER / "trackers.csv"):
        cells = [f"{int(ours):,}"]
        for theirs in tracker, real:
            more = 100 * (int(theirs) - int(ours)) / int(ours)
            cells += [f"{int(theirs):,}",
                      "=" if theirs == ours else f"{more:+.2f} %"]
        text += (f"| {Path(net).stem} | " + " | ".join(cells + seconds)
                 + " |\n")
    return text


def head(cpu):
    """The table; `cpu`: lines of what 1.13 measured."""
    told = [f for table in COLUMNS if table != "cuda" for f in figures(table)]
    text = HEAD + cpu
    for name, quantity in NAMES.items():
        text += line(quantity, "PyTorch 2.6 on a CPU", [
            f[2:] for f in told if f[0] == name])
    gpu = list(figures("cuda"))
    for precision, words in (("f32", ""), ("mixed", ", autocast"),
                             ("bf16", ", all in bfloat16")):
        text += line(NAMES["saved"] + words, "PyTorch 2.6, simulated GPU", [
            f[2:] for f in gpu if f[0] == "saved" and f[1] == precision])
    return text + line(NAMES["peak"], "PyTorch 2.6, simulated GPU", [
        f[2:] for f in gpu if f[0] == "peak"])
