# shared, by netc 0.3.0:
# 1,440 parameters, 12,992 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
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


def attend_in_groups(q, k, v, **how):
    """Each head of keys and values serves several of queries."""
    # On CUDA only the flash kernel, which is for 16 bits without a mask,
    # takes fewer heads of keys. Otherwise enable_gqa runs the math kernel,
    # which keeps the scores: sdp_utils.cpp of PyTorch 2.6.
    flash = v.element_size() == 2 and how.get("attn_mask") is None
    if flash and torch.__version__ >= (2, 5):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=True,
                                              **how)
    return F.scaled_dot_product_attention(
        q, repeated(q, k), repeated(q, v), **how)


class Attention(nn.Module):
    """Causal attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    """

    def __init__(self, channels, heads, kv_heads=None, vdim=None):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * kv_heads
        self.vdim = vdim
        v_width = self.vdim * kv_heads
        self.q_proj = nn.Linear(channels, channels, bias=False)
        self.k_proj = nn.Linear(channels, kv_width, bias=False)
        self.g_proj = nn.Linear(channels, heads, bias=False)
        self.out_proj = nn.Linear(self.vdim * heads, channels, bias=False)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        later = torch.ones(scores.shape[-2:], dtype=torch.bool,
                           device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return attend_in_groups(q, k, v, is_causal=True)
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k = self.q_proj(x), self.k_proj(x)
        v = k
        q, k = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                for y in (q, k))
        v = v.unflatten(-1, (-1, self.vdim)).transpose(-3, -2)
        v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6)
        y = self.attend(q, k, v)
        y = y * self.g_proj(x).transpose(-2, -1)[..., None].sigmoid()
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.rmsnorm1 = RMSNorm(16, eps=1e-05)
        self.attention1 = Attention(16, 4, kv_heads=2, vdim=4)
        self.rmsnorm2 = RMSNorm(16, eps=1e-05)
        self.attention2 = Attention(16, 4, kv_heads=2, vdim=4)

    def forward(self, x: Tensor) -> Tensor:
        y = self.rmsnorm1(x)
        y = self.attention1(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = self.attention2(y)
        return y + x


if __name__ == "__main__":
    net = Shared().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 7, 16))
    print(tuple(out.shape))
