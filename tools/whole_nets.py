#!/usr/bin/python3
"""Whole nets against PyTorch: the same weights, the same inputs.

    whole_nets.py NETC [NAME...]         compares and prints what it measured
    whole_nets.py NETC --keep [NAME...]  also writes what tests/test_run.c needs

For each net `netc weights --random` makes weights, whose vectors are then
shifted so that no norm is idle; PyTorch gets them through safetensors, in the
order in which its modules run, and inputs as `netc run --random` makes them.
The largest difference of an output must be below 1e-4 of its root mean square.

Modules are torchvision's where they exist. Their norms add another eps to the
variance in some nets; it is set to the one that the net of the zoo has.
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lora import Lora, LoraAttention, Padded

sys.path.append(os.path.join(os.path.dirname(__file__), "verify"))
from onednn import switch_off_if_wrong

SEED = 7
LIMIT = 1e-4
KEPT = "tests/data/run"
netc = sys.argv[1]


def run(*words):
    subprocess.run([netc, *words], check=True)


# Files

def load(path):
    """The tensors of a safetensors file, in the order of their data."""
    with open(path, "rb") as file:
        header = json.loads(file.read(*struct.unpack("<Q", file.read(8))))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, about in sorted(header.items(),
                              key=lambda item: item[1]["data_offsets"]):
        first, end = about["data_offsets"]
        values = np.frombuffer(data[first:end], "<f4").copy()
        tensors[name] = torch.from_numpy(values.reshape(about["shape"]))
    return tensors


def save(path, tensors):
    header, data = {}, []
    at = 0
    for name, tensor in tensors.items():
        values = tensor.numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(values)]}
        data.append(values)
        at += len(values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def shift(tensors):
    """tests/test_run.c does the same, to the bit."""
    for tensor in tensors.values():
        if tensor.dim() == 1:
            steps = (torch.arange(len(tensor)) * 37 % 64 - 32) / 128.0
            tensor += steps.float()


def random_input(which, shape, entries=None):
    """driver/run/data.c does the same."""
    state, values = SEED * 2 + 1 + which, []
    for _ in range(math.prod(shape)):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(state >> 40)
    bits = np.array(values).reshape(shape)
    if entries:
        return torch.from_numpy(bits % entries)
    return torch.from_numpy(((bits - 2**23) / 2**23).astype(np.float32))


# Modules get weights in the order in which they run.

def own_tensors(module):
    """Those of a leaf, as netc has them; attention is a leaf."""
    state = module.state_dict(keep_vars=True)
    return [t for name, t in state.items()
            if not name.endswith("num_batches_tracked")]


def is_leaf(module):
    return isinstance(module, nn.MultiheadAttention) or \
        not list(module.children())


def in_order(model, inputs, extra):
    """Tensors in the order of execution; `extra` has those that modules keep
    apart from leaves, behind the module that they are used behind."""
    found, seen, inside = [], set(), set()
    for module in model.modules():
        if isinstance(module, nn.MultiheadAttention):
            inside.update(map(id, list(module.modules())[1:]))

    def note(module, *_):
        if id(module) not in seen:
            seen.add(id(module))
            found.extend(own_tensors(module) if is_leaf(module) else [])
            found.extend(extra.get(id(module), []))

    hooks = [m.register_forward_hook(note) for m in model.modules()
             if id(m) not in inside and (is_leaf(m) or id(m) in extra)]
    model(*inputs)
    for hook in hooks:
        hook.remove()
    return found


def give(model, inputs, weights, extra):
    wanted = in_order(model, inputs, extra)
    assert len(wanted) == len(weights), (len(wanted), len(weights))
    for tensor, (name, values) in zip(wanted, weights.items()):
        bare = [n for n in tensor.shape if n != 1]
        assert bare == [n for n in values.shape if n != 1], \
            (name, tensor.shape, values.shape)
        tensor.data.copy_(values.reshape(tensor.shape))


def set_eps(model, eps):
    for module in model.modules():
        if hasattr(module, "eps"):
            module.eps = eps


def calibrate(model, inputs, weights, extra):
    """Norms get the statistics of what they see, as in a trained net. Without
    them values grow from block to block, and a net whose gates are sigmoids
    of such values turns the last bit of a sum into another result: PyTorch's
    own differ with the number of threads."""
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    model(torch.randn(4, *inputs[0].shape[1:]))
    for norm in norms:
        norm.eval()
    for tensor, values in zip(in_order(model, inputs, extra),
                              weights.values()):
        values.copy_(tensor.data.reshape(values.shape))


def vision(name, **options):
    def build():
        import torchvision.models as models
        if name in ("googlenet", "inception_v3"):
            options.update(aux_logits=False, init_weights=False)
        return models.get_model(name, weights=None, **options)
    return build


def vit_extra(model):
    return {id(model.conv_proj): [model.class_token,
                                  model.encoder.pos_embedding]}


def convnext_extra(model):
    return {id(m.block): [m.layer_scale] for m in model.modules()
            if hasattr(m, "layer_scale")}


def build_vit(layers, width, heads):
    from torchvision.models.vision_transformer import VisionTransformer
    return VisionTransformer(224, 16, layers, heads, width, 4 * width)


# Nets that torchvision has not.

def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5),
        nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(400, 120),
        nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10))


def cnn50():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(9216, 500), nn.ReLU(), nn.Linear(500, 10),
        nn.Softmax(1))


def simple_cnn():
    net = cnn50()
    return nn.Sequential(*[m for i, m in enumerate(net)
                           if i not in (1, 4, 8)])


def conv_bn(c, out, k, s=1, pad=0, groups=1):
    return [nn.Conv2d(c, out, k, s, pad, groups=groups, bias=False),
            nn.BatchNorm2d(out)]


def mobilenet_v1():
    layers, c = conv_bn(3, 32, 3, 2, 1) + [nn.ReLU()], 32
    for out, s in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                   *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        layers += conv_bn(c, c, 3, s, 1, c) + [nn.ReLU()]
        layers += conv_bn(c, out, 1) + [nn.ReLU()]
        c = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(1024, 1000))


def m5():
    layers = [nn.Conv1d(1, 32, 80, 16), nn.BatchNorm1d(32), nn.ReLU(),
              nn.MaxPool1d(4)]
    for c, out in (32, 32), (32, 64), (64, 64):
        layers += [nn.Conv1d(c, out, 3), nn.BatchNorm1d(out), nn.ReLU(),
                   nn.MaxPool1d(4)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                         nn.Linear(64, 35), nn.LogSoftmax(1))


def dcgan_g():
    layers, c = [], 100
    for out, s, pad in (512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1):
        layers += [nn.ConvTranspose2d(c, out, 4, s, pad, bias=False),
                   nn.BatchNorm2d(out), nn.ReLU()]
        c = out
    return nn.Sequential(*layers, nn.ConvTranspose2d(64, 3, 4, 2, 1,
                                                     bias=False), nn.Tanh())


def dcgan_d():
    layers = [nn.Conv2d(3, 64, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for c in 64, 128, 256:
        layers += conv_bn(c, 2 * c, 4, 2, 1) + [nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(512, 1, 4, bias=False),
                         nn.Sigmoid())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()

        def two(c, out):
            return nn.Sequential(nn.Conv2d(c, out, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(out, out, 3, padding=1), nn.ReLU())
        self.downs = nn.ModuleList(
            two(c, out) for c, out in
            ((1, 64), (64, 128), (128, 256), (256, 512)))
        self.middle = two(512, 1024)
        self.ups = nn.ModuleList(
            nn.ConvTranspose2d(2 * c, c, 2, 2) for c in (512, 256, 128, 64))
        self.twos = nn.ModuleList(two(2 * c, c) for c in (512, 256, 128, 64))
        self.last = nn.Conv2d(64, 2, 1)

    def forward(self, x):
        skips = []
        for down in self.downs:
            skips.append(down(x))
            x = F.max_pool2d(skips[-1], 2)
        x = self.middle(x)
        for up, two in zip(self.ups, self.twos):
            x = two(torch.cat([up(x), skips.pop()], 1))
        return self.last(x)


class WaveNet(nn.Module):
    """As the paper has it, without the residual that nothing reads."""

    def __init__(self, layers=30, width=64, skips=256):
        super().__init__()
        self.first = nn.Conv1d(256, width, 2)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [nn.Conv1d(width, width, 2, dilation=2 ** (i % 10)),
                 nn.Conv1d(width, width, 2, dilation=2 ** (i % 10)),
                 nn.Conv1d(width, skips, 1)] +
                [nn.Conv1d(width, width, 1)] * (i < layers - 1))
            for i in range(layers))
        self.last = nn.ModuleList([nn.Conv1d(skips, skips, 1),
                                   nn.Conv1d(skips, 256, 1)])

    def forward(self, x):
        x = self.first(F.pad(x, (1, 0)))
        total = 0
        for filtered, gate, skip, *residual in self.layers:
            padded = F.pad(x, (filtered.dilation[0], 0))
            y = torch.tanh(filtered(padded)) * torch.sigmoid(gate(padded))
            total = total + skip(y)
            if residual:
                x = residual[0](y) + x
        return self.last[1](F.relu(self.last[0](F.relu(total))))


class YoloV3(nn.Module):
    def __init__(self):
        super().__init__()

        def cbl(c, out, k, s=1):
            return nn.Sequential(*conv_bn(c, out, k, s, k // 2),
                                 nn.LeakyReLU(0.1))

        def stage(c, n):
            return nn.ModuleList(
                [cbl(c // 2, c, 3, 2)] +
                [nn.Sequential(cbl(c, c // 2, 1), cbl(c // 2, c, 3))
                 for _ in range(n)])

        def neck(given, c):
            return nn.Sequential(cbl(given, c, 1), cbl(c, 2 * c, 3),
                                 cbl(2 * c, c, 1), cbl(c, 2 * c, 3),
                                 cbl(2 * c, c, 1))

        def head(c):
            return nn.Sequential(cbl(c, 2 * c, 3), nn.Conv2d(2 * c, 255, 1))
        self.first = cbl(3, 32, 3)
        self.stages = nn.ModuleList(
            stage(c, n) for c, n in
            ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)))
        self.necks = nn.ModuleList([neck(1024, 512), neck(768, 256),
                                    neck(384, 128)])
        self.heads = nn.ModuleList([head(512), head(256), head(128)])
        self.links = nn.ModuleList([cbl(512, 256, 1), cbl(256, 128, 1)])

    def forward(self, x):
        x, maps, outputs = self.first(x), [], []
        for stage in self.stages:
            x = stage[0](x)
            for block in stage[1:]:
                x = x + block(x)
            maps.append(x)
        for i in range(3):
            x = self.necks[i](x)
            outputs.append(self.heads[i](x))
            if i < 2:
                x = F.interpolate(self.links[i](x), scale_factor=2)
                x = torch.cat([x, maps[3 - i]], 1)
        return outputs


class LanguageModel(nn.Module):
    def __init__(self, kind, width):
        super().__init__()
        self.table = nn.Embedding(10000, width)
        self.states = kind(width, width, 2, batch_first=True)
        self.out = nn.Linear(width, 10000)

    def forward(self, tokens):
        return self.out(self.states(self.table(tokens))[0])


class Seq2seq(nn.Module):
    """Its layers in netc's order, not in the order of their definition."""

    def __init__(self, width):
        super().__init__()
        self.table, self.other = (nn.Embedding(50000, width) for _ in "12")
        self.encoder, self.decoder = (
            nn.LSTM(width, width, 4, batch_first=True) for _ in "12")
        self.general = nn.Linear(width, width, bias=False)
        self.mix = nn.Linear(2 * width, width, bias=False)
        self.out = nn.Linear(width, 50000)

    def forward(self, source, target):
        memory = self.encoder(self.table(source))[0]
        states = self.decoder(self.other(target))[0]
        scores = self.general(states) @ memory.transpose(1, 2)
        context = scores.softmax(-1) @ memory
        return self.out(self.mix(torch.cat([context, states], 2)).tanh())


