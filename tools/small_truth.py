#!/usr/bin/python3
"""Writes tests/data/small.csv: small layers as PyTorch runs them.

Each row has a net in the language, a batch, and what PyTorch 1.13 did on a
CPU: the parameters, the multiply-accumulates of convolutions and products for
one sample, the bytes that autograd keeps (each storage once, without
parameters, buffers and inputs), and the most that the allocator held at once in
forward and backward, the loss being the sum of the output. Run by hand:
tools/small_truth.py >tests/data/small.csv
"""
import sys

import torch
import torchvision
import torch.nn.functional as F
from torch import nn

from alive import Products, allocations, key_of, saved_by
from sequence_truth import DeformableAttention

torch.manual_seed(1)
ONLY = sys.argv[1:]


def peak_bytes(module, inputs):
    """What the allocator had at most, above what it had before."""
    for parameter in module.parameters():
        parameter.grad = None
    with allocations() as most:
        out = module(*inputs)
        out.sum().backward()
        del out
    return most[0]


def case(net, module, *shapes, batches=(1, 3)):
    """`shapes`: of the inputs, without the batch, as `module` takes them."""
    if ONLY and not any(word in net for word in ONLY):
        return
    for batch in batches:
        inputs = [torch.rand(batch, *shape) + 0.1 for shape in shapes]
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.abs_()
        module(*inputs).sum().backward()  # what is made once
        outside = {key_of(t) for t in
                   [*module.parameters(), *module.buffers(), *inputs]}
        with Products(("mv", "dot")) as products, torch.no_grad():
            module(*inputs)
        print(f'"{net}",{batch},'
              f'{sum(p.numel() for p in module.parameters())},'
              f'{products.macs // batch},'
              f'{saved_by(lambda: module(*inputs), outside)},'
              f'{peak_bytes(module, inputs)}')


class Then(nn.Module):
    """A layer, and functions of what it gives; gradients reach both."""

    def __init__(self, first, function, *more):
        super().__init__()
        self.first, self.function = first, function
        self.more = nn.ModuleList(more)

    def forward(self, *x):
        return self.function(self.first(*x), *self.more)


def vector(net, function, *more, width=8):
    """On a sequence of 6 vectors, behind a dense layer."""
    case(f"input 6x8; linear {width}; {net}",
         Then(nn.Linear(8, width), function, *more), (6, 8))


def map_of(net, function, *more, channels=8):
    """On a map of 6x5, behind a convolution of 1x1."""
    case(f"input 6x5x4; conv {channels} 1x1; {net}",
         Then(nn.Conv2d(4, channels, 1), function, *more), (4, 6, 5))


def arithmetic():
    vector("mul 0.17", lambda x: x * 0.17)
    vector("div 2", lambda x: x / 2)
    vector("add 1", lambda x: x + 1)
    vector("sub 1", lambda x: x - 1)
    vector("max 0.5", lambda x: x.clamp(min=0.5))
    vector("min 0.5", lambda x: x.clamp(max=0.5))
    vector("sqrt", torch.sqrt)
    vector("exp", torch.exp)
    vector("log", torch.log)
    vector("abs", torch.abs)
    vector("neg", torch.neg)
    vector("pow 3", lambda x: x.pow(3))
    vector("mul 0.17; linear 4", lambda x, f: f(x * 0.17), nn.Linear(8, 4))
    vector("add 1; linear 4", lambda x, f: f(x + 1), nn.Linear(8, 4))
    vector("exp; linear 4", lambda x, f: f(x.exp()), nn.Linear(8, 4))
    vector("div { linear 8 } {}", lambda x, f: f(x) / x, nn.Linear(8, 8))
    vector("min { linear 8 } {}", lambda x, f: torch.minimum(f(x), x),
           nn.Linear(8, 8))
    vector("div { sum c keep } {}; linear 4",
           lambda x, f: f(x.sum(-1, True) / x), nn.Linear(8, 4))
    for word, f in ("mean", torch.mean), ("sum", torch.sum):
        vector(f"{word} l", lambda x: f(x, 1))
        vector(f"{word} c; fc 3", lambda x, g: g(f(x, 2)), nn.Linear(6, 3))
        map_of(f"{word} h w", lambda x: f(x, (2, 3)))
        map_of(f"{word} c keep; conv 2 3x3",
               lambda x, g: g(f(x, 1, True)), nn.Conv2d(1, 2, 3))
    for word, one, several in (("max", torch.max, torch.amax),
                               ("min", torch.min, torch.amin)):
        vector(f"{word} l", lambda x: one(x, 1)[0])
        map_of(f"{word} c keep; conv 2 3x3",
               lambda x, g: g(one(x, 1, True)[0]), nn.Conv2d(1, 2, 3))
        map_of(f"{word} h w; fc 3",
               lambda x, g: g(several(x, (2, 3))), nn.Linear(8, 3))


