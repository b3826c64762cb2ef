"""What is alive in a step: tensors, after every operation.

What a kernel takes and gives back while it runs is none. For the tools that
measure PyTorch, 1.13 and 2.6: the rows in tests/data are of both.
"""
import collections
import contextlib
import ctypes
import itertools
import math
import weakref

import torch
import torch.nn.functional as F
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


VERSION = ".".join(torch.__version__.split(".")[:2])
TORCH2 = not VERSION.startswith("1.")


def storage_of(tensor):
    return tensor.untyped_storage() if TORCH2 else tensor.storage()._storage


def key_of(tensor):
    return storage_of(tensor)._cdata


def nbytes_of(tensor):
    return storage_of(tensor).nbytes()


@contextlib.contextmanager
def allocations():
    """The most that the allocator gives meanwhile, as a list of one."""
    most = [0]
    with torch.autograd.profiler.profile(profile_memory=True) as seen:
        yield most
    alive = 0
    for event in sorted((e for e in seen.kineto_results.events()
                         if e.name() == "[memory]"),
                        key=lambda e: e.start_ns() if TORCH2
                        else e.start_us()):
        alive += event.nbytes()
        most[0] = max(most[0], alive)


ZEROS = torch.ops.aten.zeros.default, torch.ops.aten.new_zeros.default
SCATTERS = {torch.ops.aten.scatter.src: torch.ops.aten.scatter_.src,
            torch.ops.aten.scatter_add.default:
            torch.ops.aten.scatter_add_.default,
            torch.ops.aten.index_put.default:
            torch.ops.aten.index_put_.default}


def nodes_of(outs):
    """All that backward will run for the tensors."""
    seen, ahead = set(), [out.grad_fn for out in outs]
    while ahead:
        node = ahead.pop()
        if node is not None and node not in seen:
            seen.add(node)
            ahead += [other for other, _ in node.next_functions]
    return seen


def numbers_of(node):
    """Keys of numbers, as of `x * 0.17`, that a node keeps as tensors of 8
    bytes, and that hooks of PyTorch 2 do not get: save_for_backward leaves
    wrapped numbers alone, torch/csrc/autograd/saved_variable.cpp. Hooks of
    1.13 get them."""
    kept = [getattr(node, name) for name in ("_saved_other", "_saved_self")
            if TORCH2 and hasattr(node, name)]
    return {key_of(t) for t in kept if isinstance(t, torch.Tensor)
            and t.dim() == 0 and nbytes_of(t) == NUMBER}


NUMBER = 8  # bytes
SCALED = {torch.ops.aten.mul.Tensor, torch.ops.aten.mul_.Tensor,
          torch.ops.aten.div.Tensor, torch.ops.aten.div_.Tensor}


def keeps_number(func, args):
    """An operation that makes a node of numbers_of()."""
    return TORCH2 and func in SCALED and torch.is_grad_enabled() and \
        isinstance(args[1], (int, float)) and args[0].requires_grad


def users_of(address):
    """The count of references behind the vtable of an intrusive_ptr_target,
    which PyTorch shows to nobody: c10/util/intrusive_ptr.h."""
    return ctypes.c_uint32.from_address(address + 8).value


def meets_first(func, args):
    """The engine adds a gradient to one that came before: in place since 2.0,
    if nobody else has that (can_accumulate_inplace() of
    torch/csrc/autograd/input_buffer.cpp), unless a mode watches. A mode itself
    holds the tensor three times."""
    if not TORCH2 or func is not torch.ops.aten.add.Tensor or \
            torch._C._current_graph_task_id() < 0:
        return False
    first, other = args[:2]
    return isinstance(other, torch.Tensor) and first.shape == other.shape and \
        torch._prims_common.is_non_overlapping_and_dense(first) and \
        users_of(first._cdata) <= 4 and users_of(key_of(first)) == 1