class Attention(nn.Module):
    """Its projections apart, as netc's attention without `packed`."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width)
                                          for _ in "qkvo")

    def forward(self, x, memory, causal=False):
        def parts(y):
            return y.unflatten(2, (self.heads, -1)).transpose(1, 2)
        q, k, v = (parts(y) for y in (self.q(x), self.k(memory),
                                      self.v(memory)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if causal:
            scores += torch.full(scores.shape[-2:], -math.inf).triu(1)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def mlp(width, activation):
    return nn.Sequential(nn.Linear(width, 4 * width), activation,
                         nn.Linear(4 * width, width))


class Transformer(nn.Module):
    def __init__(self, layers, width, heads, vocabulary):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        # netc keeps the sines as weights: one table for each side.
        self.places = nn.ModuleList(nn.Embedding(128, width) for _ in "12")

        def block(attentions):
            return nn.ModuleList(
                m for i in range(attentions + 1) for m in
                (Attention(width, heads) if i < attentions
                 else mlp(width, nn.ReLU()), nn.LayerNorm(width)))
        self.encoder = nn.ModuleList(block(1) for _ in range(layers))
        self.decoder = nn.ModuleList(block(2) for _ in range(layers))

    def forward(self, source, target):
        rows = torch.arange(128)
        x = self.table(source) + self.places[0](rows)
        for attend, ln1, feed, ln2 in self.encoder:
            x = ln1(x + attend(x, x))
            x = ln2(x + feed(x))
        y = self.table(target) + self.places[1](rows)
        for own, ln1, cross, ln2, feed, ln3 in self.decoder:
            y = ln1(y + own(y, y, causal=True))
            y = ln2(y + cross(y, x))
            y = ln3(y + feed(y))
        return y @ self.table.weight.T


class Bert(nn.Module):
    def __init__(self, layers, width, heads, vocabulary=30522):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.parts = nn.Embedding(2, width)
        self.places = nn.Embedding(512, width)
        self.first = nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.ModuleList(
            [Attention(width, heads), nn.LayerNorm(width),
             mlp(width, nn.GELU()), nn.LayerNorm(width)])
            for _ in range(layers))
        self.pool = nn.Linear(width, width)

    def forward(self, tokens, segments):
        rows = torch.arange(tokens.shape[1])
        x = self.words(tokens) + self.parts(segments)
        x = self.first(x + self.places(rows))
        for attend, ln1, feed, ln2 in self.layers:
            x = ln1(x + attend(x, x))
            x = ln2(x + feed(x))
        return x, self.pool(x[:, 0]).tanh()


class Gpt2(nn.Module):
    def __init__(self, layers, width, heads, context):
        super().__init__()
        self.words = nn.Embedding(50257, width)
        self.places = nn.Embedding(1024, width)
        self.layers = nn.ModuleList(nn.ModuleList(
            [nn.LayerNorm(width),
             nn.MultiheadAttention(width, heads, batch_first=True),
             nn.LayerNorm(width), mlp(width, nn.GELU())])
            for _ in range(layers))
        self.last = nn.LayerNorm(width)
        self.mask = torch.full((context, context), -math.inf).triu(1)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for ln1, attend, ln2, feed in self.layers:
            y = ln1(x)
            x = x + attend(y, y, y, attn_mask=self.mask,
                           need_weights=False)[0]
            x = x + feed(ln2(x))
        return self.last(x) @ self.words.weight.T


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        import torchvision
        self.net = torchvision.models.swin_t(weights=None)

    def forward(self, x):
        return self.net(x)


def swin_give(model, inputs, weights):
    """What is saved first does not always work first."""
    net, names = model.net, iter(weights.items())

    def take(*tensors):
        for tensor in tensors:
            tensor.data.copy_(next(names)[1].reshape(tensor.shape))

    def fill(module):
        kind = type(module).__name__
        if kind == "ShiftedWindowAttention":
            take(module.qkv.weight, module.qkv.bias, module.proj.weight,
                 module.proj.bias, module.relative_position_bias_table)
        elif kind == "PatchMerging":
            take(module.norm.weight, module.norm.bias, module.reduction.weight)
        elif own_tensors(module) and not list(module.children()):
            take(*own_tensors(module))
        else:
            for child in module.children():
                fill(child)

    fill(net)
    assert next(names, None) is None


class Maps(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(4, 6, 3, padding=1, groups=2), nn.PReLU(6),
            nn.Conv2d(6, 12, (3, 2), 2, groups=6), nn.GroupNorm(4, 12),
            nn.ConvTranspose2d(12, 8, (3, 2), 2, groups=2),
            nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU(0.2),
            *conv_bn(8, 8, 3, 2))
        self.scale = nn.PReLU(8)  # only holds the factors
        self.dense = nn.Sequential(
            nn.Flatten(), nn.BatchNorm1d(160), nn.ReLU(),
            nn.Linear(160, 36, bias=False), nn.BatchNorm1d(36), nn.ReLU(),
            nn.Unflatten(1, (6, 3, 2)),
            nn.ConvTranspose2d(6, 4, 2, 2, bias=False), nn.BatchNorm2d(4),
            nn.ReLU(), nn.AvgPool2d(2, 1), nn.Flatten(), nn.Linear(60, 5))

    def forward(self, x):
        x = self.first(x)
        self.scale(x)
        x = x * self.scale.weight[:, None, None]
        return x, self.dense(x)


class Local(nn.Module):
    """A product for each position of the unfolded map."""

    def __init__(self, positions, values, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(positions, values, channels))
        self.bias = nn.Parameter(torch.zeros(positions, channels))

    def forward(self, x):
        y = torch.bmm(x.permute(2, 0, 1), self.weight) + self.bias[:, None]
        return y.permute(1, 2, 0)


class Vectors(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        return x * self.weight[:, None, None] + self.bias[:, None, None]


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.local = Local(30, 32, 8)
        self.affine, self.scale = Vectors(8), Vectors(8)
        self.linear = nn.Linear(36, 5)

    def forward(self, x):
        y, places = F.max_pool2d(x, 2, return_indices=True)
        y = self.local(F.unfold(F.pad(y, (0, 1, 0, 1)), 2))
        y = F.max_unpool2d(y.unflatten(2, (6, 5)), places, 2)
        a, b = self.scale(self.affine(y)).chunk(2, 1)
        y = F.pad(b * a, (0, 0, 0, 0, 1, 3))
        y = y / F.avg_pool2d(y ** 2, 3, 1, 1).mul(1e-4).add(1).pow(0.75)
        y = F.unfold(F.pad(y, (0, 1, 0, 1)), 3, stride=2).unflatten(2, (6, 5))
        z = F.glu(y.amax(3), 1).transpose(1, 2)
        return y, self.linear(F.normalize(z, dim=-1).mean(1))


class Sequences(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(8, 4, batch_first=True, bidirectional=True)
        self.conv = nn.Conv1d(6, 8, 3, 2)
        self.lstm = nn.LSTM(8, 4, 2, batch_first=True, bidirectional=True)
        self.ln = nn.LayerNorm(8)
        self.cross = nn.MultiheadAttention(8, 2, batch_first=True)
        self.own = nn.MultiheadAttention(8, 4, batch_first=True)
        self.rnn = nn.RNN(8, 5, batch_first=True)
        self.other = nn.Conv1d(8, 5, 3)
        self.out = nn.Linear(35, 3)

    def forward(self, a, b):
        memory = self.memory(b)[0]
        x = self.conv(a.transpose(1, 2)).relu().transpose(1, 2)
        x = self.ln(self.lstm(x)[0])
        x = x + self.cross(x, memory, memory)[0]
        mask = torch.full((9, 9), -math.inf).triu(1)
        x = x + self.own(x, x, x, attn_mask=mask)[0]
        last = self.rnn(x)[0][:, -1]
        y = self.other(b.transpose(1, 2)).relu()
        return x, last, self.out(y.flatten(1))


class Adapters(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Lora(nn.Conv2d(4, 8, 3, 2, 1, groups=2, bias=False), 4,
                          6)
        self.norm = nn.BatchNorm2d(8)
        self.second = Lora(nn.Conv2d(8, 6, 2, dilation=2, bias=False), 2, 1)
        self.attend = LoraAttention(6, 2, 3)
        self.packed = LoraAttention(6, 3, 2, "qkvo", 3, packed=True)
        self.dense = Lora(nn.Linear(6, 5), 2)
        self.last = Lora(nn.Linear(45, 4), 3, 1)

    def forward(self, x):
        x = y = self.second(self.norm(self.first(x)).relu())
        x = x.flatten(2).transpose(1, 2)
        x = x + self.attend(x)
        x = x + self.packed(x)
        x = F.gelu(self.dense(x))
        return y.movedim(1, -1), x, self.last(x.flatten(1))


class Standard(nn.Conv2d):
    """timm's ScaledStdConv2d: timm/layers/std_conv.py"""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.gain = nn.Parameter(torch.ones(self.out_channels, 1, 1, 1))

    def forward(self, x):
        scale = self.weight[0].numel() ** -0.5
        weight = F.batch_norm(
            self.weight.reshape(1, self.out_channels, -1), None, None,
            weight=(self.gain * scale).view(-1), training=True, momentum=0,
            eps=1e-6).reshape_as(self.weight)
        return self._conv_forward(x, weight, self.bias)


