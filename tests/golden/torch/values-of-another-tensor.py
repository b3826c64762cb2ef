# values-of-another-tensor, by netc 0.3.0:
# 2,906 parameters, 17,328 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


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


class ValuesAttention(nn.Module):
    """Attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    bias: which of queries, keys, values and output have one
    """

    def __init__(self, channels, heads, values, kv_heads=None, dim=None,
                 seen=None, bias="qkvo"):
        super().__init__()
        self.dim = dim or channels // heads
        width = self.dim * heads
        kv_width = self.dim * (kv_heads or heads)
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(seen or channels, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(values, kv_width, bias="v" in bias)
        self.out_proj = nn.Linear(width, channels, bias="o" in bias)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return attend_in_groups(q, k, v)
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x, keys, values):
        q, k, v = self.q_proj(x), self.k_proj(keys), self.v_proj(values)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class ValuesOfAnotherTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.src = nn.Linear(16, 16)
        self.attention1 = ValuesAttention(16, 4, values=16)
        self.ln = nn.LayerNorm(16)
        self.memory = nn.Linear(16, 10)
        self.attention2 = ValuesAttention(12, 4, seen=16, values=10)
        self.attention3 = ValuesAttention(12, 4, kv_heads=2, dim=4, seen=16,
                                          bias="", values=10)
        self.linear = nn.Linear(12, 8)

    def forward(self, places: Tensor, seen: Tensor, asking: Tensor) -> Tensor:
        src = self.src(seen)
        keys = src + places
        x = self.attention1(keys, keys, src)
        x = self.ln(x)
        memory = self.memory(x)
        x = self.attention2(asking, keys, memory)
        x = asking + x
        y = self.attention3(x, keys, memory)
        x = x + y
        return self.linear(x)


if __name__ == "__main__":
    net = ValuesOfAnotherTensor().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 16), torch.zeros(1, 6, 16),
                  torch.zeros(1, 4, 12))
    print(tuple(out.shape))
