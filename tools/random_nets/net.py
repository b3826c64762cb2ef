"""A random net: statements that are text for netc and steps for PyTorch.

A layer is a function of a Statement and a Value: it picks its options one by
one, each from a list whose first member is the simplest, and returns its text
and what it gives. What was picked is remembered, so that the same function
builds a net again after the reducer has changed something.
"""
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn

from measure import Program, Step


class Refused(Exception):
    """The layer cannot stand here, or PyTorch refuses it."""


@dataclass(frozen=True)
class Value:
    """A tensor: its register, its sizes as netc has them, and whether PyTorch
    has its channels first."""
    register: int
    sizes: tuple
    first: bool

    @property
    def channels(self):
        return self.sizes[-1]

    @property
    def spatial(self):
        return self.sizes[:-1]

    def axis(self, index):
        """PyTorch's axis for one of netc's."""
        if not self.first:
            return index + 1
        return 1 if index == len(self.sizes) - 1 else index + 2


@dataclass
class Statement:
    word: str = ""
    picks: dict = field(default_factory=dict)
    blocks: dict = field(default_factory=dict)  # name: list of statements


@dataclass
class Net:
    """All that tells a net; `picks` has what holds for the whole of it."""
    kind: str
    seed: int = 0
    picks: dict = field(default_factory=dict)
    statements: list = field(default_factory=list)


def defined_layers():
    table = Path(__file__).resolve().parents[2] / "ops/ops.def"
    return re.findall(r"^(?:LAYER|FUNCTION)\((\w+),", table.read_text(), re.M)


DEFINED = defined_layers()
LAYERS = {}  # by name: (function, kinds that draw it)


def layer(*words, kinds=("maps",), often=1):
    """The function below builds these words of ops.def. `kinds` draw it."""
    def add(function):
        LAYERS[function.__name__] = function, set(kinds), words, often
        return function
    return add


class Builder:
    def __init__(self, net, rng=None):
        self.net, self.rng = net, rng
        self.steps, self.modules, self.live = [], [], {}
        self.registers = self.labels = self.depth = self.uncounted = 0
        self.picks = net.picks
        self.inputs, self.outs = [], []  # outs: values beside the last one
        self.statement = None
        self.stops = False  # a gradient may not reach what is trained

    # What is picked

    def pick(self, name, values, weight=0.5):
        """One of `values`, the first of which is the simplest; while drawing
        that one with a probability of 1 - weight."""
        return self.choose(self.picks, name, values, weight)

    def here(self, name, values, weight=0.6):
        return self.choose(self.statement.picks, name, values, weight)

    def choose(self, picks, name, values, weight):
        values = list(values)
        if not values:
            raise Refused(name)
        if name in picks and picks[name] in values:
            return picks[name]
        value = values[0]
        if name not in picks and self.rng and self.rng.random() < weight:
            value = self.rng.choice(values)
        picks[name] = value
        return value

    def flag(self, name, word, weight=0.3):
        return " " + word if self.here(name, [False, True], 2 * weight) else ""

    # What is run

    def input(self, sizes, first, tokens=0):
        batch = self.pick("batch", [1, 2, 3], 1)
        shape = (sizes[-1], *sizes[:-1]) if first else sizes
        data = torch.randint(0, tokens, (batch, *shape)) if tokens \
            else torch.rand(batch, *shape)
        self.inputs.append(data)
        register = -len(self.inputs)
        self.live[register] = data
        return Value(register, tuple(sizes), first)

    def add(self, run, ins, count=1, **more):
        """Another step, which is run at once to see what it gives."""
        if isinstance(run, nn.Module) and run not in self.modules:
            self.modules.append(run)
        registers = tuple(x.register for x in ins)
        try:
            with torch.no_grad():
                made = run(*(self.live[r] for r in registers))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            raise Refused(str(error)) from error
        outs = tuple(range(self.registers, self.registers + count))
        self.registers += count
        self.live.update(zip(outs, [made] if count == 1 else made))
        for r in outs:
            if 0 in self.live[r].shape or self.live[r].numel() > 40000:
                raise Refused("size")
        self.steps.append(Step(run, registers, outs, **more))
        return outs

    def emit(self, run, *ins, first=None, **more):
        """A step with one result; its layout is that of the first of `ins`."""
        first = ins[0].first if first is None else first
        register, = self.add(run, ins, 1, **more)
        return self.value(register, first)

    def value(self, register, first):
        sizes = tuple(self.live[register].shape[1:])
        first = first and len(sizes) > 1
        return Value(register, sizes[1:] + sizes[:1] if first else sizes,
                     first)

    def own(self, *modules):
        """Modules whose parameters functions use."""
        for module in modules:
            if module not in self.modules:
                self.modules.append(module)
        return modules[0] if len(modules) == 1 else modules

    def first(self, x):
        """Channels first, as convolutions want it."""
        if x.first or len(x.sizes) == 1:
            return x
        return self.emit(lambda t: t.movedim(-1, 1), x, first=True)

    def last(self, x):
        if not x.first:
            return x
        return self.emit(lambda t: t.movedim(1, -1), x, first=False)

    def alike(self, x, y):
        """y, laid out as x is."""
        return self.first(y) if x.first else self.last(y)

    def frozen(self, *modules):
        """Whether what was made is frozen: its word."""
        if not self.here("frozen", [False, True],
                         self.picks.get("frozen", 0) * 2):
            return ""
        for module in modules:
            for p in module.parameters():
                p.requires_grad_(False)
        return " frozen"

    def constant(self, *sizes):
        """A function that gives a trained tensor."""
        holder = nn.Module()
        holder.weight = nn.Parameter(torch.rand(*sizes))
        return self.own(holder)

    # Statements

    def block(self, name, x, count=2, fits=lambda y: True, mend=None):
        """The statements of a block of this one, on x: their text and what
        they give. `fits` says what may follow a statement, `mend(y)` which
        statement makes the end fit."""
        statement = self.statement
        if name not in statement.blocks:
            statement.blocks[name] = self.draw(x, count, fits, mend)
        if not statement.blocks[name]:
            raise Refused("an empty block")
        return self.sequence(statement.blocks[name], x)

    def sequence(self, statements, x):
        texts = []
        outer = self.statement
        for statement in statements:
            text, x = self.build(statement, x)
            texts.append(text)
        self.statement = outer
        return "; ".join(texts), x

    def build(self, statement, x):
        self.statement = statement
        self.depth += 1
        try:
            return LAYERS[statement.word][0](self, x)
        finally:
            self.depth -= 1

    def draw(self, x, count, fits, mend=None):
        """Random statements that can stand on x; they are built and then
        forgotten."""
        if not self.rng:
            raise Refused("was not drawn")
        mark = self.mark()
        outer, made = self.statement, []
        for _ in range(self.rng.randint(1, count)):
            drawn = self.draw_one(x, fits)
            if drawn:
                made.append(drawn[0])
                x = drawn[1]
        if mend:
            for word, picks in mend(x):
                statement = Statement(word, picks)
                x = self.build(statement, x)[1]
                made.append(statement)
        self.statement = outer
        self.forget(mark)
        if not made:
            raise Refused("nothing drawn")
        return made

    def draw_one(self, x, fits):
        names = [name for name, (_, kinds, _, often) in LAYERS.items()
                 if self.net.kind in kinds for _ in range(often)]
        for _ in range(12):
            mark = self.mark()
            statement = Statement(self.rng.choice(names))
            try:
                if self.depth > 3 and statement.word in NESTING:
                    raise Refused("too deep")
                _, y = self.build(statement, x)
                if fits(y):
                    return statement, y
            except (Refused, RuntimeError, ValueError):
                pass
            self.forget(mark)
        return None

    def mark(self):
        return (len(self.steps), len(self.modules), len(self.outs),
                self.registers, self.labels)

    def forget(self, mark):
        del self.steps[mark[0]:], self.modules[mark[1]:], self.outs[mark[2]:]
        for r in range(mark[3], self.registers):
            self.live.pop(r, None)
        self.registers, self.labels = mark[3:]

    def label(self):
        self.labels += 1
        return f"p{self.labels}"


