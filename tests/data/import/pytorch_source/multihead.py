import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width=16, heads=2, dropout=0.0, weights=True,
                 first=True, other=False, causal=False):
        super().__init__()
        self.inside = nn.Linear(width, width)
        self.memory = nn.Linear(width, width) if other else None
        self.attend = nn.MultiheadAttention(width, heads, dropout,
                                            batch_first=first)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 3)
        self.weights, self.first, self.causal = weights, first, causal

    def forward(self, x, pad=None):
        x = self.inside(x)
        seen = x if self.memory is None else self.memory(x)
        mask = None
        if self.causal:
            n = x.size(1) if self.first else x.size(0)
            mask = torch.triu(torch.ones(n, n), diagonal=1).bool()
        y, _ = self.attend(x, seen, seen, key_padding_mask=pad,
                           need_weights=self.weights, attn_mask=mask)
        return self.head(self.norm(x + y))


class Model(nn.Module):
    """Tokens as length, batch: PyTorch's usual order."""

    def __init__(self, words=50, width=16, heads=2, dropout=0.1):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        place = torch.zeros(64, 1, width)
        self.register_buffer("place", place)
        layer = nn.TransformerEncoderLayer(width, heads, 32, dropout)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, words)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.place[:x.size(0)]
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(0))
        return self.head(self.encoder(x, mask))
