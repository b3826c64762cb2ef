"""Layers of maps: windows, pools, and what moves over places."""
import math

import torch
import torch.nn.functional as F
from torch import nn

from lora import Lora
from net import HEADS, Refused, head, join, layer

CONV = nn.Conv1d, nn.Conv2d, nn.Conv3d
DECONV = nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
MAPS = "maps", "mixed", "boxes"


def places(x, least=1):
    """How many axes are not channels; refused if there are none, or four."""
    if not least <= len(x.spatial) <= 3:
        raise Refused("no map")
    return len(x.spatial)


@head("maps")
def maps(b):
    """1-D to 3-D, and sizes that are odd now and then."""
    axes = b.pick("axes", [1, 2, 2, 2, 3], 1)
    sizes = [b.pick(f"size{i}", range(4, 8 if axes == 3 else 12), 1)
             for i in range(axes)]
    channels = b.pick("channels", [2, 3, 4, 6], 1)
    return begin(b, (*sizes, channels), True)


def begin(b, sizes, first):
    """An input and a dense layer, so that there are gradients and it is said
    how the input lies: as its first layer wants it."""
    x = b.input(sizes, first)
    text, y = dense(b, x, b.pick("first", [2, 4, 6, 8], 1))
    if b.pick("first_frozen", [False, True], b.picks["frozen"]):
        b.modules[-1].requires_grad_(False)
        text += " frozen"
    return f"input {join(sizes)}; {text}", y


HEADS["mixed"] = maps


@layer("conv", kinds=(), often=0)
def last(b, x):
    return dense(b, x, b.here("channels", [3], 1))


@layer("conv", kinds=(), often=0)
def to_channels(b, x):
    """Mends a branch: as many channels as its partner has."""
    channels = b.statement.picks.get("channels")
    if not channels:
        raise Refused("channels")
    return dense(b, x, channels)


def dense(b, x, channels):
    if x.first and len(x.sizes) > 1:
        conv = CONV[places(x) - 1](x.channels, channels, 1)
        return f"conv {channels} 1", b.emit(conv, x)
    return f"linear {channels}", b.emit(nn.Linear(x.channels, channels),
                                        b.last(x))


@layer("tanh", kinds=(), often=0)
def tanh_end(b, x):
    return "tanh", b.emit(nn.Tanh(), x)


def window(b, x, kernels=(1, 2, 3, 5), strides=(1, 2, 3), dilate=True):
    """Kernel, stride and dilation for each axis."""
    kernel = [b.here(f"kernel{i}", [k for k in kernels if k <= size], 0.7)
              for i, size in enumerate(x.spatial)]
    stride = [b.here(f"stride{i}", strides, 0.4)
              for i in range(len(kernel))]
    spread = [b.here(f"dilate{i}", [d for d in (1, 2, 3) if
                                    d * (k - 1) < size], 0.3)
              if dilate and k > 1 else 1
              for i, (k, size) in enumerate(zip(kernel, x.spatial))]
    return kernel, stride, spread


def words_of(kernel, stride, spread, pad=""):
    text = f" {join(kernel)}"
    if any(s > 1 for s in stride):
        text += f" /{join(stride)}"
    if any(d > 1 for d in spread):
        text += f" dilate={join(spread)}"
    return text + pad


