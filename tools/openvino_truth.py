#!/usr/bin/python3
"""A model of OpenVINO's IR that is made by hand, and what PyTorch computes of it.

usage: tools/openvino_truth.py [FOLDER]: writes made.xml, made.bin, made.x.npy and
made.y.npy there (tests/data/import/openvino), the same of old (version 7) and of
eight (weights of 8 bits), and SampLeNet's x and y, whose .bin the test makes. No
code of netc's is used; operations are those of the specification, opset 1 to 9
and the catalog of version 7, in PyTorch's words.
"""
import os
import re
import sys

import numpy
import torch
import torch.nn.functional as F

WORDS = {"f32": "FP32", "f16": "FP16", "i64": "I64", "i8": "I8"}


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
        array = numpy.asarray(values, {"f32": "<f4", "f16": "<f2", "i64": "<i8",
                                       "i8": "i1"}[kind])
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
    write(folder, "made", m, x, a[2])


class Old(Model):
    """Version 7: weights are blobs of their layer."""

    def port(self, index, shape, kind="f32"):
        return super().port(index, shape).replace(' precision="FP32"', "")

    def layer(self, kind, ins, outs, blobs={}, **data):
        made = super().layer(kind, ins, outs, **data)
        text = ""
        for name, values in blobs.items():
            raw = values.numpy().astype("<f4").tobytes()
            text += f'<{name} offset="{len(self.bin)}" size="{len(raw)}"/>'
            self.bin += raw
        text = f"<blobs>{text}</blobs>" if text else ""
        for old, new in ((' version="opset1"', ' precision="FP32"'),
                         (" word=", " type="), ("</layer>", text + "</layer>")):
            self.layers[-1] = self.layers[-1].replace(old, new)
        return made

    def text(self):
        return super().text().replace('version="11"', 'version="7" batch="1"')


def old(folder):
    torch.manual_seed(3)
    m = Old()
    some = lambda *shape: torch.randn(*shape) * 0.4
    x = torch.randn(1, 4, 9, 8)
    a = m.layer("Input", [], [x])
    w, b = some(4), some(4)
    a = m.layer("ScaleShift", [a], [a[2] * w[:, None, None] + b[:, None, None]],
                {"weights": w, "biases": b})
    w, b = some(6, 2, 3, 3), some(6)
    a = m.layer("Convolution", [a], [F.conv2d(a[2], w, b, padding=1, groups=2)],
                {"weights": w, "biases": b}, kernel="3,3", strides="1,1", dilations="1,1",
                pads_begin="1,1", pads_end="1,1", group=2, output=6)
    c = a = m.layer("ReLU", [a], [F.leaky_relu(a[2], 0.1)], negative_slope=0.1)
    w = some(1)
    a = m.layer("PReLU", [a], [F.prelu(a[2], w)],
                {"weights": w}, channel_shared=1)
    a = m.layer("Eltwise", [a, c], [a[2] + c[2]], operation="sum")
    a = m.layer("Power", [a], [(a[2] * 2 + 1) ** 2], power=2, scale=2, shift=1)
    a = m.layer("Pooling", [a], [F.max_pool2d(a[2], 3, 2, ceil_mode=True)], kernel="3,3",
                strides="2,2", pads_begin="0,0", pads_end="0,0", pool__method="max",
                rounding_type="ceil")
    a = m.layer("Pooling", [a], [F.avg_pool2d(a[2], 2, 1)], kernel="2,2", strides="1,1",
                pads_begin="0,0", pads_end="0,0", pool__method="avg", exclude__pad="true",
                rounding_type="floor")
    y = a[2].reshape(1, 2, 3, *a[2].shape[2:]).transpose(1, 2).reshape(a[2].shape)
    a = m.layer("ShuffleChannels", [a], [y], axis=1, group=2)
    w = some(6, 5, 2, 2)
    a = m.layer("Deconvolution", [a], [F.conv_transpose2d(a[2], w, stride=2)],
                {"weights": w}, kernel="2,2", strides="2,2", dilations="1,1",
                pads_begin="0,0", pads_end="0,0", group=1, output=5)
    a = m.layer("Crop", [a], [a[2][:, 1:5]], axis=1, offset=1, dim=4)
    w = some(4)
    y = F.normalize(a[2], dim=1) * w[:, None, None]
    a = m.layer("Normalize", [a], [y], {"weights": w}, across_spatial=0, channel_shared=0,
                eps=1e-10)
    a = m.layer("Resample", [a], [F.interpolate(a[2], scale_factor=2)], antialias=0,
                factor=2, word="caffe.ResampleParameter.NEAREST")
    g = F.avg_pool2d(a[2], a[2].shape[2:])
    size = ",".join(str(d) for d in a[2].shape[2:])
    g = m.layer("Pooling", [a], [g], kernel=size, strides="1,1", pads_begin="0,0",
                pads_end="0,0", pool__method="avg", exclude__pad="true")
    g = m.layer("Activation", [g], [g[2].sigmoid()], word="sigmoid")
    for axis in (2, 3):
        times = a[2].shape[axis]
        y = g[2].repeat_interleave(times, axis)
        g = m.layer("Tile", [g], [y], axis=axis, tiles=times)
    a = m.layer("Eltwise", [a, g], [a[2] * g[2]], operation="mul")
    w, b = some(5, a[2].numel()), some(5)
    a = m.layer("FullyConnected", [a], [a[2].flatten(1) @ w.T + b],
                {"weights": w, "biases": b}, out__size=5)
    a = m.layer("SoftMax", [a], [a[2].softmax(1)], axis=1)
    write(folder, "old", m, x, a[2])


