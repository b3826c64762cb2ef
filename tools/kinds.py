"""What netc says of published runs of large models, by kind of run.

Rows of tests/data/published/pipelines.csv, each with its own cut, and of gpu.csv.
"""
import csv
import json
import shlex
import statistics
import subprocess
import sys


DATA = "tests/data/published/pipelines.csv"

# kind, rows, whether it has a pipeline
KINDS = (
    ("nanotron, pipelines", "nanotron", True),
    ("nanotron, without", "nanotron", False),
    ("Megatron, first stage", "megatron", None),
    ("torchtitan, 405B", "torchtitan", None),
    ("litgpt, LoRA in bf16", "litgpt", False),
    ("litgpt, nf4, nf4-dq", "litgpt", True),
    ("torchtune, 3B", "torchtune", None),
)

HEAD = """
### Large models, by kind

netc's figure divided by the published one:

| | median | farthest | rows |
|---|--:|--:|--:|
"""


def ratio_of(netc, row):
    done = subprocess.run([netc, row["net"], *shlex.split(row["options"]),
                           "--emit=json=-"], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"kinds.py: {row['id']}: {done.stderr.decode()}")
    training = json.loads(done.stdout)["training"]
    stages = training.get("parallel", {}).get("stages")
    if row["value"] == "peak":
        mine = max(s["peak_bytes"] for s in stages or [training])
    else:
        mine = sum(stages[0].get(f, 0) for f in row["value"].split("+"))
    return mine / float(row["printed"]) / float(row["unit"])


def rows_of(path):
    with open(path) as file:
        lines = file.read().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    names = comments[-1].lstrip("# ").split(",")
    return list(csv.DictReader([line for line in lines if line[:1] != "#"],
                               fieldnames=names))


def part(netc, results):
    """Of what ran: where it did not, `most` is no bound."""
    all_of = [(row["id"], "--pipeline" in row["options"], ratio_of(netc, row))
              for row in rows_of(DATA)
              if float(row["most"]) < 10 and row["value"] != "held"]
    all_of += [(r.row["id"], "--base" in r.row["options"], r.netc / r.measured)
               for r in results if r.step()]
    text = HEAD
    for name, prefix, piped in KINDS:
        ratios = [ratio for row, has, ratio in all_of
                  if row.startswith(prefix) and piped in (None, has)]
        far = max(ratios, key=lambda ratio: max(ratio, 1 / ratio))
        text += (f"| {name} | {statistics.median(ratios):.2f} | {far:.2f} | "
                 f"{len(ratios)} |\n")
    return text


