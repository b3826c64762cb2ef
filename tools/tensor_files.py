#!/usr/bin/env python3
"""Writes tests/data/torch: one small net as PyTorch saves it in every way, as
safetensors and as GGUF, and truth.csv with what PyTorch says of each file;
names.txt has names and shapes of torchvision's models with 7 classes.

tools/tensor_files.py, with Debian's python3-torch."""
import collections
import csv
import io
import json
import os
import pathlib
import struct
import warnings
import zipfile

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "data" / "torch"
rows = []


class Small(nn.Module):
    """small.net, with netc's names."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(2, 4, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(4)
        self.fc1 = nn.Linear(144, 5)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.fc1(x.flatten(1))


def module():
    torch.manual_seed(25)
    net = Small().eval()
    with torch.no_grad():
        net.bn1.weight.add_(torch.rand(4))
        net.bn1.bias.add_(torch.rand(4))
        net.bn1.running_mean.add_(torch.rand(4))
        net.bn1.running_var.add_(torch.rand(4))
    return net


def counts(tensors):
    """Parameters and other values, of tensors that are not the same."""
    seen, params, buffers = set(), 0, 0
    for name, tensor in tensors.items():
        key = (tensor.storage().data_ptr(), tensor.storage_offset())
        if tensor.numel() and key in seen:
            continue
        seen.add(key)
        other = "running_" in name or not tensor.dtype.is_floating_point
        buffers += tensor.numel() * other
        params += tensor.numel() * (not other)
    return params, buffers


def note(name, tensors, values=False):
    rows.append((name, len(tensors), *counts(tensors), int(values)))


def save(name, thing, tensors, values=False, **options):
    torch.save(thing, FOLDER / name, **options)
    note(name, tensors, values)


def write_safetensors(name, tensors):
    header, data = {}, b""
    for key, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[key] = {"dtype": {"torch.float32": "F32", "torch.int64": "I64"}
                       [str(tensor.dtype)], "shape": list(tensor.shape),
                       "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    (FOLDER / name).write_bytes(struct.pack("<Q", len(text)) + text + data)
    note(name, tensors, True)


def write_gguf(name, tensors):
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    keys = [("general.architecture", 8, text("llama")),
            ("general.alignment", 4, struct.pack("<I", 64)),
            ("llama.block_count", 4, struct.pack("<I", 2)),
            ("llama.rope.freq_base", 6, struct.pack("<f", 10000)),
            ("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 2) + text("a")
             + text("b")),
            ("tokenizer.ggml.add_bos", 7, b"\1")]
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for key, kind, value in keys:
        out += text(key) + struct.pack("<I", kind) + value
    offset = 0
    for key, tensor in tensors.items():
        out += text(key) + struct.pack("<I", tensor.dim())
        out += b"".join(struct.pack("<Q", n) for n in reversed(tensor.shape))
        out += struct.pack("<IQ", 0, offset)
        offset += -(-tensor.numel() * 4 // 64) * 64
    for tensor in tensors.values():
        out += b"\0" * (-len(out) % 64) + tensor.contiguous().numpy().tobytes()
    (FOLDER / name).write_bytes(out)
    note(name, tensors, True)


MODELS = [
    ("alexnet", "AlexNet"), ("vgg11", "VGG-11"),
    ("vgg13_bn", "VGG-13 with batch norm"), ("resnet34", "ResNet-34"),
    ("resnext50_32x4d", "ResNeXt-50 32x4d"), ("densenet121", "DenseNet-121"),
    ("squeezenet1_1", "SqueezeNet 1.1"), ("mobilenet_v2", "MobileNetV2"),
    ("mobilenet_v3_small", "MobileNetV3 small"),
    ("mnasnet0_5", "MNASNet 0.5"), ("shufflenet_v2_x0_5", "ShuffleNetV2 0.5"),
    ("efficientnet_b0", "EfficientNet B0"),
    ("regnet_x_400mf", "RegNetX 400MF"), ("convnext_tiny", "ConvNeXt tiny"),
    ("swin_t", "Swin tiny"), ("vit_b_32", "ViT-B/32")]


def write_names():
    """A line a model, then a line a tensor: its name, its shape."""
    from torchvision import models
    with open(FOLDER / "names.txt", "w", encoding="utf-8") as file:
        for name, label in MODELS:
            net = getattr(models, name)(num_classes=7)
            count = sum(p.numel() for p in net.parameters())
            print(f"{label}: {count}", file=file)
            for key, tensor in net.state_dict().items():
                sizes = "x".join(map(str, tensor.shape))
                print("  " + key + " " + sizes, file=file)


def main():
    write_names()
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    net = module()
    state = collections.OrderedDict(
        (k, v.clone()) for k, v in net.state_dict().items())
    plain = {k: v for k, v in state.items() if "batches" not in k}
    save("state.pth", state, state, True)
    save("legacy.pth", state, state, True,
         _use_new_zipfile_serialization=False)
    save("protocol4.pth", state, state, True, pickle_protocol=4)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.rand(1, 2, 6, 6)).sum().backward()
    optimizer.step()
    parallel = {"module." + k: v for k, v in state.items()}
    save("checkpoint.pth", {"epoch": 3, "loss": 0.5, "args": None,
                            "optimizer": optimizer.state_dict(),
                            "state_dict": parallel}, state)
    small = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    save("whole.pth", small, small.state_dict())
    save("own_class.pth", module(), state)
    torch.jit.script(module()).save(FOLDER / "scripted.pt")
    note("scripted.pt", state)
    torch.jit.trace(module(), torch.rand(1, 2, 6, 6)).save(
        FOLDER / "traced.pt")
    note("traced.pt", state)
    other = {k: v.clone() for k, v in plain.items()}
    other["fc1.weight"] = plain["fc1.weight"].t().contiguous().t()
    other["conv1.weight"] = plain["conv1.weight"].to(
        memory_format=torch.channels_last)
    save("strides.pth", other, other, True)
    table = torch.rand(7, 3)
    tied = {"embed.weight": table, "out.weight": table, "half": table.half(),
            "row": table[2], "bf16": table.bfloat16(), "none": table[:0],
            "count": torch.tensor(3)}
    save("tied.pth", tied, tied)
    write_safetensors("small.safetensors", plain)
    write_gguf("small.gguf", plain)
    # What people pack again is deflated: names and shapes are left.
    packed = io.BytesIO()
    torch.save(state, packed)
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(
            FOLDER / "deflated.pth", "w", zipfile.ZIP_DEFLATED) as target:
        for info in source.infolist():
            target.writestr(zipfile.ZipInfo(info.filename), source.read(info),
                            zipfile.ZIP_DEFLATED)
            if info.filename.endswith("data.pkl"):
                (FOLDER / "state.pkl").write_bytes(source.read(info))
    note("deflated.pth", state)
    with open(FOLDER / "truth.csv", "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("file", "tensors", "parameters", "buffers", "values"))
        out.writerows(rows)


main()
