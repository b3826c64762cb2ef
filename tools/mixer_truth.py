#!/usr/bin/python3
"""Writes tests/data/mixers.csv: parameters of blocks of language models.

Each row has a net in the language, the shape of its output and the number of
parameters of the modules that the class named beside them makes for these
sizes. Needs python3-torch; run by hand when a layer is added:
tools/mixer_truth.py >tests/data/mixers.csv
"""
from torch import empty, nn

STEPS = 5


def row(words, width, *modules, out=None):
    count = sum(p.numel() for module in modules for p in module.parameters())
    print(f'"input {STEPS}x{width}; {words}",{STEPS}x{out or width},{count}')


def values(*sizes):
    return nn.ParameterList([nn.Parameter(empty(*sizes))])


def depthwise(channels, size, bias=False):
    return nn.Conv1d(channels, channels, size, groups=channels, bias=bias)


def mamba2(width, heads, dim, state=128, groups=1, conv=4, conv_bias=True,
           bias=False, norm=True):
    """NemotronHMamba2Mixer of transformers/models/nemotron_h; FalconH1Mixer of
    falcon_h1 without mamba_rms_norm"""
    inner = heads * dim
    mixed = inner + 2 * groups * state
    parts = [nn.Linear(width, inner + mixed + heads, bias=bias),
             depthwise(mixed, conv, conv_bias), nn.Linear(inner, width, bias),
             *(values(heads) for name in ("dt_bias", "A_log", "D"))]
    return parts + [values(inner)] * norm


row("ssm heads=3 dim=8 state=6", 16, *mamba2(16, 3, 8, 6))
row("ssm heads=8 dim=4 groups=2 state=6 conv=3", 16,
    *mamba2(16, 8, 4, 6, 2, conv=3))
row("ssm heads=128 dim=64 groups=8", 4096,  # Nemotron-H 8B
    *mamba2(4096, 128, 64, groups=8))
row("ssm heads=24 dim=64 state=256 norm=off", 1024,  # Falcon-H1 0.5B
    *mamba2(1024, 24, 64, 256, norm=False))
row("ssm heads=4 dim=8 state=6 bias=all", 16, *mamba2(16, 4, 8, 6, bias=True))
row("ssm heads=4 dim=8 state=6 bias=proj", 16,
    *mamba2(16, 4, 8, 6, conv_bias=False, bias=True))
row("ssm heads=4 dim=8 state=6 bias=none", 16,
    *mamba2(16, 4, 8, 6, conv_bias=False))


def latent_experts(width, count, top, hidden, latent):
    """NemotronHMoE of transformers/models/nemotron_h without its shared
    expert; e_score_correction_bias is a bias of the router here"""
    return [nn.Linear(width, count), nn.Linear(width, latent, False),
            nn.Linear(latent, width, False), values(count, hidden, latent),
            values(count, latent, hidden)]


EXPERT = "{ linear %d nobias relu; pow 2; linear %d nobias }"
row("moe experts=4 top=2 latent=12 scores=sigmoid bias " + EXPERT % (20, 12),
    32, *latent_experts(32, 4, 2, 20, 12))
row("moe experts=512 top=22 latent=1024 scores=sigmoid bias "
    + EXPERT % (2688, 1024), 4096,  # Nemotron 3 Super 120B
    *latent_experts(4096, 512, 22, 2688, 1024))
