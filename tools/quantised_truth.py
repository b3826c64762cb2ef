#!/usr/bin/python3
"""Bytes of quantised checkpoints, counted without netc.

    python3 tools/quantised_truth.py tests/data/huggingface/quantised.txt

prints the bytes of each case in which it knows the net: its modules are listed
as transformers names them, and rules for modules are applied to these names as
vLLM applies them (fnmatch for modelopt, re.match after `re:` for
compressed-tensors, any part of a name for AutoAWQ, whole parts for the
others).
"""
import fnmatch
import json
import os
import re
import sys


def vision(c):
    """The same of Qwen3-VL's tower (modeling_qwen3_vl.py)."""
    v, f, side = c["hidden_size"], c["intermediate_size"], c["patch_size"]
    merged = v * c["spatial_merge_size"] ** 2
    kernel = c["in_channels"] * c["temporal_patch_size"] * side * side * v
    all = [("model.visual.pos_embed", c["num_position_embeddings"], v)]
    rest = kernel + v
    for i in range(c["depth"]):
        at = "model.visual.blocks.%d." % i
        all += [(at + "attn.qkv", 3 * v, v), (at + "attn.proj", v, v),
                (at + "mlp.linear_fc1", f, v), (at + "mlp.linear_fc2", v, f)]
        rest += 4 * v + 3 * v + v + f + v
    mergers = [("merger.", 2 * v)] + [
        ("deepstack_merger_list.%d." % i, 2 * merged)
        for i in range(len(c["deepstack_visual_indexes"]))]
    for at, norm in mergers:
        all += [("model.visual." + at + "linear_fc1", merged, merged),
                ("model.visual." + at + "linear_fc2", c["out_hidden_size"],
                 merged)]
        rest += norm + merged + c["out_hidden_size"]
    return all, rest


def delta_net(c, at):
    """Of a recurrent layer (modeling_qwen3_5.py, GatedDeltaNet)."""
    heads, w = c["linear_num_value_heads"], c["hidden_size"]
    key = c["linear_num_key_heads"] * c["linear_key_head_dim"]
    value = heads * c["linear_value_head_dim"]
    rest = ((2 * key + value) * c["linear_conv_kernel_dim"] + 2 * heads +
            c["linear_value_head_dim"])
    return [(at + "in_proj_qkv", 2 * key + value, w),
            (at + "in_proj_z", value, w), (at + "in_proj_b", heads, w),
            (at + "in_proj_a", heads, w), (at + "out_proj", w, value)], rest


