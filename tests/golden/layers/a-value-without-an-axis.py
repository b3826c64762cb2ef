# a-value-without-an-axis, by netc 0.3.0:
# 2,423 parameters, 56,832 MACs for one sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import torch
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


class AValueWithoutAnAxis(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(4, 8, 3, padding=1)
        self.weight1 = Learned(weight=torch.randn(()))
        self.weight2 = Fixed(weight=torch.randn(()))
        self.weight3 = Learned(weight=torch.randn(()))
        self.weight4 = Learned(weight=torch.randn(()))
        self.weight5 = Learned(weight=torch.randn(()))
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(512, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        y = self.weight1.weight
        x = x * y
        y = self.weight2.weight
        x = y + x
        y = self.weight3.weight
        z = self.weight4.weight
        z = z * 2
        y = y * z
        x = x / y
        y = self.weight5.weight
        x = torch.maximum(x, y)
        x = self.conv2(x)
        return self.fc(x.flatten(1))


if __name__ == "__main__":
    net = AValueWithoutAnAxis().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 4, 8, 8))
    print(tuple(out.shape))
