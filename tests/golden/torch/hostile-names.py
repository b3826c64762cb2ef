# None, by netc 0.3.0:
# 828 parameters, 26,688 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Half(nn.Module):
    """eval.half

    (N, 4, 6, 6) to (N, 4, 4, 4).
    """

    def __init__(self):
        super().__init__()
        self.self = nn.Conv2d(4, 4, 3)
        self.net_modules = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.self(x)
        return self.net_modules(x)


class Torch(nn.Module):
    """torch

    (N, 4, 4, 4) to (N, 4, 4, 4).
    """

    def __init__(self):
        super().__init__()
        self.F = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.F(x), inplace=True)
        return y + x


class Module(nn.Module):
    """Module

    (N, 4, 4, 4) to (N, 4, 4, 4).
    """

    def __init__(self):
        super().__init__()
        self.parameters_ = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.parameters_(x)


class Attention_(nn.Module):
    """Attention1 and 2 more

    (N, 4, 4, 4) to (N, 4, 4, 4) in the first.
    """

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)
        self.net__init__ = nn.Conv2d(4, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return self.net__init__(x)


class Type(nn.Module):
    """type1 and 2 more

    (N, 4, 4, 4) to (N, 4, 4, 4) in the first.
    """

    __constants__ = ["_residual"]

    def __init__(self, residual=False):
        super().__init__()
        self._residual = residual
        self.bn = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        if self._residual:
            x = F.relu(self.bn((x + x).movedim(-1, 1)), inplace=True)
        else:
            x = F.relu(self.bn(x + x), inplace=True)
        return x


class Eval(nn.Module):
    """eval

    (N, 4, 8, 8) to (N, 4, 4, 4).
    """

    def __init__(self):
        super().__init__()
        self.lambda_ = nn.Conv2d(4, 4, 3)
        self.half_ = Half()

    def forward(self, x: Tensor) -> Tensor:
        x = self.lambda_(x)
        return self.half_(x)


class None_(nn.Module):
    def __init__(self):
        super().__init__()
        self.forward_ = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.forward_bn = nn.BatchNorm2d(4)
        self.class_ = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.class_bn = nn.BatchNorm2d(4)
        self.eval_ = Eval()
        self.x1 = nn.Conv2d(4, 4, 1)
        self.nn = nn.Conv2d(4, 4, 1)
        self.torch = Torch()
        self.Module = Module()
        self.Attentions = nn.ModuleList([
            Attention_(),
            Attention_(),
        ])
        self.super = nn.Linear(4, 4)
        self.type_ = Type(residual=True)
        self.type_s = nn.ModuleList([
            Type(),
            Type(),
        ])
        self.math = Attention_()

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.forward_bn(self.forward_(x)), inplace=True)
        x = self.class_bn(self.class_(x))
        x = self.eval_(x)
        x = self.x1(x)
        x = self.nn(x)
        y = self.torch(x)
        y = self.Module(y)
        for Attention_ in self.Attentions:
            y = Attention_(y)
        y = self.super(y.movedim(1, -1))
        z = self.type_(y)
        for type_ in self.type_s:
            z = type_(z)
        z = self.math(z)
        return torch.cat([x, z, y.movedim(-1, 1)], 1)


if __name__ == "__main__":
    net = None_().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 3, 8, 8))
    print(tuple(out.shape))
