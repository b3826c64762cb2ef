#!/usr/bin/python3
"""Writes tests/data/sequence.csv: layers of sequences as PyTorch runs them.

Each row has a net in the language, a batch, and what PyTorch 1.13 did on a
CPU: the module's parameters, the multiply-accumulates of its matrix products
for one sample, the bytes that autograd keeps (each storage once, without
parameters, buffers and inputs), and the largest sum of tensors that are alive
after an operation of forward and backward, of the sum of the output. Modules are plain
PyTorch as the sources named beside them have it. Run by hand:
tools/sequence_truth.py >tests/data/sequence.csv
"""
import functools
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

from alive import Products, allocations, key_of, peak_of, saved_by
from lora import Padded

torch.manual_seed(1)
ONLY = sys.argv[1:] if __name__ == "__main__" else []


def allocated(run):
    """What the allocator had at most, above what it had before: what kernels
    take and give back, too."""
    with allocations() as most:
        out = run()
        loss = out.sum()
        loss.backward()
        del out, loss
    return most[0]


def peak_bytes(module, data, outside):
    """Both see more than there is of tensors: the less of them."""
    peaks = []
    # The second holds a result a little longer.
    for watched in allocated, functools.partial(peak_of, outside=outside):
        for p in module.parameters():
            p.grad = None
        peaks.append(watched(lambda: module(*data)))
    return min(peaks)


def case(net, module, *shapes, indices=0):
    """`shapes`: of the inputs, without the batch, as `module` takes them."""
    if ONLY and not any(word in net for word in ONLY):
        return
    params = sum(p.numel() for p in module.parameters()
                 if not hasattr(p, "none"))
    for batch in 1, 3:
        data = [torch.randint(0, indices, (batch, *shape)) if indices
                else torch.randn(batch, *shape) for shape in shapes]
        outside = {key_of(t) for t in
                   [*data, *module.parameters(), *module.buffers()]}
        saved = saved_by(lambda: module(*data), outside)
        peak = peak_bytes(module, data, outside)
        if batch == 1:
            with Products() as products:
                module(*data)
            macs = products.macs - sum(
                getattr(m, "cut", 0) for m in module.modules())
        print(f'"{net}",{batch},{params},{macs},{saved},{peak}',
              flush=True)


# Mixture of experts

@functools.cache
def even(rows, top, count):
    """Each expert has as many rows; what is left over goes to the first."""
    return (torch.arange(rows * top) % count).view(rows, top)


class Experts(nn.Module):
    """MixtralSparseMoeBlock of transformers/models/mixtral; Qwen2-MoE and
    OLMoE leave the top's weights as they are; `latent`: NemotronHMoE."""

    def __init__(self, width, count, top, expert, norm=True, bias=False,
                 latent=None):
        super().__init__()
        self.down = latent and nn.Linear(width, latent, bias=False)
        self.up = latent and nn.Linear(latent, width, bias=False)
        self.top, self.count, self.norm = top, count, norm
        self.gate = nn.Linear(width, count, bias=bias)
        self.experts = nn.ModuleList(expert() for _ in range(count))

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        weights = F.softmax(self.gate(x), dim=1, dtype=torch.float)
        weights, chosen = torch.topk(weights, self.top, dim=-1)
        chosen.data.copy_(even(*chosen.shape, self.count))
        if self.norm:
            weights /= weights.sum(dim=-1, keepdim=True)
        if self.down:
            x = self.down(x)
        final = torch.zeros(x.shape)
        mask = F.one_hot(chosen, num_classes=self.count).permute(2, 1, 0)
        for i, expert in enumerate(self.experts):
            idx, top_x = torch.where(mask[i])
            state = x[None, top_x].reshape(-1, x.shape[-1])
            state = expert(state) * weights[top_x, idx, None]
            final.index_add_(0, top_x, state)
        if self.up:
            final = self.up(final)
        return final.reshape(shape)


class Gated(nn.Module):
    """w2(silu(w1(x)) * w3(x)): MixtralBlockSparseTop2MLP"""

    def __init__(self, width, inner):
        super().__init__()
        self.w1 = nn.Linear(width, inner, bias=False)
        self.w2 = nn.Linear(inner, width, bias=False)
        self.w3 = nn.Linear(width, inner, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


def plain(width, inner):
    return nn.Sequential(nn.Linear(width, inner), nn.GELU(),
                         nn.Linear(inner, width))


class Then(nn.Module):
    """A first layer, so that the input of the second needs a gradient."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x, *more):
        return self.second(self.first(x), *more)


class Beside(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return x + self.module(x)


def behind(width, module):
    return Then(nn.Linear(width, width), module)


GATED = "mul { linear 20 nobias silu } { linear 20 nobias }; linear 12 nobias"


def experts():
    case(f"input 7x12; linear 12; moe experts=4 top=2 {{ {GATED} }}",
         behind(12, Experts(12, 4, 2, lambda: Gated(12, 20))), (7, 12))
    # A product copies a gradient that is one number spread: not behind tanh.
    case("input 9x8; linear 8; moe experts=3 top=1 { linear 16 gelu; "
         "linear 8 }; linear 8 tanh",
         nn.Sequential(nn.Linear(8, 8),
                       Experts(8, 3, 1, lambda: plain(8, 16)),
                       nn.Linear(8, 8), nn.Tanh()), (9, 8))
    case("input 6x8; moe experts=8 top=2 norm=off bias { linear 16 gelu; "
         "linear 8 }; linear 8 tanh",
         nn.Sequential(Experts(8, 8, 2, lambda: plain(8, 16), False, True),
                       nn.Linear(8, 8), nn.Tanh()), (6, 8))
    case("input 11x16; linear 16; moe experts=13 top=3 { linear 24 gelu; "
         "linear 16 }",
         behind(16, Experts(16, 13, 3, lambda: plain(16, 24))), (11, 16))
    case(f"input 5x12; linear 12; moe experts=9 top=2 {{ {GATED} }}; "
         f"moe experts=5 top=2 {{ {GATED} }}",
         nn.Sequential(nn.Linear(12, 12),
                       Experts(12, 9, 2, lambda: Gated(12, 20)),
                       Experts(12, 5, 2, lambda: Gated(12, 20))), (5, 12))
    for width, latent in (16, 12), (12, 20):
        case(f"input 7x{width}; linear {width}; moe experts=5 top=2 "
             f"latent={latent} {{ linear 24 gelu; linear {latent} }}; "
             f"linear {width} tanh",
             nn.Sequential(behind(width, Experts(
                 width, 5, 2, lambda: plain(latent, 24), latent=latent)),
                 nn.Linear(width, width), nn.Tanh()), (7, width))
    case("input 64x16; linear 16; add {} { moe experts=8 top=2 { linear 32 "
         "gelu; linear 16 } }; linear 16 tanh",
         nn.Sequential(nn.Linear(16, 16),
                       Beside(Experts(16, 8, 2, lambda: plain(16, 32))),
                       nn.Linear(16, 16), nn.Tanh()), (64, 16))


# Attention

class RMS(nn.Module):
    """transformers' LlamaRMSNorm"""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6))


class Own(nn.Module):
    """CohereLayerNorm of transformers, its mean and deviation by one kernel"""

    def __init__(self, *sizes):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(sizes))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:]) * self.weight


