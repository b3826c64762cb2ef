# sequences, by netc 0.3.0:
# 7,739 parameters, 107,756 MACs for one sample
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


class Fixed(nn.Module):
    """Tensors that are not learned."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


def sines(positions, features):
    """Pairs of a sine and a cosine, ever slower."""
    pairs = torch.arange(features) // 2 * 2
    angle = torch.arange(positions)[:, None] / 10000 ** (pairs / features)
    return torch.where(torch.arange(features) % 2 == 0,
                       angle.sin(), angle.cos())


def drop_path(x: Tensor, p: float, training: bool):
    """Stochastic depth: sets whole samples to 0."""
    if not training:
        return x
    shape = [len(x)] + [1] * (x.dim() - 1)
    return x * x.new_empty(shape).bernoulli_(1 - p).div_(1 - p)


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


def other_edge(grid, window, shift, device):
    """-100 between what a shift has put together, as in Swin."""
    side = torch.zeros(*grid, *window, device=device)
    for axis, (size, moved) in enumerate(zip(window, shift)):
        last = side.narrow(axis, grid[axis] - 1, 1)
        last.narrow(len(grid) + axis, size - moved, moved).add_(2 ** axis)
    side = side.flatten(len(grid))
    return -100.0 * (side[..., None, :, None] != side[..., None, None, :])


def relative_places(sizes):
    """Where the bias of each pair of positions is."""
    grids = torch.meshgrid(*map(torch.arange, sizes), indexing="ij")
    places = 0
    for size, grid in zip(sizes, grids):
        apart = grid.reshape(-1, 1) - grid.reshape(-1)
        places = places * (2 * size - 1) + apart + size - 1
    return places


class Attention(nn.Module):
    """Attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    bias: which of queries, keys, values and output have one
    relative: a window whose pairs of positions have biases
    """

    def __init__(self, channels, heads, kv_heads=None, dim=None, bias="qkvo",
                 causal=False, relative=None, rope=False, naive=False,
                 sbhd=False, length=None, dropout=0.0):
        super().__init__()
        self.dim = dim or channels // heads
        width = self.dim * heads
        kv_width = self.dim * (kv_heads or heads)
        self.causal = causal
        self.relative = relative
        self.rope = rope
        self.naive = naive
        self.sbhd = sbhd
        if rope:
            self.rotation = Rotation(length, self.dim)
        self.dropout = dropout
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(channels, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(channels, kv_width, bias="v" in bias)
        self.out_proj = nn.Linear(width, channels, bias="o" in bias)
        if relative:
            pairs = math.prod(2 * size - 1 for size in relative)
            self.relative_position_bias_table = nn.Parameter(
                0.02 * torch.randn(pairs, heads))
            self.register_buffer("places", relative_places(relative),
                                 persistent=False)

    def hidden(self, queries, keys, device):
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
        return behind < 0

    def masked(self, scores):
        if self.relative:
            bias = self.relative_position_bias_table[self.places]
            scores = scores + bias.permute(2, 0, 1)
        if self.causal:
            hidden = self.hidden(*scores.shape[-2:], scores.device)
            scores = scores.masked_fill(hidden, -math.inf)
        return scores

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        scores = self.masked(scores)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if not self.naive and hasattr(F, "scaled_dot_product_attention"):
            return attend_in_groups(
                q, k, v, is_causal=self.causal,
                dropout_p=self.dropout if self.training else 0.0)
        k, v = repeated(q, k), repeated(q, v)
        weights = F.dropout(self.weights(q, k), self.dropout, self.training)
        return weights @ v

    def forward(self, x, seen=None):
        seen = x if seen is None else seen
        q, k, v = self.q_proj(x), self.k_proj(seen), self.v_proj(seen)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        if self.rope:
            q, k = self.rotation(q), self.rotation(k)
        y = self.attend(q, k, v)
        if self.sbhd:
            y = y.movedim(-2, 0).contiguous().flatten(-2)
            return self.out_proj(y).movedim(0, -2)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class PackedAttention(nn.Module):
    """Attention; axes before the last two are a batch.

    kv_heads: of keys and values; each serves heads / kv_heads
    bias: which of queries, keys, values and output have one
    window: how many of the latest positions are seen
        (half of them on each side if not causal)
    relative: a window whose pairs of positions have biases
    shift: how far the map was moved before it was cut into windows
    scale: what is divided by the root of dim
    """

    def __init__(self, channels, heads, kv_heads=None, bias="qkvo",
                 causal=False, window=None, relative=None, shift=None,
                 scale="scores", naive=False):
        super().__init__()
        self.dim = channels // heads
        kv_width = self.dim * (kv_heads or heads)
        self.causal = causal
        self.window = window
        self.relative = relative
        self.shift = shift
        self.scale = scale
        self.naive = naive
        self.sizes = channels, kv_width, kv_width
        rows = sum(self.sizes)
        self.in_proj_weight = nn.Parameter(torch.empty(rows, channels))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.in_proj_bias = None
        if "q" in bias:
            self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.out_proj = nn.Linear(channels, channels, bias="o" in bias)
        if relative:
            pairs = math.prod(2 * size - 1 for size in relative)
            self.relative_position_bias_table = nn.Parameter(
                0.02 * torch.randn(pairs, heads))
            self.register_buffer("places", relative_places(relative),
                                 persistent=False)

    def hidden(self, queries, keys, device):
        behind = (torch.arange(queries, device=device)[:, None]
                  - torch.arange(keys, device=device))
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
        if self.shift:
            scores = scores + other_edge(
                scores.shape[-3 - len(self.shift):-3], self.relative,
                self.shift, scores.device)
        if self.causal or self.window:
            hidden = self.hidden(*scores.shape[-2:], scores.device)
            scores = scores.masked_fill(hidden, -math.inf)
        return scores

    def weights(self, q, k):
        if self.scale == "queries":
            q = q / math.sqrt(self.dim)
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        scores = self.masked(scores)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if not self.naive and hasattr(F, "scaled_dot_product_attention"):
            mask = None
            if self.window:
                mask = self.masked(q.new_zeros(q.shape[-2], k.shape[-2]))
            return attend_in_groups(
                q, k, v, attn_mask=mask,
                is_causal=self.causal and mask is None)
        k, v = repeated(q, k), repeated(q, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k, v = F.linear(x, self.in_proj_weight,
                           self.in_proj_bias).split(self.sizes, -1)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


class Sequences(nn.Module):
    """Gives (lstm, gru, rnn, main)."""

    def __init__(self):
        super().__init__()
        self.memory = nn.Linear(8, 8)
        self.words = nn.Embedding(20, 8)
        self.posembed1 = Learned(weight=0.02 * torch.randn(30, 8))
        self.posembed2 = Fixed(weight=sines(12, 8))
        self.token = Learned(weight=0.02 * torch.randn(2, 8))
        self.attentions1 = nn.ModuleList([
            Attention(8, 2),
            Attention(8, 4, kv_heads=2, causal=True, rope=True, length=12),
            Attention(8, 2, dim=5, bias="qvo", dropout=0.1),
        ])
        self.attention1 = nn.MultiheadAttention(8, 2, batch_first=True)
        self.attention2 = PackedAttention(8, 2, scale="queries")
        self.attention3 = nn.MultiheadAttention(8, 2, batch_first=True)
        self.attentions2 = nn.ModuleList([
            Attention(8, 2, sbhd=True),
            PackedAttention(8, 4, kv_heads=2, causal=True, window=3),
            PackedAttention(8, 2, bias="qkv", scale="queries"),
        ])
        self.attention4 = Attention(8, 2, naive=True)
        self.attention5 = nn.MultiheadAttention(8, 2, batch_first=True)
        self.attention6 = Attention(8, 4, bias="", relative=(3, 4), naive=True)
        self.attentions3 = nn.ModuleList([
            PackedAttention(8, 2, scale="queries"),
            Attention(8, 4, relative=(6,), naive=True),
            PackedAttention(8, 2, relative=(6,), shift=(2,), scale="queries",
                            naive=True),
        ])
        self.rnn1 = nn.RNN(8, 6, batch_first=True)
        self.lstm1 = nn.LSTM(6, 5, num_layers=2, batch_first=True, dropout=0.1,
                             bidirectional=True)
        self.gru1 = nn.GRU(10, 8, bias=False, batch_first=True)
        self.conv = nn.Conv1d(8, 8, 3, padding=1)
        self.weight1 = Learned(weight=torch.randn(12, 8))
        self.ln = nn.LayerNorm(24)
        self.linear1 = nn.Linear(24, 8)
        self.linear2 = nn.Linear(8, 8)
        self.lstm2 = nn.LSTM(8, 3, batch_first=True)
        self.gru2 = nn.GRU(8, 3, batch_first=True, bidirectional=True)
        self.rnn2 = nn.RNN(8, 3, num_layers=2, batch_first=True)
        self.weight2 = Learned(weight=torch.randn(3, 8))
        self.weight3 = Fixed(weight=torch.randn((2, 8)))
        self.weight4 = Learned(weight=torch.randn(8))
        self.weight5 = Learned(weight=torch.randn(1, 20))
        share_rotations(self)

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor,
                                                     Tensor]:
        memory = F.silu(self.memory(b), inplace=True)
        x = self.words(a)
        x = x + self.posembed1.weight[:x.shape[1]]
        x = x + self.posembed2.weight[:x.shape[1]]
        x = torch.cat([self.token.weight.expand(len(x), -1, -1), x], 1)
        x = x[:, 1:13]
        for attention1 in self.attentions1:
            x = attention1(x)
        x = self.attention1(x, x, x, need_weights=False)[0]
        x = self.attention2(x)
        x = self.attention3(x, x, x, average_attn_weights=False)[0]
        for attention2 in self.attentions2:
            x = attention2(x)
        x = self.attention4(x, memory)
        x = self.attention5(x, memory, memory, need_weights=False)[0]
        x = self.attention6(x)
        x = x.reshape(-1, 2, 6, 8)
        for attention3 in self.attentions3:
            x = attention3(x)
        x = x.flatten(1, 2)
        x = self.rnn1(x)[0]
        x = self.lstm1(x)[0]
        x = self.gru1(x)[0]
        y = self.conv(x.transpose(1, 2))
        z = self.weight1.weight[None]
        x = torch.stack([x, y.transpose(1, 2), z.expand(len(x), -1, -1)], 1)
        x = x.permute(0, 2, 1, 3)
        x = x.flatten(2, 3)
        x = self.ln(x)
        x = self.linear1(x)
        y = self.linear2(b)
        x = x @ y.transpose(-2, -1)
        x = x @ memory
        y = self.lstm2(x)[1][0][-1]
        z = torch.cat(list(self.gru2(x)[1][-2:]), 1)
        u = self.rnn2(x)[1][-1]
        x = F.dropout(x, 0.2, self.training)
        x = drop_path(x, 0.1, self.training)
        v = self.weight2.weight[None]
        w = self.weight3.weight[None]
        x = torch.cat([x, v.expand(len(x), -1, -1), w.expand(len(x), -1, -1)],
                      1)
        v = self.weight4.weight[None]
        x = x + v[:, None]
        x = F.linear(x, self.words.weight)
        v = self.weight5.weight[None]
        x = x + v
        return y, z, u, x


if __name__ == "__main__":
    net = Sequences().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 12, dtype=torch.long), torch.zeros(1, 10, 8))
    for each in out:
        print(tuple(each.shape))
