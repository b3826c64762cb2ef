#!/usr/bin/python3
"""Counts the parameters of a config.json by formulas, without netc.

tools/config_counts.py [CONFIG.json ...]: with files, a line `FILE PARAMETERS`
for each; without, compares tests/data/huggingface/counts.csv with the formulas
and exits with 1 if a row differs. A function for each family follows the
modules of transformers (src/transformers/models/TYPE/modeling_TYPE.py), or, for
what is not there, the code beside the published weights. A router's correction
bias counts, which is a buffer there and a tensor of the files; a frozen table
of tokens and a layer's fixed scalar do not.
"""
import csv
import json
import math
import os
import sys

FOLDER = "tests/data/huggingface"
FAMILIES = {}


def family(*types):
    def add(function):
        FAMILIES.update((name, function) for name in types)
        return function
    return add


class Config:
    """Keys of a config, of its language model first."""

    def __init__(self, data):
        self.data = data
        self.text = data.get("text_config") or data

    def __call__(self, *names, default=None):
        for part in (self.text, self.data):
            for name in names:
                if part.get(name) is not None:
                    return part[name]
        return default

    def layers(self):
        return self("num_hidden_layers")


# Parts


def linear(inputs, outputs, bias=False):
    return inputs * outputs + (outputs if bias else 0)


def swiglu(width, inner):
    return 3 * width * inner


def heads_of(c):
    heads = c("num_attention_heads")
    return heads, c("num_key_value_heads", "num_attention_groups",
                    default=heads), \
        c("head_dim", default=None) or c("hidden_size") // heads


def gqa(width, heads, kv, dim, vdim=None, bias=0, values=True, norms=0):
    """Four projections; bias: of 3 (q, k, v) or 4; norms: their values."""
    vdim = vdim or dim
    count = width * heads * dim + width * kv * dim + heads * vdim * width
    count += width * kv * vdim if values else 0
    count += (heads * dim + kv * dim + kv * vdim) if bias >= 3 else 0
    return count + (width if bias == 4 else 0) + norms


def mla(c):
    width, heads = c("hidden_size"), c("num_attention_heads")
    nope, rope, v = c("qk_nope_head_dim"), c("qk_rope_head_dim"), \
        c("v_head_dim")
    latent, low = c("kv_lora_rank"), c("q_lora_rank")
    queries = heads * (nope + rope)
    count = width * low + low + low * queries if low else width * queries
    count += width * (latent + rope) + latent
    return count + latent * heads * (nope + v) + heads * v * width


def indexer(c):
    """DeepSeek-V3.2: wq_b, wk, k_norm with a bias, weights_proj."""
    heads, dim = c("index_n_heads"), c("index_head_dim")
    return (c("q_lora_rank") * heads * dim + c("hidden_size") * dim + 2 * dim
            + c("hidden_size") * heads)


def moe(width, experts, inner, shared=0, bias=False):
    count = width * experts + experts * swiglu(width, inner)
    return count + swiglu(width, shared) + (experts if bias else 0)


def delta_net(width, heads, key_heads, dim, vdim, kernel):
    """Qwen3-Next: q, k, v, z, b, a; convolution, A_log, dt_bias, norm, out."""
    keys, values = key_heads * dim, heads * vdim
    count = width * (2 * keys + 2 * values) + 2 * width * heads
    count += kernel * (2 * keys + values) + 2 * heads + vdim
    return count + values * width


def kimi_delta(width, heads, dim, kernel, full_gate):
    """q, k, v and their convolutions; decay, beta, gate, norm, out."""
    inner = heads * dim
    count = 3 * width * inner + 3 * kernel * inner + width * heads
    count += width * dim + dim * inner + heads + inner
    count += width * inner if full_gate else width * dim + dim * inner
    return count + dim + inner * width


def mamba2(width, heads, dim, state, groups, kernel, bias=True, norm=True):
    inner = heads * dim
    channels = inner + 2 * groups * state
    count = width * (inner + channels + heads) + kernel * channels
    count += (channels if bias else 0) + 3 * heads + (inner if norm else 0)
    return count + inner * width


