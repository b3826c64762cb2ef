#!/usr/bin/python3
"""Programs of torch.export, small, and what PyTorch computes of them.

usage: tools/oracle/run.sh ROOT python3 tools/exported_truth.py [FOLDER]

writes NAME.pt2, NAME.in.npy, NAME.out.npy and truth.csv into FOLDER
(tests/data/import/exported), with PyTorch 2.6. Stack traces are left out of the
JSON, which are most of its bytes. lenet.json is its program alone, training.json
and attending.json are of training mode. newer.pt2 is lenet.pt2 in the archive that PyTorch writes
from 2.8 on, by torch/export/pt2_archive/constants.py: what that version itself
writes was not at hand.
"""
import io
import json
import os
import sys
import zipfile

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode
from torchvision.ops import StochasticDepth
from torchvision.models.swin_transformer import SwinTransformer


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 5, padding=2), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
            nn.MaxPool2d(2), nn.Conv2d(8, 16, 5), nn.ReLU(), nn.AvgPool2d(2))
        self.fc = nn.Linear(400, 10)

    def forward(self, x):
        return F.log_softmax(self.fc(self.features(x).flatten(1)), 1)


class Tagger(nn.Module):
    """Both directions of two layers, from a state of zeros."""
    def __init__(self, kind):
        super().__init__()
        self.embed = nn.Embedding(50, 12)
        self.rnn = getattr(nn, kind)(12, 10, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(20, 5)

    def forward(self, tokens):
        return self.out(self.rnn(self.embed(tokens))[0])


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.RMSNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (self.qkv(self.norm1(x)).view(b, n, 3, self.heads, c // self.heads)
                   .permute(2, 0, 3, 1, 4).unbind(0))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, n, c))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    """The output's matrix is the embedding's."""
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.positions = nn.Embedding(12, 16)
        self.blocks = nn.ModuleList(Block(16, 2) for _ in range(2))
        self.head = nn.Linear(16, 40, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        at = torch.arange(tokens.shape[1])
        x = self.embed(tokens) + self.positions(at)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        def double(a, b):
            return nn.Sequential(
                nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(2, b), nn.SiLU(),
                nn.Conv2d(b, b, 3, padding="same", bias=False), nn.InstanceNorm2d(
                    b, affine=True), nn.LeakyReLU(0.2))
        self.a, self.b, self.c = double(3, 8), double(8, 16), double(24, 8)
        self.up = nn.ConvTranspose2d(16, 16, 2, 2)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        first = self.a(x)
        second = self.up(self.b(F.max_pool2d(first, 2)))
        y = self.c(torch.cat([first, second], 1))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        return F.interpolate(torch.sigmoid(self.out(y)), size=(24, 24))


class Calls(nn.Module):
    """Of each kind of move and sum one."""
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.linspace(0, 1, 6).view(1, 6))
        self.slope = nn.PReLU(4)
        self.expand = nn.Conv1d(4, 8, 3, padding=1, groups=2)

    def forward(self, x):
        a, b = self.expand(F.pad(x, (0, 2))).chunk(2, dim=1)
        y = self.slope(a[..., :6]) * torch.sigmoid(b[..., :6]) + self.table
        y = torch.roll(y, 2, 2).transpose(1, 2)
        y = torch.stack([y, y.square()], 1).flatten(1, 2)
        y = y - 0.5 * y.mean(-1, keepdim=True) + y.amax(-1, keepdim=True)
        y = F.hardtanh(y / (1e-6 + y.norm(dim=-1, keepdim=True)), -0.9, 0.9)
        first, second = y.split([4, 8], 1)
        return torch.cat([first.exp(), F.elu(second.clamp(min=-0.5)).unsqueeze(1)
                          .squeeze(1)], 1).sum(2).pow(2)


class Training(nn.Module):
    """Of layers that only training has."""
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.drop = nn.Dropout(0.2, inplace=True)
        self.depth = StochasticDepth(0.25, "row")

    def forward(self, x):
        return x + self.depth(self.drop(self.fc(x)))


