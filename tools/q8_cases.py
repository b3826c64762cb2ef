#!/usr/bin/python3
"""What int8 must give, by NumPy: q8_cases.py MODELS FOLDER.

Writes cases.txt and cases.bin, operations of runtime/ops.def one by one, and
outputs.bin, what MLPerf Tiny's nets (MODELS/*.tflite) give for inputs by
chance. It reads TensorFlow Lite's files by itself and shares no code with netc.

    case q8conv stride      an operation
    numbers 1 2 1 0         its numbers
    in i8 1x5x5x3           its operands, whose values are in cases.bin;
    in i8 3x3x3x4 rows      rows: the values of the last axis lie apart
    out 1x2x2x4             int8, whose values follow

A sum is requantised in float32: float32(sum) * scale, to the nearest integer,
ties to even. That is what TensorFlow Lite computes with XNNPACK. Sums of two
tensors are XNNPACK's, in integers.
"""
import math
import os
import struct
import sys

import numpy as np

f32 = np.float32
LINES, DATA = [], []
state = 1


def bits():
    global state
    state = (state * 1664525 + 1013904223) & 0xffffffff
    return state >> 8


def bytes_of(*shape):
    values = [bits() >> 16 for _ in range(int(np.prod(shape)))]
    return np.array(values, np.uint8).astype(np.int8).reshape(shape)


def words_of(count, least, most):
    return np.array([least + bits() % (most - least) for _ in range(count)],
                    np.int32)


def scales_of(count, about):
    return np.array([about * (0.5 + bits() / 2**24) for _ in range(count)],
                    f32)


def rounded(total, scale, zero, low, high):
    product = np.asarray(total).astype(np.int32).astype(f32) * f32(scale)
    return np.clip(np.rint(product).astype(np.int64) + zero, low,
                   high).astype(np.int8)


# Operations; maps have any number of axes between the batch and the channels.

def windows(x, kernel, stride, dilation, before, out, outside):
    """Of each place of the output what a tap sees: taps first."""
    axes = len(kernel)
    taps = []
    for tap in np.ndindex(*kernel):
        places = [np.arange(out[a]) * stride[a] - before[a] +
                  tap[a] * dilation[a] for a in range(axes)]
        inside = np.ones(out, bool)
        for a in range(axes):
            ok = (places[a] >= 0) & (places[a] < x.shape[a + 1])
            inside &= ok.reshape([-1 if i == a else 1 for i in range(axes)])
        clipped = np.ix_(*[np.clip(places[a], 0, x.shape[a + 1] - 1)
                           for a in range(axes)])
        seen = x[(slice(None), *clipped)]
        taps.append(np.where(inside[..., None], seen, outside))
    return np.array(taps)


def conv(x, weight, scales, span, bias, groups, stride, dilation, before, out):
    zero, to, low, high = (int(v) for v in span)
    kernel = weight.shape[:-2]
    ins, outs = weight.shape[-2], weight.shape[-1] // groups
    taps = windows(x.astype(np.int64), kernel, stride, dilation, before, out,
                   zero) - zero
    flat = weight.astype(np.int64).reshape(-1, *weight.shape[-2:])
    total = np.zeros((x.shape[0], *out, weight.shape[-1]), np.int64)
    for g in range(groups):
        part = slice(g * outs, (g + 1) * outs)
        for tap, w in zip(taps, flat):
            total[..., part] += tap[..., g * ins:(g + 1) * ins] @ w[:, part]
    if bias is not None:
        total += bias
    return rounded(total, scales, to, low, high)


def add(a, b, words):
    za, zb, fa, fb, shift, zero, low, high = (int(v) for v in words)
    total = (a.astype(np.int64) - za) * fa + (b.astype(np.int64) - zb) * fb
    total = (total + (1 << (shift - 1))) >> shift
    return np.clip(total + zero, low, high).astype(np.int8)


def factors(a, b, out):
    """XNNPACK's: the larger factor has 21 bits."""
    a, b = f32(a) / f32(out), f32(b) / f32(out)
    shift = 20 - (math.frexp(max(a, b))[1] - 1)
    return [int(np.rint(float(v) * 2.0**shift)) for v in (a, b)] + [shift]