def ends(c, tied):
    """Embedding, last norm, and output."""
    table = c("vocab_size") * c("hidden_size")
    return table * (1 if tied else 2) + c("hidden_size")


# Families


# Dense nets: projections with a bias, and what a layer has beside its matrices
# and two norms, by its width, heads, heads of keys, and their size.
DENSE = {
    "smollm3": (0, None), "ernie4_5": (0, None), "helium": (0, None),
    "cwm": (0, None), "ministral": (0, None), "ministral3": (0, None),
    "internlm2": (0, None), "vaultgemma": (0, None), "arcee": (0, None),
    "mimo": (3, None), "seed_oss": (3, None), "glm": (3, None),
    "glm4": (3, lambda width, heads, kv, dim: 2 * width),
    "olmo3": (0, lambda width, heads, kv, dim: (heads + kv) * dim),
    "exaone4": (0, lambda width, heads, kv, dim: 2 * dim),
    "hunyuan_v1_dense": (0, lambda width, heads, kv, dim: 2 * dim),
    # Two scalars of xIELU.
    "apertus": (0, lambda width, heads, kv, dim: 2 * dim + 2),
}


@family(*DENSE)
def dense(c):
    kind, width = c.data["model_type"], c("hidden_size")
    bias, more = DENSE[kind]
    sizes = heads_of(c)
    matrices = 2 if kind in ("arcee", "apertus") else 3
    layer = gqa(width, *sizes, bias=bias,
                norms=more(width, *sizes) if more else 0)
    layer += matrices * width * c("intermediate_size") + 2 * width
    tied = c("tie_word_embeddings", default=kind in ("smollm3", "ernie4_5"))
    return c.layers() * layer + ends(c, tied)


@family("cohere2")
def cohere2(c):
    """One norm, without a bias, for both branches."""
    width = c("hidden_size")
    layer = gqa(width, *heads_of(c)) + width
    layer += swiglu(width, c("intermediate_size"))
    return c.layers() * layer + ends(c, True)


@family("mistral3")
def mistral3(c):
    width, vision = c("hidden_size"), c.data["vision_config"]
    v, inner = vision["hidden_size"], vision["intermediate_size"]
    heads, kv, dim = heads_of(c)
    layer = gqa(width, heads, kv, dim) + 2 * width
    layer += swiglu(width, c("intermediate_size"))
    tower = vision["patch_size"] ** 2 * 3 * v + v
    tower += vision["num_hidden_layers"] * (4 * v * v + 3 * v * inner + 2 * v)
    merge = c.data["spatial_merge_size"] ** 2
    projector = v + merge * v * v + v * width + width * width
    return c.layers() * layer + ends(c, False) + tower + projector


@family("glm4_moe", "minimax_m2", "hunyuan_v1_moe", "ernie4_5_moe",
        "step3p7", "step3p5", "mimo_v2_flash", "gpt_oss", "minimax_m3",
        "minimax_m3_vl", "dots1", "olmoe", "flex_olmo", "granitemoe",
        "solar_open", "bailing_moe", "exaone_moe", "afmoe")
def experts(c):
    kind, width = c.data["model_type"], c("hidden_size")
    total = 0
    for i in range(c.layers()):
        total += 2 * width + ATTENTIONS[kind](c, i) + FEEDS[kind](c, i)
    tied = c("tie_word_embeddings", default=kind == "ernie4_5_moe")
    tower = minimax_tower(c) if "vision_config" in c.data else 0
    return total + ends(c, tied) + tower


def headed(c, i, bias=0, norms=0):
    heads, kv, dim = heads_of(c)
    return gqa(c("hidden_size"), heads, kv, dim, bias=bias, norms=norms)


