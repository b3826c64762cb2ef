"""Converts PyTorch modules to nets, with `netc import`: as a program of
torch.export where PyTorch writes one (2.5 or later), else as ONNX."""
from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import warnings

from .native import program
from .modules import grouped, with_layouts
from .net import Error, Net, loads


def _tensor(torch, module, value):
    """A tensor of that size, on the device and in the type of the module."""
    if isinstance(value, torch.Tensor):
        return value
    like = next(module.parameters(), torch.zeros(()))
    return torch.zeros(value, device=like.device, dtype=like.dtype)


@contextlib.contextmanager
def _adaptive_means(torch):
    """Exports adaptive_avg_pool2d to sizes that do not divide the map's, as in
    GoogLeNet's auxiliary heads, which PyTorch's exporter refuses."""
    from torch.onnx import symbolic_helper, symbolic_opset9
    name = "aten::adaptive_avg_pool2d"

    def symbolic(g, x, size):
        sizes, known = symbolic_helper._get_const(size, "is", "size"), \
            x.type().sizes()
        if not known or None in known[-2:] or \
                not any(a % b for a, b in zip(known[-2:], sizes)):
            return symbolic_opset9.adaptive_avg_pool2d(g, x, size)
        mean = g.op("netc::AdaptiveAveragePool", x, output_size_i=sizes)
        return mean.setType(x.type().with_sizes([*known[:-2], *sizes]))

    torch.onnx.register_custom_op_symbolic(name, symbolic, 9)
    try:
        yield
    finally:
        torch.onnx.unregister_custom_op_symbolic(name, 9)


@contextlib.contextmanager
def _dropout_in_place(torch):
    """Exports F.dropout(inplace=True) with an attribute: what autograd keeps
    is not the same."""
    plain = torch.nn.functional.dropout

    class InPlace(torch.autograd.Function):
        @staticmethod
        def forward(_, x, p):
            return x.clone()

        @staticmethod
        def symbolic(g, x, p):
            return g.op("netc::Dropout", x, ratio_f=p,
                        inplace_i=1).setType(x.type())

    def dropout(x, p=0.5, training=True, inplace=False):
        if inplace and training and 0 < p < 1:
            return InPlace.apply(x, p)
        return plain(x, p, training, inplace)

    torch.nn.functional.dropout = dropout
    try:
        yield
    finally:
        torch.nn.functional.dropout = plain


@contextlib.contextmanager
def _without_defaults(torch, module):
    """Hides arguments of forward with a default, such as is_causal=False, of
    which the exporter of PyTorch 2 makes tensors."""
    own, forward = vars(module).get("forward"), module.forward
    if isinstance(module, torch.jit.ScriptModule):
        yield
        return
    module.forward = lambda *given: forward(*given)
    try:
        yield
    finally:
        del module.forward
        if own:
            module.forward = own


def _export(torch, module, tensors, path, values):
    """Exports in training mode. If the exporter supports only inference, as
    PyTorch 1.13 for randomly skipped layers (stochastic depth), returns
    the reason."""
    def write(training, samples=1):
        several = tuple(torch.cat([tensor] * samples) for tensor in tensors)
        with _adaptive_means(torch), _dropout_in_place(torch), \
                _without_defaults(torch, module):
            torch.onnx.export(module, several, path, export_params=values,
                              training=training, do_constant_folding=False)

    modes = torch.onnx.TrainingMode
    was = [(part, part.training) for part in module.modules()]
    try:
        try:
            try:
                write(modes.TRAINING)
            except ValueError:  # a batch norm of one value a channel
                write(modes.TRAINING, 2)
        except RuntimeError as error:  # also of the exporter's own errors
            module.eval()
            for part in module.modules():
                part.training = isinstance(
                    part, (torch.nn.modules.batchnorm._BatchNorm,
                           torch.nn.modules.dropout._DropoutNd))
            write(modes.PRESERVE)
            return str(error).strip().partition("\n")[0] or "no reason given"
    finally:
        for part, training in was:
            part.training = training
    return ""


def _own_parameters(module, model):
    """Options for parameters of the module itself (a class token). A file
    without values lists them as inputs, so `netc import` needs their names."""
    with open(model, "rb") as file:
        text = file.read()
    for name, _ in module.named_parameters(recurse=False):
        if name.encode() in text:  # it is used
            yield from ("--parameter", name)


def _mark_buffers(torch, module, model):
    """Lists buffers of reals, such as tables, in the file's metadata, which
    else count as parameters. Norms have statistics."""
    norms = torch.nn.modules.batchnorm._NormBase
    names = [f"{path}.{name}".lstrip(".")
             for path, part in module.named_modules()
             if not isinstance(part, norms)
             for name, buffer in part.named_buffers(recurse=False)
             if buffer.is_floating_point()]

    def field(number, text):  # of a protobuf message
        size, length = len(text), b""
        while size > 127:
            length += bytes((size % 128 + 128,))
            size //= 128
        return bytes((8 * number + 2,)) + length + bytes((size,)) + text

    if names:
        entry = field(1, b"netc.buffers") + field(2, " ".join(names).encode())
        with open(model, "ab") as file:
            file.write(field(14, entry))  # metadata_props of onnx.proto