def modules(c):
    """(name, outputs, inputs) of each matrix, and values of all vectors."""
    if "text_config" in c:
        all, rest = modules(dict(c["text_config"], tie_word_embeddings=c[
            "tie_word_embeddings"]))
        of_vision, more = vision(c["vision_config"])
        all = [(name.replace("model.", "model.language_model.", 1), out, x)
               for name, out, x in all]
        return all + of_vision, rest + more
    w, layers, words = c["hidden_size"], c["num_hidden_layers"], c["vocab_size"]
    heads = c["num_attention_heads"]
    kind = c["model_type"]
    all, rest = [("model.embed_tokens", words, w)], w
    if not c.get("tie_word_embeddings"):
        all.append(("lm_head", words, w))

    def mlp(at, f):
        all.extend([(at + "gate_proj", f, w), (at + "up_proj", f, w),
                    (at + "down_proj", w, f)])

    if kind == "nemotron_h":
        return mixers(c, all, rest)
    for i in range(layers):
        at = "model.layers.%d." % i
        rest += 2 * w
        if kind == "deepseek_v3":
            q, kv = c["q_lora_rank"], c["kv_lora_rank"]
            nope, rope, v = (c["qk_nope_head_dim"], c["qk_rope_head_dim"],
                             c["v_head_dim"])
            rest += q + kv
            all += [(at + "self_attn.q_a_proj", q, w),
                    (at + "self_attn.q_b_proj", heads * (nope + rope), q),
                    (at + "self_attn.kv_a_proj_with_mqa", kv + rope, w),
                    (at + "self_attn.kv_b_proj", heads * (nope + v), kv),
                    (at + "self_attn.o_proj", w, heads * v)]
            if i < c["first_k_dense_replace"]:
                mlp(at + "mlp.", c["intermediate_size"])
                continue
            experts, f = c["n_routed_experts"], c["moe_intermediate_size"]
            all.append((at + "mlp.gate", experts, w))
            rest += experts
            mlp(at + "mlp.shared_experts.", f * c["n_shared_experts"])
        elif c.get("layer_types", [""] * layers)[i] == "linear_attention":
            own, more = delta_net(c, at + "linear_attn.")
            all, rest = all + own, rest + more
            experts, f = feed(at, c, mlp, all)
        else:
            kv, dim = c["num_key_value_heads"], c.get("head_dim", w // heads)
            rest += 2 * dim if kind.startswith("qwen3") else 0
            wide = heads * dim * (2 if c.get("attn_output_gate") else 1)
            all += [(at + "self_attn.q_proj", wide, w),
                    (at + "self_attn.k_proj", kv * dim, w),
                    (at + "self_attn.v_proj", kv * dim, w),
                    (at + "self_attn.o_proj", w, heads * dim)]
            experts, f = feed(at, c, mlp, all)
        for e in range(experts):
            mlp(at + "mlp.experts.%d." % e, f)
    return all, rest


def mixers(c, all, rest):
    """Nemotron-H: a layer is one module."""
    w, heads, kv = (c["hidden_size"], c["num_attention_heads"],
                    c["num_key_value_heads"])
    dim, state = c["head_dim"], c["n_groups"] * c["ssm_state_size"]
    inner, conv = c["mamba_num_heads"] * c["mamba_head_dim"], c["conv_kernel"]
    for i, kind in enumerate(c["hybrid_override_pattern"]):
        at = "backbone.layers.%d.mixer." % i
        rest += w
        if kind == "M":
            mixed = inner + 2 * state
            rest += mixed * (conv + 1) + 3 * c["mamba_num_heads"] + inner
            all += [(at + "in_proj", mixed + inner + c["mamba_num_heads"], w),
                    (at + "out_proj", w, inner)]
        elif kind == "*":
            all += [(at + "q_proj", heads * dim, w),
                    (at + "k_proj", kv * dim, w), (at + "v_proj", kv * dim, w),
                    (at + "o_proj", w, heads * dim)]
        else:
            experts, shared = (c["n_routed_experts"],
                               c["moe_shared_expert_intermediate_size"])
            rest += experts
            all += [(at + "gate", experts, w),
                    (at + "shared_experts.up_proj", shared, w),
                    (at + "shared_experts.down_proj", w, shared)]
            for e in range(experts):
                f, of = c["moe_intermediate_size"], at + "experts.%d." % e
                all += [(of + "up_proj", f, w), (of + "down_proj", w, f)]
    return all, rest


def feed(at, c, mlp, all):
    """Adds what follows attention; experts and their width are left."""
    if "num_experts" not in c:
        mlp(at + "mlp.", c["intermediate_size"])
        return 0, 0
    w = c["hidden_size"]
    all.append((at + "mlp.gate", c["num_experts"], w))
    if "shared_expert_intermediate_size" in c:
        mlp(at + "mlp.shared_expert.", c["shared_expert_intermediate_size"])
        all.append((at + "mlp.shared_expert_gate", 1, w))
    return c["num_experts"], c["moe_intermediate_size"]


def grouped(bits, group, scale, zero=0, each_input=0, each=0):
    """Bytes of a matrix in groups of inputs; a scale and a zero for each."""
    def count(out, inputs):
        groups = out * (1 if group < 0 else inputs // group)
        return (out * inputs * bits // 8 + groups * scale // 8 +
                groups * zero * bits // 8 + each_input * inputs // 8 + each // 8)
    return count


def tiles(out, inputs):
    return out * inputs + 4 * (-(-out // 128)) * (-(-inputs // 128))


ALGORITHMS = {"FP8": grouped(8, -1, 0, each=32),
              "NVFP4": grouped(4, 16, 8, each=32),
              "W4A16_NVFP4": grouped(4, 16, 8, each=32),
              "FP8_PB_WO": tiles}


def is_aside(name):
    """Tables and routers are no Linear, or are not quantised."""
    return name.endswith(("embed_tokens", "pos_embed", "mlp.gate",
                          "mixer.gate", "shared_expert_gate"))


def part_of(key, name):
    """A key is the name, or some of its parts in a row."""
    return ("." + key.replace("model.", "", 1) + ".") in "." + name + "."


def of_group(g, form):
    w = g["weights"]
    bits, size = w["num_bits"], w.get("group_size") or -1
    if w["type"] == "float":
        return {(4, 16): grouped(4, 16, 8, each=32), (4, 32): grouped(4, 32, 8),
                (8, -1): grouped(8, -1, 16 if w.get("strategy") == "channel"
                                 else 0, each=0 if w.get("strategy") ==
                                 "channel" else 32)}[bits, size]
    if form == "int-quantized":
        return grouped(8, -1, 16)
    return grouped(bits, size, 16, 0 if w.get("symmetric", True) else 1,
                   each=128)


def find(q, beside, experts=None):
    """A function from a module's name to that of its bytes; None: 16 bits."""
    if (beside or "quant_algo" in q) and (q or {}).get("quant_method") != "fp8":
        q = beside["quantization"] if beside else q
        out = q.get("exclude_modules", q.get("ignore", []))
        layers = q.get("quantized_layers")

        def algorithm(name):
            if is_aside(name):
                return None
            if any(fnmatch.fnmatch(name, x) for x in out):
                return None
            if layers is None:
                return ALGORITHMS[q["quant_algo"]]
            for x in layers:
                if fnmatch.fnmatch(name, x) or fnmatch.fnmatch(name, x + ".*"):
                    return ALGORITHMS[layers[x]["quant_algo"]]
            return None
        return algorithm
    method = q.get("quant_method", "mlx")
    if method == "compressed-tensors":
        def compressed(name):
            if is_aside(name):
                return None
            for x in q["ignore"]:
                if re.match(x[3:], name) if x.startswith("re:") else x == name:
                    return None
            for g in q["config_groups"].values():
                for t in g["targets"]:
                    if t == "Linear" or (t.startswith("re:") and
                                         re.match(t[3:], name)):
                        return of_group(g, q.get("format"))
            return None
        return compressed
    if method == "mlx":
        def mlx(name):
            own = q.get(name, q)
            return own and grouped(own["bits"], own["group_size"], 32)
        return mlx
    if method == "mxfp4":
        return lambda name: grouped(4, 32, 8) if ".experts." in name else None
    stays = (q.get("modules_to_not_convert") or q.get("llm_int8_skip_modules")
             or [])
    bits, group = q.get("bits"), q.get("group_size")
    base = {"gptq": lambda: grouped(bits, group, 16, 1, 32),
            "awq": lambda: grouped(bits, group, 16, 1),
            "auto-round": lambda: grouped(bits, group, 16, 1),
            "fp8": lambda: tiles if "weight_block_size" in q
            else grouped(8, -1, 0, each=32),
            "fbgemm_fp8": lambda: grouped(8, -1, 32),
            "bitsandbytes": lambda: grouped(8, -1, 32)
            if q.get("load_in_8bit") else grouped(4, 64, 32)}[method]()

    def other(name):
        own = q.get("extra_config", {}).get(name)
        if own:
            return (grouped(own["bits"], group, 16, 1) if own["bits"] < 16
                    else None)
        for x in q.get("dynamic", {}):
            if re.match(x[2:], name):
                return None
        if any(x in name if method == "awq" else part_of(x, name)
               for x in stays):
            return None
        for x in q.get("quantized_layers", {}):
            if name.startswith(x + "."):
                return ALGORITHMS[q["quantized_layers"][x]["quant_algo"]]
        if experts == "fp4" and ".experts." in name:
            return grouped(4, 32, 8)
        if name == "lm_head":
            return base if q.get("lm_head") else None
        # AutoAWQ, optimum: blocks of the language model alone.
        text = method in ("awq", "gptq", "auto-round")
        aside = is_aside(name) or (text and ".visual." in name)
        return None if aside else base
    return other


def main(path):
    for case in open(path).read().split("\n== ")[1:]:
        head, _, text = case.partition("\n{")
        net = re.search(r"^net (.*)", head, re.M).group(1)
        added = json.loads("{" + text)
        with open(os.path.join(os.path.dirname(path), net)) as file:
            config = json.load(file)
        if not re.search(r"^bytes ", head, re.M):
            continue
        beside = added.pop("hf_quant_config.json", None)
        config.update(added)
        q = config.get("quantization_config") or config.get("quantization")
        each = find(q, beside, config.get("expert_dtype"))
        all, rest = modules(config)
        total = 2 * rest
        for name, out, inputs in all:
            own = each(name)
            total += own(out, inputs) if own else 2 * out * inputs
        print(total, head.split("\n")[0])


main(sys.argv[1])
