"""What is alive in a step: tensors, after every operation.

What a kernel takes and gives back while it runs is none. For
tools/step_truth.py and tools/sequence_truth.py.
"""
import torch
import torch.nn.functional as F
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


def key_of(tensor):
    return tensor.storage()._storage._cdata


class Watch(TorchDispatchMode):
    """The most that is alive after an operation: storages not in `outside`."""

    def __init__(self, outside):
        super().__init__()
        self.outside, self.alive, self.peak = outside, {}, 0

    def note(self, tensor):
        key = key_of(tensor)
        if key not in self.outside and key not in self.alive:
            storage = tensor.storage()
            self.alive[key] = StorageWeakRef(storage), storage.nbytes()
        return tensor

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, float):  # a saved number, unpacked
            out = torch.tensor(out, dtype=torch.float64)
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.note(value)
        self.alive = {key: held for key, held in self.alive.items()
                      if not held[0].expired()}
        self.peak = max(self.peak, sum(n for _, n in self.alive.values()))
        return out


plain_linear = F.linear


def linear(x, weight, bias=None):
    """F.linear as it is where nothing watches: a mode that does makes it add
    the bias to a copy. ATen/native/Linear.cpp"""
    if bias is None or x.dim() == 2 or (x.dim() == 3 and x.is_contiguous()):
        return plain_linear(x, weight, bias)
    return torch.matmul(x, weight.t()).add_(bias)


F.linear = linear


def backward(out):
    outs = out if isinstance(out, tuple) else (out,)
    total = outs[0].sum()
    for other in outs[1:]:
        total = total + other.sum()
    total.backward()


def measure(model, inputs):
    """Bytes that are saved, of gradients, and at the peak."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    kept = {}

    def pack(tensor):
        if key_of(tensor) not in outside:
            kept[key_of(tensor)] = tensor.storage().nbytes(), tensor
        return tensor
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = model(*inputs)
    saved = sum(size for size, _ in kept.values())
    kept.clear()
    del out
    with Watch(outside) as watch:
        # Numbers that are saved as tensors no operation makes.
        with torch.autograd.graph.saved_tensors_hooks(watch.note,
                                                      lambda t: t):
            out = model(*inputs)
        backward(out)
    gradients = sum(p.grad.numel() * p.grad.element_size()
                    for p in model.parameters() if p.grad is not None)
    return saved, gradients, watch.peak
