# small_words, by netc 0.2.0:
# 2,324 parameters, 211,584 MACs a sample
#
# Maps are N C H W, sequences N L C. load_state_dict() takes what `netc weights
# --names=py` writes.

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def without_bias(norm):
    norm.register_parameter("bias", None)
    return norm


def causal(scores: Tensor):
    """No position sees later ones."""
    hidden = torch.ones(scores.shape[-2:], dtype=torch.bool,
                        device=scores.device).triu(1)
    return scores.masked_fill(hidden, -math.inf)


def rms_norm(x, eps: float = 1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


class RMSNorm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.eps) * self.weight


def rotate(x, base=10000.0, stretch=1.0, trained=None):
    """Turns pairs of features, one of each half, by their position."""
    half = x.shape[-1] // 2
    slower = base ** (-torch.arange(half, device=x.device) / half)
    turns = slower * (trained or 0) / (2 * math.pi)
    kept = ((turns - 1) / 3).clamp(0, 1)  # Llama 3.1
    slower = slower * ((1 - kept) / stretch + kept)
    angle = torch.arange(x.shape[-2], device=x.device)[:, None] * slower
    sine, cosine = angle.sin(), angle.cos()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)


def relative_places(sizes):
    """Where the bias of each pair of positions is."""
    grids = torch.meshgrid(*map(torch.arange, sizes), indexing="ij")
    places = 0
    for size, grid in zip(sizes, grids):
        apart = grid.reshape(-1, 1) - grid.reshape(-1)
        places = places * (2 * size - 1) + apart + size - 1
    return places


class Attention(nn.Module):
    """Axes before the last two are a batch.

    kv_heads of keys and values serve all heads; window is how many of the
    latest positions are seen, half of them on each side if not causal,
    relative the sizes of a window whose pairs of positions have learned
    biases, rope rotates queries and keys.
    """

    def __init__(self, channels, heads, kv_heads=None, dim=None, seen=None,
                 bias="qkvo", causal=False, window=None, relative=None,
                 rope=False, dropout=0.0):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.dim = dim or channels // heads
        self.causal, self.window = causal, window
        self.relative, self.rope = relative, rope
        self.dropout = dropout
        self.project(channels, seen or channels, bias)
        self.out_proj = nn.Linear(self.dim * heads, channels,
                                  bias="o" in bias)
        if relative:
            pairs = math.prod(2 * size - 1 for size in relative)
            self.relative_position_bias_table = nn.Parameter(
                0.02 * torch.randn(pairs, heads))
            self.register_buffer("places", relative_places(relative),
                                 persistent=False)

    def project(self, channels, seen, bias):
        width, kv_width = self.dim * self.heads, self.dim * self.kv_heads
        self.q_proj = nn.Linear(channels, width, bias="q" in bias)
        self.k_proj = nn.Linear(seen, kv_width, bias="k" in bias)
        self.v_proj = nn.Linear(seen, kv_width, bias="v" in bias)

    def projected(self, x, seen):
        return self.q_proj(x), self.k_proj(seen), self.v_proj(seen)

    def hidden(self, queries, keys, device):
        behind = torch.arange(queries, device=device)[:, None] \
            - torch.arange(keys, device=device)
        if not self.causal:
            return behind.abs() > self.window // 2
        hidden = behind < 0
        if self.window:
            hidden |= behind >= self.window
        return hidden

    def masked(self, scores):
        if self.relative:
            bias = self.relative_position_bias_table[self.places]
            scores = scores + bias.permute(2, 0, 1)
        if self.causal or self.window:
            scores = scores.masked_fill(
                self.hidden(*scores.shape[-2:], scores.device), -math.inf)
        return scores

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.dim)
        return self.masked(scores).softmax(-1)

    def turned(self, q, k):
        return (rotate(q), rotate(k)) if self.rope else (q, k)

    def repeated(self, y):
        serves = self.heads // self.kv_heads
        y = y.unsqueeze(-3).expand(*y.shape[:-2], serves, -1, -1)
        return y.flatten(-4, -3)

    def forward(self, x, seen=None):
        q, k, v = (y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)
                   for y in self.projected(x, x if seen is None else seen))
        q, k = self.turned(q, k)
        if self.kv_heads != self.heads:
            k, v = self.repeated(k), self.repeated(v)
        y = self.attend(q, k, v)
        return self.out_proj(y.transpose(-3, -2).flatten(-2))

    def attend(self, q, k, v):
        if not hasattr(F, "scaled_dot_product_attention"):
            return self.spelled_out(q, k, v)  # PyTorch before 2.0
        plain = self.causal and not self.window and not self.relative
        mask = None
        if self.relative or self.window:
            mask = self.masked(q.new_zeros(q.shape[-2], k.shape[-2]))
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=plain,
            dropout_p=self.dropout if self.training else 0.0)

    def spelled_out(self, q, k, v):
        weights = F.dropout(self.weights(q, k), self.dropout, self.training)
        return weights @ v


