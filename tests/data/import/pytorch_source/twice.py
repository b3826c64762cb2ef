"""A norm and a convolution that run twice, and a result that is dropped."""
import torch.nn as nn


class Recurrent(nn.Module):
    def __init__(self, width=8, t=2):
        super().__init__()
        self.t = t
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.conv = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(inplace=True))
        self.dropped = nn.Conv2d(width, 4, 1)

    def forward(self, x):
        x = self.stem(x)
        for i in range(self.t):
            if i == 0:
                x1 = self.conv(x)
            x1 = self.conv(x + x1)
        self.dropped(x1)
        return x + x1
