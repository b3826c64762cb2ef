#!/usr/bin/python3
"""Random nets beside PyTorch: tools/random_nets NETC [N] [SEED]

Draws N nets, as many of each kind, from SEED on, and asks netc and PyTorch for
the parameters, shape, products, bytes that are saved, gradients and both peaks
of each. Of one that disagrees a smaller one is looked for, whose words are the
class of the disagreement. tests/data/random.csv has rows with a cause for
those that are known in PyTorch 1.13, torch2/random.csv in 2.6 (`--profile
torch2-cpu`, in tools/oracle/run.sh); any other ends the run with 1. What
`--rows` writes are such rows: of what was found, they await a cause.
"""
import argparse
import collections
import csv
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLES = {"torch1-cpu": ROOT / "tests/data/random.csv",
          "torch2-cpu": ROOT / "tests/data/torch2/random.csv"}
ROW = "params", "macs", "saved", "grads", "peak", "predict"
sys.path.append(str(HERE.parent))
sys.dont_write_bytecode = True  # of the files beside this one



def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seeds", help="a file whose lines begin with a kind "
                        "and a seed, as what is written does: these alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--part", type=int, help="of the jobs: for itself")
    parser.add_argument("--show", action="store_true", help="texts of all")
    parser.add_argument("--texts", action="store_true",
                        help="a line for each net, and nothing is compared")
    parser.add_argument("--profile", default="torch1-cpu", choices=TABLES,
                        help="netc's, of the PyTorch that runs the nets")
    parser.add_argument("--rows", help="a file for rows of what was found")
    parser.add_argument("--most", type=int, default=0,
                        help="rows of what agrees, too: texts of so many")
    return parser.parse_args()


