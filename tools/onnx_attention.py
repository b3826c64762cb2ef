#!/usr/bin/env python3
"""Small models with attention as exporters write it, for tests.

    tools/onnx_attention.py FOLDER

Writes NAME.onnx, NAME.x.npy and NAME.y.npy: a model with weights by chance,
an input and what PyTorch or the formulas below make of it. The modules have
the forms that transformers' models have (modeling_llama.py, modeling_gpt_neox
.py, modeling_gptj.py, modeling_t5.py), Meta's llama/model.py, and torch's own;
those called `fused_` are of ONNX Runtime's operators (its
docs/ContribOperators.md). Needs python3-torch and python3-onnx.
"""
import math
import os
import sys
import warnings

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F

STEPS, WIDTH, HEADS, DIM = 6, 32, 4, 8
LEAST = torch.finfo(torch.float32).min


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def repeat_kv(x, times):
    b, kv, steps, dim = x.shape
    return x[:, :, None].expand(b, kv, times, steps, dim).reshape(
        b, kv * times, steps, dim)


def angles(dim):
    speed = 1 / 10000 ** (torch.arange(0, dim, 2).float() / dim)
    return torch.arange(STEPS).float()[:, None] * speed[None]


class RMSNorm(nn.Module):
    def __init__(self, width, more=0.):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + .5 - more)
        self.more = more

    def forward(self, x):
        root = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        if self.more:
            return x * root * (self.more + self.weight)
        return self.weight * (x * root)


class Llama(nn.Module):
    """transformers: rope by halves, keys and values for several heads."""

    def __init__(self, kv=2, rotary=DIM, more=0., norms=False, cap=0, window=0,
                 bias=False, base=10000, slower=None):
        super().__init__()
        self.kv, self.rotary, self.cap, self.window = kv, rotary, cap, window
        self.before = RMSNorm(WIDTH, more)
        self.q = nn.Linear(WIDTH, HEADS * DIM, bias=bias)
        self.k = nn.Linear(WIDTH, kv * DIM, bias=bias)
        self.v = nn.Linear(WIDTH, kv * DIM, bias=bias)
        self.o = nn.Linear(HEADS * DIM, WIDTH, bias=bias)
        if norms:
            self.q_norm, self.k_norm = RMSNorm(DIM, more), RMSNorm(DIM, more)
        self.norms = norms
        self.register_buffer("inv_freq", 1 / base ** (
            torch.arange(0, rotary, 2).float() / rotary))
        if slower:
            self.inv_freq = slower(self.inv_freq)

    def forward(self, x):
        y = self.before(x)
        b, steps, _ = y.shape
        q = self.q(y).view(b, steps, -1, DIM)
        k = self.k(y).view(b, steps, -1, DIM)
        v = self.v(y).view(b, steps, -1, DIM).transpose(1, 2)
        if self.norms:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        place = torch.arange(steps)[None, None, :].float()
        turns = (self.inv_freq[None, :, None].expand(b, -1, 1) @ place
                 ).transpose(1, 2)
        turns = torch.cat((turns, turns), -1)[:, None]

        def turn(t):
            part, rest = t[..., :self.rotary], t[..., self.rotary:]
            part = part * turns.cos() + rotate_half(part) * turns.sin()
            return torch.cat((part, rest), -1) if rest.shape[-1] else part
        q, k = turn(q), turn(k)
        k = repeat_kv(k, HEADS // self.kv)
        v = repeat_kv(v, HEADS // self.kv)
        scores = q @ k.transpose(2, 3) * DIM ** -.5
        if self.cap:
            scores = torch.tanh(scores / self.cap) * self.cap
        mask = torch.triu(torch.full((steps, steps), LEAST), 1)
        if self.window:
            mask = mask + torch.tril(torch.full((steps, steps), LEAST),
                                     -self.window)
        weights = F.softmax(scores + mask[None, None], -1,
                            dtype=torch.float32)
        y = (weights @ v).transpose(1, 2).contiguous().reshape(b, steps, -1)
        return x + self.o(y)


def llama3(speed, factor=8., low=1., high=4., trained=8192):
    """_compute_llama3_parameters of transformers' modeling_rope_utils.py"""
    length = 2 * math.pi / speed
    slow = torch.where(length > trained / low, speed / factor, speed)
    smooth = (trained / length - low) / (high - low)
    medium = (1 - smooth) * slow / factor + smooth * slow
    between = ~(length < trained / high) * ~(length > trained / low)
    return torch.where(between, medium, slow)


class NeoX(nn.Module):
    """Queries, keys and values of each head beside each other."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.o = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = self.qkv(x).view(b, steps, HEADS, 3 * DIM).transpose(
            1, 2).chunk(3, -1)
        turns = torch.cat((angles(4), angles(4)), -1)[None, None]

        def turn(t):
            part = t[..., :4] * turns.cos() + rotate_half(
                t[..., :4]) * turns.sin()
            return torch.cat((part, t[..., 4:]), -1)
        scores = turn(q) @ turn(k).transpose(-1, -2) * DIM ** -.5
        seen = torch.ones(steps, steps, dtype=torch.bool).tril()
        scores = torch.where(seen, scores, torch.tensor(LEAST))
        y = F.softmax(scores, -1) @ v
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


class GPTJ(nn.Module):
    """Rope of neighbours, before the heads go to the front."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = [
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)]

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = [f(x).view(b, steps, HEADS, DIM)
                   for f in (self.q, self.k, self.v)]
        turns = angles(4)[None, :, None, :, None].expand(
            1, steps, 1, 2, 2).reshape(1, steps, 1, 4)

        def turn(t):
            part = t[..., :4] * turns.cos() + rotate_every_two(
                t[..., :4]) * turns.sin()
            return torch.cat((part, t[..., 4:]), -1).permute(0, 2, 1, 3)
        scores = turn(q) @ turn(k).transpose(-1, -2)
        scores = scores + torch.triu(torch.full((steps, steps), LEAST), 1)
        y = F.softmax(scores / math.sqrt(DIM), -1) @ v.permute(0, 2, 1, 3)
        return self.o(y.permute(0, 2, 1, 3).reshape(b, steps, -1))


