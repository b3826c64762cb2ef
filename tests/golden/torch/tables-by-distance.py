# tables-by-distance, by netc 0.3.0:
# 124 parameters, 1,248 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Distances(nn.Module):
    """Rows of a table, by how far two positions are apart."""

    def __init__(self, window, buckets=None, most=128, causal=False,
                 buffer=False):
        super().__init__()
        axes = [torch.arange(size) for size in window]
        at = torch.stack(torch.meshgrid(*axes, indexing="ij"))
        self.window, self.buckets = window, buckets
        self.most, self.causal = most, causal
        self.register_buffer("at", at.flatten(1), persistent=False)
        rows = self.rows() if buffer else None
        self.register_buffer("kept", rows, persistent=False)

    def rows(self):
        far = self.at[:, :, None] - self.at[:, None]
        if self.buckets:
            return self.share(-far[0], self.buckets, self.most, self.causal)
        rows = 0
        for axis, size in zip(far, self.window):
            rows = rows * (2 * size - 1) + axis + size - 1
        return rows

    def share(self, ahead, count, most, causal):
        """Half of the buckets are a distance each, as in T5."""
        far, row = (-ahead).clamp(min=0), 0
        if not causal:
            count //= 2
            far, row = ahead.abs(), (ahead > 0) * count
        exact = count // 2
        share = (far.clamp(min=1).float() / exact).log()
        share = share / math.log(most / exact) * (count - exact)
        more = (exact + share.long()).clamp(max=count - 1)
        return row + torch.where(far < exact, far, more)

    def forward(self):
        return (self.rows() if self.kept is None else self.kept)[None]


class Far(nn.Module):
    """far

    to (1, 2, 6, 6).
    """

    def __init__(self):
        super().__init__()
        self.distances = Distances((6,), buckets=4, causal=True)
        self.embed = nn.Embedding(4, 2)

    def forward(self) -> Tensor:
        x = self.distances()
        x = self.embed(x)
        return x.permute(0, 3, 1, 2)


class TablesByDistance(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.far = Far()
        self.distances = Distances((6,))
        self.embed = nn.Embedding(11, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear(x)
        x = x.reshape(-1, 6, 2, 4)
        q = x.permute(0, 2, 1, 3)
        far = self.far()
        x = q.permute(0, 2, 1, 3)
        y = self.distances()
        y = self.embed(y)
        x = torch.einsum("bdix,dyx->bdiy", x, y[0])
        near = x.permute(0, 2, 1, 3)
        x = q @ q.transpose(-2, -1)
        x = x + far + near
        x = F.softmax(x, 3)
        x = x @ q
        return x.movedim(-1, 1)


if __name__ == "__main__":
    net = TablesByDistance().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 8))
    print(tuple(out.shape))
