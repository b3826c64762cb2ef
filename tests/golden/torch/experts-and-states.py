# experts, by netc 0.3.0:
# 11,740 parameters, 65,694 MACs for one sample
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


def route(scores, top, norm=True, sigmoid=False, scale=None):
    """The weights of each token's experts, and which these are."""
    wide = scores.float()
    wide = wide.sigmoid() if sigmoid else wide.softmax(-1)
    weights, chosen = wide.topk(top)
    if norm:
        weights /= weights.sum(-1, keepdim=True)
    if scale:
        weights = weights * scale
    return weights.to(scores.dtype), chosen


def admit(chosen, samples, room):
    """The chosen experts; -1 beyond an expert's room for a sample."""
    rows = chosen.view(samples, -1, chosen.shape[-1])
    taken = F.one_hot(rows).sum(2).cumsum(1).gather(2, rows)
    return rows.masked_fill(taken > room, -1).view_as(chosen)


class SelectiveScan(nn.Module):
    """A selective state space, step by step: Mamba's mixer."""

    def __init__(self, channels, inner, state, rank, conv=4, conv_bias=True,
                 proj_bias=False):
        super().__init__()
        self.sizes = rank, state, state
        self.in_proj = nn.Linear(channels, 2 * inner, bias=proj_bias)
        self.conv1d = nn.Conv1d(inner, inner, conv, padding=conv - 1,
                                groups=inner, bias=conv_bias)
        self.x_proj = nn.Linear(inner, sum(self.sizes), bias=False)
        self.dt_proj = nn.Linear(rank, inner)
        rates = torch.arange(1, state + 1).float().log()
        self.A_log = nn.Parameter(rates.repeat(inner, 1))
        self.D = nn.Parameter(torch.ones(inner))
        self.out_proj = nn.Linear(inner, channels, bias=proj_bias)

    def forward(self, x):
        x, gate = self.in_proj(x).transpose(1, 2).chunk(2, 1)
        x = F.silu(self.conv1d(x)[..., :x.shape[2]])
        step, b, c = self.x_proj(x.transpose(1, 2)).split(self.sizes, -1)
        step = F.softplus(self.dt_proj(step)).transpose(1, 2)[..., None]
        decay = torch.exp(-torch.exp(self.A_log)[:, None] * step)
        given = step * b[:, None] * x[..., None]
        state, y = torch.zeros_like(given[:, :, 0]), []
        for i in range(x.shape[2]):
            state = decay[:, :, i] * state + given[:, :, i]
            y.append((state @ c[:, i, :, None])[..., 0])
        y = torch.stack(y, -1) + x * self.D[:, None]
        y = y * F.silu(gate)
        return self.out_proj(y.transpose(1, 2))


