# newer, by netc 0.2.0:
# 13,843 parameters, 694,470 MACs a sample
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


def rms_norm(x, eps: float = 1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.eps) * self.weight


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


def rotate(x, base=10000.0, stretch=1.0, trained=None):
    """Turns pairs of features, one of each half, by their position."""
    half = x.shape[-1] // 2
    slower = base ** (-torch.arange(half, device=x.device) / half)
    turns = slower * (trained or 0) / (2 * math.pi)
    kept = ((turns - 1) / 3).clamp(0, 1)  # Llama 3.1
    slower = slower * ((1 - kept) / stretch + kept)
    angle = torch.arange(x.shape[-2], device=x.device)[:, None] * slower
    sine, cosine = angle.sin(), angle.cos()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)


def relative_places(sizes):
    """Where the bias of each pair of positions is."""
    grids = torch.meshgrid(*map(torch.arange, sizes), indexing="ij")
    places = 0
    for size, grid in zip(sizes, grids):
        apart = grid.reshape(-1, 1) - grid.reshape(-1)
        places = places * (2 * size - 1) + apart + size - 1
    return places


class Attention(nn.Module):
    """Axes before the last two are a batch.

    kv_heads of keys and values serve all heads; window is how many of the
    latest positions are seen, half of them on each side if not causal,
    relative the sizes of a window whose pairs of positions have learned
    biases, rope rotates queries and keys.
    """

    def __init__(self, channels, heads, kv_heads=None, dim=None, seen=None,
                 bias="qkvo", causal=False, window=None, relative=None,
                 rope=False, dropout=0.0):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.dim = dim or channels // heads
        self.causal, self.window = causal, window
        self.relative, self.rope = relative, rope
        self.dropout = dropout
        self.project(channels, seen or channels, bias)
        self.out_proj = nn.Linear(self.dim * heads, channels,
                                  bias="o" in bias)
        if relative:
            pairs = math.prod(2 * size - 1 for size in relative)
            self.relative_position_bias_table = nn.Parameter(
                0.02 * torch.randn(pairs, heads))
            self.register_buffer("places", relative_places(relative),
                                 persistent=False)

    def project(self, channels, seen, bias):
        width, kv_width = self.dim * self.heads, self.dim * self.kv_heads
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(seen, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(seen, kv_width, bias="v" in bias)

    def projected(self, x, seen):
        return self.q_proj(x), self.k_proj(seen), self.v_proj(seen)

    def hidden(self, queries, keys, device):
        behind = torch.arange(queries, device=device)[:, None] \
            - torch.arange(keys, device=device)
        if not self.causal:
            return behind.abs() > self.window // 2
        hidden = behind < 0
        if self.window:
            hidden |= behind >= self.window
        return hidden

    def masked(self, scores):
        if self.relative:
            bias = self.relative_position_bias_table[self.places]
            scores = scores + bias.permute(2, 0, 1)
        if self.causal or self.window:
            scores = scores.masked_fill(
                self.hidden(*scores.shape[-2:], scores.device), -math.inf)
        return scores

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return self.masked(scores).softmax(-1)

    def turned(self, q, k):
        return (rotate(q), rotate(k)) if self.rope else (q, k)

    def repeated(self, y):
        serves = self.heads // self.kv_heads
        y = y.unsqueeze(-3).expand(*y.shape[:-2], serves, -1, -1)
        return y.flatten(-4, -3)

    def forward(self, x, seen=None):
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in self.projected(x, x if seen is None else seen))
        q, k = self.turned(q, k)
        if self.kv_heads != self.heads:
            k, v = self.repeated(k), self.repeated(v)
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))

    def attend(self, q, k, v):
        if not hasattr(F, "scaled_dot_product_attention"):
            return self.spelled_out(q, k, v)  # PyTorch before 2.0
        plain = self.causal and not self.window and not self.relative
        mask = None
        if self.relative or self.window:
            mask = self.masked(q.new_zeros(q.shape[-2], k.shape[-2]))
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=plain,
            dropout_p=self.dropout if self.training else 0.0)

    def spelled_out(self, q, k, v):
        weights = F.dropout(self.weights(q, k), self.dropout, self.training)
        return weights @ v


