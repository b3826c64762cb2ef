"""Layers of any tensor: value by value, norms, reductions, views and joins."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from net import Refused, Statement, join, layer

ALL = "maps", "mixed", "rows", "vectors", "films", "boxes"
SEVERAL = "maps", "mixed", "rows", "films", "boxes"

# By word: what PyTorch runs, and what it runs in place.
ACTIVATIONS = {
    "sigmoid": (torch.sigmoid, None),
    "relu": (F.relu, torch.relu_),
    "relu6": (F.relu6, lambda t: F.relu6(t, True)),
    "leaky": (F.leaky_relu, lambda t: F.leaky_relu(t, inplace=True)),
    "leaky 0.2": (lambda t: F.leaky_relu(t, 0.2),
                  lambda t: F.leaky_relu(t, 0.2, True)),
    "elu": (F.elu, lambda t: F.elu(t, inplace=True)),
    "elu 0.5": (lambda t: F.elu(t, 0.5), lambda t: F.elu(t, 0.5, True)),
    "silu": (F.silu, lambda t: F.silu(t, True)),
    "mish": (F.mish, lambda t: F.mish(t, True)),
    "hswish": (F.hardswish, lambda t: F.hardswish(t, True)),
    "celu": (F.celu, lambda t: F.celu(t, inplace=True)),
    "celu 0.7": (lambda t: F.celu(t, 0.7), lambda t: F.celu(t, 0.7, True)),
    "hardtanh": (F.hardtanh, lambda t: F.hardtanh(t, inplace=True)),
    "hardtanh -0.5 2": (lambda t: F.hardtanh(t, -0.5, 2),
                        lambda t: F.hardtanh(t, -0.5, 2, True)),
    "softsign": (F.softsign, None),
    "selu": (F.selu, None),
    "gelu": (F.gelu, None),
    "gelu approximate=tanh": (lambda t: F.gelu(t, approximate="tanh"), None),
    "hsigmoid": (F.hardsigmoid, None),
    "tanh": (torch.tanh, None),
    "softplus": (F.softplus, None),
}


@layer("relu", "relu6", "leaky", "elu", "selu", "gelu", "silu", "mish",
       "sigmoid", "hsigmoid", "hswish", "tanh", "softplus", "celu",
       "softsign", "hardtanh", kinds=ALL, often=4)
def activation(b, x):
    word = b.here("word", ACTIVATIONS, 1)
    run, over = ACTIVATIONS[word]
    return word, b.emit(run, x, over=over)


FUNCTIONS = {
    "sin": torch.sin, "cos": torch.cos, "sqrt": torch.sqrt, "exp": torch.exp,
    "log": torch.log, "abs": torch.abs,
    "neg": torch.neg, "pow 2": lambda t: t.pow(2), "pow 3": lambda t: t.pow(3),
    "pow -0.5": lambda t: t.pow(-0.5), "add 1": lambda t: t + 1,
    "sub 3": lambda t: t - 3, "mul 0.5": lambda t: t * 0.5,
    "div 2": lambda t: t / 2, "max 0": lambda t: t.clamp(min=0),
    "min 6": lambda t: t.clamp(max=6), "identity": lambda t: t,
}


@layer("sin", "cos", "sqrt", "exp", "log", "abs", "neg", "pow",
       "identity", kinds=ALL,
       often=2)
def function(b, x):
    word = b.here("word", FUNCTIONS, 1)
    return word, b.emit(FUNCTIONS[word], x)


@layer("prelu", kinds=ALL)
def prelu(b, x):
    shared = b.here("shared", [False, True], 0.6)
    x = x if shared else b.first(x)
    module = nn.PReLU(1 if shared else x.channels)
    text = "prelu" + (" shared" if shared else "")
    return text + b.frozen(module), b.emit(module, x)


def hide_later(t):
    hidden = torch.ones(*t.shape[-2:], dtype=torch.bool).triu(1)
    return t.masked_fill(hidden, -math.inf)


@layer("glu", "softmax", "logsoftmax", "l2norm", kinds=ALL, often=2)
def along_channels(b, x):
    word = b.here("word", ["softmax", "logsoftmax", "glu", "l2norm"], 1)
    over = len(x.sizes) - 1
    text = word
    if word.endswith("softmax"):
        over = b.here("axis", [over, *range(over)], 0.4)
        if over != len(x.sizes) - 1:
            text += f" axis={over}"
        elif word == "softmax" and len(x.sizes) > 1 and not x.first and \
                b.here("causal", [False, True], 0.3):
            x = b.emit(hide_later, x)
            text += " causal"
    axis = x.axis(over)
    if word == "glu" and x.channels % 2:
        raise Refused("odd")
    return text, b.emit({
        "glu": lambda t: F.glu(t, axis),
        "softmax": lambda t: t.softmax(axis),
        "logsoftmax": lambda t: t.log_softmax(axis),
        "l2norm": lambda t: F.normalize(t, dim=axis)}[word], x)


@layer("dropout", "droppath", kinds=ALL)
def drop(b, x):
    if b.here("word", ["dropout", "droppath"], 0.6) == "dropout":
        p = b.here("p", [0.1, 0.5], 0.5)
        return f"dropout {p}", b.emit(nn.Dropout(p), x)
    keep = 0.8  # timm's drop_path: timm/layers/drop.py

    class DropPath(nn.Module):
        def forward(self, t):
            if not self.training:
                return t
            mask = t.new_empty((len(t),) + (1,) * (t.dim() - 1))
            return t * mask.bernoulli_(keep).div_(keep)
    return "droppath 0.2", b.emit(DropPath(), x)


# Norms

AFFINE = ["", "noaffine", "nobias"]


def less(b, module, affine):
    """The words for what it has besides, and whether that is frozen."""
    if affine == "noaffine":
        return " noaffine"
    if affine == "nobias":
        module.bias = None
    return (" nobias" if affine else "") + b.frozen(module)


@layer("bn", kinds=ALL, often=2)
def bn(b, x):
    x = b.first(x)
    kinds = nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d
    if len(x.spatial) > 3:
        raise Refused("axes")
    affine = b.here("affine", AFFINE, 0.4)
    module = kinds[len(x.spatial)](x.channels, affine=affine != "noaffine")
    return "bn" + less(b, module, affine), b.emit(module, x)


@layer("instnorm", kinds=SEVERAL)
def instnorm(b, x):
    x = b.first(x)
    kinds = None, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d
    if not 1 <= len(x.spatial) <= 3:
        raise Refused("axes")
    affine = b.here("affine", AFFINE[::-1], 0.8)
    module = kinds[len(x.spatial)](x.channels, affine=affine != "noaffine")
    return "instnorm" + less(b, module, affine), b.emit(module, x)


@layer("gn", kinds=ALL)
def gn(b, x):
    x = b.first(x)
    groups = b.here("groups", [g for g in (1, 2, 3, 4)
                               if x.channels % g == 0], 0.7)
    affine = b.here("affine", AFFINE, 0.4)
    module = nn.GroupNorm(groups, x.channels, affine=affine != "noaffine")
    return f"gn {groups}" + less(b, module, affine), b.emit(module, x)


@layer("ln", kinds=ALL, often=2)
def ln(b, x):
    x = b.last(x)
    affine = b.here("affine", AFFINE, 0.4)
    module = nn.LayerNorm(x.channels, elementwise_affine=affine != "noaffine")
    return "ln" + less(b, module, affine), b.emit(module, x)


def rms(b, x, eps):
    """transformers' LlamaRMSNorm but for the scale: in 32 bits."""
    given = []

    def widened(t):
        given[:] = [t.dtype]
        return t.float()
    x = b.emit(widened, x)
    y = b.emit(lambda t: t.pow(2), x)
    y = b.emit(lambda t: t.mean(-1, keepdim=True), y)
    y = b.emit(lambda t: t + eps, y)
    y = b.emit(torch.rsqrt, y)
    y = b.emit(torch.mul, x, y)
    return b.emit(lambda t: t.to(given[0]), y)