class Meta(nn.Module):
    """Pairs as numbers with two parts, one matrix for all, scaled twice."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = [t.view(b, steps, HEADS, DIM)
                   for t in self.qkv(x).split(WIDTH, 2)]
        c, s = angles(DIM).cos()[None, :, None], angles(DIM).sin()[None, :,
                                                                   None]

        def turn(t):
            real, other = t.reshape(*t.shape[:-1], -1, 2).unbind(-1)
            return torch.stack((real * c - other * s, real * s + other * c),
                               -1).flatten(3).transpose(1, 2)
        root = torch.sqrt(1 / torch.sqrt(torch.tensor(float(DIM))))
        scores = (turn(q) * root) @ (turn(k).transpose(2, 3) * root)
        scores = scores + torch.triu(torch.full((steps, steps),
                                                float("-inf")), 1)
        y = F.softmax(scores, -1) @ v.transpose(1, 2)
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


class T5(nn.Module):
    """A bias for each distance, positions behind alone; nothing is scaled."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = [
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)]
        self.near = nn.Embedding(8, HEADS)

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = [f(x).view(b, steps, HEADS, DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v)]
        far = torch.arange(steps)[:, None] - torch.arange(steps)[None]
        far = torch.max(far, torch.zeros_like(far))
        large = 4 + (torch.log(far.float() / 4) / math.log(128 / 4) * 4).long()
        rows = torch.where(far < 4, far,
                           torch.min(large, torch.full_like(large, 7)))
        bias = self.near(rows).permute(2, 0, 1)[None]
        bias = bias + torch.triu(torch.full((steps, steps), LEAST), 1)
        y = F.softmax(q @ k.transpose(3, 2) + bias, -1) @ v
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


