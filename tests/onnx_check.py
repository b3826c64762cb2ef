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
        wrong = [name for name in said if said[name] != found.get(name)]
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
