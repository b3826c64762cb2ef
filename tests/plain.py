#!/usr/bin/python3
"""plain.py NETC NET...: what a letter hides in a picture in the words of papers
is the same as what is drawn: every kernel, stride, dilation and number of
groups of a convolution of the net is in its picture, at any width.
"""
import json
import re
import subprocess
import sys

WIDTHS = [], ["--width", "500pt"], ["--width", "240pt"]
OPS = {"conv": "", "dwconv": "depthwise ", "deconv": "transposed "}


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL).stdout.decode()


def holds(shown, value):
    """3 is in 3 and in 1–7, of turns that differ."""
    ends = [int(end) for end in shown.split("–")]
    return ends[0] <= value <= ends[-1]


def sizes_hold(shown, sizes):
    axes = shown.split("×")
    if len(axes) == 1:
        axes *= len(sizes)
    return len(axes) == len(sizes) and all(map(holds, axes, sizes))


def facts_of(layer):
    """Patterns with sizes, one of whose finds must hold them."""
    of = layer["attributes"]
    axes = len(layer["out"][0]) - 1
    sizes = r"([\d–]+(?:×[\d–]+)*)"

    def all_axes(value):
        return (value * axes)[:axes] if len(value) == 1 else value
    yield sizes + f" {OPS[layer['op']]}conv", all_axes(of["kernel"])
    for name, pattern in (("stride", f"(?:stride |/){sizes}"),
                          ("dilate", f"dilation {sizes}")):
        if set(of.get(name, [1])) != {1}:
            yield pattern, all_axes(of[name])
    if of.get("groups", 1) > 1:
        yield r"([\d–]+) groups", [of["groups"]]


def check(netc, net):
    layers = json.loads(run(netc, net, "--emit=json"))["layers"]
    facts = {(pattern, tuple(value)) for layer in layers
             if layer["op"] in OPS for pattern, value in facts_of(layer)}
    for width in WIDTHS:
        svg = run(netc, net, "--labels=plain", *width, "--emit=svg")
        text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))
        for pattern, value in facts:
            if not any(sizes_hold(shown, value)
                       for shown in re.findall(pattern, text)):
                yield f"{net} {' '.join(width)}: no {pattern} is {value}"


netc, *nets = sys.argv[1:]
found = [error for net in nets for error in check(netc, net)]
print("\n".join(found))
sys.exit(bool(found))
