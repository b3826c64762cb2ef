"""netc: shapes, parameters and memory of neural networks, without running them.

    import netc
    net = netc.load("resnet50.net", batch=64, gpu="rtx4090")
    net.param_count, net.training.peak_bytes, net.largest_batch

The package loads libnetc, so its numbers are those of the command `netc`.
netc.abi has every function of netc.h.
"""
from __future__ import annotations

from .net import Error, Net, budget, load, loads
from .native import VERSION as __version__

__all__ = ["Error", "Net", "budget", "from_torch", "load", "loads", "summary"]


def from_torch(module, *inputs, folded: bool = False, **settings) -> Net:
    """Returns the net of a PyTorch module. An input is a tensor, or a size with
    the batch: (1, 3, 224, 224).

    The module runs once, for one sample, and is not changed. Dropout and batch
    norms are in training mode. Each submodule becomes a group, called by its
    name or class; net.module_paths has the path of each layer's submodule.

    folded: write the short source of `netc import`, with loops and defs for
        repeated layers
    settings: those of load(); without `batch`, the batch of the first input

    >>> netc.from_torch(torchvision.models.resnet18(),
    ...                 torch.zeros(1, 3, 224, 224)).param_count
    11689512
    """
    from .pytorch import from_torch as convert
    return convert(module, *inputs, folded=folded, **settings)


def summary(module, *inputs, depth: int = 0, columns: str | None = None,
            **settings) -> Net:
    """Prints layers, outputs, parameters, multiply-accumulates and memory of a
    PyTorch module or a net, and returns the net.

    An input is a tensor, or a size with the batch: (1, 3, 224, 224).
    depth: fold deeper groups into one row; 0: fold none
    columns: columns of the table, "name,output,params,macs"
    settings: those of load()
    """
    net = module if isinstance(module, Net) \
        else from_torch(module, *inputs, **settings)
    options: dict = {"columns": columns} if columns else {}
    print(net.report(depth=depth, **options))
    return net


def load_ipython_extension(shell):
    """Adds the cell magic %%netc, for %load_ext netc."""
    from .jupyter import register
    register(shell)