def eight(folder):
    """Rounding would change values; the levels here are those of the integers."""
    torch.manual_seed(4)
    m = Model()
    x = torch.randn(1, 2, 6, 6)
    a = m.layer("Parameter", [], [x], shape="1,2,6,6", element_type="f32")

    def whole(*shape):
        w = m.const(torch.randint(-128, 128, shape).numpy(), "i8")
        return m.layer("Convert", [w], [w[2]], destination_type="f32")

    bounds = [m.const(v) for v in (-4.0, 4.0, -4.0, 4.0)]
    a = m.layer("FakeQuantize", [a] + bounds, [a[2]], levels=256)
    w = whole(3, 2, 3, 3)
    z = m.const(torch.randint(-3, 3, (3, 1, 1, 1)).numpy(), "i8")
    z = m.layer("Convert", [z], [z[2]], destination_type="f32")
    w = m.layer("Subtract", [w, z], [w[2] - z[2]])
    s = m.const((torch.rand(3, 1, 1, 1) * 0.01).numpy())
    w = m.layer("Multiply", [w, s], [w[2] * s[2]])
    a = m.layer("Convolution", [a, w], [F.conv2d(a[2], w[2])], strides="1,1",
                pads_begin="0,0", pads_end="0,0", dilations="1,1")
    w = whole(4, 3, 1, 1)
    high = torch.rand(4, 1, 1, 1) + 0.5
    bounds = [m.const(v) for v in (-128.0, 127.0, (-128 / 127 * high).numpy(),
                                   high.numpy())]
    w = m.layer("FakeQuantize", [w] + bounds, [w[2] * high / 127], levels=256)
    a = m.layer("Convolution", [a, w], [F.conv2d(a[2], w[2])], strides="1,1",
                pads_begin="0,0", pads_end="0,0", dilations="1,1")
    a = m.layer("Reshape", [a, m.const([1, 64], "i64")], [a[2].reshape(1, 64)])
    w = whole(5, 64)
    w = m.layer("Multiply", [w, m.const(0.004)], [w[2] * 0.004])
    a = m.layer("MatMul", [a, w], [a[2] @ w[2].T], transpose_a="false", transpose_b="true")
    m.layer("Result", [a], [])
    write(folder, "eight", m, x, a[2])


def write(folder, name, m, x, y):
    open(os.path.join(folder, name + ".xml"), "w").write(m.text())
    open(os.path.join(folder, name + ".bin"), "wb").write(m.bin)
    save(folder, name, x, y)


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
old(folder)
eight(folder)
lenet(folder)
