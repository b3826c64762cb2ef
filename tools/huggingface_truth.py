#!/usr/bin/python3
"""Writes tests/data/huggingface/transformers.csv: parameters of the configs
beside it as transformers counts them.

Each row has a config, what is changed in it, and the parameters of the module
that transformers then makes: another class in `architectures`, or a key less
(`-key`, `-text_config.key`), whose value is then the type's own. Modules are
made without values (PyTorch's device `meta`). Run by hand with transformers in
PYTHONPATH; what is there is of version 4.44, with PyTorch 1.13:
tools/huggingface_truth.py >tests/data/huggingface/transformers.csv
With words, configs whose names have one of them.
"""
import copy
import glob
import json
import os
import sys

import torch
import transformers
from torch import nn
from torch.overrides import TorchFunctionMode

FOLDER = "tests/data/huggingface"
# of weight normalisation and of hidden positions, which predictions lack
LEFT_OUT = ("weight_g", "masked_spec_embed", "embeddings.mask_token")
MAKERS = {torch.empty, torch.zeros, torch.ones, torch.full, torch.arange,
          torch.tensor, torch.rand, torch.randn, torch.eye}
# Of 4.44; later ones have another default, or a key that decides.
OLDER = {"gemma_2_2b.json": "-", "llama_3_2_3b/config.json": "-num_attention",
         "dinov2_base.json": "-patch_size", "dinov2_giant.json": "-patch_size"}
# What is left contradicts itself, or a second key says the same.
SENSELESS = ("-num_attention_heads", "-num_key_value_heads", "-hidden_size",
             "-d_model", "-n_layer")
HEADS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration",
         "ForMaskedLM", "ForPreTraining", "ForSequenceClassification",
         "ForImageClassification", "ForTokenClassification",
         "ForQuestionAnswering", "ForSemanticSegmentation", "ForCTC", "Model")


class Meta(TorchFunctionMode):
    """Tensors without values."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function in MAKERS:
            kwargs["device"] = "meta"
        return function(*args, **kwargs)


class LayerNorm(nn.LayerNorm):
    """As PyTorch 2 has it."""

    def __init__(self, *sizes, bias=True, **options):
        super().__init__(*sizes, **options)
        if not bias:
            self.bias = None


def count(config):
    kind = getattr(transformers, config["architectures"][0])
    config = copy.deepcopy(config)
    if config["model_type"] == "detr":  # its own ResNet-50, not timm's
        config = {k: v for k, v in config.items() if k != "backbone"}
        config.update(use_timm_backbone=False, use_pretrained_backbone=False)
    with Meta():
        module = kind(kind.config_class.from_dict(config))
    return sum(p.numel() for name, p in module.named_parameters()
               if not name.endswith(LEFT_OUT) and
               (p.requires_grad or "backbone" in name))  # sines have none


def others(config):
    """Classes of the same file with another head."""
    kind = getattr(transformers, config["architectures"][0])
    found = vars(sys.modules[kind.__module__])
    for name in sorted(found):
        if name.endswith(HEADS) and isinstance(found[name], type) and \
                found[name].__module__ == kind.__module__ and \
                "pretrained" not in name.lower() and \
                hasattr(transformers, name):
            yield name, dict(config, architectures=[name])


def without(config, inside=""):
    """Each with a key less."""
    for key in config:
        if key in ("model_type", "architectures"):
            continue
        less = {k: v for k, v in config.items() if k != key}
        yield f"-{inside}{key}", less
        if key.endswith("_config"):
            for change, value in without(config[key], f"{inside}{key}."):
                yield change, dict(config, **{key: value})


def rows(path, seen):
    with open(path) as file:
        config = json.load(file)
    name = os.path.relpath(path, FOLDER)
    if not hasattr(transformers, config["architectures"][0]):
        return
    whole = count(config)
    yield name, "", whole
    for change, other in without(config):
        if change.startswith(OLDER.get(name, SENSELESS)) or \
                change in SENSELESS:
            continue
        try:
            params = count(other)
        except (ValueError, TypeError, ImportError):  # what is left contradicts itself
            continue
        if params != whole:
            yield name, change, params
    if config["model_type"] not in seen:
        for change, other in others(config):
            yield name, change, count(other)
    seen.add(config["model_type"])


def main():
    nn.LayerNorm = LayerNorm
    nn.utils.weight_norm = lambda module, **_: module
    for name in "init_weights", "post_init":
        setattr(transformers.PreTrainedModel, name,
                lambda self: self.tie_weights())
    seen = set()
    print("# config,change,parameters: tools/huggingface_truth.py")
    for path in sorted(glob.glob(FOLDER + "/*.json")
                       + glob.glob(FOLDER + "/*/config.json")):
        if sys.argv[1:] and not any(word in path for word in sys.argv[1:]):
            continue
        for row in rows(path, seen):
            print(*row, sep=",", flush=True)


if __name__ == "__main__":
    main()
