# chooses, by netc 0.3.0:
# 8,894 parameters, 104,625 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def causal(scores: Tensor):
    """No position sees later ones."""
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool,
                        device=scores.device).triu(1)
    return scores.masked_fill(hidden, -math.inf)


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

    def neighbours(self, x):
        """The same with pairs of neighbours."""
        rows, half = x.shape[-2], x.shape[-1] // 2
        sine = self.sine[:rows, :half]
        cosine = self.cosine[:rows, :half]
        a, b = x[..., ::2], x[..., 1::2]
        y = torch.stack([a * cosine - b * sine, b * cosine + a * sine], -1)
        return y.flatten(-2)

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


class Indexer(nn.Module):
    """Hides the keys that a query does not read: the indexer of DeepSeek-V3.2,
    which is trained apart."""

    def __init__(self, channels, latent, heads, dim, rope, top):
        super().__init__()
        self.heads, self.rope, self.top = heads, rope, top
        self.wq_b = nn.Linear(latent, heads * dim, bias=False)
        self.wk = nn.Linear(channels, dim, bias=False)
        self.k_norm = nn.LayerNorm(dim)
        self.weights_proj = nn.Linear(channels, heads, bias=False)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, x, latent, rotation, is_causal):
        q = self.wq_b(latent).unflatten(-1, (self.heads, -1))
        q, k = q.transpose(-3, -2), self.k_norm(self.wk(x))[..., None, :, :]
        q, k = (torch.cat([rotation(y[..., :self.rope]), y[..., self.rope:]],
                          -1) for y in (q, k))
        scores = F.relu(q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5)
        weights = self.weights_proj(x) * self.heads ** -0.5
        scores = (scores * weights.transpose(-2, -1)[..., None]).sum(-3)
        if is_causal:
            scores = causal(scores)
        chosen = scores.topk(min(self.top, scores.shape[-1]), -1)[1]
        hidden = torch.ones_like(scores, dtype=torch.bool)
        hidden = hidden.scatter_(-1, chosen, False) | scores.isneginf()
        return hidden[..., None, :, :]


class LatentAttention(nn.Module):
    """Causal attention of keys and values from a small vector."""

    def __init__(self, channels, heads, latent, rope, dim, vdim, qlatent=None,
                 naive=False, length=None, dropout=0.0, index=None,
                 indexdim=128, indextop=2048):
        super().__init__()
        self.heads, self.qlatent = heads, qlatent
        self.latent, self.rope = latent, rope
        self.dim, self.vdim = dim, vdim
        self.naive = naive
        self.dropout = dropout
        if qlatent:
            self.q_a_proj = nn.Linear(channels, qlatent, bias=False)
            self.q_a_layernorm = RMSNorm(qlatent, eps=1e-6)
            self.q_b_proj = nn.Linear(qlatent, heads * (dim + rope),
                                      bias=False)
        else:
            self.q_proj = nn.Linear(channels, heads * (dim + rope), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(channels, latent + rope,
                                            bias=False)
        self.kv_a_layernorm = RMSNorm(latent, eps=1e-6)
        self.kv_b_proj = nn.Linear(latent, heads * (dim + vdim), bias=False)
        self.o_proj = nn.Linear(heads * vdim, channels, bias=False)
        self.indexer = index and Indexer(channels, qlatent, index, indexdim,
                                         rope, indextop)
        self.rotation = Rotation(length, rope)

    def attend(self, q, k, v, hidden):
        if not self.naive and hidden is None and (
                hasattr(F, "scaled_dot_product_attention")):
            return F.scaled_dot_product_attention(
                q, k, v, is_causal=True,
                dropout_p=self.dropout if self.training else 0.0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if hidden is not None:
            scores = scores.masked_fill(hidden, -math.inf)
        else:
            scores = causal(scores)
        return F.dropout(scores.softmax(-1), self.dropout, self.training) @ v

    def forward(self, x):
        if self.qlatent:
            latent = self.q_a_layernorm(self.q_a_proj(x))
            q = self.q_b_proj(latent)
        else:
            q = self.q_proj(x)
        k, k_turned = self.kv_a_proj_with_mqa(x).split(
            (self.latent, self.rope), -1)
        k = self.kv_b_proj(self.kv_a_layernorm(k))
        q, k = (y.unflatten(-1, (self.heads, -1)).transpose(-3, -2)
                for y in (q, k))
        q, q_turned = q.split((self.dim, self.rope), -1)
        k, v = k.split((self.dim, self.vdim), -1)
        q = torch.cat([q, self.rotation.neighbours(q_turned)], -1)
        k_turned = self.rotation.neighbours(k_turned[..., None, :, :])
        k = torch.cat([k, k_turned.expand(*k.shape[:-1], -1)], -1)
        hidden = None
        if self.indexer is not None:
            hidden = self.indexer(x, latent, self.rotation, True)
        y = self.attend(q, k, v, hidden)
        return self.o_proj(y.transpose(-3, -2).flatten(-2))


class Chooses(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rmsnorm1 = RMSNorm(16, eps=1e-05)
        self.mla1 = LatentAttention(16, 4, 8, 4, 4, 4, qlatent=10, length=9,
                                    index=3, indexdim=6, indextop=4)
        self.rmsnorm2 = RMSNorm(16, eps=1e-05)
        self.mla2 = LatentAttention(16, 4, 8, 4, 4, 4, qlatent=10, length=9)
        self.mla3 = LatentAttention(16, 2, 8, 4, 6, 5, qlatent=10, naive=True,
                                    length=9, dropout=0.1, index=2)
        share_rotations(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.rmsnorm1(x)
        y = self.mla1(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = self.mla2(y)
        x = y + x
        return self.mla3(x)


if __name__ == "__main__":
    net = Chooses().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 9, dtype=torch.long))
    print(tuple(out.shape))
