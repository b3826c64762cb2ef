# types, by netc 0.3.0:
# 162,596 parameters, 5,316,608 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def typed(module, dtype):
    """Parameters of a type, to which inputs are cast."""
    def cast(module, values):
        if torch.is_autocast_enabled():
            return values
        return tuple(value.to(dtype) if torch.is_tensor(value)
                     and value.is_floating_point() else value
                     for value in values)

    module.register_forward_pre_hook(cast)
    return module.to(dtype)


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


class Attention(nn.Module):
    """Causal attention; axes before the last two are a batch."""

    def __init__(self, channels, heads):
        super().__init__()
        self.dim = channels // heads
        self.q_proj = nn.Linear(channels, channels)
        self.k_proj = nn.Linear(channels, channels)
        self.v_proj = nn.Linear(channels, channels)
        self.out_proj = nn.Linear(channels, channels)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool,
                           device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class Block(nn.Module):
    """rmsnorm1 to linear2 and 2 more

    (N, 32, 64) to (N, 32, 64) in the first.
    """

    def __init__(self):
        super().__init__()
        self.rmsnorm1 = typed(RMSNorm(64, eps=1e-05), torch.float32)
        self.attention = typed(Attention(64, 4), torch.bfloat16)
        self.rmsnorm2 = typed(RMSNorm(64, eps=1e-05), torch.float32)
        self.linear1 = typed(nn.Linear(64, 256), torch.bfloat16)
        self.linear2 = typed(nn.Linear(256, 64), torch.float16)

    def forward(self, x: Tensor) -> Tensor:
        y = self.rmsnorm1(x)
        y = self.attention(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = F.gelu(self.linear1(y))
        y = self.linear2(y)
        return y + x


class Types(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = typed(nn.Embedding(100, 64), torch.float32)
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.ln = typed(nn.LayerNorm(64), torch.float32).requires_grad_(False)
        self.linear = typed(nn.Linear(64, 100), torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        x = self.ln(x)
        return self.linear(x)


if __name__ == "__main__":
    net = Types().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 32, dtype=torch.long))
    print(tuple(out.shape))
