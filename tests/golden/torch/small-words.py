# small_words, by netc 0.3.0:
# 3,212 parameters, 525,744 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import functools
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def without_bias(norm):
    norm.register_parameter("bias", None)
    return norm


def standardised(module, gain=False):
    """Each output's weights with mean 0 and variance 1; timm's StdConv2d."""
    kind, ones = type(module), [1] * (module.weight.dim() - 1)

    class Standardised(kind):
        def forward(self, x):
            rows, scale = self.weight.flatten(1), None
            if gain:
                scale = self.gain * rows.shape[1] ** -0.5
                scale = scale.view(-1)
            rows = F.batch_norm(rows[None], None, None, scale,
                                training=True, momentum=0, eps=1e-6)
            weight = rows.view_as(self.weight)
            if kind is nn.Linear:
                return F.linear(x, weight, self.bias)
            return self._conv_forward(x, weight, self.bias)

    module.__class__ = Standardised
    if gain:
        module.gain = nn.Parameter(torch.ones(len(module.weight), *ones))
    return module


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


try:
    from torch.nn.utils.parametrizations import weight_norm
except ImportError:  # PyTorch before 2.1
    from torch.nn.utils import weight_norm


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


@functools.lru_cache(maxsize=4)
def window_mask(queries, keys, window, causal, dtype, device):
    """-inf where a position is not seen, else 0; all layers share it."""
    with torch.inference_mode(False):  # a later step may need it
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
        if causal:
            hidden = (behind < 0) | (behind >= (window or queries))
        else:
            hidden = behind.abs() > window // 2
        mask = torch.zeros(queries, keys, dtype=dtype, device=device)
        return mask.masked_fill_(hidden, -math.inf)


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
    window: how many of the latest positions are seen
        (half of them on each side if not causal)
    norm: of all queries and keys
    """

    def __init__(self, channels, heads, kv_heads=None, bias="qkvo",
                 causal=False, window=None, rope=False, norm=None,
                 length=None):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * (kv_heads or heads)
        self.causal = causal
        self.window = window
        self.rope = rope
        self.norm = norm
        if rope:
            self.rotation = Rotation(length, self.dim)
        self.q_proj = nn.Linear(channels, channels, bias="q" in bias)
        self.k_proj = nn.Linear(channels, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(channels, kv_width, bias="v" in bias)
        self.out_proj = nn.Linear(channels, channels, bias="o" in bias)
        if norm:
            self.q_norm = norm(channels, eps=1e-6)
            self.k_norm = norm(kv_width, eps=1e-6)

    def masked(self, scores):
        if self.causal or self.window:
            scores = scores + window_mask(
                *scores.shape[-2:], self.window, self.causal,
                scores.dtype, scores.device)
        return scores

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        scores = self.masked(scores)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            mask = None
            if self.window:
                mask = window_mask(
                    q.shape[-2], k.shape[-2], self.window, self.causal,
                    v.dtype, v.device)
            return attend_in_groups(
                q, k, v, attn_mask=mask,
                is_causal=self.causal and mask is None)
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if self.norm:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.rope:
            q, k = self.rotation(q), self.rotation(k)
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class SmallWords(nn.Module):
    """Gives (map, sequence)."""

    def __init__(self):
        super().__init__()
        self.conv1 = weight_norm(nn.Conv2d(6, 8, 3, padding=1, bias=False))
        self.bn = without_bias(nn.BatchNorm2d(8))
        self.dwconv1 = nn.utils.spectral_norm(nn.Conv2d(8, 8, 3, padding=1,
                                                        groups=8))
        self.deconv1 = weight_norm(nn.ConvTranspose2d(8, 6, (4, 3), stride=2,
                                                      padding=1, groups=2))
        self.deconv2 = nn.utils.spectral_norm(nn.ConvTranspose2d(
            6, 8, 3, bias=False))
        self.prelu1 = nn.PReLU()
        self.conv2 = standardised(nn.Conv2d(8, 8, 3, padding=1), gain=True)
        self.dwconv2 = standardised(nn.Conv2d(8, 8, 3, padding=1, groups=8))
        self.linear1 = weight_norm(nn.Linear(8, 8))
        self.linear2 = nn.utils.spectral_norm(nn.Linear(8, 8, bias=False))
        self.linear3 = standardised(nn.Linear(8, 8))
        self.gn = without_bias(nn.GroupNorm(2, 8))
        self.instnorm = without_bias(nn.InstanceNorm2d(8, eps=0.001,
                                                       affine=True))
        self.ln1 = without_bias(nn.LayerNorm(8))
        self.attention1 = Attention(8, 4, kv_heads=2, bias="", causal=True,
                                    rope=True, length=12, norm=RMSNorm)
        self.attention2 = Attention(8, 2, norm=nn.LayerNorm)
        self.attention3 = Attention(8, 2, window=4)
        self.linear4 = nn.Linear(8, 8)
        self.linear5 = nn.Linear(8, 8)
        self.linear6 = nn.Linear(8, 8)
        self.ln2 = without_bias(nn.LayerNorm(8))
        self.prelu2 = nn.PReLU()
        share_rotations(self)

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        x = F.relu(self.bn(self.conv1(a)), inplace=True)
        x = self.dwconv1(x)
        x = self.deconv1(x)
        x = self.prelu1(self.deconv2(x))
        x = self.conv2(x)
        x = self.dwconv2(x)
        x = self.linear1(x.movedim(1, -1))
        x = self.linear2(x)
        x = self.linear3(x)
        x = self.gn(x.movedim(-1, 1))
        x = self.instnorm(x)
        x = self.ln1(x.movedim(1, -1))
        x = F.celu(x, alpha=0.5, inplace=True)
        x = F.softsign(x)
        x = F.hardtanh(x, min_val=-0.5, max_val=2, inplace=True)
        x = torch.sin(x)
        x = torch.cos(x)
        x = F.pad(x.movedim(-1, 1), (2, 2, 1, 1), mode="circular")
        x = F.interpolate(x, scale_factor=2, mode="bicubic")
        x = F.softmax(x, 2)
        x = F.log_softmax(x, 3)
        x = F.softmax(x, 1)
        y = self.attention1(b)
        y = self.attention2(y)
        y = self.attention3(y)
        z = self.linear4(y)
        u = self.linear5(y)
        u = u.permute(0, 2, 1)
        z = z @ u
        z = F.softmax(causal(z), -1)
        y = self.linear6(y)
        y = z @ y
        y = self.ln2(y)
        y = self.prelu2(y)
        y = F.softmax(y, 1)
        return x, y


if __name__ == "__main__":
    net = SmallWords().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 10, 8), torch.zeros(1, 12, 8))
    for each in out:
        print(tuple(each.shape))
