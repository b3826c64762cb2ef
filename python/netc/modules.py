"""Groups the lines of a source by the submodules of a PyTorch module.

`netc import --flat` writes a line per layer and labels it with the name of the
file's node, which has PyTorch's path: layer1_layer1_0_conv1_Conv in ONNX,
layer1_0_conv1 in a program of torch.export. Here the lines of a submodule
become a group, so that reports, diagrams and `depth` show
modules: layer1.BasicBlock0.conv1.
"""
from __future__ import annotations

import functools
import re
from collections import Counter

from .net import Error, loads


def _ways(module) -> dict[str, str]:
    """Paths of submodules by the prefix of their names in the file:
    {"layer1_layer1_0_": "layer1.0"}. A numbered submodule has its container's
    name before its own. The container is in the path only if it was called
    itself (a Sequential, not a ModuleList)."""
    ways: dict[str, str] = {}
    begins, called = {"": {""}}, {"": ""}
    for path, _ in module.named_modules():
        if not path:
            continue
        above, _, name = path.rpartition(".")
        word = re.sub(r"\W", "_", name)
        begins[path] = {f"{begin}{word}_" for begin in begins[above]}
        called[path] = word
        if name.isdigit() and above:
            called[path] = f"{called[above]}_{word}"
            begins[path] |= {f"{begin}{called[path]}_"
                             for begin in begins[above]}
        # A label begins with a letter, and `netc import` writes n0 as
        # at_n0.
        for begin in begins[path]:
            digit = begin[0].isdigit()
            ways.update((before + begin, path)
                        for before in (("n", "at_n") if digit else ("",)))
    return ways


@functools.lru_cache(maxsize=None)
def _may_be_label(word) -> bool:
    """False if the word is a layer or a keyword of the language."""
    try:
        loads(f"input 8\n{word}\n")
    except Error as error:
        return error.diagnostics[0].slug == "unknown-layer"
    return False


def _words(module, path) -> list[str]:
    """Labels of the groups of a path: the names of the submodules, or their
    class if the name cannot be a label (a number, "relu")."""
    words, part = [], module
    for name in path.split(".") if path else []:
        part = part.get_submodule(name)
        word = re.sub(r"\W", "_", name)
        if not word[0].isalpha() or len(word) == 1 or not _may_be_label(word):
            kind = re.sub(r"^[\W_]+", "", type(part).__name__)
            word = kind + (word if word[0] in "_0123456789" else "")
        words.append(word if _may_be_label(word) else word + "_")
    return words


class _Groups:
    """The lines of a source, with the stack of open groups."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open: list[str] = []
        self.parts: list[str] = []  # what the open ones were asked for
        self.taken: set[str] = set()

    def unused(self, word) -> str:
        """The word, with a number if a group or layer beside it has it."""
        name, turn = word, 1
        while ".".join(self.open + [name]) in self.taken:
            turn += 1
            name = f"{word}_{turn}"
        self.taken.add(".".join(self.open + [name]))
        return name

    def way_to(self, name) -> str:
        """A name relative to the open groups. It stays absolute if an inner
        open group has the same word."""
        words, shared = name.split("."), 0
        while shared < min(len(words) - 1, len(self.open)) and \
                words[shared] == self.open[shared]:
            shared += 1
        if any(".".join(self.open[:inner] + [words[shared]]) in self.taken
               for inner in range(shared + 1, len(self.open) + 1)):
            shared = 0
        return ".".join(words[shared:])

    def go_to(self, parts):
        same = 0
        while same < min(len(parts), len(self.parts)) and \
                parts[same] == self.parts[same]:
            same += 1
        while len(self.open) > same:
            self.open.pop()
            self.parts.pop()
            self.put("}")
        for part in parts[same:]:
            name = self.unused(part)
            self.put(f"{name}: {{")
            self.open.append(name)
            self.parts.append(part)

    def put(self, line):
        self.lines.append("  " * len(self.open) + line)


def _part_of(ways, label) -> tuple[str, str]:
    """The path of a label's submodule, and the rest of the label."""
    begin = max((way for way in ways if (label + "_").startswith(way)),
                key=len, default="")
    return ways.get(begin, ""), label[len(begin):]


def _above(path) -> list[str]:
    """The path and the paths of its containers: a.b.c, a.b, a."""
    parts = path.split(".") if path else []
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def with_layouts(module, source: str) -> str:
    """Marks attention that is nn.MultiheadAttention, whose tokens come before
    samples: a file for one sample does not show it."""
    from torch.nn import MultiheadAttention
    ways = _ways(module)

    def marked(line):
        path, _ = _part_of(ways, line[1])
        parts = map(module.get_submodule, _above(path))
        own = any(isinstance(part, MultiheadAttention) for part in parts)
        return line[0] + " sbhd" if own else line[0]

    return re.sub(r"^([A-Za-z]\w*): *attention [^\n{;]*?\bpacked\b", marked,
                  source, flags=re.M)


def grouped(module, source: str) -> tuple[str, dict[str, str]]:
    """Returns the source with a group per submodule, and the submodule's path
    by layer name: {"layer1.BasicBlock0.conv1": "layer1.0.conv1"}.
    """
    if "{\n" in source:  # more than a line a layer
        return source, {}
    lines = re.findall(r"^(?:([A-Za-z]\w*): *)?(.+)$",
                       re.sub(r" *\\\n *", " ", source), re.M)
    ways = _ways(module)
    part_of = {label: _part_of(ways, label) for label, _ in lines if label}
    layers_in = Counter(above for path, _ in part_of.values()
                        for above in _above(path))
    groups = _Groups()
    names: dict[str, str] = {}
    paths: dict[str, str] = {}
    held: list[str] = []  # lines that belong to the next one with a label

    def put(line):
        groups.put(re.sub(
            r"[A-Za-z]\w*(?![\w=])", lambda word: groups.way_to(names[word[0]])
            if word[0] in names else word[0], line))

    for label, line in lines:
        if not label:
            held.append(line)
            if re.match(r"(net|input|output)\b", line):
                groups.go_to([])
                while held:
                    put(held.pop(0))
            continue
        path, own = part_of[label]
        parts = _words(module, path)
        for above in _above(path):
            # A group of one layer is that layer; so is a part without parts.
            if layers_in[above] == 1 or \
                    not module.get_submodule(above)._modules:
                own = parts.pop()
        groups.go_to(parts)
        while held:
            put(held.pop(0))
        if not own[:1].isalpha():  # the module's own call: the layer's word
            own = line.split()[0].capitalize() + own
        own = groups.unused(own)
        put(f"{own}: {line}")
        names[label] = ".".join(groups.open + [own])
        paths[names[label]] = path
    groups.go_to([])
    while held:
        put(held.pop(0))
    return "\n".join(groups.lines) + "\n", paths
