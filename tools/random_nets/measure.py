"""What PyTorch makes of a program: counts and bytes, each to the last one.

A program is a list of steps on registers, and a register is dropped after its
last reader: no frame of Python holds what nothing needs any more.
"""
import collections
import functools
from dataclasses import dataclass, field

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._pytree import tree_flatten

from alive import (Watch, allocations, backward, biases_of, key_of,
                   macs_of, nbytes_of, peak_of, saved_by, storage_of, unwatched)

FIGURES = "params", "shape", "macs", "saved", "grads", "peak", "predict"


@dataclass
class Step:
    """outs = run(*ins); `over`: the same, written over the first of `ins`, if
    that is allowed. `framed`: of a module whose frames hold tensors, which a
    step's peak need not have."""
    run: object
    ins: tuple
    outs: tuple
    over: object = None
    framed: bool = False


@dataclass
class Program:
    steps: list
    modules: list
    inputs: list    # tensors
    outs: tuple     # registers
    outs_first: tuple  # whether their channels are the first axis
    in_place: bool
    uncounted: int = 0  # products that are no part of the count
    written: dict = field(default_factory=dict)

    def parameters(self):
        seen = {}
        for module in self.modules:
            for p in module.parameters():
                seen[id(p)] = p
        return list(seen.values())

    def outside(self):
        held = [*self.inputs, *self.parameters()]
        for module in self.modules:
            held += module.buffers()
        return {key_of(t) for t in held}

    @functools.cached_property
    def last_reader(self):
        last = {}
        for k, step in enumerate(self.steps):
            for register in step.ins:
                last[register] = k
        return last

    def __call__(self, may_overwrite=None):
        """Runs it; `may_overwrite(k, tensor, others)` says whether step k may
        write over the tensor, and is remembered by mode."""
        registers = {-1 - i: x for i, x in enumerate(self.inputs)}
        for k, step in enumerate(self.steps):
            ins = [registers[r] for r in step.ins]
            for r in set(step.ins):
                if self.last_reader[r] == k and r not in self.outs:
                    del registers[r]
            run = step.run
            if step.over and self.in_place:
                mode = k, torch.is_grad_enabled()
                if may_overwrite:
                    self.written[mode] = may_overwrite(
                        step, ins, registers.values())
                if self.written.get(mode):
                    run = step.over
            made = run(*ins)
            if len(step.outs) == 1:
                registers[step.outs[0]] = made
            else:
                registers.update(zip(step.outs, made))
            for r in step.outs:
                if r not in self.last_reader and r not in self.outs:
                    del registers[r]  # of a split, that nothing reads
            del ins, made
        return tuple(registers[r] for r in self.outs)


def decide_overwriting(program, outside):
    """As netc has it: where nothing has saved the tensor, and nothing else
    reads it. A prediction saves nothing. What detach lets go is not saved any
    more; no later tensor may have its key."""
    for grad in True, False:
        saved = {}

        def may_overwrite(step, ins, others):
            if step.over.__name__ == "add_" and grad and ins[0]._is_view():
                return False  # of rows netc has `x + y`
            key = key_of(ins[0])
            again = [key_of(t) for t in ins[1:]]
            return not (key in outside or key in saved or key in again
                        or getattr(ins[0], "part_of_split", False)
                        or key in [key_of(t) for t in others])

        def pack(tensor):
            saved[key_of(tensor)] = StorageWeakRef(storage_of(tensor))
            return tensor
        for module in program.modules:
            module.train(grad)
        with torch.set_grad_enabled(grad), \
                torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            program(may_overwrite)
    for module in program.modules:
        module.train()


class Prediction(Watch):
    """Products that are computed, and the most that is alive if each tensor
    goes after its last reader."""

    def __init__(self, outside, biases):
        super().__init__(outside, biases)
        self.macs = self.now = 0
        self.lives = []  # [first, last, bytes]
        self.life_of = {}

    def touch(self, tensor):
        storage = storage_of(tensor)
        key = key_of(tensor)
        if key in self.outside or not storage.nbytes():
            return
        held = self.life_of.get(key)
        if held is None or held[0].expired():
            life = [self.now, self.now, storage.nbytes()]
            self.life_of[key] = held = StorageWeakRef(storage), life
            self.lives.append(life)
        held[1][1] = self.now

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.now += 1
        for value in tree_flatten((args, kwargs))[0]:
            if isinstance(value, torch.Tensor):
                self.touch(value)
        out = self.run(unwatched(func, args, self.biases), args, kwargs)
        self.macs += macs_of(func, args, out)
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.touch(value)
                self.note(value)
                self.inside -= nbytes_of(value)
        if self.inside > 0:
            self.lives.append([self.now, self.now, self.inside])
        self.count()
        return out

    def most(self, outs):
        for tensor in outs:
            if key_of(tensor) in self.life_of:
                self.life_of[key_of(tensor)][1][1] = self.now
        change = collections.Counter()
        for first, last, size in self.lives:
            change[first] += size
            change[last + 1] -= size
        alive = most = 0
        for at in sorted(change):
            alive += change[at]
            most = max(most, alive)
        return most


def predict(program, outside):
    for module in program.modules:
        module.eval()
    with torch.no_grad(), Prediction(
            outside, biases_of(program.modules)) as watch:
        outs = program()
    for module in program.modules:
        module.train()
    shapes = []
    for out, first in zip(outs, program.outs_first):
        sizes = list(out.shape[1:])
        shapes.append(sizes[1:] + sizes[:1] if first else sizes)
    most = watch.most(outs)
    return watch.macs, most, shapes


def allocated(program):
    """What the allocator had at most: with what kernels take, but without
    what who watches holds a little longer in frames."""
    with allocations() as most:
        backward(program())
    return most[0]


def measure(program):
    """The figures of FIGURES, as PyTorch has them."""
    parameters = program.parameters()
    program()  # makes what is made once
    outside = program.outside()
    if program.in_place:
        decide_overwriting(program, outside)
    macs, prediction, shapes = predict(program, outside)
    saved = saved_by(program, outside)
    for p in parameters:
        p.grad = None
    peak = peak_of(program, outside, biases_of(program.modules))
    gradients = sum(p.grad.numel() * p.grad.element_size()
                    for p in parameters if p.grad is not None)
    if any(step.framed for step in program.steps):
        for p in parameters:
            p.grad = None
        peak = min(peak, allocated(program))
    return {"params": sum(p.numel() for p in parameters
                          if not hasattr(p, "none")),
            "shape": shapes, "macs": macs - program.uncounted,
            "saved": saved, "grads": gradients, "peak": peak,
            "predict": prediction}