class SpecialAttention(Attention):
    """Attention with what newer nets do to it.

    out is the features of the output, 0 without a projection; scale says what
    is divided by the root of dim, norm what each head's queries and keys go
    through; softcap bounds scores, sinks add one to each row, talking mixes
    the heads before and after softmax, rotary is what rope rotates of them,
    base and the others how far.
    """

    def __init__(self, channels, heads, out=None, scale="scores", norm=None,
                 norm_all=False, softcap=None, sinks=False, talking=False,
                 rotary=None, base=10000.0, stretch=1.0, trained=None,
                 **options):
        super().__init__(channels, heads, **options)
        self.scale, self.norm, self.softcap = scale, norm, softcap
        self.talking, self.rotary = talking, rotary
        self.norm_all = norm_all
        self.turns = base, stretch, trained
        if out == 0:
            self.out_proj = nn.Identity()
        elif out:
            self.out_proj = nn.Linear(self.dim * heads, out,
                                      bias=self.out_proj.bias is not None)
        if norm:
            sizes = (self.dim, self.dim)
            if norm_all:
                sizes = self.dim * heads, self.dim * self.kv_heads
            self.q_norm, self.k_norm = (norm(size, eps=1e-6)
                                        for size in sizes)
        if talking:
            self.proj_l, self.proj_w = (nn.Linear(heads, heads) for _ in "lw")
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None

    def normed(self, y, norm):
        if not self.norm_all:
            return norm(y)
        y = norm(y.transpose(-3, -2).flatten(-2))
        return y.unflatten(-1, (-1, self.dim)).transpose(-3, -2)

    def turned(self, q, k):
        if self.norm:
            q = self.normed(q, self.q_norm)
            k = self.normed(k, self.k_norm)
        part, passed = self.rotary or self.dim, (q, k)
        if self.rope:
            q, k = (rotate(y[..., :part], *self.turns) for y in passed)
        if self.rotary:
            q, k = (torch.cat([y, x[..., part:]], -1)
                    for y, x in zip((q, k), passed))
        return q / math.sqrt(self.dim) if self.scale == "queries" else q, k

    def attend(self, q, k, v):
        return self.spelled_out(q, k, v)

    def mixed(self, scores, heads):
        return heads(scores.movedim(-3, -1)).movedim(-1, -3)

    def weights(self, q, k):
        scores = q @ k.transpose(-2, -1)
        if self.scale == "scores":
            scores = scores / math.sqrt(self.dim)
        if self.softcap:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        if self.talking:
            scores = self.mixed(scores, self.proj_l)
        scores = self.masked(scores)
        if self.sinks is not None:
            sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)
            scores = torch.cat([scores, sinks], -1)
            scores = scores - scores.max(-1, keepdim=True)[0]
            return scores.softmax(-1)[..., :-1]
        weights = scores.softmax(-1)
        return self.mixed(weights, self.proj_w) if self.talking else weights


class SmallWords(nn.Module):
    """Gives (map, sequence)."""

    def __init__(self):
        super().__init__()
        self.conv = nn.utils.weight_norm(nn.Conv2d(6, 8, 3, padding=1,
                                                   bias=False))
        self.bn = without_bias(nn.BatchNorm2d(8))
        self.dwconv = nn.utils.spectral_norm(nn.Conv2d(8, 8, 3, padding=1,
                                                       groups=8))
        self.deconv1 = nn.utils.weight_norm(nn.ConvTranspose2d(8, 6, (
            4, 3), stride=2, padding=1, groups=2))
        self.deconv2 = nn.utils.spectral_norm(nn.ConvTranspose2d(
            6, 8, 3, bias=False))
        self.prelu1 = nn.PReLU()
        self.gn = without_bias(nn.GroupNorm(2, 8))
        self.instnorm = without_bias(nn.InstanceNorm2d(8, eps=0.001,
                                                       affine=True))
        self.ln1 = without_bias(nn.LayerNorm(8))
        self.attention1 = SpecialAttention(8, 4, kv_heads=2, bias="",
                                           causal=True, rope=True,
                                           norm=RMSNorm, norm_all=True)
        self.attention2 = SpecialAttention(8, 2, norm=nn.LayerNorm,
                                           norm_all=True)
        self.attention3 = Attention(8, 2, window=4)
        self.linear1 = nn.Linear(8, 8)
        self.linear2 = nn.Linear(8, 8)
        self.linear3 = nn.Linear(8, 8)
        self.ln2 = without_bias(nn.LayerNorm(8))
        self.prelu2 = nn.PReLU()

    def forward(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        x = F.relu(self.bn(self.conv(a)), inplace=True)
        x = self.dwconv(x)
        x = self.deconv1(x)
        x = self.prelu1(self.deconv2(x))
        x = self.gn(x)
        x = self.instnorm(x)
        x = self.ln1(x.movedim(1, -1))
        x = F.celu(x, alpha=0.5, inplace=True)
        x = F.softsign(x)
        x = F.hardtanh(x, min_val=-0.5, max_val=2, inplace=True)
        x = torch.sin(x)
        x = torch.cos(x)
        x = F.pad(x.movedim(-1, 1), (2, 2, 1, 1), mode="circular")
        x = F.interpolate(x, scale_factor=2, mode="bicubic")
        x = F.softmax(x, 2)
        x = F.log_softmax(x, 3)
        x = F.softmax(x, 1)
        y = self.attention1(b)
        y = self.attention2(y)
        y = self.attention3(y)
        z = self.linear1(y)
        u = self.linear2(y)
        u = u.permute(0, 2, 1)
        z = z @ u
        z = F.softmax(causal(z), -1)
        y = self.linear3(y)
        y = z @ y
        y = self.ln2(y)
        y = self.prelu2(y)
        y = F.softmax(y, 1)
        return x, y


if __name__ == "__main__":
    net = SmallWords().eval()
    print(sum(p.numel() for p in net.parameters()), "parameters")
    with torch.no_grad():
        out = net(torch.zeros(1, 6, 10, 8), torch.zeros(1, 12, 8))
    for each in out:
        print(tuple(each.shape))
