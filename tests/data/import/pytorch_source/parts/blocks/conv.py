import torch.nn as nn

from .sizes import kernel

__all__ = ["Conv", "nn"]
_bias = False


class Conv(nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(
            nn.Conv2d(inputs, outputs, kernel, padding=1, bias=_bias),
            nn.BatchNorm2d(outputs), nn.ReLU())


class Other(nn.Module):
    def forward(self, x):
        return x
