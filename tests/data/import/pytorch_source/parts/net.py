from .blocks import *
from .blocks.sizes import width as channels
import parts.blocks.sizes
import parts.blocks.sizes as sizes

try:
    import layers_that_nobody_has
    wide = True
except ImportError:
    wide = False

hidden = 2 * sizes.width


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        from .head import Head
        self.stem = Conv(3, parts.blocks.sizes.width)
        self.body = nn.Sequential(*[Conv(channels, channels)
                                    for _ in range(3 + 4 * wide)])
        self.head = Head(channels, classes)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))