class PackedAttention(Attention):
    """Queries, keys and values by one matrix, as in nn.MultiheadAttention."""

    def project(self, channels, seen, bias):
        width, kv_width = self.dim * self.heads, self.dim * self.kv_heads
        self.sizes = width, kv_width, kv_width
        self.apart = seen != channels
        if self.apart:
            self.q_proj = nn.Linear(channels, width, bias="q" in bias)
            self.kv_proj = nn.Linear(seen, 2 * kv_width, bias="v" in bias)
            return
        rows = sum(self.sizes)
        self.in_proj_weight = nn.Parameter(torch.empty(rows, channels))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = None
        if "q" in bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(rows))

    def projected(self, x, seen):
        if self.apart:
            return self.q_proj(x), *self.kv_proj(seen).chunk(2, -1)
        weight, bias = self.in_proj_weight, self.in_proj_bias
        if x is seen:
            return F.linear(x, weight, bias).split(self.sizes, -1)
        weights = weight.split(self.sizes)
        biases = (None,) * 3 if bias is None else bias.split(self.sizes)
        return (F.linear(x, weights[0], biases[0]),
                F.linear(seen, weights[1], biases[1]),
                F.linear(seen, weights[2], biases[2]))


class SpecialAttention(Attention):
    """Attention with what newer nets do to it.

    out is the features of the output, 0 without a projection; scale says what
    is divided by the root of dim, norm what each head's queries and keys go
    through; softcap bounds scores, sinks add one to each row, talking mixes
    the heads before and after softmax, rotary is what rope rotates of them,
    base and the others how far.
    """

    def __init__(self, channels, heads, out=None, scale="scores", norm=None,
                 norm_all=False, softcap=None, sinks=False, talking=False,
                 rotary=None, base=10000.0, stretch=1.0, trained=None,
                 **options):
        super().__init__(channels, heads, **options)
        self.scale, self.norm, self.softcap = scale, norm, softcap
        self.talking, self.rotary = talking, rotary
        self.norm_all = norm_all
        self.turns = base, stretch, trained
        if out == 0:
            self.out_proj = nn.Identity()
        elif out:
            self.out_proj = nn.Linear(self.dim * heads, out,
                                      bias=self.out_proj.bias is not None)
        if norm:
            sizes = (self.dim, self.dim)
            if norm_all:
                sizes = self.dim * heads, self.dim * self.kv_heads
            self.q_norm, self.k_norm = (norm(size, eps=1e-6)
                                        for size in sizes)
        if talking:
            self.proj_l, self.proj_w = (nn.Linear(heads, heads) for _ in "lw")
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None

    def normed(self, y, norm):
        if not self.norm_all:
            return norm(y)
        y = norm(y.transpose(-3, -2).flatten(-2))
        return y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)

    def turned(self, q, k):
        if self.norm:
            q = self.normed(q, self.q_norm)
            k = self.normed(k, self.k_norm)
        part, passed = self.rotary or self.dim, (q, k)
        if self.rope:
            q, k = (rotate(y[..., :part], *self.turns) for y in passed)
        if self.rotary:
            q, k = (torch.cat([y, x[..., part:]], -1)
                    for y, x in zip((q, k), passed))
        return q / math.sqrt(self.dim) if self.scale == "queries" else q, k

    def attend(self, q, k, v):
        return self.spelled_out(q, k, v)

    def mixed(self, scores, heads):
        return heads(scores.movedim(-3, -1)).movedim(-1, -3)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if self.talking:
            scores = self.mixed(scores, self.proj_l)
        scores = self.masked(scores)
        if self.sinks is not None:
            sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)
            scores = torch.cat([scores, sinks], -1)
            scores = scores - scores.max(-1, keepdim=True)[0]
            return scores.softmax(-1)[..., :-1]
        weights = scores.softmax(-1)
        return self.mixed(weights, self.proj_w) if self.talking else weights


class PackedSpecialAttention(SpecialAttention, PackedAttention):
    """Both."""