class Torch(nn.Module):
    """torch.nn.MultiheadAttention to other keys, and to its own."""

    def __init__(self):
        super().__init__()
        self.other = nn.Linear(WIDTH, WIDTH)
        self.cross = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.own = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, x):
        y = self.other(x)
        x = x + self.cross(x, y, y)[0]
        return x + self.own(x, x, x)[0]


class Added(nn.Module):
    """What another tensor adds to the scores: how alike positions are."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = (f(x).view(b, steps, HEADS, DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        mask = (x @ x.transpose(1, 2))[:, None]
        y = F.softmax(q @ k.transpose(-1, -2) / DIM ** .5 + mask, -1) @ v
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


class Window(nn.Module):
    """Swin's bias by relative position in a window of 3x3."""

    def __init__(self):
        super().__init__()
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.table = nn.Parameter(torch.randn(25, HEADS))
        at = torch.stack(torch.meshgrid(torch.arange(3), torch.arange(3),
                                        indexing="ij")).flatten(1)
        far = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0) + 2
        self.register_buffer("index", (far[..., 0] * 5 + far[..., 1]).view(-1))

    def forward(self, x):
        b, steps, _ = x.shape
        q, k, v = self.qkv(x).reshape(b, steps, 3, HEADS, DIM).permute(
            2, 0, 3, 1, 4).unbind(0)
        bias = self.table[self.index].view(9, 9, -1).permute(2, 0, 1)[None]
        y = F.softmax(q * DIM ** -.5 @ k.transpose(-1, -2) + bias, -1) @ v
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


