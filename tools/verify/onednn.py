"""oneDNN's convolutions, for programs that compare values of PyTorch.

oneDNN 3.7 (PyTorch 2.6 in Debian 13) computes some dilated convolutions over
one axis wrong on processors with AVX-512.
"""
import sys

import torch
import torch.nn.functional as F

LIMIT = 1e-3  # of a difference from 64 bits; right ones are below 1e-5


def is_right():
    """The convolutions that were found to be wrong, beside 64 bits."""
    maker = torch.Generator().manual_seed(0)
    x = torch.randn(2, 25, 784, generator=maker)
    weights = torch.randn(25, 25, 7, generator=maker) * 0.1
    with torch.no_grad():
        for dilation in 1, 2, 4, 8, 16, 32, 64, 128:
            words = {"padding": 6 * dilation, "dilation": dilation}
            exact = F.conv1d(x.double(), weights.double(), **words)
            if (F.conv1d(x, weights, **words) - exact).abs().max() > LIMIT:
                return False
    return True


def switch_off_if_wrong():
    """Without oneDNN PyTorch has convolutions of its own. True if it is off,
    which is said."""
    if is_right():
        return False
    torch.backends.mkldnn.set_flags(False)
    print("oneDNN computes dilated convolutions wrong here: switched off",
          file=sys.stderr)
    return True
