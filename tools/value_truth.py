#!/usr/bin/env python3
"""Writes tests/data/import/values: nets of Darknet and of Caffe, the files of
weights that these keep beside them, modules of PyTorch as torch.save writes
them whole, an input and what PyTorch computes.

    tools/value_truth.py [FOLDER]

The files are written here byte by byte, after src/parser.c of Darknet and
caffe.proto, and the layers are computed by torch.nn.functional, so that neither
shares code with netc.
"""
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

sys.path.append(os.path.join(os.path.dirname(__file__), "verify"))
from onednn import switch_off_if_wrong

rng = np.random.default_rng(7)


def values(*shape):
    return rng.uniform(-0.5, 0.5, shape).astype("<f4")


def positive(*shape):
    return rng.uniform(0.5, 1.5, shape).astype("<f4")


def tensor(a):
    return torch.from_numpy(np.ascontiguousarray(a))


def save(folder, name, x, y):
    """Channels last, as netc has them, without the batch."""
    for suffix, value in (("in", x), ("out", y)):
        value = value[0].numpy()
        value = np.moveaxis(value, 0, -1) if value.ndim > 1 else value
        np.save(os.path.join(folder, f"{name}.{suffix}.npy"),
                np.ascontiguousarray(value))


CFG = """[net]
height=9
width=8
channels=3

[convolutional]
batch_normalize=1
filters=6
size=3
stride=2
pad=1
activation=leaky

[convolutional]
filters=6
size=3
pad=1
groups=6
activation=linear

[shortcut]
from=-2
activation=mish

[deconvolutional]
batch_normalize=1
filters=4
size=2
stride=2
activation=relu

[implicit_mul]
filters=4

[route]
layers=-2

[control_channels]
from=-2

[maxpool]
size=2
stride=2

[connected]
batch_normalize=1
output=7
activation=leaky

[connected]
output=5
activation=logistic

[softmax]
"""


def darknet(folder):
    data = [struct.pack("<iiiQ", 0, 2, 5, 1000)]

    def take(*arrays):
        data.extend(a.tobytes() for a in arrays)

    def norm(x, b, s, m, v):
        return F.batch_norm(x, tensor(m), tensor(v), tensor(s), tensor(b),
                            eps=1e-5)

    x = tensor(values(1, 3, 9, 8))
    b, s, m, v = values(6), positive(6), values(6), positive(6)
    w = values(6, 3, 3, 3)
    take(b, s, m, v, w)
    first = F.leaky_relu(norm(F.conv2d(x, tensor(w), stride=2, padding=1),
                              b, s, m, v), 0.1)
    b, w = values(6), values(6, 1, 3, 3)
    take(b, w)
    y = F.mish(F.conv2d(first, tensor(w), tensor(b), padding=1, groups=6)
               + first)
    b, s, m, v = values(4), positive(4), values(4), positive(4)
    w = values(6, 4, 2, 2)
    take(b, s, m, v, w)
    y = F.relu(norm(F.conv_transpose2d(y, tensor(w), stride=2), b, s, m, v))
    w = values(4)
    take(w)
    y = F.max_pool2d(F.pad(y * tensor(w).view(1, 4, 1, 1), (0, 1, 0, 1),
                           value=float("-inf")), 2, 2)
    y = y.flatten(1)
    b, w = values(7), values(7, y.shape[1])
    s, m, v = positive(7), values(7), positive(7)
    take(b, w, s, m, v)
    y = F.leaky_relu(norm(F.linear(y, tensor(w)), b, s, m, v), 0.1)
    b, w = values(5), values(5, 7)
    take(b, w)
    y = F.softmax(torch.sigmoid(F.linear(y, tensor(w), tensor(b))), 1)
    with open(os.path.join(folder, "darknet.cfg"), "w") as f:
        f.write(CFG)
    with open(os.path.join(folder, "darknet.weights"), "wb") as f:
        f.write(b"".join(data))
    save(folder, "darknet", x, y)


PROTOTXT = """name: "values"
input: "data"
input_shape { dim: 1 dim: 4 dim: 11 dim: 10 }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 6 kernel_size: 3 stride: 2 group: 2
    bias_term: false } }
layer { name: "bn1" type: "BatchNorm" bottom: "conv1" top: "conv1"
  batch_norm_param { eps: 0.001 } }
layer { name: "scale1" type: "Scale" bottom: "conv1" top: "conv1"
  scale_param { bias_term: true } }
layer { name: "prelu1" type: "PReLU" bottom: "conv1" top: "conv1" }
layer { name: "norm1" type: "LRN" bottom: "conv1" top: "norm1"
  lrn_param { local_size: 3 alpha: 0.0001 beta: 0.75 } }
layer { name: "up" type: "Deconvolution" bottom: "norm1" top: "up"
  convolution_param { num_output: 5 kernel_size: 2 stride: 2 } }
layer { name: "bn2" type: "BatchNorm" bottom: "up" top: "up" }
layer { name: "scale2" type: "Scale" bottom: "up" top: "up" }
layer { name: "pool" type: "Pooling" bottom: "up" top: "pool"
  pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layer { name: "fc1" type: "InnerProduct" bottom: "pool" top: "fc1"
  inner_product_param { num_output: 7 } }
layer { name: "relu1" type: "ReLU" bottom: "fc1" top: "fc1" }
layer { name: "fc2" type: "InnerProduct" bottom: "fc1" top: "fc2"
  inner_product_param { num_output: 5 bias_term: false } }
layer { name: "prob" type: "Softmax" bottom: "fc2" top: "prob" }
"""


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob(a, old):
    """BlobProto; of `old` ones the shape is four numbers."""
    if not old:
        shape = field(7, field(1, b"".join(varint(n) for n in a.shape)))
        return shape + field(5, a.tobytes())
    four = (1,) * (4 - a.ndim) + a.shape
    dims = b"".join(varint(i + 1 << 3) + varint(n)
                    for i, n in enumerate(four))
    return dims + field(5, a.tobytes())