class Attention(nn.Module):
    """eager attention of transformers, with what Qwen3 (qknorm), Gemma 2
    (softcap), gpt-oss (sinks), timm's CaiT (talking), Qwen3-Next and Step 3.5
    (gate), MiMo-V2-Flash (vdim), Gemma 4 (novalues, vnorm) and diffusers' Wan
    (noqueries) add to it"""

    def __init__(self, width, heads, kv=None, dim=None, bias="qkvo", out=None,
                 qknorm=None, norm_all=False, softcap=None, sinks=False,
                 talking=False,
                 scale="scores", causal=False, noout=False, packed=False,
                 rotary=0, padded=0, dropout=0.0, gate=None, vdim=None,
                 novalues=False, vnorm=False, noqueries=False):
        super().__init__()
        self.heads, self.kv = heads, kv or heads
        self.dim = dim or width // heads
        self.vdim, self.vnorm, self.gate = vdim or self.dim, vnorm, gate
        full, less = self.heads * self.dim, self.kv * self.dim
        self.packed, self.causal, self.scale = packed, causal, scale
        self.rotary = rotary
        if rotary:  # apply_rotary_pos_emb of transformers/models/phi
            angle = torch.outer(torch.arange(6), 10000.0 ** (
                -torch.arange(0, rotary, 2) / rotary)).repeat(1, 2)
            self.register_buffer("cosine", angle.cos())
            self.register_buffer("sine", angle.sin())
        if packed:
            self.qkv = nn.Linear(width, full + 2 * less, bias="q" in bias)
        if padded:
            self.qkv = Padded(width, full, less, padded, dropout)
        elif not packed:
            self.q = None if noqueries else nn.Linear(
                width, full * (2 if gate == "channels" else 1), bias="q" in bias)
            self.k = nn.Linear(width, less, bias="k" in bias)
            self.v = None if novalues else nn.Linear(
                width, self.kv * self.vdim, bias="v" in bias)
        self.g = nn.Linear(width, heads, False) if gate == "heads" else None
        self.o = None
        if not noout:
            self.o = nn.Linear(heads * self.vdim, out or width,
                               bias="o" in bias)
        norm = {"rms": RMS, "ln": nn.LayerNorm}.get(qknorm)
        self.norm_all = norm_all  # of all heads at once: OLMo 2
        sizes = (full, less) if norm_all else (self.dim, self.dim)
        self.norms = nn.ModuleList(map(norm, sizes)) if norm else None
        if norm and noqueries:
            self.norms[0] = nn.Identity()
        if qknorm == "own":
            self.norms = nn.ModuleList([Own(n, self.dim)
                                        for n in (self.heads, self.kv)])
        self.softcap = softcap
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None
        self.talk = nn.ModuleList([nn.Linear(heads, heads) for _ in "ab"]) \
            if talking else None
        if padded:
            self.o.requires_grad_(False)

    def turned(self, x):
        part, rest = x[..., :self.rotary], x[..., self.rotary:]
        a, b = part.chunk(2, -1)
        part = part * self.cosine + torch.cat([-b, a], -1) * self.sine
        return torch.cat([part, rest], -1) if rest.numel() else part

    def forward(self, x):
        b, t, _ = x.shape
        if self.packed:  # timm's vision_transformer
            qkv = self.qkv(x).reshape(b, t, 3, self.heads, self.dim)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            del qkv
        else:
            q, k = self.q(x) if self.q else x, self.k(x)
            v = self.v(x) if self.v else k
            if self.gate == "channels":
                q, gate = q.view(b, t, -1, 2 * self.dim).chunk(2, -1)
                gate = gate.reshape(b, t, -1)
            elif self.gate:
                gate = self.g(x)[..., None]
            if self.norm_all:
                q, k = self.norms[0](q), self.norms[1](k)
            q, k, v = (y.view(b, t, -1, y.shape[-1] // count) if y.dim() < 4
                       else y for y, count in
                       ((q, self.heads), (k, self.kv), (v, self.kv)))
            if self.vnorm:
                v = v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + 1e-6)
            if self.norms and not self.norm_all:
                q, k = self.norms[0](q), self.norms[1](k)
            q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        if self.rotary:
            q, k = self.turned(q), self.turned(k)
        if self.kv != self.heads:
            k, v = (y[:, :, None].expand(-1, -1, self.heads // self.kv, -1, -1)
                    .reshape(b, self.heads, t, -1) for y in (k, v))
        if self.scale == "queries":
            q = q * self.dim ** -0.5
        scores = q @ k.transpose(2, 3)
        del q, k
        if self.scale == "scores":
            scores = scores * self.dim ** -0.5
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if self.causal:
            hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -math.inf)
        if self.talk:
            scores = self.talk[0](scores.permute(0, 2, 3, 1))
            scores = scores.permute(0, 3, 1, 2)
        if self.sinks is not None:
            sinks = self.sinks.reshape(1, -1, 1, 1).expand(b, -1, t, -1)
            scores = torch.cat([scores, sinks], -1)
            scores = scores - scores.max(-1, keepdim=True).values
        scores = scores.softmax(-1)
        if self.sinks is not None:
            scores = scores[..., :-1]
        if self.talk:
            scores = self.talk[1](scores.permute(0, 2, 3, 1))
            scores = scores.permute(0, 3, 1, 2)
        x = scores @ v
        del scores, v  # a frame that holds them has more, as of q and k above
        x = x.transpose(1, 2).reshape(b, t, -1)
        if self.gate == "channels":
            x = x * torch.sigmoid(gate)
        elif self.gate:
            x = (x.view(b, t, self.heads, -1) * gate.sigmoid()).view(b, t, -1)
        return self.o(x) if self.o else x