def step_attention(c, i):
    other = c("attention_other_setting", default={})
    heads, kv, dim = heads_of(c)
    if c("layer_types")[i] == "sliding_attention":
        heads = other.get("num_attention_heads", 96)
        kv = other.get("num_attention_groups", kv)
    width = c("hidden_size")
    return gqa(width, heads, kv, dim, norms=2 * dim) + width * heads


def mimo_attention(c, i):
    window = c("hybrid_layer_pattern")[i]
    heads, kv, dim, vdim = (
        c(("swa_" if window else "") + name) for name in
        ("num_attention_heads", "num_key_value_heads", "head_dim",
         "v_head_dim"))
    sinks = heads if window else 0
    return gqa(c("hidden_size"), heads, kv, dim, vdim) + sinks


def minimax_m3_attention(c, i):
    dim = c("head_dim")
    count = headed(c, i, norms=2 * dim)
    sparse = c("sparse_attention_config")
    if sparse["sparse_attention_freq"][i]:
        index = sparse["sparse_index_dim"]
        count += c("hidden_size") * index * (
            sparse["sparse_num_index_heads"] + 1) + 2 * index
    return count


ATTENTIONS = {
    "glm4_moe": lambda c, i: headed(
        c, i, bias=3, norms=2 * c("head_dim") if c("use_qk_norm") else 0),
    "minimax_m2": lambda c, i: headed(
        c, i, norms=sum(heads_of(c)[:2]) * c("head_dim")),
    "hunyuan_v1_moe": lambda c, i: headed(c, i, norms=2 * c("head_dim")),
    "ernie4_5_moe": headed,
    "olmoe": lambda c, i: headed(
        c, i, norms=sum(heads_of(c)[:2]) * heads_of(c)[2]),
    "granitemoe": headed, "solar_open": headed,
    "bailing_moe": lambda c, i: headed(
        c, i, norms=2 * heads_of(c)[2] if c("use_qk_norm") else 0),
    "exaone_moe": lambda c, i: headed(c, i, norms=2 * heads_of(c)[2]),
    # A gate as large as the queries, and norms behind both branches.
    "afmoe": lambda c, i: headed(
        c, i, norms=2 * heads_of(c)[2] + 2 * c("hidden_size")
        + c("hidden_size") * heads_of(c)[0] * heads_of(c)[2]),
    "dots1": lambda c, i: headed(c, i, norms=2 * heads_of(c)[2]),
    "gpt_oss": lambda c, i: headed(c, i, bias=4,
                                   norms=c("num_attention_heads")),
    "step3p5": step_attention, "step3p7": step_attention,
    "mimo_v2_flash": mimo_attention,
    "minimax_m3": minimax_m3_attention,
    "minimax_m3_vl": minimax_m3_attention,
}


def feed(c, sparse, experts, inner, shared, dense_inner, bias):
    width = c("hidden_size")
    return moe(width, experts, inner, shared, bias) if sparse \
        else swiglu(width, dense_inner)


def gpt_oss_feed(c, i):
    """All matrices have biases, as has the router."""
    width, inner = c("hidden_size"), c("intermediate_size")
    one = 3 * width * inner + 2 * inner + width
    return c("num_local_experts") * (one + width + 1)


