#!/usr/bin/python3
"""Small nets of eight bits as other tools write them: tests/data/import/quant.

    tools/onnx_quant.py FOLDER

`qdq.onnx` has QuantizeLinear and DequantizeLinear around its operators, with
int8 between them, `unsigned.onnx` uint8, `qlinear.onnx` ONNX Runtime's operators for
all of that, `operators.onnx` those that it has beside them. Weights and samples
are by chance, scales those of the samples;
`x.npy` has four of them, rows, columns, channels. What onnxruntime makes of
them, `y.npy` and `operators.y.npy`, `make check-onnx` compares. Needs
python3-onnx and python3-torch.
"""
import os
import sys

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper

PADS = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}


class Net:
    def __init__(self, qlinear, unsigned):
        self.nodes, self.constants, self.steps = [], {}, {}
        self.qlinear = qlinear
        self.kind = np.uint8 if unsigned else np.int8

    def add(self, op, ins, out, domain="", **attributes):
        self.nodes.append(helper.make_node(op, ins, [out], name=out,
                                           domain=domain, **attributes))

    def steps_of(self, name, values):
        """The scale and the zero of a tensor, by its least and its largest."""
        least = min(float(values.min()), 0.0)
        scale = np.float32((max(float(values.max()), 0.0) - least) / 255)
        zero = round(-least / float(scale)) + np.iinfo(self.kind).min
        self.steps[name] = scale
        self.constants[name + "_s"] = scale
        self.constants[name + "_z"] = self.kind(zero)

    def quantise(self, name):
        steps = [name + "_s", name + "_z"]
        self.add("QuantizeLinear", [name, *steps], name + "_q")
        self.add("DequantizeLinear", [name + "_q", *steps], name + "_d")

    def weights(self, name, source, weight, bias):
        """int8 with a scale for each output, and int32."""
        scale = np.abs(weight).reshape(len(weight), -1).max(1) / 127
        scale = scale.astype("f4")
        wide = scale.reshape(-1, *[1] * (weight.ndim - 1))
        self.constants[name + ".weight"] = np.rint(weight / wide).astype("i1")
        self.constants[name + ".weight_s"] = scale
        self.constants[name + ".weight_z"] = np.zeros(len(scale), "i1")
        scale = (self.steps[source] * scale).astype("f4")
        self.constants[name + ".bias"] = np.rint(bias / scale).astype("i4")
        if self.qlinear:
            return
        self.constants[name + ".bias_s"] = scale
        self.constants[name + ".bias_z"] = np.zeros(len(scale), "i4")
        for part in (".weight", ".bias"):
            part = name + part
            self.add("DequantizeLinear", [part, part + "_s", part + "_z"],
                     part + "_d", axis=0)

    def layer(self, name, source, op, weight, bias, relu, **attributes):
        self.weights(name, source, weight, bias)
        if not self.qlinear:
            out = name + "_sum" if relu else name
            self.add(op, [source + "_d", name + ".weight_d", name + ".bias_d"],
                     out, **attributes)
            if relu:
                self.add("Relu", [out], name)
            return self.quantise(name)
        ins = [part + end for part in (source, name + ".weight")
               for end in ("", "_s", "_z")]
        steps = [name + "_s", name + "_z"]
        if op == "Conv":
            return self.add("QLinearConv", [*ins, *steps, name + ".bias"],
                            name, **attributes)
        return self.add("QGemm", [*ins, name + ".bias", *steps], name,
                        "com.microsoft", **attributes)

    def save(self, path):
        opsets = [helper.make_opsetid("", 13)]
        if self.qlinear:
            opsets.append(helper.make_opsetid("com.microsoft", 1))
        used = {name for node in self.nodes for name in node.input}
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "quant", [info("x", 1, [1, 3, 16, 16])],
            [info("y", 1, [1, 10])],
            [numpy_helper.from_array(np.array(value), name)
             for name, value in self.constants.items() if name in used])
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.save(model, path)