def attention(words, width=16, heads=4, **more):
    net = f"input 6x{width}; linear {width}; attention {heads} {words} naive"
    case(net, behind(width, Attention(width, heads, **more)), (6, width))


def attentions():
    attention("kv=2 causal nobias", kv=2, causal=True, bias="")
    attention("bias=o", bias="o")
    attention("bias=qk dim=6", bias="qk", dim=6)
    attention("out=10", out=10)
    attention("dim=3 noout", dim=3, noout=True)
    attention("qknorm kv=2 nobias", qknorm="rms", kv=2, bias="")
    attention("qkln", qknorm="ln")
    attention("qknorm=all kv=2 nobias causal", qknorm="rms", norm_all=True,
              kv=2, bias="", causal=True)
    attention("qknorm=all dim=6", qknorm="rms", norm_all=True, dim=6)
    attention("qkln=all kv=1", qknorm="ln", norm_all=True, kv=1)
    attention("qkln=own", qknorm="own")
    attention("qkln=own kv=2 nobias causal rope", qknorm="own", kv=2, bias="",
              causal=True, rotary=4)
    attention("softcap=50", softcap=50.0)
    attention("softcap=50 causal kv=1", softcap=50.0, causal=True, kv=1)
    attention("sinks", sinks=True)
    attention("sinks kv=2 causal", sinks=True, kv=2, causal=True)
    attention("scale=queries", scale="queries")
    attention("scale=none nobias", scale=None, bias="")
    attention("talking", talking=True)
    attention("gate=channels", gate="channels")
    attention("gate=channels kv=2 causal nobias qknorm rope", causal=True,
              gate="channels", kv=2, bias="", qknorm="rms", rotary=4)
    attention("gate=channels dim=6 rope rotary=2", gate="channels", dim=6,
              rotary=2)
    attention("gate=heads", gate="heads")
    attention("gate=heads kv=2 dim=6 vdim=5 causal nobias noout", kv=2, dim=6,
              gate="heads", vdim=5, causal=True, bias="", noout=True)
    attention("vdim=3", vdim=3)
    attention("kv=2 dim=6 vdim=5", kv=2, dim=6, vdim=5)
    attention("kv=1 vdim=7 bias=v rope", kv=1, vdim=7, bias="v", rotary=4)
    attention("noqueries", noqueries=True)
    attention("noqueries noout qknorm=all", noqueries=True, noout=True,
              qknorm="rms", norm_all=True)
    attention("noqueries kv=2 qknorm causal rope", noqueries=True, kv=2,
              qknorm="rms", causal=True, rotary=4)
    attention("novalues", novalues=True)
    attention("novalues kv=2 nobias qknorm causal rope", novalues=True, kv=2,
              bias="", qknorm="rms", causal=True, rotary=4)
    attention("vnorm", vnorm=True)
    attention("novalues vnorm kv=2 nobias qknorm scale=none causal rope",
              novalues=True, vnorm=True, kv=2, bias="", qknorm="rms",
              scale=None, causal=True, rotary=4)
    attention("talking scale=queries views", talking=True, scale="queries",
              packed=True)
    attention("rope", rotary=4)
    attention("rope rotary=2", rotary=2)
    attention("rope rotary=6 dim=8 kv=2 causal", rotary=6, dim=8, kv=2,
              causal=True)
    attention("rope views", rotary=4, packed=True)
    attention("rope rotary=2 views", rotary=2, packed=True)
    attention("views", packed=True)
    attention("views causal lora=2 lora_on=padded", packed=True, causal=True,
              padded=2)
    attention("views lora=3 lora_on=padded lora_dropout=0.5", packed=True,
              padded=3, dropout=0.5)
    attention("views scale=queries", packed=True, scale="queries")


class Apart(nn.Module):
    """Keys have positions added, values have none: DETR's
    TransformerEncoderLayer and TransformerDecoderLayer, models/transformer.py,
    whose memory is `seen`"""

    def __init__(self, heads, width, other=0, dim=None, kv=None):
        super().__init__()
        self.heads, self.dim = heads, dim or width // heads
        seen = other or width
        self.before = nn.Linear(seen, seen)
        self.asks = nn.Linear(width, width) if other else None
        full = self.dim * heads
        part = self.dim * (kv or heads)
        self.q, self.o = nn.Linear(width, full), nn.Linear(full, width)
        self.k, self.v = nn.Linear(seen, part), nn.Linear(seen, part)

    def split(self, y):
        return y.view(*y.shape[:2], -1, self.dim).transpose(1, 2)

    def forward(self, places, seen, x=None):
        seen = self.before(seen)
        keys = seen + places
        x = keys if self.asks is None else self.asks(x)
        q, k, v = self.q(x), self.k(keys), self.v(seen)
        del x, keys, seen
        q, k, v = self.split(q), self.split(k), self.split(v)
        serves = self.heads // k.shape[1]
        if serves > 1:
            k, v = (y[:, :, None].expand(-1, -1, serves, -1, -1).reshape(
                len(y), self.heads, -1, self.dim) for y in (k, v))
        scores = q @ k.transpose(2, 3)
        del q, k
        scores = (scores * self.dim ** -0.5).softmax(-1)
        y = scores @ v
        del scores, v
        return self.o(y.transpose(1, 2).flatten(2))