class HeadsScan(nn.Module):
    """A selective state space of heads, step by step: Mamba 2's mixer."""

    def __init__(self, channels, inner, state, heads, groups=1, conv=4,
                 conv_bias=True, proj_bias=False, norm=True):
        super().__init__()
        self.heads, self.groups = heads, groups
        self.sizes = inner, groups * state, groups * state
        mixed = sum(self.sizes)
        self.in_proj = nn.Linear(channels, inner + mixed + heads,
                                 bias=proj_bias)
        self.conv1d = nn.Conv1d(mixed, mixed, conv, padding=conv - 1,
                                groups=mixed, bias=conv_bias)
        self.dt_bias = nn.Parameter(torch.ones(heads))
        self.A_log = nn.Parameter(torch.arange(1, heads + 1).float().log())
        self.D = nn.Parameter(torch.ones(heads))
        self.norm = Learned(weight=torch.ones(inner)) if norm else None
        self.out_proj = nn.Linear(inner, channels, bias=proj_bias)

    def forward(self, x):
        inner, mixed = self.sizes[0], sum(self.sizes)
        gate, x, step = self.in_proj(x).split((inner, mixed, self.heads), -1)
        x = self.conv1d(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        x, b, c = F.silu(x).split(self.sizes, -1)
        x = x.unflatten(-1, (self.heads, -1))
        b, c = (y.unflatten(-1, (self.groups, -1)).repeat_interleave(
            self.heads // self.groups, 2) for y in (b, c))
        step = F.softplus(step + self.dt_bias)
        decay = torch.exp(-torch.exp(self.A_log) * step)[..., None, None]
        given = (step[..., None] * x)[..., None] * b[..., None, :]
        state, y = torch.zeros_like(given[:, 0]), []
        for i in range(x.shape[1]):
            state = decay[:, i] * state + given[:, i]
            y.append((state @ c[:, i, :, :, None])[..., 0])
        y = torch.stack(y, 1) + x * self.D[:, None]
        y = y.flatten(2) * F.silu(gate)
        if self.norm is not None:
            y = y.unflatten(-1, (self.groups, -1))
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
            y = y.flatten(2) * self.norm.weight
        return self.out_proj(y)


class LatentAttention(nn.Module):
    """Attention of keys and values from a small vector."""

    def __init__(self, channels, heads, latent, rope, dim, vdim, qlatent=None,
                 causal=False, naive=False, length=None, base=10000.0,
                 stretch=1.0, trained=None, dropout=0.0):
        super().__init__()
        self.heads, self.qlatent = heads, qlatent
        self.latent, self.rope = latent, rope
        self.dim, self.vdim = dim, vdim
        self.causal = causal
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
        self.rotation = Rotation(length, rope, base, stretch, trained)

    def attend(self, q, k, v):
        if not self.naive and hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(
                q, k, v, is_causal=self.causal,
                dropout_p=self.dropout if self.training else 0.0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if self.causal:
            scores = causal(scores)
        return F.dropout(scores.softmax(-1), self.dropout, self.training) @ v

    def forward(self, x):
        if self.qlatent:
            q = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x)))
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
        y = self.attend(q, k, v)
        return self.o_proj(y.transpose(-3, -2).flatten(-2))


class Moe(nn.Module):
    """moe1

    (N, 7, 16) to (N, 7, 16).
    """

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 3, bias=False)
        self.linear1 = nn.ModuleList(nn.Linear(16, 6, bias=False)
                                     for _ in range(3))
        self.linear2 = nn.ModuleList(nn.Linear(16, 6) for _ in range(3))
        self.linear3 = nn.ModuleList(nn.Linear(6, 16) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, -2)
        weights, chosen = route(self.router(tokens), 2)
        total = tokens.new_zeros(len(tokens), 16)
        for expert in range(3):
            at, place = torch.where(chosen == expert)
            y = tokens[at][None, None]
            z = F.silu(self.linear1[expert](y), inplace=True)
            z = self.linear3[expert](z * self.linear2[expert](y))
            rows = z.flatten(0, -2) * weights[at, place, None]
            total.index_add_(0, at, rows.to(total.dtype))
        return total.view(*x.shape[:-1], -1)


class Moe2(nn.Module):
    """moe2

    (N, 7, 16) to (N, 7, 16).
    """

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 4)
        self.linear1 = nn.ModuleList(nn.Linear(16, 12) for _ in range(4))
        self.linear2 = nn.ModuleList(nn.Linear(12, 16) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, -2)
        weights, chosen = route(self.router(tokens), 1, norm=False, scale=2.5)
        total = tokens.new_zeros(len(tokens), 16)
        for expert in range(4):
            at, place = torch.where(chosen == expert)
            y = tokens[at][None, None]
            z = F.relu(self.linear1[expert](y), inplace=True)
            z = self.linear2[expert](F.dropout(z, 0.1, self.training))
            rows = z.flatten(0, -2) * weights[at, place, None]
            total.index_add_(0, at, rows.to(total.dtype))
        return total.view(*x.shape[:-1], -1)


