#!/usr/bin/python3
"""Leaves of models for tests/test_zoo.c, as tests/data/zoo/NAME.csv.

    zoo_truth.py FOLDER NAME...      from FOLDER/NAME_b1.json, what PyTorch did
    zoo_truth.py torchvision NAME... by running the models now

There is a line for each leaf module with weights, norm or pool in the order of
execution. Activations, dropout and flatten are left out,
because nets may write them in another way. Shapes have their channels last, and no axes of 1
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
    (r"Embedding", "embed"), (r"LSTM", "lstm"),
    (r"MultiheadAttention", "attention"),
]

# Projections of hand-written attention: together they are one leaf.
PROJECTION = re.compile(r"(.*\.(attn|a))\.(qkv|proj|q|k|v|o)")


def kind_of(name):
    for pattern, kind in KINDS:
        if re.fullmatch(pattern, name):
            return kind
    return None


def shape_of(kind, module, batch):
    shape = module["out"][0][:]
    if kind != "embed" or len(module["in"][0]) > 1:
        del shape[batch]
    if kind in ("conv", "norm", "pool") and module["kind"] != "LayerNorm":
        shape = shape[1:] + shape[:1]
    kept = [size for size in shape[:-1] if size != 1] + shape[-1:]
    return "x".join(map(str, kept))


def attention_of(modules):
    """One leaf of the projections and the two products between them."""
    queries = modules[0]["out"][0][-2]
    width = modules[-1]["in"][0][-1]
    return {**modules[-1], "kind": "MultiheadAttention",
            "param_count": sum(m["param_count"] for m in modules),
            "mac_count": sum(m["mac_count"] for m in modules)
            + 2 * queries * queries * width}


def folded(model):
    """The leaves; an output tied to an embedding has no weights of its own."""
    modules, attention = model["modules"], []
    for module in modules:
        part = PROJECTION.fullmatch(module.get("name", ""))
        if part:
            attention.append(module)
            if part[3] in ("proj", "o"):
                yield attention_of(attention)
                attention = []
        elif module.get("name") == "head" and model["model"][:4] == "gpt2":
            yield {**module, "param_count": 0}
        else:
            yield module


def lines_of(model):
    steps_first = any(m["kind"] == "LSTM" for m in model["modules"])
    for module in folded(model):
        kind = kind_of(module["kind"])
        if kind:
            yield (f"{kind},{shape_of(kind, module, int(steps_first))},"
                   f"{module['param_count']},{module['mac_count']}\n")


SIZES = {"efficientnet_v2_s": (384, 384), "r3d_18": (16, 112, 112),
         "fcn_resnet50": (520, 520), "deeplabv3_resnet50": (520, 520)}


def name_of(module):
    """Of its class, or the nearest base class that is known here."""
    names = [base.__name__ for base in type(module).__mro__]
    return next(filter(kind_of, names), names[0])


def macs_of(module, out):
    """Multiply-adds of a leaf: the weights that each value of `out` reads."""
    if kind_of(name_of(module)) not in ("conv", "linear"):
        return 0
    return out.numel() * module.weight[0].numel()


def run(name):
    """What a JSON file would hold, from a model without heads for training."""
    import torch
    import torchvision
    torch.manual_seed(1)
    options = {"weights": None}
    if name in SIZES and SIZES[name][0] == 520:
        options = {"weights": None, "weights_backbone": None,
                   "aux_loss": False}
    model = torchvision.models.get_model(name, **options).eval()
    leaves = []

    def note(module, given, out):
        leaves.append({
            "kind": name_of(module),
            "in": [list(given[0].shape)], "out": [list(out.shape)],
            "param_count": sum(p.numel() for p in module.parameters()),
            "mac_count": macs_of(module, out)})

    for module in model.modules():
        if not list(module.children()):
            module.register_forward_hook(note)
    with torch.no_grad():
        model(torch.zeros(1, 3, *SIZES.get(name, (224, 224))))
    return {"source": f"torchvision {torchvision.__version__}",
            "framework": f"PyTorch {torch.__version__}, CPU, float32",
            "modules": leaves}


def read(folder, name):
    with open(f"{folder}/{name}_b1.json") as file:
        return json.load(file)


for name in sys.argv[2:]:
    if sys.argv[1] == "torchvision":
        model = run(name)
    else:
        model = read(sys.argv[1], name)
    source = model["source"].split(" (")[0]
    with open(f"tests/data/zoo/{name}.csv", "w") as out:
        out.write(f"# {source}; {model['framework']}\n"
                  "# kind,shape,params,macs\n")
        out.writelines(lines_of(model))
