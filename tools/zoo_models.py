#!/usr/bin/python3
"""What PyTorch makes of newer nets of examples/zoo/, for tests/data/zoo.csv.

    zoo_models.py [NAME...]     prints a row for each, as PyTorch 1.13 runs it

Each model is written as compactly as its net, after the program that the row
names. Counted are parameters, multiply-adds of all convolutions and matrix
products, those that functions run as well, and the bytes that autograd keeps
at batch 1 and 3, each storage once, without parameters, buffers and inputs.
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode


class Macs(TorchDispatchMode):
    """Sums multiply-adds of what runs inside."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        name = function._schema.name
        if name in ("aten::mm", "aten::bmm"):
            self.count += out.numel() * args[0].shape[-1]
        elif name in ("aten::addmm", "aten::baddbmm"):
            self.count += out.numel() * args[1].shape[-1]
        elif name == "aten::convolution":
            read = args[0] if args[6] else out  # transposed: of each input
            self.count += read.numel() * args[1][0].numel()
        return out


def macs_of(model, inputs):
    with torch.no_grad(), Macs() as macs:
        model.eval()(*inputs)
    return macs.count


def saved_by(model, inputs):
    def start(tensor):
        return tensor.storage().data_ptr()
    kept = {}
    known = {start(t) for t in [*model.parameters(), *model.buffers(),
                                *inputs]}

    def pack(tensor):
        if start(tensor) not in known:
            kept[start(tensor)] = tensor  # alive: its place is not used again
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = model.train()(*inputs)
    del out
    return sum(tensor.storage().nbytes() for tensor in kept.values())


# Parts that several models share.

def mlp(width, hidden, act=nn.GELU):
    return nn.Sequential(nn.Linear(width, hidden), act(),
                         nn.Linear(hidden, width))


class Attention(nn.Module):
    """As `attention`: its projections apart, or packed in one matrix."""

    def __init__(self, width, heads, packed=False, bias="qkvo", causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width) if packed else None
        for name in "o" if packed else "qkvo":
            setattr(self, name, nn.Linear(width, width, name in bias))

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


# Rows: net, settings, model, inputs of a batch, options

def image(channels, height, width=None):
    return lambda n: torch.zeros(n, channels, height, width or height)


def words(count, kinds=1000):
    return lambda n: torch.zeros(n, count, dtype=torch.int64)


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
    ("pointnet", "bias=true", PointNet, [values(3, 1024)]),
]


def main():
    torch.set_num_threads(2)
    for net, settings, build, inputs in MODELS:
        if sys.argv[1:] and net not in sys.argv[1:]:
            continue
        model = build()
        facts = {"params": sum(p.numel() for p in model.parameters()),
                 "macs": macs_of(model, [given(2) for given in inputs]) // 2}
        for name, batch in ("saved", 1), ("saved3", 3):
            if net == "pointnet" and batch == 1:
                continue  # its batch norms of vectors need two samples
            facts[name] = saved_by(model, [given(batch) for given in inputs])
        print(f"{net},{settings},"
              + " ".join(f"{k}={v}" for k, v in facts.items())
              + f",{model.__doc__.splitlines()[0]} in PyTorch 1.13",
              flush=True)


if __name__ == "__main__":
    main()