@layer("rmsnorm", kinds=ALL, often=2)
def rmsnorm(b, x):
    x = b.last(x)
    affine = b.here("affine", [True, False], 0.4)
    y = rms(b, x, 1e-5)
    if not affine:
        return "rmsnorm noaffine", y
    holder = b.constant(x.channels)
    return "rmsnorm" + b.frozen(holder), b.emit(
        lambda t: holder.weight * t, y)


# Learned

def by_channel(x):
    """A tensor for the channels of x, as x has its axes."""
    return (x.channels,) + (1,) * len(x.spatial) if x.first else (x.channels,)


@layer("scale", "affine", kinds=ALL)
def scale(b, x):
    word = b.here("word", ["scale", "scale bias", "affine"], 0.7)
    holder = b.constant(*by_channel(x))
    if word != "scale":
        holder.bias = nn.Parameter(torch.zeros(*by_channel(x)))
    text = word + b.frozen(holder)
    if word == "affine":
        return text, b.emit(lambda t: torch.addcmul(
            holder.bias, holder.weight, t), x)
    x = b.emit(lambda t: t * holder.weight, x)
    if word == "scale bias":
        x = b.emit(lambda t: t + holder.bias, x)
    return text, x


JOINS = {"add": torch.add, "mul": torch.mul, "sub": torch.sub,
         "div": torch.div, "max": torch.maximum, "min": torch.minimum}


