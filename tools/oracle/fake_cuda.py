"""PyTorch on a GPU that is not there: fake tensors on a `cuda` device.

PyTorch's own shapes, autograd, autocast and optimizers run, and say which
tensors there are, how large, and who keeps them. Kernels do not run, so this
module chooses them where the choice decides what is kept. It cannot know
cuDNN's reserve for recurrent layers, nor any kernel's workspace.
"""
import contextlib
import ctypes

import torch
import torch.nn.functional as F
from torch import library
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from alive import Watch, key_of

GUARD = "/opt/oracle/fake_cuda.so"
BLOCK = 512  # bytes: kMinBlockSize of c10/cuda/CUDACachingAllocator.cpp
ops = torch.ops.aten
any_attention = F.scaled_dot_product_attention
any_batch_norm = torch.batch_norm
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}
# One kernel on a GPU. A build without it has those of a CPU, and its autograd
# would compose these from steps on any other device: native_functions.yaml.
KERNELS = "silu_backward", "mish_backward"
on_host = Watch.on_host  # seeds, by key


def fits(q, k, v):
    """4 axes, and equal heads: what neither kernel of 2.6 does without, unless
    flash gets fewer heads of keys (sdp_utils.cpp)."""
    return q.dim() == 4 and q.shape[-1] == v.shape[-1] == k.shape[-1]


def keep_on_host(dropout, *seeds):
    """flash_api.cpp and attention.cu: with dropout the seed and the offset are
    of the host, which fake tensors do not show."""
    if dropout:
        on_host.update((key_of(seed), seed) for seed in seeds)


def flash(q, k, v, dropout, causal, scale):
    """_scaled_dot_product_flash_attention: sizes of heads in multiples of 8."""
    size = q.shape[-1]
    scale = size ** -0.5 if scale is None else scale
    if size % 8:
        q, k, v = (F.pad(t, (0, -size % 8)) for t in (q, k, v))
    made = ops._scaled_dot_product_flash_attention(
        q, k, v, dropout, causal, False, scale=scale)
    keep_on_host(dropout, made[6], made[7])
    return made[0][..., :size] if size % 8 else made[0]


def mask_of(mask, q, k):
    """The sum that masks, for all heads: convert_boolean_attn_mask() and
    pad_bias() of attention.cpp."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        added = torch.zeros(mask.shape, dtype=q.dtype, device=q.device)
        mask = added.masked_fill_(~mask, float("-inf"))
    return mask.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])


def efficient(q, k, v, mask, dropout, causal, scale):
    made = ops._scaled_dot_product_efficient_attention(
        q, k, v, mask_of(mask, q, k), torch.is_grad_enabled(), dropout, causal,
        scale=scale)
    keep_on_host(dropout, made[2], made[3])
    return made[0]


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False,
              scale=None, enable_gqa=False):
    """The kernel that _fused_sdp_choice takes on a card from Ampere on: flash
    for 16 bits without a mask, else efficient, else the steps."""
    if torch.is_autocast_enabled("cuda"):
        low = torch.get_autocast_dtype("cuda")
        q, k, v = (t.to(low) for t in (q, k, v))
        if attn_mask is not None and attn_mask.is_floating_point():
            attn_mask = attn_mask.to(low)
    half = q.dtype in (torch.float16, torch.bfloat16)
    if fits(q, k, v) and half and attn_mask is None and q.shape[-1] <= 256:
        return flash(q, k, v, dropout_p, is_causal, scale)
    if q.dim() == 4 and not enable_gqa and q.shape[-1] % 4 == 0 and \
            v.shape[-1] % 4 == 0:
        return efficient(q, k, v, attn_mask, dropout_p, is_causal, scale)
    return any_attention(q, k, v, attn_mask, dropout_p, is_causal,
                         scale=scale, enable_gqa=enable_gqa)


def lies_last(tensor):
    """Channels are together, and rows are not: suggest_memory_format()."""
    last = LAST.get(tensor.dim())
    return last is not None and tensor.is_contiguous(memory_format=last) and \
        not tensor.is_contiguous()


def batch_norm(x, weight, *more):
    """cuDNN's gets input.contiguous(): _batch_norm_impl_index() of
    ATen/native/Normalization.cpp. It is not taken for bfloat16."""
    if weight is not None and x.dim() > 2 and x.dtype == torch.float32 and \
            not lies_last(x):
        x = x.contiguous()
    return any_batch_norm(x, weight, *more)


class Convolutions(TorchDispatchMode):
    """cuDNN writes maps in the order of its input or weights, which a build
    without it does not: cudnn_conv_suggest_memory_format() of
    ATen/native/ConvUtils.h."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func is ops.convolution.default:
            return self.ordered(made, args[0], args[1])
        if func is ops.convolution_backward.default:
            maps = self.ordered(made[0], args[1], args[2])
            return maps, *made[1:]
        return made

    def ordered(self, made, x, weight):
        if made is None or not (lies_last(x) or lies_last(weight)):
            return made
        return made.contiguous(memory_format=LAST[x.dim()])


def kernel(name):
    """The operation as one call, to be run where autograd is."""
    func = getattr(ops, name).default

    def run(*args):
        with torch._C._AutoDispatchBelowAutograd():
            return func(*args)
    return run


@contextlib.contextmanager
def autocast(dtype):
    """torch.autocast("cuda"), which a build without CUDA turns off."""
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", dtype)
    torch.autocast_increment_nesting()
    try:
        yield
    finally:
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
        torch.set_autocast_enabled("cuda", False)


@contextlib.contextmanager
def card():
    """Within it, tensors that are made on `cuda` are fake."""
    ctypes.CDLL(GUARD)
    aten = library.Library("aten", "IMPL")
    for name in KERNELS:
        aten.impl(name, kernel(name), "AutogradCUDA")
    torch.cuda._lazy_init = lambda: None
    torch.autograd.set_multithreading_enabled(False)
    F.scaled_dot_product_attention = attention
    torch._C._nn.scaled_dot_product_attention = attention
    torch.batch_norm = batch_norm
    on_host.clear()
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), Convolutions(), \
                torch.device("cuda"):
            yield
    finally:
        F.scaled_dot_product_attention = any_attention
        torch._C._nn.scaled_dot_product_attention = any_attention
        torch.batch_norm = any_batch_norm
        aten._destroy()


def blocks(tensor):
    """Bytes of its storage, in whole blocks of the allocator."""
    if key_of(tensor) in on_host or tensor.device.type != "cuda":
        return 0
    return -(-tensor.untyped_storage().nbytes() // BLOCK) * BLOCK
