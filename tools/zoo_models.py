#!/usr/bin/python3
"""What PyTorch makes of newer nets of examples/zoo/, for tests/data/zoo.csv.

    zoo_models.py [NAME...]     prints a row for each, as this PyTorch runs it

Each model is written as compactly as its net, after the program that the row
names. Counted are parameters, multiply-adds of all convolutions and matrix
products, those that functions run as well, and the bytes that autograd keeps
at batch 1 and 3, each storage once, without parameters, buffers and inputs. Of
the smaller ones the peaks are measured, too: of forward and backward of the sum
of the outputs (peak), and of a prediction (predict).
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

from alive import Products, VERSION, key_of, measure, prediction, saved_by
from sequence_truth import bucket
from zoo_detectors import MODELS as DETECTORS


def macs_of(model, inputs):
    with torch.no_grad(), Products() as products:
        model.eval()(*inputs)
    return products.macs


def saved_of(model, inputs):
    outside = {key_of(t) for t in [*model.parameters(), *model.buffers(),
                                   *inputs]}
    return saved_by(lambda: model.train()(*inputs), outside)


# Parts that several models share.

def mlp(width, hidden, act=nn.GELU):
    return nn.Sequential(nn.Linear(width, hidden), act(),
                         nn.Linear(hidden, width))


class Attention(nn.Module):
    """As `attention`: its projections apart, or packed in one matrix."""

    def __init__(self, width, heads, packed=False, bias="qkvo", causal=False,
                 memory=None):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width) if packed else None
        for name in "o" if packed else "qkvo":
            given = memory if memory and name in "kv" else width
            setattr(self, name, nn.Linear(given, width, name in bias))

    def parts(self, x, memory):
        if self.qkv:
            return self.qkv(x).chunk(3, -1)
        return self.q(x), self.k(memory), self.v(memory)

    def forward(self, x, memory=None):
        q, k, v = (y.unflatten(2, (self.heads, -1)).transpose(1, 2) for y in
                   self.parts(x, x if memory is None else memory))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if self.causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -math.inf)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.gamma


# Models

class Dit(nn.Module):
    """facebookresearch/DiT models.py"""

    def __init__(self, layers, width, heads):
        super().__init__()
        self.table = nn.Embedding(1001, width)
        self.step = nn.Sequential(nn.Linear(256, width), nn.SiLU(),
                                  nn.Linear(width, width))
        self.first = nn.Conv2d(4, width, 2, 2)
        self.register_buffer("places", torch.zeros(256, width))
        self.ada = nn.ModuleList(
            nn.Sequential(nn.SiLU(), nn.Linear(width, n * width))
            for n in [6] * layers + [2])
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.attends = nn.ModuleList(Attention(width, heads, packed=True)
                                     for _ in range(layers))
        self.feeds = nn.ModuleList(mlp(width, 4 * width)
                                   for _ in range(layers))
        self.last = nn.Linear(width, 32)

    def modulate(self, x, shift, scale):
        return self.norm(x) * (1 + scale[:, None]) + shift[:, None]

    def forward(self, latent, step, label):
        given = self.step(step) + self.table(label)[:, 0]
        x = self.first(latent).flatten(2).transpose(1, 2) + self.places
        for ada, attend, feed in zip(self.ada, self.attends, self.feeds):
            a, b, c, d, e, f = ada(given).chunk(6, 1)
            x = x + c[:, None] * attend(self.modulate(x, a, b))
            x = x + f[:, None] * feed(self.modulate(x, d, e))
        return self.last(self.modulate(x, *self.ada[-1](given).chunk(2, 1)))


class Stream(nn.Module):
    """One of the two of a joint block: sd3-ref's DismantledBlock"""

    def __init__(self, width, parts=6, norm=None):
        super().__init__()
        self.ada, self.parts = nn.Linear(width, parts * width), parts
        self.qkv = nn.Linear(width, 3 * width)
        self.norm = norm and nn.ModuleList(norm() for _ in "qk")
        if parts > 2:
            self.proj = nn.Linear(width, width)
            self.fc1 = nn.Linear(width, 4 * width)
            self.fc2 = nn.Linear(4 * width, width)

    def begin(self, x, shared, heads):
        m = self.ada(F.silu(shared)).chunk(self.parts, -1)
        b, t, c = x.shape
        qkv = self.qkv(shifted(x, m[0], m[1])).view(b, t, 3, heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        if self.norm:
            q, k = self.norm[0](q), self.norm[1](k)
        return (q, k, v), m

    def end(self, x, seen, m):
        x = x + self.proj(seen) * m[2][:, None]
        y = F.gelu(self.fc1(shifted(x, m[3], m[4])), approximate="tanh")
        return x + self.fc2(y) * m[5][:, None]


def shifted(x, shift, scale):
    y = F.layer_norm(x, x.shape[-1:])
    return y * (scale + 1)[:, None] + shift[:, None]


def weighed(q, k, v):
    scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Joint(nn.Module):
    def __init__(self, heads, width, last=False, norm=None):
        super().__init__()
        self.heads = heads
        self.x = Stream(width, norm=norm)
        self.c = Stream(width, 2 if last else 6, norm)

    def forward(self, x, c, shared, turn=lambda y: y):
        own, m = self.x.begin(x, shared, self.heads)
        other, n = self.c.begin(c, shared, self.heads)
        q, k, v = (torch.cat(pair, 2) for pair in zip(other, own))
        seen = weighed(turn(q), turn(k), v)
        rows = c.shape[1]
        if self.c.parts > 2:
            c = self.c.end(c, seen[:, :rows], n)
        return self.x.end(x, seen[:, rows:], m), c


def two(given, width):
    return nn.Sequential(nn.Linear(given, width), nn.SiLU(),
                         nn.Linear(width, width))


class Sd3(nn.Module):
    """Stability-AI/sd3-ref mmdit.py"""

    def __init__(self, layers):
        super().__init__()
        width = 64 * layers
        self.step, self.pooled = two(256, width), two(2048, width)
        self.text, self.patch = nn.Linear(4096, width), nn.Conv2d(
            16, width, 2, 2)
        self.register_buffer("places", torch.zeros(192 * 192, width))
        self.blocks = nn.ModuleList(Joint(layers, width, i == layers - 1)
                                    for i in range(layers))
        self.ada, self.last = nn.Linear(width, 2 * width), nn.Linear(width, 64)

    def forward(self, x, text, step, pooled):
        shared = self.step(step) + self.pooled(pooled)
        c = self.text(text)
        x = self.patch(x).flatten(2).transpose(1, 2) + self.places[:4096]
        for block in self.blocks:
            x, c = block(x, c, shared)
        return self.last(shifted(x, *self.ada(F.silu(shared)).chunk(2, -1)))


class Single(nn.Module):
    """SingleStreamBlock, its first matrix in two"""

    def __init__(self, heads, width):
        super().__init__()
        self.heads, self.ada = heads, nn.Linear(width, 3 * width)
        self.qkv, self.fc = nn.Linear(width, 3 * width), nn.Linear(
            width, 4 * width)
        self.norm = nn.ModuleList(Rms(width // heads) for _ in "qk")
        self.out = nn.Linear(5 * width, width)

    def forward(self, x, shared, turn):
        m = self.ada(F.silu(shared)).chunk(3, -1)
        b, t, c = x.shape
        y = shifted(x, m[0], m[1])
        qkv = self.qkv(y).view(b, t, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        seen = weighed(turn(self.norm[0](q)), turn(self.norm[1](k)), v)
        y = F.gelu(self.fc(y), approximate="tanh")
        return x + self.out(torch.cat([seen, y], 2)) * m[2][:, None]


class Rms(nn.Module):
    """RMSNorm of flux' modules/layers.py"""

    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt((x ** 2).mean(-1, True) + 1e-6) * self.scale


class Flux(nn.Module):
    """black-forest-labs/flux model.py"""

    def __init__(self, heads, blocks):
        super().__init__()
        width = 128 * heads
        self.text, self.image = nn.Linear(4096, width), nn.Linear(64, width)
        self.step, self.guidance = two(256, width), two(256, width)
        self.pooled = two(768, width)
        self.blocks = nn.ModuleList(Joint(
            heads, width, norm=lambda: Rms(128)) for _ in range(blocks))
        self.single = nn.ModuleList(Single(heads, width)
                                    for _ in range(2 * blocks))
        self.ada, self.last = nn.Linear(width, 2 * width), nn.Linear(width, 64)
        angle = torch.outer(torch.arange(4608), 10000.0 ** (
            -torch.arange(0, 128, 2) / 128)).repeat(1, 2)
        self.register_buffer("cosine", angle.cos())
        self.register_buffer("sine", angle.sin())

    def turned(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cosine + torch.cat([-b, a], -1) * self.sine

    def forward(self, image, text, step, guidance, pooled):
        shared = self.step(step) + self.guidance(guidance)
        shared = shared + self.pooled(pooled)
        c, x = self.text(text), self.image(image)
        for block in self.blocks:
            x, c = block(x, c, shared, self.turned)
        x = torch.cat([c, x], 1)
        for block in self.single:
            x = block(x, shared, self.turned)
        return self.last(shifted(x[:, 512:], *self.ada(
            F.silu(shared)).chunk(2, -1)))


class Dinov2(nn.Module):
    """timm vit_small_patch14_reg4_dinov2"""

    def __init__(self, layers, width, heads, positions=37 * 37):
        super().__init__()
        self.first = nn.Conv2d(3, width, 14, 14)
        self.places = nn.Parameter(torch.zeros(1, positions, width))
        self.tokens = nn.Parameter(torch.zeros(1, 5, width))
        self.attends = nn.ModuleList(nn.Sequential(
            nn.LayerNorm(width), Attention(width, heads, packed=True),
            Scale(width)) for _ in range(layers))
        self.feeds = nn.ModuleList(nn.Sequential(
            nn.LayerNorm(width), mlp(width, 4 * width), Scale(width))
            for _ in range(layers))
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        x = self.first(x).flatten(2).transpose(1, 2) + self.places
        x = torch.cat([self.tokens.expand(len(x), -1, -1), x], 1)
        for attend, feed in zip(self.attends, self.feeds):
            x = x + attend(x)
            x = x + feed(x)
        return self.last(x)[:, 0]


class Response(nn.Module):
    """Global response normalisation, over height and width."""

    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))
        self.beta = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        norm = x.norm(p=2, dim=(1, 2), keepdim=True)
        norm = norm / (norm.mean(-1, keepdim=True) + 1e-6)
        return x + torch.addcmul(self.beta, self.gamma, x * norm)


class ConvNextV2(nn.Module):
    """timm convnextv2_tiny"""

    def __init__(self, channels, depths):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 4, 4)
        self.stages = nn.ModuleList()
        c = channels
        for i, depth in enumerate(depths):
            blocks = nn.ModuleList(nn.ModuleList([
                nn.Conv2d(c << i, c << i, 7, padding=3, groups=c << i),
                nn.Sequential(nn.LayerNorm(c << i),
                              nn.Linear(c << i, 4 * c << i), nn.GELU(),
                              Response(4 * c << i),
                              nn.Linear(4 * c << i, c << i))])
                for _ in range(depth))
            down = nn.Conv2d(c << i - 1, c << i, 2, 2) if i else None
            norm = nn.LayerNorm(c << max(i - 1, 0))
            self.stages.append(nn.ModuleList([norm, down, blocks]))
        self.last = nn.Sequential(nn.LayerNorm(8 * c), nn.Linear(8 * c, 1000))

    def forward(self, x):
        x = self.first(x)
        for norm, down, blocks in self.stages:
            x = norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
            x = down(x) if down else x
            for conv, dense in blocks:
                y = dense(conv(x).permute(0, 2, 3, 1))
                x = x + y.permute(0, 3, 1, 2)
        return self.last(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Whisper(nn.Module):
    """openai/whisper whisper/model.py; the mask hides instead of adding"""

    def __init__(self, layers, width, heads, words=51865, mels=80):
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv1d(mels, width, 3, padding=1), nn.GELU(),
            nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
        self.register_buffer("sines", torch.zeros(1500, width))
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.table = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.zeros(448, width))

        def blocks(kinds):
            return nn.ModuleList(nn.ModuleList(
                nn.ModuleList([nn.LayerNorm(width), kind()])
                for kind in kinds) for _ in range(layers))

        def attend(causal=False):
            return lambda: Attention(width, heads, bias="qvo", causal=causal)
        feed = lambda: mlp(width, 4 * width)
        self.encoder = blocks([attend(), feed])
        self.decoder = blocks([attend(True), attend(), feed])

    def forward(self, audio, tokens):
        x = self.convs(audio).transpose(1, 2) + self.sines
        for attend, feed in self.encoder:
            for norm, layer in attend, feed:
                x = x + layer(norm(x))
        memory = self.norm(x)
        x = self.table(tokens) + self.places
        for (norm, own), (other, cross), (third, feed) in self.decoder:
            x = x + own(norm(x))
            x = x + cross(other(x), memory)
            x = x + feed(third(x))
        return self.last(x) @ self.table.weight.T


class PointNet(nn.Module):
    """fxia22/pointnet.pytorch pointnet/model.py"""

    def __init__(self, classes=40):
        super().__init__()
        self.turns = nn.ModuleList(nn.Sequential(
            self.points(k, 64), self.points(64, 128), self.points(128, 1024),
            Largest(), self.dense(1024, 512), self.dense(512, 256),
            nn.Linear(256, k * k)) for k in (3, 64))
        for k in 3, 64:
            self.register_buffer(f"unit{k}", torch.eye(k))
        self.first, self.second = self.points(3, 64), self.points(64, 128)
        self.third = self.points(128, 1024)[:-1]
        self.head = nn.Sequential(
            Largest(), self.dense(1024, 512), nn.Linear(512, 256),
            nn.Dropout(0.3), nn.BatchNorm1d(256), nn.ReLU(True),
            nn.Linear(256, classes), nn.LogSoftmax(1))

    def points(self, c, out):
        return nn.Sequential(nn.Conv1d(c, out, 1), nn.BatchNorm1d(out),
                             nn.ReLU(True))

    def dense(self, c, out):
        return nn.Sequential(nn.Linear(c, out), nn.BatchNorm1d(out),
                             nn.ReLU(True))

    def turn(self, x, turn, unit):
        matrix = (turn(x) + unit.flatten()).unflatten(1, unit.shape)
        return (x.transpose(1, 2) @ matrix).transpose(1, 2)

    def forward(self, x):
        x = self.first(self.turn(x, self.turns[0], self.unit3))
        x = self.turn(x, self.turns[1], self.unit64)
        return self.head(self.third(self.second(x)))


class Largest(nn.Module):
    def forward(self, x):
        return x.max(2)[0]


class Cbs(nn.Module):
    def __init__(self, c, out, k=1, s=1, groups=1, act=True):
        super().__init__()
        self.conv = nn.Conv2d(c, out, k, s, k // 2, groups=groups, bias=False)
        self.norm, self.act = nn.BatchNorm2d(out), act

    def forward(self, x):
        x = self.norm(self.conv(x))
        return F.silu(x, inplace=True) if self.act else x


def pair(c):
    return nn.Sequential(Cbs(c, c, 3), Cbs(c, c, 3))


class C2f(nn.Module):
    def __init__(self, given, c, n, short=False):
        super().__init__()
        self.first, self.short = Cbs(given, c), short
        self.pairs = nn.ModuleList(pair(c // 2) for _ in range(n))
        self.last = Cbs((2 + n) * c // 2, c)

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for layers in self.pairs:
            y = layers(parts[-1])
            parts.append(parts[-1] + y if self.short else y)
        return self.last(torch.cat(parts, 1))


class Sppf(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.first, self.last = Cbs(c, c // 2), Cbs(2 * c, c)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(F.max_pool2d(parts[-1], 5, 1, 2))
        return self.last(torch.cat(parts, 1))


class YoloV8(nn.Module):
    """ultralytics cfg/models/v8/yolov8.yaml"""

    def __init__(self, w, end, n):
        super().__init__()
        self.to8 = nn.Sequential(
            Cbs(3, w, 3, 2), Cbs(w, 2 * w, 3, 2), C2f(2 * w, 2 * w, n, True),
            Cbs(2 * w, 4 * w, 3, 2), C2f(4 * w, 4 * w, 2 * n, True))
        self.to16 = nn.Sequential(Cbs(4 * w, 8 * w, 3, 2),
                                  C2f(8 * w, 8 * w, 2 * n, True))
        self.to32 = nn.Sequential(Cbs(8 * w, end, 3, 2),
                                  C2f(end, end, n, True), Sppf(end))
        self.up16 = C2f(end + 8 * w, 8 * w, n)
        self.up8 = C2f(12 * w, 4 * w, n)
        self.down16, self.down32 = (Cbs(c, c, 3, 2) for c in (4 * w, 8 * w))
        self.last16 = C2f(12 * w, 8 * w, n)
        self.last32 = C2f(8 * w + end, end, n)
        self.heads = nn.ModuleList(nn.ModuleList(
            nn.Sequential(Cbs(c, wide, 3), Cbs(wide, wide, 3),
                          nn.Conv2d(wide, out, 1))
            for wide, out in ((max(w, 64), 64), (max(4 * w, 80), 80)))
            for c in (4 * w, 8 * w, end))

    def forward(self, x):
        at8 = self.to8(x)
        at16 = self.to16(at8)
        at32 = self.to32(at16)
        middle = self.up16(torch.cat([F.interpolate(at32, None, 2), at16], 1))
        small = self.up8(torch.cat([F.interpolate(middle, None, 2), at8], 1))
        medium = self.last16(torch.cat([self.down16(small), middle], 1))
        large = self.last32(torch.cat([self.down32(medium), at32], 1))
        return [torch.cat([box(x), kind(x)], 1) for (box, kind), x in
                zip(self.heads, (small, medium, large))]


class Short(nn.Module):
    def __init__(self, c, inner):
        super().__init__()
        self.convs = nn.Sequential(Cbs(c, inner, 3), Cbs(inner, c, 3))

    def forward(self, x):
        return x + self.convs(x)


class C3k(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.first, self.second, self.last = (
            Cbs(c, c // 2), Cbs(c, c // 2), Cbs(c, c))
        self.pairs = nn.Sequential(*(Short(c // 2, c // 2) for _ in "12"))

    def forward(self, x):
        return self.last(torch.cat([self.pairs(self.first(x)),
                                    self.second(x)], 1))


class C3k2(nn.Module):
    def __init__(self, given, c, n, nested, inner=None):
        super().__init__()
        inner = inner or c // 2
        self.first = Cbs(given, 2 * inner)
        self.parts = nn.ModuleList(
            C3k(inner) if nested else Short(inner, inner // 2)
            for _ in range(n))
        self.last = Cbs((2 + n) * inner, c)

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for layers in self.parts:
            parts.append(layers(parts[-1]))
        return self.last(torch.cat(parts, 1))


class Psa(nn.Module):
    """C2PSA with its PSABlocks"""

    def __init__(self, c, n):
        super().__init__()
        self.c = c // 2
        self.first, self.last = Cbs(c, c), Cbs(c, c)
        self.blocks = nn.ModuleList(nn.ModuleList([
            Psa.Attention(self.c), nn.Sequential(
                Cbs(self.c, c), Cbs(c, self.c, act=False))])
            for _ in range(n))

    class Attention(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.heads = c // 64
            self.qkv = Cbs(c, 2 * c, act=False)
            self.out = Cbs(c, c, act=False)
            self.places = Cbs(c, c, 3, groups=c, act=False)

        def forward(self, x):
            b, c, h, w = x.shape
            q, k, v = self.qkv(x).view(b, self.heads, 128, h * w).split(
                [32, 32, 64], 2)
            weights = (q.transpose(2, 3) @ k * 32 ** -0.5).softmax(-1)
            y = (v @ weights.transpose(2, 3)).view(b, c, h, w)
            return self.out(y + self.places(v.reshape(b, c, h, w)))

    def forward(self, x):
        a, b = self.first(x).split(self.c, 1)
        for attend, feed in self.blocks:
            b = b + attend(b)
            b = b + feed(b)
        return self.last(torch.cat([a, b], 1))


class Yolo11(YoloV8):
    """ultralytics cfg/models/11/yolo11.yaml"""

    def __init__(self, w, end, n, big):
        super().__init__(w, end, n)
        self.to8 = nn.Sequential(
            Cbs(3, w, 3, 2), Cbs(w, 2 * w, 3, 2),
            C3k2(2 * w, 4 * w, n, big, w), Cbs(4 * w, 4 * w, 3, 2),
            C3k2(4 * w, 8 * w, n, big, 2 * w))
        self.to16 = nn.Sequential(Cbs(8 * w, 8 * w, 3, 2),
                                  C3k2(8 * w, 8 * w, n, True))
        self.to32 = nn.Sequential(Cbs(8 * w, end, 3, 2),
                                  C3k2(end, end, n, True), Sppf(end),
                                  Psa(end, n))
        self.up16 = C3k2(end + 8 * w, 8 * w, n, big)
        self.up8 = C3k2(16 * w, 4 * w, n, big)
        self.last16 = C3k2(12 * w, 8 * w, n, big)
        self.last32 = C3k2(8 * w + end, end, n, True)
        wide = max(4 * w, 80)
        for (_, kind), c in zip(self.heads, (4 * w, 8 * w, end)):
            kind[0] = nn.Sequential(Cbs(c, c, 3, groups=c), Cbs(c, wide))
            kind[1] = nn.Sequential(Cbs(wide, wide, 3, groups=wide),
                                    Cbs(wide, wide))


class Segformer(nn.Module):
    """transformers models/segformer/modeling_segformer.py"""

    def __init__(self, w, head, depths):
        super().__init__()
        widths = (w, 2 * w, 5 * w, 8 * w)
        self.stages = nn.ModuleList()
        for given, c, n, heads, shrink in zip(
                (3, *widths), widths, depths, (1, 2, 5, 8), (8, 4, 2, 1)):
            k, s = (7, 4) if given == 3 else (3, 2)
            self.stages.append(nn.ModuleList([
                nn.Conv2d(given, c, k, s, k // 2), nn.LayerNorm(c),
                nn.ModuleList(Segformer.Block(c, heads, shrink)
                              for _ in range(n)), nn.LayerNorm(c)]))
        self.heads = nn.ModuleList(nn.Linear(c, head) for c in widths)
        self.fuse = nn.Sequential(
            nn.Conv2d(4 * head, head, 1, bias=False), nn.BatchNorm2d(head),
            nn.ReLU(True), nn.Dropout(0.1), nn.Conv2d(head, 150, 1))

    class Block(nn.Module):
        def __init__(self, c, heads, shrink):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(c), nn.LayerNorm(c)])
            self.attend = Attention(c, heads)
            self.shrink = nn.ModuleList(
                [nn.Conv2d(c, c, shrink, shrink), nn.LayerNorm(c)]
                if shrink > 1 else [])
            self.wide, self.narrow = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
            self.near = nn.Conv2d(4 * c, 4 * c, 3, 1, 1, groups=4 * c)

        def forward(self, x, h, w):
            seen = y = self.norms[0](x)
            if self.shrink:
                seen = self.shrink[0](y.transpose(1, 2).unflatten(2, (h, w)))
                seen = self.shrink[1](seen.flatten(2).transpose(1, 2))
            x = x + self.attend(y, seen)
            y = self.wide(self.norms[1](x)).transpose(1, 2)
            y = self.near(y.unflatten(2, (h, w))).flatten(2).transpose(1, 2)
            return x + self.narrow(F.gelu(y))

    def forward(self, x):
        maps = []
        for (first, begin, blocks, end), head in zip(self.stages, self.heads):
            x = first(x)
            h, w = x.shape[2:]
            x = begin(x.flatten(2).transpose(1, 2))
            for block in blocks:
                x = block(x, h, w)
            x = end(x).transpose(1, 2).unflatten(2, (h, w)).contiguous()
            y = head(x.flatten(2).transpose(1, 2)).transpose(1, 2)
            y = y.unflatten(2, (h, w))
            maps.append(F.interpolate(y, maps[0].shape[2:], mode="bilinear")
                        if maps else y)
        return self.fuse(torch.cat(maps[::-1], 1))


class Conformer(nn.Module):
    """NVIDIA/NeMo nemo/collections/asr/modules/conformer_encoder.py"""

    def __init__(self, layers, width, heads, frames):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(1, width, 3, 2, 1), nn.ReLU(True),
            nn.Conv2d(width, width, 3, 2, 1), nn.ReLU(True))
        self.dense = nn.Linear(20 * width, width)
        self.register_buffer("places", torch.zeros(frames // 2 - 1, width))
        self.blocks = nn.ModuleList(Conformer.Block(width, heads)
                                    for _ in range(layers))
        self.words = nn.Conv1d(width, 129, 1)

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.feeds = nn.ModuleList(nn.Sequential(
                nn.LayerNorm(width), nn.Linear(width, 4 * width),
                nn.SiLU(True), nn.Dropout(0.1), nn.Linear(4 * width, width),
                nn.Dropout(0.1)) for _ in "12")
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in "123")
            self.attend = Conformer.Attention(width, heads)
            self.wide = nn.Conv1d(width, 2 * width, 1)
            self.near = nn.Sequential(
                nn.Conv1d(width, width, 31, 1, 15, groups=width),
                nn.BatchNorm1d(width), nn.SiLU(True),
                nn.Conv1d(width, width, 1))

        def forward(self, x, places):
            x = x + self.feeds[0](x) * 0.5
            x = x + F.dropout(self.attend(self.norms[0](x), places), 0.1,
                              self.training)
            y = F.glu(self.wide(self.norms[1](x).transpose(1, 2)), 1)
            x = x + F.dropout(self.near(y).transpose(1, 2), 0.1,
                              self.training)
            return self.norms[2](x + self.feeds[1](x) * 0.5)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.q, self.k, self.v, self.o = (nn.Linear(width, width)
                                              for _ in "qkvo")
            self.far = nn.Linear(width, width, bias=False)
            self.by_content, self.by_place = (
                nn.Parameter(torch.zeros(heads, width // heads))
                for _ in "12")

        def forward(self, x, places):
            q, k, v, p = (y.unflatten(-1, (self.heads, -1)) for y in
                          (self.q(x), self.k(x), self.v(x),
                           self.far(places)[None]))
            k, v, p = (y.transpose(1, 2) for y in (k, v, p))
            near = (q + self.by_place).transpose(1, 2) @ p.transpose(2, 3)
            b, h, t, n = near.shape
            near = F.pad(near, (1, 0)).view(b, h, n + 1, t)
            near = near[:, :, 1:].view(b, h, t, n)[..., :t]
            scores = (q + self.by_content).transpose(1, 2) @ k.transpose(2, 3)
            weights = ((scores + near) / math.sqrt(v.shape[-1])).softmax(-1)
            x = F.dropout(weights, 0.1, self.training) @ v
            return self.o(x.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = self.dense(self.first(x).transpose(1, 2).flatten(2))
        x = F.dropout(x * math.sqrt(x.shape[-1]), 0.1, self.training)
        for block in self.blocks:
            x = block(x, self.places)
        return self.words(x.transpose(1, 2)).transpose(1, 2)


class NnUnet(nn.Module):
    """MIC-DKFZ/dynamic-network-architectures PlainConvUNet"""

    def __init__(self, widths=(32, 64, 128, 256, 320, 320)):
        super().__init__()

        def two(given, c, s=1):
            return nn.Sequential(*(layer for a, step in ((given, s), (c, 1))
                                   for layer in (
                nn.Conv3d(a, c, 3, step, 1),
                nn.InstanceNorm3d(c, affine=True),
                nn.LeakyReLU(0.01, True))))
        self.down = nn.ModuleList(
            two(given, c, 1 if given == 1 else 2)
            for given, c in zip((1, *widths), widths))
        self.up = nn.ModuleList(nn.ModuleList([
            nn.ConvTranspose3d(given, c, 2, 2), two(2 * c, c),
            nn.Conv3d(c, 2, 1)])
            for given, c in zip(widths[:0:-1], widths[-2::-1]))

    def forward(self, x):
        kept, outs = [], []
        for layers in self.down:
            x = layers(x)
            kept.append(x)
        kept.pop()
        for enlarge, layers, last in self.up:
            x = layers(torch.cat([enlarge(x), kept.pop()], 1))
            outs.append(last(x))
        return outs


class Encodec(nn.Module):
    """transformers models/encodec/modeling_encodec.py"""

    def __init__(self, c=32):
        super().__init__()
        ups = (8, 5, 4, 2)
        self.down = nn.ModuleList([Encodec.Conv(1, c, 7)])
        for s in ups[::-1]:
            self.down += [Encodec.Block(c), nn.ELU(),
                          Encodec.Conv(c, 2 * c, 2 * s, s)]
            c *= 2
        self.down += [Encodec.Memory(c), nn.ELU(), Encodec.Conv(c, 128, 7)]
        self.up = nn.ModuleList([Encodec.Conv(128, c, 7), Encodec.Memory(c)])
        for s in ups:
            self.up += [nn.ELU(), Encodec.Turned(c, c // 2, s),
                        Encodec.Block(c // 2)]
            c //= 2
        self.up += [nn.ELU(), Encodec.Conv(c, 1, 7)]

    class Conv(nn.Module):
        """Without the copy that a border of no width is there."""

        def __init__(self, given, c, k, s=1):
            super().__init__()
            self.border = k - s
            self.conv = nn.utils.weight_norm(nn.Conv1d(given, c, k, s))

        def forward(self, x):
            if self.border:
                x = F.pad(x, (self.border, 0), mode="reflect")
            return self.conv(x)

    class Turned(nn.Module):
        def __init__(self, given, c, s):
            super().__init__()
            self.end = s
            self.conv = nn.utils.weight_norm(
                nn.ConvTranspose1d(given, c, 2 * s, s))

        def forward(self, x):
            return self.conv(x)[..., :-self.end]

    class Block(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.block = nn.Sequential(
                nn.ELU(), Encodec.Conv(c, c // 2, 3), nn.ELU(),
                Encodec.Conv(c // 2, c, 1))
            self.short = Encodec.Conv(c, c, 1)

        def forward(self, x):
            return self.short(x) + self.block(x)

    class Memory(nn.Module):
        def __init__(self, c):
            super().__init__()
            self.lstm = nn.LSTM(c, c, 2)

        def forward(self, x):
            x = x.permute(2, 0, 1)
            return (self.lstm(x)[0] + x).permute(1, 2, 0)

    def forward(self, x):
        for layers in (self.down, self.up):
            for layer in layers:
                x = layer(x)
        return x


class Tcn(nn.Module):
    """locuslab/TCN TCN/tcn.py"""

    def __init__(self, layers=8, width=25, kernel=7):
        super().__init__()
        wn = nn.utils.weight_norm
        self.blocks = nn.ModuleList()
        for i in range(layers):
            given, d = 1 if i == 0 else width, 2 ** i
            self.blocks.append(nn.ModuleList([
                wn(nn.Conv1d(given, width, kernel, 1, (kernel - 1) * d, d)),
                wn(nn.Conv1d(width, width, kernel, 1, (kernel - 1) * d, d)),
                nn.Conv1d(given, width, 1) if given != width
                else nn.Identity()]))
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        for *convs, short in self.blocks:
            y = x
            for conv in convs:
                y = conv(y)[:, :, :x.shape[2]].contiguous()
                y = F.dropout(F.relu(y), 0.05, self.training)
            x = F.relu(y + short(x))
        return self.last(x[:, :, -1])


def unnormed(conv, *args, **options):
    return nn.utils.weight_norm(conv(*args, **options))


class HifiGan(nn.Module):
    """jik876/hifi-gan models.py"""

    def __init__(self, c=512):
        super().__init__()
        self.first = unnormed(nn.Conv1d, 80, c, 7, padding=3)
        self.ups, self.branches = nn.ModuleList(), nn.ModuleList()
        for k, s in (16, 8), (16, 8), (4, 2), (4, 2):
            self.ups.append(unnormed(nn.ConvTranspose1d, c, c // 2, k, s,
                                     (k - s) // 2))
            c //= 2
            self.branches.append(nn.ModuleList(nn.ModuleList(
                nn.Sequential(*(layer for step in (d, 1) for layer in (
                    nn.LeakyReLU(0.1),
                    unnormed(nn.Conv1d, c, c, k, 1, k // 2 * step, step))))
                for d in (1, 3, 5)) for k in (3, 7, 11)))
        self.last = unnormed(nn.Conv1d, c, 1, 7, padding=3)

    def forward(self, x):
        x = self.first(x)
        for up, branches in zip(self.ups, self.branches):
            x, total = up(F.leaky_relu(x, 0.1)), None
            for branch in branches:
                y = x
                for block in branch:
                    y = block(y) + y
                total = y if total is None else total + y
            x = total / 3
        return torch.tanh(self.last(F.leaky_relu(x)))


class SrResnet(nn.Module):
    """Lornatang/SRGAN-PyTorch model.py"""

    def __init__(self):
        super().__init__()

        def conv(c=64, k=3, given=64):
            return nn.Conv2d(given, c, k, padding=k // 2)

        def norm():
            return [nn.Conv2d(64, 64, 3, padding=1, bias=False),
                    nn.BatchNorm2d(64)]
        self.first = nn.Sequential(conv(k=9, given=3), nn.PReLU())
        self.blocks = nn.ModuleList(
            nn.Sequential(*norm(), nn.PReLU(), *norm()) for _ in range(16))
        self.second = nn.Sequential(*norm())
        self.up = nn.Sequential(*(layer for _ in "12" for layer in (
            conv(256), nn.PixelShuffle(2), nn.PReLU())), conv(3, 9))

    def forward(self, x):
        start = x = self.first(x)
        for block in self.blocks:
            x = block(x) + x
        return self.up(start + self.second(x))


class Siren(nn.Sequential):
    """vsitzmann/siren modules.py"""

    class Sine(nn.Module):
        def forward(self, x):
            return torch.sin(30 * x)

    def __init__(self):
        super().__init__(*(layer for given in (2, 256, 256, 256) for layer in (
            nn.Linear(given, 256), Siren.Sine())), nn.Linear(256, 1))


class StdConv(nn.Conv2d):
    """timm ScaledStdConv2dSame"""

    def __init__(self, given, c, k=1, s=1, groups=1):
        super().__init__(given, c, k, s, k // 2 if s == 1 else 0,
                         groups=groups)
        self.gain = nn.Parameter(torch.ones(c, 1, 1, 1))
        self.scale = self.weight[0].numel() ** -0.5

    def forward(self, x):
        k, s = self.kernel_size[0], self.stride[0]
        if s > 1:
            border = (math.ceil(x.shape[-1] / s) - 1) * s + k - x.shape[-1]
            x = F.pad(x, [border // 2, border - border // 2] * 2)
        weight = F.batch_norm(
            self.weight.reshape(1, len(self.weight), -1), None, None,
            weight=(self.gain * self.scale).view(-1), training=True,
            momentum=0, eps=1e-5).reshape_as(self.weight)
        return F.conv2d(x, weight, self.bias, s, self.padding, 1,
                        self.groups)


class NfNet(nn.Module):
    """timm dm_nfnet_f0"""

    class Act(nn.Module):
        def forward(self, x):
            return F.gelu(x).mul_(1.7015043497085571)

    class Block(nn.Module):
        def __init__(self, given, c, s, after):
            super().__init__()
            self.beta = (1 + 0.04 * after) ** -0.5
            self.act = NfNet.Act()
            self.pool = nn.AvgPool2d(2, 2, 0, True, False)
            self.short = StdConv(given, c) if given != c or s > 1 else None
            self.s, m = s, c // 2
            self.convs = nn.Sequential(
                StdConv(given, m), NfNet.Act(),
                StdConv(m, m, 3, s, m // 128), NfNet.Act(),
                StdConv(m, m, 3, 1, m // 128), NfNet.Act(), StdConv(m, c))
            self.look = nn.Sequential(nn.Conv2d(c, m, 1), nn.ReLU(True),
                                      nn.Conv2d(m, c, 1), nn.Sigmoid())
            self.gain = nn.Parameter(torch.tensor(0.0))

        def forward(self, x):
            y = self.act(x) * self.beta
            if self.short:
                x = self.short(self.pool(y) if self.s > 1 else y)
            y = self.convs(y)
            y = 2.0 * (y * self.look(y.mean((2, 3), keepdim=True)))
            y.mul_(self.gain)
            return y * 0.2 + x

    def __init__(self):
        super().__init__()
        layers, given = [], 3
        for c, s in (16, 2), (32, 1), (64, 1):
            layers += [StdConv(given, c, 3, s), NfNet.Act()]
            given = c
        layers.append(StdConv(64, 128, 3, 2))
        given, after = 128, 0
        for c, n, s in (256, 1, 1), (512, 2, 2), (1536, 6, 2), (1536, 3, 2):
            for i in range(n):
                layers.append(NfNet.Block(given, c, 1 if i else s, i or after))
                given = c
            after = n
        self.layers = nn.Sequential(*layers, StdConv(1536, 3072), NfNet.Act())
        self.last = nn.Linear(3072, 1000)

    def forward(self, x):
        return self.last(self.layers(x).mean((2, 3)))


class HrNet(nn.Module):
    """leoxiaobin/deep-high-resolution-net.pytorch pose_hrnet.py"""

    @staticmethod
    def unit(given, c, k=3, s=1, act=True):
        return nn.Sequential(nn.Conv2d(given, c, k, s, k // 2, bias=False),
                             nn.BatchNorm2d(c),
                             *[nn.ReLU(True)] * act)

    class Block(nn.Module):
        def __init__(self, given, *layers):
            super().__init__()
            self.layers = nn.Sequential(*layers)
            self.short = (HrNet.unit(given, 256, 1, act=False)
                          if given == 64 and len(layers) == 3 else None)
            self.act = nn.ReLU(True)

        def forward(self, x):
            y = self.layers(x)
            y += self.short(x) if self.short else x
            return self.act(y)

    class Module(nn.Module):
        def __init__(self, widths, outs):
            super().__init__()
            unit, n = HrNet.unit, len(widths)
            self.branches = nn.ModuleList(nn.Sequential(*(
                HrNet.Block(0, unit(c, c), unit(c, c, act=False))
                for _ in range(4))) for c in widths)
            self.parts = nn.ModuleList(nn.ModuleList(
                nn.Identity() if i == j else
                nn.Sequential(unit(widths[j], widths[i], 1, act=False),
                              nn.Upsample(scale_factor=2 ** (j - i)))
                if j > i else nn.Sequential(
                    *(unit(widths[j], widths[j], 3, 2)
                      for _ in range(i - j - 1)),
                    unit(widths[j], widths[i], 3, 2, act=False))
                for j in range(n)) for i in range(outs))

        def forward(self, x):
            x = [branch(y) for branch, y in zip(self.branches, x)]
            return [F.relu(sum((part(y) for part, y in
                                zip(parts[1:], x[1:])), parts[0](x[0])),
                           inplace=False) for parts in self.parts]

    def __init__(self, width):
        super().__init__()
        unit = self.unit
        self.stem = nn.Sequential(
            unit(3, 64, 3, 2), unit(64, 64, 3, 2),
            *(self.Block(c, unit(c, 64, 1), unit(64, 64),
                         unit(64, 256, 1, act=False))
              for c in (64, 256, 256, 256)))
        w = [width * 2 ** i for i in range(4)]
        self.new = nn.ModuleList([unit(256, w[0]), unit(256, w[1], 3, 2),
                                  unit(w[1], w[2], 3, 2),
                                  unit(w[2], w[3], 3, 2)])
        self.stages = nn.ModuleList(
            nn.Sequential(*(self.Module(w[:n], outs) for outs in all_outs))
            for n, all_outs in ((2, [2]), (3, [3] * 4), (4, [4, 4, 1])))
        self.last = nn.Conv2d(width, 17, 1)

    def forward(self, x):
        x = self.stem(x)
        x = [self.new[0](x), self.new[1](x)]
        for stage, new in zip(self.stages, [None, *self.new[2:]]):
            x = stage(x + ([new(x[-1])] if new else []))
        return self.last(x[0])


class Resnet(nn.Module):
    def __init__(self, c, out, time=1280):
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(32, c),
                                    nn.GroupNorm(32, out)])
        self.convs = nn.ModuleList([nn.Conv2d(c, out, 3, padding=1),
                                    nn.Conv2d(out, out, 3, padding=1)])
        self.time = nn.Linear(time, out)
        self.short = nn.Conv2d(c, out, 1) if c != out else nn.Identity()

    def forward(self, x, time):
        y = self.convs[0](F.silu(self.norms[0](x), inplace=True))
        y = y + self.time(F.silu(time))[:, :, None, None]
        y = self.convs[1](F.silu(self.norms[1](y), inplace=True))
        return self.short(x) + y


class TransformerBlock(nn.Module):
    def __init__(self, c, heads, memory):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(c) for _ in range(3))
        self.own = Attention(c, heads, bias="o")
        self.cross = Attention(c, heads, bias="o", memory=memory)
        self.feed = nn.Linear(c, 8 * c)
        self.out = nn.Linear(4 * c, c)

    def forward(self, y, text):
        y = y + self.own(self.norms[0](y))
        y = y + self.cross(self.norms[1](y), text)
        wide, gate = self.feed(self.norms[2](y)).chunk(2, -1)
        return y + self.out(wide * F.gelu(gate))


class Transformer(nn.Module):
    """`linear`: its projections are dense ones of rows (SDXL)."""

    def __init__(self, c, n=1, heads=8, memory=768, linear=False):
        super().__init__()
        self.norm = nn.GroupNorm(32, c, 1e-6)
        self.linear = linear
        self.ends = nn.ModuleList(nn.Linear(c, c) if linear else
                                  nn.Conv2d(c, c, 1) for _ in range(2))
        self.blocks = nn.ModuleList(TransformerBlock(c, heads, memory)
                                    for _ in range(n))

    def forward(self, x, text):
        y = self.norm(x)
        if not self.linear:
            y = self.ends[0](y)
        y = y.flatten(2).transpose(1, 2)
        if self.linear:
            y = self.ends[0](y)
        for block in self.blocks:
            y = block(y, text)
        if self.linear:
            y = self.ends[1](y)
        y = y.transpose(1, 2).reshape(x.shape)
        return x + (y if self.linear else self.ends[1](y))


class SdUnet(nn.Module):
    """diffusers UNet2DConditionModel of Stable Diffusion 1.5"""
    deepest = 0  # the block whose transformers the middle has

    def __init__(self, wide=(320, 640, 1280, 1280)):
        super().__init__()
        first, last = wide[0], wide[-1]
        self.deep = last
        self.time = nn.Sequential(nn.Linear(320, last), nn.SiLU(),
                                  nn.Linear(last, last))
        self.first = nn.Conv2d(4, first, 3, padding=1)
        self.down, self.up, given = nn.ModuleList(), nn.ModuleList(), [first]
        for i, c in enumerate(wide):
            for _ in range(2):
                self.down.append(self.block(i, given[-1], c))
                given.append(c)
            if i + 1 < len(wide):
                self.down.append(nn.Conv2d(c, c, 3, 2, 1))
                given.append(c)
        self.middle = nn.ModuleList([*self.block(self.deepest, last, last),
                                     Resnet(last, last, last)])
        for i, c in reversed(list(enumerate(wide))):
            for _ in range(3):
                self.up.append(self.block(i, last + given.pop(), c))
                last = c
            if i:
                self.up.append(nn.Conv2d(c, c, 3, padding=1))
        self.last = nn.Sequential(nn.GroupNorm(32, first), nn.SiLU(True),
                                  nn.Conv2d(first, 4, 3, padding=1))

    def block(self, i, c, out):
        parts = [Resnet(c, out)] + ([Transformer(out)] if i < 3 else [])
        return nn.ModuleList(parts)

    def run(self, block, x, time, text):
        for part in block:
            x = part(x, time if isinstance(part, Resnet) else text)
        return x

    def forward(self, x, step, text):
        return self.denoise(x, self.time(step), text)

    def denoise(self, x, time, text):
        x, skips = self.first(x), []
        skips.append(x)
        for part in self.down:
            x = part(x) if isinstance(part, nn.Conv2d) else \
                self.run(part, x, time, text)
            skips.append(x)
        x = self.run(self.middle, x, time, text)
        for part in self.up:
            if isinstance(part, nn.Conv2d):
                x = part(F.interpolate(x, None, 2))
            else:
                x = self.run(part, torch.cat([x, skips.pop()], 1), time, text)
        return self.last(x)


class Sdxl(SdUnet):
    """diffusers UNet2DConditionModel of stable-diffusion-xl-base-1.0"""
    deepest = 2

    def __init__(self, width=320):
        super().__init__((width, 2 * width, 4 * width))
        self.added = nn.Sequential(nn.Linear(2816, 4 * width), nn.SiLU(),
                                   nn.Linear(4 * width, 4 * width))

    def block(self, i, c, out):
        deep = (0, 2, 10)[i]
        return nn.ModuleList([Resnet(c, out, self.deep)] + (
            [Transformer(out, deep, out // 64, 2048, True)] if deep else []))

    def forward(self, x, step, added, text):
        return self.denoise(x, self.time(step) + self.added(added), text)


def bottleneck(c, out, s):
    middle = out // 4

    def conv(c, out, k, s=1):
        return [nn.Conv2d(c, out, k, s, k // 2, bias=False),
                nn.BatchNorm2d(out, affine=False)]
    return nn.ModuleList([
        nn.Sequential(*conv(c, middle, 1), nn.ReLU(True),
                      *conv(middle, middle, 3, s), nn.ReLU(True),
                      *conv(middle, out, 1)),
        nn.Sequential(*conv(c, out, 1, s)) if c != out else nn.Identity()])


class Detr(nn.Module):
    """facebookresearch/detr models/detr.py"""

    def __init__(self, positions):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64, affine=False), nn.ReLU(True),
            nn.MaxPool2d(3, 2, 1))
        self.blocks, c = nn.ModuleList(), 64
        for out, n, s in (256, 3, 1), (512, 4, 2), (1024, 6, 2), (2048, 3, 2):
            for i in range(n):
                self.blocks.append(bottleneck(c, out, s if i == 0 else 1))
                c = out
        self.narrow = nn.Conv2d(2048, 256, 1)
        self.register_buffer("places", torch.zeros(positions, 256))
        self.register_buffer("found", torch.zeros(100, 256))
        self.query = nn.Parameter(torch.zeros(100, 256))

        def block(attentions):
            return nn.ModuleList(nn.ModuleList([layer, nn.LayerNorm(256)])
                                 for layer in [Detr.Attention() for _ in
                                               range(attentions)] + [feed()])

        def feed():
            return nn.Sequential(
                nn.Linear(256, 2048), nn.ReLU(True), nn.Dropout(0.1),
                nn.Linear(2048, 256), nn.Dropout(0.1))
        self.encoder = nn.ModuleList(block(1) for _ in range(6))
        self.decoder = nn.ModuleList(block(2) for _ in range(6))
        self.last, self.kinds = nn.LayerNorm(256), nn.Linear(256, 92)
        self.boxes = nn.Sequential(
            nn.Linear(256, 256), nn.ReLU(True), nn.Linear(256, 256),
            nn.ReLU(True), nn.Linear(256, 4), nn.Sigmoid())

    class Attention(nn.Module):
        """Queries and keys have places, values have none."""

        def __init__(self, p=0.1):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Linear(256, 256)
                                              for _ in range(4))
            self.drop = nn.Dropout(p) if p else nn.Identity()

        def forward(self, q, k, v):
            q, k, v = (y.unflatten(2, (8, 32)).transpose(1, 2)
                       for y in (self.q(q), self.k(k), self.v(v)))
            weights = (q * 32 ** -0.5 @ k.transpose(2, 3)).softmax(-1)
            x = (self.drop(weights) @ v).transpose(1, 2)
            return self.drop(self.o(x.flatten(2)))

    def forward(self, x):
        x = self.first(x)
        for block, short in self.blocks:
            x = F.relu(block(x) + short(x), inplace=True)
        x = self.narrow(x).flatten(2).transpose(1, 2)
        for (attend, ln1), (feed, ln2) in self.encoder:
            q = x + self.places
            x = ln1(x + attend(q, q, x))
            x = ln2(x + feed(x))
        y = self.found.expand(len(x), -1, -1)
        for (own, ln1), (cross, ln2), (feed, ln3) in self.decoder:
            q = y + self.query
            y = ln1(y + own(q, q, y))
            y = ln2(y + cross(y + self.query, x + self.places, x))
            y = ln3(y + feed(y))
        y = self.last(y)
        return self.kinds(y), self.boxes(y)


class Sampled(nn.Module):
    """MSDeformAttn with ms_deform_attn_core_pytorch"""

    def __init__(self, sizes, p=0.1):
        super().__init__()
        self.drop = nn.Dropout(p) if p else nn.Identity()
        self.sizes = sizes
        self.where, self.counts = nn.Linear(256, 256), nn.Linear(256, 128)
        self.value, self.out = nn.Linear(256, 256), nn.Linear(256, 256)

    def places(self, q, at):
        n, rows, _ = q.shape
        sizes = torch.tensor([(s, s) for s in self.sizes])[:, None]
        g = self.where(q).view(n, rows, 8, 4, 4, 2)
        return at[..., None, :, None, :] + g / sizes

    def forward(self, q, seen, at):
        n, rows, _ = q.shape
        points = 4 * len(self.sizes)
        v = self.value(seen).split([s * s for s in self.sizes], 1)
        g = 2 * self.places(q, at) - 1
        w = self.counts(q).view(n, rows, 8, points).softmax(-1)
        found = []
        for i, s in enumerate(self.sizes):
            level = v[i].transpose(1, 2).reshape(n * 8, 32, s, s)
            grid = g[:, :, :, i].transpose(1, 2).flatten(0, 1)
            found.append(F.grid_sample(level, grid, align_corners=False))
        w = w.transpose(1, 2).reshape(n * 8, 1, rows, points)
        y = (torch.stack(found, -2).flatten(-2) * w).sum(-1)
        y = y.view(n, 256, rows).transpose(1, 2).contiguous()
        return self.drop(self.out(y))


class DeformableDetr(Detr):
    """fundamentalvision/Deformable-DETR models/deformable_transformer.py"""

    def __init__(self, size):
        super().__init__(1)
        del self.narrow, self.query, self.last, self.encoder, self.decoder
        del self.places, self.found
        self.sizes = [size // 8, size // 16, size // 32, size // 64]
        self.narrow = nn.ModuleList(
            nn.Sequential(nn.Conv2d(c, 256, k, k // 2 + 1, k // 2),
                          nn.GroupNorm(32, 256))
            for c, k in ((512, 1), (1024, 1), (2048, 1), (2048, 3)))
        rows = sum(s * s for s in self.sizes)
        self.register_buffer("places", torch.zeros(rows, 256))
        self.register_buffer("at", torch.zeros(rows, 4, 2))
        self.register_buffer("ratios", torch.ones(4, 2))
        self.level = nn.Parameter(torch.zeros(4, 256))
        self.query = nn.Parameter(torch.zeros(300, 256))
        self.found = nn.Parameter(torch.zeros(300, 256))
        self.start = nn.Linear(256, 2)

        def feed():
            return nn.Sequential(
                nn.Linear(256, 1024), nn.ReLU(True), nn.Dropout(0.1),
                nn.Linear(1024, 256), nn.Dropout(0.1))

        def block(*layers):
            return nn.ModuleList(nn.ModuleList([layer, nn.LayerNorm(256)])
                                 for layer in layers)
        self.encoder = nn.ModuleList(block(Sampled(self.sizes), feed())
                                     for _ in range(6))
        self.decoder = nn.ModuleList(
            block(Detr.Attention(), Sampled(self.sizes), feed())
            for _ in range(6))
        self.kinds = nn.Linear(256, 91)

    def forward(self, x):
        x, maps = self.first(x), []
        for block, short in self.blocks:
            if x.shape[1] in (512, 1024) and block[3].stride == (2, 2):
                maps.append(x)
            x = F.relu(block(x) + short(x), inplace=True)
        maps += [x, x]
        rows = [narrow(y).flatten(2).transpose(1, 2)
                for narrow, y in zip(self.narrow, maps)]
        places = self.places.split([s * s for s in self.sizes])
        place = torch.cat([p + row for p, row in zip(places, self.level)])
        x = torch.cat(rows, 1)
        for (attend, ln1), (feed, ln2) in self.encoder:
            x = ln1(x + attend(x + place, x, self.at))
            x = ln2(x + feed(x))
        at = self.start(self.query).sigmoid()[:, None] * self.ratios
        y = self.found.expand(len(x), -1, -1)
        for (own, ln1), (cross, ln2), (feed, ln3) in self.decoder:
            q = y + self.query
            y = ln1(y + own(q, q, y))
            y = ln2(y + cross(y + self.query, x, at))
            y = ln3(y + feed(y))
        return self.kinds(y), self.boxes(y)


class RtSampled(Sampled):
    """MSDeformableAttention at boxes"""

    def __init__(self, sizes):
        super().__init__(sizes, 0)
        points = 8 * 4 * len(sizes)
        self.where = nn.Linear(256, 2 * points)
        self.counts = nn.Linear(256, points)

    def places(self, q, box):
        n, rows, _ = q.shape
        box = box[:, :, None, None, None]
        g = self.where(q).view(n, rows, 8, len(self.sizes), 4, 2)
        return box[..., :2] + g / 4 * box[..., 2:] * 0.5


class RtDetr(nn.Module):
    """lyuwenyu/RT-DETR rtdetr_pytorch/src/zoo/rtdetr"""

    def __init__(self, size):
        super().__init__()
        self.sizes = [size // 8, size // 16, size // 32]

        def norm(c, out, k=1, s=1, act=None, affine=False):
            return nn.Sequential(
                nn.Conv2d(c, out, k, s, k // 2, bias=False),
                nn.BatchNorm2d(out, affine=affine), act or nn.Identity())

        def cbs(c=256, k=1, s=1):
            return norm(c, 256, k, s, nn.SiLU(True), True)

        def csp():
            return nn.ModuleList([cbs(512), nn.ModuleList(nn.ModuleList([
                norm(256, 256, k, affine=True) for k in (3, 1)])
                for _ in range(3)), cbs(512)])

        def mlp(*widths):
            layers = [layer for pair in zip(widths, widths[1:])
                      for layer in (nn.Linear(*pair), nn.ReLU(True))]
            return nn.Sequential(*layers[:-1])

        def feed(act):
            return nn.Sequential(nn.Linear(256, 1024), act,
                                 nn.Linear(1024, 256))

        def norms(n):
            return nn.ModuleList(nn.LayerNorm(256) for _ in range(n))
        act = nn.ReLU(True)
        self.first = nn.Sequential(
            norm(3, 32, 3, 2, act), norm(32, 32, 3, 1, act),
            norm(32, 64, 3, 1, act), nn.MaxPool2d(3, 2, 1))
        self.stages, c = nn.ModuleList(), 64
        for m, n, s in (64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2):
            self.stages.append(nn.ModuleList())
            for i in range(n):
                self.stages[-1].append(nn.ModuleList([
                    nn.Sequential(norm(c, m, act=act),
                                  norm(m, m, 3, s if i == 0 else 1, act),
                                  norm(m, 4 * m)),
                    nn.Identity() if i else nn.Sequential(
                        nn.AvgPool2d(s, s) if s > 1 else nn.Identity(),
                        norm(c, 4 * m))]))
                c = 4 * m
        self.narrow = nn.ModuleList(norm(c, 256, affine=True)
                                    for c in (512, 1024, 2048))
        self.own = nn.ModuleList([Detr.Attention(0), feed(nn.GELU())])
        self.norms, self.found = norms(2), nn.Sequential(
            nn.Linear(256, 256), nn.LayerNorm(256))
        self.lateral = nn.ModuleList(cbs() for _ in "12")
        self.down = nn.ModuleList(cbs(k=3, s=2) for _ in "12")
        self.csps = nn.ModuleList(csp() for _ in range(4))
        self.maps = nn.ModuleList(norm(256, 256, affine=True) for _ in "123")
        self.register_buffer("sines", torch.zeros(self.sizes[2] ** 2, 256))
        rows = sum(s * s for s in self.sizes)
        self.register_buffer("valid", torch.ones(rows, 1))
        self.register_buffer("anchors", torch.zeros(rows, 4))
        self.score, self.place = nn.Linear(256, 80), mlp(4, 512, 256)
        self.box = mlp(256, 256, 256, 4)
        self.decoder = nn.ModuleList(nn.ModuleList([
            Detr.Attention(0), RtSampled(self.sizes), feed(nn.ReLU(True)),
            norms(3), mlp(256, 256, 256, 4), nn.Linear(256, 80)])
            for _ in range(6))

    def fuse(self, i, *maps):
        one, blocks, two = self.csps[i]
        x = torch.cat(maps, 1)
        y = one(x)
        for wide, narrow in blocks:
            y = F.silu(wide(y) + narrow(y))
        return y + two(x)

    def forward(self, x):
        x, maps = self.first(x), []
        for stage in self.stages:
            for block, short in stage:
                x = F.relu(block(x) + short(x))
            maps.append(x)
        f1, f2, x = (layer(y) for layer, y in zip(self.narrow, maps[1:]))
        shape, x = x.shape, x.flatten(2).transpose(1, 2)
        attend, feed = self.own
        q = x + self.sines
        x = self.norms[0](x + attend(q, q, x))
        x = self.norms[1](x + feed(x)).transpose(1, 2).reshape(shape)
        y3 = self.lateral[0](x)
        y2 = self.lateral[1](self.fuse(0, F.interpolate(y3, None, 2), f2))
        z = [self.fuse(1, F.interpolate(y2, None, 2), f1)]
        for i, y in enumerate((y2, y3)):
            z.append(self.fuse(2 + i, self.down[i](z[i]), y))
        seen = torch.cat([m(y).flatten(2).transpose(1, 2)
                          for m, y in zip(self.maps, z)], 1)
        return self.decode(seen, self.found(seen * self.valid))

    def decode(self, seen, y):
        scores, boxes = self.score(y), self.box(y) + self.anchors
        best = scores.max(-1)[0].topk(300, 1)[1][..., None]

        def rows(t):
            return t.gather(1, best.repeat(1, 1, t.shape[-1]))
        outs = [rows(scores), rows(boxes).sigmoid()]
        y, at = rows(y).detach(), outs[1].detach()
        for own, cross, feed, norms, box, kinds in self.decoder:
            place = self.place(at)
            q = y + place
            y = norms[0](y + own(q, q, y))
            y = norms[1](y + cross(y + place, seen, at))
            y = norms[2](y + feed(y))
            new = (box(y) + at.logit(1e-5)).sigmoid()
            if self.training or box is self.decoder[-1][4]:
                outs += [kinds(y), new]
            at = new.detach()
        return outs if self.training else outs[2:]


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(
            x.pow(2).mean(-1, keepdim=True) + 1e-6))


class T5(nn.Module):
    """transformers models/t5/modeling_t5.py"""

    def __init__(self, layers, width, heads, hidden):
        super().__init__()
        self.words = nn.Embedding(32128, width)
        self.near, self.past = (nn.Embedding(32, heads) for _ in "12")
        self.register_buffer("hidden", torch.full((114, 114),
                                                  -math.inf).triu(1))

        def feed():
            return nn.Sequential(
                nn.Linear(width, hidden, bias=False), nn.ReLU(True),
                nn.Dropout(0.1), nn.Linear(hidden, width, bias=False))

        def blocks(attentions):
            return nn.ModuleList(nn.ModuleList(
                nn.ModuleList([RmsNorm(width), layer])
                for layer in [T5.Attention(width, heads) for _ in
                              range(attentions)] + [feed()])
                for _ in range(layers))
        self.encoder, self.decoder = blocks(1), blocks(2)
        self.norms = nn.ModuleList([RmsNorm(width), RmsNorm(width)])
        self.drop = nn.Dropout(0.1)

    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.q, self.k, self.v, self.o = (
                nn.Linear(width, width, bias=False) for _ in range(4))

        def forward(self, x, memory, bias):
            q, k, v = (y.unflatten(2, (self.heads, -1)).transpose(1, 2)
                       for y in (self.q(x), self.k(memory), self.v(memory)))
            scores = q @ k.transpose(2, 3)
            scores = scores if bias is None else scores + bias
            weights = F.dropout(scores.softmax(-1), 0.1, self.training)
            return self.o((weights @ v).transpose(1, 2).flatten(2))

    def bias(self, table, count, causal):
        """T5Attention.compute_bias: once for all samples"""
        at = torch.arange(count)
        rows = bucket(at[None] - at[:, None], causal)
        return table(rows).permute(2, 0, 1)[None]

    def forward(self, source, tokens):
        drop, bias = self.drop, self.bias(self.near, source.shape[1], False)
        x = drop(self.words(source))
        for (ln1, attend), (ln2, feed) in self.encoder:
            y = ln1(x)
            x = x + drop(attend(y, y, bias))
            x = x + drop(feed(ln2(x)))
        memory = drop(self.norms[0](x))
        bias = self.bias(self.past, 114, True) + self.hidden
        x = drop(self.words(tokens))
        for (ln1, own), (ln2, cross), (ln3, feed) in self.decoder:
            y = ln1(x)
            x = x + drop(own(y, y, bias))
            x = x + drop(cross(ln2(x), memory, None))
            x = x + drop(feed(ln3(x)))
        x = drop(self.norms[1](x)) * x.shape[-1] ** -0.5
        return x @ self.words.weight.T


class Wav2vec2(nn.Module):
    """transformers models/wav2vec2/modeling_wav2vec2.py"""

    def __init__(self):
        super().__init__()
        convs = [nn.Conv1d(1, 512, 10, 5, bias=False),
                 nn.GroupNorm(512, 512), nn.GELU()]
        for kernel in (3, 3, 3, 3, 2, 2):
            convs += [nn.Conv1d(512, 512, kernel, 2, bias=False), nn.GELU()]
        self.convs = nn.Sequential(*convs)
        self.first = nn.Sequential(nn.LayerNorm(512), nn.Linear(512, 768),
                                   nn.Dropout(0.1))
        self.places = nn.Conv1d(768, 768, 128, padding=64, groups=16)
        self.norm = nn.Sequential(nn.LayerNorm(768), nn.Dropout(0.1))
        self.blocks = nn.ModuleList(nn.ModuleList([
            Wav2vec2.Attention(), nn.LayerNorm(768),
            nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Dropout(0.1),
                          nn.Linear(3072, 768), nn.Dropout(0.1)),
            nn.LayerNorm(768)]) for _ in range(12))

    class Attention(Attention):
        def __init__(self):
            super().__init__(768, 12)

        def forward(self, x):
            q, k, v = (y.unflatten(2, (12, 64)).transpose(1, 2)
                       for y in (self.q(x) * 64 ** -0.5, self.k(x),
                                 self.v(x)))
            weights = (q @ k.transpose(2, 3)).softmax(-1)
            x = (F.dropout(weights, 0.1, self.training) @ v).transpose(1, 2)
            return F.dropout(self.o(x.flatten(2)), 0.1, self.training)

    def forward(self, x):
        x = self.first(self.convs(x).transpose(1, 2))
        y = F.gelu(self.places(x.transpose(1, 2))[:, :, :-1])
        x = self.norm(x + y.transpose(1, 2))
        for attend, ln1, feed, ln2 in self.blocks:
            x = ln1(x + attend(x))
            x = ln2(x + feed(x))
        return x


class QuickGelu(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class Clip(nn.Module):
    """transformers models/clip/modeling_clip.py, with F.normalize"""

    def __init__(self, layers=12):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, 32, 32, bias=False)
        self.token = nn.Parameter(torch.zeros(768))
        self.places = nn.Parameter(torch.zeros(50, 768))
        self.first, self.seen = nn.LayerNorm(768), nn.LayerNorm(768)
        self.table = nn.Embedding(49408, 512)
        self.spots, self.last = nn.Embedding(77, 512), nn.LayerNorm(512)
        self.register_buffer("numbers", torch.arange(77))

        def blocks(width, causal):
            return nn.ModuleList(nn.ModuleList([
                nn.LayerNorm(width),
                Attention(width, width // 64, causal=causal),
                nn.LayerNorm(width), mlp(width, 4 * width, QuickGelu)])
                for _ in range(layers))
        self.picture, self.text = blocks(768, False), blocks(512, True)
        self.see = nn.Linear(768, 512, bias=False)
        self.read = nn.Linear(512, 512, bias=False)
        self.scale = nn.Parameter(torch.zeros(()))

    def forward(self, image, text):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), 1, -1), x], 1) + self.places
        x = self.first(x)
        for ln1, attend, ln2, feed in self.picture:
            x = x + attend(ln1(x))
            x = x + feed(ln2(x))
        picture = self.see(self.seen(x[:, 0]))
        x = self.table(text) + self.spots(self.numbers)
        for ln1, attend, ln2, feed in self.text:
            x = x + attend(ln1(x))
            x = x + feed(ln2(x))
        said = self.read(self.last(x)[:, 76])
        said, picture = F.normalize(said), F.normalize(picture)
        return self.scale.exp() * (said[:, None] @ picture[:, :, None])


class EfficientVit(nn.Module):
    """timm models/efficientvit_mit.py"""

    def __init__(self, width, depths, dim, head):
        super().__init__()

        def conv(c, out, k=1, s=1, groups=1, norm=True, act=True):
            return nn.Sequential(
                nn.Conv2d(c, out, k, s, k // 2, 1, groups, not norm),
                *[nn.BatchNorm2d(out)] * norm, *[nn.Hardswish(True)] * act)

        def local(c, out, s, norm):
            return nn.Sequential(
                conv(c, 4 * c, norm=norm),
                conv(4 * c, 4 * c, 3, s, 4 * c, norm),
                conv(4 * c, out, act=False))
        self.first = conv(3, width, 3, 2)
        self.blocks = nn.ModuleList([EfficientVit.Sum(nn.Sequential(
            conv(width, width, 3, 1, width), conv(width, width, act=False)))])
        c = width
        for i, n in enumerate(depths):
            out, vit = width * 2 ** (i + 1), i > 1
            self.blocks.append(local(c, out, 2, not vit))
            for _ in range(n if vit else n - 1):
                if vit:
                    self.blocks.append(EfficientVit.Sum(
                        EfficientVit.Attention(out, dim)))
                self.blocks.append(EfficientVit.Sum(
                    local(out, out, 1, not vit)))
            c = out
        self.head = nn.Sequential(
            conv(c, head[0]), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
            nn.Linear(*head, bias=False), nn.LayerNorm(head[1]),
            nn.Hardswish(True), nn.Linear(head[1], 1000))

    class Sum(nn.Module):
        def __init__(self, inside):
            super().__init__()
            self.inside = inside

        def forward(self, x):
            return self.inside(x) + x

    class Attention(nn.Module):
        def __init__(self, c, dim):
            super().__init__()
            self.dim = dim
            self.qkv = nn.Conv2d(c, 3 * c, 1, bias=False)
            self.wide = nn.Sequential(
                nn.Conv2d(3 * c, 3 * c, 5, 1, 2, 1, 3 * c, False),
                nn.Conv2d(3 * c, 3 * c, 1, 1, 0, 1, 3 * c // dim, False))
            self.out = nn.Sequential(nn.Conv2d(2 * c, c, 1, bias=False),
                                     nn.BatchNorm2d(c))

        def forward(self, x):
            n, _, h, w = x.shape
            x = self.qkv(x)
            x = torch.cat([x, self.wide(x)], 1)
            q, k, v = x.reshape(n, -1, 3 * self.dim, h * w).transpose(
                2, 3).chunk(3, 3)
            q, k, v = F.relu(q), F.relu(k), F.pad(v, (0, 1), value=1.0)
            x = q @ (k.transpose(2, 3) @ v)
            x = x[..., :-1] / (x[..., -1:] + 1e-5)
            return self.out(x.transpose(2, 3).reshape(n, -1, h, w))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class SamEncoder(nn.Module):
    """facebookresearch/segment-anything modeling/image_encoder.py; the norms
    after the last block as timm models/vision_transformer_sam.py has them"""

    def __init__(self, size, layers=12, width=768, heads=12):
        super().__init__()
        side = size // 16
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.places = nn.Parameter(torch.zeros(1, side, side, width))
        self.blocks = nn.ModuleList(nn.ModuleList([
            nn.LayerNorm(width),
            SamEncoder.Attention(width, heads, 14 if i % (layers // 4)
                                 else side),
            nn.LayerNorm(width), mlp(width, 4 * width)])
            for i in range(1, layers + 1))
        self.neck = nn.ModuleList([
            nn.Conv2d(width, 256, 1, bias=False), nn.LayerNorm(256),
            nn.Conv2d(256, 256, 3, padding=1, bias=False), nn.LayerNorm(256)])

    class Attention(nn.Module):
        def __init__(self, width, heads, side):
            super().__init__()
            self.heads, self.side = heads, side
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.rows, self.columns = (nn.Parameter(torch.zeros(
                2 * side - 1, width // heads)) for _ in "12")

        def apart(self, table):
            numbers = torch.arange(self.side)
            return table[numbers[:, None] - numbers + self.side - 1]

        def forward(self, x):
            n, s, _, width = x.shape
            g, dim = n * self.heads, width // self.heads
            q, k, v = self.qkv(x).reshape(n, s * s, 3, self.heads, dim).permute(
                2, 0, 3, 1, 4).reshape(3, g, s * s, dim).unbind(0)
            scores = q * dim ** -0.5 @ k.transpose(1, 2)
            q = q.reshape(g, s, s, dim)
            rows = torch.einsum("bhwc,hkc->bhwk", q, self.apart(self.rows))
            columns = torch.einsum("bhwc,wkc->bhwk", q,
                                   self.apart(self.columns))
            scores = (scores.view(g, s, s, s, s) + rows[..., None]
                      + columns[:, :, :, None]).view(g, s * s, s * s)
            x = scores.softmax(-1) @ v
            x = x.view(n, self.heads, s, s, dim).permute(0, 2, 3, 1, 4)
            return self.out(x.reshape(n, s, s, width))

    @staticmethod
    def windows(x, attend):
        n, side, _, width = x.shape
        more = -side % 14
        k = (side + more) // 14
        x = F.pad(x, (0, 0, 0, more, 0, more))
        x = x.view(n, k, 14, k, 14, width).permute(0, 1, 3, 2, 4, 5)
        x = attend(x.contiguous().view(-1, 14, 14, width))
        x = x.view(n, k, k, 14, 14, width).permute(0, 1, 3, 2, 4, 5)
        x = x.contiguous().view(n, k * 14, k * 14, width)
        return x[:, :side, :side].contiguous()

    def forward(self, x):
        x = self.patches(x).permute(0, 2, 3, 1) + self.places
        for ln1, attend, ln2, feed in self.blocks:
            y = ln1(x)
            x = x + (self.windows(y, attend) if attend.side == 14
                     else attend(y))
            x = x + feed(ln2(x))
        x = x.permute(0, 3, 1, 2)
        one, ln1, two, ln2 = self.neck
        x = ln1(one(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return ln2(two(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


# Rows: net, settings, model, inputs of a batch, options

def image(channels, height, width=None):
    return lambda n: torch.zeros(n, channels, height, width or height)


def words(*shape):
    return lambda n: torch.zeros(n, *shape, dtype=torch.int64)


def values(*shape):
    return lambda n: torch.zeros(n, *shape)


MODELS = [
    ("dit", "layers=12 width=384 heads=6", lambda: Dit(12, 384, 6),
     [image(4, 32), values(256), words(1)]),
    ("dinov2", "", lambda: Dinov2(12, 384, 6), [image(3, 518)]),
    ("convnext_v2", "", lambda: ConvNextV2(96, (3, 3, 9, 3)),
     [image(3, 224)]),
    ("convnext_v2", "channels=40 n=2 deep=6",
     lambda: ConvNextV2(40, (2, 2, 6, 2)), [image(3, 224)]),
    ("whisper", "", lambda: Whisper(4, 384, 6),
     [values(80, 3000), words(448)]),
    ("yolov8", "", lambda: YoloV8(16, 256, 1), [image(3, 640)]),
    ("yolov8", "size=m", lambda: YoloV8(48, 576, 2), [image(3, 640)]),
    ("yolo11", "", lambda: Yolo11(16, 256, 1, False), [image(3, 640)]),
    ("yolo11", "size=m", lambda: Yolo11(64, 512, 1, True), [image(3, 640)]),
    ("segformer", "", lambda: Segformer(32, 256, (2, 2, 2, 2)),
     [image(3, 512)]),
    ("conformer", "layers=4 width=176 heads=4 frames=400 bias=true",
     lambda: Conformer(4, 176, 4, 400), [image(1, 400, 80)]),
    ("nnunet", "side=64 bias=true", NnUnet,
     [lambda n: torch.zeros(n, 1, 64, 64, 64)]),
    ("encodec", "", Encodec, [values(1, 24000)]),
    ("tcn", "", Tcn, [values(1, 784)]),
    ("hifigan", "", HifiGan, [values(80, 32)]),
    ("siren", "", Siren, [values(65536, 2)]),
    ("srresnet", "", SrResnet, [image(3, 24)]),
    ("nfnet", "", NfNet, [image(3, 192)]),
    ("hrnet", "", lambda: HrNet(32), [image(3, 256, 192)]),
    ("hrnet", "width=48", lambda: HrNet(48), [image(3, 256, 192)]),
    ("sd_unet", "size=16", SdUnet,
     [image(4, 16), values(320), values(77, 768)]),
    ("sdxl", "size=16", Sdxl,
     [image(4, 16), values(320), values(2816), values(77, 2048)]),
    ("sdxl", "size=32 width=64", lambda: Sdxl(64),
     [image(4, 32), values(320), values(2816), values(77, 2048)]),
    ("sd3", "layers=2", lambda: Sd3(2),
     [image(16, 128), values(154, 4096), values(256), values(2048)]),
    ("flux", "heads=1 blocks=1", lambda: Flux(1, 1),
     [values(4096, 64), values(512, 4096), values(256), values(256),
      values(768)]),
    ("rt_detr", "", lambda: RtDetr(640), [image(3, 640)]),
    ("rt_detr", "size=320", lambda: RtDetr(320), [image(3, 320)]),
    ("deformable_detr", "size=256", lambda: DeformableDetr(256),
     [image(3, 256)]),
    ("detr", "size=320", lambda: Detr(100), [image(3, 320)]),
    ("detr", "size=128", lambda: Detr(16), [image(3, 128)]),
    ("t5", "", lambda: T5(6, 512, 8, 2048),
     [words(512), words(114)]),
    ("wav2vec2", "", Wav2vec2, [values(1, 16080)]),
    ("pointnet", "bias=true", PointNet, [values(3, 1024)]),
    ("clip", "text_config_num_hidden_layers=2 "
     "vision_config_num_hidden_layers=2", lambda: Clip(2),
     [image(3, 224), words(77)]),
    ("efficientvit", "", lambda: EfficientVit(16, (2, 3, 3, 4), 16,
                                              (1536, 1600)), [image(3, 224)]),
    ("efficientvit", "b=0", lambda: EfficientVit(8, (2, 2, 2, 2), 16,
                                                 (1024, 1280)),
     [image(3, 224)]),
    ("sam_encoder", "size=384 layers=8 width=96 heads=3",
     lambda: SamEncoder(384, 8, 96, 3), [image(3, 384)]),
    *DETECTORS,
]

# Whose peaks are measured.
PEAKS = [(net, settings) for net, settings, _, _ in MODELS if
         net in ("clip", "pointnet", "sam_encoder") or (net, settings) in (
             ("efficientvit", "b=0"), ("detr", "size=128"),
             ("sdxl", "size=32 width=64"))]


def main():
    torch.set_num_threads(2)
    for net, settings, build, inputs in MODELS:
        if sys.argv[1:] and net not in sys.argv[1:]:
            continue
        model = build()
        facts = {"params": sum(p.numel() for p in model.parameters()),
                 "macs": 2 * macs_of(model, [given(2) for given in inputs])
                 - macs_of(model, [given(3) for given in inputs])}
        for name, batch in ("saved", 1), ("saved3", 3):
            if batch == 1 and net in ("pointnet", "ssdlite", "pspnet",
                                      "upernet"):
                continue  # batch norms of vectors need two samples
            if net in ("detr", "deformable_detr") and batch == 3:
                continue  # queries for each sample there, once in the net
            if net == "rt_detr" and not settings:
                continue  # gigabytes
            facts[name] = saved_of(model, [given(batch) for given in inputs])
        if (net, settings) in PEAKS:
            batch = 2 if net == "pointnet" else 1
            given = [make(batch) for make in inputs]
            behind = "" if batch == 1 else str(batch)
            facts["peak" + behind] = measure(model.train(), given)[2]
            facts["predict" + behind] = prediction(model, given)
        print(f"{net},{settings},"
              + " ".join(f"{k}={v}" for k, v in facts.items())
              + f",{model.__doc__.splitlines()[0]} in PyTorch {VERSION}",
              flush=True)


if __name__ == "__main__":
    main()