class Masked(nn.Module):
    """transformers: causal and padding masks in one, positions by number."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, WIDTH)
        self.q, self.k, self.v, self.o = [
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4)]
        self.register_buffer("inv_freq", 1 / 10000 ** (
            torch.arange(0, DIM, 2).float() / DIM))

    def forward(self, input_ids, attention_mask, position_ids):
        x = self.words(input_ids)
        b, steps = input_ids.shape
        q, k, v = [f(x).view(b, steps, HEADS, DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v)]
        turns = (self.inv_freq[None, :, None].expand(b, -1, 1)
                 @ position_ids[:, None, :].float()).transpose(1, 2)
        turns = torch.cat((turns, turns), -1)[:, None]
        q = q * turns.cos() + rotate_half(q) * turns.sin()
        k = k * turns.cos() + rotate_half(k) * turns.sin()
        mask = torch.triu(torch.full((steps, steps), LEAST), 1)
        mask = mask[None, None].expand(b, 1, -1, -1).clone()
        padding = mask + attention_mask[:, None, None, :] == 0
        mask = mask.masked_fill(padding, LEAST)
        y = F.softmax(q @ k.transpose(2, 3) * DIM ** -.5 + mask, -1) @ v
        return self.o(y.transpose(1, 2).reshape(b, steps, -1))


def masked(folder):
    net, path = Masked().eval(), os.path.join(folder, "masked")
    x = torch.randint(0, 20, (1, STEPS))
    names = ["input_ids", "attention_mask", "position_ids"]
    inputs = (x, torch.ones_like(x), torch.arange(STEPS)[None])
    torch.onnx.export(net, inputs, path + ".onnx", input_names=names,
                      output_names=["y"], opset_version=14)
    strip(path + ".onnx")
    numpy.save(path + ".x.npy", x.numpy())
    numpy.save(path + ".y.npy", net(*inputs).detach().numpy())


class Cached(nn.Module):
    """transformers' Llama with keys and values of earlier positions."""

    def __init__(self, kv=2, joined=False):
        super().__init__()
        self.kv, self.joined = kv, joined
        self.words = nn.Embedding(20, WIDTH)
        self.norm = RMSNorm(WIDTH)
        self.q = nn.Linear(WIDTH, HEADS * DIM, bias=False)
        self.k = nn.Linear(WIDTH, kv * DIM, bias=False)
        self.v = nn.Linear(WIDTH, kv * DIM, bias=False)
        self.o = nn.Linear(HEADS * DIM, WIDTH, bias=False)
        self.register_buffer("inv_freq", 1 / 10000 ** (
            torch.arange(0, DIM, 2).float() / DIM))

    def forward(self, input_ids, attention_mask, past_key, past_value):
        x = self.words(input_ids)
        b, steps = input_ids.shape
        past = past_key.shape[2]
        y = self.norm(x)
        q, k, v = [f(y).view(b, steps, -1, DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v)]
        place = torch.arange(past, past + steps)[None, None].float()
        turns = (self.inv_freq[None, :, None] @ place).transpose(1, 2)
        turns = torch.cat((turns, turns), -1)[:, None]
        q = q * turns.cos() + rotate_half(q) * turns.sin()
        k = k * turns.cos() + rotate_half(k) * turns.sin()
        k, v = torch.cat((past_key, k), 2), torch.cat((past_value, v), 2)
        whole = past + steps
        if self.joined:  # 4.30: _make_causal_mask
            mask = torch.full((steps, steps), LEAST)
            at = torch.arange(steps)
            mask = mask.masked_fill(at < (at + 1).view(steps, 1), 0)
            mask = torch.cat((torch.zeros(steps, past), mask), -1)[None, None]
            padding = 1 - attention_mask[:, None, None, :].expand(
                b, 1, steps, whole).float()
            mask = mask + padding.masked_fill(padding.bool(), LEAST)
        else:  # 4.45: _prepare_4d_causal_attention_mask_with_cache_position
            mask = torch.full((steps, whole), LEAST)
            mask = mask * (torch.arange(whole)
                           > torch.arange(past, whole).view(-1, 1))
            mask = mask[None, None].expand(b, 1, -1, -1).clone()
            hidden = mask + attention_mask[:, None, None, :] == 0
            mask = mask.masked_fill(hidden, LEAST)
        scores = q @ repeat_kv(k, HEADS // self.kv).transpose(2, 3) * DIM ** -.5
        y = F.softmax(scores + mask, -1) @ repeat_kv(v, HEADS // self.kv)
        y = self.o(y.transpose(1, 2).reshape(b, steps, -1))
        return x + y, k, v


def cached(folder):
    names = ["input_ids", "attention_mask", "past_key_values.0.key",
             "past_key_values.0.value"]
    past = {0: "batch_size", 2: "past_sequence_length"}
    axes = {"attention_mask": {0: "batch_size", 1: "total_sequence_length"},
            names[2]: past, names[3]: past}
    for name, joined in ("cached", False), ("cached_joined", True):
        net, path = Cached(joined=joined).eval(), os.path.join(folder, name)
        x, far = torch.randint(0, 20, (1, STEPS)), torch.zeros(1, 2, 0, DIM)
        more = torch.randn(1, 2, 3, DIM)
        torch.onnx.export(
            net, (x, torch.ones(1, STEPS + 3).long(), more, more),
            path + ".onnx", input_names=names,
            output_names=["y", "present.0.key", "present.0.value"],
            opset_version=14, dynamic_axes=axes)
        strip(path + ".onnx")
        numpy.save(path + ".x.npy", x.numpy())
        numpy.save(path + ".y.npy", net(x, torch.ones_like(x), far, far)[
            0].detach().numpy())


def exported(folder):
    nets = {
        "llama": Llama(), "phi": Llama(kv=4, rotary=4, bias=True),
        "gemma": Llama(kv=1, more=1., norms=True, cap=5., window=3),
        "neox": NeoX(), "gptj": GPTJ(), "meta": Meta(), "t5": T5(),
        "torch": Torch(), "window": Window(), "far": Llama(base=5e5)}
    export(folder, nets)


def stretched(folder):
    torch.manual_seed(7)
    export(folder, {
        "linear": Llama(base=1e6, slower=lambda speed: speed / 8),
        "llama3": Llama(base=5e5, slower=llama3),
        # Angles of no base, as those of yarn.
        "other": Llama(slower=lambda speed: speed * torch.linspace(1, .3, 4))})


def added(folder):
    torch.manual_seed(8)
    export(folder, {"added": Added()})


def export(folder, nets):
    for name, net in nets.items():
        x = torch.randn(1, 9 if name == "window" else STEPS, WIDTH)
        net.eval()
        path = os.path.join(folder, name)
        with torch.no_grad():
            y = net(x)
        torch.onnx.export(net, x, path + ".onnx", input_names=["x"],
                          output_names=["y"], opset_version=14,
                          do_constant_folding=name != "window")
        strip(path + ".onnx")
        if name == "other":  # netc turns by other angles, and says so
            continue
        numpy.save(path + ".x.npy", x.numpy())
        numpy.save(path + ".y.npy", y.numpy())


def strip(path):
    """Without where each node comes from."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.doc_string = ""
    onnx.save(model, path)


RANDOM = numpy.random.default_rng(3)


def values(*sizes):
    return RANDOM.standard_normal(sizes).astype("f4") * .4


def softmax(x):
    x = numpy.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def ln(x, weight, bias):
    root = numpy.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return (x - x.mean(-1, keepdims=True)) / root * weight + bias


def rms(x, weight):
    return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight


def attend(q, k, v, kv=HEADS, causal=False, window=0, cap=0):
    b, steps, _ = q.shape
    q = q.reshape(b, steps, HEADS, -1).transpose(0, 2, 1, 3)
    k, v = [numpy.repeat(t.reshape(b, steps, kv, -1).transpose(0, 2, 1, 3),
                         HEADS // kv, 1) for t in (k, v)]
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    if cap:
        scores = cap * numpy.tanh(scores / cap)
    back = numpy.arange(steps)[:, None] - numpy.arange(steps)[None]
    if causal:
        scores = numpy.where(back < 0, -1e30, scores)
    if window:
        scores = numpy.where(back >= window, -1e30, scores)
    return (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, steps, -1)


def turned(x, heads, turns, neighbours=False):
    b, steps, width = x.shape
    x = x.reshape(b, steps, heads, width // heads)
    c, s = numpy.cos(turns)[None, :, None], numpy.sin(turns)[None, :, None]
    both = 2 * turns.shape[1]
    part, rest = x[..., :both], x[..., both:]
    if neighbours:
        p, q = part[..., ::2], part[..., 1::2]
        part = numpy.stack([p * c - q * s, q * c + p * s], -1).reshape(
            part.shape)
    else:
        p, q = part[..., :both // 2], part[..., both // 2:]
        part = numpy.concatenate([p * c - q * s, q * c + p * s], -1)
    return numpy.concatenate([part, rest], -1).reshape(b, steps, width)


def own(type_, ins, outs, **attributes):
    return helper.make_node(type_, ins, outs, domain="com.microsoft",
                            **attributes)


def product(a, b, out):
    return helper.make_node("MatMul", [a, b], [out])


def fused(folder, name, nodes, weights, x, y, more=(), outs=(), type_="float"):
    kinds = {"float": TensorProto.FLOAT, "i64": TensorProto.INT64}
    infos = [helper.make_tensor_value_info("x", kinds[type_], x.shape)]
    infos += [helper.make_tensor_value_info(*m) for m in more]
    ends = [helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape)]
    ends += [helper.make_tensor_value_info(*m) for m in outs]
    graph = helper.make_graph(
        nodes, "fused_" + name, infos, ends,
        [numpy_helper.from_array(v, k) for k, v in weights.items()])
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 14), helper.make_opsetid("com.microsoft", 1)])
    path = os.path.join(folder, "fused_" + name)
    onnx.save(model, path + ".onnx")
    numpy.save(path + ".x.npy", x)
    numpy.save(path + ".y.npy", y.astype("f4"))


def fused_bert(folder):
    w = dict(qkv=values(WIDTH, 3 * WIDTH), qkv_b=values(3 * WIDTH),
             o=values(WIDTH, WIDTH), o_b=values(WIDTH), ln1=values(WIDTH) + 1,
             ln1_b=values(WIDTH), up=values(WIDTH, 24), up_b=values(24),
             down=values(24, WIDTH), down_b=values(WIDTH),
             ln2=values(WIDTH) + 1, ln2_b=values(WIDTH))
    nodes = [
        own("Attention", ["x", "qkv", "qkv_b", "mask"], ["a"],
            num_heads=HEADS),
        product("a", "o", "b"),
        own("SkipLayerNormalization", ["b", "x", "ln1", "ln1_b", "o_b"], ["c"],
            epsilon=1e-5),
        product("c", "up", "d"), own("FastGelu", ["d", "up_b"], ["e"]),
        product("e", "down", "f"),
        own("SkipLayerNormalization", ["f", "c", "ln2", "ln2_b", "down_b"],
            ["y"], epsilon=1e-5)]
    x = values(1, STEPS, WIDTH)
    q, k, v = numpy.split(x @ w["qkv"] + w["qkv_b"], 3, -1)
    c = ln(x + attend(q, k, v) @ w["o"] + w["o_b"], w["ln1"], w["ln1_b"])
    d = c @ w["up"] + w["up_b"]
    d = .5 * d * (1 + numpy.tanh(math.sqrt(2 / math.pi)
                                 * (d + .044715 * d ** 3)))
    y = ln(c + d @ w["down"] + w["down_b"], w["ln2"], w["ln2_b"])
    fused(folder, "bert", nodes, w, x, y,
          [("mask", TensorProto.INT32, [1, STEPS])])


def fused_llama(folder):
    kv, turns = 2, angles(DIM).numpy()
    w = dict(words=values(20, WIDTH), n1=values(WIDTH) + 1,
             q=values(WIDTH, HEADS * DIM), k=values(WIDTH, kv * DIM),
             v=values(WIDTH, kv * DIM), o=values(HEADS * DIM, WIDTH),
             cos=numpy.cos(turns), sin=numpy.sin(turns), n2=values(WIDTH) + 1,
             gate=values(WIDTH, 24), up=values(WIDTH, 24),
             down=values(24, WIDTH), n3=values(WIDTH) + 1,
             one=numpy.array([1], "i8"))
    nodes = [
        helper.make_node("Gather", ["words", "x"], ["a"]),
        helper.make_node("ReduceSum", ["attention_mask", "one"], ["sum"]),
        helper.make_node("Sub", ["sum", "one"], ["last"]),
        helper.make_node("Cast", ["last"], ["seqlens"], to=6),
        helper.make_node("Shape", ["attention_mask"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["all"]),
        helper.make_node("Cast", ["all"], ["total"], to=6),
        helper.make_node("SimplifiedLayerNormalization", ["a", "n1"], ["b"],
                         axis=-1, epsilon=1e-5),
        product("b", "q", "q_"), product("b", "k", "k_"),
        product("b", "v", "v_"),
        own("GroupQueryAttention",
            ["q_", "k_", "v_", "past.key", "past.value", "seqlens", "total",
             "cos", "sin"], ["c", "present.key", "present.value"],
            num_heads=HEADS, kv_num_heads=kv, do_rotary=1),
        product("c", "o", "d"),
        own("SkipSimplifiedLayerNormalization", ["a", "d", "n2"],
            ["e", "", "", "f"], epsilon=1e-5),
        product("e", "gate", "g"), product("e", "up", "u"),
        helper.make_node("Sigmoid", ["g"], ["s"]),
        helper.make_node("Mul", ["g", "s"], ["silu"]),
        helper.make_node("Mul", ["silu", "u"], ["h"]),
        product("h", "down", "i"),
        own("SkipSimplifiedLayerNormalization", ["f", "i", "n3"], ["y"],
            epsilon=1e-5)]
    x = RANDOM.integers(0, 20, (1, STEPS))
    a = w["words"][x]
    b = rms(a, w["n1"])
    c = attend(turned(b @ w["q"], HEADS, turns), turned(b @ w["k"], kv, turns),
               b @ w["v"], kv, causal=True)
    f = a + c @ w["o"]
    e = rms(f, w["n2"])
    g = e @ w["gate"]
    f = f + (g / (1 + numpy.exp(-g)) * (e @ w["up"])) @ w["down"]
    past = ["batch", kv, "past", DIM]
    fused(folder, "llama", nodes, w, x, rms(f, w["n3"]),
          [("attention_mask", TensorProto.INT64, ["batch", "total"]),
           ("past.key", TensorProto.FLOAT, past),
           ("past.value", TensorProto.FLOAT, past)],
          [("present.key", TensorProto.FLOAT, past),
           ("present.value", TensorProto.FLOAT, past)], "i64")


def fused_gqa(folder):
    kv, turns = 2, angles(4).numpy()
    w = dict(qkv=values(WIDTH, (HEADS + 2 * kv) * DIM),
             o=values(HEADS * DIM, WIDTH), cos=numpy.cos(turns),
             sin=numpy.sin(turns))
    nodes = [
        product("x", "qkv", "a"),
        own("GroupQueryAttention", ["a", "", "", "", "", "", "", "cos", "sin"],
            ["b"], num_heads=HEADS, kv_num_heads=kv, do_rotary=1,
            rotary_interleaved=1, local_window_size=3, softcap=2.),
        product("b", "o", "y")]
    x = values(1, STEPS, WIDTH)
    q, k, v = numpy.split(x @ w["qkv"], [HEADS * DIM, (HEADS + kv) * DIM], -1)
    y = attend(turned(q, HEADS, turns, True), turned(k, kv, turns, True), v,
               kv, True, 3, 2) @ w["o"]
    fused(folder, "gqa", nodes, w, x, y)


def fused_mha(folder):
    turns = angles(DIM).numpy()
    w = dict(q=values(WIDTH, WIDTH), k=values(WIDTH, WIDTH),
             v=values(WIDTH, WIDTH), o=values(WIDTH, WIDTH),
             bias=values(3 * WIDTH), cos=numpy.cos(turns),
             sin=numpy.sin(turns))
    nodes = [
        product("x", "q", "a"), product("x", "k", "b"), product("x", "v", "c"),
        own("RotaryEmbedding", ["a", "place", "cos", "sin"], ["a_"],
            num_heads=HEADS),
        own("RotaryEmbedding", ["b", "place", "cos", "sin"], ["b_"],
            num_heads=HEADS),
        own("MultiHeadAttention", ["a_", "b_", "c"], ["d"], num_heads=HEADS,
            unidirectional=1),
        product("d", "o", "e"), product("e", "q", "f"), product("e", "k", "g"),
        product("e", "v", "h"),
        own("MultiHeadAttention", ["f", "g", "h", "bias"], ["i"],
            num_heads=HEADS),
        own("FusedMatMul", ["i", "o"], ["j"], transB=1, alpha=.5),
        own("QuickGelu", ["j"], ["y"])]
    x = values(1, STEPS, WIDTH)
    y = attend(turned(x @ w["q"], HEADS, turns),
               turned(x @ w["k"], HEADS, turns), x @ w["v"],
               causal=True) @ w["o"]
    q, k, v = numpy.split(w["bias"], 3)
    y = attend(y @ w["q"] + q, y @ w["k"] + k, y @ w["v"] + v)
    y = .5 * y @ w["o"].T
    fused(folder, "mha", nodes, w, x, y / (1 + numpy.exp(-1.702 * y)),
          [("place", TensorProto.INT64, [1, STEPS])])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    torch.manual_seed(2)
    exported(sys.argv[1])
    masked(sys.argv[1])
    fused_bert(sys.argv[1])
    fused_llama(sys.argv[1])
    fused_gqa(sys.argv[1])
    fused_mha(sys.argv[1])
    stretched(sys.argv[1])
    cached(sys.argv[1])
    added(sys.argv[1])


main()
