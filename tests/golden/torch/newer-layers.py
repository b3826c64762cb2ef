# newer, by netc 0.3.0:
# 15,213 parameters, 876,134 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
import torchvision
from torch import Tensor, nn


class Learned(nn.Module):
    """Learned tensors by themselves."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_parameter(name, nn.Parameter(tensor))


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


class HeadNorm(nn.Module):
    """Layer norm of each head, then weights for all of them."""

    def __init__(self, features, dim, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.dim, self.eps = dim, eps

    def forward(self, x):
        heads = x.unflatten(-1, (-1, self.dim))
        heads = F.layer_norm(heads, (self.dim,), eps=self.eps)
        return heads.flatten(-2) * self.weight


class DeformableAttention(nn.Module):
    """Each head reads a few places of each map, as in Deformable DETR."""

    def __init__(self, channels, heads, maps, points=4, seen=None):
        super().__init__()
        self.heads, self.maps, self.points = heads, maps, points
        count = heads * len(maps) * points
        self.sampling_offsets = nn.Linear(channels, 2 * count)
        self.attention_weights = nn.Linear(channels, count)
        self.value_proj = nn.Linear(seen or channels, channels)
        self.output_proj = nn.Linear(channels, channels)

    def forward(self, x, at, seen):
        n, heads = max(len(x), len(at), len(seen)), self.heads
        values = self.value_proj(seen).expand(n, -1, -1)
        values = values.split([h * w for h, w in self.maps], 1)
        moved = self.sampling_offsets(x).unflatten(
            2, (heads, len(self.maps), self.points, 2))
        weights = self.attention_weights(x).unflatten(2, (heads, -1))
        weights = weights.softmax(-1).expand(n, -1, -1, -1)
        at = (at[:, :, None] if at.dim() == 3 else at)[:, :, None, :, None]
        if at.shape[-1] == 2:
            sizes = x.new_tensor([(w, h) for h, w in self.maps])
            places = at + moved / sizes[:, None]
        else:
            places = at[..., :2] + moved / self.points * at[..., 2:] * 0.5
        places = (2 * places - 1).expand(n, -1, -1, -1, -1, -1)
        found = []
        for i, (h, w) in enumerate(self.maps):
            level = values[i].transpose(1, 2).reshape(n * heads, -1, h, w)
            grid = places[:, :, :, i].transpose(1, 2).flatten(0, 1)
            found.append(F.grid_sample(level, grid, align_corners=False))
        weights = weights.transpose(1, 2).flatten(0, 1)[:, None]
        y = (torch.stack(found, -2).flatten(-2) * weights).sum(-1)
        y = y.reshape(n, -1, x.shape[1]).transpose(1, 2)
        return self.output_proj(y.contiguous())


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


class Rotation(nn.Module):
    """Rotates pairs of features, one of each half, by their position."""

    def __init__(self, length, features, base=10000.0, stretch=1.0,
                 trained=None):
        super().__init__()
        self.rule = length, features, base, stretch, trained
        half = features // 2
        slower = base ** (-torch.arange(half) / half)
        turns = slower * (trained or 0) / (2 * math.pi)
        kept = ((turns - 1) / 3).clamp(0, 1)  # Llama 3.1
        slower = slower * ((1 - kept) / stretch + kept)
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
    out: features of the output; 0: no projection
    scale: what is divided by the root of dim
    norm: of all queries and keys, or of each head's
    softcap: bounds scores
    rotary: features of a head that are rotated
    """

    def __init__(self, channels, heads, kv_heads=None, dim=None, bias="qkvo",
                 causal=False, rope=False, out=None, scale="scores", norm=None,
                 norm_all=False, softcap=None, rotary=None, length=None,
                 base=10000.0, stretch=1.0, trained=None):
        super().__init__()
        self.dim = dim or channels // heads
        width = self.dim * heads
        kv_width = self.dim * (kv_heads or heads)
        self.causal = causal
        self.rope = rope
        self.scale = scale
        self.softcap = softcap
        self.norm = norm
        self.norm_all = norm_all
        self.rotary = rotary or self.dim
        if rope:
            self.rotation = Rotation(length, self.rotary, base, stretch,
                                     trained)
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(channels, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(channels, kv_width, bias="v" in bias)
        self.out_proj = nn.Identity()
        if out != 0:
            self.out_proj = nn.Linear(width, out or channels, bias="o" in bias)
        if norm:
            sizes = (width, kv_width) if norm_all else (self.dim, self.dim)
            self.q_norm = norm(sizes[0], eps=1e-6)
            self.k_norm = norm(sizes[1], eps=1e-6)

    def hidden(self, queries, keys, device):
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
        return behind < 0

    def masked(self, scores):
        if self.causal:
            hidden = self.hidden(*scores.shape[-2:], scores.device)
            scores = scores.masked_fill(hidden, -math.inf)
        return scores

    def weights(self, q, k, mask):
        if self.scale == "queries":
            q = q / math.sqrt(self.dim)
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        scores = self.masked(scores)
        if mask is not None:
            scores = scores + mask
        return scores.softmax(-1)

    def attend(self, q, k, v, mask):
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k, mask) @ v

    def forward(self, x, mask=None):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if self.norm and self.norm_all:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.norm and not self.norm_all:
            q, k = self.q_norm(q), self.k_norm(k)
        if self.rope:
            q, k = (torch.cat([self.rotation(y[..., :self.rotary]),
                               y[..., self.rotary:]], -1)
                    for y in (q, k))
        y = self.attend(q, k, v, mask)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class PackedAttention(nn.Module):
    """Attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    bias: which of queries, keys, values and output have one
    scale: what is divided by the root of dim
    norm: of each head's queries and keys
    softcap: bounds scores
    """

    def __init__(self, channels, heads, kv_heads=None, bias="qkvo",
                 causal=False, scale="scores", norm=None, softcap=None,
                 sinks=False, talking=False):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * (kv_heads or heads)
        self.causal = causal
        self.scale = scale
        self.softcap = softcap
        self.norm = norm
        self.talking = talking
        self.sizes = channels, kv_width, kv_width
        rows = sum(self.sizes)
        self.in_proj_weight = nn.Parameter(torch.empty(rows, channels))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = None
        if "q" in bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.out_proj = nn.Linear(channels, channels, bias="o" in bias)
        if norm:
            self.q_norm = norm(self.dim, eps=1e-6)
            self.k_norm = norm(self.dim, eps=1e-6)
        if talking:
            self.proj_l = nn.Linear(heads, heads)
            self.proj_w = nn.Linear(heads, heads)
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None

    def projected(self, x, seen):
        weights = self.in_proj_weight.split(self.sizes)
        biases = (None,) * 3
        if self.in_proj_bias is not None:
            biases = self.in_proj_bias.split(self.sizes)
        return (F.linear(x, weights[0], biases[0]),
                F.linear(seen, weights[1], biases[1]),
                F.linear(seen, weights[2], biases[2]))

    def hidden(self, queries, keys, device):
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
        return behind < 0

    def masked(self, scores):
        if self.causal:
            hidden = self.hidden(*scores.shape[-2:], scores.device)
            scores = scores.masked_fill(hidden, -math.inf)
        return scores

    def mixed(self, scores, heads):
        return heads(scores.movedim(-3, -1)).movedim(-1, -3)

    def weights(self, q, k, mask):
        if self.scale == "queries":
            q = q / math.sqrt(self.dim)
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if self.talking:
            scores = self.mixed(scores, self.proj_l)
        scores = self.masked(scores)
        if mask is not None:
            scores = scores + mask
        if self.sinks is not None:
            sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)
            scores = torch.cat([scores, sinks], -1)
            scores = scores - scores.max(-1, keepdim=True)[0]
            return scores.softmax(-1)[..., :-1]
        weights = scores.softmax(-1)
        if not self.talking:
            return weights
        return self.mixed(weights, self.proj_w)

    def attend(self, q, k, v, mask):
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k, mask) @ v

    def forward(self, x, seen=None, mask=None):
        seen = x if seen is None else seen
        if x is seen:
            q, k, v = F.linear(x, self.in_proj_weight,
                               self.in_proj_bias).split(self.sizes, -1)
        else:
            q, k, v = self.projected(x, seen)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.norm:
            q, k = self.q_norm(q), self.k_norm(k)
        y = self.attend(q, k, v, mask)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class JointAttention(nn.Module):
    """Two streams as one sequence, the other one in front.

    bias: which of queries, keys, values and output have one
    norm: of all queries and keys, or of each head's
    """

    def __init__(self, channels, heads, other, bias="qkvo", rope=False,
                 norm=None, norm_all=False, length=None):
        super().__init__()
        self.dim = channels // heads
        self.rope = rope
        self.norm = norm
        self.norm_all = norm_all
        if rope:
            self.rotation = Rotation(length, self.dim)
        self.q_proj = nn.Linear(channels, channels, bias="q" in bias)
        self.k_proj = nn.Linear(channels, channels, bias="k" in bias)
        self.v_proj = nn.Linear(channels, channels, bias="v" in bias)
        self.add_q_proj = nn.Linear(other, channels, bias="q" in bias)
        self.add_k_proj = nn.Linear(other, channels, bias="k" in bias)
        self.add_v_proj = nn.Linear(other, channels, bias="v" in bias)
        if norm:
            sizes = (channels, channels) if norm_all else (self.dim, self.dim)
            self.q_norm = norm(sizes[0], eps=1e-6)
            self.k_norm = norm(sizes[1], eps=1e-6)
            self.norm_added_q = norm(sizes[0], eps=1e-6)
            self.norm_added_k = norm(sizes[1], eps=1e-6)

    def normed(self, q, k, v, q_norm, k_norm):
        if self.norm_all:
            return q_norm(q), k_norm(k), v
        q = q_norm(q.unflatten(-1, (-1, self.dim))).flatten(-2)
        k = k_norm(k.unflatten(-1, (-1, self.dim))).flatten(-2)
        return q, k, v

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return F.scaled_dot_product_attention(q, k, v)
        return self.weights(q, k) @ v

    def forward(self, x, other):
        one = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        two = (self.add_q_proj(other), self.add_k_proj(other),
               self.add_v_proj(other))
        if self.norm:
            one = self.normed(*one, self.q_norm, self.k_norm)
            two = self.normed(*two, self.norm_added_q, self.norm_added_k)
        q, k, v = (torch.cat([b, a], -2) for a, b in zip(one, two))
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.rope:
            q, k = self.rotation(q), self.rotation(k)
        y = self.attend(q, k, v)
        return y.transpose(-3, -2).flatten(-2)


