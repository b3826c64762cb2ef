# one, by netc 0.3.0:
# 1,708 parameters, 12,544 MACs for one sample
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
    """Causal attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    norm: of each head's queries and keys
    rotary: features of a head that are rotated
    """

    def __init__(self, channels, heads, kv_heads=None, norm=None, sinks=False,
                 rotary=None, novalues=False, shared=False, length=None):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * kv_heads
        self.shared = shared
        self.norm = norm
        self.rotary = rotary or self.dim
        self.rotation = Rotation(length, self.rotary)
        self.q_proj = nn.Linear(channels, channels, bias=False)
        self.k_proj = nn.Linear(channels, kv_width, bias=False)
        self.v_proj = None if novalues else nn.Linear(channels, kv_width,
                                                      bias=False)
        self.out_proj = nn.Linear(channels, channels, bias=False)
        if norm:
            self.q_norm = norm(self.dim, eps=1e-6)
            self.k_norm = norm(self.dim, eps=1e-6)
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool,
                           device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
        if self.sinks is not None:
            sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)
            scores = torch.cat([scores, sinks], -1)
            scores = scores - scores.max(-1, keepdim=True)[0]
            return scores.softmax(-1)[..., :-1]
        return scores.softmax(-1)

    def attend(self, q, k, v):
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k = self.q_proj(x), self.k_proj(x)
        v = k if self.v_proj is None else self.v_proj(x)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.norm:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = (torch.cat([self.rotation(y[..., :self.rotary]),
                           y[..., self.rotary:]], -1)
                for y in (q, k))
        if self.shared:
            v = k
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rmsnorm1 = RMSNorm(16, eps=1e-05)
        self.attention1 = Attention(16, 4, kv_heads=1, length=7, norm=RMSNorm,
                                    sinks=True, rotary=2, novalues=True,
                                    shared=True)
        self.rmsnorm2 = RMSNorm(16, eps=1e-05)
        self.attention2 = Attention(16, 4, kv_heads=2, length=7)
        share_rotations(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.rmsnorm1(x)
        y = self.attention1(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = self.attention2(y)
        return y + x


if __name__ == "__main__":
    net = One().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 7, dtype=torch.long))
    print(tuple(out.shape))
