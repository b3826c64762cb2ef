# None, by netc 0.2.0:
# 828 parameters, 26,688 MACs a sample
#
# Layers are called as in netc's report, so that load_state_dict() takes what
# `netc weights` writes. Maps are N C H W, sequences N L C.

import torch
import torch.nn.functional as F
from torch import nn


class Module(nn.Module):
    """A module whose layers have numbers: self[f"conv{i}"]."""

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self._modules[name] = module


class Half(Module):
    """eval.half"""

    def __init__(self):
        super().__init__()
        self.self = nn.Conv2d(4, 4, 3)
        self["_modules"] = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        x = self.self(x)
        return self["_modules"](x)


class Torch(Module):
    """torch"""

    def __init__(self):
        super().__init__()
        self.F = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        y = F.relu(self.F(x), inplace=True)
        return y + x


class Module_(Module):
    """Module"""

    def __init__(self):
        super().__init__()
        self["parameters"] = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        return self["parameters"](x)


class Attention_(Module):
    """Attention1 and 2 more"""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 4, 1)
        self["__init__"] = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        x = self.conv1(x)
        return self["__init__"](x)


class Type(Module):
    """type1"""

    def __init__(self):
        super().__init__()
        self.add1 = nn.Module()
        self.add1.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return F.relu(self.add1.bn((x + x).movedim(-1, 1)), inplace=True)


class Type2(Module):
    """type2 and 1 more"""

    def __init__(self):
        super().__init__()
        self.add1 = nn.Module()
        self.add1.bn = nn.BatchNorm2d(4)

    def forward(self, x):
        return F.relu(self.add1.bn(x + x), inplace=True)


class Eval(Module):
    """eval"""

    def __init__(self):
        super().__init__()
        self["lambda"] = nn.Conv2d(4, 4, 3)
        self["half"] = Half()

    def forward(self, x):
        x = self["lambda"](x)
        return self["half"](x)


class None_(Module):
    def __init__(self):
        super().__init__()
        self["forward"] = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self["forward"].bn = nn.BatchNorm2d(4)
        self["class"] = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self["class"].bn = nn.BatchNorm2d(4)
        self["eval"] = Eval()
        self.x1 = nn.Conv2d(4, 4, 1)
        self.nn = nn.Conv2d(4, 4, 1)
        self.torch = Torch()
        self.Module = Module_()
        self.Attention1 = Attention_()
        self.Attention2 = Attention_()
        self.super = nn.Linear(4, 4)
        self.type1 = Type()
        self.type2 = Type2()
        self.type3 = Type2()
        self.math = Attention_()

    def forward(self, x):
        x = F.relu(self["forward"].bn(self["forward"](x)), inplace=True)
        x = self["class"].bn(self["class"](x))
        x = self["eval"](x)
        x = self.x1(x)
        x = self.nn(x)
        y = self.torch(x)
        y = self.Module(y)
        y = self.Attention1(y)
        y = self.Attention2(y)
        y = self.super(y.movedim(1, -1))
        z = self.type1(y)
        z = self.type2(z)
        z = self.type3(z)
        z = self.math(z)
        return torch.cat([x, z, y.movedim(-1, 1)], 1)


if __name__ == "__main__":
    net = None_().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 3, 8, 8))
    print(tuple(out.shape))