class JointAttention(SpecialAttention):
    """Two streams as one sequence, the other one in front."""

    def __init__(self, channels, heads, other, bias="qkvo", norm=None,
                 **options):
        super().__init__(channels, heads, out=0, bias=bias, **options)
        kv_width = self.dim * self.kv_heads
        self.widths = self.dim * heads, kv_width, kv_width
        self.project_other(other, bias)
        self.joint_norm = norm is not None
        if norm:
            sizes = self.widths if self.norm_all else (self.dim, self.dim)
            self.q_norm, self.k_norm = (norm(size, eps=1e-6)
                                        for size in sizes[:2])
            self.norm_added_q, self.norm_added_k = (
                norm(size, eps=1e-6) for size in sizes[:2])

    def project_other(self, other, bias):
        self.add_q_proj, self.add_k_proj, self.add_v_proj = (
            nn.Linear(other, width, bias=name in bias)
            for name, width in zip("qkv", self.widths))

    def others(self, other):
        return (self.add_q_proj(other), self.add_k_proj(other),
                self.add_v_proj(other))

    def normalised(self, q, k, v, *norms):
        pairs = zip((q, k), norms)
        if self.norm_all:
            return *(norm(y) for y, norm in pairs), v
        return *(norm(y.unflatten(-1, (-1, self.dim))).flatten(-2)
                 for y, norm in pairs), v

    def projected(self, x, other):
        own, added = super().projected(x, x), self.others(other)
        if self.joint_norm:
            own = self.normalised(*own, self.q_norm, self.k_norm)
            added = self.normalised(*added, self.norm_added_q,
                                    self.norm_added_k)
        return [torch.cat(pair, -2) for pair in zip(added, own)]


class PackedJointAttention(JointAttention, PackedAttention):
    """Queries, keys and values of each stream by one matrix."""

    def project_other(self, other, bias):
        self.add_qkv_proj = nn.Linear(other, sum(self.widths),
                                      bias="q" in bias)

    def others(self, other):
        return self.add_qkv_proj(other).split(self.widths, -1)


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
    """Gives (means, sums, planes, largest, smallest, one, map, sequence)."""

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
            PackedSpecialAttention(8, 2, norm=RMSNorm),
            SpecialAttention(8, 4, kv_heads=2, causal=True, rope=True,
                             scale="queries", norm=nn.LayerNorm),
            SpecialAttention(8, 4, kv_heads=2, causal=True, rope=True,
                             norm=lambda width, eps: HeadNorm(width, 2, eps),
                             norm_all=True),
        ])
        self.attention = JointAttention(8, 2, bias="", other=8,
                                        norm=lambda width,
                                        eps: HeadNorm(width, 4, eps),
                                        norm_all=True)
        self.attentions2 = nn.ModuleList([
            SpecialAttention(8, 2, scale=None, softcap=5),
            PackedSpecialAttention(8, 2, talking=True),
            PackedSpecialAttention(8, 4, kv_heads=2, bias="o", causal=True,
                                   sinks=True),
        ])
        self.linear3 = nn.Linear(8, 8)
        self.attentions3 = nn.ModuleList([
            SpecialAttention(8, 2, causal=True, rope=True, rotary=2),
            SpecialAttention(8, 2, causal=True, rope=True, base=500000,
                             stretch=8, trained=64),
            SpecialAttention(8, 2, dim=3, out=0),
            SpecialAttention(6, 3, bias="kv", out=8),
        ])
        self.attentions4 = nn.ModuleList([
            PackedSpecialAttention(8, 2, norm=RMSNorm),
            JointAttention(8, 2, bias="", rope=True, other=8, norm=RMSNorm),
            PackedJointAttention(8, 4, kv_heads=2, other=8, norm=nn.LayerNorm),
            JointAttention(8, 2, other=8),
        ])

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor,
                                                     Tensor, Tensor, Tensor,
                                                     Tensor, Tensor]:
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
        t2 = self.attention(t2, b)
        for attention2 in self.attentions2:
            t2 = attention2(t2)
        t2 = F.gelu(self.linear3(t2), approximate="tanh")
        for attention3 in self.attentions3:
            t2 = attention3(t2)
        for attention4 in self.attentions4:
            t2 = attention4(t2, b)
        t2 = F.glu(t2, 2)
        t2 = F.normalize(t2, dim=2)
        t2 = t2.detach()
        t3 = t2.max(2)[0]
        t3 = t3.topk(5, 1)[1]
        t2 = t2.gather(1, t3[:, :, None].repeat(1, 1, 4))
        t2 = t2.topk(3, 1, largest=False)[0]
        t2 = t2.mean(1, keepdim=True)
        return y, z, u, v.transpose(1, 2), w, t1, x, t2


if __name__ == "__main__":
    net = Newer().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 10, 8), torch.zeros(1, 12, 8))
    for each in out:
        print(tuple(each.shape))