def _net(module, source, name, folded, settings) -> Net:
    """The net with a group per submodule, if that is the same net."""
    net = loads(source, name=name, **settings)
    if folded:
        return net
    grouped_source, paths = grouped(module, source)
    try:
        same = loads(grouped_source, name=name, **settings)
    except Error:
        return net
    if same.totals != net.totals or len(same.layers) != len(net.layers):
        return net
    same.module_paths = paths
    return same


def _imported(model, folded, *options) -> str:
    """The source of `netc import`."""
    to = os.path.splitext(model)[0] + ".net"
    done = subprocess.run(
        [program(), "import", model, "-o", to,
         *([] if folded else ["--flat"]), *options],
        capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(done.stderr.replace(os.path.dirname(model) + os.sep,
                                        "").rstrip())
    with open(to, encoding="utf-8") as file:
        # A file exported in training mode always has this comment.
        return re.sub(r"^# `.*` also drops values in inference\.\n", "",
                      file.read(), flags=re.M)


def _exported(torch, module, tensors, folder, folded):
    """The source of a program of torch.export, of training mode. None: this
    PyTorch or netc cannot, and ONNX is the other way."""
    def program_of(samples):
        several = tuple(torch.cat([tensor] * samples) for tensor in tensors)
        return torch.export.export(module.train(), several, strict=False)

    if not hasattr(getattr(torch, "export", None), "save"):
        return None
    model = os.path.join(folder, type(module).__name__ + ".pt2")
    was = [(part, part.training) for part in module.modules()]
    try:
        try:
            exported = program_of(1)
        except ValueError:  # a batch norm of one value a channel
            exported = program_of(2)
        values = dict(exported.state_dict)
        for name, value in values.items():
            if isinstance(value, torch.nn.Parameter):  # its size is enough
                exported.state_dict[name] = torch.nn.Parameter(
                    torch.zeros((), dtype=value.dtype).expand(value.shape),
                    value.requires_grad)
        try:
            torch.export.save(exported, model)
            return _imported(model, folded)
        except Error:  # the program computes with parameters, as Swin V2's
            exported.state_dict.update(values)
            torch.export.save(exported, model)
            return _imported(model, folded)
    except Exception:  # pylint: disable=broad-except
        return None  # the exporter raises errors of every kind
    finally:
        for part, training in was:
            part.training = training


def _source(torch, module, tensors, folder, folded, values=False):
    """The source of an ONNX file, and why it is not of training mode."""
    model = os.path.join(folder, type(module).__name__ + ".onnx")
    with warnings.catch_warnings():
        # The exporter's warnings are about running the file.
        warnings.simplefilter("ignore")
        reason = _export(torch, module, tensors, model, values)
    _mark_buffers(torch, module, model)
    own = [] if values else _own_parameters(module, model)
    return _imported(model, folded, *own), reason


def _of_onnx(torch, module, tensors, folder, folded):
    """As _source; the file has values where the net needs them."""
    # Without values, buffers of indices would be inputs of the net.
    indices = any(buffer.dim() and not buffer.is_floating_point()
                  for buffer in module.buffers())
    try:
        return _source(torch, module, tensors, folder, folded, indices)
    except Error as error:
        # The file splits and joins weights of recurrent layers:
        # that is computed, and needs values.
        try:
            if not indices:
                return _source(torch, module, tensors, folder, folded, True)
        except (Error, RuntimeError):
            pass
        raise error


def from_torch(module, *inputs, folded=False, **settings):
    import torch
    if not inputs:
        raise TypeError("from_torch(module, input): shapes depend on an input")
    tensors = [_tensor(torch, module, value) for value in inputs]
    if not all(tensor.dim() for tensor in tensors):
        raise TypeError("an input has its batch first: (1, 3, 224, 224)")
    settings.setdefault("batch", tensors[0].shape[0])
    tensors = tuple(tensor[:1] for tensor in tensors)
    name = type(module).__name__
    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = _exported(torch, module, tensors, folder, folded)
        reason = ""
        if not source:
            source, reason = _of_onnx(torch, module, tensors, folder, folded)
    if reason:
        warnings.warn("PyTorch cannot export training mode, so training is "
                      "counted without what only training has, such as "
                      f"stochastic depth: {reason}", stacklevel=3)
    if not folded:
        source = with_layouts(module, source)
    net = _net(module, source, name + ".net", folded, settings)
    own = sum(parameter.numel() for parameter in module.parameters())
    if own != net.param_count:
        warnings.warn(f"the module has {own:,} parameters, and this run of it "
                      f"uses {net.param_count:,}", stacklevel=3)
    return net