class Attending(nn.Module):
    """Attention that drops weights."""
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = (t.view(1, 6, 2, 4).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
        return self.out(y.transpose(1, 2).reshape(1, 6, 8))


def swin():
    return SwinTransformer([2, 2], 8, [2, 2], [1, 2], [4, 4], num_classes=6)


def torchvision(name, **options):
    import torchvision.models
    return torchvision.models.get_model(name, weights=None, **options)


MAP = torch.linspace(-1, 1, 3 * 16 * 16).sin().view(1, 3, 16, 16)
CASES = {
    "lenet": (LeNet, torch.linspace(-1, 1, 784).cos().view(1, 1, 28, 28)),
    "lstm": (lambda: Tagger("LSTM"), torch.arange(12).view(1, 12) * 3),
    "gru": (lambda: Tagger("GRU"), torch.arange(12).view(1, 12) * 3),
    "decoder": (Decoder, torch.arange(12).view(1, 12) * 2),
    "unet": (UNet, MAP),
    "calls": (Calls, torch.linspace(-2, 2, 24).view(1, 4, 6)),
    "swin": (swin, torch.linspace(-1, 1, 3 * 32 * 32).sin().view(1, 3, 32, 32)),
}
DYNAMIC = {"lenet"}  # the batch is


def repack(name, path):
    """Without stack traces; returns the members."""
    members = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            members[member] = archive.read(member)
    own = "serialized_exported_program.json"
    program = json.loads(members[own])
    for node in program["graph_module"]["graph"]["nodes"]:
        stack = node["metadata"].get("nn_module_stack")
        node["metadata"] = {"nn_module_stack": stack} if stack else {}
    members[own] = json.dumps(program).encode()
    members.pop("serialized_example_inputs.pt", None)
    store(path, members)
    return members


def store(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0)), data)


def newer(path, members, state):
    """The layout from 2.8 on."""
    config, weights = {}, {}
    for i, (name, tensor) in enumerate(state.items()):
        config[name] = {"path_name": f"weight_{i}", "is_param": True,
                        "use_pickle": False}
        weights[f"newer/data/weights/weight_{i}"] = tensor.numpy().tobytes()
    store(path, {
        "newer/archive_format": b"pt2", "newer/archive_version": b"0",
        "newer/models/model.json": members["serialized_exported_program.json"],
        "newer/data/weights/model_weights_config.json":
            json.dumps({"config": config}).encode(), **weights})


def alone(folder, name, model, x):
    """The JSON of a program in training mode."""
    path = f"{folder}/{name}.json"
    torch.export.save(torch.export.export(model, (x,)), path)
    own = repack(name, path)["serialized_exported_program.json"]
    with open(path, "wb") as file:
        file.write(own)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "tests/data/import/exported"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/truth.csv", "w") as table:
        table.write("# tools/exported_truth.py, PyTorch "
                    f"{torch.__version__.split('+')[0]}\n"
                    "# name,parameters,buffers\n")
        for name, (make, x) in CASES.items():
            torch.manual_seed(1)
            model = make().eval()
            shapes = None
            if name in DYNAMIC:
                shapes = ({0: torch.export.Dim("batch", min=1, max=64)},)
            example = x.expand(2, *x.shape[1:]) if shapes else x
            program = torch.export.export(model, (example,), dynamic_shapes=shapes)
            path = f"{folder}/{name}.pt2"
            torch.export.save(program, path)
            members = repack(name, path)
            with torch.no_grad():
                y = model(x)
            dtype = numpy.int64 if x.dtype == torch.int64 else numpy.float32
            numpy.save(f"{folder}/{name}.in.npy", x.numpy().astype(dtype))
            numpy.save(f"{folder}/{name}.out.npy", y.numpy())
            parameters = sum(p.numel() for p in model.parameters())
            buffers = sum(b.numel() for b in model.buffers())
            table.write(f"{name},{parameters},{buffers}\n")
            if name == "lenet":
                newer(f"{folder}/newer.pt2", members, model.state_dict())
                own = json.loads(members["serialized_exported_program.json"])
                with open(f"{folder}/lenet.json", "w") as file:
                    json.dump(own, file, indent=1)
    alone(folder, "training", Training(), torch.zeros(1, 6))
    alone(folder, "attending", Attending(), torch.zeros(1, 6, 8))


if __name__ == "__main__":
    main()