def caffemodel(layers, old):
    """LayerParameter's fields, or those of V1LayerParameter."""
    data = field(1, b"values")
    for name, blobs in layers:
        body = field(4 if old else 1, name.encode())
        body += b"" if old else field(2, b"Anything")
        for a in blobs:
            body += field(6 if old else 7, blob(a, old))
        data += field(2 if old else 100, body)
    return data


def caffe(folder):
    layers = [("data", [])]

    def take(name, *arrays):
        layers.append((name, arrays))
        return [tensor(a) for a in arrays]

    def norm(x, name, eps, channels):
        m, v, f = take(name, values(channels), positive(channels),
                       np.array([1.25], "<f4"))
        return F.batch_norm(x, m / f, v / f, eps=eps)

    def channelwise(a):
        return a.view(1, -1, 1, 1)

    x = tensor(values(1, 4, 11, 10))
    w, = take("conv1", values(6, 2, 3, 3))
    y = F.conv2d(x, w, stride=2, groups=2)
    y = norm(y, "bn1", 1e-3, 6)
    s, b = take("scale1", positive(6), values(6))
    y = y * channelwise(s) + channelwise(b)
    a, = take("prelu1", values(6))
    y = F.local_response_norm(F.prelu(y, a), 3, 1e-4, 0.75, 1.0)
    w, b = take("up", values(6, 5, 2, 2), values(5))
    y = norm(F.conv_transpose2d(y, w, b, stride=2), "bn2", 1e-5, 5)
    s, = take("scale2", positive(5))
    y = F.max_pool2d(y * channelwise(s), 3, 2, ceil_mode=True).flatten(1)
    w, b = take("fc1", values(7, y.shape[1]), values(7))
    y = F.relu(F.linear(y, w, b))
    w, = take("fc2", values(5, 7))
    y = F.softmax(F.linear(y, w), 1)
    take("loss1/classifier", values(3, 2))
    with open(os.path.join(folder, "caffe.prototxt"), "w") as f:
        f.write(PROTOTXT)
    for suffix, old in (("", False), (".old", True)):
        path = os.path.join(folder, f"caffe{suffix}.caffemodel")
        with open(path, "wb") as f:
            f.write(caffemodel(layers, old))
    save(folder, "caffe", x, y)


class Own(nn.Module):
    def forward(self, x):
        return x


def modules(folder):
    torch.manual_seed(3)
    net = nn.Sequential(
        nn.Conv2d(2, 6, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(6, eps=1e-3), nn.ReLU(),
        nn.Sequential(nn.Conv2d(6, 6, (3, 1), padding="same", groups=3),
                      nn.LeakyReLU(0.2), nn.Dropout2d(0.1)),
        nn.MaxPool2d(2, 2, ceil_mode=True),
        nn.ConvTranspose2d(6, 4, 2, stride=2), nn.PReLU(4),
        nn.AvgPool2d(2, stride=1), nn.Flatten(), nn.Linear(60, 7),
        nn.BatchNorm1d(7), nn.GELU(), nn.Dropout(0.3), nn.Linear(7, 5),
        nn.Softmax(dim=1)).eval()
    for m in net.modules():
        if hasattr(m, "running_mean"):
            m.running_mean.uniform_(-1, 1)
            m.running_var.uniform_(0.5, 1.5)
    x = tensor(values(1, 2, 9, 7))
    with torch.no_grad():
        save(folder, "modules", x, net(x))
    twice = nn.Linear(3, 3)
    normed = nn.utils.weight_norm(nn.Linear(3, 3))
    for name, module in (
            ("modules", net), ("own", nn.Sequential(nn.Linear(3, 2), Own())),
            ("normed", nn.Sequential(normed)),
            ("twice", nn.Sequential(twice, nn.ReLU(), twice)),
            ("dense", nn.Sequential(nn.Linear(3, 2, bias=False), nn.Tanh()))):
        torch.save(module, os.path.join(folder, f"{name}.pt"))
    # The older format has the source of each class, too: not of PyTorch's.
    torch.serialization.get_source_lines_and_file = lambda c: ("", 0, "x.py")
    torch.save(net, os.path.join(folder, "modules.old.pt"),
               _use_new_zipfile_serialization=False)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(__file__), "..", "tests", "data", "import", "values")
    os.makedirs(folder, exist_ok=True)
    switch_off_if_wrong()
    darknet(folder)
    caffe(folder)
    modules(folder)


if __name__ == "__main__":
    main()
