#!/usr/bin/env python3
"""Parameters and outputs of PyTorch sources, as PyTorch counts them.

source_truth.py FOLDER writes FOLDER/truth.csv: for the name and options of each
row the parameters that get a gradient, those that do not, and the sizes of the
first output without the batch, from the PyTorch that runs this.

source_truth.py --saved FOLDER prints the rows of FOLDER/saved.csv that are of
this PyTorch, with the bytes that autograd keeps in training.
"""

import ast
import csv
import importlib
import pathlib
import sys
import types

import torch

import alive


def load(folder, name):
    """The file's imports, definitions and assignments as a module: it trains
    nothing, and assignments of what is not here may fail. A file of a package
    is imported."""
    if "/" in name:
        sys.path.insert(0, str(folder))
        return importlib.import_module(
            name.removesuffix("/__init__").replace("/", "."))
    path = folder / f"{name}.py"
    tree = ast.parse(path.read_text())
    module = types.ModuleType(path.stem)
    sys.modules[path.stem] = module
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef,
            ast.Assign, ast.AnnAssign)
    for node in tree.body:
        if not isinstance(node, kept) and "parser.add" not in ast.unparse(node):
            continue
        code = compile(ast.Module([node], []), str(path), "exec")
        try:
            exec(code, module.__dict__)
        except Exception:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                raise
    return module


def options_of(text):
    inputs, args = {}, {}
    words = text.split()
    for option, value in zip(words[::2], words[1::2]):
        name, equals, rest = value.partition("=")
        if option == "--arg":
            args[name] = rest
        else:
            inputs[name if equals else ""] = [
                int(n) for n in (rest if equals else value).split("x")]
    return inputs, args


def value_of(module, text):
    try:
        return eval(text, module.__dict__)
    except Exception:
        return text


def chosen(module, args):
    """The class that --arg class= names, or the last of the file."""
    if "class" in args:
        return getattr(module, args.pop("class"))
    classes = [c for c in vars(module).values() if isinstance(c, type)
               and issubclass(c, torch.nn.Module)
               and c.__module__.startswith(module.__name__)]
    return classes[-1]


def tensor(sizes, first, whole):
    """An input of netc's sizes in PyTorch's order."""
    if len(sizes) > 2 or (len(sizes) == 2 and first):
        sizes = [sizes[-1]] + sizes[:-1]
    return (torch.zeros(2, *sizes, dtype=torch.long) if whole
            else torch.randn(2, *sizes))


def tensors(out):
    """All tensors of an output, of its lists too."""
    if torch.is_tensor(out):
        return [out]
    if isinstance(out, dict):
        out = out.values()
    return [t for part in out or () for t in tensors(part)]


def run(model, inputs):
    for whole in (False, True):
        for first in (False, True):
            try:
                return tensors(model(*[tensor(s, first, whole)
                                       for s in inputs]))
            except (RuntimeError, IndexError, ValueError) as e:
                error = e
    raise error


def measure(folder, name, options):
    module = load(folder, name)
    inputs, args = options_of(options)
    maker = chosen(module, args)
    model = maker(**{k: value_of(module, v) for k, v in args.items()})
    model.eval()
    names = model.forward.__code__.co_varnames[1:model.forward.__code__.
                                               co_argcount]
    usual = len(model.forward.__defaults__ or ())
    needed = names[:len(names) - usual]
    features = next((m.in_features for m in model.modules()
                     if isinstance(m, torch.nn.Linear)), 1)
    given = [inputs.get(n, inputs.get("", [features])) for n in needed]
    out = run(model, given)
    model.zero_grad()
    sum(t.sum() for t in out).backward()
    all = sum(p.numel() for p in model.parameters())
    used = sum(p.numel() for p in model.parameters() if p.grad is not None)
    return used, all - used, "x".join(str(n) for n in out[0].shape[1:])


def saved(folder, name, options, batch):
    """Bytes kept for backward. Whole inputs are a net's tokens; a second one
    is a mask of padding. Modules with batch_first=False have the batch
    second."""
    module = load(folder, name)
    inputs, args = options_of(options)
    model = chosen(module, args)(
        **{k: value_of(module, v) for k, v in args.items()})
    second = any(not m.batch_first for m in model.modules()
                 if isinstance(m, torch.nn.MultiheadAttention))
    given = []
    for sizes in inputs.values():
        kind = (torch.bool if given else torch.long) if len(sizes) == 1 \
            else torch.float32
        at = int(second and not given)
        given.append(torch.zeros(*sizes[:at], batch, *sizes[at:], dtype=kind))
    outside = {alive.key_of(t)
               for t in [*given, *model.parameters(), *model.buffers()]}
    return alive.saved_by(lambda: model(*given), outside)


def print_saved(folder):
    rows = csv.reader(open(folder / "saved.csv"))
    for version, name, options, batch, *_ in list(rows)[1:]:
        if version == alive.VERSION:
            print(version, name, options, batch,
                  saved(folder, name, options, int(batch)), sep=",")


def main():
    if sys.argv[1] == "--saved":
        print_saved(pathlib.Path(sys.argv[2]))
        return
    folder = pathlib.Path(sys.argv[1])
    table = folder / "truth.csv"
    head, *rows = csv.reader(table.read_text().splitlines())
    with table.open("w") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(head)
        for name, options, *_ in rows:
            out.writerow([name, options, *measure(folder, name, options)])


main()
