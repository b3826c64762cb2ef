# gated, by netc 0.3.0:
# 4,726 parameters, 37,730 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
from torch import Tensor, nn


try:
    from torch.nn import RMSNorm
except ImportError:  # PyTorch before 2.4
    class RMSNorm(nn.Module):
        def __init__(self, features, eps):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(features))
            self.eps = eps

        def forward(self, x):
            mean = x.pow(2).mean(-1, keepdim=True)
            return x * torch.rsqrt(mean + self.eps) * self.weight


def repeated(q, k):
    """Heads of keys or values, once for each that they serve."""
    k = k.unsqueeze(-3)
    serves = q.shape[-3] // k.shape[-4]
    return k.expand(*k.shape[:-3], serves, -1, -1).flatten(-4, -3)


class Rotation(nn.Module):
    """Rotates pairs of features, one of each half, by their position."""

    def __init__(self, length, features):
        super().__init__()
        self.rule = length, features
        half = features // 2
        slower = 10000.0 ** (-torch.arange(half) / half)
        angle = torch.arange(length)[:, None] * slower.repeat(2)
        self.register_buffer("sine", angle.sin(), persistent=False)
        self.register_buffer("cosine", angle.cos(), persistent=False)

    def forward(self, x):
        rows = x.shape[-2]
        a, b = x.chunk(2, -1)
        turned = torch.cat([-b, a], -1)
        return x * self.cosine[:rows] + turned * self.sine[:rows]


def share_rotations(net):
    """Layers that rotate alike have one table."""
    known = dict()
    for layer in list(net.modules()):
        own = getattr(layer, "rotation", None)
        if isinstance(own, Rotation):
            layer.rotation = known.setdefault(own.rule, own)


class Attention(nn.Module):
    """Attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    bias: which of queries, keys, values and output have one
    scale: what is divided by the root of dim
    norm: of each head's queries and keys
    rotary: features of a head that are rotated
    """

    def __init__(self, channels, heads, kv_heads=None, dim=None, bias="qkvo",
                 causal=False, rope=False, scale="scores", norm=None,
                 naive=False, rotary=None, vdim=None, gate=False,
                 head_gate=False, novalues=False, vnorm=False, length=None):
        super().__init__()
        self.dim = dim or channels // heads
        width = self.dim * heads
        kv_width = self.dim * (kv_heads or heads)
        self.vdim = vdim or self.dim
        v_width = self.vdim * (kv_heads or heads)
        self.gate = gate
        self.vnorm = vnorm
        self.causal = causal
        self.rope = rope
        self.scale = scale
        self.norm = norm
        self.naive = naive
        self.rotary = rotary or self.dim
        if rope:
            self.rotation = Rotation(length, self.rotary)
        self.q_proj = nn.Linear(channels, width * (2 if gate else 1),
                                bias="q" in bias)
        self.k_proj = nn.Linear(channels, kv_width, bias="k" in bias)
        self.v_proj = None if novalues else nn.Linear(channels, v_width,
                                                      bias="v" in bias)
        self.g_proj = None if not head_gate else nn.Linear(channels, heads,
                                                           bias=False)
        self.out_proj = nn.Linear(self.vdim * heads, channels,
                                  bias="o" in bias)
        if norm:
            self.q_norm = norm(self.dim, eps=1e-6)
            self.k_norm = norm(self.dim, eps=1e-6)

    def hidden(self, queries, keys, device):
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
        return behind < 0

    def masked(self, scores):
        if self.causal:
            hidden = self.hidden(*scores.shape[-2:], scores.device)
            scores = scores.masked_fill(hidden, -math.inf)
        return scores

    def weights(self, q, k):
        if self.scale == "queries":
            q = q / math.sqrt(self.dim)
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        scores = self.masked(scores)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k = self.q_proj(x), self.k_proj(x)
        v = k if self.v_proj is None else self.v_proj(x)
        if self.gate:
            q, gate = q.unflatten(-1, (-1, 2 * self.dim)).chunk(2, -1)
            q = q.flatten(-2)
        q, k = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                for y in (q, k))
        v = v.unflatten(-1, (-1, self.vdim)).transpose(-3, -2)
        if self.vnorm:
            v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6)
        if self.norm:
            q, k = self.q_norm(q), self.k_norm(k)
        if self.rope:
            q, k = (torch.cat([self.rotation(y[..., :self.rotary]),
                               y[..., self.rotary:]], -1)
                    for y in (q, k))
        y = self.attend(q, k, v)
        if self.gate:
            y = y * gate.transpose(-3, -2).sigmoid()
        if self.g_proj is not None:
            y = y * self.g_proj(x).transpose(-2, -1)[..., None].sigmoid()
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rmsnorms = nn.ModuleList(RMSNorm(16, eps=1e-05) for _ in range(5))
        self.attentions = nn.ModuleList([
            Attention(16, 4, kv_heads=2, bias="", causal=True, rope=True,
                      length=7, norm=RMSNorm, rotary=2, gate=True),
            Attention(16, 4, kv_heads=2, bias="", causal=True, rope=True,
                      length=7, head_gate=True),
            Attention(16, 4, kv_heads=2, dim=6, bias="", causal=True,
                      rope=True, length=7, vdim=5),
            Attention(16, 2, naive=True, vdim=3),
            Attention(16, 4, kv_heads=2, bias="", causal=True, rope=True,
                      length=7, scale=None, norm=RMSNorm, novalues=True,
                      vnorm=True),
        ])
        share_rotations(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for rmsnorm, attention in zip(self.rmsnorms, self.attentions):
            y = rmsnorm(x)
            y = attention(y)
            x = y + x
        return x


if __name__ == "__main__":
    net = Gated().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 7, dtype=torch.long))
    print(tuple(out.shape))
