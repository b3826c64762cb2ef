"""netc verify: the module of x.py with netc's weights and inputs.

run_torch.py FOLDER: net.py, py.safetensors and `ends` are there; outputs
become py.out0 and so on. Prints what computed them. Exit status 77: no torch.
"""
import importlib.util
import json
import os
import struct
import sys

try:
    import torch
except ImportError as missing:
    print(f"python3 has no {missing.name}")
    sys.exit(77)

from onednn import switch_off_if_wrong

folder = sys.argv[1]
TYPES = {"f32": torch.float32, "i32": torch.int32, "i64": torch.int64}


def path(name):
    return os.path.join(folder, name)


def tensor_of(data, dtype, shape):
    if not data:
        return torch.zeros(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


def load(name):
    """The tensors of a safetensors file of float32."""
    data = read(name)
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for tensor, about in header.items():
        first, end = (8 + length + at for at in about["data_offsets"])
        tensors[tensor] = tensor_of(data[first:end], torch.float32,
                                    about["shape"])
    return tensors


def module():
    """The class that is last in net.py: the net."""
    spec = importlib.util.spec_from_file_location("net", path("net.py"))
    net = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(net)
    return [c for c in vars(net).values()
            if isinstance(c, type) and c.__module__ == "net"][-1]()


ends = [line.split() for line in read("ends").decode().splitlines()]
inputs, outputs = [], []
for what, kind, dims, name in ends:
    shape = [int(size) for size in dims.split("x")]
    if what == "out":
        outputs.append((kind, shape, name))
        continue
    values = tensor_of(read(name), TYPES[kind], shape)
    if kind != "f32":
        values = values.long()
    elif len(shape) > 3:  # N, C, H, W
        values = values.movedim(-1, 1).contiguous()
    inputs.append(values)

torch.set_num_threads(1)
without = " without oneDNN" if switch_off_if_wrong() else ""
net = module().eval()
net.load_state_dict(load("py.safetensors"))
with torch.no_grad():
    made = net(*inputs)
made = made if isinstance(made, tuple) else (made,)
for (kind, shape, name), values in zip(outputs, made):
    if kind == "f32" and len(shape) > 3:
        values = values.movedim(1, -1)
    if list(values.shape) == [1, *shape[1:]]:  # no input reaches it
        values = values.expand(shape)
    if list(values.shape) != shape:
        sys.exit(f"{name} is {list(values.shape)}, not {shape}")
    with open(path("py." + name), "wb") as file:
        file.write(values.contiguous().float().numpy().tobytes())
print(f"PyTorch {torch.__version__}{without}")
