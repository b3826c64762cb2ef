"""netc: shapes, parameters and memory of neural networks, without running them.

    import netc
    net = netc.load("resnet50.net", batch=64, gpu="rtx4090")
    net.param_count, net.training.peak_bytes, net.largest_batch

The library is netc's own, and its numbers are those of the command `netc`.
netc.abi has every function of netc.h, for what is not here.
"""
from __future__ import annotations

from .net import Error, Net, budget, load, loads
from .native import VERSION as __version__

__all__ = ["Error", "Net", "budget", "from_torch", "load", "loads", "summary"]


def from_torch(module, *inputs, folded: bool = False, **settings) -> Net:
    """The net of a PyTorch module, for inputs like these: tensors, or sizes
    with the batch, (1, 3, 224, 224).

    The module runs once, for one sample, and is left as it was. Dropout and
    batch norms are those of training. Layers are called after the module's
    parts, a group for each; net.module_paths has the way to each part.

    folded: the short source instead, as `netc import` writes it, with loops
        and defs for what repeats
    settings: those of load(); the batch is that of the first input, unless
        they say another

    >>> netc.from_torch(torchvision.models.resnet18(),
    ...                 torch.zeros(1, 3, 224, 224)).param_count
    11689512
    """
    from .pytorch import from_torch as convert
    return convert(module, *inputs, folded=folded, **settings)


def summary(module, *inputs, depth: int = 0, columns: str | None = None,
            **settings) -> Net:
    """Prints layers, outputs, parameters, multiply-accumulates and memory of a
    PyTorch module, or of a net, and returns the net.

    An input may be a tensor or its size, with the batch: (1, 3, 224, 224).
    depth: parts deeper than this are one row; 0: all are shown
    columns: of the table, "name,output,params,macs"
    settings: those of load()
    """
    net = module if isinstance(module, Net) \
        else from_torch(module, *inputs, **settings)
    options: dict = {"columns": columns} if columns else {}
    print(net.report(depth=depth, **options))
    return net


def load_ipython_extension(shell):
    """%load_ext netc: the cell magic %%netc."""
    from .jupyter import register
    register(shell)
