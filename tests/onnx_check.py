#!/usr/bin/python3
"""onnx_check.py MODEL...: what ONNX itself thinks of them. The checker in
full, and every shape inferred anew, strictly, beside the one that is said."""
import os
import sys

import onnx
from onnx import checker, shape_inference


def shapes(values):
    return {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
            for v in values}


def agree(said, found, is_open):
    """In a model with open axes, 0, as rows of an expert, inference does not follow what shapes are
    computed from: what it knows must be what is said."""
    if not is_open or found is None:
        return said == found
    return not found or (len(said) == len(found) and all(
        a == b or 0 in (a, b) for a, b in zip(said, found)))


tensors = failed = 0
for path in [os.path.abspath(path) for path in sys.argv[1:]]:
    # The checker looks for files beside a model in this folder.
    os.chdir(os.path.dirname(path) or ".")
    path = os.path.basename(path)
    model = onnx.load(path, load_external_data=False)
    try:
        checker.check_model(model, full_check=True)
        said = shapes(model.graph.value_info)
        del model.graph.value_info[:]
        found = shapes(shape_inference.infer_shapes(
            model, check_type=True, strict_mode=True,
            data_prop=True).graph.value_info)
        is_open = any(0 in shape for shape in
                      [*shapes(model.graph.input).values(), *said.values()])
        wrong = [name for name in said
                 if not agree(said[name], found.get(name), is_open)]
        tensors += len(said)
        if wrong:
            failed = 1
            print(f"{path}: {wrong[0]} is {said[wrong[0]]}, inferred "
                  f"{found.get(wrong[0])}; {len(wrong)} differ")
    except Exception as error:
        failed = 1
        print(f"{path}: {error}")
print(f"{len(sys.argv) - 1} models, {tensors} tensors")
sys.exit(failed)