def apart():
    for words, more in ("", {}), (" dim=6", {"dim": 6}), \
                       (" kv=2", {"kv": 2}):
        case("input p_ 6x16; input s_ 6x16; from s_; s: linear 16; "
             f"add s p_; attention 4 values=s{words} naive",
             Apart(4, 16, **more), (6, 16), (6, 16))
        case("input p_ 9x12; input s_ 9x12; input x_ 6x16; from s_; "
             "s: linear 12; k: add s p_; from x_; linear 16; "
             f"attention 4 cross=k values=s{words} naive",
             Apart(4, 16, 12, **more), (9, 12), (9, 12), (6, 16))


class Joint(nn.Module):
    """Two streams as one sequence: DoubleStreamBlock of black-forest-labs/
    flux, JointAttnProcessor2_0 of diffusers"""

    def __init__(self, words, own=16, other=12, heads=2, dim=8):
        super().__init__()
        self.heads, self.dim, self.words = heads, dim, words
        self.before = nn.ModuleList([nn.Linear(w, w) for w in (own, other)])
        self.qkv = nn.ModuleList()
        self.norms = nn.ModuleList()
        full = heads * dim
        bias = "nobias" not in words
        for width in own, other:
            sizes = [3 * full] if "packed" in words else [full] * 3
            self.qkv.append(nn.ModuleList([nn.Linear(width, s, bias=bias)
                                           for s in sizes]))
            norm = RMS if "qknorm" in words else nn.LayerNorm \
                if "qkln" in words else nn.Identity
            self.norms.append(nn.ModuleList([norm(dim) for _ in "qk"]))
        self.after = nn.ModuleList([nn.Linear(full, own) for _ in "ab"])
        self.rope = "rope" in words
        angle = torch.outer(torch.arange(10), 10000.0 ** (
            -torch.arange(0, dim, 2) / dim)).repeat(1, 2)
        self.register_buffer("cosine", angle.cos())
        self.register_buffer("sine", angle.sin())

    def turned(self, x):
        a, b = x.chunk(2, -1)
        return x * self.cosine + torch.cat([-b, a], -1) * self.sine

    def projected(self, x, i):
        b, t, _ = x.shape
        if len(self.qkv[i]) == 1:
            qkv = self.qkv[i][0](x).view(b, t, 3, self.heads, self.dim)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            del qkv
        else:
            q, k, v = (f(x).view(b, t, self.heads, self.dim).transpose(1, 2)
                       for f in self.qkv[i])
        return self.norms[i][0](q), self.norms[i][1](k), v

    def forward(self, x, c):
        c, x = self.before[1](c), self.before[0](x)
        own = self.projected(x, 0)
        other = self.projected(c, 1)
        q = torch.cat([other[0], own[0]], 2)
        k = torch.cat([other[1], own[1]], 2)
        v = torch.cat([other[2], own[2]], 2)
        rows = c.shape[1]
        del own, other, x, c
        if self.rope:
            q, k = self.turned(q), self.turned(k)
        scores = q @ k.transpose(2, 3)
        del q, k
        scores = (scores * self.dim ** -0.5).softmax(-1)
        y = scores @ v
        del scores, v
        y = y.transpose(1, 2).flatten(2)
        c, x = y[:, :rows], y[:, rows:]
        del y
        return torch.cat([self.after[1](c), self.after[0](x)], 1)


def joint():
    for words in ("", "nobias", "qknorm", "packed", "packed rope",
                  "qknorm rope", "packed qknorm rope", "qkln"):
        case("input x_ 6x16; input c_ 4x12; from c_; c: linear 12; from x_; "
             f"linear 16; attention 2 dim=8 joint=c {words} naive; "
             "p: split l 4 6; fork { from p[1]; a: linear 16 }; from p[2]; "
             "b: linear 16; concat a b axis=l".replace("  ", " "),
             Joint(words), (6, 16), (4, 12))


class XCA(nn.Module):
    """timm/models/xcit.py: attention between features, not positions."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 4, 1).unbind(0)
        del qkv
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        scores = q @ k.transpose(-2, -1) * self.temperature
        del q, k
        scores = scores.softmax(-1)
        x = scores @ v
        del scores, v
        x = x.permute(0, 3, 1, 2).reshape(b, n, c)
        return self.proj(x)


class Kernel(nn.Module):
    """Linear attention by Katharopoulos et al., arXiv 2006.16236, equations 8
    to 10 without a mask: elu + 1 instead of softmax, and keys times values
    first. EfficientViT has relu (examples/zoo/efficientvit.net)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (
            nn.Linear(width, width) for _ in "qkvo")

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        sums = k.transpose(2, 3) @ v
        part = (q * k.sum(2, keepdim=True)).sum(3, keepdim=True) + 1e-6
        x = (q @ sums / part).transpose(1, 2).reshape(b, n, c)
        return self.out(x)


# As docs/language.md has them.
XCA_NET = (
    "def xca(heads) { let n = in.len; let c = in.c; linear 3*c; reshape "
    "n x 3 x heads x (c/heads); permute 1 2 3 0; qkv: split 0 3; matmul "
    "{ matmul { from qkv[1]; l2norm } { from qkv[2]; l2norm } transpose; "
    "mul {} { weight heads x 1 x 1 }; softmax } { from qkv[3] }; permute "
    "3 0 1 2; reshape n x c; linear c }; input 6x16; linear 16; xca 4")