def write(path, qlinear, unsigned, samples, w):
    net = Net(qlinear, unsigned)
    first = F.relu(F.conv2d(samples, *w[0], padding=1))
    second = F.relu(F.conv2d(first, *w[1], padding=1, groups=8))
    third = F.conv2d(second, *w[2])
    mean = F.max_pool2d(third + first, 2).mean((2, 3))
    for name, values in (("x", samples), ("c1", first), ("c2", second),
                         ("c3", third), ("sum", third + first), ("mean", mean),
                         ("fc", F.linear(mean, *w[3]))):
        net.steps_of(name, values)
    w = [(a.numpy(), b.numpy()) for a, b in w]
    source, end = "x", "" if qlinear else "_d"
    if qlinear:
        source = "x_q"
        net.add("QuantizeLinear", ["x", "x_s", "x_z"], source)
        for part in ("_s", "_z"):
            net.constants[source + part] = net.constants["x" + part]
        net.steps[source] = net.steps["x"]
    else:
        net.quantise("x")
    net.layer("c1", source, "Conv", *w[0], True, **PADS)
    net.layer("c2", "c1", "Conv", *w[1], True, group=8, **PADS)
    net.layer("c3", "c2", "Conv", *w[2], False, kernel_shape=[1, 1])
    if qlinear:
        net.add("QLinearAdd", [a + b for a in ("c3", "c1")
                               for b in ("", "_s", "_z")] + ["sum_s", "sum_z"],
                "sum", "com.microsoft")
    else:
        net.add("Add", ["c3_d", "c1_d"], "sum")
        net.quantise("sum")
    net.add("MaxPool", ["sum" + end], "pool" + end, kernel_shape=[2, 2],
            strides=[2, 2])
    if qlinear:
        net.add("QLinearGlobalAveragePool",
                ["pool", "sum_s", "sum_z", "mean_s", "mean_z"], "mean",
                "com.microsoft")
    else:
        net.add("GlobalAveragePool", ["pool_d"], "mean")
        net.quantise("mean")
    net.add("Flatten", ["mean" + end], "flat" + end)
    for part in ("_s", "_z"):
        net.constants["flat" + part] = net.constants["mean" + part]
    net.steps["flat"] = net.steps["mean"]
    net.layer("fc", "flat", "Gemm", *w[3], False, transB=1)
    if qlinear:
        net.add("DequantizeLinear", ["fc", "fc_s", "fc_z"], "y")
    else:
        net.add("Identity", ["fc_d"], "y")
    net.save(path)


def write_operators(path, samples, w):
    """Each of ONNX Runtime's operators that `qlinear.onnx` lacks."""
    net = Net(True, True)
    weight = w[3][0].T
    leaky = F.leaky_relu(F.conv2d(samples, *w[0], padding=1), 0.1)
    mean = F.avg_pool2d(leaky, 2)
    sigmoid = torch.sigmoid(mean)
    joined = torch.cat((sigmoid * mean, mean), 1).mean((2, 3))
    fc = joined @ torch.cat((weight, weight))
    for name, values in (("x_q", samples), ("c1", leaky), ("leaky", leaky),
                         ("mean", mean), ("sigmoid", sigmoid),
                         ("gap", joined), ("fc", fc)):
        net.steps_of(name, values)
    for end in ("_s", "_z"):  # what is joined has one scale
        net.constants["mul" + end] = net.constants["mean" + end]
        net.constants["cat" + end] = net.constants["mean" + end]
    net.constants["y_q_s"] = np.float32(1 / 256)  # as the runtime wants it
    net.constants["y_q_z"] = np.uint8(0)

    def with_steps(*names):
        return [name + end for name in names for end in ("", "_s", "_z")]

    def add(op, ins, out, **attributes):
        net.add("QLinear" + op, [*with_steps(*ins), out + "_s", out + "_z"], out,
                "com.microsoft", **attributes)

    net.add("QuantizeLinear", ["x", "x_q_s", "x_q_z"], "x_q")
    net.layer("c1", "x_q", "Conv", *(part.numpy() for part in w[0]), False,
              **PADS)
    add("LeakyRelu", ["c1"], "leaky", alpha=0.1)
    add("AveragePool", ["leaky"], "mean", kernel_shape=[2, 2], strides=[2, 2])
    add("Sigmoid", ["mean"], "sigmoid")
    add("Mul", ["sigmoid", "mean"], "mul")
    net.add("QLinearConcat", ["cat_s", "cat_z", *with_steps("mul", "mean")],
            "cat", "com.microsoft", axis=1)
    add("GlobalAveragePool", ["cat"], "gap")
    net.add("Flatten", ["gap"], "flat")
    matrix = torch.cat((weight, weight)).numpy()
    net.constants["fc.weight_s"] = np.float32(np.abs(matrix).max() / 127)
    net.constants["fc.weight_z"] = np.int8(0)
    net.constants["fc.weight"] = np.rint(
        matrix / net.constants["fc.weight_s"]).astype("i1")
    net.add("QLinearMatMul", ["flat", "gap_s", "gap_z",
                              *with_steps("fc.weight"), "fc_s", "fc_z"], "fc")
    net.add("QLinearSoftmax", [*with_steps("fc"), "y_q_s", "y_q_z"], "y_q",
            "com.microsoft", axis=-1, opset=13)
    net.add("DequantizeLinear", with_steps("y_q"), "y")
    net.save(path)


def main(folder):
    chance = np.random.RandomState(3)

    def by_chance(*shape):
        values = chance.randn(*shape) / np.prod(shape[1:]) ** .5
        return torch.from_numpy(values.astype("f4"))

    w = [(by_chance(*shape), by_chance(shape[0]))
         for shape in ((8, 3, 3, 3), (8, 1, 3, 3), (8, 8, 1, 1), (10, 8))]
    samples = torch.from_numpy(chance.rand(16, 3, 16, 16).astype("f4") * 2 - 1)
    for name, qlinear, unsigned in (("qdq", False, False),
                                    ("unsigned", False, True),
                                    ("qlinear", True, True)):
        write(os.path.join(folder, name + ".onnx"), qlinear, unsigned, samples,
              w)
    write_operators(os.path.join(folder, "operators.onnx"), samples, w)
    x = samples[:4].numpy().transpose(0, 2, 3, 1)
    np.save(os.path.join(folder, "x.npy"), np.ascontiguousarray(x))


main(sys.argv[1])