class StandardLinear(nn.Linear):
    def forward(self, x):
        weight = F.batch_norm(self.weight[None], None, None, training=True,
                              momentum=0, eps=1e-6)[0]
        return F.linear(x, weight, self.bias)


class PaddedAttention(nn.Module):
    def __init__(self, width, heads, rank):
        super().__init__()
        self.heads = heads
        self.qkv = Padded(width, width, width, rank)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for y in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Computed(nn.Module):
    """Weights that are computed in every step."""

    def __init__(self):
        super().__init__()
        wnorm, spectral = nn.utils.weight_norm, nn.utils.spectral_norm
        self.maps = nn.Sequential(
            wnorm(nn.Conv2d(4, 8, 3, padding=1, bias=False)),
            nn.BatchNorm2d(8), nn.ReLU(),
            spectral(nn.Conv2d(8, 6, (3, 2), groups=2, bias=False)),
            nn.BatchNorm2d(6),
            Standard(6, 12, 3, padding=1, groups=6),
            wnorm(nn.ConvTranspose2d(12, 6, 3, 2, groups=2)),
            spectral(nn.ConvTranspose2d(6, 4, (2, 3), groups=2)), nn.ReLU(),
            Standard(4, 6, (4, 3), 2, bias=False), nn.BatchNorm2d(6),
            wnorm(nn.Conv2d(6, 6, 3, padding=1, groups=6)),
            Lora(nn.Conv2d(6, 4, 3, padding=1, bias=False), 2, 3, dora=True),
            nn.BatchNorm2d(4))
        self.vector = nn.Sequential(
            nn.Flatten(), StandardLinear(4 * 7 * 10, 18), nn.ReLU(),
            wnorm(nn.Linear(18, 12)), spectral(nn.Linear(12, 24)),
            nn.LeakyReLU(), Lora(nn.Linear(24, 24), 3, dora=True))
        self.added = nn.ModuleList([
            LoraAttention(6, 2, 3, "qkvo", dora=True),
            LoraAttention(6, 3, 2, "qv", 3, packed=True, dora=True),
            PaddedAttention(6, 2, 2)])
        self.states = nn.Sequential(
            Lora(nn.Linear(6, 5), 2, 1, dora=True), wnorm(nn.Linear(5, 6)),
            spectral(nn.Linear(6, 7, bias=False)), StandardLinear(7, 4))

    def forward(self, x):
        y = self.maps(x)
        x = self.vector(y).view(-1, 4, 6)
        for block in self.added:
            x = x + block(x)
        return y.movedim(1, -1), self.states(x)


