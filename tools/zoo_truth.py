#!/usr/bin/python3
"""zoo_truth.py FOLDER NAME...: leaves of measured models for tests/test_zoo.c.

Reads FOLDER/NAME_b1.json, what PyTorch did for a model, and writes
tests/data/zoo/NAME.csv: a line for each leaf module with weights, norm or
pool in the order of execution. Activations, dropout and flatten are left out,
because nets may write them in another way, and so are adaptive pools to the
size that a map has already. Shapes have their channels last, and no axes of 1
before them.
"""
import json
import re
import sys

KINDS = [
    (r"Conv(Transpose)?\dd", "conv"),
    (r"Linear", "linear"),
    (r"(Batch|Layer|Group|Instance)Norm(\dd)?", "norm"),
    (r"(Adaptive)?(Max|Avg)Pool\dd", "pool"),
]


def kind_of(module):
    for pattern, kind in KINDS:
        if re.fullmatch(pattern, module["kind"]):
            return kind
    return None


def shape_of(kind, module):
    shape = module["out"][0][1:]
    if kind != "linear" and module["kind"] != "LayerNorm":
        shape = shape[1:] + shape[:1]
    kept = [size for size in shape[:-1] if size != 1] + shape[-1:]
    return "x".join(map(str, kept))


def lines_of(model):
    for module in model["modules"]:
        kind = kind_of(module)
        idle = (module["kind"].startswith("Adaptive")
                and module["in"][0] == module["out"][0])
        if kind and not idle:
            yield (f"{kind},{shape_of(kind, module)},"
                   f"{module['param_count']},{module['mac_count']}\n")


for name in sys.argv[2:]:
    with open(f"{sys.argv[1]}/{name}_b1.json") as file:
        model = json.load(file)
    source = model["source"].split(" (")[0]
    with open(f"tests/data/zoo/{name}.csv", "w") as out:
        out.write(f"# {source}; {model['framework']}\n"
                  "# kind,shape,params,macs\n")
        out.writelines(lines_of(model))
