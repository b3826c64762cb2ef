"""Layers of sequences and vectors: dense, attention, recurrent."""
import functools
import math

import torch
from torch import nn

import sequence_truth as truth
from maps import adapt, begin, low_rank, with_computed
from net import Refused, head, join, layer
from values import fork, rms

ROWS = "rows", "mixed"


@head("rows")
def rows(b):
    """A sequence, of rows now and then, or of words of a vocabulary."""
    axes = b.pick("axes", [1, 1, 1, 2], 1)
    sizes = [b.pick(f"size{i}", range(2, 10 if axes == 1 else 6), 1)
             for i in range(axes)]
    if axes == 1 and b.pick("words", [False, True], 0.3):
        entries, width = b.pick("entries", [5, 10], 1), b.pick(
            "channels", [2, 4, 6, 8], 1)
        x = b.input(tuple(sizes), False, entries)
        module = nn.Embedding(entries, width)
        return (f"input {sizes[0]} : i64; embed {entries} {width}",
                b.emit(module, x))
    channels = b.pick("channels", [2, 4, 6, 8], 1)
    return begin(b, (*sizes, channels), False)


@head("vectors")
def vectors(b):
    channels = b.pick("channels", [2, 4, 6, 8, 12], 1)
    return begin(b, (channels,), False)


def dense_of(b, x, features, word):
    bias = b.here("bias", [True, False], 0.6)
    text = f"{word} {features}" + ("" if bias else " nobias")
    module = nn.Linear(x.channels, features, bias)
    kind = b.here("weights", ["", "wnorm", "spectral"], 0.15)
    module = with_computed(b, module, kind)
    if not kind:
        lora, told = low_rank(b)
        if told:
            return text + lora, adapt(b, module, told, x)
    text += " " + kind if kind else ""
    return text + b.frozen(module), b.emit(module, x)


@layer("linear", kinds=(*ROWS, "vectors"), often=6)
def linear(b, x):
    return dense_of(b, b.last(x), b.here("features", [2, 4, 6, 8], 0.8),
                    "linear")


@layer("fc", kinds=("vectors", "maps", "mixed", "rows"))
def fc(b, x):
    if len(x.sizes) > 1:
        x = b.emit(lambda t: t.flatten(1), x, first=False)
    return dense_of(b, x, b.here("features", [2, 3, 4, 6], 0.8), "fc")