def computed_extra(model):
    padded = model.added[2].qkv
    return {id(padded.linear): [padded.a, padded.b]}


# What is compared: name, settings, module, and what is special.

class Case:
    def __init__(self, net, settings, build, eps=None, extra=None,
                 indices=None, sequence=False, keep=False, give=None,
                 path=None, calibrated=False, lies=False):
        self.net, self.settings, self.build = net, settings, build
        self.eps, self.extra = eps, extra or (lambda model: {})
        self.indices, self.sequence, self.keep = indices, sequence, keep
        self.give, self.calibrated = give, calibrated
        self.lies = lies  # outputs have their channels last already
        self.path = path or f"examples/zoo/{net}.net"
        values = "-".join(s.split("=")[1] for s in settings)
        self.name = net + ("-" + values if values else "")


class Variants(nn.Module):
    """The modules of tools/sequence_truth.py, one behind the other."""

    def __init__(self):
        super().__init__()
        import sequence_truth as of
        attend, none = of.Attention, dict(bias="")
        self.added = nn.ModuleList([
            attend(16, 4, kv=2, causal=True, qknorm="rms", **none),
            attend(16, 4, qknorm="ln"),
            attend(16, 4, softcap=2.0, causal=True),
            attend(16, 4, sinks=True, kv=2, causal=True),
            attend(16, 4, scale=None, **none),
            attend(16, 4, talking=True, scale="queries"),
            attend(16, 4, talking=True, packed=True),
            attend(16, 2, bias="o")])
        self.views = attend(16, 4, packed=True, out=12)
        self.heads = attend(12, 4, kv=1, noout=True)
        self.latent = of.Latent(12, 3, 10, 4, 6, 5, qlatent=7, causal=True)
        self.rows = of.Segments(3, 12, 9, 1)
        self.states = of.Steps(nn.LSTM(12, 5), True)

    def tensors(self):
        """In netc's order: sinks come last."""
        for block in [*self.added, self.views, self.heads, self.latent,
                      self.rows, self.states]:
            own = list(block.parameters(recurse=False))
            yield from (p for p in block.parameters() if p.requires_grad and
                        not any(p is other for other in own))
            yield from own

    def forward(self, x):
        for block in self.added:
            x = x + block(x)
        heads = self.heads(self.views(x))
        latent = self.latent(heads)
        return heads, latent, self.states(self.rows(latent))