class PackedJointAttention(nn.Module):
    """Two streams as one sequence, the other one in front.

    kv_heads: of keys and values; each serves heads / kv_heads
    """

    def __init__(self, channels, heads, other, kv_heads=None):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * kv_heads
        self.sizes = channels, kv_width, kv_width
        rows = sum(self.sizes)
        self.in_proj_weight = nn.Parameter(torch.empty(rows, channels))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.add_qkv_proj = nn.Linear(other, rows)
        self.q_norm = nn.LayerNorm(self.dim, eps=1e-6)
        self.k_norm = nn.LayerNorm(self.dim, eps=1e-6)
        self.norm_added_q = nn.LayerNorm(self.dim, eps=1e-6)
        self.norm_added_k = nn.LayerNorm(self.dim, eps=1e-6)

    def normed(self, q, k, v, q_norm, k_norm):
        q = q_norm(q.unflatten(-1, (-1, self.dim))).flatten(-2)
        k = k_norm(k.unflatten(-1, (-1, self.dim))).flatten(-2)
        return q, k, v

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return attend_in_groups(q, k, v)
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x, other):
        one = F.linear(x, self.in_proj_weight,
                       self.in_proj_bias).split(self.sizes, -1)
        two = self.add_qkv_proj(other).split(self.sizes, -1)
        one = self.normed(*one, self.q_norm, self.k_norm)
        two = self.normed(*two, self.norm_added_q, self.norm_added_k)
        q, k, v = (torch.cat([b, a], -2) for a, b in zip(one, two))
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return y.transpose(-3, -2).flatten(-2)


