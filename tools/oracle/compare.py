#!/usr/bin/python3
"""Bytes that autograd keeps on a fake GPU, beside netc: compare.py NETC NET...

Run by tools/oracle/run.sh in the root of `make oracle`. A line for each net:
name, precision, bytes of netc and of PyTorch, each storage in whole blocks of
512, and their difference; with --peaks the peak of a step, too, where a
variable of the forward pass ends with its last use (Python holds it until its
function returns). `mixed`: under autocast to bfloat16. `--list`: what is kept,
by the node that keeps it. `--rows` writes rows of tests/data/torch2/cuda.csv.
`torchvision:NAME` is a model of torchvision itself, and netc's figure is that
of the source that netc.from_torch writes for it, which --write stores in a
folder. Ends with 1 if a net of --exact differs in the bytes that are kept.
"""
import argparse
import collections
import contextlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402

import alive  # noqa: E402
import fake_cuda  # noqa: E402
import vision  # noqa: E402
import written  # noqa: E402
from alive import key_of, tensors_of  # noqa: E402

PROFILE = ["--profile=torch2-cuda", "--loss=sum", "--optimizer=sgd"]
PRECISIONS = {"f32": ["--dtype=f32", "--precision=full"],
              "mixed": ["--dtype=f32", "--precision=mixed"],
              "bf16": ["--dtype=bf16", "--precision=full"]}


def outside_of(model, inputs):
    return {key_of(t) for t in
            [*inputs, *model.parameters(), *model.buffers()]}


def saved_of(run, outside):
    """Bytes that are kept, in whole blocks."""
    kept = {key_of(held.tensor): held.tensor
            for held in alive.kept_by(run, outside)[0]}
    return sum(map(fake_cuda.blocks, kept.values()))


def listed(model, inputs, context):
    """Lines: how many, node, which, shape, type and bytes."""
    outside = outside_of(model, inputs)
    with context():
        outs = tensors_of(model(*inputs))
    seen, found = set(), collections.Counter()
    for node in sorted(alive.nodes_of(outs), key=lambda n: n._sequence_nr()):
        for name in dir(node):
            if not name.startswith("_saved_"):
                continue
            try:
                value = getattr(node, name)
            except (AttributeError, RuntimeError):
                continue
            for t in tensors_of(value):
                if key_of(t) not in outside and key_of(t) not in seen:
                    seen.add(key_of(t))
                    found[type(node).__name__, name[7:], tuple(t.shape),
                          str(t.dtype)[6:], fake_cuda.blocks(t)] += 1
    return found


def context_of(precision):
    """Makes what a forward pass runs in."""
    if precision == "mixed":
        return lambda: fake_cuda.autocast(torch.bfloat16)
    return contextlib.nullcontext


def is_typed(model):
    """True of a net whose layers have types of their own: `dtype=`."""
    return any(p.dtype != torch.float32 for p in model.parameters())


def low(tensor):
    return tensor.bfloat16() if tensor.is_floating_point() else tensor


def torch_of(netc, net, batch, precision, listing, peaks):
    kind, expressions = vision.load(net) if vision.has(net) \
        else written.load(netc, net, PRECISIONS[precision])
    context = context_of(precision)
    with fake_cuda.card():
        model = kind().to("cuda").train()
        inputs = written.inputs_of(expressions, batch)
        if precision == "bf16":
            inputs = [low(t) for t in inputs]
            if not is_typed(model):
                model = model.bfloat16()
        if listing:
            for row, count in listed(model, inputs, context).items():
                print(count, "x", *row)
        outside = outside_of(model, inputs)

        def run():
            with context():
                return model(*inputs)
        saved = saved_of(run, outside)
        peak = alive.peak_of(run, outside, block=fake_cuda.BLOCK,
                             frames=False) if peaks else None
        return saved, peak


def peak_in(step):
    """netc's peak of tensors, without what is there before and after."""
    beside = sum(step[f"{name}_bytes"] for name in
                 ("parameter", "buffer", "input", "optimizer", "rounding"))
    return max(step["forward_peak_bytes"], step["backward_peak_bytes"]) - beside


def row_of(net, batch, precision, figures):
    """A row of cuda.csv; a cause is to be written where netc differs."""
    told = [str(theirs or "") for _, theirs in figures.values()]
    differ = " ".join(f"{name}:{ours}" for name, (ours, theirs)
                      in figures.items() if theirs and ours != theirs)
    return f'"{net}",{batch},{precision},{",".join(told)},"{differ}",""'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("nets", nargs="+")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--precision", choices=PRECISIONS, default="f32")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--peaks", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--write", metavar="FOLDER")
    options = parser.parse_args()
    more, differ = PRECISIONS[options.precision], False
    for net in options.nets:
        name = Path(net).stem
        try:
            text = vision.source(options.netc, net, options.write) \
                if vision.has(net) else None
            told = written.told(options.netc, "-" if text else net, [
                *PROFILE, *more, f"--batch={options.batch}"], text=text)
            theirs, peak = torch_of(options.netc, net, options.batch,
                                    options.precision, options.list,
                                    options.peaks)
        except Exception as e:  # of any net of a stranger
            print(name, "error", type(e).__name__, str(e).split("\n")[0][:150],
                  file=sys.stderr, flush=True)
            differ = True
            continue
        step = told["training"]
        ours = step["saved_bytes"]
        differ |= ours != theirs
        if options.rows:
            print(row_of(net, options.batch, options.precision,
                         {"saved": (ours, theirs),
                          "peak": (peak_in(step), peak)}), flush=True)
            continue
        print(name, options.precision, ours, theirs, ours - theirs,
              *([peak_in(step), peak, peak_in(step) - peak] if peak else []),
              flush=True)
    sys.exit(options.exact and differ)


if __name__ == "__main__":
    main()
