#!/usr/bin/python3
"""Bytes that autograd keeps of random nets on a fake GPU, beside netc:
drawn.py NETC [N] [SEED]

Run by tools/oracle/run.sh in the root of `make oracle`. The nets are those of
tools/random_nets. Each that differs has a line: its kind, seed, precision,
bytes of netc and of PyTorch, and text.
"""
import argparse
import contextlib
import sys
import warnings
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "random_nets")]
warnings.simplefilter("ignore")

import torch  # noqa: E402

import compare  # noqa: E402
import fake_cuda  # noqa: E402
import maps  # noqa: E402, F401: layers are added by their files
import measure  # noqa: E402
import places  # noqa: E402, F401
import reduce  # noqa: E402
import rows  # noqa: E402, F401
import values  # noqa: E402, F401
import written  # noqa: E402
from net import HEADS, build, draw  # noqa: E402

# Kernels of cuDNN keep what fake tensors cannot know.
UNKNOWN = {"lstm", "gru", "rnn", "bilstm", "bigru", "birnn"}


def kept_of(net, precision):
    with fake_cuda.card():
        program = build(net)[1]
        program.modules = [m.to("cuda") for m in program.modules]
        if program.in_place:
            measure.decide_overwriting(program, program.outside())
        with compare.context_of(precision)():
            return compare.saved_of(program, program.outside())


def figures(netc, net, precision):
    """Text, and bytes of netc and of PyTorch."""
    text = build(net)[0]
    theirs = kept_of(net, precision)
    told = written.told(netc, "-", [
        *compare.PROFILE, *compare.PRECISIONS[precision],
        f"--batch={net.picks['batch']}"], text=text)
    return text, told["training"]["saved_bytes"], theirs


def smaller(netc, net, precision):
    """The smallest net found that disagrees, as reduce.py finds it."""
    def differs(netc, net, fits=lambda text: True):
        if not fits(build(net)[0]):
            return None
        text, ours, theirs = figures(netc, net, precision)
        return text, ours, theirs, ["saved"] if ours != theirs else []
    reduce.compare = differs
    net, text, ours, theirs = reduce.reduce_net(netc, net, "saved", 8)
    return net.picks["batch"], text, ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("count", nargs="?", type=int, default=32)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(sorted(HEADS)))
    parser.add_argument("--precisions", default="f32,mixed")
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--rows", type=int, default=0,
                        help="rows of cuda.csv for texts of at most so many")
    parser.add_argument("--exact", action="store_true",
                        help="end with 1 if one differs")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    nets = equal = 0
    for at in range(options.count):
        kind, seed = kinds[at % len(kinds)], options.seed + at // len(kinds)
        drawn = draw(kind, seed)
        if not drawn or UNKNOWN & set(drawn[1].split()):
            continue
        net = drawn[0]
        batch = net.picks["batch"]
        for precision in options.precisions.split(","):
            try:
                text, ours, theirs = figures(options.netc, net, precision)
            except Exception as e:  # what fake tensors do not have
                print(kind, seed, precision, "not measured:",
                      str(e).split("\n")[0][:100], flush=True)
                continue
            nets += 1
            equal += ours == theirs
            if options.rows:
                if len(text) <= options.rows:
                    print(compare.row_of(text.replace("\n", "; "), batch,
                                         precision, {"saved": (ours, theirs),
                                                     "peak": (0, None)}),
                          flush=True)
            elif ours != theirs:
                if options.reduce:
                    batch, text, ours, theirs = smaller(options.netc, net,
                                                        precision)
                print(kind, seed, precision, ours, theirs, ours - theirs,
                      "batch", batch, text.replace("\n", "; "), flush=True)
    if not options.rows:
        print(f"{equal} of {nets} equal, from seed {options.seed}")
    sys.exit(options.exact and equal != nets)


main()
