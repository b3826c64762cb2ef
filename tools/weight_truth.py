#!/usr/bin/env python3
"""Writes tests/data/weights/names.txt: parameters that PyTorch's modules have.

A net in the language, and below it, indented, the name and shape of each
tensor of the module's state_dict, in its order. Needs python3-torch; run by
hand: tools/weight_truth.py >tests/data/weights/names.txt
"""
from torch import nn


def case(source, **modules):
    print(source)
    for label, module in modules.items():
        for name, tensor in module.state_dict().items():
            if not name.endswith("num_batches_tracked"):
                print(f"  {label}.{name} " + "x".join(map(str, tensor.shape)))


class Norm(nn.Module):  # torch 1.13 has no RMSNorm
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(nn.Linear(channels, 1).weight[0])


attend = nn.MultiheadAttention

case("input 9x4; m: conv 6 3 groups=2", m=nn.Conv1d(4, 6, 3, groups=2))
case("input 9x9x4; m: conv 6 3x2 nobias", m=nn.Conv2d(4, 6, (3, 2), bias=False))
case("input 9x9x9x2; m: conv 6 3x2x1", m=nn.Conv3d(2, 6, (3, 2, 1)))
case("input 9x9x4; m: dwconv 3x2 mult=2",
     m=nn.Conv2d(4, 8, (3, 2), groups=4))
case("input 9x4; m: deconv 6 3", m=nn.ConvTranspose1d(4, 6, 3))
case("input 9x9x4; m: deconv 6 3x2 groups=2",
     m=nn.ConvTranspose2d(4, 6, (3, 2), groups=2))
case("input 9x9x9x4; m: deconv 8 3x2x1 groups=4 nobias",
     m=nn.ConvTranspose3d(4, 8, (3, 2, 1), groups=4, bias=False))
case("input 6; m: fc 4", m=nn.Linear(6, 4))
case("input 3x2x5; m: fc 4 nobias", m=nn.Linear(30, 4, bias=False))
case("input 7x6; m: linear 4", m=nn.Linear(6, 4))
case("input 7 : i32; m: embed 11 5", m=nn.Embedding(11, 5))
case("input 7x5; m: posembed 9", m=nn.Embedding(9, 5))
case("input 5x5x4; m: bn", m=nn.BatchNorm2d(4))
case("input 5x5x4; m: bn noaffine", m=nn.BatchNorm2d(4, affine=False))
case("input 5x5x4; m: gn 2", m=nn.GroupNorm(2, 4))
case("input 5x5x4; m: instnorm", m=nn.InstanceNorm2d(4, affine=True))
case("input 5x4; m: ln", m=nn.LayerNorm(4))
case("input 5x4; m: rmsnorm", m=Norm(4))
case("input 5x5x4; m: prelu", m=nn.PReLU(4))
case("input 5x5x4; m: prelu shared", m=nn.PReLU())
for bias in True, False:
    no = "" if bias else " nobias"
    for groups in 1, 2:
        for words, wrap in ("wnorm", nn.utils.weight_norm), \
                           ("spectral", nn.utils.spectral_norm):
            case(f"input 9x9x4; m: deconv 6 3x2 groups={groups}{no} {words}",
                 m=wrap(nn.ConvTranspose2d(4, 6, (3, 2), groups=groups,
                                           bias=bias)))
for name, kind in ("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU):
    case(f"input 7x6; m: {name} 5", m=kind(6, 5))
    case(f"input 7x6; m: {name} 5 layers=3 bidir",
         m=kind(6, 5, num_layers=3, bidirectional=True))
    case(f"input 7x6; m: {name} 5 layers=2 nobias",
         m=kind(6, 5, num_layers=2, bias=False))
case("input 7x6; m: attention 2 packed", m=attend(6, 2))
case("input 7x6; m: attention 2 packed nobias", m=attend(6, 2, bias=False))
case("input 7x6; m: attention 3 packed causal", m=attend(6, 3))
case("input a 7x6; input b 5x6; from a; m: attention 2 packed cross=b",
     m=attend(6, 2))
case("input a 7x6; input b 5x6; from a; m: attention 2 packed cross=b nobias",
     m=attend(6, 2, bias=False))
case("input 7x6; a: linear 8 relu; b: linear 3",
     a=nn.Linear(6, 8), b=nn.Linear(8, 3))
