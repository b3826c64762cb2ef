#!/usr/bin/python3
"""zoo.py NETC: writes docs/zoo.md, from docs/zoo.csv and what NETC reports."""
import csv
import glob
import json
import re
import subprocess
import sys

HEAD = """\
# The zoo

Find the net of a paper here, and open it with `netc zoo:NAME`; `-D NAME=VALUE` chooses a member
of a family. The files are in `examples/zoo/`. `make zoo` makes this page from netc's reports.

The params of language models and similar nets are the keys of Hugging Face's `config.json`.
Six names are also in `examples/huggingface/`, where they are transformers' models: the zoo's
convnext, detr, dinov2, swin and vit follow other programs, its segformer has a table of sizes.
`tests/data/zoo.csv` compares the numbers with those of other programs.

Lines are neither blank nor comments, and include those of used files. *Inference* is the memory
for one image, *train* for batches of 32 with the optimizer in the file, or momentum{how}.

| net | lines | input | parameters | MACs | inference | train |
|---|--:|---|--:|--:|--:|--:|
"""

OTHERS = """\

## The same in other languages

The lines of the same nets elsewhere. These differ in details: Caffe's AlexNet is the older one,
its ResNet-50 ends in three classes, and Darknet's files (from Debian's package `darknet`) use
other activations and include training settings.

| net | lines | there | where |
|---|--:|--:|---|
"""


def lines_of(path):
    text = open(path).read()
    count = sum(1 for line in text.splitlines()
                if line.strip() and not line.lstrip().startswith("#"))
    for used in re.findall(r'^use "(.*)"', text, re.M):
        count += lines_of("examples/zoo/" + used)
    return count


def report(path, settings, batch):
    defines = [word for s in settings.split() for word in ("-D", s)]
    command = [sys.argv[1], path, *defines, "--batch", str(batch),
               "--emit=json=-"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"zoo.py: {path}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def memory(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.{0 if unit == 'B' else 2}f} {unit}"
        count /= 1024
    return None


def predicting(one):
    """Exact where the report has it, else by the rule of thumb."""
    if "inference" in one:
        exact = one["inference"]
        return exact["parameter_bytes"] + exact["framework_peak_bytes"]
    return one["rule"]["prediction_bytes"]


def training(many):
    if "training" in many:
        return many["training"]["peak_bytes"]
    return many["rule"]["training_bytes"]


rows = [row for row in csv.reader(open("docs/zoo.csv"))
        if row and not row[0].startswith("#")]
listed = {row[0] for row in rows}
for path in glob.glob("examples/zoo/*.net"):
    if path[len("examples/zoo/"):-len(".net")] not in listed:
        sys.exit(f"zoo.py: docs/zoo.csv has no line for {path}")

shown, main, others, exact = set(), "", "", False
for net, settings, there, where in rows:
    path = f"examples/zoo/{net}.net"
    lines = lines_of(path)
    name = f"[{net}](../{path})" + (f" {settings}" if settings else "")
    if there:
        others += f"| {name} | {lines} | {int(there):,} | {where} |\n"
    if name in shown:
        continue
    shown.add(name)
    one, many = report(path, settings, 1), report(path, settings, 32)
    exact = "training" in many
    totals = one["totals"]
    shape = "x".join(map(str, one["inputs"][0]["shape"]))
    main += (f"| {name} | {lines} | {shape} | {totals['param_count']:,} | "
             f"{totals['mac_count']:,} | "
             f"{memory(predicting(one))} | {memory(training(many))} |\n")
how = "" if exact else ", both by the rule\nof thumb of [memory.md](memory.md)"
print(HEAD.format(how=how) + main + OTHERS + others, end="")
