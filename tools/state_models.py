#!/usr/bin/python3
"""Streaming models as PyTorch 1.13 exports them: state_models.py FOLDER.

Each NAME.onnx gets its input at three steps, NAME.x0.npy to NAME.x2.npy, its first states, as
NAME.h.npy with the batch in front, and the output of the last step, NAME.y.npy, which PyTorch
computes with the states of the step before. nested.onnx is written node by node, as
silero_vad.onnx is built: all of it is in the branches of an If, and a second If gives the LSTM
its state.
"""
import sys

import numpy
import onnx
import onnx.numpy_helper
import torch
from torch import nn
import torch.nn.functional as F


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(12, 5)
        self.g = nn.GRU(8, 12, batch_first=True)

    def forward(self, x, h):
        y, h = self.g(torch.relu(self.a(x)), h)
        return self.b(y), h


class Lstm(nn.Module):
    """Two layers, whose states are rows of one tensor."""

    def __init__(self):
        super().__init__()
        self.g, self.b = nn.LSTM(8, 12, 2), nn.Linear(12, 5)

    def forward(self, x, h, c):
        y, (h, c) = self.g(x, (h, c))
        return self.b(y), h, c


class Dtln(nn.Module):
    """DTLN's mask: both states of both layers in one tensor, 1 x 2 x units x
    2 (breizhn/DTLN)."""

    def __init__(self):
        super().__init__()
        self.a = nn.LSTM(17, 16, batch_first=True)
        self.b = nn.LSTM(16, 16, batch_first=True)
        self.d = nn.Linear(16, 17)

    def forward(self, x, h):
        kept = []
        y = x
        for i, layer in enumerate((self.a, self.b)):
            y, (s, c) = layer(y, (h[:, i, :, 0][None], h[:, i, :, 1][None]))
            kept.append(torch.stack([s[0], c[0]], -1))
        return torch.sigmoid(self.d(y)), torch.stack(kept, 1)


class Silero(nn.Module):
    """As silero-vad: a transform by a convolution, an LSTM, a rate that
    chooses the net."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(18, 1, 16))
        self.c, self.d = nn.Conv1d(9, 8, 3, padding=1), nn.Conv1d(8, 1, 1)
        self.g = nn.LSTM(8, 8, 2)

    def forward(self, x, sr, h, c):
        y = F.pad(x.unsqueeze(1), (4, 4), mode="reflect")
        y = F.conv1d(y, self.w, stride=8)
        y = torch.relu(self.c(torch.sqrt(y[:, :9] ** 2 + y[:, 9:] ** 2)))
        y, (h, c) = self.g(y.permute(2, 0, 1), (h, c))
        y = torch.sigmoid(self.d(torch.relu(y.permute(1, 2, 0)))).mean(2)
        return y * (sr == 16000).float(), h, c


RATE = torch.tensor(16000)
OPEN = {"x": {0: "batch", 1: "samples"}, "h": {1: "batch"}, "c": {1: "batch"}}
MODELS = {
    "gru": (Gru, (1, 3, 6), {"h": (1, 1, 12)}, {},
            {"x": {0: "batch"}, "h": {1: "batch"}}),
    "lstm": (Lstm, (1, 1, 8), {"h": (2, 1, 12), "c": (2, 1, 12)}, {}, {}),
    "dtln": (Dtln, (1, 1, 17), {"h": (1, 2, 16, 2)}, {}, {}),
    "silero": (Silero, (1, 64), {"h": (2, 1, 8), "c": (2, 1, 8)},
               {"sr": RATE}, OPEN),
}


def branch(name, nodes, outs):
    values = [onnx.helper.make_tensor_value_info(o, onnx.TensorProto.FLOAT, None) for o in outs]
    return onnx.helper.make_graph(nodes, name, [], values)


def state_of(prefix):
    """The first state, through an If with a constant condition."""
    node = onnx.helper.make_node
    return [node("Gather", ["state", "zero"], [f"{prefix}h"], axis=0),
            node("If", ["yes"], [f"{prefix}s"],
                 then_branch=branch("then", [node("Unsqueeze", [f"{prefix}h", "axes"],
                                                  [f"{prefix}t"])], [f"{prefix}t"]),
                 else_branch=branch("else", [node("Identity", [f"{prefix}h"], [f"{prefix}e"])],
                                    [f"{prefix}e"]))]


def nested(path):
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    real, whole = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    draw = numpy.random.default_rng(1).standard_normal
    tensors = {"w": draw((1, 32, 8)), "r": draw((1, 32, 8)), "b": draw((1, 64))}
    parts = [onnx.numpy_helper.from_array(v.astype("float32"), k) for k, v in tensors.items()]
    parts += [onnx.numpy_helper.from_array(numpy.array(v), k) for k, v in
              {"zero": 0, "axes": [0], "rate": 16000, "yes": True}.items()]

    def run(p):
        return branch(p, state_of(p) + [
            node("Reshape", ["input", "shape"], [f"{p}x"]),
            node("LSTM", [f"{p}x", "w", "r", "b", "", f"{p}s", f"{p}s"],
                 [f"{p}y", f"{p}n", f"{p}c"], hidden_size=8)], [f"{p}n", f"{p}c"])

    parts += [onnx.numpy_helper.from_array(numpy.array([-1, 1, 8]), "shape")]
    graph = onnx.helper.make_graph(
        [node("Equal", ["sr", "rate"], ["is"]),
         node("If", ["is"], ["hn", "cn"], then_branch=run("a"), else_branch=run("b"))],
        "nested", [info("input", real, [None, None]), info("state", real, [2, None, 8]),
                   info("sr", whole, [])],
        [info("hn", real, None), info("cn", real, None)], parts)
    onnx.save(onnx.helper.make_model(
        graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 16)]), path)


def main():
    folder = sys.argv[1]
    nested(f"{folder}/nested.onnx")
    for name, (kind, size, states, more, axes) in MODELS.items():
        torch.manual_seed(1)
        net = kind().eval()
        kept = [torch.rand(*s) - 0.5 for s in states.values()]
        for key, state in zip(states, kept):
            state = state if state.dim() == 4 else state.transpose(0, 1)
            numpy.save(f"{folder}/{name}.{key}.npy",
                       numpy.ascontiguousarray(state))
        torch.onnx.export(
            net, (torch.randn(*size), *more.values(), *kept),
            f"{folder}/{name}.onnx", input_names=["x", *more, *states],
            output_names=["y", *(f"{key}n" for key in states)],
            dynamic_axes=axes, opset_version=14)
        for step in range(3):
            x = torch.randn(*size)
            numpy.save(f"{folder}/{name}.x{step}.npy", x.numpy())
            with torch.no_grad():
                y, *kept = net(x, *more.values(), *kept)
        numpy.save(f"{folder}/{name}.y.npy", y.numpy())
        print(name, sum(p.numel() for p in net.parameters()))


main()