KERNEL_NET = (
    "def by_heads(h) { reshape in.len x h x (in.c/h); permute 1 0 2 }; "
    "def linear_attention(h) { let n = in.len; let c = in.c; fork q: { "
    "linear c elu; add 1; by_heads h }; fork k: { linear c elu; add 1; "
    "by_heads h }; fork sums: { matmul { from k; permute 0 2 1 } { "
    "linear c; by_heads h } }; div { matmul q sums } { mul q { from k; "
    "sum w keep }; sum c keep; add 1e-6 }; permute 1 0 2; reshape n x c; "
    "linear c }; input 6x16; linear 16; linear_attention 4")


def written_out():
    case(XCA_NET, behind(16, XCA(16, 4)), (6, 16))
    case(KERNEL_NET, behind(16, Kernel(16, 4)), (6, 16))


class Indexer(nn.Module):
    """DeepseekV32Indexer of transformers/models/deepseek_v32"""

    def __init__(self, width, latent, heads, dim, rope, top):
        super().__init__()
        self.heads, self.rope, self.top = heads, rope, top
        self.q = nn.Linear(latent, heads * dim, bias=False)
        self.k = nn.Linear(width, dim, bias=False)
        self.norm = nn.LayerNorm(dim)
        self.weights = nn.Linear(width, heads, bias=False)
        self.requires_grad_(False)

    @torch.no_grad()
    def forward(self, x, q, turn):
        b, t, _ = x.shape
        q = self.q(q).view(b, t, self.heads, -1).transpose(1, 2)
        q = torch.cat([turn(q[..., :self.rope]), q[..., self.rope:]], -1)
        k = self.norm(self.k(x))[:, None]
        k = torch.cat([turn(k[..., :self.rope]), k[..., self.rope:]], -1)
        scores = q.transpose(1, 2) @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        scores = F.relu(scores)
        weights = self.weights(x) * self.heads ** -0.5
        scores = (weights[:, :, None] @ scores)[:, :, 0]
        hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
        chosen = scores.masked_fill(hidden, -math.inf).topk(
            min(self.top, t), -1)[1]
        del scores
        return torch.ones(b, t, t, dtype=torch.bool).scatter_(
            -1, chosen, False) | hidden


class Latent(nn.Module):
    """DeepseekV2Attention of transformers/models/deepseek_v2"""

    def __init__(self, width, heads, latent, rope, dim, vdim, qlatent=None,
                 causal=False, index=None):
        super().__init__()
        self.index = index and Indexer(width, qlatent, *index)
        self.heads, self.rope, self.dim, self.vdim = heads, rope, dim, vdim
        self.latent, self.causal = latent, causal
        linear = functools.partial(nn.Linear, bias=False)
        full = heads * (dim + rope)
        self.q_down = nn.Sequential(
            linear(width, qlatent), RMS(qlatent)) if qlatent else None
        self.q = linear(qlatent or width, full)
        self.down = linear(width, latent + rope)
        self.norm = RMS(latent)
        self.up = linear(latent, heads * (dim + vdim))
        self.o = linear(heads * vdim, width)

    def turn(self, x):
        """Neighbours are turned, by constants."""
        own = x * self.constant(torch.cos, x)
        other = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
        return own + other * self.constant(torch.sin, x)

    def constant(self, function, x):
        """Made once, for each size."""
        t, d = x.shape[-2:]
        name = f"{function.__name__}{t}x{d}"
        if not hasattr(self, name):
            angle = torch.outer(torch.arange(t), 10000.0 ** (
                -torch.arange(0, d, 2) / d)).repeat_interleave(2, 1)
            self.register_buffer(name, function(angle))
        return getattr(self, name)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_down(x) if self.q_down else x
        hidden = self.index(x, q, self.turn) if self.index else None
        q = self.q(q).view(b, t, self.heads, -1).transpose(1, 2)
        q, q_turned = q.split([self.dim, self.rope], -1)
        k, k_turned = self.down(x).split([self.latent, self.rope], -1)
        kv = self.up(self.norm(k)).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = kv.split([self.dim, self.vdim], -1)
        del kv
        q_turned = self.turn(q_turned)
        k_turned = self.turn(k_turned.view(b, 1, t, self.rope))
        q = torch.cat([q, q_turned], -1)
        k = torch.cat([k, k_turned.expand(b, self.heads, t, -1)], -1)
        del q_turned, k_turned
        scores = q @ k.transpose(2, 3) * (self.dim + self.rope) ** -0.5
        del q, k
        if self.index:
            scores = scores.masked_fill(hidden[:, None], -math.inf)
        elif self.causal:
            hidden = torch.ones(t, t, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -math.inf)
        scores = scores.softmax(-1)
        return self.o((scores @ v).transpose(1, 2).reshape(b, t, -1))


def latents():
    for words, more in (
            ("latent=10 rope=4 dim=6", {}),
            ("latent=10 rope=4 dim=6 vdim=5 causal", dict(vdim=5, causal=True)),
            ("latent=12 rope=2 dim=6 vdim=5 qlatent=7",
             dict(vdim=5, qlatent=7, latent=12, rope=2)),
            ("latent=10 rope=4 dim=6 qlatent=7 index=3 indexdim=5 causal",
             dict(qlatent=7, causal=True, index=(3, 5, 4, 2048))),
            ("latent=10 rope=4 dim=6 qlatent=9 index=2 indexdim=8 indextop=6 "
             "causal", dict(qlatent=9, causal=True, index=(2, 8, 4, 6)))):
        options = dict(latent=10, rope=4, dim=6, vdim=6)
        options.update(more)
        module = behind(16, Latent(16, 3, **options))
        module(torch.zeros(1, 6, 16))  # makes the constants
        case(f"input 6x16; linear 16; mla 3 {words} naive", module, (6, 16))
    module = behind(16, Latent(16, 1, latent=4, rope=2, dim=2, vdim=2,
                               qlatent=5, causal=True,
                               index=(12, 4, 2, 64)))
    module(torch.zeros(1, 64, 16))
    case("input 64x16; linear 16; mla 1 latent=4 rope=2 dim=2 qlatent=5 "
         "index=12 indexdim=4 indextop=64 causal naive", module, (64, 16))


