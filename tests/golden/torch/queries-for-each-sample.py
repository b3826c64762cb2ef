# queries-for-each-sample, by netc 0.3.0:
# 947 parameters, 13,960 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Learned(nn.Module):
    """Learned tensors by themselves."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_parameter(name, nn.Parameter(tensor))


class Fixed(nn.Module):
    """Tensors that are not learned."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


class Attention(nn.Module):
    """Attention; axes before the last two are a batch."""

    def __init__(self, channels, heads):
        super().__init__()
        self.dim = channels // heads
        self.q_proj = nn.Linear(channels, channels)
        self.k_proj = nn.Linear(channels, channels)
        self.v_proj = nn.Linear(channels, channels)
        self.out_proj = nn.Linear(channels, channels)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return F.scaled_dot_product_attention(q, k, v)
        return self.weights(q, k) @ v

    def forward(self, x, seen=None):
        seen = x if seen is None else seen
        q, k, v = self.q_proj(x), self.k_proj(seen), self.v_proj(seen)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class ValuesAttention(nn.Module):
    """Attention; axes before the last two are a batch."""

    def __init__(self, channels, heads, values):
        super().__init__()
        self.dim = channels // heads
        self.q_proj = nn.Linear(channels, channels)
        self.k_proj = nn.Linear(channels, channels)
        self.v_proj = nn.Linear(values, channels)
        self.out_proj = nn.Linear(channels, channels)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return F.scaled_dot_product_attention(q, k, v)
        return self.weights(q, k) @ v

    def forward(self, x, keys, values):
        q, k, v = self.q_proj(x), self.k_proj(keys), self.v_proj(values)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class Place(nn.Module):
    """place

    to (1, 16, 8).
    """

    def __init__(self):
        super().__init__()
        self.weight = Fixed(weight=torch.randn((16, 8)))

    def forward(self) -> Tensor:
        return self.weight.weight[None]


class QueriesForEachSample(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = Place()
        self.rows = Attention(8, 2)
        self.query = Learned(weight=torch.randn(5, 8))
        self.start = Fixed(weight=torch.randn((5, 8)))
        self.attention1 = ValuesAttention(8, 2, values=8)
        self.ln = nn.LayerNorm(8)
        self.attention2 = Attention(8, 2)
        self.linear = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(2).transpose(1, 2)
        y = self.place()
        x = x + y
        rows = self.rows(x)
        query = self.query.weight.expand(len(rows), -1, -1)
        start = self.start.weight.expand(len(rows), -1, -1)
        x = start + query
        x = self.attention1(x, x, start)
        x = x + start
        x = self.ln(x)
        y = x + query
        y = self.attention2(y, rows)
        x = y + x
        return self.linear(x)


if __name__ == "__main__":
    net = QueriesForEachSample().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 8, 4, 4))
    print(tuple(out.shape))