def mean(total, there, every, scale, span, windowed):
    zero, to, low, high = (int(v) for v in span)
    if windowed and zero == to and scale == 1:
        total = total + (every - there) * zero
        value = np.sign(total) * ((2 * np.abs(total) + every) // (2 * every))
        return np.clip(value, low, high).astype(np.int8)
    return rounded(total - there * zero, f32(scale) / f32(every), to, low, high)


def softmax(x, scale):
    z = (x.astype(np.float64) - x.max(-1, keepdims=True)) * scale
    e = np.exp(z)
    share = np.floor(e / e.sum(-1, keepdims=True) * 256 + 0.5)
    return np.clip(share - 128, -128, 127).astype(np.int8)


# Cases

def case(op, name, numbers, ins, out):
    global state
    LINES.append(f"case {op} {name}")
    if len(numbers):
        LINES.append("numbers " + " ".join(str(int(n)) for n in numbers))
    for value in ins:
        rows = isinstance(value, tuple)
        value = value[0] if rows else value
        kind = {"int8": "i8", "int32": "i32", "float32": "f32"}
        LINES.append(f"in {kind[value.dtype.name]} "
                     f"{'x'.join(map(str, value.shape))}"
                     f"{' rows' if rows else ''}")
        DATA.append(value.astype(value.dtype.newbyteorder("<")).tobytes())
    LINES.append(f"out {'x'.join(map(str, out.shape))}")
    DATA.append(out.tobytes())


def by_axis(*rows):
    return [n for axis in zip(*rows) for n in axis]


def one_conv(name, shape, kernel, outs, groups=1, stride=None, dilation=None,
             before=None, after=None, bias=True, span=(-5, 7, -128, 127)):
    axes, ones = len(kernel), [1] * len(kernel)
    stride, dilation = stride or ones, dilation or ones
    before, after = before or [0] * axes, after or before or [0] * axes
    x, ins = bytes_of(*shape), shape[-1] // groups
    weight = bytes_of(*kernel, ins, outs)
    terms = ins * int(np.prod(kernel))
    scales = scales_of(outs, 0.015 / math.sqrt(terms))
    out = [(shape[a + 1] + before[a] + after[a] - dilation[a] *
            (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(axes)]
    b = words_of(outs, -3000, 3000) if bias else None
    y = conv(x, weight, scales, span, b, groups, stride, dilation, before, out)
    operands = [x, weight if ins == 1 else (weight,), scales,
                np.array(span, np.int32)] + ([b] if bias else [])
    case("q8conv", name, [groups] + by_axis(stride, dilation, before),
         operands, y)


def convolutions():
    one_conv("point by point", (1, 4, 5, 6), (1, 1), 8)
    one_conv("odd numbers, batch", (3, 5, 3, 7), (1, 1), 13)
    one_conv("padding", (3, 4, 4, 3), (3, 3), 5, before=[1, 1])
    one_conv("uneven padding, stride", (1, 9, 8, 4), (3, 3), 6, stride=[2, 2],
             before=[0, 1], after=[1, 1])
    one_conv("dilation", (1, 9, 8, 4), (3, 3), 5, dilation=[2, 3],
             before=[2, 3])
    one_conv("groups", (1, 6, 5, 6), (3, 3), 15, groups=3, before=[1, 1])
    one_conv("no bias, limits", (1, 5, 5, 3), (3, 2), 4, bias=False,
             span=(-128, -128, -128, 20))
    one_conv("taps in the padding alone", (1, 2, 2, 3), (5, 5), 4,
             before=[4, 4])
    one_conv("one axis", (3, 17, 4), (5,), 9, stride=[2], before=[2])
    one_conv("three axes", (1, 4, 5, 3, 2), (2, 3, 2), 5, before=[1, 1, 0])
    one_conv("depthwise", (1, 6, 5, 13), (3, 3), 13, groups=13, before=[1, 1])
    one_conv("depthwise, stride, dilation", (3, 9, 7, 8), (3, 3), 8, groups=8,
             stride=[2, 1], dilation=[1, 2], before=[1, 2])
    one_conv("depthwise, two each", (1, 5, 5, 3), (3, 3), 6, groups=3,
             before=[1, 1])
    one_conv("one channel", (1, 6, 6, 1), (3, 3), 7, before=[1, 1])


def products():
    for name, shape, outs, bias in (("a vector", (1, 33), 10, True),
                                    ("rows", (3, 4, 18), 7, True),
                                    ("no bias", (1, 5), 4, False)):
        x, weight = bytes_of(*shape), bytes_of(shape[-1], outs)
        scales = scales_of(outs, 0.015 / math.sqrt(shape[-1]))
        span = np.array((9, -20, -128, 127), np.int32)
        b = words_of(outs, -3000, 3000) if bias else None
        total = (x.astype(np.int64) - 9) @ weight.astype(np.int64)
        total = total + b if bias else total
        case("q8linear", name, [], [x, (weight,), scales, span] +
             ([b] if bias else []), rounded(total, scales, -20, -128, 127))


def pools():
    for name, shape, kernel, stride, before, after in (
            ("windows", (1, 6, 6, 5), (2, 2), (2, 2), (0, 0), (0, 0)),
            ("padding", (3, 5, 4, 3), (3, 3), (2, 1), (1, 1), (1, 1)),
            ("one axis", (1, 9, 4), (3,), (2,), (1,), (1,))):
        axes, ones = len(kernel), [1] * len(kernel)
        x = bytes_of(*shape)
        out = [(shape[a + 1] + before[a] + after[a] - kernel[a]) // stride[a] +
               1 for a in range(axes)]
        numbers = by_axis(kernel, stride, ones, before, after)
        seen = windows(x.astype(np.int64), kernel, stride, ones, before, out,
                       -128)
        case("q8maxpool", name, numbers, [x], seen.max(0).astype(np.int8))
        total = windows(x.astype(np.int64), kernel, stride, ones, before, out,
                        0).sum(0)
        there = windows(np.ones_like(x, np.int64), kernel, stride, ones,
                        before, out, 0).sum(0)
        every = np.full_like(there, int(np.prod(kernel)))
        for counts in (0, 1):
            for scale, span in ((1, (4, 4, -128, 127)),
                                (0.7, (4, -9, -60, 127))):
                y = mean(total, there, every if counts else there, scale, span,
                         True)
                case("q8avgpool", f"{name}, {counts}, {scale}",
                     [counts] + numbers,
                     [x, np.array([scale], f32), np.array(span, np.int32)], y)
    for shape, out in ((1, 7, 5, 6), (1, 1)), ((3, 7, 5, 3), (3, 2)):
        x = bytes_of(*shape)
        total = np.zeros((shape[0], *out, shape[-1]), np.int64)
        most = np.zeros_like(total)
        count = np.zeros((1, *out, 1), np.int64)
        for at in np.ndindex(*out):
            cut = tuple(slice(at[a] * shape[a + 1] // out[a],
                              -(-(at[a] + 1) * shape[a + 1] // out[a]))
                        for a in range(2))
            part = x[(slice(None), *cut)].astype(np.int64)
            total[(slice(None), *at)] = part.sum((1, 2))
            most[(slice(None), *at)] = part.max((1, 2))
            count[(slice(None), *at)] = part.shape[1] * part.shape[2]
        span = (-3, 11, -128, 100)
        case("q8adaptavg", f"to {out}", [],
             [x, np.array([1.25], f32), np.array(span, np.int32)],
             mean(total, count, count, 1.25, span, False))
        case("q8adaptmax", f"to {out}", [], [x], most.astype(np.int8))


def values():
    for shape in (1, 4, 5, 3), (3, 21):
        x, y, table = bytes_of(*shape), bytes_of(*shape), bytes_of(256)
        case("q8table", "any", [], [x, table],
             table[x.astype(np.int64) + 128])
        for a, b, out in (0.02, 0.03, 0.04), (0.5, 0.01, 0.3):
            fa, fb, shift = factors(a, b, out)
            for sign in 1, -1:
                words = np.array([3, -7, fa, sign * fb, shift, 5, -100, 127],
                                 np.int32)
                case("q8add", f"{a} {b} {out} {sign}", [], [x, y, words],
                     add(x, y, words))
        words = np.array([-128, 12, -4, -128, 90], np.int32)
        total = (x.astype(np.int64) + 128) * (y.astype(np.int64) - 12)
        case("q8mul", "any", [], [x, y, np.array([0.004], f32), words],
             rounded(total, 0.004, -4, -128, 90))
        for scale in 0.0625, 1.5:
            powers = np.array([round(math.exp(-2**i * scale) * 2**32)
                               for i in range(8)], np.uint32)
            case("q8softmax", f"scale {scale}", [],
                 [x, powers.view(np.int32)], softmax(x, scale))
    for shape, before, after in ((1, 3, 4, 2), (1, 2), (0, 1)), \
                                ((3, 5, 3), (2,), (1,)):
        x = bytes_of(*shape)
        y = np.pad(x, [(0, 0), *zip(before, after), (0, 0)],
                   constant_values=-17)
        case("q8pad", f"{len(before)} axes", [0, *before],
             [x, np.array([-17], np.int32)], y)


def deconv(x, weight, scales, span, bias, groups, stride, dilation, before,
           after):
    """By spreading what each place of the input gives over the output."""
    zero, to, low, high = (int(v) for v in span)
    kernel, axes = weight.shape[:-2], weight.ndim - 2
    ins, outs = weight.shape[-2], weight.shape[-1] // groups
    full = [(x.shape[a + 1] - 1) * stride[a] + dilation[a] * (kernel[a] - 1) +
            1 for a in range(axes)]
    out = [full[a] - before[a] - after[a] for a in range(axes)]
    total = np.zeros((x.shape[0], *full, weight.shape[-1]), np.int64)
    wide = x.astype(np.int64) - zero
    for tap in np.ndindex(*kernel):
        for g in range(groups):
            part = slice(g * outs, (g + 1) * outs)
            place = tuple(slice(tap[a] * dilation[a],
                                tap[a] * dilation[a] + (x.shape[a + 1] - 1) *
                                stride[a] + 1, stride[a])
                          for a in range(axes))
            total[(slice(None), *place, part)] += \
                wide[..., g * ins:(g + 1) * ins] @ \
                weight[tap].astype(np.int64)[:, part]
    total = total[(slice(None), *(slice(before[a], before[a] + out[a])
                                  for a in range(axes)))]
    return rounded(total + (0 if bias is None else bias), scales, to, low,
                   high)


def deconvolutions():
    for name, shape, kernel, outs, groups, stride, dilation, before, after, \
            bias in (
                ("twice", (1, 4, 5, 6), (2, 2), 9, 1, (2, 2), (1, 1), (0, 0),
                 (0, 0), True),
                ("overlapping, cut", (3, 4, 3, 5), (3, 4), 4, 1, (2, 1),
                 (1, 1), (1, 2), (0, 1), True),
                ("dilation, no bias", (1, 4, 4, 3), (3, 3), 5, 1, (3, 2),
                 (2, 3), (1, 0), (2, 1), False),
                ("groups", (1, 3, 4, 6), (3, 3), 10, 2, (2, 2), (1, 1), (1, 1),
                 (1, 1), True),
                ("of its own each", (1, 3, 4, 5), (3, 3), 5, 5, (2, 2), (1, 1),
                 (1, 1), (0, 0), True),
                ("one axis", (3, 7, 4), (5,), 3, 1, (3,), (1,), (2,), (1,),
                 True),
                ("three axes", (1, 2, 3, 2, 3), (2, 3, 2), 4, 1, (2, 2, 1),
                 (1, 1, 1), (0, 1, 0), (1, 0, 0), True)):
        x, ins = bytes_of(*shape), shape[-1] // groups
        weight = bytes_of(*kernel, ins, outs)
        scales = scales_of(outs, 0.015 / math.sqrt(ins * np.prod(kernel)))
        span = np.array((-5, 7, -128, 120), np.int32)
        b = words_of(outs, -3000, 3000) if bias else None
        y = deconv(x, weight, scales, span, b, groups, stride, dilation,
                   before, after)
        case("q8deconv", name, [groups] + by_axis(stride, dilation, before),
             [x, weight if ins == 1 else (weight,), scales, span] +
             ([b] if bias else []), y)


def between(size, out, align):
    """TensorFlow Lite's places in 1/1024: lower one, upper one, part."""
    step = (1024 * size + out // 2) // out
    if align and out > 1:
        step = (1024 * (size - 1) + (out - 1) // 2) // (out - 1)
    for at in range(out):
        place = at * step if align else at * step + step // 2 - 512
        low = min(max(place // 1024 if place >= 0 else 0, 0), size - 1)
        high = min((place + 1023) // 1024 if place >= 0 else 0, size - 1)
        yield low, high, place - 1024 * low


def larger():
    for shape, out in ((1, 3, 4, 3), (6, 8)), ((3, 5, 4, 2), (7, 4)), \
                      ((1, 5, 3), (12,)), ((1, 2, 3, 2, 2), (4, 5, 6)):
        x, axes = bytes_of(*shape), len(out)
        at = np.ix_(*[np.arange(out[a]) * shape[a + 1] // out[a]
                      for a in range(axes)])
        case("q8up", f"nearest, {axes} axes", [0, 0], [x],
             x[(slice(None), *at)])
        for align in 0, 1:
            y = x.astype(np.int64)
            for a in range(axes):
                y = np.stack([np.take(y, low, a + 1) * (1024 - part) +
                              np.take(y, high, a + 1) * part
                              for low, high, part in
                              between(shape[a + 1], out[a], align)], a + 1)
            one = 1024 ** axes
            y = np.sign(y) * ((np.abs(y) + one // 2) // one)
            case("q8up", f"linear, {axes} axes, {align}", [1, align], [x],
                 y.astype(np.int8))


def slopes_and_sums():
    for shape in (1, 4, 5, 7), (3, 21):
        x, slope = bytes_of(*shape), bytes_of(shape[-1])
        scales = np.array([0.9, 0.007], f32)
        span = np.array((11, -4, -128, 127), np.int32)
        wide = x.astype(np.int64) - 11
        y = np.where(wide < 0, rounded(wide * slope, scales[1], -4, -128, 127),
                     rounded(wide, scales[0], -4, -128, 127))
        case("q8prelu", "by channel", [], [x, slope, scales, span], y)
    for shape, kept in ((1, 4, 5, 6), 2), ((3, 7, 5), 1), ((2, 9), 2), \
                       ((1, 3, 4, 5), 1):
        x = bytes_of(*shape)
        wide = x.astype(np.int64) + 17
        axes = tuple(range(kept, x.ndim))
        count = int(np.prod(shape[kept:]))
        for mode, scale, total in (
                (0, 0.06, wide.sum(axes)), (1, 1.2, wide.sum(axes)),
                (2, 1, wide.max(axes)), (3, 0.8, wide.min(axes))):
            by = f32(scale) / f32(count if mode == 1 else 1)
            span = np.array((-17, 9, -128, 110), np.int32)
            case("q8reduce", f"{mode} over {len(axes)} axes", [mode],
                 [x, np.array([scale], f32), span],
                 rounded(total, by, 9, -128, 110))


# TensorFlow Lite's files

class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.bytes = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, field):
        at = 4 + 2 * field
        far = struct.unpack_from("<H", self.data, self.fields + at)[0] \
            if at < self.bytes else 0
        return self.at + far if far else 0

    def number(self, field, kind="<i", usual=0):
        at = self.place(field)
        return struct.unpack_from(kind, self.data, at)[0] if at else usual

    def child(self, field):
        at = self.place(field)
        return Table(self.data, at + struct.unpack_from("<I", self.data, at)[0]
                     ) if at else None

    def vector(self, field, dtype):
        at = self.place(field)
        if not at:
            return np.zeros(0, dtype)
        at += struct.unpack_from("<I", self.data, at)[0]
        count = struct.unpack_from("<I", self.data, at)[0]
        return np.frombuffer(self.data, dtype, count, at + 4)

    def tables(self, field):
        at = self.place(field)
        at += struct.unpack_from("<I", self.data, at)[0]
        return [Table(self.data, at + 4 + 4 * i + far) for i, far in
                enumerate(self.vector(field, "<u4"))]


class Model:
    TYPES = {0: "<f4", 2: "<i4", 9: "<i1"}

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        model = Table(data, struct.unpack_from("<I", data)[0])
        codes = [max(c.number(0, "<b"), c.number(3)) for c in model.tables(1)]
        graph, buffers = model.tables(2)[0], model.tables(4)
        self.tensors = [self.tensor(t, buffers) for t in graph.tables(0)]
        self.ops = [(codes[o.number(0, "<I")], o.vector(1, "<i4"),
                     o.vector(2, "<i4"), o.child(4)) for o in graph.tables(3)]
        self.input = graph.vector(1, "<i4")[0]
        self.output = graph.vector(2, "<i4")[0]

    def tensor(self, table, buffers):
        steps = table.child(4)
        raw = buffers[table.number(2, "<I")].vector(0, "<u1").tobytes()
        kind = self.TYPES.get(table.number(1, "<b"), "<u1")
        shape = table.vector(0, "<i4")
        scale = steps.vector(2, "<f4").astype(np.float64) if steps else [0.]
        zero = steps.vector(3, "<i8") if steps else [0]
        data = np.frombuffer(raw, kind).reshape(shape) if raw else None
        return shape, scale, int(zero[0]) if len(zero) else 0, data

    def run(self, x):
        values = {self.input: x}
        for code, ins, outs, options in self.ops:
            shape = self.tensors[outs[0]][0]
            y = self.step(code, [values.get(i) for i in ins], ins, outs[0],
                          options)
            values[outs[0]] = y.reshape(x.shape[0], *shape[1:])
        return values[self.output]

    def step(self, code, given, ins, out, options):
        x = given[0]
        _, scale, zero, _ = self.tensors[ins[0]]
        shape, to_scale, to, _ = self.tensors[out]

        def span(field):
            low = to if options.number(field, "<b") == 1 else -128
            return zero, to, max(low, -128), 127
        if code in (3, 4, 9):  # CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED
            _, scales, _, w = self.tensors[ins[1]]
            bias = self.tensors[ins[2]][3]
            scales = (scale[0] * scales / to_scale[0]).astype(f32)
            if code == 9:
                x = x.reshape(x.shape[0], -1)
                return conv(x, w.T, scales, span(0), bias, 1, [], [], [], [])
            w = w.transpose(1, 2, 3, 0)
            groups = 1
            if code == 4:
                w, groups = w.reshape(*w.shape[:2], 1, -1), x.shape[-1]
            stride = options.number(2), options.number(1)
            before = [0, 0]
            if options.number(0, "<b") == 0:  # SAME
                before = [max((shape[a + 1] - 1) * stride[a] + w.shape[a] -
                              x.shape[a + 1], 0) // 2 for a in range(2)]
            return conv(x, w, scales, span(3 if code == 3 else 4), bias,
                        groups, stride, (1, 1), before, shape[1:3])
        if code == 0:  # ADD
            _, other, b, _ = self.tensors[ins[1]]
            words = [zero, b, *factors(scale[0], other[0], to_scale[0])]
            return add(x, given[1], words + list(span(0)[1:]))
        if code == 1:  # AVERAGE_POOL_2D, of a whole map
            count = x.shape[1] * x.shape[2]
            total = x.astype(np.int64).sum((1, 2))
            return mean(total, count, count, 1, (zero, zero, -128, 127), True)
        if code == 25:  # SOFTMAX
            return softmax(x, scale[0])
        assert code == 22, code  # RESHAPE
        return x


NETS = [("ad01_int8", (640,)), ("kws_ref_model", (49, 10, 1)),
        ("pretrainedResnet_quant", (32, 32, 3)), ("vww_96_int8", (96, 96, 3)),
        ("str_ww_ref_model", (30, 1, 40))]


def nets(models, folder):
    global state
    with open(f"{folder}/outputs.bin", "wb") as file:
        for name, shape in NETS:
            state = 1
            x = bytes_of(20, *shape)
            y = Model(f"{models}/{name}.tflite").run(x)
            file.write(y.astype(np.int8).tobytes())
            print(name, y.size)


def main():
    models, folder = sys.argv[1:]
    for make in (convolutions, products, pools, values, deconvolutions, larger,
                 slopes_and_sums):
        make()
    with open(f"{folder}/cases.txt", "w") as text:
        text.write("\n".join(LINES) + "\n")
    with open(f"{folder}/cases.bin", "wb") as binary:
        binary.write(b"".join(DATA))
    print(sum(line.startswith("case") for line in LINES), "cases,",
          os.path.getsize(f"{folder}/cases.bin"), "bytes")
    nets(models, folder)


if __name__ == "__main__":
    main()