def variants_give(model, inputs, weights):
    wanted = list(model.tensors())
    assert len(wanted) == len(weights)
    for tensor, (name, values) in zip(wanted, weights.items()):
        assert tensor.shape == values.shape, (name, tensor.shape)
        tensor.data.copy_(values)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = 1e-5

    def forward(self, x):
        x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps)
        return x * self.weight


class Gate(nn.Module):
    """w2(silu(w1(x)) * w3(x))"""

    def __init__(self, width, inner):
        super().__init__()
        self.w1 = nn.Linear(width, inner, bias=False)
        self.w3 = nn.Linear(width, inner, bias=False)
        self.w2 = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Mixture(nn.Module):
    """The definition: each expert of all tokens, times its weight or 0."""

    def __init__(self, count, top, expert, sigmoid=False, norm=True, scale=1,
                 bias=False, latent=None, room=None):
        super().__init__()
        self.top, self.sigmoid, self.norm = top, sigmoid, norm
        self.scale, self.room = scale, room
        self.router = nn.Linear(8, count, bias=bias)
        self.down = latent and nn.Linear(8, latent, bias=False)
        self.up = latent and nn.Linear(latent, 8, bias=False)
        self.experts = nn.ModuleList(expert() for _ in range(count))

    def tensors(self):
        """In netc's order: a tensor of all experts, then the next one."""
        yield from self.router.parameters()
        if self.down:
            yield from self.down.parameters()
        for same in zip(*(list(e.parameters()) for e in self.experts)):
            yield from same
        if self.up:
            yield from self.up.parameters()

    def forward(self, x):
        scores = self.router(x)
        scores = scores.sigmoid() if self.sigmoid else scores.softmax(-1)
        largest, chosen = scores.topk(self.top)
        if self.norm:
            largest = largest / largest.sum(-1, keepdim=True)
        weights = torch.zeros(scores.shape)
        weights.scatter_(-1, chosen, largest * self.scale)
        if self.room:
            places = (weights > 0).long().cumsum(1)
            weights = weights * (places <= self.room)
        if self.down:
            x = self.down(x)
        total = sum(expert(x) * weights[..., i, None]
                    for i, expert in enumerate(self.experts))
        return self.up(total) if self.up else total