def drawn_by(options, kinds):
    """Kinds and seeds of all jobs."""
    if not options.seeds:
        last = options.seed + -(-options.count // len(kinds))
        return [(k, seed) for seed in range(options.seed, last) for k in kinds]
    with open(options.seeds) as told:
        words = [line.split()[:2] for line in told]
    return [(w[0], int(w[1])) for w in words if len(w) == 2 and w[0] in kinds
            and w[1].isdigit()]


def write_texts(options, kinds):
    from net import draw
    for kind, seed in drawn_by(options, kinds):
        drawn = draw(kind, seed)
        if drawn:
            print(drawn[1].replace("\n", "; "))


def may_end(text):
    """group_norm_backward of PyTorch 2.6 ends with a signal where a map has
    channels last and the map, or the weights, need no gradient."""
    return "gn" in text and ("frozen" in text or "detach" in text)


def work(options, kinds):
    """Its part of the seeds; a line of JSON for each net."""
    import torch
    torch.set_num_threads(1)
    import netc
    from alive import TORCH2
    from figures import compare
    from net import draw
    from reduce import class_of, reduce_net
    netc.profile = options.profile
    for kind, seed in drawn_by(options, kinds)[options.part::options.jobs]:
        print(json.dumps({"begin": [kind, seed]}), flush=True)
        drawn = draw(kind, seed)
        if not drawn or TORCH2 and may_end(drawn[1]):
            continue
        net = drawn[0]
        text, told, truth, wrong = compare(options.netc, net)
        line = {"kind": kind, "seed": seed, "text": text,
                "batch": net.picks["batch"], "told": told, "truth": truth,
                "wrong": wrong, "classes": []}
        for figure in wrong:
            small, less, told, truth = reduce_net(options.netc, net, figure)
            line["classes"].append({
                "class": class_of(less, figure), "figure": figure,
                "text": less, "batch": small.picks["batch"],
                "told": told, "truth": truth})
        print(json.dumps(line), flush=True)


def follow(worker, lines):
    """What a worker says, and how it ended."""
    begun = None
    for text in worker.stdout:
        line = json.loads(text)
        begun = line.get("begin", begun)
        if "begin" not in line:
            lines.put(line)
    lines.put({"ended": worker.wait(), "begun": begun})


def lines_of(options):
    """What all workers say; one that dies is an error."""
    own = [sys.executable, str(HERE), options.netc, str(options.count),
           str(options.seed), "--kinds", options.kinds,
           "--jobs", str(options.jobs), "--profile", options.profile]
    own += ["--seeds", options.seeds] if options.seeds else []
    lines = queue.Queue()
    for k in range(options.jobs):
        worker = subprocess.Popen(
            [*own, "--part", str(k)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"})
        threading.Thread(target=follow, args=(worker, lines),
                         daemon=True).start()
    working = options.jobs
    while working:
        line = lines.get()
        if "ended" not in line:
            yield line
        elif line["ended"]:
            sys.exit(f"{line['begun']} ended with {line['ended']}")
        else:
            working -= 1


def known_classes(profile):
    """(figure, words) of each row with a cause."""
    with open(TABLES[profile], newline="") as table:
        for row in csv.reader(line for line in table if line[0] != "#"):
            for figure in row[-3].split():
                yield figure.split(":")[0], set(row[-2].split())


def is_known(found, known):
    words = set(re.findall(r"[\w.]+", found["text"]))
    if not found["text"].startswith("train inplace=off"):
        words.add("inplace")
    return any(figure == found["figure"] and need <= words
               for figure, need in known)


def row_of(found):
    """A row of random.csv; netc's figures that differ, words and cause are
    to be looked at."""
    figures = [found["truth"][name] for name in ROW]
    told = found["told"]
    wrong = [f"{name}:{told.get(name)}" for name in ROW
             if told.get(name) != found["truth"][name]]
    return [found["text"].replace("\n", "; "), found["batch"], *figures,
            " ".join(wrong), "", ""]


def show(line, options):
    if options.show or line["wrong"]:
        print(line["kind"], line["seed"], "batch", line["batch"],
              line["text"].replace("\n", "; "), flush=True)
    for found in line["classes"]:
        figure = found["figure"]
        print("   ", figure,
              found["told"].get(figure, found["told"].get("error")),
              "PyTorch", found["truth"].get(figure), "batch", found["batch"],
              "|", found["text"].replace("\n", "; "), flush=True)


def summary(classes, known, nets, wrong, seconds):
    """Counts; whether all that was found is known."""
    unknown = 0
    for name, found in sorted(classes.items(), key=lambda c: -len(c[1])):
        new = not all(is_known(f, known) for f in found)
        unknown += new
        print(len(found), "new" if new else "known", name)
    for kind in nets:
        print(f"{kind}: {nets[kind]} nets, {wrong[kind]} disagree")
    print(f"{sum(nets.values())} nets in {seconds:.0f} seconds: "
          f"{len(classes)} classes, {unknown} of them new")
    return not unknown


# netc counts the kernels of flash-linear-attention, which PyTorch lacks.
OTHERS_KERNELS = {"deltanet"}


def never_drawn(layers, defined):
    """Layers of the table that no function here builds."""
    words = {word for entry in layers.values() for word in entry[2]}
    return [word for word in defined if word not in words | OTHERS_KERNELS]


def main():
    options = parse()
    from net import DEFINED, HEADS, LAYERS
    import maps  # noqa: F401: layers are added by their files
    import places  # noqa: F401
    import rows  # noqa: F401
    import values  # noqa: F401
    kinds = options.kinds.split(",") if options.kinds else sorted(HEADS)
    if options.texts:
        write_texts(options, kinds)
        return
    if options.part is not None:
        work(options, kinds)
        return
    start = time.time()
    nets, wrong = collections.Counter(), collections.Counter()
    classes = collections.defaultdict(list)
    out = csv.writer(open(options.rows, "w"), lineterminator="\n",
                     quoting=csv.QUOTE_NONNUMERIC) if options.rows else None
    for line in lines_of(options):
        nets[line["kind"]] += 1
        wrong[line["kind"]] += bool(line["wrong"])
        show(line, options)
        if out and not line["wrong"] and len(line["text"]) <= options.most:
            out.writerow(row_of(line))
        for found in line["classes"]:
            if out and found["class"] not in classes:
                out.writerow(row_of(found))
            classes[found["class"]].append(found)
    fine = summary(classes, list(known_classes(options.profile)), nets, wrong,
                   time.time() - start)
    missing = never_drawn(LAYERS, DEFINED)
    if missing:
        print("never drawn:", " ".join(missing))
    sys.exit(0 if fine and not missing else 1)


if __name__ == "__main__":
    main()
