"""Low-rank adapters in PyTorch, by the formula that peft publishes.

    y = W x + b + alpha / rank * B(A(dropout(x)))

W and b are frozen (Hu et al. 2021, arXiv 2106.09685; huggingface/peft,
src/peft/tuners/lora/layer.py: Linear.forward and _ConvNd.update_layer). With
lengths of their own (Liu et al. 2024, arXiv 2402.09353; tuners/lora/dora.py)

    y = W x + b + (s - 1) W x + s * alpha / rank * B(A(x))
    s = m / |W + alpha / rank * B A|, the length of each output, a constant
"""
import torch
import torch.nn.functional as F
from torch import nn


class Dora(nn.Module):
    """What the adapter adds, with a length for each output. Its locals live
    as long as peft's do."""

    def __init__(self, base):
        super().__init__()
        self.dense = isinstance(base, nn.Linear)
        lengths = base.weight.detach().flatten(1).norm(dim=1)
        if not self.dense:
            lengths = lengths.view(1, -1, *[1] * (base.weight.dim() - 2))
        self.weight = nn.Parameter(lengths)

    def lengths(self, weight, product, scaling):
        weight = weight + scaling * product
        if self.dense:
            return torch.linalg.norm(weight, dim=1).to(weight.dtype)
        axes = tuple(range(1, weight.dim()))
        return weight.norm(p=2, dim=axes, keepdim=True).transpose(1, 0)

    def forward(self, x, a, b, scaling, base, result):
        if self.dense:
            ones = torch.eye(a.weight.shape[1], dtype=x.dtype)
            product = b(a(ones)).T
        else:
            product = b.weight.flatten(1) @ a.weight.flatten(1)
            product = product.reshape(base.weight.shape)
        lengths = self.lengths(base.weight, product.detach(), scaling).detach()
        factor = self.weight / lengths
        if self.dense:
            factor = factor.view(1, -1)
            low = b(a(x))
        if result is None:  # x has been dropped
            result = (F.linear(x, base.weight) if self.dense else
                      base._conv_forward(x, base.weight, None))
        elif base.bias is not None:
            result = result - base.bias.view(
                1, -1, *[1] * (0 if self.dense else x.dim() - 2))
        if not self.dense:
            return (factor - 1) * result + factor * b(a(x)) * scaling
        return (factor - 1) * result + factor * low * scaling


class Padded(nn.Module):
    """One matrix for queries, keys and values with adapters for the first and
    the last: LoRAQKVLinear of litgpt's lora.py."""

    def __init__(self, width, queries, keys, rank, dropout=0.0, bias=True):
        super().__init__()
        self.linear = nn.Linear(width, queries + 2 * keys, bias=bias)
        self.linear.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(2 * rank, width))
        self.b = nn.Parameter(torch.zeros(queries + keys, rank))
        self.drop = nn.Dropout(dropout)
        self.parts = [queries, keys]
        self.index = [*range(queries),
                      *range(queries + keys, queries + 2 * keys)]

    def wide(self, low):
        if self.parts[0] == self.parts[1]:
            return F.conv1d(low, self.b.unsqueeze(-1), groups=2)
        parts = zip(low.chunk(2, 1), self.b.unsqueeze(-1).split(self.parts))
        return torch.cat([F.conv1d(x, b) for x, b in parts], 1)

    def padded(self, x):
        x = x.transpose(0, 1)
        zeros = x.new_zeros((*x.shape[:-1], self.linear.out_features))
        zeros = zeros.view(-1, self.linear.out_features)
        zeros = zeros.index_copy(1, torch.tensor(self.index),
                                 x.reshape(-1, sum(self.parts)))
        return zeros.view((*x.shape[:-1], -1)).transpose(0, 1)

    def forward(self, x):
        all_of_it = self.linear(x)
        low = F.linear(self.drop(x), self.a)
        wide = self.wide(low.transpose(1, 2)).transpose(1, 2)
        return all_of_it + self.padded(wide) * 2.0


class Lora(nn.Module):
    """A dense layer or a convolution with its adapter."""

    def __init__(self, base, rank, alpha=None, dropout=0.0, dora=False):
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
        if dora:
            self.lora_magnitude_vector = Dora(base)

    def forward(self, x):
        result = self.base_layer(x)
        if hasattr(self, "lora_magnitude_vector"):
            plain = isinstance(self.lora_dropout, nn.Identity) or \
                not self.training  # what the layer gave is reused
            if not plain:
                x = self.lora_dropout(x)
            return result + self.lora_magnitude_vector(
                x, self.lora_A, self.lora_B, self.scaling, self.base_layer,
                result if plain else None)
        return result + self.lora_B(
            self.lora_A(self.lora_dropout(x))) * self.scaling


class LoraAttention(nn.Module):
    """Attention by steps, of whose projections some are adapted; packed: one
    matrix for queries, keys and values, as torch.nn.MultiheadAttention has."""

    def __init__(self, width, heads, rank, on="qv", alpha=None, packed=False,
                 dora=False):
        super().__init__()
        self.heads, self.packed = heads, packed

        def projection(letters, out):
            base = nn.Linear(width, out)
            if set(letters) & set(on):
                return Lora(base, rank, alpha, dora=dora)
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