FEEDS = {
    "dots1": lambda c, i: FEEDS["glm4_moe"](c, i),
    "glm4_moe": lambda c, i: feed(
        c, i >= c("first_k_dense_replace"), c("n_routed_experts"),
        c("moe_intermediate_size"),
        c("n_shared_experts") * c("moe_intermediate_size"),
        c("intermediate_size"), True),
    "minimax_m2": lambda c, i: feed(
        c, True, c("num_local_experts"), c("intermediate_size"), 0, 0, True),
    "olmoe": lambda c, i: feed(
        c, True, c("num_experts"), c("intermediate_size"), 0, 0, False),
    "granitemoe": lambda c, i: feed(
        c, True, c("num_local_experts"), c("intermediate_size"), 0, 0, False),
    "afmoe": lambda c, i: feed(
        c, i >= c("num_dense_layers", "first_k_dense_replace", default=0),
        c("num_experts", "n_routed_experts"), c("moe_intermediate_size"),
        c("num_shared_experts", "n_shared_experts")
        * c("moe_intermediate_size"), c("intermediate_size"), True),
    "hunyuan_v1_moe": lambda c, i: feed(
        c, True, c("num_experts"), c("moe_intermediate_size")[i],
        c("intermediate_size") * c("num_shared_expert")[i], 0, False),
    "ernie4_5_moe": lambda c, i: feed(
        c, i >= c("moe_layer_start_index"), c("moe_num_experts"),
        c("moe_intermediate_size"),
        c("moe_num_shared_experts") * c("moe_intermediate_size"),
        c("intermediate_size"), True),
    "step3p5": lambda c, i: feed(
        c, str(i) in c("moe_layers_enum").split(","), c("moe_num_experts"),
        c("moe_intermediate_size"), c("share_expert_dim"),
        c("intermediate_size"), True),
    "step3p7": lambda c, i: feed(
        c, i >= c("first_k_dense_replace"), c("num_experts"),
        c("moe_intermediate_size"), c("share_expert_dim"),
        c("intermediate_size"), True),
    "mimo_v2_flash": lambda c, i: feed(
        c, c("moe_layer_freq")[i], c("n_routed_experts"),
        c("moe_intermediate_size"), 0, c("intermediate_size"), True),
    "gpt_oss": gpt_oss_feed,
    "minimax_m3": lambda c, i: feed(
        c, c("moe_layer_freq")[i], c("num_local_experts"),
        c("intermediate_size"), c("shared_intermediate_size"),
        c("dense_intermediate_size"), True),
}
FEEDS["minimax_m3_vl"] = FEEDS["minimax_m3"]
FEEDS["flex_olmo"] = FEEDS["olmoe"]
FEEDS["solar_open"] = FEEDS["bailing_moe"] = FEEDS["exaone_moe"] = \
    FEEDS["afmoe"]
ATTENTIONS["flex_olmo"] = ATTENTIONS["olmoe"]


def minimax_tower(c):
    """CLIP's layers with a norm before them; two products, and two of four
    patches."""
    v, width = c.data["vision_config"], c("hidden_size")
    wide, inner = v["hidden_size"], v["intermediate_size"]
    frames = v["img_token_compression_config"]["temporal_patch_size"]
    merge = v["img_token_compression_config"]["spatial_merge_size"] ** 2
    between = c.data["projector_hidden_size"]
    layer = 4 * linear(wide, wide, True) + 4 * wide
    layer += linear(wide, inner, True) + linear(inner, wide, True)
    count = 3 * frames * v["patch_size"] ** 2 * wide + 2 * wide
    count += v["num_hidden_layers"] * layer
    count += linear(wide, between, True) + 2 * linear(between, width, True)
    return count + linear(merge * width, between, True)


@family("youtu")
def youtu(c):
    layer = mla(c) + 2 * c("hidden_size")
    layer += swiglu(c("hidden_size"), c("intermediate_size"))
    return c.layers() * layer + ends(c, True)


@family("deepseek_v3", "deepseek_v32", "glm_moe_dsa", "kimi_k2", "kimi_k25",
        "glm4_moe_lite")
def latent(c):
    width, inner = c("hidden_size"), c("moe_intermediate_size")
    kinds = c("indexer_types", default=["full"] * c.layers())
    total = 0
    for i in range(c.layers()):
        total += mla(c) + 2 * width
        total += indexer(c) if c("index_n_heads") and kinds[i] == "full" else 0
        if i < c("first_k_dense_replace"):
            total += swiglu(width, c("intermediate_size"))
        else:
            total += moe(width, c("n_routed_experts"), inner,
                         c("n_shared_experts") * inner, True)
    return total + ends(c, False) + (
        kimi_tower(c) if "vision_config" in c.data else 0)