@layer("weight", kinds=ALL)
def weight(b, x):
    """Joined with a tensor that is trained, or a constant."""
    word = b.here("join", JOINS, 0.7)
    fixed = b.here("fixed", [False, True], 0.5)
    whole = b.here("whole", [False, True], 0.8)
    sizes = x.sizes if whole else x.sizes[-1:]
    shape = sizes
    if whole and x.first:
        shape = sizes[-1:] + sizes[:-1]
    elif not whole:
        shape = by_channel(x)
    holder = b.constant(*shape)
    if fixed:
        value = holder.weight.detach()
        del holder.weight
        holder.register_buffer("weight", value)
    run = JOINS[word]
    operand = f"{{ weight {join(sizes)}{' fixed' if fixed else ''} }}"
    if word == "mul" and not fixed and b.here("ahead", [False, True], 0.4):
        return f"mul {operand} {{}}", b.emit(
            lambda t: run(holder.weight, t), x)
    over = None
    if word == "add" and sizes == x.sizes:
        def add_(t):
            return t.add_(holder.weight)
        over = add_
    return f"{word} {{}} {operand}", b.emit(
        lambda t: run(t, holder.weight), x, over=over)


# Reductions

@layer("mean", "sum", "max", "min", kinds=SEVERAL, often=2)
def reduction(b, x):
    word = b.here("word", ["mean", "sum", "max", "min"], 1)
    rank = len(x.sizes)
    axes = [i for i in range(rank)
            if b.here(f"axis{i}", [False, True], 0.8)]
    keep = b.here("keep", [True, False], 0.5)
    if not axes or len(axes) == rank and not keep:
        raise Refused("axes")
    at = [x.axis(i) for i in axes]
    one = len(axes) == 1
    run = {"mean": lambda t: t.mean(at, keepdim=keep),
           "sum": lambda t: t.sum(at, keepdim=keep),
           "max": (lambda t: t.max(at[0], keepdim=keep)[0]) if one
           else (lambda t: t.amax(at, keepdim=keep)),
           "min": (lambda t: t.min(at[0], keepdim=keep)[0]) if one
           else (lambda t: t.amin(at, keepdim=keep))}[word]
    text = f"{word} {' '.join(f'axis={i}' for i in axes)}"
    if len(axes) > 1:
        names = {1: "c", 2: "lc", 3: "hwc", 4: "dhwc"}.get(rank)
        if not names:
            raise Refused("names")
        text = f"{word} {' '.join(names[i] for i in axes)}"
    first = x.first and (keep or rank - 1 not in axes)
    return text + (" keep" if keep else ""), b.emit(run, x, first=first)


# Views

