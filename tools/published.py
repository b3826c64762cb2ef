#!/usr/bin/python3
"""Sets NETC's figures against memory that others measured on GPUs.

    published.py NETC

prints tables in Markdown, one for each source of tests/data/published/gpu.csv,
whose head explains the columns; tools/accuracy.py puts what they come to into its
page.
"""
import csv
import json
import math
import re
import statistics
import subprocess
import sys
import textwrap

DATA = "tests/data/published/gpu.csv"
MIB = 1 << 20


def rows_of(path):
    """The last line of comment names the columns."""
    with open(path) as file:
        lines = file.read().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    names = comments[-1].lstrip("# ").split(",")
    rows = [line for line in lines if line and not line.startswith("#")]
    return list(csv.DictReader(rows, fieldnames=names))


def report(netc, net, options):
    command = [netc, net, *options.split(), "--emit=json=-"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"published.py: {net}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def field_of(data, field):
    """A sum of numbers: inference.weight_bytes+inference.framework_peak_bytes"""
    total = 0
    for path in field.split("+"):
        at = data
        for word in path.split("."):
            at = at[int(word)] if word.isdigit() else at[word]
        total += at
    return total


class Run:
    """What netc says of a row, and what it says as causes are added."""

    def __init__(self, netc, row):
        self.netc, self.row = netc, row
        self.options, self.plus = row["options"], 0
        self.workspaces, self.held = 1, False

    def gradients(self):
        """In whole blocks: forward with and without them."""
        def forward(times):
            options = f"{self.options} --accumulate {times}"
            data = report(self.netc, self.row["net"], options)
            return data["training"]["forward_peak_bytes"]
        return forward(2) - forward(1)

    def bytes(self):
        row = self.row
        data = report(self.netc, row["net"], self.options)
        if row["less"]:
            return (field_of(data, row["field"]) - field_of(
                report(self.netc, row["net"], row["less"]), row["field"])
                + self.plus)
        if row["field"] != "training.peak_bytes":
            return field_of(data, row["field"]) + self.plus
        t = data["training"]
        forward = t["forward_peak_bytes"]
        if self.held:
            forward += self.gradients()
        step = (t["step_peak_bytes"]
                + (self.workspaces - 1) * t["workspace_bytes"])
        return max(forward, t["backward_peak_bytes"], step) + self.plus

    def add(self, amount):
        """See the head of gpu.csv."""
        if amount.startswith("-") and not amount[1:2].isdigit():
            self.options += " " + amount
        elif amount.startswith("workspace*"):
            self.workspaces = int(amount.partition("*")[2])
        elif amount == "held":
            self.held = True
        else:
            self.plus += product(amount)


def product(text):
    return math.prod(int(word) for word in text.split("*"))


def causes_of(run):
    """Each with the bytes it is worth, and the sum with all of them."""
    known, last = [], run.bytes()
    for cause in filter(None, run.row["causes"].split("; ")):
        text, _, amount = cause.rpartition(" = ")
        run.add(amount)
        now = run.bytes()
        known.append((text, now - last))
        last = now
    return known, last


def mib(count):
    return f"{count / MIB:,.0f}" if abs(count) >= 10 * MIB else \
        f"{count / MIB:,.2f}"


def signed(count, whole):
    if count == 0:
        return "="
    sign = "+" if count >= 0 else "-"
    return f"{sign}{mib(abs(count))} ({100 * count / whole:+.1f} %)"


def grouped(printed):
    number, _, unit = printed.partition(" ")
    whole, dot, part = number.lstrip("~").partition(".")
    tilde = "~" if number.startswith("~") else ""
    return f"{tilde}{int(whole):,}{dot}{part} {unit}"


class Result:
    def __init__(self, netc, row):
        run = Run(netc, row)
        self.row, self.measured = row, int(row["bytes"])
        self.netc = run.bytes()
        if self.netc != int(row["netc"]):
            sys.exit(f"published.py: {row['id']}: netc says {self.netc}, "
                     f"{DATA} {row['netc']}")
        self.known, self.sum = causes_of(run)

    def step(self):
        """Whether it is a whole training step."""
        field = self.row["field"]
        return (field.startswith("training.") and not self.row["less"]
                and field.endswith("peak_bytes"))

    def line(self):
        row = self.row
        known = "; ".join(f"{text} {'+' if worth >= 0 else '-'}"
                          f"{mib(abs(worth))}" for text, worth in self.known)
        words = ". ".join(filter(None, (known, row["why"])))
        return (f"| {row['id']} | {row['model']} | {row['measured']} | "
                f"{grouped(row['printed'])} | {mib(self.measured)} | "
                f"{mib(self.netc)} | "
                f"{signed(self.netc - self.measured, self.measured)} | "
                f"{signed(self.sum - self.measured, self.measured)} | "
                f"{words} |\n")


HEAD = """\

### Against published GPU measurements

`tests/data/published/gpu.csv` has {rows} figures that others measured on GPUs, {steps} of them of
whole training steps, from {sources} sources, each with its place in the source and netc's
command line. They prove little: most sources do not state all settings.

*occupied* is `nvidia-smi`'s figure: tensors, the allocator's cache, context and kernels;
*reserved* is without the last two, *allocated* also without the cache. *difference* is netc's
figure less the published one. *left over* is the difference that the known causes do not explain,
each computed by netc where it can be. Causes were searched only where figures differed, so *left
over* flatters netc.

"""

CAUSES = """
| cause | |
|---|---|
| context | CUDA's, with the loaded kernels. `--gpu` takes 400 MiB off \
for it, or the card's recorded size with PyTorch 2: less than the two measured here |
| zeroed gradients | until PyTorch 2.0 `zero_grad` kept them, so they are \
in memory during forward: `--accumulate 2`, or `--profile torch1-cuda` |
| gradients freed late | the script frees them between forward and backward |
| no foreach | the optimizer works tensor by tensor, or in one fused kernel: \
netc's step without workspace |
| a second copy | foreach Adam before PyTorch's issue 97712 was closed, in July \
2023 |
| logits freed early | the script frees them when the loss is computed; netc keeps \
outputs to the end |
| blocks not split | `c10/cuda/CUDACachingAllocator.cpp` counts a large block \
whole where 1 MiB or less of it would be left; netc rounds up to 512 bytes |
| masks as buffers | GPT-2's triangle of ones in each layer, which the net does \
not name |
"""

UNCOUNTED = """
## What netc does not count

*Exact* means that every number follows from the profile's rules. netc counts tensors. It does not
count:

{points}
If a step must fit, measure it.
"""

POINTS = (
        "**Memory of running kernels.** On a CPU netc under-estimates the "
    "peak of a real step in {under:.1f} % of {rows} rows with momentum: the "
    "median is {median:+.2f} %, the worst {worst:+.2f} %. On a GPU these are "
    "cuDNN's workspaces; `--gpu` takes cuBLAS's off. "
    "Among the allocated peaks above, {below} of {steps} are under-estimated "
    "even with the known causes: the median is {left:+.1f} %.",
    "**The allocator's cache and its fragments**, except in `reserved_bytes`. "
    "The same runs reserved {gpt:.1f} % more than they allocated with GPT-2, "
    "{roberta:.1f} % with RoBERTa, {vit:.1f} % with ViT-B; nanotron's two "
    "without a pipeline 9.9 and 9.0 % (netc: 9.2 and 4.6; pipelines.csv).",
    "**The context.** {kernels} MiB with the kernels on a V100 with CUDA 11.2, "
    "about {titan} MiB on a TITAN RTX with PyTorch 1.4.",
)

TABLE = """
| id | configuration | measured | published | in MiB | netc | difference \
| left over | known causes, and remarks |
|---|---|---|--:|--:|--:|--:|--:|---|
"""


def results_of(netc):
    return [Result(netc, row) for row in rows_of(DATA)]


def tables(results):
    """One for each source."""
    text, last = "", None
    for result in results:
        row = result.row
        head = (row["source"], row["where"], row["gpu"], row["framework"])
        if head != last:
            text += (f"\n<{row['source']}>: {row['where']}. "
                     f"GPU: {row['gpu']}. {row['framework']}.\n" + TABLE)
            last = head
        text += result.line()
    return text


def summary(results):
    """Of whole steps, by what was measured."""
    text = ("| measured | steps | netc above | difference: median | least | "
            "most | left over: median | least | most |\n"
            "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
    for kind in ("occupied", "reserved", "allocated", "not stated"):
        of = [r for r in results if r.step() and r.row["measured"] == kind]
        errors = [100 * (r.netc / r.measured - 1) for r in of]
        left = [100 * (r.sum / r.measured - 1) for r in of]
        text += (f"| {kind} | {len(of)} | {sum(e > 0 for e in errors)} | "
                 + " | ".join(f"{f(values):+.1f} %" for values in (errors, left)
                              for f in (statistics.median, min, max)) + " |\n")
    return text


def span(values):
    low, high = min(values), max(values)
    return (f"{low:+.1f} %" if f"{low:.1f}" == f"{high:.1f}" else
            f"{low:+.1f} to {high:+.1f} %")


SOURCES = """
| source | GPU | framework | figures | difference | left over |
|---|---|---|--:|--:|--:|
"""


def sources_of(results):
    """A row for each: where it ran, and how far netc is from it."""
    text, groups = SOURCES, {}
    for result in results:
        row = result.row
        head = (row["source"], row["gpu"], row["framework"])
        groups.setdefault(head, []).append(result)
    for (source, gpu, framework), of in groups.items():
        causes = list(dict.fromkeys(re.sub(",.*", "", name) for result in of
                                    for name, _ in result.known))
        left = (span([100 * (r.sum / r.measured - 1) for r in of])
                + f" ({', '.join(causes)})" if causes else "")
        text += (f"| <{source}> | {gpu} | {framework} | {len(of)} | "
                 + span([100 * (r.netc / r.measured - 1) for r in of])
                 + f" | {left} |\n")
    return text


def part(results):
    steps = sum(result.step() for result in results)
    sources = len({result.row["source"] for result in results})
    return (HEAD.format(rows=len(results), steps=steps, sources=sources)
            + summary(results) + CAUSES + sources_of(results))


def uncounted(results, cpu):
    """`cpu`: pairs of error and measured peak of steps on a CPU."""
    by_id = {result.row["id"]: result for result in results}

    def left(name):
        return 100 * (by_id[name].sum / by_id[name].measured - 1)

    def cached(name):
        return 100 * (by_id[f"{name}-reserved"].measured
                      / by_id[f"{name}-allocated"].measured - 1)

    errors = [100 * error / measured for error, measured in cpu]
    lefts = [left(result.row["id"]) for result in results
             if result.step() and result.row["measured"] == "allocated"]
    titan = by_id["hf-inference-8"]
    numbers = {
        "under": 100 * sum(error < 0 for error in errors) / len(errors),
        "rows": len(errors), "median": statistics.median(errors),
        "worst": min(errors), "below": sum(error < 0 for error in lefts),
        "steps": len(lefts), "left": statistics.median(lefts),
        "gpt": cached("gpt2"), "roberta": cached("roberta"),
        "vit": cached("vit-b"),
        "kernels": mib(by_id["guide-weights"].known[0][1]),
        "titan": mib(titan.measured - titan.netc)}
    points = "".join(
        textwrap.fill(point.format(**numbers), 86, initial_indent="- ",
                      subsequent_indent="  ") + "\n" for point in POINTS)
    return UNCOUNTED.format(points=points)


if __name__ == "__main__":
    print(tables(results_of(sys.argv[1])), end="")