def pad_tf(size, kernel, stride, spread):
    """TensorFlow's SAME: before, after."""
    whole = max((-(-size // stride) - 1) * stride + spread * (kernel - 1) + 1
                - size, 0)
    return whole // 2, whole - whole // 2


def padding(b, x, kernel, stride, spread, kinds):
    """Its text, and before and after for each axis."""
    kind = b.here("pad", kinds, 0.6)
    if kind == "none":
        return "", [(0, 0)] * len(kernel)
    if kind == "pad":
        if any(s * (k - 1) % 2 for k, s in zip(kernel, spread)):
            raise Refused("uneven")
        both = [d * (k - 1) // 2 for k, d in zip(kernel, spread)]
        return " pad", [(p, p) for p in both]
    if kind == "tf":
        return " pad=tf", [pad_tf(*each) for each in
                           zip(x.spatial, kernel, stride, spread)]
    if kind == "sizes":
        both = [b.here(f"pad{i}", [1, 0, 2], 0.6) for i in range(len(kernel))]
        return f" pad={join(both)}", [(p, p) for p in both]
    sides = [(b.here(f"before{i}", [1, 0, 2], 0.6),
              b.here(f"after{i}", [0, 1, 2], 0.6))
             for i in range(len(kernel))]
    return " pad=" + "x".join(f"{p}:{q}" for p, q in sides), sides


def is_even(sides, pad="", stride=()):
    """Whether the layer pads itself; TensorFlow's is a tensor of its own
    where there is a stride: timm's pad_same."""
    apart = pad == " pad=tf" and any(
        s > 1 and any(side) for s, side in zip(stride, sides))
    return not apart and all(p == q for p, q in sides)


def padded(b, x, sides, value=0.0):
    flat = [p for side in reversed(sides) for p in side]
    return b.emit(lambda t: F.pad(t, flat, value=value), x)


def standardised(base, gain):
    """timm's ScaledStdConv2d in any number of axes: tools/small_truth.py"""
    class Made(base):
        def __init__(self, *args):
            super().__init__(*args)
            self.gain = nn.Parameter(torch.ones(len(self.weight))) \
                if gain else None
            self.scale = self.weight[0].numel() ** -0.5

        def forward(self, x):
            factor = None if self.gain is None else self.gain * self.scale
            weight = F.batch_norm(
                self.weight.reshape(1, self.out_channels, -1), None, None,
                weight=factor, training=True, momentum=0, eps=1e-6)
            del factor
            weight = weight.reshape_as(self.weight)
            return self._conv_forward(x, weight, self.bias)
    return Made


def computed_weights(b):
    """Whether weights are computed, and from what."""
    return b.here("weights", ["", "ws", "wnorm", "spectral", "ws gain"], 0.2)


def with_computed(b, module, kind):
    if kind == "wnorm":
        return nn.utils.weight_norm(module)
    if kind == "spectral":  # of its products none is counted
        weight = module.weight
        rows = weight.shape[isinstance(module, DECONV)]
        b.uncounted += weight.numel() + rows
        return nn.utils.spectral_norm(module)
    return module


def low_rank(b):
    """LoRA's words, and what they say: None, or rank, alpha, dropout, dora."""
    if not b.here("lora", [False, True], 2 * b.picks["lora"]):
        return "", None
    rank = b.here("rank", [1, 2, 3], 0.6)
    alpha = b.here("alpha", [None, 1, 4], 0.5)
    dropout = b.here("lora_dropout", [0, 0, 0.1], 0.5)
    dora = b.here("dora", [False, False, True], 0.5)
    text = f" lora={rank}"
    text += f" lora_alpha={alpha}" if alpha else ""
    text += f" lora_dropout={dropout}" if dropout else ""
    return text + (" dora" if dora else ""), (rank, alpha, dropout, dora)


def adapt(b, base, told, x):
    """y = W x + b + alpha / rank B(A(dropout(x))), step by step; with lengths
    of the outputs as one module, whose frames peft has, too."""
    rank, alpha, dropout, dora = told
    whole = Lora(base, rank, alpha, dropout, dora)
    if dora:
        product = whole.lora_B.weight.shape[0] * rank
        if isinstance(base, nn.Linear):
            b.uncounted += base.in_features * (
                base.in_features * rank + product)
        else:
            b.uncounted += product * whole.lora_A.weight[0].numel()
        return b.emit(whole, x, framed=True)
    scaling = whole.scaling
    y = b.emit(base, x)
    low = b.emit(whole.lora_dropout, x) if dropout else x
    low = b.emit(whole.lora_B, b.emit(whole.lora_A, low))
    low = b.emit(lambda t: t * scaling, low)
    return b.emit(lambda s, t: s + t, y, low)


@layer("conv", kinds=MAPS, often=4)
def conv(b, x):
    x = b.first(x)
    axes = places(x)
    kernel, stride, spread = window(b, x)
    pad, sides = padding(b, x, kernel, stride, spread,
                         ["none", "sizes", "pad", "sides", "tf"])
    groups = b.here("groups", [g for g in (1, 2, 3, 4)
                               if x.channels % g == 0], 0.3)
    channels = groups * b.here("channels", [1, 2, 3, 4], 0.8)
    bias = b.here("bias", [True, False], 0.6)
    text = f"conv {channels}{words_of(kernel, stride, spread, pad)}"
    text += f" groups={groups}" if groups > 1 else ""
    text += "" if bias else " nobias"
    weights = computed_weights(b)
    base = CONV[axes - 1]
    base = standardised(base, "gain" in weights) if "ws" in weights \
        else base
    even = is_even(sides, pad, stride)
    module = base(x.channels, channels, kernel, stride,
                  [p for p, _ in sides] if even else 0, spread, groups, bias)
    module = with_computed(b, module, weights)
    if not even:
        x = padded(b, x, sides)
    if not weights:
        lora, told = low_rank(b)
        if told:
            return text + lora, adapt(b, module, told, x)
    text += " " + weights if weights else ""
    return text + b.frozen(module), b.emit(module, x)


@layer("dwconv", kinds=MAPS)
def dwconv(b, x):
    x = b.first(x)
    axes = places(x)
    kernel, stride, spread = window(b, x, (3, 1, 2, 5), (1, 1, 2))
    pad, sides = padding(b, x, kernel, stride, spread,
                         ["none", "pad", "sizes", "sides"])
    mult = b.here("mult", [1, 2], 0.5)
    bias = b.here("bias", [True, False], 0.6)
    text = f"dwconv{words_of(kernel, stride, spread, pad)}"
    text += f" mult={mult}" if mult > 1 else ""
    text += "" if bias else " nobias"
    weights = computed_weights(b)
    base = CONV[axes - 1]
    base = standardised(base, "gain" in weights) if "ws" in weights \
        else base
    even = is_even(sides)
    module = base(x.channels, mult * x.channels, kernel, stride,
                  [p for p, _ in sides] if even else 0, spread, x.channels,
                  bias)
    module = with_computed(b, module, weights)
    if not even:
        x = padded(b, x, sides)
    text += " " + weights if weights else ""
    return text + b.frozen(module), b.emit(module, x)


@layer("deconv", kinds=MAPS)
def deconv(b, x):
    x = b.first(x)
    axes = places(x)
    kernel = [b.here(f"kernel{i}", [1, 2, 3, 4], 0.8) for i in range(axes)]
    stride = [b.here(f"stride{i}", [1, 2], 0.6) for i in range(axes)]
    spread = [b.here(f"dilate{i}", [1, 2], 0.2) if k > 1 else 1
              for i, k in enumerate(kernel)]
    more = [b.here(f"outpad{i}", range(max(s, d)), 0.3)
            for i, (s, d) in enumerate(zip(stride, spread))]
    pad, sides = padding(b, x, kernel, stride, spread,
                         ["none", "sizes", "sides"])
    groups = b.here("groups", [g for g in (1, 2) if x.channels % g == 0], 0.3)
    channels = groups * b.here("channels", [1, 2, 3, 4], 0.8)
    bias = b.here("bias", [True, False], 0.6)
    text = f"deconv {channels}{words_of(kernel, stride, spread, pad)}"
    text += f" outpad={join(more)}" if any(more) else ""
    text += f" groups={groups}" if groups > 1 else ""
    text += "" if bias else " nobias"
    even = is_even(sides)
    module = DECONV[axes - 1](
        x.channels, channels, kernel, stride,
        [p for p, _ in sides] if even else 0, more, groups, bias, spread)
    weights = b.here("weights", ["", "wnorm", "spectral"], 0.2)
    module = with_computed(b, module, weights)
    text += " " + weights if weights else ""
    text += b.frozen(module)
    y = b.emit(module, x)
    if even:
        return text, y
    # What is taken away differs from side to side: cut off, axis by axis.
    for i, (before, after) in enumerate(sides):
        length = y.spatial[i] - before - after
        if length < 1:
            raise Refused("nothing is left")
    cut = [slice(p, n - q) for (p, q), n in zip(sides, y.spatial)]
    return text, b.emit(lambda t: t[(..., *cut)], y)


@layer("local", kinds=MAPS)
def local(b, x):
    """Unfold and a product for each place: tools/small_truth.py"""
    x = b.first(x)
    if places(x) != 2:
        raise Refused("unfold is for pictures")
    kernel, stride, spread = window(b, x, (1, 2, 3), (1, 2))
    pad, sides = padding(b, x, kernel, stride, spread, ["none", "sizes"])
    pads = [p for p, _ in sides]
    channels = b.here("channels", [1, 2, 3], 0.8)
    bias = b.here("bias", [True, False], 0.6)
    out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, d, p in
           zip(x.spatial, kernel, stride, spread, pads)]
    if min(out) < 1:
        raise Refused("nothing is left")
    count = out[0] * out[1]
    holder = b.constant(count, x.channels * kernel[0] * kernel[1], channels)
    if bias:
        holder.bias = nn.Parameter(torch.rand(channels, count))
    text = f"local {channels}{words_of(kernel, stride, spread, pad)}"
    text += ("" if bias else " nobias") + b.frozen(holder)
    y = b.emit(lambda t: F.unfold(t, kernel, spread, pads, stride), x)
    y = b.emit(lambda t: torch.bmm(t.permute(2, 0, 1), holder.weight)
               .permute(1, 2, 0), y)
    if bias:
        y = b.emit(lambda t: t + holder.bias, y)
    return text, b.emit(lambda t: t.unflatten(2, out), y)


def pool_of(b, x, name):
    axes = places(x)
    kernel, stride, spread = window(b, x, (1, 2, 3), (1, 2, 3),
                                    name == "max")
    pad, sides = padding(b, x, kernel, stride, spread, ["none", "sizes"])
    pads = [p for p, _ in sides]
    if any(2 * p > k for p, k in zip(pads, kernel)):
        raise Refused("more than half of the window")
    ceil = b.here("ceil", [False, True], 0.5)
    text = words_of(kernel, [0] * axes, spread, pad)
    text = f" {join(kernel)} /{join(stride)}" + text[len(join(kernel)) + 1:]
    text += " ceil" if ceil else ""
    return axes, text, kernel, stride, pads, spread, ceil


@layer("pool", kinds=MAPS)
def pool(b, x):
    x = b.first(x)
    axes, text, kernel, stride, pads, spread, ceil = pool_of(b, x, "max")
    run = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    return "pool" + text, b.emit(
        lambda t: run(t, kernel, stride, pads, spread, ceil), x)


@layer("avgpool", kinds=MAPS)
def avgpool(b, x):
    x = b.first(x)
    axes, text, kernel, stride, pads, _, ceil = pool_of(b, x, "mean")
    run = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[axes - 1]
    return "avgpool" + text, b.emit(
        lambda t: run(t, kernel, stride, pads, ceil), x)


@layer("gap", "gmp", "adaptpool", "adaptmaxpool", kinds=MAPS)
def adaptive(b, x):
    x = b.first(x)
    axes = places(x)
    word = b.here("word", ["gap", "gmp", "adaptpool", "adaptmaxpool"], 1)
    size = [1] * axes
    text = word
    if word.startswith("adapt"):
        size = [b.here(f"size{i}", range(1, n + 1), 1)
                for i, n in enumerate(x.spatial)]
        text += " " + join(size)
    kind = (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d) \
        if word in ("gmp", "adaptmaxpool") else \
        (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)
    return text, b.emit(kind[axes - 1](size if axes > 1 else size[0]), x)


@layer("unpool", kinds=MAPS)
def unpool(b, x):
    """A pool, what stands between, and the values back in their places."""
    x = b.first(x)
    axes = places(x)
    kernel = b.here("kernel", [2, 3], 0.3)
    if min(x.spatial) < kernel:
        raise Refused("small")
    label = b.label()
    max_pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    back = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[axes - 1]
    values, indices = b.add(
        lambda t: max_pool(t, kernel, return_indices=True), [x], 2)
    y = b.value(values, True)
    at = b.value(indices, True)
    between, z = b.block("between", y, 1, lambda z: z.sizes == y.sizes)
    z = b.first(z)
    size = list(x.spatial)
    return f"{label}: pool {kernel} indices; {between}; unpool {label}", \
        b.emit(lambda t, i: back(t, i, kernel, output_size=size), z, at)


@layer("pad", kinds=MAPS)
def pad(b, x):
    x = b.first(x)
    axes = places(x)
    mode = b.here("mode", ["zeros", "reflect", "replicate", "circular"], 0.7)
    sides = [(b.here(f"before{i}", [1, 0, 2], 0.5),
              b.here(f"after{i}", [1, 0, 2], 0.5)) for i in range(axes)]
    if not any(map(any, sides)):
        raise Refused("no border")
    flat = [p for side in reversed(sides) for p in side]
    text = "pad " + "x".join(f"{p}:{q}" for p, q in sides)
    if mode == "zeros" and b.here("more", [False, True], 0.3):
        more = b.here("channels_before", [0, 1], 0.5), b.here(
            "channels_after", [2, 1], 0.5)
        flat += more
        text += f" c={more[0]}:{more[1]}"
    if mode == "zeros":
        return text, b.emit(lambda t: F.pad(t, flat), x)
    return f"{text} {mode}", b.emit(lambda t: F.pad(t, flat, mode), x)


@layer("crop", kinds=MAPS)
def crop(b, x):
    """Of the axes as they lie: codegen/torch/forms_shape.c"""
    places(x)
    size = [b.here(f"size{i}", range(n, 0, -1), 0.8)
            for i, n in enumerate(x.spatial)]
    if size == list(x.spatial):
        raise Refused("all of it")
    starts = [(n - s) // 2 for n, s in zip(x.spatial, size)]
    cut = [slice(a, a + s) for a, s in zip(starts, size)]
    cut = (..., *cut) if x.first else (slice(None), *cut)
    return f"crop {join(size)}", b.emit(lambda t: t[cut], x)


@layer("roll", kinds=MAPS)
def roll(b, x):
    axes = places(x)
    shift = [b.here(f"shift{i}", [1, -1, 2, 0], 0.5) for i in range(axes)]
    at = [x.axis(i) for i in range(axes)]
    return "roll " + " x ".join(map(str, shift)), b.emit(
        lambda t: torch.roll(t, shift, at), x)


@layer("shuffle", kinds=MAPS)
def shuffle(b, x):
    x = b.first(x)
    places(x)
    groups = b.here("groups", [g for g in (2, 3, 4) if x.channels % g == 0
                               and x.channels > g], 0.5)
    each, size = x.channels // groups, x.spatial
    y = b.emit(lambda t: t.reshape(len(t), groups, each, *size)
               .transpose(1, 2), x)
    return f"shuffle {groups}", b.emit(
        lambda t: t.reshape(len(t), groups * each, *size), y)


@layer("pixelshuffle", "space2depth", kinds=MAPS)
def shuffled(b, x):
    x = b.first(x)
    if places(x) != 2:
        raise Refused("PyTorch has it for pictures")
    if b.here("word", ["pixelshuffle", "space2depth"], 1) == "pixelshuffle":
        if x.channels % 4:
            raise Refused("channels")
        return "pixelshuffle 2", b.emit(nn.PixelShuffle(2), x)
    if any(n % 2 for n in x.spatial):
        raise Refused("sizes")
    return "space2depth 2", b.emit(nn.PixelUnshuffle(2), x)


@layer("unfold", kinds=MAPS)
def unfold(b, x):
    x = b.first(x)
    if places(x) != 2:
        raise Refused("PyTorch has it for pictures")
    kernel, stride, spread = window(b, x, (2, 1, 3), (1, 2))
    pad_text, sides = padding(b, x, kernel, stride, spread, ["none", "sizes"])
    pads = [p for p, _ in sides]
    out = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, d, p in
           zip(x.spatial, kernel, stride, spread, pads)]
    y = b.emit(lambda t: F.unfold(t, kernel, spread, pads, stride), x)
    return f"unfold{words_of(kernel, stride, spread, pad_text)}", b.emit(
        lambda t: t.unflatten(2, out), y)


@layer("up", kinds=MAPS)
def up(b, x):
    x = b.first(x)
    axes = places(x)
    mode = b.here("mode", ["nearest", "bilinear", "bicubic"], 0.8)
    if mode == "bicubic" and axes != 2:
        raise Refused("PyTorch has it for pictures")
    name = ("linear", "bilinear", "trilinear")[axes - 1] \
        if mode == "bilinear" else mode
    more = {} if mode == "nearest" else {"align_corners": False}
    if b.here("by", ["scale", "size"], 0.8) == "scale":
        scale = b.here("scale", [2, 3, 1.5, 0.5], 0.5)
        return f"up {scale} {mode}", b.emit(lambda t: F.interpolate(
            t, scale_factor=scale, mode=name, **more), x)
    size = [b.here(f"size{i}", range(n, n + 6), 0.9)
            for i, n in enumerate(x.spatial)]
    return f"up size={join(size)} {mode}", b.emit(
        lambda t: F.interpolate(t, size, mode=name, **more), x)


@layer("lrn", kinds=MAPS)
def lrn(b, x):
    x = b.first(x)
    axes = places(x)
    size = b.here("size", [3, 5, 2], 0.5)
    if axes == 2 and size % 2 and b.here("within", [False, True], 0.6):
        square = b.emit(lambda t: t.pow(2), x)
        y = b.emit(lambda t: F.avg_pool2d(t, size, 1, size // 2), square)
        y = b.emit(lambda t: t.mul(1e-4), y)
        y = b.emit(lambda t: t.add(1), y)
        y = b.emit(lambda t: t.pow(0.75), y)
        return f"lrn {size} within", b.emit(torch.div, x, y)
    return f"lrn {size}", b.emit(nn.LocalResponseNorm(size), x)