# Attention at places

def read_places(value, maps, places, weights, check):
    """Each head's places of each map: ms_deform_attn_core_pytorch() of
    fundamentalvision/Deformable-DETR models/ops/functions"""
    n, _, heads, dim = value.shape
    rows = value.split([h * w for h, w in maps], 1)
    grids, found = 2 * places - 1, []
    for i, (h, w) in enumerate(maps):
        level = rows[i].flatten(2).transpose(1, 2).reshape(
            n * heads, dim, h, w)
        grid = grids[:, :, :, i].transpose(1, 2).flatten(0, 1)
        found.append(F.grid_sample(level, check(grid), align_corners=False))
    weights = weights.transpose(1, 2).reshape(
        n * heads, 1, places.shape[1], -1)
    y = (torch.stack(found, -2).flatten(-2) * weights).sum(-1)
    return y.view(n, heads * dim, -1).transpose(1, 2).contiguous()


class DeformableAttention(nn.Module):
    """MSDeformAttn of models/ops/modules; `check` sees where it reads"""

    def __init__(self, channels, heads, maps, points=4, seen=None,
                 check=lambda places: places):
        super().__init__()
        self.check = check
        self.heads, self.maps, self.points = heads, maps, points
        count = heads * len(maps) * points
        self.where = nn.Linear(channels, 2 * count)
        self.counts = nn.Linear(channels, count)
        self.value = nn.Linear(seen or channels, channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, x, at, seen):
        n, rows, maps = *x.shape[:2], len(self.maps)
        value = self.value(seen)
        value = value.view(n, value.shape[1], self.heads, -1)
        moved = self.where(x).view(n, rows, self.heads, maps, self.points, 2)
        weights = self.counts(x).view(n, rows, self.heads, -1)
        weights = F.softmax(weights, -1)
        if at.dim() == 3:
            at = at[:, :, None]
        if at.shape[-1] == 2:
            sizes = torch.tensor([(w, h) for h, w in self.maps])
            places = at[:, :, None, :, None] + moved / sizes[:, None]
        else:
            places = at[:, :, None, :, None, :2] + moved / self.points * at[
                :, :, None, :, None, 2:] * 0.5
        return self.out(read_places(value, self.maps, places, weights,
                                    self.check))


# State spaces

class Mamba(nn.Module):
    """MambaMixer.slow_forward of transformers/models/mamba"""

    def __init__(self, width, state=16, conv=4, expand=2, rank=None,
                 conv_bias=True, bias=False):
        super().__init__()
        inner = expand * width
        self.state, self.rank = state, rank or math.ceil(width / 16)
        self.inside = nn.Linear(width, 2 * inner, bias=bias)
        self.conv = nn.Conv1d(inner, inner, conv, groups=inner,
                              padding=conv - 1, bias=conv_bias)
        self.x = nn.Linear(inner, self.rank + 2 * state, bias=False)
        self.dt = nn.Linear(self.rank, inner)
        self.a_log = nn.Parameter(torch.zeros(inner, state))
        self.d = nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, width, bias=bias)
        self.cut = (conv - 1) * inner * conv  # positions behind the last one

    def forward(self, x):
        length = x.shape[1]
        hidden, gate = self.inside(x).transpose(1, 2).chunk(2, 1)
        hidden = F.silu(self.conv(hidden)[..., :length])
        step, b, c = self.x(hidden.transpose(1, 2)).split(
            [self.rank, self.state, self.state], -1)
        step = F.softplus(self.dt(step)).transpose(1, 2)
        a = -torch.exp(self.a_log)
        each = torch.exp(a[None, :, None, :] * step[:, :, :, None])
        into = step[:, :, :, None] * b[:, None, :, :]
        into = into * hidden[:, :, :, None]
        state = torch.zeros(len(x), len(a), self.state)
        outs = []
        for i in range(length):
            state = each[:, :, i, :] * state + into[:, :, i, :]
            outs.append(torch.matmul(state, c[:, i, :].unsqueeze(-1))[:, :, 0])
        y = torch.stack(outs, -1)
        del outs, state, each, into, step, b, c
        y = y + hidden * self.d[None, :, None]
        del hidden
        y = y * F.silu(gate)
        return self.out(y.transpose(1, 2))


def state_spaces():
    for words, more in (("", {}),
                        ("bias=none", dict(conv_bias=False)),
                        ("bias=proj", dict(conv_bias=False, bias=True)),
                        ("state=5 bias=all", dict(state=5, bias=True)),
                        ("state=5 conv=3 expand=3 dtrank=4",
                         dict(state=5, conv=3, expand=3, rank=4))):
        case(f"input 6x16; linear 16; ssm {words} naive".replace("  ", " "),
             behind(16, Mamba(16, **more)), (6, 16))


# Recurrent layers

class Steps(nn.Module):
    """Steps come first for PyTorch, and here, so that nothing is copied; a
    bias of 0 is none: Keras has one."""

    def __init__(self, module, one=False):
        super().__init__()
        self.module = module
        for name, p in list(module.named_parameters()):
            if one and name.startswith("bias_hh"):
                p.data.zero_()
                p.requires_grad = False
                p.none = True

    def forward(self, x):
        n, steps, _ = x.shape
        return self.module(x.view(steps, n, -1))[0].view(n, steps, -1)


class Norm(nn.BatchNorm1d):
    """A batch of 1 has statistics, too: F.batch_norm would refuse it."""

    def forward(self, x):
        return torch.batch_norm(x, self.weight, self.bias, self.running_mean,
                                self.running_var, self.training, 0.1, 1e-5,
                                False)


