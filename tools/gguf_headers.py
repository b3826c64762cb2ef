#!/usr/bin/env python3
"""Writes tests/data/huggingface/gguf/blocks: small models of several types,
each as a config.json and as the header of the GGUF that llama.cpp's
convert_hf_to_gguf.py would make of it. Names and shapes are those of llama.cpp
(gguf-py/gguf/constants.py, gguf-py/gguf/tensor_mapping.py, src/models); the
configs are those of tests/data/huggingface with fewer layers, words and
experts.

    tools/gguf_headers.py
"""
import json
import pathlib
import struct

DATA = pathlib.Path(__file__).parent.parent / "tests/data/huggingface"
FOLDER = DATA / "gguf/blocks"
WORDS, EXPERTS = 512, 8
EXPERT_KEYS = ["num_experts", "num_local_experts", "n_routed_experts",
               "moe_num_experts"]


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def packed(value):
    """Type and bytes of a key's value."""
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    if isinstance(value, str):
        return 8, text(value)
    kind = packed(value[0])[0]
    return 9, struct.pack("<IQ", kind, len(value)) + b"".join(
        packed(item)[1] for item in value)


class Gguf:
    """A header: keys, and tensors with PyTorch's shapes."""

    def __init__(self, architecture):
        self.architecture = architecture
        self.keys = {"general.architecture": architecture,
                     "general.type": "model", "general.file_type": 1}
        self.tensors = {}

    def key(self, name, value):
        if value is not None:
            self.keys[f"{self.architecture}.{name}"] = value

    def add(self, name, *shape):
        end = name.rsplit(".", 1)[-1]
        kinds = "weight", "bias", "scale"
        self.tensors[name + ("" if end in kinds else ".weight")] = shape

    def bytes_of(self, names, more):
        keys = dict(self.keys, **more)
        out = b"GGUF" + struct.pack("<IQQ", 3, len(names), len(keys))
        for key, value in keys.items():
            kind, raw = packed(value)
            out += text(key) + struct.pack("<I", kind) + raw
        offset = 0
        for name in names:
            shape, vector = self.tensors[name], len(self.tensors[name]) == 1
            size = 4 if vector else 2
            for n in shape:
                size *= n
            out += text(name) + struct.pack("<I", len(shape))
            out += b"".join(struct.pack("<Q", n) for n in reversed(shape))
            out += struct.pack("<IQ", 0 if vector else 1, offset)
            offset += -(-size // 32) * 32
        return out

    def write(self, path):
        path.write_bytes(self.bytes_of(list(self.tensors), {}))

    def write_parts(self, stem, count):
        """As llama-gguf-split does: keys are in the first part alone."""
        names = list(self.tensors)
        each = -(-len(names) // count)
        keys = self.keys
        for i in range(count):
            self.keys = keys if i == 0 else {}
            path = f"{stem}-{i + 1:05}-of-{count:05}.gguf"
            (FOLDER / path).write_bytes(self.bytes_of(
                names[i * each:(i + 1) * each],
                {"split.no": i, "split.count": count,
                 "split.tensors.count": len(names)}))
        self.keys = keys


def shrink(config, layers):
    """The config with its first layers only."""
    inner = config.get("text_config", config)
    before = inner["num_hidden_layers"]
    for key, value in inner.items():
        if isinstance(value, list) and len(value) >= before:
            inner[key] = value[:layers]
    inner["num_hidden_layers"] = layers
    inner["vocab_size"] = WORDS
    for key in EXPERT_KEYS:
        if inner.get(key):
            inner[key] = EXPERTS
    for key in "num_experts_per_tok", "num_experts_per_token":
        if isinstance(inner.get(key), int) and inner[key] > EXPERTS:
            inner[key] = 2
    if "hybrid_override_pattern" in inner:
        inner["hybrid_override_pattern"] = \
            inner["hybrid_override_pattern"][:layers]
    for key in "vision_config", "audio_config":
        config.pop(key, None)
    return config


def first(value):
    return value[0] if isinstance(value, list) else value


class Net:
    """The parts that blocks have in common."""

    def __init__(self, config, architecture):
        self.config = config
        self.c = dict(config, **config.get("text_config", {}))
        c = self.c
        self.g = Gguf(architecture)
        self.layers = c["num_hidden_layers"]
        self.hidden = c["hidden_size"]
        self.heads = c["num_attention_heads"]
        self.kv = c.get("num_key_value_heads", self.heads)
        self.dim = c.get("head_dim") or self.hidden // self.heads
        self.experts = next((c[k] for k in EXPERT_KEYS if c.get(k)), 0)
        self.moe = first(c.get("moe_intermediate_size"))

    def begin(self, rope=None, feed=None):
        c, g = self.c, self.g
        g.key("block_count", self.layers)
        g.key("context_length", c.get("max_position_embeddings"))
        g.key("embedding_length", self.hidden)
        g.key("feed_forward_length", feed if feed is not None
              else first(c["intermediate_size"]))
        g.key("attention.head_count", self.heads)
        g.key("attention.head_count_kv", self.kv)
        theta = first(c.get("rope_theta"))
        theta = theta or c.get("rope_parameters", {}).get("rope_theta")
        g.key("rope.freq_base", float(theta) if theta else None)
        eps = c.get("rms_norm_eps", c.get("layer_norm_epsilon",
                    c.get("norm_eps", c.get("layernorm_epsilon"))))
        g.key("attention.layer_norm_rms_epsilon", eps)
        g.key("attention.key_length", self.dim)
        g.key("attention.value_length", c.get("v_head_dim", self.dim))
        g.key("rope.dimension_count", rope if rope is not None else self.dim)
        g.key("vocab_size", WORDS)
        g.add("token_embd", WORDS, self.hidden)
        g.add("output_norm", self.hidden)
        if not c.get("tie_word_embeddings", self.tied):
            g.add("output", WORDS, self.hidden)
        if self.experts:
            used = c.get("num_experts_per_tok", c.get(
                "num_experts_per_token", c.get("moe_k", c.get(
                    "moe_top_k", c.get("moe_topk", c.get("top_k_experts"))))))
            g.key("expert_count", self.experts)
            g.key("expert_used_count", first(used))
            g.key("expert_feed_forward_length", self.moe)

    tied = False

    def attention(self, i, bias="", norm="", heads=None, kv=None, wide=1,
                  dim=None, vdim=None, values=True):
        g, b = self.g, f"blk.{i}."
        heads, kv, dim = heads or self.heads, kv or self.kv, dim or self.dim
        vdim = vdim or dim
        rows = {"q": heads * dim * wide, "k": kv * dim, "v": kv * vdim}
        if not values:
            del rows["v"]
        for part, size in rows.items():
            g.add(f"{b}attn_{part}", size, self.hidden)
            if part in bias:
                g.add(f"{b}attn_{part}.bias", size)
        g.add(f"{b}attn_output", self.hidden, heads * vdim)
        if "o" in bias:
            g.add(f"{b}attn_output.bias", self.hidden)
        if norm:
            g.add(f"{b}attn_q_norm", dim if norm == "head" else heads * dim)
            g.add(f"{b}attn_k_norm", dim if norm == "head" else kv * dim)

    def norms(self, i, *names):
        for name in names or ("attn_norm", "ffn_norm"):
            self.g.add(f"blk.{i}.{name}", self.hidden)

    def latent(self, i, old=False):
        c, g, b = self.c, self.g, f"blk.{i}."
        nope, rope = c["qk_nope_head_dim"], c["qk_rope_head_dim"]
        rank, low, v = c["kv_lora_rank"], c.get("q_lora_rank"), c["v_head_dim"]
        if low:
            g.add(f"{b}attn_q_a", low, self.hidden)
            g.add(f"{b}attn_q_a_norm", low)
            g.add(f"{b}attn_q_b", self.heads * (nope + rope), low)
        else:
            g.add(f"{b}attn_q", self.heads * (nope + rope), self.hidden)
        g.add(f"{b}attn_kv_a_mqa", rank + rope, self.hidden)
        g.add(f"{b}attn_kv_a_norm", rank)
        if old:
            g.add(f"{b}attn_kv_b", self.heads * (nope + v), rank)
        else:
            g.add(f"{b}attn_k_b", self.heads, rank, nope)
            g.add(f"{b}attn_v_b", self.heads, v, rank)
        g.add(f"{b}attn_output", self.hidden, self.heads * v)

    def latent_keys(self, old=False):
        c, g = self.c, self.g
        nope, rope = c["qk_nope_head_dim"], c["qk_rope_head_dim"]
        rank, v = c["kv_lora_rank"], c["v_head_dim"]
        g.key("attention.q_lora_rank", c.get("q_lora_rank"))
        g.key("attention.kv_lora_rank", rank)
        if old:
            g.key("attention.key_length", nope + rope)
            g.key("attention.value_length", v)
        else:
            g.key("attention.head_count_kv", 1)
            g.key("attention.key_length", rank + rope)
            g.key("attention.value_length", rank)
            g.key("attention.key_length_mla", nope + rope)
            g.key("attention.value_length_mla", v)
        g.key("rope.dimension_count", rope)

    def dense(self, i, size=None, gate=True):
        g, b = self.g, f"blk.{i}."
        size = size or first(self.c["intermediate_size"])
        if gate:
            g.add(f"{b}ffn_gate", size, self.hidden)
        g.add(f"{b}ffn_up", size, self.hidden)
        g.add(f"{b}ffn_down", self.hidden, size)

    def sparse(self, i, shared=0, bias=False, gate=True, shared_gate=False,
               width=None):
        g, b, n = self.g, f"blk.{i}.", self.experts
        width = width or self.hidden
        g.add(f"{b}ffn_gate_inp", n, self.hidden)
        if bias:
            g.add(f"{b}exp_probs_b.bias", n)
        if gate:
            g.add(f"{b}ffn_gate_exps", n, self.moe, width)
        g.add(f"{b}ffn_up_exps", n, self.moe, width)
        g.add(f"{b}ffn_down_exps", n, width, self.moe)
        if shared_gate:
            g.add(f"{b}ffn_gate_inp_shexp", self.hidden)
        if shared and gate:
            g.add(f"{b}ffn_gate_shexp", shared, self.hidden)
        if shared:
            g.add(f"{b}ffn_up_shexp", shared, self.hidden)
            g.add(f"{b}ffn_down_shexp", self.hidden, shared)

    def mamba_keys(self, heads, dim, state, conv, groups):
        self.ssm = heads, dim, state, conv, groups
        g = self.g
        g.key("ssm.conv_kernel", conv)
        g.key("ssm.state_size", state)
        g.key("ssm.group_count", groups)
        g.key("ssm.inner_size", heads * dim)
        g.key("ssm.time_step_rank", heads)

    def mamba(self, i, norm=True):
        heads, dim, state, conv, groups = self.ssm
        g, b, inner = self.g, f"blk.{i}.", heads * dim
        channels = inner + 2 * groups * state
        g.add(f"{b}ssm_in", inner + channels + heads, self.hidden)
        g.add(f"{b}ssm_conv1d", channels, conv)
        g.add(f"{b}ssm_conv1d.bias", channels)
        g.add(f"{b}ssm_dt.bias", heads)
        g.tensors[f"{b}ssm_a"] = heads, 1
        g.tensors[f"{b}ssm_d"] = heads, 1
        if norm:
            g.add(f"{b}ssm_norm", groups, inner // groups)
        g.add(f"{b}ssm_out", self.hidden, inner)

    def delta_keys(self):
        c, g = self.c, self.g
        g.key("ssm.conv_kernel", c["linear_conv_kernel_dim"])
        g.key("ssm.state_size", c["linear_key_head_dim"])
        g.key("ssm.group_count", c["linear_num_key_heads"])
        g.key("ssm.time_step_rank", c["linear_num_value_heads"])
        g.key("ssm.inner_size",
              c["linear_value_head_dim"] * c["linear_num_value_heads"])
        g.key("full_attention_interval", c["full_attention_interval"])

    def delta(self, i, joined):
        c, g, b = self.c, self.g, f"blk.{i}."
        heads = c["linear_num_value_heads"]
        keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
        values = heads * c["linear_value_head_dim"]
        g.add(f"{b}attn_qkv", 2 * keys + values, self.hidden)
        g.add(f"{b}attn_gate", values, self.hidden)
        if joined:
            g.add(f"{b}ssm_ba", 2 * heads, self.hidden)
        else:
            g.add(f"{b}ssm_beta", heads, self.hidden)
            g.add(f"{b}ssm_alpha", heads, self.hidden)
        g.add(f"{b}ssm_conv1d", 2 * keys + values, c["linear_conv_kernel_dim"])
        g.add(f"{b}ssm_dt.bias", heads)
        g.tensors[f"{b}ssm_a"] = heads,
        g.add(f"{b}ssm_norm", c["linear_value_head_dim"])
        g.add(f"{b}ssm_out", self.hidden, values)

    def scores(self, sigmoid=True):
        c, g = self.c, self.g
        if "norm_topk_prob" in c:
            g.key("expert_weights_norm", c["norm_topk_prob"])
        g.key("expert_weights_scale", c.get("routed_scaling_factor"))
        g.key("expert_gating_func", 2 if sigmoid else 1)


def gpt_oss(n):
    n.moe = n.c["intermediate_size"]
    n.begin()
    n.g.key("attention.sliding_window", n.c["sliding_window"])
    for i in range(n.layers):
        n.norms(i, "attn_norm", "post_attention_norm")
        n.attention(i, "qkvo")
        n.g.add(f"blk.{i}.attn_sinks", n.heads)
        n.sparse(i)
        n.g.add(f"blk.{i}.ffn_gate_inp.bias", n.experts)
        n.g.add(f"blk.{i}.ffn_gate_exps.bias", n.experts, n.moe)
        n.g.add(f"blk.{i}.ffn_up_exps.bias", n.experts, n.moe)
        n.g.add(f"blk.{i}.ffn_down_exps.bias", n.experts, n.hidden)


def deepseek(n, old=False, indexers=lambda i: False):
    c, lead = n.c, n.c["first_k_dense_replace"]
    sigmoid = c.get("scoring_func") == "sigmoid"
    n.begin()
    n.latent_keys(old)
    n.scores(sigmoid)
    n.g.key("leading_dense_block_count", lead)
    n.g.key("expert_shared_count", c["n_shared_experts"])
    n.g.key("attention.indexer.head_count", c.get("index_n_heads"))
    n.g.key("attention.indexer.key_length", c.get("index_head_dim"))
    n.g.key("attention.indexer.top_k", c.get("index_topk"))
    for i in range(n.layers):
        n.norms(i)
        n.latent(i, old)
        if indexers(i):
            b, d = f"blk.{i}.indexer.", c["index_head_dim"]
            n.g.add(f"{b}attn_q_b", c["index_n_heads"] * d,
                    c["q_lora_rank"])
            n.g.add(f"{b}attn_k", d, n.hidden)
            n.g.add(f"{b}k_norm", d)
            n.g.add(f"{b}k_norm.bias", d)
            n.g.add(f"{b}proj", c["index_n_heads"], n.hidden)
        if i < lead:
            n.dense(i)
        else:
            n.sparse(i, c["n_shared_experts"] * n.moe, sigmoid)


def deepseek_lite(n):
    deepseek(n, old=True)


def deepseek_indexed(n):
    deepseek(n, indexers=lambda i: True)


def glm_dsa(n):
    deepseek(n, indexers=lambda i: n.c["indexer_types"][i] == "full")


def glm4_moe(n):
    c = n.c
    n.begin(rope=n.dim // 2)
    n.scores()
    n.g.key("leading_dense_block_count", c["first_k_dense_replace"])
    n.g.key("expert_shared_count", c["n_shared_experts"])
    n.g.key("block_count", n.layers + 1)
    n.g.key("nextn_predict_layers", 1)
    for i in range(n.layers + 1):
        n.norms(i, "attn_norm", "post_attention_norm")
        n.attention(i, "qkv")
        if i < c["first_k_dense_replace"]:
            n.dense(i)
        else:
            n.sparse(i, n.moe, True)
    b = f"blk.{n.layers}.nextn."
    n.g.add(f"{b}eh_proj", n.hidden, 2 * n.hidden)
    for name in "enorm", "hnorm", "shared_head_norm":
        n.g.add(f"{b}{name}", n.hidden)


def qwen3_moe(n):
    n.begin()
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="head")
        n.sparse(i)


def plain(n, bias="", norm="", names=()):
    n.begin()
    for i in range(n.layers):
        n.norms(i, *names)
        n.attention(i, bias, norm)
        n.dense(i)


def deci(n):
    """Layers of several sizes (DeciModel of convert_hf_to_gguf.py)."""
    blocks, c = n.c["block_configs"], n.c
    kv, heads, sizes = [], [], []
    for block in blocks:
        group, ffn = block["attention"]["n_heads_in_group"], block["ffn"]
        straight = block["attention"].get("replace_with_linear")
        kv.append(n.heads // group if group else 0)
        heads.append(n.heads if group or straight else 0)
        size = int(2 * (ffn["ffn_mult"] or 0) * n.hidden / 3)
        sizes.append(-(-size // 256) * 256)
    c["intermediate_size"], n.kv = sizes[0], 0
    n.begin()
    n.g.key("attention.head_count", heads)
    n.g.key("attention.head_count_kv", kv)
    n.g.key("feed_forward_length", sizes)
    n.g.add("rope_freqs", n.dim // 2)
    for i in range(n.layers):
        if heads[i]:
            n.norms(i, "attn_norm")
        if kv[i]:
            n.attention(i, kv=kv[i])
        elif heads[i]:
            n.g.add(f"blk.{i}.attn_output", n.hidden, n.hidden)
        if sizes[i]:
            n.norms(i, "ffn_norm")
            n.dense(i, sizes[i])


def qkv_biased(n):
    plain(n, "qkv", names=("attn_norm", "post_attention_norm"))


def normed(n):
    plain(n, norm="head")


def tied(n):
    n.tied = True
    plain(n)


def norms_after(n, norm):
    n.g.key("attention.sliding_window", n.c.get("sliding_window"))
    if n.g.architecture == "exaone4":
        n.g.key("attention.sliding_window_pattern",
                [i % 4 < 3 for i in range(n.layers)])
    plain(n, norm=norm, names=("post_attention_norm", "post_ffw_norm"))


def exaone4(n):
    norms_after(n, "head")


def olmo(n):
    norms_after(n, "all")


def hunyuan_moe(n):
    shared = n.c["intermediate_size"]
    n.begin()
    n.g.key("expert_shared_count", 1)
    n.g.key("expert_shared_feed_forward_length", shared)
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="head")
        n.sparse(i, shared)


def ernie_moe(n):
    n.tied = True
    n.begin()
    n.g.key("leading_dense_block_count", 1)
    n.g.key("interleave_moe_layer_step", 1)
    n.g.key("expert_shared_count", 2)
    for i in range(n.layers):
        n.norms(i)
        n.attention(i)
        if i < 1:
            n.dense(i)
        else:
            n.sparse(i, 2 * n.moe, True)


def minimax(n):
    n.moe = n.c["intermediate_size"]
    n.begin(rope=n.c["rotary_dim"])
    n.scores()
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="all")
        n.sparse(i, bias=True)


def llama4(n):
    n.moe = n.c["intermediate_size"]
    n.begin(feed=n.c["intermediate_size_mlp"])
    n.g.key("interleave_moe_layer_step", 1)
    n.g.add("rope_freqs", n.dim // 2)
    for i in range(n.layers):
        n.norms(i)
        n.attention(i)
        n.sparse(i, n.moe)


def nemotron_h(n):
    c = n.c
    pattern = c["hybrid_override_pattern"]
    n.dim = c.get("head_dim", c.get("attention_head_dim"))
    n.begin(feed=[c["intermediate_size"] if k == "-" else 0 for k in pattern])
    n.g.key("attention.head_count_kv", [n.kv if k == "*" else 0
                                        for k in pattern])
    n.mamba_keys(c["mamba_num_heads"], c["mamba_head_dim"],
                 c["ssm_state_size"], c["conv_kernel"], c["n_groups"])
    latent = c.get("moe_latent_size")
    if n.experts:
        n.scores()
        n.g.key("moe_latent_size", latent)
        n.g.key("expert_shared_count", 1)
        n.g.key("expert_shared_feed_forward_length",
                c["moe_shared_expert_intermediate_size"])
    for i, kind in enumerate(pattern):
        n.norms(i, "attn_norm")
        if kind == "M":
            n.mamba(i)
        elif kind == "*":
            n.attention(i)
        elif kind == "-":
            n.dense(i, gate=False)
        else:
            n.sparse(i, c["moe_shared_expert_intermediate_size"], True,
                     gate=False, width=latent)
            if latent:
                n.g.add(f"blk.{i}.ffn_latent_down", latent, n.hidden)
                n.g.add(f"blk.{i}.ffn_latent_up", n.hidden, latent)


def qwen3_next(n):
    n.begin(rope=n.dim // 4)
    n.delta_keys()
    shared = n.c["shared_expert_intermediate_size"]
    n.g.key("expert_shared_feed_forward_length", shared)
    for i in range(n.layers):
        n.norms(i, "attn_norm", "post_attention_norm")
        if i % 4 == 3:
            n.attention(i, norm="head", wide=2)
        else:
            n.delta(i, True)
        n.sparse(i, shared, shared_gate=True)


def qwen3_5(n):
    n.begin(rope=n.dim // 4)
    n.delta_keys()
    for i in range(n.layers):
        n.norms(i, "attn_norm", "post_attention_norm")
        if i % 4 == 3:
            n.attention(i, norm="head", wide=2)
        else:
            n.delta(i, False)
        n.dense(i)


def granite_hybrid(n):
    c = n.c
    n.moe = c["intermediate_size"]
    kinds = c["layer_types"]
    n.begin(feed=c["shared_intermediate_size"])
    n.g.key("rope.scaling.finetuned", False)
    n.g.key("expert_shared_feed_forward_length", c["shared_intermediate_size"])
    n.g.key("attention.head_count_kv", [n.kv if k == "attention" else 0
                                        for k in kinds])
    n.mamba_keys(c["mamba_n_heads"], c["mamba_d_head"], c["mamba_d_state"],
                 c["mamba_d_conv"], c["mamba_n_groups"])
    for i, kind in enumerate(kinds):
        n.norms(i)
        if kind == "mamba":
            n.mamba(i)
        else:
            n.attention(i)
        n.sparse(i, c["shared_intermediate_size"])


def falcon_h1(n):
    c = n.c
    n.begin()
    n.mamba_keys(c["mamba_n_heads"], c["mamba_d_head"], c["mamba_d_state"],
                 c["mamba_d_conv"], c["mamba_n_groups"])
    for i in range(n.layers):
        n.norms(i)
        n.attention(i)
        n.mamba(i, norm=False)
        n.dense(i)


def lfm2(n):
    c = n.c
    n.tied = True
    full = c.get("full_attn_idxs") or [
        i for i, k in enumerate(c["layer_types"]) if k == "full_attention"]
    size = c.get("intermediate_size")
    if not size:  # as _add_feed_forward_length of the converter
        size = -(-(2 * c["block_ff_dim"] // 3) // 256) * 256
    n.begin(feed=size)
    n.g.key("attention.head_count_kv", [n.kv if i in full else 0
                                        for i in range(n.layers)])
    n.g.key("shortconv.l_cache", c["conv_L_cache"])
    if n.experts:
        n.scores()
        n.g.key("leading_dense_block_count", c["num_dense_layers"])
    for i in range(n.layers):
        n.norms(i)
        if i in full:
            n.attention(i, norm="head")
        else:
            b = f"blk.{i}.shortconv."
            n.g.add(f"{b}conv", n.hidden, c["conv_L_cache"])
            n.g.add(f"{b}in_proj", 3 * n.hidden, n.hidden)
            n.g.add(f"{b}out_proj", n.hidden, n.hidden)
        if n.experts and i >= c["num_dense_layers"]:
            n.sparse(i, bias=True)
        else:
            n.dense(i, size)


def kimi_delta(n, b, inner, dim):
    g, linear = n.g, n.c["linear_attn_config"]
    for part in "qkv":
        g.add(f"{b}attn_{part}", inner, n.hidden)
        g.add(f"{b}ssm_conv1d_{part}", 1, inner, 1,
              linear["short_conv_kernel_size"])
    g.add(f"{b}ssm_f_a", dim, n.hidden)
    g.add(f"{b}ssm_f_b", inner, dim)
    g.add(f"{b}ssm_dt.bias", inner)
    g.add(f"{b}ssm_beta", linear["num_heads"], n.hidden)
    g.add(f"{b}ssm_norm", dim)
    g.add(f"{b}attn_output", n.hidden, inner)


def kimi_linear(n):
    c, g = n.c, n.g
    linear = c["linear_attn_config"]
    full, dim = linear["full_attn_layers"], linear["head_dim"]
    inner = linear["num_heads"] * dim
    n.begin()
    n.latent_keys()
    g.key("attention.head_count_kv", [1 if i + 1 in full else 0
                                      for i in range(n.layers)])
    g.key("kda.head_dim", dim)
    g.key("ssm.conv_kernel", linear["short_conv_kernel_size"])
    n.scores()
    g.key("leading_dense_block_count", 1)
    g.key("expert_shared_count", 1)
    for i in range(n.layers):
        b = f"blk.{i}."
        n.norms(i)
        if i + 1 in full:
            n.latent(i)
        else:
            kimi_delta(n, b, inner, dim)
            g.tensors[f"{b}ssm_a"] = 1, 1, linear["num_heads"], 1
            g.add(f"{b}ssm_g_a", dim, n.hidden)
            g.add(f"{b}ssm_g_b", inner, dim)
        if i < 1:
            n.dense(i)
        else:
            n.sparse(i, n.moe, True)


def mimo2(n):
    c, g = n.c, n.g
    window = [bool(k) for k in c["hybrid_layer_pattern"]]
    kv = [c["swa_num_key_value_heads"] if w else n.kv for w in window]
    n.begin(rope=int(n.dim * c["partial_rotary_factor"]))
    n.scores()
    g.key("attention.head_count_kv", kv)
    g.key("attention.sliding_window", c["sliding_window"])
    g.key("attention.sliding_window_pattern", window)
    g.key("rope.freq_base_swa", float(c["swa_rope_theta"]))
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, kv=kv[i], vdim=c["v_head_dim"])
        if window[i]:
            g.add(f"blk.{i}.attn_sinks", n.heads)
        if c["moe_layer_freq"][i]:
            n.sparse(i, bias=True)
        else:
            n.dense(i)


def step35(n):
    c, g = n.c, n.g
    other = c["attention_other_setting"]
    window = [k == "sliding_attention" for k in c["layer_types"]]
    heads = [other["num_attention_heads"] if w else n.heads for w in window]
    n.kv = c["num_attention_groups"]
    n.begin(rope=n.dim)
    g.key("attention.head_count", heads)
    g.key("attention.head_count_kv", [n.kv] * n.layers)
    g.key("attention.sliding_window", c["sliding_window"])
    g.key("attention.sliding_window_pattern", window)
    g.key("rope.freq_base_swa", 10000.0)
    g.key("expert_gating_func", 2)
    g.key("expert_weights_norm", True)
    g.key("expert_weights_scale", c["moe_router_scaling_factor"])
    g.key("expert_shared_feed_forward_length", c["share_expert_dim"])
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="head", heads=heads[i])
        g.add(f"blk.{i}.attn_gate", heads[i], n.hidden)
        if i >= 3:
            n.sparse(i, c["share_expert_dim"], True)
        else:
            n.dense(i)


def gemma4(n):
    c, g = n.c, n.g
    window = [k == "sliding_attention" for k in c["layer_types"]]
    far, near = c["global_head_dim"], n.dim
    kv = [n.kv if w else c["num_global_key_value_heads"] for w in window]
    n.dim = far
    n.begin()
    g.key("attention.head_count_kv", kv)
    g.key("attention.sliding_window", c["sliding_window"])
    g.key("attention.sliding_window_pattern", window)
    g.key("attention.shared_kv_layers", 0)
    g.key("embedding_length_per_layer_input", 0)
    g.key("attention.key_length_swa", near)
    g.key("attention.value_length_swa", near)
    g.key("rope.freq_base", 1000000.0)
    g.key("rope.freq_base_swa", 10000.0)
    g.key("rope.dimension_count_swa", near)
    g.add("rope_freqs", far // 2)
    for i in range(n.layers):
        b = f"blk.{i}."
        n.norms(i, "attn_norm", "post_attention_norm", "ffn_norm",
                "post_ffw_norm", "pre_ffw_norm_2", "post_ffw_norm_1",
                "post_ffw_norm_2")
        n.attention(i, norm="head", kv=kv[i], dim=near if window[i] else far,
                    values=window[i])
        n.dense(i)
        g.add(f"{b}ffn_gate_inp", n.experts, n.hidden)
        g.add(f"{b}ffn_gate_inp.scale", n.hidden)
        g.add(f"{b}ffn_gate_up_exps", n.experts, 2 * n.moe, n.hidden)
        g.add(f"{b}ffn_down_exps", n.experts, n.hidden, n.moe)
        g.add(f"{b}ffn_down_exps.scale", n.experts)
        g.add(f"{b}layer_output_scale", 1)


def gemma3n(n):
    c, g = n.c, n.g
    own, rank, streams = (c["hidden_size_per_layer_input"], c["laurel_rank"],
                          c["altup_num_inputs"])
    n.tied = True
    n.config["text_config"]["vocab_size_per_layer_input"] = WORDS
    n.begin()
    g.key("attention.sliding_window", c["sliding_window"])
    g.key("altup.num_inputs", streams)
    g.key("embedding_length_per_layer_input", own)
    g.key("attention.shared_kv_layers", c["num_kv_shared_layers"])
    g.key("rope.freq_base_swa", 10000.0)
    g.add("per_layer_token_embd", WORDS, own * n.layers)
    g.add("per_layer_model_proj", own * n.layers, n.hidden)
    g.add("per_layer_proj_norm", own)
    g.add("altup_proj", streams - 1, n.hidden, n.hidden)
    g.add("altup_unembd_proj", streams - 1, n.hidden, n.hidden)
    for i in range(n.layers):
        b = f"blk.{i}."
        n.norms(i, "attn_norm", "post_attention_norm", "ffn_norm",
                "post_ffw_norm", "post_norm", "laurel_post_norm",
                "altup_router_norm", "altup_correct_scale")
        n.attention(i, norm="head")
        n.dense(i)
        g.add(f"{b}inp_gate", own, n.hidden)
        g.add(f"{b}proj", n.hidden, own)
        g.add(f"{b}altup_correct_coef", streams, streams)
        g.add(f"{b}altup_predict_coef", streams * streams, streams)
        g.add(f"{b}altup_router", streams, n.hidden)
        g.add(f"{b}laurel_l", rank, n.hidden)
        g.add(f"{b}laurel_r", n.hidden, rank)


def minimax_m3(n):
    """Indexers in the layers that have experts (src/models/minimax-m3.cpp)."""
    c, g = n.c, n.g
    sparse, lead = c["sparse_attention_config"], c["first_k_dense_replace"]
    index, heads = sparse["sparse_index_dim"], sparse["sparse_num_index_heads"]
    n.moe = c["intermediate_size"]
    n.begin(rope=c["rotary_dim"], feed=c["dense_intermediate_size"])
    n.scores()
    g.key("leading_dense_block_count", lead)
    g.key("expert_shared_count", c["n_shared_experts"])
    g.key("attention.indexer.head_count", heads)
    g.key("attention.indexer.key_length", index)
    g.key("attention.indexer.top_k", sparse["sparse_topk_blocks"])
    g.key("attention.indexer.block_size", sparse["sparse_block_size"])
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="head")
        if i < lead:
            n.dense(i, c["dense_intermediate_size"])
            continue
        n.sparse(i, c["shared_intermediate_size"], True)
        b = f"blk.{i}.indexer."
        g.add(f"{b}q_proj", heads * index, n.hidden)
        g.add(f"{b}k_proj", index, n.hidden)
        g.add(f"{b}q_norm", index)
        g.add(f"{b}k_norm", index)


def deepseek4(n):
    """Streams, compressors and indexers (src/models/deepseek4.cpp)."""
    c, g, heads, dim = n.c, n.g, n.heads, n.dim
    m, groups, rank = c["hc_mult"], c["o_groups"], c["o_lora_rank"]
    mixes, low, index = (2 + m) * m, c["q_lora_rank"], c["index_head_dim"]
    n.begin(rope=c["qk_rope_head_dim"], feed=c["moe_intermediate_size"])
    n.scores()
    g.key("expert_gating_func", 4)
    for name, key in [
            ("attention.q_lora_rank", "q_lora_rank"),
            ("attention.sliding_window", "sliding_window"),
            ("attention.output_group_count", "o_groups"),
            ("attention.output_lora_rank", "o_lora_rank"),
            ("attention.indexer.head_count", "index_n_heads"),
            ("attention.indexer.key_length", "index_head_dim"),
            ("attention.indexer.top_k", "index_topk"),
            ("attention.compress_ratios", "compress_ratios"),
            ("hyper_connection.count", "hc_mult"),
            ("hyper_connection.sinkhorn_iterations", "hc_sinkhorn_iters"),
            ("hyper_connection.epsilon", "hc_eps"),
            ("hash_layer_count", "num_hash_layers"),
            ("expert_shared_count", "n_shared_experts")]:
        g.key(name, c[key])
    g.add("output_hc_fn", m, m * n.hidden)
    g.add("output_hc_base", m)
    g.tensors["output_hc_scale.weight"] = 1,
    for i in range(n.layers):
        b, ratio = f"blk.{i}.", c["compress_ratios"][i]
        n.norms(i)
        g.add(f"{b}attn_sinks", heads)
        g.add(f"{b}attn_q_a", low, n.hidden)
        g.add(f"{b}attn_q_a_norm", low)
        g.add(f"{b}attn_q_b", heads * dim, low)
        g.add(f"{b}attn_kv", dim, n.hidden)
        g.add(f"{b}attn_kv_a_norm", dim)
        g.add(f"{b}attn_output_a", rank * groups, heads * dim // groups)
        g.add(f"{b}attn_output_b", n.hidden, groups * rank)
        for part in "attn", "ffn":
            g.add(f"{b}hc_{part}_fn", mixes, m * n.hidden)
            g.add(f"{b}hc_{part}_base", mixes)
            g.tensors[f"{b}hc_{part}_scale.weight"] = 3,
        sizes = [("attn", dim, 2 if ratio == 4 else 1)] if ratio else []
        sizes += [("indexer", index, 2)] if ratio == 4 else []
        for part, size, halves in sizes:
            g.add(f"{b}{part}_compressor_kv", halves * size, n.hidden)
            g.add(f"{b}{part}_compressor_gate", halves * size, n.hidden)
            g.add(f"{b}{part}_compressor_ape", ratio, halves * size)
            g.add(f"{b}{part}_compressor_norm", size)
        if ratio == 4:
            g.add(f"{b}indexer.proj", c["index_n_heads"], n.hidden)
            g.add(f"{b}indexer.attn_q_b", c["index_n_heads"] * index, low)
        hashed = i < c["num_hash_layers"]
        n.sparse(i, c["n_shared_experts"] * n.moe, not hashed)
        if hashed:
            g.add(f"{b}ffn_gate_tid2eid", WORDS, c["num_experts_per_tok"])


def kimi_k3(n):
    """As Kimi Linear, with scores of earlier blocks and latent experts
    (src/models/kimi-k3.cpp)."""
    c, g = n.c, n.g
    linear, latent = c["linear_attn_config"], c["routed_expert_hidden_size"]
    full, dim = linear["full_attn_layers"], linear["head_dim"]
    inner = linear["num_heads"] * dim
    n.begin()
    n.latent_keys()
    n.scores()
    g.key("attention.head_count_kv", [1 if i + 1 in full else 0
                                      for i in range(n.layers)])
    g.key("kda.head_dim", dim)
    g.key("ssm.conv_kernel", linear["short_conv_kernel_size"])
    g.key("leading_dense_block_count", c["first_k_dense_replace"])
    g.key("expert_shared_count", c["num_shared_experts"])
    g.key("expert_latent_length", latent)
    g.add("output_res_score", n.hidden)
    for i in range(n.layers):
        b = f"blk.{i}."
        n.norms(i, "attn_norm", "ffn_norm", "attn_res_score", "ffn_res_score")
        if i + 1 in full:
            n.latent(i)
            g.add(f"{b}attn_gate", n.heads * c["v_head_dim"], n.hidden)
        else:
            kimi_delta(n, b, inner, dim)
            g.tensors[f"{b}ssm_a"] = linear["num_heads"],
            g.add(f"{b}ssm_g", inner, n.hidden)
        if i < c["first_k_dense_replace"]:
            n.dense(i)
            continue
        n.sparse(i, c["num_shared_experts"] * n.moe, True, width=latent)
        g.add(f"{b}ffn_routed_down", latent, n.hidden)
        g.add(f"{b}ffn_routed_up", n.hidden, latent)
        g.add(f"{b}ffn_routed_norm", latent)


def apertus(n):
    """xIELU's two scalars of a layer are keys."""
    n.c["intermediate_size"] = size = first(n.c["intermediate_size"])
    n.begin(feed=size)
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="head")
        n.dense(i, gate=False)
    for name in "alpha_p", "alpha_n", "beta", "eps":
        n.g.keys[f"xielu.{name}"] = [0.5] * n.layers


def gemma(n):
    """Gemma 2 and 3: norms behind both branches, windows by the layer."""
    n.tied = True
    norm = "head" if n.g.architecture == "gemma3" else ""
    n.g.key("attention.sliding_window", n.c["sliding_window"])
    n.g.key("attn_logit_softcapping", n.c.get("attn_logit_softcapping"))
    plain(n, norm=norm, names=("attn_norm", "post_attention_norm", "ffn_norm",
                               "post_ffw_norm"))


def command_r(n):
    """One norm; Command R+ has one for each head, too."""
    n.tied = True
    n.g.key("attention.sliding_window", n.c.get("sliding_window"))
    n.begin()
    for i in range(n.layers):
        n.norms(i, "attn_norm")
        n.attention(i)
        n.dense(i)
        if n.c.get("use_qk_norm"):
            n.g.add(f"blk.{i}.attn_q_norm", n.heads, n.dim)
            n.g.add(f"blk.{i}.attn_k_norm", n.kv, n.dim)
    eps = n.g.keys.pop(f"{n.g.architecture}.attention.layer_norm_rms_epsilon",
                       None)
    n.g.key("attention.layer_norm_epsilon", n.c.get("layer_norm_eps", eps))


def starcoder(n):
    n.tied = True
    n.begin()
    n.g.key("attention.layer_norm_epsilon", n.c["norm_epsilon"])
    for i in range(n.layers):
        n.norms(i, "attn_norm", "attn_norm.bias", "ffn_norm", "ffn_norm.bias")
        n.attention(i, "qkvo")
        n.dense(i, gate=False)
        n.g.add(f"blk.{i}.ffn_up.bias", n.c["intermediate_size"])
        n.g.add(f"blk.{i}.ffn_down.bias", n.hidden)
    n.g.add("output_norm.bias", n.hidden)


def ungated(n):
    n.begin()
    for i in range(n.layers):
        n.norms(i)
        n.attention(i)
        n.dense(i, gate=False)


def olmoe(n):
    n.moe = n.c["intermediate_size"]
    n.begin()
    n.scores(False)
    for i in range(n.layers):
        n.norms(i)
        n.attention(i, norm="all")
        n.sparse(i)


def shared_moe(n, norms=(), gate=False, **more):
    """Experts beside a shared one, and dense layers before."""
    c, g = n.c, n.g
    lead = c.get("first_k_dense_replace", c.get("num_dense_layers"))
    n.begin(rope=int(n.dim * c.get("partial_rotary_factor", 1)))
    n.scores()
    g.key("expert_weights_scale", c.get("route_scale",
                                        c.get("routed_scaling_factor")))
    g.key("leading_dense_block_count", lead)
    g.key("expert_shared_count", c["num_shared_experts"])
    g.key("attention.sliding_window", c.get("sliding_window"))
    for i in range(n.layers):
        b = f"blk.{i}."
        n.norms(i, *norms)
        if more.get("joined"):
            g.add(f"{b}attn_qkv", (n.heads + 2 * n.kv) * n.dim, n.hidden)
            g.add(f"{b}attn_output", n.hidden, n.heads * n.dim)
            g.add(f"{b}attn_q_norm", n.dim)
            g.add(f"{b}attn_k_norm", n.dim)
        else:
            n.attention(i, norm="head")
        if gate:
            g.add(f"{b}attn_gate", n.heads * n.dim, n.hidden)
        if i < lead:
            n.dense(i)
        else:
            n.sparse(i, c["num_shared_experts"] * n.moe, True)


def bailing(n):
    shared_moe(n, joined=True)


def afmoe(n):
    shared_moe(n, ("attn_norm", "post_attention_norm", "ffn_norm",
                   "post_ffw_norm"), True)


NETS = [("gpt_oss_20b", 4, "gpt-oss", gpt_oss),
        ("minimax_m3", 5, "minimax-m3", minimax_m3),
        ("deepseek_v4_flash", 5, "deepseek4", deepseek4),
        ("kimi_k3", 5, "kimi-k3", kimi_k3),
        ("apertus_8b", 3, "apertus", apertus),
        ("arcee_4_5b", 3, "arcee", ungated),
        ("command_r7b", 5, "cohere2", command_r),
        ("command_r_plus", 3, "command-r", command_r),
        ("gemma_2_2b", 5, "gemma2", gemma),
        ("gemma_3_1b", 7, "gemma3", gemma),
        ("starcoder2_3b", 3, "starcoder2", starcoder),
        ("olmoe_1b_7b", 3, "olmoe", olmoe),
        ("ling_mini_2_0", 3, "bailingmoe2", bailing),
        ("k_exaone_236b", 5, "exaone-moe", shared_moe),
        ("trinity_nano", 5, "afmoe", afmoe),
        ("ministral3_8b", 3, "mistral3", plain),
        ("internlm2_5_7b", 3, "internlm2", plain),
        ("deepseek_v2_lite", 4, "deepseek2", deepseek_lite),
        ("deepseek_v3", 5, "deepseek2", deepseek),
        ("deepseek_v3_2", 5, "deepseek32", deepseek_indexed),
        ("glm_5_2", 5, "glm-dsa", glm_dsa),
        ("glm_4_5_air", 3, "glm4moe", glm4_moe),
        ("qwen3_30b_a3b", 3, "qwen3moe", qwen3_moe),
        ("qwen3_vl_2b", 3, "qwen3vl", normed),
        ("qwen3_vl_30b_a3b", 3, "qwen3vlmoe", qwen3_moe),
        ("nemotron_h_56b", 10, "nemotron_h", nemotron_h),
        ("nemotron_3_nano", 8, "nemotron_h_moe", nemotron_h),
        ("nemotron_3_super", 9, "nemotron_h_moe", nemotron_h),
        ("qwen3_next_80b_a3b", 8, "qwen3next", qwen3_next),
        ("qwen3_5_27b", 4, "qwen35", qwen3_5),
        ("minimax_m2_5", 3, "minimax-m2", minimax),
        ("llama_4_scout", 5, "llama4", llama4),
        ("mimo_v2_flash", 7, "mimo2", mimo2),
        ("step_3_5_flash", 6, "step35", step35),
        ("kimi_linear_48b", 5, "kimi-linear", kimi_linear),
        ("hunyuan_7b", 3, "hunyuan-dense", normed),
        ("hunyuan_a13b", 3, "hunyuan-moe", hunyuan_moe),
        ("ernie4_5_0_3b", 3, "ernie4_5", plain),
        ("ernie4_5_21b_a3b", 3, "ernie4_5-moe", ernie_moe),
        ("granite_4_h_small", 7, "granitehybrid", granite_hybrid),
        ("granite_2b", 3, "granite", plain),
        ("nemotron_super_49b", 8, "deci", deci),
        ("falcon_h1_0_5b", 3, "falcon-h1", falcon_h1),
        ("lfm2_350m", 6, "lfm2", lfm2),
        ("lfm2_8b_a1b", 6, "lfm2moe", lfm2),
        ("olmo2_7b", 3, "olmo2", olmo),
        ("olmo3_7b", 5, "olmo2", olmo),
        ("exaone4_32b", 5, "exaone4", exaone4),
        ("smollm3_3b", 5, "smollm3", tied),
        ("seed_oss_36b", 3, "seed_oss", qkv_biased),
        ("gemma3n_e2b", 6, "gemma3n", gemma3n),
        ("gemma_4_26b_a4b", 7, "gemma4", gemma4)]


def write_projector():
    g = Gguf("clip")
    g.keys["general.type"] = "mmproj"
    g.key("has_vision_encoder", True)
    g.key("projector_type", "gemma3")
    g.key("vision.block_count", 1)
    g.add("v.patch_embd", 64, 3, 14, 14)
    g.add("v.blk.0.attn_q.weight", 64, 64)
    g.add("v.blk.0.ln1.bias", 64)
    g.add("mm.input_projection.weight", 64, 128)
    g.write(FOLDER / "mmproj.gguf")


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, layers, architecture, build in NETS:
        config = shrink(json.loads((DATA / f"{name}.json").read_text()),
                        layers)
        net = Net(config, architecture)
        build(net)
        (FOLDER / f"{name}.json").write_text(json.dumps(config, indent=1)
                                             + "\n")
        net.g.write(FOLDER / f"{name}.gguf")
        if name == "gpt_oss_20b":
            net.g.write_parts("split", 3)
    write_projector()


main()