class Vectors(nn.Module):
    """A factor and a term for each channel of a map."""

    def __init__(self, channels, function):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels, 1, 1))
        self.bias = nn.Parameter(torch.zeros(channels, 1, 1))
        self.function = function

    def forward(self, x):
        return self.function(x, self.weight, self.bias)


def channels():
    vector("glu", lambda x: F.glu(x, -1))
    vector("gelu approximate=tanh; linear 3", lambda x, f: f(
        F.gelu(x, approximate="tanh")), nn.Linear(8, 3))
    vector("glu; linear 3", lambda x, f: f(F.glu(x, -1)), nn.Linear(4, 3))
    vector("l2norm", lambda x: F.normalize(x, dim=-1))
    vector("l2norm; linear 3", lambda x, f: f(F.normalize(x, dim=-1)),
           nn.Linear(8, 3))
    map_of("l2norm", lambda x: F.normalize(x, dim=1))
    map_of("lrn 5", lambda x: F.local_response_norm(x, 5))
    # resmlp's Affine, Caffe's Scale
    map_of("affine; conv 2 3x3", lambda x, a, f: f(a(x)),
           Vectors(8, lambda x, w, b: torch.addcmul(b, w, x)),
           nn.Conv2d(8, 2, 3))
    map_of("scale bias; conv 2 3x3", lambda x, a, f: f(a(x)),
           Vectors(8, lambda x, w, b: x * w + b), nn.Conv2d(8, 2, 3))


def gated(x):
    a, b = x.chunk(2, -1)
    return a * b.sigmoid()


def c2f(x, f, g):
    """ultralytics' C2f, whose first half is convolved here"""
    y = x.chunk(2, 1)
    return g(torch.cat([*y, f(y[0])], 1))


def parts():
    vector("p: split c 2; mul p[1] p[2]",
           lambda x: torch.mul(*x.chunk(2, -1)))
    vector("p: split c 2; add p[1] p[2]; linear 3",
           lambda x, f: f(torch.add(*x.chunk(2, -1))), nn.Linear(4, 3))
    vector("p: split c 2; mul { from p[2]; sigmoid } p[1]; linear 3",
           lambda x, f: f(gated(x)), nn.Linear(4, 3))
    vector("p: split l 2; mul p[1] p[2]; linear 3",
           lambda x, f: f(torch.mul(*x.chunk(2, 1))), nn.Linear(8, 3))
    vector("p: split c 2 5 1; from p[2]; relu; linear 3",
           lambda x, f: f(F.relu(x.split((2, 5, 1), -1)[1])), nn.Linear(5, 3))
    map_of("p: split c 2; conv 4 3x3 pad; concat p[1] p[2] {}; conv 8 1x1",
           c2f, nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(12, 8, 1))


class Standardised(nn.Conv2d):
    """timm's ScaledStdConv2d without its gain: timm/layers/std_conv.py"""

    def forward(self, x):
        weight = F.batch_norm(
            self.weight.reshape(1, self.out_channels, -1), None, None,
            training=True, momentum=0, eps=1e-6).reshape_as(self.weight)
        return F.conv2d(x, weight, self.bias, self.stride, self.padding,
                        self.dilation, self.groups)


