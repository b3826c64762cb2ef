"""What netc writes for a net, as a module with inputs of a batch."""
import ast
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch


class Refused(Exception):
    pass


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=600, **more)
    if done.returncode:
        raise Refused(done.stderr.strip())
    return done.stdout


def told(netc, net, options=(), text=None):
    """The report in JSON; `-` is a net in `text`."""
    return json.loads(run([netc, str(net), *options, "--emit=json=-"],
                          input=text))


def load(netc, net, options=()):
    """The module of x.py, and the expressions of its inputs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.py")
        run([netc, str(net), *options, "-o", str(path)])
        text = path.read_text()
        spec = importlib.util.spec_from_file_location("x", path)
        x = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(x)
    classes = [c for c in vars(x).values()
               if isinstance(c, type) and c.__module__ == "x"]
    calls = [node for node in ast.walk(ast.parse(text))
             if isinstance(node, ast.Call)
             and getattr(node.func, "id", "") == "net"]
    return classes[-1], [ast.unparse(arg) for arg in calls[-1].args]


def inputs_of(expressions, batch):
    """Tensors of a batch for the ones of a single sample."""
    made = [eval(e, {"torch": torch}) for e in expressions]
    return [t.expand(batch, *t.shape[1:]).clone() for t in made]
