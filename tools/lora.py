"""Low-rank adapters in PyTorch, by the formula that peft publishes.

    y = W x + b + alpha / rank * B(A(dropout(x)))

W and b are frozen (Hu et al. 2021, arXiv 2106.09685; huggingface/peft,
src/peft/tuners/lora/layer.py: Linear.forward and _ConvNd.update_layer).
"""
from torch import nn


class Lora(nn.Module):
    """A dense layer or a convolution with its adapter."""

    def __init__(self, base, rank, alpha=None, dropout=0.0):
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.lora_dropout = nn.Dropout(dropout) if dropout else nn.Identity()
        self.scaling = (rank if alpha is None else alpha) / rank
        if isinstance(base, nn.Linear):
            self.lora_A = nn.Linear(base.in_features, rank, bias=False)
            self.lora_B = nn.Linear(rank, base.out_features, bias=False)
        else:
            kind = type(base)
            self.lora_A = kind(base.in_channels, rank, base.kernel_size,
                               base.stride, base.padding, base.dilation,
                               bias=False)
            self.lora_B = kind(rank, base.out_channels, 1, groups=base.groups,
                               bias=False)

    def forward(self, x):
        result = self.base_layer(x)
        return result + self.lora_B(
            self.lora_A(self.lora_dropout(x))) * self.scaling


class LoraAttention(nn.Module):
    """Attention by steps, of whose projections some are adapted; packed: one
    matrix for queries, keys and values, as torch.nn.MultiheadAttention has."""

    def __init__(self, width, heads, rank, on="qv", alpha=None, packed=False):
        super().__init__()
        self.heads, self.packed = heads, packed

        def projection(letters, out):
            base = nn.Linear(width, out)
            if set(letters) & set(on):
                return Lora(base, rank, alpha)
            return base.requires_grad_(False)
        if packed:
            self.qkv = projection("qkv", 3 * width)
        else:
            self.q, self.k, self.v = (projection(letter, width)
                                      for letter in "qkv")
        self.out = projection("o", width)

    def forward(self, x):
        n, length, width = x.shape

        def split(y):
            return y.view(n, length, self.heads, -1).transpose(1, 2)
        if self.packed:
            q, k, v = (split(y.contiguous())
                       for y in self.qkv(x).chunk(3, -1))
        else:
            q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        scores = q @ k.transpose(2, 3)
        del q, k
        scores = scores * (width // self.heads) ** -0.5
        weights = scores.softmax(-1)
        del scores
        x = weights @ v
        del weights, v
        return self.out(x.transpose(1, 2).reshape(n, length, width))
