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


def gated_delta(width, heads, kheads, dim, vdim, conv=4, packed=False):
    """Qwen3NextGatedDeltaNet of transformers/models/qwen3_next; not packed,
    Qwen3_5GatedDeltaNet of qwen3_5"""
    key, value = kheads * dim, heads * vdim
    outs = ((2 * key + 2 * value, 2 * heads) if packed else
            (2 * key + value, value, heads, heads))
    return [*(nn.Linear(width, out, bias=False) for out in outs),
            depthwise(2 * key + value, conv), values(heads), values(heads),
            values(vdim), nn.Linear(value, width, bias=False)]


def kimi_delta(width, heads, dim, conv=4, full=False):
    """KimiDeltaAttention of moonshotai/Kimi-Linear-48B-A3B-Instruct
    modeling_kimi.py; full: use_full_rank_gate"""
    inner = heads * dim
    gate = [(width, inner)] if full else [(width, dim), (dim, inner)]
    return [*(nn.Linear(width, inner, bias=False) for part in "qkv"),
            *(depthwise(inner, conv) for part in "qkv"), values(heads),
            values(inner), values(dim), nn.Linear(inner, width, bias=False),
            *(nn.Linear(*sizes, bias=False) for sizes in
              [(width, dim), (dim, inner), (width, heads), *gate])]


def attention(width, heads, kv, dim, vdim=None, gate=None, has_values=True,
              norm=False):
    """Qwen3NextAttention (gate=channels) and Gemma4TextAttention
    (has_values=False) of transformers/models; Step3p5Attention of
    stepfun-ai/Step-3.5-Flash (gate=heads), MiMoV2Attention of
    XiaomiMiMo/MiMo-V2-Flash (vdim)"""
    vdim = vdim or dim
    outs = [heads * dim * (2 if gate == "channels" else 1), kv * dim,
            *[kv * vdim] * has_values, *[heads] * (gate == "heads")]
    return [*(nn.Linear(width, out, bias=False) for out in outs),
            nn.Linear(heads * vdim, width, bias=False),
            *(values(dim) for _ in range(2 * norm))]


for words, packed in (" packed", True), ("", False):
    row("deltanet 4 kheads=2 dim=6 vdim=5" + words, 24,
        *gated_delta(24, 4, 2, 6, 5, packed=packed))
row("deltanet 3 dim=8 conv=2", 16, *gated_delta(16, 3, 3, 8, 8, conv=2))
row("deltanet 32 kheads=16 dim=128 packed", 2048,  # Qwen3-Next 80B-A3B
    *gated_delta(2048, 32, 16, 128, 128, packed=True))
row("deltanet 32 kheads=16 dim=128", 4096,  # Qwen3.5 9B
    *gated_delta(4096, 32, 16, 128, 128))
row("deltanet 32 dim=128 decay=channels", 2304,  # Kimi Linear 48B-A3B
    *kimi_delta(2304, 32, 128))
row("deltanet 3 dim=8 conv=3 decay=channels gate=full", 16,
    *kimi_delta(16, 3, 8, 3, True))

row("attention 16 kv=2 dim=256 causal rope rotary=64 nobias qknorm "
    "gate=channels", 2048,  # Qwen3-Next 80B-A3B
    *attention(2048, 16, 2, 256, gate="channels", norm=True))
row("attention 64 kv=8 dim=128 causal rope nobias qknorm gate=heads", 4096,
    *attention(4096, 64, 8, 128, gate="heads", norm=True))  # Step 3.5 Flash
row("attention 64 kv=4 dim=192 vdim=128 causal rope rotary=64 nobias", 4096,
    *attention(4096, 64, 4, 192, 128))  # MiMo-V2-Flash, its full attention
row("attention 32 kv=4 dim=512 novalues vnorm causal rope nobias qknorm "
    "scale=none", 5376,  # Gemma 4 31B, its full attention
    *attention(5376, 32, 4, 512, has_values=False, norm=True))


def latent_attention(width, heads, latent, rope, dim, vdim, qlatent, index=0,
                     index_dim=128):
    """DeepseekV32Attention of transformers/models/deepseek_v32 and
    GlmMoeDsaAttention of glm_moe_dsa; without index, DeepseekV3Attention"""
    matrices = [(width, qlatent), (qlatent, heads * (dim + rope)),
                (width, latent + rope), (latent, heads * (dim + vdim)),
                (heads * vdim, width)]
    if index:
        matrices += [(qlatent, index * index_dim), (width, index_dim),
                     (width, index)]
    return [*(nn.Linear(*sizes, bias=False) for sizes in matrices),
            values(qlatent), values(latent),
            *[nn.LayerNorm(index_dim)] * (index > 0)]


row("mla 4 latent=8 rope=4 dim=6 vdim=5 qlatent=10 index=3 indexdim=7 causal",
    16, *latent_attention(16, 4, 8, 4, 6, 5, 10, 3, 7))
row("mla 128 latent=512 rope=64 dim=128 vdim=128 qlatent=1536 index=64 causal",
    7168,  # DeepSeek-V3.2
    *latent_attention(7168, 128, 512, 64, 128, 128, 1536, 64))
row("mla 64 latent=512 rope=64 dim=192 vdim=256 qlatent=2048 index=32 causal",
    6144,  # GLM-5
    *latent_attention(6144, 64, 512, 64, 192, 256, 2048, 32))
row("mla 64 latent=512 rope=64 dim=192 vdim=256 qlatent=2048 indextop=2048 "
    "causal", 6144,  # GLM-5, a layer that shares the indexer before it
    *latent_attention(6144, 64, 512, 64, 192, 256, 2048))
