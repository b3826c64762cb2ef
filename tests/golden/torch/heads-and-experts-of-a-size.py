# nemotron, by netc 0.3.0:
# 7,850 parameters, 44,310 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import torch
import torch.nn.functional as F
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


class LatentRouter(nn.Linear):
    """A router, and the matrix in front of its experts."""

    def __init__(self, channels, experts, latent, bias=True):
        super().__init__(channels, experts, bias)
        self.fc1_latent_proj = nn.Linear(channels, latent, bias=False)


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


class Moe(nn.Module):
    """moe1 and 1 more

    (N, 7, 16) to (N, 7, 16) in the first.
    """

    __constants__ = ["_router2"]

    def __init__(self, router2=False):
        super().__init__()
        self._router2 = router2
        if router2:
            self.router2 = LatentRouter(16, 4, 6)
            self.linear2 = nn.ModuleList(nn.Linear(6, 10, bias=False)
                                         for _ in range(4))
            self.linear3 = nn.ModuleList(nn.Linear(10, 6, bias=False)
                                         for _ in range(4))
            self.combine2 = nn.ModuleDict(dict(fc2_latent_proj=nn.Linear(
                6, 16, bias=False)))
        else:
            self.router1 = LatentRouter(16, 3, 20, bias=False)
            self.linear1 = nn.ModuleList(nn.Linear(20, 20) for _ in range(3))
            self.combine1 = nn.ModuleDict(dict(fc2_latent_proj=nn.Linear(
                20, 16, bias=False)))

    def forward(self, x: Tensor) -> Tensor:
        if self._router2:
            tokens = x.flatten(0, -2)
            weights, chosen = route(self.router2(tokens), 2, sigmoid=True)
            tokens = self.router2.fc1_latent_proj(tokens)
            total = tokens.new_zeros(len(tokens), 6)
            for expert in range(4):
                at, place = torch.where(chosen == expert)
                y = tokens[at][None, None]
                z = F.relu(self.linear2[expert](y), inplace=True) ** 2
                z = self.linear3[expert](z)
                rows = z.flatten(0, -2) * weights[at, place, None]
                total.index_add_(0, at, rows.to(total.dtype))
            x = self.combine2["fc2_latent_proj"](total).view(*x.shape[:-1], -1)
        else:
            tokens = x.flatten(0, -2)
            weights, chosen = route(self.router1(tokens), 1)
            tokens = self.router1.fc1_latent_proj(tokens)
            total = tokens.new_zeros(len(tokens), 20)
            for expert in range(3):
                at, place = torch.where(chosen == expert)
                y = tokens[at][None, None]
                z = self.linear1[expert](y)
                rows = z.flatten(0, -2) * weights[at, place, None]
                total.index_add_(0, at, rows.to(total.dtype))
            x = self.combine1["fc2_latent_proj"](total).view(*x.shape[:-1], -1)
        return x


class Nemotron(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rmsnorm1 = RMSNorm(16, eps=1e-05)
        self.ssm1 = HeadsScan(16, 24, 5, 4, groups=2)
        self.rmsnorm2 = RMSNorm(16, eps=1e-05)
        self.ssm2 = HeadsScan(16, 10, 5, 2, proj_bias=True, norm=False)
        self.ssm3 = SelectiveScan(16, 32, 4, 1, conv_bias=False)
        self.rmsnorm3 = RMSNorm(16, eps=1e-05)
        self.moe1 = Moe(router2=True)
        self.moe2 = Moe()

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        y = self.rmsnorm1(x)
        y = self.ssm1(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = self.ssm2(y)
        x = y + x
        x = self.ssm3(x)
        y = self.rmsnorm3(x)
        y = self.moe1(y)
        y += x
        return self.moe2(y)


if __name__ == "__main__":
    net = Nemotron().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 7, dtype=torch.long))
    print(tuple(out.shape))
