# blocks, by netc 0.3.0:
# 26,300 parameters, 531,448 MACs for one sample
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


class Attention(nn.Module):
    """Attention; axes before the last two are a batch."""

    def __init__(self, channels, heads):
        super().__init__()
        self.dim = channels // heads
        self.q_proj = nn.Linear(channels, channels)
        self.k_proj = nn.Linear(channels, channels)
        self.v_proj = nn.Linear(channels, channels)
        self.out_proj = nn.Linear(channels, channels)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return scores.softmax(-1)

    def attend(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2.0
            return F.scaled_dot_product_attention(q, k, v)
        return self.weights(q, k) @ v

    def forward(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in (q, k, v))
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))


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
        y += x
        return F.relu(y, inplace=True)


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
