"""What netc says of published runs, by kind of run and by recipe.

Large models: rows of tests/data/published/pipelines.csv, each with its own cut, and
of gpu.csv. Recipes: recipes.csv, whose ratios a test holds (test_recipes.c).
"""
import csv
import json
import shlex
import statistics
import subprocess
import sys


DATA = "tests/data/published/pipelines.csv"
RECIPES = "tests/data/published/recipes.csv"

# kind, rows, whether it has a pipeline
KINDS = (
    ("nanotron, pipelines", "nanotron", True),
    ("nanotron, without", "nanotron", False),
    ("Megatron, first stage", "megatron", None),
    ("Megatron, experts", "mcore", None),
    ("ms-swift, experts", "swift", None),
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

BY_RECIPE = """
### By recipe

`--like NAME` alone, with what the source leaves to the user ([recipes](recipes.md)); netc's figure
divided by the published one. The loss of `hf/qlora`, and that of the two lowest of torchtitan's
figures, were chosen after their rows had been seen, so these six are no proof. Both runs of
`hf/lora` are DeepSpeed's, which casts adapters to bfloat16, too (`--lora 8:bf16`); in float32, as
PEFT leaves them, they would be 1.09 and 0.91, so no run checks that.

| recipe | median | least | most | rows |
|---|--:|--:|--:|--:|
"""

WORKSPACES = """
Vision nets of 2019 to 2021 lack an amount that does not grow with depth. cuDNN's Winograd
convolutions that are not fused could be its cause: 36 values of 4 bytes for each tile of 4x4
outputs, of the input, the output and the weights, beside the gradients of a 3x3 convolution of
stride 1. They fit mmsegmentation's 13 convolutional nets (a median of 1.02, 0.96 without) and five
Faster R-CNN and YOLOv3 nets (0.98, 0.94 without). They explain nothing of twelve RetinaNet and Mask
R-CNN nets, whose peak is elsewhere: over all 17 detectors the median stays at 0.93. So netc does
not count them.
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
    elif row["value"] == "last":
        mine = stages[-1]["peak_bytes"]
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
    return text + by_recipe()


def by_recipe():
    ratios = {}
    for row in rows_of(RECIPES):
        ratios.setdefault(row["recipe"], []).append(float(row["netc"]))
    return BY_RECIPE + "".join(
        f"| `{name}` | {statistics.median(of):.2f} | {min(of):.2f} | {max(of):.2f} | "
        f"{len(of)} |\n" for name, of in ratios.items()) + WORKSPACES