class Normed(nn.Module):
    """Batch norm of both products in every step, whose shifts are the biases:
    make_connected_layer in rnn_layer.c, lstm_layer.c and gru_layer.c of
    pjreddie/darknet, without bn_c of Cooijmans et al., arXiv 1603.09025.
    States are computed as PyTorch does it."""

    def __init__(self, gates, width, units, proj=0):
        super().__init__()
        self.gates, self.units, self.state = gates, units, proj or units
        self.x = nn.Linear(width, gates * units, bias=False)
        self.h = nn.Linear(self.state, gates * units, bias=False)
        self.norms = nn.ModuleList([Norm(gates * units) for _ in "xh"])
        self.out = nn.Linear(units, proj, bias=False) if proj else None

    def forward(self, x):
        h = torch.zeros(len(x), self.state)
        if self.gates == 4:
            c = torch.zeros(len(x), self.units)
        outs = []
        for step in x.unbind(1):
            a, b = self.norms[0](self.x(step)), self.norms[1](self.h(h))
            if self.gates == 1:
                h = torch.tanh(a + b)
            elif self.gates == 3:
                (r, z, n), (hr, hz, hn) = a.chunk(3, 1), b.chunk(3, 1)
                r, z = torch.sigmoid(r + hr), torch.sigmoid(z + hz)
                h = (1 - z) * torch.tanh(n + r * hn) + z * h
            else:
                i, f, g, o = (a + b).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
                h = self.out(h) if self.out else h
            outs.append(h)
        return torch.stack(outs, 1)


def frozen(module):
    for p in module.parameters():
        p.requires_grad = False
    return module


def normed():
    for name, gates in ("rnn", 1), ("lstm", 4), ("gru", 3):
        for words, module in (
                ("", Normed(gates, 6, 5)),
                (" frozen", frozen(Normed(gates, 6, 5))),
                (" layers=2", nn.Sequential(Normed(gates, 6, 5),
                                            Normed(gates, 5, 5)))):
            case(f"input 7x6; linear 6; {name} 5 norm=bn{words}",
                 behind(6, module), (7, 6))
    case("input 7x6; linear 6; lstm 5 norm=bn proj=3",
         behind(6, Normed(4, 6, 5, 3)), (7, 6))


class ResetFirst(nn.Module):
    """A GRU whose reset gate acts on the state before its product, as in its
    paper (Cho et al., arXiv 1406.1078), Keras' reset_after=False and ONNX'
    linear_before_reset=0, with nn.GRU's parameters: the state's are split."""

    def __init__(self, width, units, one_bias=False, bias=True):
        super().__init__()
        self.units = units
        self.x = nn.Linear(width, 3 * units, bias=bias)
        self.h = nn.Linear(units, 3 * units, bias=bias and not one_bias)

    def forward(self, x):
        sizes = 2 * self.units, self.units
        both, one = self.h.weight.split(sizes)
        biases = None, None
        if self.h.bias is not None:
            biases = self.h.bias.split(sizes)
        h = torch.zeros(len(x), self.units)
        outs = []
        for step in x.unbind(1):
            a, b, c = self.x(step).chunk(3, 1)
            r, z = F.linear(h, both, biases[0]).chunk(2, 1)
            r, z = torch.sigmoid(a + r), torch.sigmoid(b + z)
            h = (1 - z) * torch.tanh(c + F.linear(r * h, one, biases[1])) + \
                z * h
            outs.append(h)
        return torch.stack(outs, 1)


def reset_first():
    for words, module in (
            ("", ResetFirst(6, 5)), (" bias=one", ResetFirst(6, 5, True)),
            (" frozen", frozen(ResetFirst(6, 5))),
            (" nobias layers=2",
             nn.Sequential(ResetFirst(6, 5, bias=False),
                           ResetFirst(5, 5, bias=False)))):
        case(f"input 7x6; linear 6; gru 5 reset=before{words}",
             behind(6, module), (7, 6))