class Mixtures(nn.Module):
    def __init__(self):
        super().__init__()

        def layers(*made):
            return lambda: nn.Sequential(*(make() for make in made))

        def linear(*sizes, **words):
            return lambda: nn.Linear(*sizes, **words)
        self.first = nn.ModuleList([
            Mixture(4, 2, lambda: Gate(8, 12)),
            Mixture(5, 3, layers(lambda: RmsNorm(8), linear(8, 12), nn.GELU,
                                 linear(12, 8)),
                    sigmoid=True, norm=False, scale=2.5, bias=True),
            Mixture(4, 2, layers(linear(4, 6), nn.ReLU, linear(6, 4)),
                    latent=4, scale=0.5),
            Mixture(6, 6, layers(lambda: nn.LayerNorm(8), linear(8, 8),
                                 nn.Tanh), sigmoid=True)])
        self.limited = nn.ModuleList([  # ceil(1.25 7 / 3), ceil(0.5 14 / 4)
            Mixture(3, 1, layers(lambda: nn.LayerNorm(8), linear(8, 9),
                                 nn.ReLU, linear(9, 8)), norm=False, room=3),
            Mixture(4, 2, layers(linear(8, 8), nn.ReLU,
                                 linear(8, 8, bias=False)), room=2)])

    def tensors(self):
        for block in [*self.first, *self.limited]:
            yield from block.tensors()

    def forward(self, x):
        for block in self.first:
            x = x + block(x)
        rows = x
        for block in self.limited:
            x = x + block(x)
        return rows, x


def linear(x, w, name):
    return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))


def before(x, w, name):
    """silu of the depthwise convolution with the steps before"""
    kernel = w[name + ".weight"]
    x = F.pad(x.transpose(1, 2), (kernel.shape[2] - 1, 0))
    x = F.conv1d(x, kernel, w.get(name + ".bias"), groups=len(kernel))
    return F.silu(x).transpose(1, 2)


def mamba(x, w):
    """Gu and Dao, arXiv 2312.00752, algorithm 2"""
    rates, rank = -w["A_log"].exp(), w["dt_proj.weight"].shape[1]
    x, gate = linear(x, w, "in_proj").chunk(2, -1)
    x = before(x, w, "conv1d")
    step, b, c = linear(x, w, "x_proj").split(
        (rank, rates.shape[1], rates.shape[1]), -1)
    step = F.softplus(linear(step, w, "dt_proj"))
    h, y = 0, []
    for t in range(x.shape[1]):
        h = h * torch.exp(step[:, t, :, None] * rates) + \
            torch.einsum("ne,ns->nes", step[:, t] * x[:, t], b[:, t])
        y.append(torch.einsum("nes,ns->ne", h, c[:, t]))
    y = (torch.stack(y, 1) + w["D"] * x) * F.silu(gate)
    return linear(y, w, "out_proj")


