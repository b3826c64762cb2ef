# deltas, by netc 0.3.0:
# 6,098 parameters, 68,724 MACs for one sample
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


def delta_rule(q, k, v, decay, beta):
    """Each step moves the state's value for a key by a part of what it
    lacks; heads of keys are shared by those of values."""
    q, k = (x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + 1e-6)
            for x in (q, k))
    q, k = (x.repeat_interleave(v.shape[2] // x.shape[2], 2)
            for x in (q * q.shape[-1] ** -0.5, k))
    state = torch.zeros_like(k[:, 0, :, :, None] * v[:, 0, :, None])
    y = []
    for i in range(v.shape[1]):
        state = state * decay[:, i, :, :, None]
        lacks = v[:, i, :, None] - k[:, i, :, None] @ state
        lacks = beta[:, i, :, None, None] * lacks
        state = state + k[:, i, :, :, None] @ lacks
        y.append((q[:, i, :, None] @ state)[:, :, 0])
    return torch.stack(y, 1)


class DeltaNet(nn.Module):
    """A gated delta net, step by step: the mixer of Qwen3.5; packed, that of
    Qwen3-Next."""

    def __init__(self, channels, heads, kheads, dim, vdim, conv=4,
                 packed=False):
        super().__init__()
        self.kheads, self.packed = kheads, packed
        self.sizes = kheads * dim, kheads * dim, heads * vdim
        mixed, value = sum(self.sizes), heads * vdim
        outs = dict(qkvz=mixed + value, ba=2 * heads) if packed else dict(
            qkv=mixed, z=value, b=heads, a=heads)
        for name, out in outs.items():
            setattr(self, "in_proj_" + name,
                    nn.Linear(channels, out, bias=False))
        self.conv1d = nn.Conv1d(mixed, mixed, conv, padding=conv - 1,
                                groups=mixed, bias=False)
        self.dt_bias = nn.Parameter(torch.ones(heads))
        self.A_log = nn.Parameter(torch.arange(1, heads + 1).float().log())
        self.norm = Learned(weight=torch.ones(vdim))
        self.out_proj = nn.Linear(value, channels, bias=False)

    def parts(self, x):
        if not self.packed:
            return (self.in_proj_qkv(x), self.in_proj_z(x), self.in_proj_b(x),
                    self.in_proj_a(x))
        sizes = [size // self.kheads for size in (*self.sizes, self.sizes[2])]
        all = self.in_proj_qkvz(x).unflatten(-1, (self.kheads, -1))
        *qkv, z = (y.flatten(2) for y in all.split(sizes, -1))
        both = self.in_proj_ba(x).unflatten(-1, (self.kheads, -1))
        b, a = (y.flatten(2) for y in both.chunk(2, -1))
        return torch.cat(qkv, -1), z, b, a

    def forward(self, x):
        qkv, z, b, a = self.parts(x)
        qkv = self.conv1d(qkv.transpose(1, 2))[..., :x.shape[1]]
        q, k, v = F.silu(qkv).transpose(1, 2).split(self.sizes, -1)
        q, k = (y.unflatten(-1, (self.kheads, -1)) for y in (q, k))
        v, z = (y.unflatten(-1, (len(self.A_log), -1)) for y in (v, z))
        decay = torch.exp(-self.A_log.exp() * F.softplus(a + self.dt_bias))
        y = delta_rule(q, k, v, decay[..., None], b.sigmoid())
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.out_proj((y * self.norm.weight * F.silu(z)).flatten(2))


class ChannelDeltaNet(nn.Module):
    """A gated delta net that decays by channel, step by step: Kimi Delta
    Attention."""

    def __init__(self, channels, heads, kheads, dim, vdim, conv=4, low=True):
        super().__init__()
        self.dim, self.vdim, self.low = dim, vdim, low
        key, value, decays = kheads * dim, heads * vdim, heads * dim
        matrices = dict(q=(channels, key), k=(channels, key),
                        v=(channels, value), f_a=(channels, vdim),
                        f_b=(vdim, decays), b=(channels, heads))
        matrices |= dict(g_a=(channels, vdim), g_b=(vdim, value)) if low else (
            dict(g=(channels, value)))
        for name, sizes in matrices.items():
            setattr(self, name + "_proj", nn.Linear(*sizes, bias=False))
        for name, size in dict(q=key, k=key, v=value).items():
            setattr(self, name + "_conv1d",
                    nn.Conv1d(size, size, conv, padding=conv - 1, groups=size,
                              bias=False))
        self.dt_bias = nn.Parameter(torch.ones(decays))
        self.A_log = nn.Parameter(torch.arange(1, heads + 1).float().log())
        self.o_norm = Learned(weight=torch.ones(vdim))
        self.o_proj = nn.Linear(value, channels, bias=False)

    def forward(self, x):
        def heads(name, size):
            y = getattr(self, name + "_proj")(x).transpose(1, 2)
            y = getattr(self, name + "_conv1d")(y)[..., :x.shape[1]]
            return F.silu(y).transpose(1, 2).unflatten(-1, (-1, size))

        step = F.softplus(self.f_b_proj(self.f_a_proj(x)) + self.dt_bias)
        step = step.unflatten(-1, (-1, self.dim))
        decay = torch.exp(-self.A_log.exp()[:, None] * step)
        y = delta_rule(heads("q", self.dim), heads("k", self.dim),
                       heads("v", self.vdim), decay, self.b_proj(x).sigmoid())
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        z = self.g_b_proj(self.g_a_proj(x)) if self.low else self.g_proj(x)
        z = z.unflatten(-1, (-1, self.vdim)).sigmoid()
        return self.o_proj((y * self.o_norm.weight * z).flatten(2))


class Deltas(nn.Module):
    def __init__(self):
        super().__init__()
        self.rmsnorm1 = RMSNorm(12, eps=1e-05)
        self.deltanet1 = DeltaNet(12, 4, 2, 6, 5, packed=True)
        self.rmsnorm2 = RMSNorm(12, eps=1e-05)
        self.deltanet2 = DeltaNet(12, 4, 2, 6, 5)
        self.deltanet3 = ChannelDeltaNet(12, 3, 3, 8, 8)
        self.deltanet4 = ChannelDeltaNet(12, 4, 2, 6, 5, conv=3, low=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.rmsnorm1(x)
        y = self.deltanet1(y)
        x = y + x
        y = self.rmsnorm2(x)
        y = self.deltanet2(y)
        x = y + x
        x = self.deltanet3(x)
        return self.deltanet4(x)


if __name__ == "__main__":
    net = Deltas().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 9, 12))
    print(tuple(out.shape))
