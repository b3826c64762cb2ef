"""Layers that read a map at places which are computed, or given as boxes."""
import torch
import torch.nn.functional as F
from torch import nn

from sequence_truth import DeformableAttention
from maps import CONV, MAPS, begin, is_even, padding, places, window, words_of
from net import Refused, head, join, layer
from values import fork

try:
    from torchvision import ops
except ImportError:
    ops = None  # then what it computes is not drawn, which the run says


def calm(places):
    """Kernels read and write anywhere if told so, as by what is no number."""
    places.data.nan_to_num_(0, 0, 0).clamp_(-9, 9)
    return places


@layer("gridsample", kinds=MAPS)
def gridsample(b, x):
    x = b.first(x)
    axes = places(x, 2)
    mode = b.here("mode", ["bilinear", "nearest", "bicubic"], 0.5)
    beyond = b.here("beyond", ["zeros", "border", "reflection"], 0.5)
    corners = b.here("corners", [False, True], 0.5)
    if mode == "bicubic" and axes == 3:
        raise Refused("PyTorch has it for pictures")
    label = b.label()
    text, y = b.block("where", x, 1, lambda y: len(y.sizes) == len(x.sizes))
    y = b.first(y)
    conv = CONV[axes - 1](y.channels, axes, 1)
    grid = b.last(b.emit(conv, y))
    words = "".join(f" {word}" for word, usual in (
        (mode, "bilinear"), (beyond, "zeros")) if word != usual)
    words += " corners" if corners else ""
    return (f"fork {{ {text}; {label}: conv {axes} 1 }}; gridsample {label}"
            f"{words}", b.emit(lambda t, g: F.grid_sample(
                t, calm(g), mode, beyond, corners), x, grid))


def maps_of(b, rows):
    """Sizes of maps that have so many rows together."""
    maps = []
    for i in range(b.here("maps", [1, 2, 3], 0.8) - 1):
        own = b.here(f"rows{i}", range(1, max(rows - 1, 2)), 1)
        maps.append(own)
        rows -= own
    if rows < 1:
        raise Refused("no rows")
    maps.append(rows)
    for i, own in enumerate(maps):
        height = b.here(f"height{i}", [h for h in range(1, own + 1)
                                       if own % h == 0], 0.7)
        maps[i] = height, own // height
    return maps


@layer("deformattn", kinds=("rows", "mixed"), often=2)
def deformattn(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    heads = b.here("heads", [h for h in (1, 2, 4) if x.channels % h == 0], 0.8)
    points = b.here("points", [4, 1, 2], 0.5)
    text, seen, more = "", x, ""
    if b.here("values", [False, True], 0.8):
        text, label, seen = fork(b, "seen", x, 2, lambda y: len(y.sizes) == 2)
        text, seen = text + "; ", b.last(seen)
        more = f" values={label}"
    maps = maps_of(b, seen.sizes[0])
    numbers = b.here("numbers", [2, 4], 0.5)
    each = b.here("each", [0, 1, len(maps)], 0.6)
    dense = nn.Linear(x.channels, numbers * max(each, 1))
    at = b.emit(torch.sigmoid, b.emit(dense, x))
    label = b.label()
    told = f"linear {dense.out_features} sigmoid"
    if each:
        sizes = x.sizes[0], each, numbers
        at = b.emit(lambda t: t.reshape(-1, *sizes), at)
        told += f"; reshape {join(sizes)}"
    if b.here("held", [False, True], 0.3):
        at = b.emit(lambda t: t.detach(), at)
        told += "; detach"
        b.stops = True
    module = DeformableAttention(x.channels, heads, maps, points,
                                 seen.channels, calm)
    text += (f"fork {{ {told}; {label}: identity }}; deformattn {heads} "
             + " ".join(join(size) for size in maps) + f" at={label}{more}")
    text += f" points={points}" if points != 4 else ""
    return text + b.frozen(module), b.emit(module, x, at, seen, framed=True)


if ops:
    @layer("deformconv", kinds=MAPS)
    def deformconv(b, x):
        x = b.first(x)
        if places(x, 2) != 2:
            raise Refused("torchvision has it for pictures")
        kernel, stride, spread = window(b, x, (1, 2, 3), (1, 2))
        pad, sides = padding(b, x, kernel, stride, spread,
                             ["none", "pad", "sizes"])
        if not is_even(sides):
            raise Refused("uneven")
        pads = [p for p, _ in sides]
        groups = b.here("groups", [g for g in (1, 2)
                                   if x.channels % g == 0], 0.3)
        parts = b.here("parts", [g for g in (1, 2)
                                 if x.channels % g == 0], 0.3)
        channels = groups * b.here("channels", [1, 2, 3], 0.8)
        bias = b.here("bias", [True, False], 0.5)
        words = words_of(kernel, stride, spread, pad)

        def where(count):
            conv = nn.Conv2d(x.channels, count, kernel, stride, pads, spread)
            return f"conv {count}{words}", b.emit(conv, x)
        count = kernel[0] * kernel[1] * parts
        offsets = b.label()
        told, moved = where(2 * count)
        text = f"fork {{ {offsets}: {told} }}; "
        ins, more = [x, moved], f" offsets={offsets}"
        if b.here("mask", [False, True], 0.8):
            mask = b.label()
            told, share = where(count)
            text += f"fork {{ {mask}: {told} sigmoid }}; "
            ins.append(b.emit(torch.sigmoid, share))
            more += f" mask={mask}"
        module = ops.DeformConv2d(x.channels, channels, kernel, stride, pads,
                                  spread, groups, bias)
        text += f"deformconv {channels}{words}{more}"
        text += f" groups={groups}" if groups > 1 else ""
        text += ("" if bias else " nobias") + b.frozen(module)
        b.own(module)
        return text, b.emit(lambda t, moved, *mask: module(
            t, calm(moved), *mask), *ins)

    @head("boxes")
    def boxed(b):
        sizes = [b.pick(f"size{i}", range(4, 12), 1) for i in range(2)]
        sizes.append(b.pick("channels", [2, 3, 4], 1))
        text, x = begin(b, tuple(sizes), True)
        count = b.pick("boxes", [1, 2, 5], 1)
        b.input((count, 4), False)
        text = text.replace("input ", "input m ").replace(
            "; ", f"; input b {count}x4; from m; ", 1)
        return text, x

    @layer("roialign", "roipool", kinds=("boxes",), often=8)
    def boxes(b, x):
        x = b.first(x)
        if places(x, 2) != 2:
            raise Refused("no picture")
        word = b.here("word", ["roialign", "roipool"], 1)
        size = [b.here(f"size{i}", [1, 2, 3], 0.8) for i in range(2)]
        text = f"{word} {join(size)} boxes=b scale=0.5"
        samples, aligned = 0, False
        if word == "roialign":
            samples = b.here("samples", [2, 1], 0.5)
            aligned = b.here("aligned", [False, True], 0.5)
            text += f" samples={samples}" + (" aligned" if aligned else "")
        at = type(x)(-2, b.live[-2].shape[1:], False)
        count = len(b.live[-2][0])

        def run(t, boxes):
            if word == "roipool":
                return ops.roi_pool(t, list(boxes), size, 0.5)
            return ops.roi_align(t, list(boxes), size, 0.5, samples, aligned)
        y = b.emit(run, x, at)
        values = x.channels * size[0] * size[1]
        return f"{text}; reshape {count} x {values}", b.emit(
            lambda t: t.reshape(-1, count, values), y, first=False)