class Watch(TorchDispatchMode):
    """The most that is alive after an operation: storages not in `outside`,
    each in whole blocks. On a GPU numbers are in the host's memory."""
    on_host = {}  # what else is, by key

    def __init__(self, outside, biases=(), block=1):
        super().__init__()
        self.outside, self.alive, self.peak = outside, {}, 0
        self.block, self.number = block, NUMBER if block == 1 else 0
        self.biases = biases  # biases_of(): added in place
        self.zeros = None  # what zeros() has just made
        self.inside = 0  # tensors of the operation that ran last, at most
        self.saved = set()  # keys of what autograd keeps, or kept
        self.numbers = 0  # that hooks do not get

    def note(self, tensor):
        key = key_of(tensor)
        if key not in self.outside and key not in self.alive:
            storage = storage_of(tensor)
            blocks = -(-storage.nbytes() // self.block)
            self.alive[key] = StorageWeakRef(storage), blocks * self.block
        return tensor

    def save(self, tensor):
        self.saved.add(key_of(tensor))
        return self.note(tensor)

    def free_numbers(self, outs):
        """When backward has run their nodes."""
        self.numbers = 0
        for node in nodes_of(outs):
            count = len(numbers_of(node))
            self.numbers += count

            def freed(*_, count=count):
                self.numbers -= count
            if count:
                node.register_hook(freed)

    def run(self, func, args, kwargs):
        """The operation. Of torchvision's, what it makes on the way is
        tensors, too."""
        self.inside = 0
        if "deform_conv2d" not in func.overloadpacket.__name__:
            return func(*args, **(kwargs or {}))
        with allocations() as most:
            out = func(*args, **(kwargs or {}))
        self.count()
        self.inside = most[0]
        self.peak = max(self.peak, self.bytes() + self.inside)
        return out

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if args and args[0] is self.zeros:
            # In place, where nothing watches: value_selecting_reduction_
            # backward of torch/csrc/autograd/FunctionsManual.cpp, and
            # gather_backward and index_backward of
            # ATen/native/TensorAdvancedIndexing.cpp
            func = SCATTERS.get(func, func)
        self.numbers += keeps_number(func, args)
        out = self.run(unwatched(func, args, self.biases), args, kwargs)
        self.zeros = out if func in ZEROS else None
        if func is torch.ops.aten.detach.default and \
                isinstance(out, (float, int)):  # a saved number, unpacked
            return torch.tensor(out, dtype=torch.float64)  # which was there
        for value in tree_flatten(out)[0]:
            if isinstance(value, torch.Tensor):
                self.note(value)
        self.count()
        return out

    def bytes(self):
        return sum(n for key, (_, n) in self.alive.items()
                   if key not in self.on_host) + self.number * self.numbers

    def count(self):
        self.alive = {key: held for key, held in self.alive.items()
                      if not held[0].expired()}
        self.peak = max(self.peak, self.bytes())


def most_alive(lives):
    """The most that is alive at once, of (first, last, bytes)."""
    grown = collections.Counter()
    for first, last, size in lives:
        grown[first] += size
        grown[last + 1] -= size
    return max(itertools.accumulate(grown[now] for now in sorted(grown)),
               default=0)


plain_linear = F.linear


def linear(x, weight, bias=None):
    """F.linear as it is where nothing watches: a mode that does makes it add
    the bias to a copy. ATen/native/Linear.cpp"""
    if bias is None or x.dim() == 2 or (x.dim() == 3 and x.is_contiguous()):
        return plain_linear(x, weight, bias)
    return plain_linear(x, weight).add_(bias)


F.linear = linear


def biases_of(modules):
    """Of recurrent layers, in which no F.linear is called: see `linear`."""
    return {key_of(p) for module in modules for m in module.modules()
            if isinstance(m, torch.nn.RNNBase)
            for name, p in m.named_parameters() if name.startswith("bias")}


def unwatched(func, args, biases):
    """What runs for `func` where no mode makes it add to a copy."""
    if func is torch.ops.aten.add.Tensor and \
            isinstance(args[1], torch.Tensor) and key_of(args[1]) in biases:
        return torch.ops.aten.add_.Tensor
    return torch.ops.aten.add_.Tensor if meets_first(func, args) else func


def backward(out):
    outs = out if isinstance(out, tuple) else (out,)
    total = outs[0].sum() if outs[0].dim() else outs[0]  # a loss
    for other in outs[1:]:
        total = total + other.sum()
    total.backward()


def macs_of(func, args, out):
    """Multiply-accumulates of an operation."""
    name = func.overloadpacket.__name__
    if name == "convolution":
        spread = args[0] if args[6] else out  # of a transposed one
        return spread.numel() * math.prod(args[1].shape[1:])
    if name == "deform_conv2d":
        return out.numel() * math.prod(args[1].shape[1:])
    if name in ("mm", "addmm", "bmm", "baddbmm", "mv", "dot"):
        return out.numel() * args[-2].shape[-1]
    if name == "mkldnn_rnn_layer":
        x, first, second = args[:3]
        return math.prod(x.shape[:2]) * (first.numel() + second.numel())
    return 0


class Products(TorchDispatchMode):
    """Counts those of all that runs; `without`: but for these operations."""

    def __init__(self, without=()):
        super().__init__()
        self.macs, self.without = 0, without

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ not in self.without:
            self.macs += macs_of(func, args, out)
        return out


class Held:
    """A tensor that autograd keeps; what nothing leads back to goes."""

    def __init__(self, tensor, size=0):
        self.tensor, self.size = tensor, size


def alone(tensor):
    """An output that is saved would hold the graph that saves it."""
    return tensor.detach() if tensor.grad_fn else tensor


def packed_size(tensor, bits):
    """Bytes of its storage; with `bits`, as GACT writes it: gact/quantizer.py,
    check_quantize(), and gact/ops.py, no_scheme_quantize_pack()."""
    if not bits or not tensor.requires_grad or not 1 < tensor.dim() < 5 or \
            tensor.dtype not in (torch.float32, torch.float16):
        return nbytes_of(tensor)
    groups = F.pad(tensor.detach().reshape(-1),
                   (0, -tensor.numel() % 256)).view(-1, 256)
    least, most = groups.min(-1).values, groups.max(-1).values
    codes = torch.empty(groups.numel() * bits // 8, dtype=torch.uint8)
    return sum(nbytes_of(t) for t in (codes, least, most))


def tensors_of(outs):
    return [t for t in tree_flatten(outs)[0] if isinstance(t, torch.Tensor)]


def kept_by(run, outside, size_of=nbytes_of):
    """Kept by autograd: a Held for each hook, and the outputs."""
    kept = []

    def pack(tensor):
        held = Held(alone(tensor), size_of(tensor))
        if key_of(tensor) not in outside:
            kept.append(weakref.ref(held))
        return held
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda h: h.tensor):
        outs = tensors_of(run())
    return [held() for held in kept if held()], outs


def saved_by(run, outside, bits=0):
    """Bytes that autograd keeps: storages not in `outside`, each once."""
    alive, outs = kept_by(run, outside, lambda t: packed_size(t, bits))
    sizes = {key: NUMBER for node in nodes_of(outs)
             for key in numbers_of(node) - outside}
    sizes.update((key_of(held.tensor), held.size) for held in alive)
    return sum(sizes.values())


def peak_of(run, outside, biases=(), block=1, frames=True):
    """The most that is alive in a step. Without `frames` a variable of a
    forward pass ends with its last use, and so does a module's input, which
    Python holds until the call ends."""
    with Watch(outside, biases, block) as watch:
        lives = contextlib.nullcontext() if frames else \
            Lives(outside, biases, block)
        # Numbers that are saved as tensors no operation makes.
        with lives, torch.autograd.graph.saved_tensors_hooks(
                lambda t: alone(watch.save(t)), lambda t: t):
            outs = run()
        outs = tuple(t for t in tensors_of(outs) if t.is_floating_point())
        if not frames:
            watch.peak = lives.most(outs, watch.saved)
        watch.free_numbers(outs)
        backward(outs)
    return watch.peak


def measure(model, inputs, bits=0):
    """Bytes that are saved, of gradients, and at the peak."""
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    saved = saved_by(lambda: model(*inputs), outside, bits)
    peak = peak_of(lambda: model(*inputs), outside, biases_of([model]))
    gradients = sum(p.grad.numel() * p.grad.element_size()
                    for p in model.parameters() if p.grad is not None)
    return saved, gradients, peak


class Lives(TorchDispatchMode):
    """The first and last operation that touches each storage."""

    def __init__(self, outside, biases, block=1):
        super().__init__()
        self.outside, self.seen, self.lives, self.now = outside, {}, [], 0
        self.biases, self.block = biases, block

    def touch(self, value):
        if not isinstance(value, torch.Tensor):
            return
        storage, key = storage_of(value), key_of(value)
        if key in self.outside or key in Watch.on_host or \
                not storage.nbytes():
            return
        held = self.seen.get(key)
        if held is None or held[0].expired():
            held = self.seen[key] = (StorageWeakRef(storage), len(self.lives))
            blocks = -(-storage.nbytes() // self.block)
            self.lives.append([self.now, self.now, blocks * self.block])
        self.lives[held[1]][1] = self.now

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.now += 1
        for value in tree_flatten((args, kwargs))[0]:
            self.touch(value)
        out = unwatched(func, args, self.biases)(*args, **(kwargs or {}))
        for value in tree_flatten(out)[0]:
            self.touch(value)
        return out

    def most(self, outs, saved=()):
        self.now += 1
        for out in outs:
            self.touch(out)
        for key, (storage, at) in self.seen.items():
            if key in saved and not storage.expired():
                self.lives[at][1] = self.now
        return most_alive(self.lives)


def prediction(model, inputs):
    outside = {key_of(t) for t in
               [*inputs, *model.parameters(), *model.buffers()]}
    model.eval()
    with torch.no_grad(), Lives(outside, biases_of([model])) as lives:
        out = model(*inputs)
    model.train()
    return lives.most(out if isinstance(out, tuple) else (out,))