class Stage(nn.Module):
    """stage[1]

    (N, 3, 3, 2) to (N, 3, 3, 2).
    """

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(3)
        self.twice = nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.bn(self.conv(x)), inplace=True)
        return self.twice(x)


class Stage2(nn.Module):
    """stage[2]

    (N, 3, 3, 2) to .
    """

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(3)
        self.twice = nn.Conv2d(3, 3, 1)

    def forward(self, x: Tensor) -> None:
        x = F.relu(self.bn(self.conv(x)), inplace=True)
        x = self.twice(x)


class Newer(nn.Module):
    """Gives (means, sums, planes, largest, smallest, one, map, listed,
    sequence)."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(6, 12, 3, stride=2, bias=False)
        self.bn1 = nn.BatchNorm2d(12, eps=0.001)
        self.conv2 = nn.Conv2d(12, 12, 3, padding=1)
        self.skip1 = nn.Conv2d(3, 3, 3, padding=1)
        self.skip2 = nn.Conv2d(3, 3, 3, padding=1)
        self.skip3 = nn.Conv2d(3, 3, 3, padding=1)
        self.stage1 = Stage()
        self.stage2 = Stage2()
        self.fc1 = nn.Linear(9, 2)
        self.linear1 = nn.Linear(2, 3)
        self.scale = Learned(weight=torch.ones(9), bias=torch.zeros(9))
        self.affine = Learned(weight=torch.ones(9), bias=torch.zeros(9))
        self.w = Learned(weight=torch.randn(4, 5, 2))
        self.linear2 = nn.Linear(12, 4)
        self.offsets = nn.Conv2d(12, 36, 3, padding=1)
        self.conv3 = nn.Conv2d(12, 18, 3, padding=1)
        self.deformconv = torchvision.ops.DeformConv2d(12, 6, 3, padding=1,
                                                       groups=2, bias=False)
        self.bn2 = nn.BatchNorm2d(6)
        self.fc2 = nn.Linear(120, 4)
        self.posembed1 = Learned(weight=0.02 * torch.randn(3, 8))
        self.posembed2 = Learned(weight=0.02 * torch.randn(20, 8))
        self.attentions1 = nn.ModuleList([
            PackedAttention(8, 2, norm=RMSNorm),
            Attention(8, 4, kv_heads=2, causal=True, rope=True, length=12,
                      scale="queries", norm=nn.LayerNorm),
            Attention(8, 4, kv_heads=2, causal=True, rope=True, length=12,
                      norm=lambda width, eps: HeadNorm(width, 2, eps),
                      norm_all=True),
        ])
        self.attention1 = JointAttention(8, 2, bias="", other=8,
                                         norm=lambda width,
                                         eps: HeadNorm(width, 4, eps),
                                         norm_all=True)
        self.attentions2 = nn.ModuleList([
            Attention(8, 2, scale=None, softcap=5),
            PackedAttention(8, 2, scale="queries", talking=True),
            PackedAttention(8, 4, kv_heads=2, bias="o", causal=True,
                            sinks=True),
        ])
        self.linear3 = nn.Linear(8, 8)
        self.attentions3 = nn.ModuleList([
            Attention(8, 2, causal=True, rope=True, length=24, rotary=2),
            Attention(8, 2, causal=True, rope=True, length=24, base=500000,
                      stretch=8, trained=64),
            Attention(8, 2, dim=3, out=0),
            Attention(6, 3, bias="kv", out=8),
        ])
        self.attentions4 = nn.ModuleList([
            PackedAttention(8, 2, scale="queries", norm=RMSNorm),
            JointAttention(8, 2, bias="", rope=True, length=36, other=8,
                           norm=RMSNorm),
            PackedJointAttention(8, 4, kv_heads=2, other=8),
            JointAttention(8, 2, other=8),
        ])
        self.attention2 = Attention(8, 2)
        self.attention3 = PackedAttention(8, 2, causal=True, softcap=5)
        self.linear4 = nn.Linear(16, 4)
        self.linear5 = nn.Linear(4, 4)
        self.deformattn1 = DeformableAttention(4, 2, [(2, 2), (1, 1)])
        self.linear6 = nn.Linear(4, 4)
        self.deformattn2 = DeformableAttention(4, 4, [(2, 4), (2, 2)],
                                               points=2, seen=8)
        self.spots = Learned(weight=torch.randn(5, 2))
        self.deformattn3 = DeformableAttention(4, 1, [(5, 1)])
        share_rotations(self)

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor,
                                                     Tensor, Tensor, Tensor,
                                                     Tensor, Tensor, Tensor]:
        x = self.bn1(self.conv1(F.pad(a, (0, 1, 0, 1))))
        x = F.leaky_relu(x, negative_slope=0.2, inplace=True)
        x = F.max_pool2d(F.pad(x, (0, 0, 0, 1), value=-math.inf), 2)
        x = F.glu(self.conv2(x), 1)
        p_1 = x[:, 0:3]
        x = x[:, 3:6]
        x = p_1 * x
        skip_1 = F.relu(self.skip1(x), inplace=True)
        skip_2 = F.relu(self.skip2(skip_1), inplace=True)
        skip_3 = F.relu(self.skip3(skip_2), inplace=True)
        x = self.stage1(skip_3)
        self.stage2(x)
        x = skip_1 + skip_2 + skip_3
        q_1 = x[:, :, 0:1]
        q_2 = x[:, :, 1:2]
        x = x[:, :, 2:3]
        x = torch.cat([q_1, q_2, x], 1)
        y = x.mean((2, 3))
        y = self.fc1(y)
        z = x.sum(1, keepdim=True)
        u = x.sum(1)
        u = self.linear1(u)
        v = x.max(2)[0]
        w = x.amax((2, 3), keepdim=True)
        w = w.min(1)[0]
        t1 = x.mean((1, 2, 3))[:, None]
        t2 = x + 3
        x = x * 0.5
        x = torch.exp(x)
        x = x + 1
        x = t2 / x
        t2 = torch.abs(x)
        t2 = t2 + 0.5
        t2 = torch.sqrt(t2)
        t3 = torch.abs(x)
        t3 = t3 + 1
        t3 = torch.log(t3)
        x = torch.neg(x)
        x = x ** 2
        x = t2 - t3 - x
        x = x.clamp(min=0.1)
        x = x.clamp(max=5)
        t2 = x * 2
        x = torch.minimum(x, t2)
        x = F.normalize(x, dim=1)
        x = (x * self.scale.weight[:, None, None] +
             self.scale.bias[:, None, None])
        x = torch.addcmul(self.affine.bias[:, None, None], x,
                          self.affine.weight[:, None, None])
        x = F.pad(x, (1, 1, 1, 1, 1, 2))
        x = F.interpolate(x, size=(7, 9))
        t2 = self.w.weight[None]
        t3 = self.linear2(x.movedim(1, -1))
        t3 = t3.reshape(-1, 7, 9, 2, 2)
        heads = t3.permute(0, 3, 1, 2, 4)
        offsets = self.offsets(x)
        t3 = self.conv3(x)
        t3 = torch.sigmoid(t3)
        x = self.bn2(self.deformconv(x, offsets, t3))
        x = F.grid_sample(x.reshape(-1, 3, 7, 9), heads.flatten(0, 1),
                          padding_mode="border",
                          align_corners=False).reshape(-1, 6, 7, 9)
        x = F.grid_sample(x, t2.expand(len(x), -1, -1, -1), mode="bicubic",
                          align_corners=True)
        x = self.fc2(x.flatten(1))
        t2 = b + self.posembed1.weight[2]
        t2 = t2 + self.posembed2.weight[3]
        for attention1 in self.attentions1:
            t2 = attention1(t2)
        t2 = self.attention1(t2, b)
        for attention2 in self.attentions2:
            t2 = attention2(t2)
        t2 = F.gelu(self.linear3(t2), approximate="tanh")
        for attention3 in self.attentions3:
            t2 = attention3(t2)
        for attention4 in self.attentions4:
            t2 = attention4(t2, b)
        t3 = t2 @ t2.transpose(-2, -1)
        t2 = self.attention2(t2, mask=t3[:, None])
        t3 = t2.sum(2)
        t2 = self.attention3(t2, mask=t3[:, None, None])
        t3 = torch.tanh(t2)
        t3 = [t2, t3]
        t4 = F.relu(torch.cat(t3, 2))
        t4 = self.linear4(t4)
        t3 = [*t3, t4]
        t3 = torch.sigmoid(torch.cat(t3, 2))
        t2 = F.glu(t2, 2)
        t2 = F.normalize(t2, dim=2)
        t2 = t2.detach()
        t4 = t2.max(2)[0]
        t4 = t4.topk(5, 1)[1]
        t2 = t2.gather(1, t4[:, :, None].repeat(1, 1, 4))
        t4 = torch.sigmoid(self.linear5(t2))
        t2 = self.deformattn1(t2, t4, t2)
        t4 = torch.sigmoid(self.linear6(t2))
        t4 = t4.reshape(-1, 5, 2, 2)
        t2 = self.deformattn2(t2, t4, b)
        t4 = self.spots.weight[None]
        t2 = self.deformattn3(t2, t4, t2)
        t2 = t2.topk(3, 1, largest=False)[0]
        t2 = t2.mean(1, keepdim=True)
        return y, z, u, v.transpose(1, 2), w, t1, x, t3, t2


if __name__ == "__main__":
    net = Newer().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 10, 8), torch.zeros(1, 12, 8))
    for each in out:
        print(tuple(each.shape))