def mamba2(x, w, heads, groups):
    """Dao and Gu, arXiv 2405.21060, and its gated norm of groups"""
    inner = w["out_proj.weight"].shape[1]
    mixed = len(w["conv1d.weight"])
    gate, x, step = linear(x, w, "in_proj").split((inner, mixed, heads), -1)
    x, b, c = before(x, w, "conv1d").tensor_split(
        (inner, (inner + mixed) // 2), -1)
    x, which = x.unflatten(-1, (heads, -1)), torch.arange(heads) * groups
    b, c = (y.unflatten(-1, (groups, -1))[:, :, which // heads]
            for y in (b, c))
    step = F.softplus(step + w["dt_bias"])
    h, y = 0, []
    for t in range(x.shape[1]):
        decay = torch.exp(-w["A_log"].exp() * step[:, t])
        h = h * decay[..., None, None] + torch.einsum(
            "nh,nhp,nhs->nhps", step[:, t], x[:, t], b[:, t])
        y.append(torch.einsum("nhps,nhs->nhp", h, c[:, t]))
    y = torch.stack(y, 1) + w["D"][:, None] * x
    y = y.flatten(2) * F.silu(gate)
    if "norm.weight" in w:
        parts = y.unflatten(-1, (groups, -1))
        scale = torch.sqrt(parts.square().mean(-1, keepdim=True) + 1e-5)
        y = (parts / scale).flatten(2) * w["norm.weight"]
    return linear(y, w, "out_proj")


def delta(q, k, v, decay, beta):
    """Yang et al., arXiv 2412.06464, equation 10; heads of unit vectors"""
    which = torch.arange(v.shape[2]) * q.shape[2] // v.shape[2]
    q, k = (y[:, :, which] / torch.sqrt(y[:, :, which].square().sum(
        -1, keepdim=True) + 1e-6) for y in (q, k))
    h, y = 0, []
    for t in range(v.shape[1]):
        h = h * decay[:, t, :, :, None]
        lacks = beta[:, t, :, None] * (v[:, t] - (
            k[:, t, :, :, None] * h).sum(2))
        h = h + torch.einsum("nhd,nhv->nhdv", k[:, t], lacks)
        y.append((q[:, t, :, :, None] * h).sum(2) / q.shape[-1] ** 0.5)
    return torch.stack(y, 1)


def deltanet(x, w, heads, kheads, dim):
    value = w["out_proj.weight"].shape[1]
    if "in_proj_ba.weight" in w:  # the parts of a head of keys together
        few = heads // kheads
        parts = linear(x, w, "in_proj_qkvz").unflatten(-1, (kheads, -1))
        q, k, v, gate = (y.flatten(2) for y in parts.split(
            (dim, dim, value // kheads, value // kheads), -1))
        qkv = torch.cat((q, k, v), -1)
        parts = linear(x, w, "in_proj_ba").unflatten(-1, (kheads, -1))
        b, a = parts[..., :few].flatten(2), parts[..., few:].flatten(2)
    else:
        qkv, gate, b, a = (linear(x, w, "in_proj_" + name)
                           for name in ("qkv", "z", "b", "a"))
    q, k, v = before(qkv, w, "conv1d").split(
        (kheads * dim, kheads * dim, value), -1)
    decay = torch.exp(-w["A_log"].exp() * F.softplus(a + w["dt_bias"]))
    y = delta(q.unflatten(-1, (kheads, dim)), k.unflatten(-1, (kheads, dim)),
              v.unflatten(-1, (heads, -1)), decay[..., None], b.sigmoid())
    y = y / torch.sqrt(y.square().mean(-1, keepdim=True) + 1e-6)
    y = (y * w["norm.weight"]).flatten(2) * F.silu(gate)
    return linear(y, w, "out_proj")


def kimi(x, w, heads, kheads, dim):
    """Kimi Linear, arXiv 2510.26692: a decay of each channel of keys"""
    q, k, v = (before(linear(x, w, n + "_proj"), w, n + "_conv1d")
               for n in "qkv")
    step = F.softplus(linear(linear(x, w, "f_a_proj"), w, "f_b_proj") +
                      w["dt_bias"]).unflatten(-1, (heads, dim))
    y = delta(q.unflatten(-1, (kheads, dim)), k.unflatten(-1, (kheads, dim)),
              v.unflatten(-1, (heads, -1)),
              torch.exp(-w["A_log"].exp()[:, None] * step),
              linear(x, w, "b_proj").sigmoid())
    gate = linear(x, w, "g_proj") if "g_proj.weight" in w else \
        linear(linear(x, w, "g_a_proj"), w, "g_b_proj")
    y = y / torch.sqrt(y.square().mean(-1, keepdim=True) + 1e-5)
    y = (y * w["o_norm.weight"]).flatten(2) * gate.sigmoid()
    return linear(y, w, "o_proj")


class States(nn.Module):
    """Without modules, which no PyTorch has: weights by name."""

    def of(self, name):
        return {key[len(name) + 1:]: values
                for key, values in self.weights.items()
                if key.startswith(name + ".")}

    def forward(self, x):
        of = self.of
        return torch.cat((
            mamba(x, of("ssm1")), mamba(x, of("ssm2")),
            mamba2(x, of("ssm3"), 4, 2), mamba2(x, of("ssm4"), 3, 1)), -1), \
            torch.cat((
                deltanet(x, of("deltanet1"), 4, 2, 6),
                deltanet(x, of("deltanet2"), 2, 2, 3),
                kimi(x, of("deltanet3"), 3, 3, 5),
                kimi(x, of("deltanet4"), 2, 1, 4)), -1)


def states_give(model, inputs, weights):
    model.weights = weights


CASES = [
    Case("experts", [], Mixtures, sequence=True, keep=True,
         give=variants_give, path="tests/data/run/experts.net"),
    Case("states", [], States, sequence=True, keep=True, give=states_give,
         path="tests/data/run/states.net"),
    Case("variants", [], Variants, sequence=True, keep=True, eps=1e-6,
         give=variants_give, path="tests/data/run/variants.net"),
    Case("adapters", [], Adapters, keep=True, lies=True,
         path="tests/data/run/adapters.net"),
    Case("computed", [], Computed, keep=True, lies=True, extra=computed_extra,
         path="tests/data/run/computed.net"),
    Case("maps", [], Maps, keep=True, path="tests/data/run/maps.net"),
    Case("patches", [], Patches, keep=True,
         path="tests/data/run/patches.net"),
    Case("sequences", [], Sequences, sequence=True, keep=True,
         path="tests/data/run/sequences.net"),
    Case("simple_cnn", [], simple_cnn, keep=True,
         path="examples/simple_cnn.net"),
    Case("lenet5", [], lenet5, keep=True),
    Case("cnn50", [], cnn50),
    Case("alexnet", [], vision("alexnet")),
    Case("vgg", ["depth=16"], vision("vgg16")),
    Case("vgg", ["depth=11", "norm=bn"], vision("vgg11_bn")),
    Case("resnet", ["depth=18"], vision("resnet18"), keep=True),
    Case("resnet", ["depth=50"], vision("resnet50")),
    Case("resnet", ["depth=50", "groups=32", "width=4"],
         vision("resnext50_32x4d")),
    Case("squeezenet", ["version=1.1"], vision("squeezenet1_1"), keep=True),
    Case("densenet", ["depth=121"], vision("densenet121")),
    Case("googlenet", [], vision("googlenet"), eps=1e-5),
    Case("inception_v3", [], vision("inception_v3"), eps=1e-5),
    Case("mobilenet_v1", [], mobilenet_v1),
    Case("mobilenet_v2", [], vision("mobilenet_v2"), keep=True),
    Case("mobilenet_v3", [], vision("mobilenet_v3_large"), eps=1e-5),
    Case("mobilenet_v3", ["small=true"], vision("mobilenet_v3_small"),
         eps=1e-5, keep=True),
    Case("mnasnet", [], vision("mnasnet1_0")),
    Case("shufflenet_v2", [], vision("shufflenet_v2_x1_0"), keep=True),
    Case("efficientnet", [], vision("efficientnet_b0"), keep=True),
    Case("efficientnet_v2", [], vision("efficientnet_v2_s"), eps=1e-5,
         calibrated=True),
    Case("regnet", ["y=true", "mf=400"], vision("regnet_y_400mf"), keep=True),
    Case("regnet", ["y=false", "mf=400"], vision("regnet_x_400mf")),
    Case("convnext", [], vision("convnext_tiny"), eps=1e-5,
         extra=convnext_extra),
    Case("swin", [], Swin, give=swin_give),
    Case("vit", [], vision("vit_b_16"), eps=1e-5, extra=vit_extra),
    Case("vit", ["layers=2", "width=48", "heads=3"],
         lambda: build_vit(2, 48, 3), eps=1e-5, extra=vit_extra, keep=True),
    Case("unet", [], UNet),
    Case("fcn", ["aux=false"], vision("fcn_resnet50", weights_backbone=None,
                                      aux_loss=False)),
    Case("deeplabv3", ["aux=false"],
         vision("deeplabv3_resnet50", weights_backbone=None,
                aux_loss=False)),
    Case("yolov3", [], YoloV3),
    Case("dcgan_g", [], dcgan_g, keep=True),
    Case("dcgan_d", [], dcgan_d, keep=True),
    Case("m5", [], m5, keep=True),
    Case("wavenet", [], WaveNet),
    Case("r3d_18", [], vision("r3d_18")),
    Case("lstm_lm", ["width=64"], lambda: LanguageModel(nn.LSTM, 64),
         indices=[10000]),
    Case("gru_lm", ["width=64"], lambda: LanguageModel(nn.GRU, 64),
         indices=[10000]),
    Case("seq2seq", ["width=64"], lambda: Seq2seq(64),
         indices=[50000, 50000]),
    Case("transformer", ["layers=2", "width=128", "heads=4",
                         "vocabulary=1000"],
         lambda: Transformer(2, 128, 4, 1000), indices=[1000, 1000]),
    Case("transformer", ["layers=1", "width=16", "heads=2", "vocabulary=30"],
         lambda: Transformer(1, 16, 2, 30), indices=[30, 30], keep=True),
    Case("bert", ["num_hidden_layers=3"], lambda: Bert(3, 768, 12), eps=1e-12,
         indices=[30522, 2], sequence=True),
    Case("bert", ["num_hidden_layers=2", "hidden_size=48",
                  "num_attention_heads=3", "length=8"],
         lambda: Bert(2, 48, 3), indices=[30522, 2], eps=1e-12,
         keep=True),
    Case("gpt2", ["n_layer=2", "length=128"], lambda: Gpt2(2, 768, 12, 128),
         indices=[50257]),
]


def ends_of(path, settings):
    """Shapes of inputs, channels last, and names of outputs."""
    text = subprocess.run([netc, path, *settings, "--emit=json"], check=True,
                          capture_output=True, text=True).stdout
    net = json.loads(text)
    return [i["shape"] for i in net["inputs"]], \
        [o["name"] for o in net["outputs"]]


def channels_first(array):
    return array.movedim(-1, 1) if array.dim() > 2 else array


def compare(case, folder):
    settings = [word for s in case.settings for word in ("-D", s)]
    weights_path = os.path.join(folder, "w.safetensors")
    run("weights", case.path, *settings, "--random", str(SEED), "-o",
        weights_path)
    weights = load(weights_path)
    shift(weights)
    save(weights_path, weights)
    shapes, names = ends_of(case.path, settings)
    inputs = []
    for i, shape in enumerate(shapes):
        entries = case.indices[i] if case.indices else None
        given = random_input(i, [1, *shape], entries)
        apart = entries or case.sequence
        inputs.append(given if apart else channels_first(given))
    model = case.build().eval()
    if case.eps:
        set_eps(model, case.eps)
    with torch.no_grad():
        if case.give:
            case.give(model, inputs, weights)
        else:
            give(model, inputs, weights, case.extra(model))
        if case.calibrated:
            calibrate(model, inputs, weights, case.extra(model))
            save(weights_path, weights)
        found = model(*inputs)
    if isinstance(found, dict):
        found = found["out"]
    found = list(found) if isinstance(found, (tuple, list)) else [found]
    words, paths = [], []
    for name in names:
        paths.append(os.path.join(folder, name + ".npy"))
        words += ["-o", name + "=" + paths[-1]]
    run("run", case.path, *settings, "--weights", weights_path, "--random",
        str(SEED), *words)
    worst = 0
    for name, path, truth in zip(names, paths, found):
        ours = torch.from_numpy(np.load(path))
        if truth.dim() > 2 and not (case.indices or case.sequence or
                                    case.lies):
            truth = truth.movedim(1, -1)
        truth = truth.reshape(ours.shape)
        rms = truth.double().square().mean().sqrt()
        difference = (ours - truth).abs().max() / rms
        worst = max(worst, float(difference))
        assert rms > 0 and truth.isfinite().all(), (case.name, rms)
        if case.keep and "--keep" in sys.argv:
            np.save(f"{KEPT}/{case.name}.{name}.npy",
                    truth.numpy().astype("<f4"))
    return worst, sum(t.numel() for t in found)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(2)
    switch_off_if_wrong()
    names = [word for word in sys.argv[2:] if word != "--keep"]
    failed = False
    print("net,settings,values,largest_difference_of_rms")
    for case in CASES:
        if names and case.net not in names and case.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst, values = compare(case, folder)
            except Exception as error:  # the others are still of interest
                print(f"{case.net},{' '.join(case.settings)},failed,"
                      f"{type(error).__name__}: {error}", flush=True)
                failed = True
                continue
        failed = failed or not worst < LIMIT
        print(f"{case.net},{' '.join(case.settings)},{values},{worst:.1e}",
              flush=True)
    sys.exit(failed)


main()