def pad_same(x, kernel, stride):
    """TensorFlow's SAME as timm's Conv2dSame has it."""
    pads = []
    for size in reversed(x.shape[2:]):
        all = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        pads += [all // 2, all - all // 2]
    return F.pad(x, pads) if any(pads) else x


def weights():
    for text, more in ("", {}), (" nobias", {"bias": False}), \
                      (" groups=2", {"groups": 2}):
        map_of(f"conv 6 3x3 ws{text}", lambda x, f: f(x),
               Standardised(8, 6, 3, **more))
        map_of(f"conv 6 3x3 wnorm{text}", lambda x, f: f(x),
               nn.utils.weight_norm(nn.Conv2d(8, 6, 3, **more)))
        map_of(f"conv 6 3x3 spectral{text}", lambda x, f: f(x),
               nn.utils.spectral_norm(nn.Conv2d(8, 6, 3, **more)))
    map_of("dwconv 3x3 ws", lambda x, f: f(x), Standardised(8, 8, 3, groups=8))
    vector("linear 5 wnorm", lambda x, f: f(x),
           nn.utils.weight_norm(nn.Linear(8, 5)))
    vector("linear 5 spectral nobias", lambda x, f: f(x),
           nn.utils.spectral_norm(nn.Linear(8, 5, bias=False)))
    case("input 8; fc 5 wnorm; relu; fc 3",
         Then(nn.utils.weight_norm(nn.Linear(8, 5)), lambda x, f: f(F.relu(x)),
              nn.Linear(5, 3)), (8,))


def sizes():
    for size in 12, 13:
        for kernel, stride in (3, 2), (5, 2), (2, 3), (3, 1):
            case(f"input {size}x{size}x4; conv 4 1x1; conv 6 {kernel} /{stride}"
                 " pad=tf",
                 Then(nn.Conv2d(4, 4, 1),
                      lambda x, f: f(pad_same(x, kernel, stride))
                      if stride > 1 else F.conv2d(x, f.weight, f.bias,
                                                  padding=kernel // 2),
                      nn.Conv2d(4, 6, kernel, stride)), (4, size, size))
    map_of("pad 0 c=0:4; conv 3 1x1",
           lambda x, f: f(F.pad(x, (0, 0, 0, 0, 0, 4))), nn.Conv2d(12, 3, 1))
    map_of("up size=9x11; conv 3 1x1",
           lambda x, f: f(F.interpolate(x, (9, 11))), nn.Conv2d(8, 3, 1))
    map_of("up 1.5 bilinear; conv 3 1x1", lambda x, f: f(F.interpolate(
        x, scale_factor=1.5, mode="bilinear")), nn.Conv2d(8, 3, 1))
    map_of("up 0.5; conv 3 1x1",
           lambda x, f: f(F.interpolate(x, scale_factor=0.5)),
           nn.Conv2d(8, 3, 1))


class Local(nn.Module):
    """Unfold and a product for each position."""

    def __init__(self, channels, out, positions, kernel, bias=True):
        super().__init__()
        self.kernel, self.out = kernel, out
        self.weight = nn.Parameter(torch.rand(
            positions, channels * kernel ** 2, out))
        self.bias = nn.Parameter(torch.rand(out, positions)) if bias else None

    def forward(self, x):
        size = [s - self.kernel + 1 for s in x.shape[2:]]
        y = torch.bmm(F.unfold(x, self.kernel).permute(2, 0, 1), self.weight)
        y = y.permute(1, 2, 0)
        if self.bias is not None:
            y = y + self.bias
        return y.unflatten(2, size)


def there_and_back(x, f=lambda y: y):
    y, places = F.max_pool2d(x, 2, return_indices=True)
    return F.max_unpool2d(f(y), places, 2, output_size=x.shape[2:])


def patches():
    map_of("unfold 3 pad=1", lambda x: F.unfold(x, 3, padding=1))
    map_of("unfold 2x3 /2", lambda x: F.unfold(x, (2, 3), stride=2))
    map_of("local 4 3", lambda x, f: f(x), Local(8, 4, 12, 3))
    map_of("local 4 3 nobias", lambda x, f: f(x), Local(8, 4, 12, 3, False))
    map_of("p: pool 2 indices; unpool p; conv 3 1x1",
           lambda x, f: f(there_and_back(x)), nn.Conv2d(8, 3, 1))
    map_of("p: pool 2 indices; exp; unpool p",
           lambda x: there_and_back(x, torch.exp))
    case("input 6x6x4; p: pool 2 indices; conv 4 1x1; unpool p",
         Then(nn.Identity(), there_and_back, nn.Conv2d(4, 4, 1)), (4, 6, 6))
    map_of("lrn 3 within", lambda x: x / F.avg_pool2d(
        x.pow(2), 3, 1, 1).mul(1e-4).add(1).pow(0.75))


def boxes():
    for word, f in ("roialign 3x2 samples=2", lambda x, b: torchvision.ops.
                    roi_align(x, b, (3, 2), 0.5, 2)), \
                   ("roipool 3x2", lambda x, b: torchvision.ops.
                    roi_pool(x, b, (3, 2), 0.5)):
        case(f"input m 6x5x4; input b 7x4; from m; conv 8 1x1; {word} boxes=b "
             "scale=0.5; reshape 7x48; linear 3",
             Boxes(f), (4, 6, 5), (7, 4))


class Boxes(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(4, 8, 1), nn.Linear(48, 3)
        self.pool = pool

    def forward(self, x, b):
        return self.linear(self.pool(self.conv(x), list(b)).flatten(1))


def rows_last(x):
    return x.permute(0, 2, 3, 1)


class Sampled(nn.Module):
    """A map, and where a convolution says that it is read."""

    def __init__(self, **options):
        super().__init__()
        self.where, self.conv = nn.Conv2d(4, 2, 1), nn.Conv2d(4, 8, 1)
        self.last, self.options = nn.Conv2d(8, 1, 1), options

    def forward(self, x, g=None):
        g = rows_last(self.where(x)) if g is None else g
        y = F.grid_sample(self.conv(x), g, align_corners=False,
                          **self.options)
        return self.last(y)


class SampledByHeads(nn.Module):
    """Rows as a map with heads, each read elsewhere: Deformable DETR's
    ms_deform_attn_core_pytorch() of one level"""

    def __init__(self):
        super().__init__()
        self.where, self.rows = nn.Linear(4, 12), nn.Linear(4, 8)
        self.counts, self.last = nn.Linear(4, 6), nn.Linear(8, 1)

    def forward(self, x):
        n = len(x)
        g = self.where(x).view(n, 30, 2, 3, 2).transpose(1, 2).flatten(0, 1)
        y = self.rows(x).transpose(1, 2).reshape(n * 2, 4, 6, 5)
        w = self.counts(x).view(n, 30, 2, 3).softmax(-1)
        w = w.transpose(1, 2).reshape(n * 2, 1, 30, 3)
        y = F.grid_sample(y, g, align_corners=False) * w
        return self.last(y.sum(-1).view(n, 8, 30).transpose(1, 2)
                         .contiguous())


class Attending(nn.Module):
    """Deformable attention of what dense layers make, and one after it."""

    def __init__(self, numbers, maps, own=False, seen=6, heads=2, points=4):
        super().__init__()
        self.x = nn.Linear(4, 8)
        self.at = nn.Linear(4, numbers) if numbers else None
        self.seen = None if own else nn.Linear(4, seen)
        self.attend = DeformableAttention(8, heads, maps, points,
                                          8 if own else seen)
        self.last, self.maps = nn.Linear(8, 1), len(maps)

    def forward(self, x, memory=None, at=None):
        y = self.x(x)
        if self.at:
            at = self.at(x).sigmoid()
            if at.shape[-1] not in (2, 4):
                at = at.view(*at.shape[:2], self.maps, -1)
        seen = self.seen(memory) if self.seen else y
        return self.last(self.attend(y, at, seen))


class Own(Attending):
    """Places are an input, and values its own."""

    def __init__(self, maps, points=4):
        super().__init__(0, maps, True, heads=4, points=points)

    def forward(self, x, at):
        return super().forward(x, None, at)


class Deformed(nn.Module):
    """torchvision.ops.DeformConv2d with the layers that say where it reads"""

    def __init__(self, parts=1, mask=False, **options):
        super().__init__()
        stride = options.get("stride", 1)
        self.conv = nn.Conv2d(4, 8, 1)
        self.where = nn.Conv2d(4, 18 * parts, 3, stride, 1)
        if mask:
            self.counts = nn.Conv2d(4, 9 * parts, 3, stride, 1)
        self.deform = torchvision.ops.DeformConv2d(8, 6, 3, padding=1,
                                                   **options)
        self.last, self.mask = nn.Conv2d(6, 3, 1), mask

    def forward(self, x):
        where = self.where(x)
        mask = self.counts(x).sigmoid() if self.mask else None
        return self.last(self.deform(self.conv(x), where, mask))


def sampling():
    for words, options in ("", {}), (" nearest border", {
            "mode": "nearest", "padding_mode": "border"}), (
                " bicubic reflection", {"mode": "bicubic",
                                        "padding_mode": "reflection"}):
        case("input 6x5x4; fork { g: conv 2 1x1 }; conv 8 1x1; "
             f"gridsample g{words}; conv 1 1x1", Sampled(**options),
             (4, 6, 5))
    unused = Sampled()
    del unused.where
    case("input m 6x5x4; input g 3x7x2; from m; conv 8 1x1; gridsample g; "
         "conv 1 1x1", unused, (4, 6, 5), (3, 7, 2))
    case("input 30x4; fork { linear 12; reshape 30x2x3x2; "
         "g: permute 1 0 2 3 }; fork { linear 6; reshape 30x2x3; softmax; "
         "permute 1 0 2; reshape 180; reshape 2x30x3x1; w: permute 1 2 0 3 }; "
         "linear 8; reshape 6x5x8; "
         "gridsample g; reshape 30x3x2x4; mul w; sum h; reshape 30x8; "
         "linear 1", SampledByHeads(), (30, 4), batches=(3,))
    maps, head = [(4, 5), (2, 3), (2, 2)], "input x 7x4; input m 30x4; "
    for numbers, shape in (2, ""), (4, ""), (6, "; reshape 7x3x2"), \
                          (12, "; reshape 7x3x4"):
        case(f"{head}from m; seen: linear 6; from x; fork {{ linear {numbers} "
             f"sigmoid{shape}; at: identity }}; linear 8; deformattn 2 4x5 "
             "2x3 2 at=at values=seen; linear 1", Attending(numbers, maps),
             (7, 4), (30, 4))
    for words, options in ("4x5 2x3 2", {}), ("4x5 2x3 2 points=1", {
            "points": 1}), ("5x6", {"maps": [(5, 6)]}):
        options = {"maps": maps, **options}
        case("input x 30x4; input at 30x2; from x; linear 8; deformattn 4 "
             f"{words} at=at; linear 1", Own(**options), (30, 4), (30, 2))
    case("input x 1x4; input m 30x4; from m; seen: linear 6; from x; fork { "
         "linear 4 sigmoid; at: identity }; linear 8; deformattn 1 4x5 2x3 2 "
         "at=at values=seen; linear 1", Attending(4, maps, heads=1), (1, 4),
         (30, 4))
    for words, options in ("", {}), (" nobias", {"bias": False}), \
                          (" groups=2", {"groups": 2, "parts": 2}), \
                          (" /2", {"stride": 2}):
        stride, parts = options.get("stride", 1), options.get("parts", 1)
        for mask in False, True:
            forks = f"fork {{ o: conv {18 * parts} 3x3 /{stride} pad }}; "
            if mask:
                forks += f"fork {{ m: conv {9 * parts} 3x3 /{stride} pad " \
                         "sigmoid }; "
            case(f"input 6x5x4; {forks}conv 8 1x1; deformconv 6 3x3{words} "
                 f"pad offsets=o{' mask=m' * mask}; conv 3 1x1",
                 Deformed(mask=mask, **options), (4, 6, 5))


def best_rows(x, count, score):
    return x.gather(1, score(x).topk(count, 1)[1][..., None].repeat(
        1, 1, x.shape[-1]))


def best():
    linear = nn.Linear
    vector("topk 3 l; linear 4", lambda x, f: f(x.topk(3, 1)[0]),
           linear(8, 4))
    vector("topk 2 smallest", lambda x: x.topk(2, -1, False)[0])
    map_of("topk 3 c; conv 2 3x3", lambda x, f: f(x.topk(3, 1)[0]),
           nn.Conv2d(3, 2, 3))
    vector("fork { max c; best: topk 3 indices }; gather best; linear 4",
           lambda x, f: f(best_rows(x, 3, lambda t: t.max(-1)[0])),
           linear(8, 4))
    vector("fork { linear 1; reshape 6; best: topk 5 indices }; gather best; "
           "linear 4", lambda x, f, g: g(best_rows(
               x, 5, lambda t: f(t).squeeze(2))), linear(8, 1), linear(8, 4))
    vector("detach; linear 4", lambda x, f: f(x.detach()), linear(8, 4))
    vector("add { linear 64 gelu; linear 8; detach } {}; linear 4",
           lambda x, f, g, h: h(g(F.gelu(f(x))).detach() + x),
           linear(8, 64), linear(64, 8), linear(8, 4))
    vector("mul { linear 64 gelu; linear 8; detach } {}; linear 4",
           lambda x, f, g, h: h(g(F.gelu(f(x))).detach() * x),
           linear(8, 64), linear(64, 8), linear(8, 4))
    case("input 8; a: linear 32 gelu; b: linear 8; detach; linear 32 gelu; "
         "again b; linear 4", Detached(), (8,))


class Detached(nn.Module):
    """A layer that is used before and after what is detached"""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (
            nn.Linear(*n) for n in ((8, 32), (32, 8), (8, 32), (8, 4)))

    def forward(self, x):
        x = self.b(F.gelu(self.a(x))).detach()
        return self.d(self.b(F.gelu(self.c(x))))


arithmetic()
channels()
parts()
weights()
sizes()
patches()
boxes()
sampling()
best()