@layer("token", kinds=ROWS)
def token(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    count = b.here("count", [1, 2], 0.4)
    holder = b.constant(1, count, x.channels)
    y = b.emit(lambda t: holder.weight.expand(len(t), -1, -1), x)
    return "token" + (f" {count}" if count > 1 else ""), b.emit(
        lambda s, t: torch.cat([s, t], 1), y, x)


def sines(length, width):
    """Vaswani et al., section 3.5, as a buffer"""
    angle = torch.outer(torch.arange(length), 10000.0 ** (
        -torch.arange(0, width, 2) / width))
    return torch.cat([angle.sin(), angle.cos()], 1)[:, :width]


@layer("posembed", kinds=ROWS)
def posembed(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    length, width = x.sizes
    kind = b.here("kind", ["own", "longest", "fixed", "at"], 0.6)
    holder = nn.Module()
    if kind == "fixed":
        holder.register_buffer("weight", sines(length, width))
        b.own(holder)
        return "posembed fixed", b.emit(lambda t: t + holder.weight, x)
    if kind == "at":
        entries = b.here("entries", [2, 3], 0.5)
        module = truth.Segments(entries, width, length, 1)
        table, ids = module.table, module.ids
        b.own(module)
        y = b.emit(lambda t: table(ids.expand(len(t), -1)), x)
        return f"posembed {entries} at=1" + b.frozen(module), b.emit(
            torch.add, x, y)
    if kind == "longest":
        holder = b.constant(length + 2, width)
        return f"posembed {length + 2}" + b.frozen(holder), b.emit(
            lambda t: t + holder.weight[:length], x)
    holder = b.constant(length, width)
    return "posembed" + b.frozen(holder), b.emit(
        lambda t: t + holder.weight, x)


@layer("distances", "embed", kinds=ROWS)
def distances(b, x):
    """Scores to which a learned bias is added, by how far apart they are."""
    x = b.last(x)
    if len(x.sizes) != 3 or x.sizes[1] != x.sizes[2]:
        raise Refused("no scores")
    heads, length = x.sizes[:2]
    causal = b.here("causal", [False, True], 0.5)
    module = truth.Buckets(heads, causal, count=8, most=6)
    text = "distances {} buckets=8 most=6{}; embed 8 {}; permute 2 0 1".format(
        length, " causal" if causal else "", heads)
    frozen = b.frozen(module)
    text = text.replace("; permute", frozen + "; permute")
    return f"add {{}} {{ {text} }}", b.emit(module, x, framed=True)


# Attention, step by step

class Heads:
    """What the steps of an attention share."""

    def __init__(self, b, x, heads, dim):
        self.b, self.length, self.width = b, x.sizes[0], x.channels
        self.heads, self.dim = heads, dim

    def part(self, y, heads):
        """heads x length x dim"""
        return self.b.emit(lambda t: t.view(len(t), t.shape[1], heads, -1)
                           .transpose(1, 2), y)

    def spread(self, y, heads):
        """Keys and values that several queries share: repeat_kv"""
        if heads == self.heads:
            return y
        times = self.heads // heads
        return self.b.emit(
            lambda t: t[:, :, None].expand(-1, -1, times, -1, -1)
            .reshape(len(t), self.heads, t.shape[2], -1), y)

    def turned(self, y, rotary):
        """transformers' apply_rotary_pos_emb, with constants"""
        b, length = self.b, self.length
        angle = torch.outer(torch.arange(length), 10000.0 ** (
            -torch.arange(0, rotary, 2) / rotary)).repeat(1, 2)
        holder = nn.Module()
        holder.register_buffer("cosine", angle.cos())
        holder.register_buffer("sine", angle.sin())
        b.own(holder)
        rest = None
        if rotary < self.dim:
            rest = b.emit(lambda t: t[..., rotary:], y)
            y = b.emit(lambda t: t[..., :rotary], y)
        half = rotary // 2
        x, y = y, b.emit(lambda t: t * holder.cosine, y)
        other = b.emit(lambda t: torch.cat(
            [-t[..., half:], t[..., :half]], -1), x)
        other = b.emit(lambda t: t * holder.sine, other)
        y = b.emit(torch.add, y, other)
        if rest:
            y = b.emit(lambda s, t: torch.cat([s, t], -1), y, rest)
        return y

    def rms(self, y):
        b = self.b
        holder = b.constant(y.channels)
        return b.emit(lambda t: holder.weight * t, rms(b, y, 1e-6))


def project(b, x, features, bias, letter, on, told):
    """A projection; a low-rank one if `on` has its letter."""
    module = nn.Linear(x.channels, features, bias)
    if told and set(letter) & set(on):
        return adapt(b, module, told, x)
    if told:
        module.requires_grad_(False)
    return b.emit(module, x)


def sees(i, j, window, causal):
    """Whether position i sees j."""
    return j <= i < j + window if causal else abs(i - j) <= window // 2


def windows(length):
    """A sequence as a window of one axis, or of two."""
    return [(length,)] + [(n, length // n) for n in range(2, length)
                          if length % n == 0]


def far(b, scores, heads, window, trained):
    """A bias by how far apart two places are: shifted_window_attention() of
    torchvision/models/swin_transformer.py"""
    sizes = torch.tensor([2 * n - 1 for n in window])
    places = torch.cartesian_prod(*map(torch.arange, window)).view(
        -1, len(window))
    apart = places[:, None] - places + torch.tensor(window) - 1
    index = torch.zeros(apart.shape[:2], dtype=torch.long)
    for i, size in enumerate(sizes):
        index = index * size + apart[..., i]
    holder = b.constant(int(sizes.prod()), heads)
    holder.requires_grad_(trained)
    holder.register_buffer("index", index.view(-1))
    return b.emit(lambda t: t + holder.weight[holder.index].view(
        len(index), -1, heads).permute(2, 0, 1).contiguous().unsqueeze(0),
        scores)


@layer("attention", "cached", kinds=ROWS, often=4)
def attention(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    heads = b.here("heads", [h for h in (1, 2, 4) if x.channels % h == 0], 0.8)
    dim = b.here("dim", [x.channels // heads, 2, 4, 3], 0.3)
    form = b.here("form", ["apart", "views", "packed"], 0.6)
    kv = b.here("kv", [h for h in (heads, 1, 2) if heads % h == 0], 0.3) \
        if form == "apart" else heads
    bias = b.here("biases", ["qkvo", "", "o", "qk", "qv"], 0.4) \
        if form == "apart" else b.here("biases", ["qkvo", ""], 0.3)
    causal = b.here("causal", [False, True], 0.5)
    fork_text, mask = added(b, x)
    text = f"attention {heads}" + (f" mask=p{b.labels}" if mask else "")
    if dim != x.channels // heads:
        text += f" dim={dim}"
    text += f" {form}" if form != "apart" else ""
    text += f" kv={kv}" if kv != heads else ""
    if bias == "":
        text += " nobias"
    elif bias != "qkvo":
        text += f" bias={bias}"
    text += " causal" if causal else ""
    scale = b.here("scale", ["", "scores", "queries", "none"], 0.3)
    text += f" scale={scale}" if scale else ""
    if not scale:
        scale = "queries" if form == "packed" and not causal else "scores"
    rotary = b.here("rotary", [r for r in (0, dim, 2) if r <= dim
                               and r % 2 == 0], 0.4)
    if rotary:
        text += " rope" + (f" rotary={rotary}" if rotary < dim else "")
    norm = b.here("qknorm", ["", "qknorm", "qkln", "qknorm=all", "qkln=all"],
                  0.3) if form == "apart" else ""
    text += " " + norm if norm else ""
    window = b.here("window", [0, 1, 2, 3], 0.2)
    text += f" window={window}" if window else ""
    softcap = b.here("softcap", [0, 50], 0.2)
    text += f" softcap={softcap}" if softcap else ""
    sinks = b.here("sinks", [False, True], 0.2)
    text += " sinks" if sinks else ""
    relative = b.here("relative", [None, *windows(x.sizes[0])], 0.2)
    text += f" relative={join(relative)}" if relative else ""
    talking = b.here("talking", [False, True], 0.2)
    text += " talking" if talking else ""
    drop = b.here("dropout", [0, 0.1], 0.3)
    text += f" dropout={drop}" if drop else ""
    out = b.here("out", [x.channels, None, 3], 0.3)
    text += " noout" if out is None else f" out={out}" \
        if out != x.channels else ""
    lora, told = low_rank(b)
    on = b.here("lora_on", ["qv", "qkv", "qkvo"], 0.5)
    if told:
        text += lora + (f" lora_on={on}" if on != "qv" else "")
    at = len(b.modules)
    h = Heads(b, x, heads, dim)
    full, less, length = heads * dim, kv * dim, h.length
    if form == "apart":
        q = project(b, x, full, "q" in bias, "q", on, told)
        k = project(b, x, less, "k" in bias, "k", on, told)
        v = project(b, x, less, "v" in bias, "v", on, told)
        if norm.endswith("=all"):  # OLMo 2
            q, k = (h.rms(y) if "qknorm" in norm else
                    b.emit(nn.LayerNorm(y.channels), y) for y in (q, k))
        if norm and "=" not in norm:
            q, k = (b.emit(lambda t, n=n: t.view(len(t), length, n, dim), y)
                    for y, n in ((q, heads), (k, kv)))
            q, k = (h.rms(y) if norm == "qknorm" else
                    b.emit(nn.LayerNorm(dim), y) for y in (q, k))
            q, k = (b.emit(lambda t: t.transpose(1, 2), y) for y in (q, k))
            v = h.part(v, kv)
        else:
            q, k, v = h.part(q, heads), h.part(k, kv), h.part(v, kv)
    else:
        y = project(b, x, 3 * full, "q" in bias, "qkv", on, told)
        if form == "views":  # timm's vision_transformer
            made = b.add(lambda t: t.reshape(len(t), length, 3, heads, dim)
                         .permute(2, 0, 3, 1, 4).unbind(0), [y], 3)
            q, k, v = (b.value(r, False) for r in made)
        else:  # GPT-2's; nn.MultiheadAttention copies its parts
            parts = b.add(lambda t: t.chunk(3, -1), [y], 3)
            parts = [b.value(r, False) for r in parts]
            if not causal and not rotary:
                parts = [b.emit(lambda t: t.contiguous(), y) for y in parts]
            q, k, v = (h.part(y, heads) for y in parts)
    if rotary:
        q, k = h.turned(q, rotary), h.turned(k, rotary)
    k, v = h.spread(k, kv), h.spread(v, kv)
    if scale == "queries":
        q = b.emit(lambda t: t * dim ** -0.5, q)
    s = b.emit(lambda s, t: s @ t.transpose(2, 3), q, k)
    if scale == "scores":
        s = b.emit(lambda t: t * dim ** -0.5, s)
    if softcap:
        s = b.emit(lambda t: t / softcap, s)
        s = b.emit(torch.tanh, s)
        s = b.emit(lambda t: t * softcap, s)
    def talk(s):
        module = nn.Linear(heads, heads)
        module.requires_grad_(not told)
        s = b.emit(lambda t: t.permute(0, 2, 3, 1), s)
        s = b.emit(module, s)
        return b.emit(lambda t: t.permute(0, 3, 1, 2), s)
    if talking:
        s = talk(s)
    if relative:
        s = far(b, s, heads, relative, not told)
    if causal and not window:
        s = b.emit(lambda t: t.masked_fill(torch.ones(
            length, length, dtype=torch.bool).triu(1), -math.inf), s)
    elif window:
        hidden = [[not sees(i, j, window, causal) for j in range(length)]
                  for i in range(length)]
        s = b.emit(lambda t: t.masked_fill(torch.tensor(hidden), -math.inf), s)
        seen = window if causal else window // 2 * 2 + 1
        each = full + (heads * heads if talking else 0)
        b.uncounted += 2 * each * length * max(length - seen, 0) * \
            len(b.inputs[0])
    if mask:
        s = b.emit(torch.add, s, mask)
    if sinks:
        holder = b.constant(heads)
        holder.requires_grad_(not told)
        y = b.emit(lambda t: holder.weight.reshape(1, -1, 1, 1).expand(
            len(t), -1, length, -1), s)
        s = b.emit(lambda s, t: torch.cat([s, t], -1), s, y)
        # Who watches makes its backward scatter into a copy.
        y = b.emit(lambda t: t.max(-1, keepdim=True).values, s, framed=True)
        s = b.emit(torch.sub, s, y)
    s = b.emit(lambda t: t.softmax(-1), s)
    if sinks:
        s = b.emit(lambda t: t[..., :-1], s)
    if talking:
        s = talk(s)
    if drop:
        s = b.emit(nn.Dropout(drop), s)
    y = b.emit(torch.matmul, s, v)
    y = b.emit(lambda t: t.transpose(1, 2).reshape(len(t), length, full), y)
    if out is not None:
        y = project(b, y, out, "o" in bias, "o", on, told)
    modules = b.modules[at:]
    text = fork_text + text
    if not told:
        return f"{text} naive" + b.frozen(*modules), y
    for module in modules:
        if not isinstance(module, nn.Linear) and not hasattr(
                module, "lora_A"):
            module.requires_grad_(False)
    return f"{text} naive", y


def added(b, x):
    """What scores get beside: for each pair of positions, or for each key."""
    form = b.here("mask", ["", "pairs", "keys"], 0.3)
    if not form:
        return "", None
    label = b.label()
    if form == "keys":
        y = b.emit(lambda t: t.sum(-1), x)
        y = b.emit(lambda t: t[:, None, None], y)
        return f"fork {{ sum c; {label}: identity }}; ", y
    y = b.emit(lambda s, t: s @ t.transpose(1, 2), x, x)
    y = b.emit(lambda t: t[:, None], y)
    # `cached` is another word for the identity where nothing is served
    return (f"fork {{ matmul {{}} {{}} transpose; {label}: cached }}; ", y)


def scored(b, q, k, v, dim):
    """Attention without any more."""
    s = b.emit(lambda s, t: s @ t.transpose(2, 3), q, k)
    s = b.emit(lambda t: t * dim ** -0.5, s)
    s = b.emit(lambda t: t.softmax(-1), s)
    y = b.emit(torch.matmul, s, v)
    return b.emit(lambda t: t.transpose(1, 2).flatten(2), y)


def beside(b, x):
    """x and another sequence: its text and label, both, and what their
    attention has: steps, a bias or none."""
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    text, label, other = fork(b, "other", x, 2, lambda y: len(y.sizes) == 2)
    heads = b.here("heads", [h for h in (1, 2) if x.channels % h == 0], 0.5)
    bias = b.here("bias", [True, False], 0.3)
    return (text, label, x, b.last(other), Heads(b, x, heads, x.channels //
                                                 heads), bias)


@layer("attention", kinds=ROWS)
def cross(b, x):
    """At the tensor of a label."""
    text, label, x, other, h, bias = beside(b, x)
    heads, dim, width = h.heads, h.dim, x.channels
    at = len(b.modules)
    q, k, v = (h.part(b.emit(nn.Linear(y.channels, width, bias), y), heads)
               for y in (x, other, other))
    y = b.emit(nn.Linear(width, width, bias), scored(b, q, k, v, dim))
    text += f"; attention {heads} cross={label}" + ("" if bias else " nobias")
    return f"{text} naive" + b.frozen(*b.modules[at:]), y


@layer("attention", kinds=ROWS)
def joint(b, x):
    """Two streams as one sequence: tools/sequence_truth.py's Joint"""
    text, label, x, other, h, bias = beside(b, x)
    heads, dim = h.heads, h.dim
    norm = b.here("qknorm", ["", "qknorm", "qkln"], 0.4)
    at = len(b.modules)
    streams = []
    for y in (x, other):
        parts = [h.part(b.emit(nn.Linear(y.channels, x.channels, bias), y),
                        heads) for _ in "qkv"]
        for i in range(2 if norm else 0):
            parts[i] = h.rms(parts[i]) if norm == "qknorm" else \
                b.emit(nn.LayerNorm(dim), parts[i])
        streams.append(parts)
    q, k, v = (b.emit(lambda s, t: torch.cat([s, t], 2), theirs, own)
               for own, theirs in zip(*streams))
    y = scored(b, q, k, v, dim)
    text += f"; attention {heads} joint={label}" + ("" if bias else " nobias")
    text += " " + norm if norm else ""
    return f"{text} naive" + b.frozen(*b.modules[at:]), y


# Modules whose frames hold tensors: as tools/sequence_truth.py has them.

@layer("mla", kinds=ROWS)
def mla(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    heads = b.here("heads", [1, 2, 3], 0.6)
    latent, rope = b.here("latent", [4, 6], 0.5), b.here("rope", [2, 4], 0.5)
    dim = b.here("dim", [4, 3], 0.5)
    vdim = b.here("vdim", [dim, 5], 0.5)
    qlatent = b.here("qlatent", [None, 5], 0.5)
    causal = b.here("causal", [False, True], 0.5)
    text = f"mla {heads} latent={latent} rope={rope} dim={dim}"
    text += f" vdim={vdim}" if vdim != dim else ""
    text += f" qlatent={qlatent}" if qlatent else ""
    text += (" causal" if causal else "") + " naive"
    module = truth.Latent(x.channels, heads, latent, rope, dim, vdim,
                          qlatent, causal)
    return text + b.frozen(module), b.emit(module, x, framed=True)


@layer("moe", kinds=ROWS)
def moe(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    count = b.here("experts", [2, 3, 5], 0.7)
    top = b.here("top", [t for t in (1, 2, 3) if t <= count], 0.7)
    norm, bias = b.here("norm", [True, False], 0.5), b.here(
        "bias", [False, True], 0.4)
    width, inner = x.channels, b.here("inner", [4, 6], 0.5)
    if b.here("gated", [False, True], 0.5):
        expert = functools.partial(truth.Gated, width, inner)
        inside = (f"mul {{ linear {inner} nobias silu }} {{ linear {inner} "
                  f"nobias }}; linear {width} nobias")
    else:
        expert = functools.partial(truth.plain, width, inner)
        inside = f"linear {inner} gelu; linear {width}"
    module = truth.Experts(width, count, top, expert, norm, bias)
    text = f"moe experts={count} top={top}"
    text += ("" if norm else " norm=off") + (" bias" if bias else "")
    return f"{text} {{ {inside} }}", b.emit(module, x, framed=True)


@layer("ssm", kinds=ROWS)
def ssm(b, x):
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    state, conv = b.here("state", [2, 4], 0.5), b.here("conv", [2, 4, 3], 0.5)
    expand, rank = b.here("expand", [2, 1, 3], 0.4), b.here(
        "dtrank", [1, 2], 0.4)
    module = truth.Mamba(x.channels, state, conv, expand, rank)
    b.uncounted += module.cut * len(b.inputs[0])
    text = f"ssm state={state} conv={conv} expand={expand} dtrank={rank} naive"
    return text + b.frozen(module), b.emit(module, x, framed=True)


KINDS = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


@layer("rnn", "lstm", "gru", kinds=ROWS, often=3)
def recurrent(b, x):
    """The steps are the first axis as they lie: docs/memory.md"""
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    word = b.here("word", KINDS, 1)
    units = b.here("units", [2, 3, 4], 0.7)
    layers = b.here("layers", [1, 2], 0.4)
    bidir = b.here("bidir", [False, True], 0.4)
    final = b.here("last", [False, True], 0.3)
    bias = b.here("bias", ["two", "one", "none"], 0.4)
    proj = b.here("proj", [0, 1], 0.3) if word == "lstm" else 0
    drop = b.here("dropout", [0, 0.5], 0.4) if layers > 1 else 0
    text = f"{word} {units}" + (f" layers={layers}" if layers > 1 else "")
    text += (" bidir" if bidir else "") + (" last" if final else "")
    text += {"two": "", "one": " bias=one", "none": " nobias"}[bias]
    text += f" proj={proj}" if proj else ""
    text += f" dropout={drop}" if drop else ""
    more = {"proj_size": proj} if proj else {}
    module = KINDS[word](x.channels, units, layers, bidirectional=bidir,
                         bias=bias != "none", dropout=drop, **more)
    if bias == "one":
        truth.Steps(module, True)
    steps = x.sizes[0]
    module.batch_first = b.here("batch_first", [False, True], 0.4)
    text += " batch_first" if module.batch_first else ""
    text += b.frozen(module)
    y = x
    if not module.batch_first:
        y = b.emit(lambda t: t.view(steps, len(t), -1) if t.is_contiguous()
                   else t.transpose(0, 1), x)
    if final:
        b.own(module)

        def state(t):
            h = module(t)[1]
            h = h[0] if isinstance(h, tuple) else h
            return torch.cat(list(h[-2:]), 1) if bidir else h[-1]
        batch = len(b.inputs[0])
        b.own(module)
        register, = b.add(state, [y])
        value = b.value(register, False)
        if b.live[register].shape[0] != batch:
            raise Refused("batch")
        return text, value
    b.own(module)
    y = b.emit(lambda t: module(t)[0], y)
    if module.batch_first:
        return text, y
    return text, b.emit(lambda t: t.view(t.shape[1], steps, -1), y)


@layer("rnn", "lstm", "gru", kinds=ROWS)
def given_state(b, x):
    """From a state that another branch gives; an lstm's cell as a row."""
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    word = b.here("word", KINDS, 1)
    units = b.here("units", [2, 3, 4], 0.7)
    module = KINDS[word](x.channels, units, batch_first=True)
    keeps = word == "lstm" and b.here("keepcell", [False, True], 0.5)
    text, states = "", []
    for key in ("state", "cell")[:1 + (word == "lstm")]:
        label = b.label()
        text += f"fork {{ mean l; linear {units}; {label}: identity }}; "
        y = b.emit(lambda t: t.mean(1), x)
        states.append((key, label, b.emit(nn.Linear(y.channels, units), y)))
    b.own(module)

    def run(t, *given):
        given = tuple(s.reshape(1, -1, units) for s in given)
        y, last = module(t, given if len(given) == 2 else given[0])
        return torch.cat([y, last[1].transpose(0, 1)], 1) if keeps else y
    text += f"{word} {units} batch_first" + " keepcell" * keeps
    text += "".join(f" {key}={label}" for key, label, _ in states)
    return (text + b.frozen(module),
            b.emit(run, x, *(y for _, _, y in states)))


@layer("rnn", "lstm", "gru", kinds=ROWS)
def recurrent_more(b, x):
    """Of which PyTorch has no module: batch norm, and a reset before."""
    x = b.last(x)
    if len(x.sizes) != 2:
        raise Refused("no sequence")
    word = b.here("word", ["gru", "lstm", "rnn"], 1)
    units = b.here("units", [2, 3], 0.7)
    if word == "gru" and b.here("reset", [False, True], 0.5):
        bias = b.here("bias", ["two", "one", "none"], 0.5)
        module = truth.ResetFirst(x.channels, units, bias == "one",
                                  bias != "none")
        more = {"two": "", "one": " bias=one", "none": " nobias"}[bias]
        text = f"gru {units} reset=before{more}"
    else:
        proj = b.here("proj", [0, 1], 0.4) if word == "lstm" else 0
        gates = {"rnn": 1, "lstm": 4, "gru": 3}[word]
        module = truth.Normed(gates, x.channels, units, proj)
        text = f"{word} {units} norm=bn" + (f" proj={proj}" if proj else "")
    return text + b.frozen(module), b.emit(module, x, framed=True)


@head("films")
def films(b):
    """Maps one after the other: what a convlstm reads."""
    sizes = [b.pick(f"size{i}", range(2, 5), 1) for i in range(3)]
    channels = b.pick("channels", [2, 4, 6], 1)
    return begin(b, (*sizes, channels), False)


@layer("convlstm", kinds=("films",), often=4)
def convlstm(b, x):
    x = b.last(x)
    if len(x.sizes) != 4:
        raise Refused("no film")
    units = b.here("channels", [2, 3], 0.5)
    kernel = b.here("kernel0", [1, 3], 0.6), b.here("kernel1", [1, 3], 0.6)
    bias, final = b.here("bias", [True, False], 0.5), b.here(
        "last", [False, True], 0.5)
    module = truth.ConvLSTM(x.channels, units, kernel, bias, final)
    text = f"convlstm {units} {join(kernel)}"
    text += (" last" if final else "") + ("" if bias else " nobias")
    text += b.frozen(module)
    y = b.emit(module, x, first=final, framed=True)
    if final:
        return text, y
    return text, b.emit(lambda t: t.permute(0, 1, 3, 4, 2), y, first=False)

