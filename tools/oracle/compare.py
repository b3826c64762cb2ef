#!/usr/bin/python3
"""What autograd keeps of nets on a fake GPU, beside netc: compare.py NETC NET...

Run by tools/oracle/run.sh in the root of `make oracle`. A line for each net:
name, precision, bytes of netc and of PyTorch, each storage in whole blocks of
512, and their difference. `mixed`: under autocast to bfloat16. `--list`: what
is kept, by the node that keeps it.
"""
import argparse
import collections
import contextlib
import sys
import weakref
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent))

import torch  # noqa: E402

import fake_cuda  # noqa: E402
import written  # noqa: E402
from alive import Held, alone, key_of  # noqa: E402

PROFILE = ["--profile=torch2-cuda", "--loss=sum"]
PRECISIONS = {"f32": ["--dtype=f32", "--precision=full"],
              "mixed": ["--dtype=f32", "--precision=mixed"],
              "bf16": ["--dtype=bf16", "--precision=full"]}


def tensors_of(made):
    if isinstance(made, torch.Tensor):
        return [made]
    if isinstance(made, dict):
        made = made.values()
    if isinstance(made, (list, tuple)) or hasattr(made, "__iter__"):
        return [t for each in made for t in tensors_of(each)]
    return []


def kept(model, inputs, context):
    """The tensors that are kept, without those that were there before."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    held = []

    def pack(tensor):
        each = Held(alone(tensor))
        if key_of(tensor) not in outside:
            held.append(weakref.ref(each))
        return each
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda h: h.tensor), \
            context():
        outs = model(*inputs)
    alive = [each().tensor for each in held if each()]
    return list({key_of(t): t for t in alive}.values()), outs


def listed(model, inputs, context):
    """Lines: how many, node, which, shape, type and bytes."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    with context():
        outs = tensors_of(model(*inputs))
    nodes, open_ = {}, [t.grad_fn for t in outs]
    while open_:
        node = open_.pop()
        if node is not None and node not in nodes:
            nodes[node] = node._sequence_nr() if hasattr(
                node, "_sequence_nr") else 0
            open_ += [next_ for next_, _ in node.next_functions]
    seen, found = set(), collections.Counter()
    for node in sorted(nodes, key=nodes.get):
        for name in dir(node):
            if not name.startswith("_saved_"):
                continue
            try:
                value = getattr(node, name)
            except (AttributeError, RuntimeError):
                continue
            for t in tensors_of(value) if not isinstance(value, str) else []:
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


def low(tensor):
    return tensor.bfloat16() if tensor.is_floating_point() else tensor


def torch_of(netc, net, batch, precision, listing):
    kind, expressions = written.load(netc, net)
    context = context_of(precision)
    with fake_cuda.card():
        model = kind().to("cuda").train()
        inputs = written.inputs_of(expressions, batch)
        if precision == "bf16":
            model, inputs = model.bfloat16(), [low(t) for t in inputs]
        if listing:
            for row, count in listed(model, inputs, context).items():
                print(count, "x", *row)
        return sum(map(fake_cuda.blocks, kept(model, inputs, context)[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("netc")
    parser.add_argument("nets", nargs="+")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--precision", choices=PRECISIONS, default="f32")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    more = PRECISIONS[options.precision]
    for net in options.nets:
        name = Path(net).stem
        try:
            told = written.told(options.netc, net, [
                *PROFILE, *more, f"--batch={options.batch}"])
            theirs = torch_of(options.netc, net, options.batch, options.precision,
                              options.list)
        except Exception as e:  # of any net of a stranger
            print(name, "error", type(e).__name__, str(e).split("\n")[0][:150],
                  flush=True)
            continue
        ours = told["training"]["saved_bytes"]
        print(name, options.precision, ours, theirs, ours - theirs, flush=True)


if __name__ == "__main__":
    main()
