#!/usr/bin/python3
"""A model of OpenVINO's IR that is made by hand, and what PyTorch computes of it.

usage: tools/openvino_truth.py [FOLDER]: writes made.xml, made.bin, made.x.npy and
made.y.npy there (tests/data/import/openvino), and SampLeNet's x and y, whose .bin
the test makes. No code of netc's is used; operations are those of the
specification, opset 1 to 9, in PyTorch's words.
"""
import os
import re
import sys

import numpy
import torch
import torch.nn.functional as F

WORDS = {"f32": "FP32", "f16": "FP16", "i64": "I64"}


class Model:
    def __init__(self):
        self.layers, self.edges, self.values, self.bin = [], [], [], b""

    def port(self, index, shape, kind="f32"):
        dims = "".join(f"<dim>{d}</dim>" for d in shape)
        return f'<port id="{index}" precision="{WORDS[kind]}">{dims}</port>'

    def layer(self, kind, ins, outs, type="f32", **data):
        """Inputs and outputs are (layer, port, tensor)."""
        me, more = len(self.layers), "".join(
            f' {k.replace("__", "-")}="{v}"' for k, v in data.items())
        text = f'<layer id="{me}" name="{kind}_{me}" type="{kind}" version="opset1">'
        text += f"<data{more}/>" if more else ""
        if ins:
            text += "<input>" + "".join(self.port(i, t.shape) for i, (_, _, t) in
                                        enumerate(ins)) + "</input>"
        if outs:
            text += "<output>" + "".join(
                self.port(len(ins) + i, t.shape, type) for i, t in
                enumerate(outs)) + "</output>"
        self.layers.append(text + "</layer>")
        for i, (layer, port, _) in enumerate(ins):
            self.edges.append(f'<edge from-layer="{layer}" from-port="{port}" '
                              f'to-layer="{me}" to-port="{i}"/>')
        made = [(me, len(ins) + i, t) for i, t in enumerate(outs)]
        return made[0] if len(made) == 1 else made

    def const(self, values, kind="f32"):
        array = numpy.asarray(values, {"f32": "<f4", "f16": "<f2", "i64": "<i8"}[kind])
        at, raw = len(self.bin), array.tobytes()
        self.bin += raw
        shape = ", ".join(str(d) for d in array.shape)
        t = torch.tensor(array.astype("f4") if kind != "i64" else array)
        return self.layer("Const", [], [t], kind, element_type=kind, shape=shape,
                          offset=at, size=len(raw))

    def text(self):
        return ('<?xml version="1.0"?>\n<net name="made" version="11">\n<layers>\n' +
                "\n".join(self.layers) + "\n</layers>\n<edges>\n" +
                "\n".join(self.edges) + "\n</edges>\n</net>\n")


