# blocks, by netc 0.2.0:
# 26,300 parameters, 531,448 MACs a sample
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


class Unit(nn.Module):
    """stem.unit1 and 20 more

    (N, 4, 16, 16) to (N, 8, 16, 16) in the first.
    """

    __constants__ = ["_hardswish", "_relu"]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding,
                 hardswish=False, relu=False):
        super().__init__()
        self._hardswish = hardswish
        self._relu = relu
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size,
                              stride=stride, padding=padding, bias=False)
        self.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x: Tensor) -> Tensor:
        if self._hardswish:
            x = F.hardswish(self.bn(self.conv(x)), inplace=True)
        elif self._relu:
            x = F.relu(self.bn(self.conv(x)), inplace=True)
        else:
            x = self.bn(self.conv(x))
        return x


class Block(nn.Module):
    """encoder.ln1 to encoder.linear2 and 3 more

    (N, 9, 8) to (N, 9, 8) in the first.
    """

    def __init__(self):
        super().__init__()
        self.ln1 = nn.LayerNorm(8)
        self.attention = Attention(8, 2)
        self.ln2 = nn.LayerNorm(8)
        self.linear1 = nn.Linear(8, 16)
        self.linear2 = nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.ln1(x)
        y = self.attention(y)
        x = y + x
        y = self.ln2(x)
        y = F.gelu(self.linear1(y))
        y = self.linear2(y)
        return y + x


class Inner(nn.Module):
    """encoder.inner

    (N, 9, 8) to (N, 9, 8).
    """

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(8, 12)
        self.linear2 = nn.Linear(12, 8)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.linear1(x), inplace=True)
        return self.linear2(x)


class Decoder(nn.Module):
    """decoder

    (N, 9, 8) to (N, 9, 8).
    """

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(8, 8)
        self.linear2 = nn.Linear(30, 12)
        self.side = Learned(bias=torch.zeros(8))

    def forward(self, x: Tensor, shared1: nn.Module, shared2: nn.Module,
                shared3: nn.Module) -> Tensor:
        x = self.linear1(x)
        x = F.linear(x, shared1.weight)
        x = self.linear2(x)
        x = F.linear(x, shared2.weight.t(), self.side.bias)
        return shared3(x)


class Stem(nn.Module):
    """stem

    (N, 4, 16, 16) to (N, 8, 16, 16).
    """

    def __init__(self):
        super().__init__()
        self.unit = Unit(4, 8, 3, 1, 1, relu=True)
        self.skip = Unit(8, 8, 1, 1, 0, hardswish=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.unit(x)
        return self.skip(x)


class Residual(nn.Module):
    """residual1 and 7 more

    (N, 8, 16, 16) to (N, 8, 8, 8) in the first.
    """

    __constants__ = ["_unit3"]

    def __init__(self, in_channels, out_channels, stride, unit3=False):
        super().__init__()
        self._unit3 = unit3
        self.unit1 = Unit(in_channels, out_channels, 3, stride, 1, relu=True)
        self.unit2 = Unit(out_channels, out_channels, 3, 1, 1)
        if unit3:
            self.unit3 = Unit(in_channels, out_channels, 1, 2, 0)

    def forward(self, x: Tensor) -> Tensor:
        y = self.unit1(x)
        y = self.unit2(y)
        if self._unit3:
            x = self.unit3(x)
        x = y + x
        return F.relu(x, inplace=True)


class Encoder(nn.Module):
    """encoder

    (N, 9, 8) to (N, 9, 8).
    """

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))
        self.inner = Inner()

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.inner(x)


class Blocks(nn.Module):
    """Gives (tied, both)."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.residuals = nn.ModuleList([
            Residual(8, 8, 2, unit3=True),
            *(Residual(8, 8, 1)
              for _ in range(2)),
            Residual(8, 12, 2, unit3=True),
            Residual(12, 12, 1),
            Residual(12, 16, 2, unit3=True),
            *(Residual(16, 16, 1)
              for _ in range(2)),
        ])
        self.picture = nn.Linear(16, 8)
        self.table = nn.Embedding(30, 8)
        self.encoder = Encoder()
        self.project = nn.Linear(8, 12)
        self.linear = nn.Linear(12, 8)
        self.decoder = Decoder()

    def forward(self, image: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        x = self.stem(image)
        for residual in self.residuals:
            x = residual(x)
        x = F.adaptive_avg_pool2d(x, 1)
        x = x.flatten(1)
        picture = self.picture(x)
        x = self.table(words)
        encoder = self.encoder(x)
        x = self.encoder(encoder)
        x = F.relu(self.project(x), inplace=True)
        x = self.linear(x)
        decoder = self.decoder(x, self.table, self.project, self.encoder)
        x = F.adaptive_avg_pool1d(encoder.transpose(1, 2), 1)
        x = x.flatten(1)
        x = x + picture
        return decoder, x


if __name__ == "__main__":
    net = Blocks().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 4, 16, 16),
                  torch.zeros(1, 9, dtype=torch.long))
    for each in out:
        print(tuple(each.shape))
