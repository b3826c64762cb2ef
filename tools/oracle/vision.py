"""Models of torchvision, and the sources that netc.from_torch writes for them.

`torchvision:NAME` is one. The package netc must be on PYTHONPATH.
"""
import functools
import os
import sys
import warnings
from pathlib import Path

PREFIX = "torchvision:"


def has(net):
    return net.startswith(PREFIX)


def compute_widths():
    """RegNet computes widths from tensors, which fake ones do not have."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes
    from torchvision.models.regnet import BlockParams
    plain = BlockParams.from_init_params.__func__
    if plain.__module__ == __name__:
        return

    def real(kind, *args, **more):
        with _disable_current_modes(), torch.device("cpu"):
            return plain(kind, *args, **more)
    BlockParams.from_init_params = classmethod(real)


def load(net):
    """What makes the model, and the expressions of its inputs."""
    from torchvision import models
    compute_widths()
    name = net[len(PREFIX):]
    drawn = {"init_weights": False} \
        if name in ("googlenet", "inception_v3") else {}
    side = 299 if name == "inception_v3" else 224
    return (functools.partial(models.get_model, name, **drawn),
            [f"torch.zeros(1, 3, {side}, {side})"])


def source(netc, net, folder=None):
    """The source of the model; with `folder` a short one, as a file of it, which
    does not have the order of axes in nn.MultiheadAttention."""
    os.environ["PATH"] = f"{Path(netc).parent}:{os.environ['PATH']}"
    import netc
    import torch
    kind, expressions = load(net)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = netc.from_torch(kind(), eval(expressions[0], {"torch": torch}),
                               folded=folder is not None)
    for warning in said:
        if "the module has" in str(warning.message):
            print(net, warning.message, file=sys.stderr)
    if folder:
        Path(folder, f"{net[len(PREFIX):]}.net").write_text(made.source)
    return made.source