def made(folder):
    torch.manual_seed(1)
    m = Model()
    weight = lambda *shape: m.const(torch.randn(*shape).numpy() * 0.4)
    x = torch.randn(1, 4, 8, 8)
    a = m.layer("Parameter", [], [x], shape="1,4,8,8", element_type="f32")
    w = weight(2, 3, 2, 3, 3)
    y = F.conv2d(x, w[2].reshape(6, 2, 3, 3), padding=1, groups=2)
    a = m.layer("GroupConvolution", [a, w], [y], strides="1,1", pads_begin="1,1",
                pads_end="1,1", dilations="1,1", auto_pad="explicit")
    b = m.const(torch.randn(1, 6, 1, 1).numpy(), "f16")
    b = m.layer("Convert", [b], [b[2]], destination_type="f32")
    a = m.layer("Add", [a, b], [a[2] + b[2]], auto_broadcast="numpy")
    s = weight(6)
    a = m.layer("PReLU", [a, s], [F.prelu(a[2], s[2])])
    pads = [m.const([0, 0, 1, 1], "i64"), m.const([0, 0, 1, 0], "i64"), m.const(0.0)]
    a = m.layer("Pad", [a] + pads, [F.pad(a[2], (1, 0, 1, 1))], pad_mode="constant")
    a = m.layer("Clamp", [a], [a[2].clamp(-0.5, 1.5)], min="-0.5", max="1.5")
    p, q = m.layer("Split", [a, m.const(1, "i64")], list(a[2].chunk(2, 1)), num_splits=2)
    a = m.layer("Concat", [q, p], [torch.cat([q[2], p[2]], 1)], axis=1)
    w = weight(6, 5, 2, 2)
    a = m.layer("ConvolutionBackpropData", [a, w], [F.conv_transpose2d(a[2], w[2], stride=2)],
                strides="2,2", pads_begin="0,0", pads_end="0,0", dilations="1,1",
                output_padding="0,0")
    ends = [m.const(v, "i64") for v in ([0, 0, 1, 0], [0, 0, 19, 0], [1, 1, 1, 1])]
    a = m.layer("StridedSlice", [a] + ends, [a[2][:, :, 1:19]], begin_mask="0,0,1,0",
                end_mask="0,0,1,0")
    a = m.layer("AvgPool", [a], [F.avg_pool2d(a[2], 2, 2)], kernel="2,2", strides="2,2",
                pads_begin="0,0", pads_end="0,0", exclude__pad="true", rounding_type="floor")
    size = m.const([18, 18], "i64")
    a = m.layer("Interpolate", [a, size, m.const([2.0, 2.0]), m.const([2, 3], "i64")],
                [F.interpolate(a[2], size=(18, 18))], mode="nearest",
                shape_calculation_mode="sizes", nearest_mode="floor",
                coordinate_transformation_mode="asymmetric")
    a = m.layer("HSwish", [a], [F.hardswish(a[2])])
    a = m.layer("Swish", [a], [F.silu(a[2])])
    a = m.layer("Gelu", [a], [F.gelu(a[2])], approximation_mode="ERF")
    axes = m.const([2, 3], "i64")
    g = m.layer("ReduceMean", [a, axes], [a[2].mean((2, 3), keepdim=True)], keep_dims="True")
    a = m.layer("Multiply", [a, g], [a[2] * g[2]])
    a = m.layer("Transpose", [a, m.const([0, 2, 3, 1], "i64")], [a[2].permute(0, 2, 3, 1)])
    a = m.layer("Reshape", [a, m.const([0, 324, 5], "i64")], [a[2].reshape(1, 324, 5)],
                special_zero="true")
    w = weight(5, 7)
    a = m.layer("MatMul", [a, w], [a[2] @ w[2]], transpose_a="false", transpose_b="false")
    b = weight(7)
    a = m.layer("Add", [a, b], [a[2] + b[2]])
    a = m.layer("ReduceMax", [a, m.const([1], "i64")], [a[2].amax(1)], keep_dims="false")
    w = weight(3, 7)
    a = m.layer("MatMul", [a, w], [a[2] @ w[2].T], transpose_a="false", transpose_b="true")
    a = m.layer("SoftMax", [a], [a[2].softmax(1)], axis=1)
    m.layer("Result", [a], [])
    open(os.path.join(folder, "made.xml"), "w").write(m.text())
    open(os.path.join(folder, "made.bin"), "wb").write(m.bin)
    save(folder, "made", x, a[2])


def save(folder, name, x, y):
    """netc's axes: channels last, no batch."""
    numpy.save(os.path.join(folder, name + ".x.npy"),
               numpy.ascontiguousarray(x[0].permute(1, 2, 0).numpy()))
    numpy.save(os.path.join(folder, name + ".y.npy"), y[0].detach().numpy())


def lenet(folder):
    """Float i of the .bin is ((7919 i) mod 1000 - 500) / 5000."""
    file = os.path.join(folder, "opencv__SampLeNet.xml")
    consts, end = [], 0
    for m in re.finditer(r'type="Const".*?<data ([^/]*)/>', open(file).read(), re.S):
        a = dict(re.findall(r'(\w+)="([^"]*)"', m.group(1)))
        end = max(end, int(a["offset"]) + int(a["size"]))
        consts.append(a)
    index = numpy.arange(end // 4, dtype="i8")
    values = ((index * 7919 % 1000 - 500) / 5000).astype("f4")
    w = [torch.tensor(values[int(a["offset"]) // 4:][:int(a["size"]) // 4].reshape(
        [int(d) for d in a["shape"].split(",")])) for a in consts
         if a["element_type"] == "f32"]
    torch.manual_seed(2)
    x = torch.randn(1, 3, 32, 32)
    y = F.max_pool2d(F.relu(F.conv2d(x, w[0]) + w[1]), 2, 2, ceil_mode=True)
    y = F.max_pool2d(F.relu(F.conv2d(y, w[2]) + w[3]), 2, 2, ceil_mode=True)
    y = F.relu(y.flatten(1) @ w[4].T + w[5])
    save(folder, "opencv__SampLeNet", x, F.relu(y @ w[6].T + w[7]) @ w[8].T + w[9])


folder = sys.argv[1] if len(sys.argv) > 1 else "tests/data/import/openvino"
made(folder)
lenet(folder)
