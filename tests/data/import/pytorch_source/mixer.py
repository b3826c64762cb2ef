import torch.nn as nn
from functools import partial


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0., dense=nn.Linear):
        super().__init__()
        self.net = nn.Sequential(dense(dim, hidden_dim), nn.GELU(), nn.Dropout(dropout), dense(hidden_dim, dim))

    def forward(self, x):
        return self.net(x)


class PreNormResidual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.fn = fn
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, **kwargs):
        return self.fn(self.norm(x), **kwargs) + x


class MLPMixer(nn.Module):
    def __init__(self, *, image_size=32, channels=3, patch_size=8, dim=32, depth=2, num_classes=10):
        super().__init__()
        assert (image_size % patch_size) == 0, 'image must be divisible by patch size'
        num_patches = (image_size // patch_size) ** 2
        first, last = partial(nn.Conv1d, kernel_size=1), nn.Linear
        self.patch = nn.Conv2d(channels, dim, patch_size, patch_size)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([
                PreNormResidual(dim, FeedForward(num_patches, dim * 2, dense=first)),
                PreNormResidual(dim, FeedForward(dim, dim // 2, dense=last)),
            ]))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.patch(img).flatten(2).permute(0, 2, 1)
        for tokens, channels in self.layers:
            x = tokens(x)
            x = channels(x)
        return self.head(self.norm(x).mean(1))
