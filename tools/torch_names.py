#!/usr/bin/python3
"""`-o x.py --names=torchvision` and `--names=FILE` against torchvision: its
names, and its outputs.

    torch_names.py NETC             all of the list below
    torch_names.py NETC NAME...     those of that name

Each model of torchvision, with values by chance, is saved. netc writes the
zoo's net with torchvision's names, once by that word and once as the file has
them: the texts have to be the same. The module has to have the file's names and
shapes, to take it, and to give the model's outputs, to 1e-4 of the largest;
both have the eps of the zoo's norms. A row each: the difference,
lines of x.py, or why netc refuses. Needs python3-torch and python3-torchvision;
run by hand.
"""
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile

import torch
import torchvision.models

netc = os.path.abspath(sys.argv[1])
MODELS = {
    "resnet18": "resnet depth=18", "resnet50": "resnet depth=50",
    "resnext50_32x4d": "resnet depth=50 groups=32 width=4",
    "wide_resnet50_2": "resnet depth=50 width=128", "alexnet": "alexnet",
    "vgg16": "vgg depth=16", "vgg16_bn": "vgg depth=16 norm=bn",
    "densenet121": "densenet depth=121",
    "squeezenet1_1": "squeezenet version=1.1",
    "mobilenet_v2": "mobilenet_v2 alpha=1.0",
    "mobilenet_v3_large": "mobilenet_v3 small=false",
    "mnasnet1_0": "mnasnet alpha=1.0",
    "shufflenet_v2_x1_0": "shufflenet_v2 size=1.0",
    "googlenet": "googlenet aux=false",
    "googlenet aux": "googlenet aux=true",
    "inception_v3": "inception_v3 aux=false",
    "inception_v3 aux": "inception_v3 aux=true",
    "efficientnet_b0": "efficientnet b=0",
    "efficientnet_v2_s": "efficientnet_v2 size=s",
    "regnet_y_400mf": "regnet y=true mf=400",
    "vit_b_16": "vit", "swin_t": "swin", "convnext_tiny": "convnext",
}
SIZES = {"inception_v3": 299, "inception_v3 aux": 299,
         "efficientnet_v2_s": 384}
BY_WORD = {"googlenet aux"}  # heads are last in the file, not in the net
EPS = 1e-5  # of the zoo's norms


def model_of(name):
    options = {}
    kind, *aux = name.split()
    if kind in ("googlenet", "inception_v3"):
        options = {"aux_logits": bool(aux), "init_weights": False}
    model = getattr(torchvision.models, kind)(weights=None, **options).eval()
    for module in model.modules():
        if hasattr(module, "eps"):
            module.eps = EPS
    for values in model.parameters():
        if not values.any() or len(values.unique()) == 1:
            torch.nn.init.normal_(values, std=0.1)  # zeros show nothing
    return model


def module_of(path):
    spec = importlib.util.spec_from_file_location("named", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = [c for c in vars(module).values()
               if inspect.isclass(c) and issubclass(c, torch.nn.Module)]
    return classes[-1]().eval()


def check(name, folder):
    """The difference and the lines; or why not, and 0."""
    model, words = model_of(name), MODELS[name].split()
    weights = os.path.join(folder, "w.pth")
    path = os.path.join(folder, "x.py")
    torch.save(model.state_dict(), weights)
    texts = []
    for names in ["torchvision"] + ([weights] if name not in BY_WORD else []):
        done = subprocess.run(
            [netc, "zoo:" + words[0], "-o", path, "--names=" + names]
            + [word for s in words[1:] for word in ("-D", s)],
            capture_output=True, text=True)
        if done.returncode:
            return done.stderr.splitlines()[0], 0
        with open(path) as file:
            texts.append(file.read())
    if len(set(texts)) != 1:
        sys.exit(f"{name}: the file gives other names than the word")
    net = module_of(path)
    state = torch.load(weights)
    net.load_state_dict(state)
    shapes = {key: value.shape for key, value in net.state_dict().items()}
    if shapes != {key: value.shape for key, value in state.items()}:
        sys.exit(f"{name}: other names or shapes")
    size = SIZES.get(name, 224)
    x = torch.randn(2, 3, size, size)
    with torch.no_grad():
        ours, theirs = net(x), model(x).flatten(1)
    if isinstance(ours, tuple):  # with heads, which torchvision leaves out here
        ours = ours[0]
    ours = ours.flatten(1)
    with open(path) as file:
        lines = len(file.readlines())
    return float((ours - theirs).abs().max() / theirs.abs().max()), lines


def main():
    torch.manual_seed(1)
    failed = 0
    print("model,difference,lines")
    for name in MODELS:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, lines = check(name, folder)
        bad = lines and not found < 1e-4
        failed += bool(bad)
        print(f"{name},{found:.1e},{lines}" + (",DIFFERS" if bad else "")
              if lines else f"{name},refused: {found}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
