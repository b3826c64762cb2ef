#!/usr/bin/python3
"""Measured memory of models for tests/data/memory.csv.

    memory_truth.py FOLDER >tests/data/memory.csv

reads FOLDER/NAME_bBATCH.json, what PyTorch 1.13 did on a CPU.
"""
import json
import os
import sys

# Model: the net of examples/zoo/ and its settings, as behind `train`.
NETS = {
    "alexnet": ("alexnet", "", ""),
    "bert_base_128": ("bert", "length=128", ""),
    "cnn50": ("cnn50", "", "inplace=off"),
    "dcgan_d": ("dcgan_d", "", ""),
    "densenet121": ("densenet", "depth=121", ""),
    "efficientnet_b0": ("efficientnet", "b=0", ""),
    "googlenet": ("googlenet", "", ""),
    "gpt2_small": ("gpt2", "embd_pdrop=0 attn_pdrop=0 resid_pdrop=0", ""),
    "gpt2_small_dropout": ("gpt2", "", ""),
    "inception_v3": ("inception_v3", "", ""),
    "lenet5": ("lenet5", "", ""),
    "lstm_lm": ("lstm_lm", "", ""),
    "m5_audio": ("m5", "", "inplace=off"),
    "mlp_mnist": ("mlp", "", "inplace=off"),
    "mnasnet1_0": ("mnasnet", "", ""),
    "mobilenet_v2": ("mobilenet_v2", "", ""),
    "mobilenet_v3_large": ("mobilenet_v3", "", ""),
    "resnet18": ("resnet", "depth=18", ""),
    "resnet50": ("resnet", "depth=50", ""),
    "shufflenet_v2_x1_0": ("shufflenet_v2", "", ""),
    "squeezenet1_1": ("squeezenet", "version=1.1", ""),
    "unet": ("unet", "", ""),
    "vgg16": ("vgg", "depth=16", ""),
    "vgg16_bn": ("vgg", "depth=16 norm=bn", ""),
    "vit_b_16": ("vit", "", ""),
}

# Bytes a sample that a model makes itself and autograd keeps, where the net
# takes them as an input: the segment ids, 128 int64 zeros.
INSIDE = {"bert_base_128": 128 * 8}

# Bytes of constants that a model registers as buffers and a net has no need to
# name: the numbers of the positions (int64), GPT-2's triangles of ones.
CONSTANTS = {
    "bert_base_128": 512 * 8,
    "gpt2_small": 1024 * 8 + 12 * 1024 * 1024 * 4,
    "gpt2_small_dropout": 1024 * 8 + 12 * 1024 * 1024 * 4,
}

print("""\
# What PyTorch 1.13 keeps and allocates, in bytes (CPU, float32).
# settings: as behind -D; train: as behind `train`; inside: of a sample, made by
# the model and kept, but an input of the net; constants: those among buffers;
# saved: with loss=none; entropy: with loss=crossentropy; framework: forward
# without gradients; step: the peak of forward and backward with loss=sum, one
# allocation for each result; states of the optimizers; of a whole step with
# them the peak that was allocated, workspace of kernels and state included,
# parameters, buffers and input left out; empty: not measured.
# model,net,settings,train,batch,inside,constants,saved,entropy,gradients,\
buffers,framework,step,momentum,adam,momentum_peak,adam_peak""")
for file in sorted(os.listdir(sys.argv[1])):
    if not file.endswith(".json"):
        continue
    with open(os.path.join(sys.argv[1], file)) as text:
        data = json.load(text)
    training = data.get("training") or {}

    def measured(optimizer, what):
        return (training.get(optimizer) or {}).get(what)

    trace = (training.get("simulated") or {}).get("without_workspace")
    step = ""
    if trace:
        step = max(trace["fwd"]["peak"], trace["bwd"]["peak"])
    values = [data["saved_bytes"], data.get("saved_bytes_with_cross_entropy"),
              data["gradient_bytes"], data["buffer_bytes"],
              data["framework_peak_bytes"],
              step, measured("sgd_momentum", "live_start"),
              measured("adam", "live_start"),
              measured("sgd_momentum", "peak"), measured("adam", "peak")]
    model = data["model"]
    print(",".join([model, *NETS[model], str(data["batch"]),
                    str(INSIDE.get(model, 0)), str(CONSTANTS.get(model, 0))]
                   + ["" if value is None else str(value)
                      for value in values]))