def kimi_tower(c):
    """MoonViT with biases; norm and two products of four patches."""
    v = c.data["vision_config"]
    wide, inner = v["vt_hidden_size"], v["vt_intermediate_size"]
    merge = v["merge_kernel_size"][0] * v["merge_kernel_size"][1] * wide
    layer = 4 * linear(wide, wide, True) + 4 * wide
    layer += linear(wide, inner, True) + linear(inner, wide, True)
    count = linear(3 * v["patch_size"] ** 2, wide, True)
    count += v["init_pos_emb_height"] * v["init_pos_emb_width"] * wide
    count += v["vt_num_hidden_layers"] * layer + 4 * wide
    return count + linear(merge, merge, True) + linear(
        merge, c("hidden_size"), True)


@family("kimi_linear", "kimi_k3")
def kimi_linear(c):
    width, inner = c("hidden_size"), c("moe_intermediate_size")
    cells = c("linear_attn_config")
    work = c("routed_expert_hidden_size", default=width)
    residual = 4 * width if c("attn_res_block_size") else 0
    total = residual // 2
    for i in range(c.layers()):
        total += 2 * width + residual
        if i + 1 in cells["full_attn_layers"]:
            total += mla(c)
            if c("mla_use_output_gate"):
                total += width * c("num_attention_heads") * c("v_head_dim")
        else:
            total += kimi_delta(width, cells["num_heads"], cells["head_dim"],
                                cells["short_conv_kernel_size"],
                                cells.get("use_full_rank_gate", False))
        if i < c("first_k_dense_replace"):
            total += swiglu(width, c("intermediate_size"))
            continue
        total += (width + 1) * c("num_experts") + c("num_experts") * swiglu(
            work, inner) + swiglu(width, c("num_shared_experts") * inner)
        if work != width:
            total += 2 * width * work
            total += work if c("latent_moe_use_norm") else 0
    return total + ends(c, False) + (
        kimi_k3_tower(c) if "vision_config" in c.data else 0)


def kimi_k3_tower(c):
    v, width = c.data["vision_config"], c("hidden_size")
    wide, inner = v["vt_hidden_size"], v["vt_intermediate_size"]
    merge = v["merge_kernel_size"][0] * v["merge_kernel_size"][1] * wide
    layer = 4 * wide * v["qkv_hidden_size"] + 2 * wide * inner + 2 * wide
    count = 3 * v["patch_size"] ** 2 * wide
    count += v["init_pos_emb_height"] * v["init_pos_emb_width"] * wide
    count += v["vt_num_hidden_layers"] * layer + wide
    return count + merge * merge + merge * width + width


@family("deepseek_v4", "deepseek_ref")
def deepseek_v4(c):
    width, heads, dim = c("hidden_size"), c("num_attention_heads"), \
        c("head_dim")
    low, groups, rank = c("q_lora_rank"), c("o_groups"), c("o_lora_rank")
    streams = c("hc_mult")
    mixes = (2 + streams) * streams
    hyper = mixes * streams * width + mixes + 3
    index, index_heads = c("index_head_dim"), c("index_n_heads")

    def compressor(size, rate, parts):
        return 2 * width * parts * size + rate * parts * size + size

    total = streams * (streams * width + 1) + 1
    for i in range(c.layers()):
        ratio = c("compress_ratios")[i]
        total += 2 * hyper + 2 * width + width * low + low + low * heads * dim
        total += width * dim + dim + heads
        total += heads * dim * rank + groups * rank * width
        if ratio == 128:
            total += compressor(dim, ratio, 1)
        elif ratio:
            total += compressor(dim, ratio, 2) + compressor(index, ratio, 2)
            total += low * index_heads * index + width * index_heads
        inner = c("moe_intermediate_size")
        total += moe(width, c("n_routed_experts"), inner,
                     c("n_shared_experts") * inner,
                     i >= c("num_hash_layers"))
    return total + ends(c, False)