def recurrents():
    normed()
    reset_first()
    for name, kind in ("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU):
        case(f"input 7x6; linear 6; {name} 5 bias=one",
             behind(6, Steps(kind(6, 5), True)), (7, 6))
        case(f"input 7x6; linear 6; {name} 4 bias=one layers=2 bidir",
             behind(6, Steps(kind(6, 4, 2, bidirectional=True), True)), (7, 6))
    case("input 7x6; linear 6; lstm 5 proj=3",
         behind(6, Steps(nn.LSTM(6, 5, proj_size=3))), (7, 6))
    case("input 7x6; linear 6; lstm 5 proj=2 layers=2 bidir",
         behind(6, Steps(nn.LSTM(6, 5, 2, bidirectional=True, proj_size=2))),
         (7, 6))
    case("input 7x6; linear 6; lstm 5 proj=2 nobias",
         behind(6, Steps(nn.LSTM(6, 5, bias=False, proj_size=2))), (7, 6))


class ConvLSTM(nn.Module):
    """ConvLSTM and ConvLSTMCell of ndrplz/ConvLSTM_pytorch, convlstm.py; the
    parameters of Keras's ConvLSTM2D, in one convolution. Shi et al., arXiv
    1506.04214, have weights from the cell to the gates beside these."""

    def __init__(self, width, units, kernel, bias=True, last=False):
        super().__init__()
        self.units, self.last = units, last
        self.conv = nn.Conv2d(width + units, 4 * units, kernel,
                              padding=[k // 2 for k in kernel], bias=bias)

    def forward(self, x):  # channels last, as netc has them
        x = x.permute(0, 1, 4, 2, 3)
        h, c = torch.zeros(2, len(x), self.units, *x.shape[3:]).unbind(0)
        c = torch.zeros_like(c)
        outs = []
        for step in range(x.shape[1]):
            read = torch.cat([x[:, step], h], 1)
            i, f, o, g = self.conv(read).split(self.units, 1)
            i, f, o = torch.sigmoid(i), torch.sigmoid(f), torch.sigmoid(o)
            g = torch.tanh(g)
            c = f * c + i * g
            h = o * torch.tanh(c)
            if not self.last:
                outs.append(h)
        return h if self.last else torch.stack(outs, 1)


def convolutional():
    for words, kernel, more in (
            ("3x3", (3, 3), {}),
            ("3x3 last", (3, 3), dict(last=True)),
            ("5x1 nobias", (5, 1), dict(bias=False)),
            ("3x3 frozen", (3, 3), {})):
        module = ConvLSTM(6, 5, kernel, **more)
        if "frozen" in words:
            frozen(module)
        case(f"input 4x7x6x6; linear 6; convlstm 5 {words}",
             behind(6, module), (4, 7, 6, 6))
    case("input 5x24x24x8; linear 8; convlstm 16 3x3; convlstm 8 5x5 last",
         nn.Sequential(nn.Linear(8, 8), ConvLSTM(8, 16, (3, 3)), Last(),
                       ConvLSTM(16, 8, (5, 5), last=True)), (5, 24, 24, 8))


class Last(nn.Module):
    """Channels last."""

    def forward(self, x):
        return x.permute(0, 1, 3, 4, 2)


def bucket(far, causal, count=32, most=128):
    """_relative_position_bucket of transformers/models/t5"""
    row = 0
    if causal:
        far = -torch.min(far, torch.zeros_like(far))
    else:
        count //= 2
        row = (far > 0).to(torch.long) * count
        far = torch.abs(far)
    exact = count // 2
    more = exact + (torch.log(far.float() / exact) / math.log(most / exact)
                    * (count - exact)).to(torch.long)
    more = torch.min(more, torch.full_like(more, count - 1))
    return row + torch.where(far < exact, far, more)


class Buckets(nn.Module):
    """T5Attention.compute_bias, and scores to which it is added"""

    def __init__(self, heads, causal=False, length=0, **more):
        super().__init__()
        self.causal, self.more = causal, more
        self.table = nn.Embedding(more.get("count", 32), heads)
        self.register_buffer("rows", self.indices(length) if length else None)

    def indices(self, length):
        at = torch.arange(length)
        return bucket(at[None] - at[:, None], self.causal, **self.more)

    def forward(self, x):
        rows = self.rows
        if rows is None:
            rows = self.indices(x.shape[-1])
        return x + self.table(rows).permute(2, 0, 1)[None]


class Windows(nn.Module):
    """Attention's scores in windows with timm's relative_position_index, a
    buffer: swin_transformer.py"""

    def __init__(self, window, heads):
        super().__init__()
        at = torch.stack(torch.meshgrid(*map(torch.arange, window),
                                        indexing="ij")).flatten(1)
        far = at[:, :, None] - at[:, None]
        rows = (far[0] + window[0] - 1) * (2 * window[1] - 1) + far[1] + \
            window[1] - 1
        self.register_buffer("rows", rows)
        self.table = nn.Embedding(
            (2 * window[0] - 1) * (2 * window[1] - 1), heads)

    def forward(self, x):
        return x + self.table(self.rows).permute(2, 0, 1)[None]


class Distances(nn.Module):
    """get_rel_pos of segment_anything's image_encoder.py, and its product"""

    def __init__(self, places, width):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2 * places - 1, width))
        self.places = places

    def forward(self, x):
        q, k = torch.arange(self.places)[:, None], torch.arange(self.places)
        far = (q - k) + (self.places - 1)
        return torch.einsum("bhwc,hkc->bhwk", x, self.table[far.long()])


def distances():
    for words, more in (("buckets=32", {}),
                        ("buckets=8 most=6 causal",
                         dict(count=8, most=6, causal=True))):
        case("input 3x9x9; linear 9; add {} { distances 9 " + words +
             f"; embed {more.get('count', 32)} 3; permute 2 0 1 }}; linear 9",
             nn.Sequential(nn.Linear(9, 9), Buckets(3, **more),
                           nn.Linear(9, 9)), (3, 9, 9))
        case("input 3x9x9; linear 9; add {} { distances 9 " + words +
             f" buffer; embed {more.get('count', 32)} 3; permute 2 0 1 }}; "
             "linear 9", nn.Sequential(
                 nn.Linear(9, 9), Buckets(3, length=9, **more),
                 nn.Linear(9, 9)), (3, 9, 9))
    case("input 3x6x6; linear 6; add {} { distances 2x3 buffer; embed 15 3; "
         "permute 2 0 1 }; softmax; linear 9", nn.Sequential(
             nn.Linear(6, 6), Windows((2, 3), 3), nn.Softmax(-1),
             nn.Linear(6, 9)), (3, 6, 6))
    case("input 5x4x6; linear 6; matmul {} { distances 5; embed 9 6 } "
         "transpose", behind(6, Distances(5, 6)), (5, 4, 6))


class Segments(nn.Module):
    """BertEmbeddings without token_type_ids: a buffer of zeros, expanded"""

    def __init__(self, entries, width, length, row):
        super().__init__()
        self.table = nn.Embedding(entries, width)
        self.register_buffer("ids", torch.full((1, length), row))

    def forward(self, x):
        return x + self.table(self.ids.expand(len(x), -1))


def embeddings():
    case("input 7x6; linear 6; posembed 2 at=0; linear 3 tanh",
         nn.Sequential(nn.Linear(6, 6), Segments(2, 6, 7, 0), nn.Linear(6, 3),
                       nn.Tanh()), (7, 6))
    case("input 7x6; linear 6; posembed 9 at=4; linear 3 tanh",
         nn.Sequential(nn.Linear(6, 6), Segments(9, 6, 7, 4), nn.Linear(6, 3),
                       nn.Tanh()), (7, 6))


def main():
    torch.set_num_threads(1)
    print("# net,batch,params,macs,saved,peak: tools/sequence_truth.py")
    experts()
    attentions()
    apart()
    joint()
    written_out()
    latents()
    state_spaces()
    recurrents()
    convolutional()
    embeddings()
    distances()


if __name__ == "__main__":
    main()