class Moe3(nn.Module):
    """moe3

    (N, 7, 16) to (N, 7, 16).
    """

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 3, bias=False)
        self.rmsnorm = nn.ModuleList(RMSNorm(16, eps=1e-05) for _ in range(3))
        self.linear = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, -2)
        weights, chosen = route(self.router(tokens), 2, sigmoid=True)
        total = tokens.new_zeros(len(tokens), 16)
        for expert in range(3):
            at, place = torch.where(chosen == expert)
            y = tokens[at][None, None]
            z = self.rmsnorm[expert](y)
            z = F.softmax(self.linear[expert](z) + z, 3)
            rows = z.flatten(0, -2) * weights[at, place, None]
            total.index_add_(0, at, rows.to(total.dtype))
        return total.view(*x.shape[:-1], -1)


class Moe4(nn.Module):
    """moe4

    (N, 7, 16) to (N, 7, 16).
    """

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(16, 3, bias=False)
        self.ln = nn.ModuleList(nn.LayerNorm(16) for _ in range(3))
        self.linear1 = nn.ModuleList(nn.Linear(16, 8) for _ in range(3))
        self.linear2 = nn.ModuleList(nn.Linear(8, 16) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x
        samples = len(tokens)
        tokens = tokens.flatten(0, -2)
        weights, chosen = route(self.router(tokens), 2)
        chosen = admit(chosen, samples, 4)
        total = tokens.new_zeros(len(tokens), 16)
        for expert in range(3):
            at, place = torch.where(chosen == expert)
            y = tokens[at][None, None]
            z = F.gelu(self.linear1[expert](self.ln[expert](y)))
            z = self.linear2[expert](z)
            rows = z.flatten(0, -2) * weights[at, place, None]
            total.index_add_(0, at, rows.to(total.dtype))
        return total.view(*x.shape[:-1], -1)


class Moe5(nn.Module):
    """moe5

    (N, 7, 2, 8) to (N, 7, 2, 8).
    """

    def __init__(self):
        super().__init__()
        self.router = nn.Linear(8, 2, bias=False)
        self.ln = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.linear = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, -2)
        weights, chosen = route(self.router(tokens), 1)
        total = tokens.new_zeros(len(tokens), 8)
        for expert in range(2):
            at, place = torch.where(chosen == expert)
            y = tokens[at][None, None, None]
            z = F.gelu(self.linear[expert](self.ln[expert](y)))
            rows = z.flatten(0, -2) * weights[at, place, None]
            total.index_add_(0, at, rows.to(total.dtype))
        return total.view(*x.shape[:-1], -1)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rmsnorm = RMSNorm(16, eps=1e-05)
        self.mla1 = LatentAttention(16, 4, 8, 4, 4, 4, causal=True, length=7)
        self.ln = nn.LayerNorm(16)
        self.mla2 = LatentAttention(16, 2, 8, 4, 6, 5, qlatent=10, naive=True,
                                    length=7, base=500, stretch=8, trained=16,
                                    dropout=0.1)
        self.ssm1 = SelectiveScan(16, 32, 4, 1)
        self.ssm2 = HeadsScan(16, 32, 6, 4, groups=2, conv=3)
        self.moe1 = Moe()
        self.moe2 = Moe2()
        self.moe3 = Moe3()
        self.moe4 = Moe4()
        self.moe5 = Moe5()
        share_rotations(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.rmsnorm(x)
        y = self.mla1(y)
        x = y + x
        y = self.ln(x)
        y = self.mla2(y)
        x = y + x
        x = self.ssm1(x)
        x = self.ssm2(x)
        y = self.moe1(x)
        x = y + x
        y = self.moe2(x)
        x = x + y
        x = self.moe3(x)
        y = self.moe4(x)
        x = x + y
        x = x.reshape(-1, 7, 2, 8)
        x = self.moe5(x)
        return x.movedim(-1, 1)


if __name__ == "__main__":
    net = Experts().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 7, dtype=torch.long))
    print(tuple(out.shape))