@layer("slice", kinds=ALL, often=2)
def slice_(b, x):
    axis = b.here("axis", range(len(x.sizes)), 1)
    size = x.sizes[axis]
    begin = b.here("begin", range(size), 0.8)
    length = b.here("length", range(size - begin, 0, -1), 0.9)
    if length == size:
        raise Refused("all of it")
    at = x.axis(axis)
    return f"slice {axis} {begin}:{begin + length}", b.emit(
        lambda t: t.narrow(at, begin, length), x)


@layer("detach", kinds=ALL)
def detach(b, x):
    b.stops = True
    return "detach", b.emit(lambda t: t.detach(), x)


@layer("topk", kinds=ALL)
def topk(b, x):
    axis = b.here("axis", range(len(x.sizes) - 1, -1, -1), 0.5)
    count = b.here("count", range(1, x.sizes[axis] + 1), 0.8)
    least = b.here("smallest", [False, True], 0.3)
    at = x.axis(axis)
    text = f"topk {count}" + (f" axis={axis}" if axis < len(x.sizes) - 1
                              else "") + (" smallest" if least else "")
    return text, b.emit(lambda t: t.topk(count, at, not least)[0], x)


@layer("gather", kinds=("rows", "mixed"))
def gather(b, x):
    """The rows of the best scores, as two-stage detectors take them."""
    if len(x.sizes) != 2 or x.first:
        raise Refused("no rows")
    count = b.here("count", range(1, x.sizes[0] + 1), 0.8)
    over = b.here("score", ["max c", "mean c"], 0.5)
    score = b.emit({"max c": lambda t: t.max(-1)[0],
                    "mean c": lambda t: t.mean(-1)}[over], x)
    best = b.emit(lambda t: t.topk(count, 1)[1], score)
    label = b.label()
    return (f"fork {{ {over}; {label}: topk {count} indices }}; "
            f"gather {label}"), b.emit(
                lambda t, i: t.gather(1, i[..., None].repeat(
                    1, 1, t.shape[-1])), x, best)


@layer("flatten", kinds=("maps", "mixed", "rows"))
def flatten(b, x):
    if len(x.sizes) < 2:
        raise Refused("flat")
    return "flatten", b.emit(lambda t: t.flatten(1), x, first=False)


@layer("permute", kinds=("rows", "mixed"), often=2)
def permute(b, x):
    rank = len(x.sizes)
    left, order = list(range(rank)), []
    for i in range(rank):
        order.append(b.here(f"axis{i}", left, 1))
        left.remove(order[-1])
    if order == sorted(order):
        raise Refused("the same order")
    at = [0] + [x.axis(i) for i in order]
    return "permute " + " ".join(map(str, order)), b.emit(
        lambda t: t.permute(at), x, first=False)


