# blocks, by netc 0.2.0:
# 26,300 parameters, 531,448 MACs a sample
#
# Layers are called as in netc's report, so that load_state_dict() takes what
# `netc weights` writes. Maps are N C H W, sequences N L C.

import math

import torch
import torch.nn.functional as F
from torch import nn


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
            self.register_buffer("places", self.relative_places(),
                                 persistent=False)

    def project(self, channels, seen, bias):
        width, kv_width = self.dim * self.heads, self.dim * self.kv_heads
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(seen, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(seen, kv_width, bias="v" in bias)

    def projected(self, x, seen):
        return self.q_proj(x), self.k_proj(seen), self.v_proj(seen)

    def relative_places(self):
        """Where the bias of each pair of positions is."""
        grids = torch.meshgrid(*map(torch.arange, self.relative),
                               indexing="ij")
        places = 0
        for size, grid in zip(self.relative, grids):
            apart = grid.reshape(-1, 1) - grid.reshape(-1)
            places = places * (2 * size - 1) + apart + size - 1
        return places

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
        weights = F.dropout(self.weights(q, k), self.dropout, self.training)
        return self.out_proj((weights @ v).transpose(-3, -2).flatten(-2))


class Module(nn.Module):
    """A module whose layers have numbers: self[f"conv{i}"]."""

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self._modules[name] = module


class Unit(Module):
    """stem.unit1 and 8 more"""

    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride,
                               padding=1, bias=False)
        self.conv1.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        return F.relu(self.conv1.bn(self.conv1(x)), inplace=True)


class Unit2(Module):
    """stem.skip"""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(8, 8, 1, bias=False)
        self.conv1.bn = nn.BatchNorm2d(8)

    def forward(self, x):
        return F.hardswish(self.conv1.bn(self.conv1(x)), inplace=True)


class Unit3(Module):
    """residual1.unit2 and 10 more"""

    def __init__(self, in_channels, out_channels, kernel_size, stride,
                 padding):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, kernel_size,
                               stride=stride, padding=padding, bias=False)
        self.conv1.bn = nn.BatchNorm2d(out_channels)

    def forward(self, x):
        return self.conv1.bn(self.conv1(x))


class Inner(Module):
    """encoder.inner"""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(8, 12)
        self.linear2 = nn.Linear(12, 8)

    def forward(self, x):
        x = F.relu(self.linear1(x), inplace=True)
        return self.linear2(x)


class Decoder(Module):
    """decoder"""

    def __init__(self):
        super().__init__()
        self.linear1 = nn.Linear(8, 8)
        self.linear2 = nn.Linear(30, 12)
        self.side = Learned(bias=torch.zeros(8))

    def forward(self, x, shared1, shared2, shared3):
        x = self.linear1(x)
        x = F.linear(x, shared1.weight)
        x = self.linear2(x)
        x = F.linear(x, shared2.weight.t(), self.side.bias)
        return shared3(x)


class Stem(Module):
    """stem"""

    def __init__(self):
        super().__init__()
        self.unit1 = Unit(4, 8, 1)
        self.skip = Unit2()

    def forward(self, x):
        x = self.unit1(x)
        return self.skip(x)


class Residual(Module):
    """residual1 and 2 more"""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.unit1 = Unit(in_channels, out_channels, 2)
        self.unit2 = Unit3(out_channels, out_channels, 3, 1, 1)
        self.unit3 = Unit3(in_channels, out_channels, 1, 2, 0)

    def forward(self, x):
        y = self.unit1(x)
        y = self.unit2(y)
        x = self.unit3(x)
        x = y + x
        return F.relu(x, inplace=True)


class Residual2(Module):
    """residual2 and 4 more"""

    def __init__(self, in_channels):
        super().__init__()
        self.unit1 = Unit(in_channels, in_channels, 1)
        self.unit2 = Unit3(in_channels, in_channels, 3, 1, 1)

    def forward(self, x):
        y = self.unit1(x)
        y = self.unit2(y)
        x = y + x
        return F.relu(x, inplace=True)


class Encoder(Module):
    """encoder"""

    def __init__(self):
        super().__init__()
        for i in range(1, 5):
            self[f"ln{2 * i - 1}"] = nn.LayerNorm(8)
            self[f"attention{i}"] = Attention(8, 2)
            self[f"ln{2 * i}"] = nn.LayerNorm(8)
            self[f"linear{2 * i - 1}"] = nn.Linear(8, 16)
            self[f"linear{2 * i}"] = nn.Linear(16, 8)
        self.inner = Inner()

    def forward(self, x):
        for i in range(1, 5):
            y = self[f"ln{2 * i - 1}"](x)
            y = self[f"attention{i}"](y)
            x = y + x
            y = self[f"ln{2 * i}"](x)
            y = F.gelu(self[f"linear{2 * i - 1}"](y))
            y = self[f"linear{2 * i}"](y)
            x = y + x
        return self.inner(x)


class Blocks(Module):
    """Gives (tied, both)."""

    def __init__(self):
        super().__init__()
        self.stem = Stem()
        self.residual1 = Residual(8, 8)
        self.residual2 = Residual2(8)
        self.residual3 = Residual2(8)
        self.residual4 = Residual(8, 12)
        self.residual5 = Residual2(12)
        self.residual6 = Residual(12, 16)
        self.residual7 = Residual2(16)
        self.residual8 = Residual2(16)
        self.picture = nn.Linear(16, 8)
        self.table = nn.Embedding(30, 8)
        self.encoder = Encoder()
        self.project = nn.Linear(8, 12)
        self.linear1 = nn.Linear(12, 8)
        self.decoder = Decoder()

    def forward(self, image, words):
        x = self.stem(image)
        x = self.residual1(x)
        x = self.residual2(x)
        x = self.residual3(x)
        x = self.residual4(x)
        x = self.residual5(x)
        x = self.residual6(x)
        x = self.residual7(x)
        x = self.residual8(x)
        x = F.adaptive_avg_pool2d(x, 1)
        x = x.flatten(1)
        picture = self.picture(x)
        x = self.table(words)
        encoder = self.encoder(x)
        x = self.encoder(encoder)
        x = F.relu(self.project(x), inplace=True)
        x = self.linear1(x)
        decoder = self.decoder(x, self.table, self.project, self.encoder)
        x = F.adaptive_avg_pool1d(encoder.transpose(1, 2), 1)
        x = x.transpose(1, 2).flatten(1)
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