@family("WanTransformer3DModel")
def wan(c):
    """transformer_wan.py of diffusers, in which all layers have biases"""
    width = c("num_attention_heads") * c("attention_head_dim")
    image, patch = c("image_dim"), math.prod(c("patch_size"))

    def dense(inputs, outputs):
        return linear(inputs, outputs, True)

    block = 2 * (4 * dense(width, width) + 2 * width) + 2 * width + 6 * width
    block += dense(width, c("ffn_dim")) + dense(c("ffn_dim"), width)
    total = dense(c("in_channels") * patch, width) + 2 * width
    total += dense(width, c("out_channels") * patch)
    total += dense(c("freq_dim"), width) + dense(width, 6 * width)
    total += dense(c("text_dim"), width) + 2 * dense(width, width)
    if image:  # its keys and values, with a norm, and WanImageEmbedding
        block += 2 * dense(c("added_kv_proj_dim"), width) + width
        total += dense(image, image) + dense(image, width)
        total += 2 * image + 2 * width
    return total + c("num_layers") * block


@family("gemma3")
def gemma3(c):
    """Siglip's tower has biases; its patches are averaged."""
    width, v = c("hidden_size"), c.data["vision_config"]
    heads, kv, dim = c("num_attention_heads", default=8), \
        c("num_key_value_heads", default=4), c("head_dim", default=256)
    layer = gqa(width, heads, kv, dim, norms=2 * dim) + 4 * width
    layer += swiglu(width, c("intermediate_size"))
    wide, inner = v["hidden_size"], v["intermediate_size"]
    see = 4 * linear(wide, wide, True) + 4 * wide
    see += linear(wide, inner, True) + linear(inner, wide, True)
    tower = linear(3 * v["patch_size"] ** 2, wide, True)
    tower += (v["image_size"] // v["patch_size"]) ** 2 * wide + 2 * wide
    tower += v["num_hidden_layers"] * see + wide + wide * width
    table = c("vocab_size", default=262208) * width
    return c.layers() * layer + table + width + tower


@family("gemma4")
def gemma4(c):
    width, heads, wide = c("hidden_size"), c("num_attention_heads"), \
        c("intermediate_size")
    """Without the tower for sounds; shared layers keep the keys' matrices."""
    own, layers = c("hidden_size_per_layer_input"), c.layers()
    total = 0
    if own:
        total = layers * own * (c("vocab_size_per_layer_input") + width) + own
    for i, kind in enumerate(c("layer_types")):
        full = kind == "full_attention"
        last = i >= layers - c("num_kv_shared_layers")
        dim = c("global_head_dim") if full else c("head_dim")
        kv = c("num_global_key_value_heads") if full else None
        total += gqa(width, heads, kv or c("num_key_value_heads"), dim,
                     values=not (full and c("attention_k_eq_v")),
                     norms=2 * dim)
        twice = 2 if last and c("use_double_wide_mlp") else 1
        total += swiglu(width, twice * wide) + 4 * width
        if own:
            total += 2 * width * own + width
        if c("enable_moe_block"):
            total += moe(width, c("num_experts"), c("moe_intermediate_size"))
            total += 4 * width + c("num_experts")
    v = c.data["vision_config"]
    size = v["hidden_size"]
    inner = v["num_attention_heads"] * v["head_dim"]
    layer = 4 * size * inner + 2 * v["head_dim"] + 4 * size
    layer += swiglu(size, v["intermediate_size"])
    total += v["num_hidden_layers"] * layer + size * width
    total += 3 * v["patch_size"] ** 2 * size
    total += 2 * v["position_embedding_size"] * size
    return total + ends(c, True)


@family("gemma3n")
def gemma3n(c):
    """The language model; shared layers keep the keys' matrices."""
    width, n, own = c("hidden_size"), c("altup_num_inputs"), \
        c("hidden_size_per_layer_input")
    heads, kv, dim = heads_of(c)
    layers, low = c.layers(), c("laurel_rank")
    total = layers * own * (c("vocab_size_per_layer_input") + width) + own
    total += 2 * (n - 1) * width * width
    for inner in c("intermediate_size"):
        total += gqa(width, heads, kv, dim, norms=2 * dim) + 4 * width
        total += swiglu(width, inner) + 2 * low * width + width
        total += n * n + n ** 3 + n * width + 2 * width
        total += 2 * width * own + width
    return total + ends(c, True)


@family("nemotron-nas")
def nemotron_nas(c):
    width, heads = c("hidden_size"), c("num_attention_heads")
    total = 0
    for block in c("block_configs"):
        attention, ffn = block["attention"], block["ffn"]
        if not attention["no_op"]:
            kv = heads // attention["n_heads_in_group"]
            total += gqa(width, heads, kv, width // heads) + width
        if not ffn["no_op"]:
            inner = int(2 * ffn["ffn_mult"] * width / 3)
            total += swiglu(width, -(-inner // 256) * 256) + width
    return total + ends(c, False)


@family("qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen3_vl", "qwen3_vl_moe")
def qwen(c):
    kind, width = c.data["model_type"], c("hidden_size")
    heads, kv, dim = heads_of(c)
    gated = kind in ("qwen3_next", "qwen3_5", "qwen3_5_moe")
    every = c("full_attention_interval", default=1)
    total = 0
    for i in range(c.layers()):
        total += 2 * width
        if (i + 1) % every:
            total += delta_net(
                width, c("linear_num_value_heads"), c("linear_num_key_heads"),
                c("linear_key_head_dim"), c("linear_value_head_dim"),
                c("linear_conv_kernel_dim"))
        else:
            total += gqa(width, heads, kv, dim, norms=2 * dim)
            total += width * heads * dim if gated else 0
        if c("num_experts"):
            shared = c("shared_expert_intermediate_size", default=0)
            total += moe(width, c("num_experts"), c("moe_intermediate_size"),
                         shared) + (width if shared else 0)
        else:
            total += swiglu(width, c("intermediate_size"))
    tied = c("tie_word_embeddings", default=False)
    return total + ends(c, tied) + (
        qwen_tower(c) if "vision_config" in c.data else 0)


def qwen_tower(c):
    v = c.data["vision_config"]
    wide, inner = v["hidden_size"], v["intermediate_size"]
    merged = wide * v["spatial_merge_size"] ** 2
    layer = 4 * linear(wide, wide, True) + 4 * wide
    layer += linear(wide, inner, True) + linear(inner, wide, True)
    deep = len(v.get("deepstack_visual_indexes") or [])
    mergers = linear(merged, merged, True) + linear(
        merged, c("hidden_size"), True)
    count = linear(3 * v["temporal_patch_size"] * v["patch_size"] ** 2, wide,
                   True) + v["num_position_embeddings"] * wide
    count += v["depth"] * layer + 2 * wide + mergers
    return count + deep * (2 * merged + mergers)


@family("llama4")
def llama4(c):
    """The language model."""
    width = c("hidden_size")
    heads, kv, dim = heads_of(c)
    step = c("interleave_moe_layer_step", default=1)
    sparse = c("moe_layers", default=[
        i for i in range(c.layers()) if (i + 1) % step == 0])
    total = 0
    for i in range(c.layers()):
        total += gqa(width, heads, kv, dim) + 2 * width
        total += moe(width, c("num_local_experts"), c("intermediate_size"),
                     c("intermediate_size")) if i in sparse else swiglu(
                         width, c("intermediate_size_mlp"))
    return total + ends(c, False)


@family("nemotron_h")
def nemotron_h(c):
    """A block for each letter: Mamba 2, attention, dense or experts."""
    width = c("hidden_size")
    heads, kv, dim = heads_of(c)
    work = c("moe_latent_size", default=width)
    total = 0
    for letter in c("hybrid_override_pattern"):
        total += width
        if letter == "M":
            total += mamba2(width, c("mamba_num_heads"), c("mamba_head_dim"),
                            c("ssm_state_size"), c("n_groups"),
                            c("conv_kernel"))
        elif letter == "*":
            total += gqa(width, heads, kv, dim)
        elif letter == "-":
            total += 2 * width * c("intermediate_size")
        else:
            total += c("n_routed_experts") * (
                2 * work * c("moe_intermediate_size") + width + 1)
            total += 2 * width * c("moe_shared_expert_intermediate_size")
            total += 2 * width * work if work != width else 0
    return total + ends(c, False)


@family("granitemoehybrid")
def granite_hybrid(c):
    width = c("hidden_size")
    heads, kv, dim = heads_of(c)
    total = 0
    for kind in c("layer_types"):
        total += 2 * width + swiglu(width, c("shared_intermediate_size"))
        total += gqa(width, heads, kv, dim) if kind == "attention" else mamba2(
            width, c("mamba_n_heads"), c("mamba_d_head"), c("mamba_d_state"),
            c("mamba_n_groups"), c("mamba_d_conv"))
        total += moe(width, c("num_local_experts"), c("intermediate_size"))
    return total + ends(c, c("tie_word_embeddings"))


@family("bamba")
def bamba(c):
    width = c("hidden_size")
    layer = 2 * width + swiglu(width, c("intermediate_size"))
    full = c("attn_layer_indices")
    mamba = mamba2(width, c("mamba_n_heads"), c("mamba_d_head"),
                   c("mamba_d_state"), c("mamba_n_groups"), c("mamba_d_conv"))
    return c.layers() * layer + len(full) * gqa(width, *heads_of(c)) + (
        c.layers() - len(full)) * mamba + ends(c, False)


@family("falcon_h1")
def falcon_h1(c):
    width = c("hidden_size")
    heads, kv, dim = heads_of(c)
    layer = gqa(width, heads, kv, dim) + 2 * width
    layer += swiglu(width, c("intermediate_size"))
    layer += mamba2(width, c("mamba_n_heads"), c("mamba_d_head"),
                    c("mamba_d_state"), c("mamba_n_groups"),
                    c("mamba_d_conv"), norm=c("mamba_rms_norm"))
    return c.layers() * layer + ends(c, c("tie_word_embeddings"))


@family("lfm2", "lfm2_moe")
def lfm2(c):
    width = c("hidden_size")
    heads, kv, dim = heads_of(c)
    inner = c("block_ff_dim", "intermediate_size")
    if c("block_auto_adjust_ff_dim", default=False):
        part = c("block_multiple_of")
        inner = int(c("block_ffn_dim_multiplier") * (2 * inner // 3))
        inner = -(-inner // part) * part
    full = c("full_attn_idxs") or [
        i for i, kind in enumerate(c("layer_types")) if kind != "conv"]
    total = 0
    for i in range(c.layers()):
        total += 2 * width
        total += gqa(width, heads, kv, dim, norms=2 * dim) if i in full \
            else 4 * width * width + c("conv_L_cache") * width
        sparse = i >= c("num_dense_layers", default=c.layers())
        total += moe(width, c("num_experts"), c("moe_intermediate_size"),
                     bias=True) if sparse else swiglu(width, inner)
    return total + ends(c, True)


def count(path):
    with open(path) as file:
        c = Config(json.load(file))
    return FAMILIES[c.data.get("model_type") or c.data["_class_name"]](c)


def compare():
    wrong = 0
    with open(os.path.join(FOLDER, "counts.csv")) as file:
        for row in csv.reader(line for line in file if line[0] != "#"):
            path = os.path.join(FOLDER, row[0])
            ours = count(path + "/config.json" if os.path.isdir(path)
                         else path + ".json")
            if ours != int(row[1]):
                print(f"{row[0]}: {ours} by formula, not {row[1]}")
                wrong += 1
    return wrong


def main():
    for path in sys.argv[1:]:
        print(path, count(path))
    sys.exit(len(sys.argv) == 1 and compare() > 0)


if __name__ == "__main__":
    main()
