"""netc verify: the model of x.onnx with netc's inputs.

run_onnx.py ENGINE FOLDER, where the engine is onnxruntime or onnx (its
reference evaluator): net.onnx and `ends` are there; outputs become onnx.out0
and so on. Prints what computed them. Exit status 77: the engine is absent.
"""
import os
import sys

engine, folder = sys.argv[1:]
try:
    import numpy as np
    if engine == "onnxruntime":
        import onnxruntime
    else:
        import onnx
        from onnx.reference import ReferenceEvaluator
except ImportError as missing:
    print(f"python3 has no {missing.name}")
    sys.exit(77)

TYPES = {"f32": "<f4", "i32": "<i4", "i64": "<i8"}


def path(name):
    return os.path.join(folder, name)


def sides(types):
    """Shapes as the model says them; by the reference evaluator, of protobuf."""
    return [[d.dim_value for d in t.tensor_type.shape.dim] for t in types]


if engine == "onnxruntime":
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    net = onnxruntime.InferenceSession(path("net.onnx"), options,
                                       providers=["CPUExecutionProvider"])
    names = [i.name for i in net.get_inputs()]
    given = [i.shape for i in net.get_inputs()]
    told = f"ONNX Runtime {onnxruntime.__version__}"
else:
    net = ReferenceEvaluator(path("net.onnx"))
    names = net.input_names
    given = sides(net.input_types)
    told = f"the reference evaluator of onnx {onnx.__version__}"


def is_first(own, there):
    """Whether the model has an end's channels first: a map, or a sequence
    whose first layer wants it so."""
    first = [own[0], own[-1], *own[1:-1]]
    if len(own) < 3 or (len(own) == 3 and list(there) == own != first):
        return False
    if len(own) == 3 and own == first:
        print(f"{'x'.join(map(str, own))}: its axes cannot be told apart")
        sys.exit(77)
    return True


with open(path("ends")) as file:
    ends = [line.split() for line in file]
feeds, outputs = {}, []
for what, kind, dims, name in ends:
    shape = [int(size) for size in dims.split("x")]
    if what == "out":
        outputs.append((kind, shape, name))
        continue
    values = np.fromfile(path(name), TYPES[kind]).reshape(shape)
    if kind == "f32" and is_first(shape, given[len(feeds)]):
        values = np.ascontiguousarray(np.moveaxis(values, -1, 1))
    feeds[names[len(feeds)]] = values

for (kind, shape, name), values in zip(outputs, net.run(None, feeds)):
    if kind == "f32" and is_first(shape, values.shape):
        values = np.moveaxis(values, 1, -1)
    if list(values.shape) != shape:
        sys.exit(f"{name} is {list(values.shape)}, not {shape}")
    np.ascontiguousarray(values, "<f4").tofile(path("onnx." + name))
print(told)