@layer("reshape", kinds=("rows", "mixed"), often=2)
def reshape(b, x):
    if x.first:  # places become one axis, as a vision transformer has it
        return f"reshape _ x {x.channels}", b.emit(lambda t: t.flatten(2), x)
    how = b.here("how", ["merge", "split"], 0.8)
    axis = b.here("axis", range(len(x.sizes)), 0.8)
    sizes = list(x.sizes)
    if how == "merge":
        if axis + 1 >= len(sizes):
            raise Refused("no next axis")
        sizes[axis:axis + 2] = [sizes[axis] * sizes[axis + 1]]
    else:
        part = b.here("part", [p for p in (2, 3) if sizes[axis] % p == 0], 0.5)
        if len(sizes) > 3:
            raise Refused("axes")
        sizes[axis:axis + 1] = [sizes[axis] // part, part]
    return f"reshape {' x '.join(map(str, sizes))}", b.emit(
        lambda t: t.reshape(len(t), *sizes), x)


# Joins

def spreads(x, y):
    """Whether y is x's size, or is spread over it."""
    return len(x.sizes) == len(y.sizes) and all(
        m == n or m == 1 for m, n in zip(y.sizes, x.sizes))


def to_channels_of(x):
    def mend(y):
        if y.channels in (x.channels, 1):
            return []
        return [("to_channels", {"channels": x.channels})]
    return mend


def same_places(x):
    return lambda y: len(y.sizes) == len(x.sizes) and spreads(
        x, type(x)(0, (*y.sizes[:-1], x.channels), x.first))


@layer("add", "sub", "mul", "div", "max", "min", kinds=ALL, often=5)
def joined(b, x):
    """Two or three operands; one may be the tensor itself, or smaller."""
    word = b.here("word", JOINS, 0.6)
    run = JOINS[word]
    form = b.here("form", ["block x", "x block", "block block",
                           "block block x"], 0.8)
    operands = []
    for k, part in enumerate(form.split()):
        if part == "x":
            operands.append(("", x))
        else:
            operands.append(b.block(f"part{k}", x, 3, same_places(x),
                                    to_channels_of(x)))
    if not any(y.sizes == x.sizes for _, y in operands):
        raise Refused("spread nowhere")
    text, y = operands[0]
    texts = ["{ " + text + " }" if text else "{}"]
    for text, z in operands[1:]:
        if z.sizes != y.sizes and not spreads(y, z) and not spreads(z, y):
            raise Refused("sizes")
        z = b.alike(y, z)
        over = torch.Tensor.add_ if word == "add" and y.sizes == z.sizes \
            else None
        y = b.emit(run, y, z, over=over)
        texts.append("{ " + text + " }" if text else "{}")
    return f"{word} {' '.join(texts)}", y


@layer("concat", kinds=ALL, often=3)
def concat(b, x):
    axis = b.here("axis", range(len(x.sizes) - 1, -1, -1), 0.4)

    def fits(y):
        return len(y.sizes) == len(x.sizes) and all(
            m == n or i == axis or i == len(x.sizes) - 1
            for i, (m, n) in enumerate(zip(x.sizes, y.sizes)))

    def mend(y):
        return to_channels_of(x)(y) if axis < len(x.sizes) - 1 and \
            y.channels != x.channels else []
    form = b.here("form", ["block x", "x block", "block block",
                           "block block x"], 0.8)
    parts, texts = [], []
    for k, part in enumerate(form.split()):
        text, y = ("", x) if part == "x" else b.block(f"part{k}", x, 3, fits,
                                                      mend)
        texts.append("{ " + text + " }" if text else "{}")
        parts.append(y)
    if len(x.sizes) > 2 and any(y.first for y in parts):  # as x.py
        parts = [b.first(y) for y in parts]
    parts = [b.alike(parts[0], y) for y in parts]
    at = parts[0].axis(axis)
    more = "" if axis == len(x.sizes) - 1 else f" axis={axis}"
    return f"concat {' '.join(texts)}{more}", b.emit(
        lambda *t: torch.cat(t, at), *parts)


@layer("stack", kinds=("rows",))
def stack(b, x):
    if len(x.sizes) > 2:
        raise Refused("axes")
    x = b.last(x)
    text, y = b.block("part", x, 2, lambda y: y.sizes == x.sizes)
    return f"stack {{ {text} }} {{}}", b.emit(
        lambda *t: torch.stack(t, 1), b.last(y), x)


@layer("split", kinds=ALL, often=2)
def split(b, x):
    """Two or three parts, of which each is read, or not; joined again."""
    axis = b.here("axis", range(len(x.sizes) - 1, -1, -1), 0.4)
    size, at = x.sizes[axis], x.axis(axis)
    how = b.here("how", [2, 3, "sizes"], 0.7)
    if how == "sizes":
        if size < 2:
            raise Refused("one")
        front = b.here("front", range(1, size), 0.8)
        sizes = [front, size - front]
    else:
        if size % how:
            raise Refused("parts")
        sizes = [size // how] * how

    def run(t):
        parts = t.split(sizes, at)
        for part in parts:
            part.part_of_split = True
        return parts
    label = b.label()
    parts = [b.value(r, x.first) for r in b.add(run, [x], len(sizes))]
    told = " ".join(map(str, sizes)) if how == "sizes" else how
    text = f"{label}: split {axis} {told}"
    form = b.here("form", ["one", "mul", "concat", "add"], 0.9)
    if form == "one":
        k = b.here("read", range(len(parts)), 0.6)
        return f"{text}; from {label}[{k + 1}]", parts[k]
    texts, values = [], []
    for k, part in enumerate(parts[:2]):
        if b.here(f"block{k}", [False, True], 1):
            told, y = b.block(f"part{k}", part, 2,
                              lambda y: y.sizes == part.sizes)
            texts.append(f"{{ from {label}[{k + 1}]; {told} }}")
        else:
            y = part
            texts.append(f"{{ from {label}[{k + 1}] }}")
        values.append(b.alike(values[0], y) if values else y)
    if form == "concat":
        axis = len(x.sizes) - 1
        if any(v.spatial != values[0].spatial for v in values):
            raise Refused("sizes")
        channel = values[0].axis(axis)
        return f"{text}; concat {' '.join(texts)}", b.emit(
            lambda *t: torch.cat(t, channel), *values)
    if values[0].sizes != values[1].sizes:
        raise Refused("sizes")
    over = torch.Tensor.add_ if form == "add" else None
    return f"{text}; {form} {' '.join(texts)}", b.emit(
        JOINS[form], *values, over=over)


@layer("matmul", kinds=("rows",), often=2)
def matmul(b, x):
    x = b.last(x)
    if len(x.sizes) < 2:
        raise Refused("a vector")
    turned = b.here("transpose", [True, False], 0.5)
    if not turned and x.sizes[-2] != x.sizes[-1]:
        raise Refused("sizes")
    texts, values = [], []
    for k in range(2):
        text, y = b.block(f"part{k}", x, 2, lambda y: y.sizes == x.sizes)
        texts.append(f"{{ {text} }}")
        values.append(b.last(y))
    if turned:
        return f"matmul {' '.join(texts)} transpose", b.emit(
            lambda s, t: s @ t.transpose(-1, -2), *values)
    return f"matmul {' '.join(texts)}", b.emit(torch.matmul, *values)


@layer("concat", kinds=ALL)
def shared(b, x):
    """The same weights once more: what stands between, and `again`."""
    statement = b.statement.blocks.setdefault("one", [
        Statement("to_channels", {"channels": x.channels})])
    label = b.label()
    mark = len(b.steps)
    one, y = b.sequence(statement, x)
    if ";" in one or len(b.steps) == mark:
        raise Refused("one layer")
    module = b.steps[-1].run
    between, z = b.block("between", y, 2, lambda z: z.sizes == x.sizes)
    if list(getattr(module, "parameters", list)()):  # else as it lies
        z = b.alike(x, z) if x.first else b.last(z)
    if z.sizes != x.sizes:
        raise Refused("sizes")
    return f"{label}: {one}; {between}; again {label}", b.emit(module, z)


# Forks

def fork(b, name, x, count, fits=lambda y: True):
    """A side branch, its label and what it gives."""
    text, y = b.block(name, x, count, fits)
    label = b.label()
    return f"fork {{ {text}; {label}: identity }}", label, y


@layer("identity", kinds=ALL, often=2)
def forked(b, x):
    """A side branch that is joined later."""
    word = b.here("join", ["add", "mul", "concat"], 0.7)
    text, label, y = fork(b, "side", x, 2, lambda y: y.sizes == x.sizes)
    between, z = b.block("between", x, 2, lambda z: z.sizes == x.sizes)
    y = b.alike(z, y)
    run = JOINS.get(word)
    if run:
        over = torch.Tensor.add_ if word == "add" else None
        z = b.emit(run, z, y, over=over)
    else:
        axis = z.axis(len(z.sizes) - 1)
        z = b.emit(lambda *t: torch.cat(t, axis), z, y)
    return f"{text}; {between}; {word} {{}} {{ from {label} }}", z


@layer("identity", kinds=ALL)
def side(b, x):
    """A second output."""
    if b.depth > 1 or len(b.outs) == 2:
        raise Refused("outputs")
    text, y = b.block("side", x, 2)
    if not b.live[y.register].is_floating_point():
        raise Refused("numbers")
    b.outs.append(y)
    return f"fork {{ {text}; output out{len(b.outs)} }}", x