NESTING = {"join", "joined", "concat", "stack", "split", "matmul", "shared",
           "moe", "forked", "side", "cross", "joint"}


def join(sizes):
    return "x".join(map(str, sizes))


def settings(b):
    b.pick("inplace", ["off", "on"], 1)
    b.pick("frozen", [0, 0.3], 0.7)
    b.pick("lora", [0, 0.3], 0.6)


def build(net, rng=None):
    """The net's text and PyTorch's program; with `rng` what is not told yet
    is drawn. Refused: there is no such net."""
    torch.manual_seed(1)
    b = Builder(net, rng)
    settings(b)
    head, x = HEADS[net.kind](b)
    if rng:
        outer = net.statements
        start, x1 = b.sequence(outer, x)
        net.statements = outer + b.draw(x1, 5, lambda y: True)
        end = rng.random()
        if end < 0.8:
            net.statements.append(Statement("last"))
        if end < 0.2:
            net.statements.append(Statement("tanh_end"))
        b = Builder(net)
        head, x = HEADS[net.kind](b)
    body, y = b.sequence(net.statements, x)
    train = "train inplace=off\n" if net.picks["inplace"] == "off" else ""
    text = f"{train}{head}; {body}" + ("; output" if b.outs else "")
    outs = [*b.outs, y]
    program = Program(b.steps, b.modules, b.inputs,
                      tuple(z.register for z in outs),
                      tuple(z.first for z in outs), net.picks["inplace"] == "on", b.uncounted)
    if not any(p.requires_grad for p in program.parameters()) or not \
            b.live[y.register].is_floating_point():
        raise Refused("nothing is trained")
    if b.stops and not any(y.requires_grad for y in program()):
        raise Refused("all is detached")
    return text, program


HEADS = {}


def head(kind):
    def add(function):
        HEADS[kind] = function
        return function
    return add


def draw(kind, seed):
    """The net of that kind and seed, with text and program; None if what was
    drawn cannot be."""
    rng = random.Random(f"{kind} {seed}")
    for _ in range(20):
        net = Net(kind, seed)
        try:
            return (net, *build(net, rng))
        except Refused:
            continue
    return None
