#!/usr/bin/env python3
"""Python's binding, from netc.h and netc_edit.h:

    tools/binding.py INCLUDE >abi.py

Every function with the types of its arguments, every struct as ctypes has it,
and as a record (python/netc/record.py), whose members are documented by the
header's own comments. Needs python3-pycparser.
"""
import os
import re
import subprocess
import sys

from pycparser import c_ast, c_parser

FAKE = "/usr/share/python3-pycparser/fake_libc_include"
NUMBERS = {
    "int": ("c_int", "int"), "unsigned": ("c_uint", "int"),
    "size_t": ("c_size_t", "int"), "int64_t": ("c_int64", "int"),
    "uint64_t": ("c_uint64", "int"), "uint32_t": ("c_uint32", "int"),
    "double": ("c_double", "float"), "_Bool": ("c_bool", "bool"),
    "bool": ("c_bool", "bool"), "char": ("c_char", "bytes"),
}


def record_name(struct):
    """netc_layer_kind: LayerKind."""
    return "".join(word.title() for word in struct.split("_")[1:])


class Header:
    def __init__(self, folder, name):
        self.path = os.path.join(folder, name)
        with open(self.path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        done = subprocess.run(
            ["cpp", "-nostdinc", f"-I{FAKE}", f"-I{folder}", "-U__GNUC__",
             self.path], capture_output=True, check=True, text=True)
        tree = c_parser.CParser().parse(done.stdout, self.path)
        self.declared = [d for d in tree.ext
                         if d.coord.file == self.path]

    def comment_before(self, line):
        """The text of the comment that ends above a line, or ""."""
        last = line - 2
        if last < 0 or not self.lines[last].rstrip().endswith("*/"):
            return ""
        first = last
        while not self.lines[first].lstrip().startswith("/*"):
            first -= 1
        return plain(self.lines[first:last + 1])

    def comment_beside(self, line):
        """That after a member, which may go on in the next lines."""
        at = self.lines[line - 1].find("/*")
        if at < 0:
            return ""
        text, last = [self.lines[line - 1][at:]], line
        while "*/" not in text[-1]:
            text.append(self.lines[last])
            last += 1
        return plain(text)


def plain(lines):
    text = " ".join(lines).replace("/*", " ").replace("*/", " ")
    return " ".join(re.sub(r"(^|\s)\*(\s|$)", " ", text).split())


class Binding:
    def __init__(self):
        self.structs = {}   # name: (header, Struct), with members
        self.enums, self.constants, self.callbacks = {}, {}, {}
        self.functions = []

    def collect(self, header):
        for d in header.declared:
            if isinstance(d, c_ast.Typedef):
                self.callbacks[d.name] = d.type
            elif isinstance(d.type, c_ast.FuncDecl):
                self.functions.append(d)
            elif isinstance(d.type, c_ast.Struct) and d.type.decls:
                self.structs[d.type.name] = (header, d.type)
            elif isinstance(d.type, c_ast.Enum):
                self.collect_enum(d.type)

    def collect_enum(self, enum):
        value, members = -1, []
        for item in enum.values.enumerators:
            value = value + 1 if item.value is None else self.value(item.value)
            members.append((item.name, value))
        if enum.name:
            self.enums[enum.name] = members
        else:
            self.constants.update(members)

    def value(self, node):
        if isinstance(node, c_ast.Constant):
            return int(node.value.rstrip("uUlL"), 0)
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return -self.value(node.expr)
        if isinstance(node, c_ast.BinaryOp) and node.op == "<<":
            return self.value(node.left) << self.value(node.right)
        raise ValueError(f"{node.coord}: a constant of another kind")

    def c_type(self, node):
        """As ctypes has it."""
        if isinstance(node, c_ast.TypeDecl):
            return self.c_type(node.type)
        if isinstance(node, c_ast.IdentifierType):
            name = " ".join(node.names)
            return name if name in self.callbacks else NUMBERS[name][0]
        if isinstance(node, c_ast.Enum):
            return "c_int"
        if isinstance(node, c_ast.Struct):
            return node.name
        if isinstance(node, c_ast.PtrDecl):
            return self.pointer(node.type)
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.c_type(node.type)} * {self.value(node.dim)}"
        raise ValueError(f"{node.coord}: a type of another kind")

    def pointer(self, to):
        if isinstance(to, c_ast.TypeDecl):
            if isinstance(to.type, c_ast.Struct) and \
                    to.type.name not in self.structs:
                return "c_void_p"  # opaque
            if isinstance(to.type, c_ast.IdentifierType):
                name = to.type.names[0]
                if name == "void":
                    return "c_void_p"
                if name == "char" and "const" in to.quals:
                    return "c_char_p"
                if name in self.callbacks:
                    return name
        return f"POINTER({self.c_type(to)})"

    def py_type(self, node):
        if isinstance(node, c_ast.PtrDecl):
            if self.pointer(node.type) == "c_char_p":
                return "str"
            return f"list[{self.py_type(node.type)}]"
        if isinstance(node, c_ast.ArrayDecl):
            return f"list[{self.py_type(node.type)}]"
        if isinstance(node.type, c_ast.Enum):
            return record_name(node.type.name)
        if isinstance(node.type, c_ast.Struct):
            return record_name(node.type.name)
        if isinstance(node.type, c_ast.IdentifierType):
            return NUMBERS[" ".join(node.type.names)][1]
        raise ValueError(f"{node.coord}: a member of another kind")

    def count_of(self, struct, member):
        """The member that counts an array: inputs, input_count; dims, rank."""
        names = [m.name for m in struct.decls]
        for count in (member[:-1] + "_count", member + "_count", "rank"):
            if count in names:
                return count
        return None

    def is_told(self, struct, member):
        """What a record can have: no pointer whose end nothing says."""
        return member.name != "size" and \
            (not self.is_array(member) or
             self.count_of(struct, member.name)) and \
            self.c_type(member.type) != "c_void_p" and \
            self.c_type(member.type) not in self.callbacks

    def is_array(self, member):
        return isinstance(member.type, c_ast.PtrDecl) and \
            self.c_type(member.type) != "c_char_p"

    def put_enums(self):
        for name, members in self.enums.items():
            prefix = os.path.commonprefix([m for m, _ in members])
            prefix = prefix[:prefix.rfind("_") + 1]
            print(f"\n\nclass {record_name(name)}(IntEnum):")
            for member, value in members:
                word = member[len(prefix):]
                print(f"    {word if word[0].isalpha() else '_' + word}"
                      f" = {value}")
        print()
        for name, value in self.constants.items():
            print(f"{name} = {value}")

    def put_callbacks(self):
        print()
        for name, node in self.callbacks.items():
            if isinstance(node, c_ast.TypeDecl):
                continue
            args = [self.c_type(a.type) for a in node.args.params]
            args = ["POINTER(c_char)" if a == "c_char_p" and i + 1 < len(args)
                    and args[i + 1] == "c_size_t" else a
                    for i, a in enumerate(args)]
            print(f"{name} = CFUNCTYPE({self.c_type(node.type)}, "
                  f"{', '.join(args)})")

    def put_struct(self, name, header, struct):
        print(f"\n\nclass {name}(Structure):")
        print("    _fields_ = [")
        for m in struct.decls:
            print(f'        ("{m.name}", {self.c_type(m.type)}),')
        print("    ]")
        print("    _record: type")
        self.put_record(name, header, struct)

    def put_record(self, name, header, struct):
        members = [m for m in struct.decls if self.is_told(struct, m)]
        text = header.comment_before(struct.coord.line) or \
            f"{name} of {os.path.basename(header.path)}."
        said = {m.name: header.comment_beside(m.coord.line) for m in members}
        print(f"\n\nclass {record_name(name)}(Record):")
        print(f'    r"""{text}')
        if any(said.values()):
            print()
        for member, comment in said.items():
            if comment:
                print(f"    {member}: {comment}")
        print('    """\n')
        for m in members:
            print(f"    {m.name}: {self.py_type(m.type)}")
        enums = {m.name: record_name(m.type.type.name) for m in members
                 if isinstance(getattr(m.type, "type", None), c_ast.Enum)}
        arrays = {m.name: self.count_of(struct, m.name) for m in members
                  if self.is_array(m)}
        enums = ", ".join(f'"{k}": {v}' for k, v in enums.items())
        names = ", ".join(f'"{m.name}"' for m in members)
        print(f"\n    _members = ({names},)")
        print(f"    _enums = {{{enums}}}")
        print(f"    _counts = {arrays!r}\n\n")
        print(f"{name}._record = {record_name(name)}")

    def put_functions(self):
        print("\n\ndef bind(library):\n"
              '    """Gives the functions of a library their types."""')
        for d in self.functions:
            params = d.type.args.params
            args = [self.c_type(p.type) for p in params
                    if not (isinstance(p.type, c_ast.TypeDecl) and
                            p.type.type.names == ["void"]
                            if isinstance(getattr(p.type, "type", None),
                                          c_ast.IdentifierType) else False)]
            result = d.type.type
            void = isinstance(result, c_ast.TypeDecl) and \
                isinstance(result.type, c_ast.IdentifierType) and \
                result.type.names == ["void"]
            print(f"    library.{d.name}.restype = "
                  f"{'None' if void else self.c_type(result)}")
            print(f"    library.{d.name}.argtypes = [{', '.join(args)}]")
        names = ",\n             ".join(f'"{d.name}"' for d in self.functions)
        print(f"\n\nFUNCTIONS = ({names})")


def version(folder):
    with open(os.path.join(folder, "netc.h"), encoding="utf-8") as file:
        return re.search(r'NETC_VERSION "(.*)"', file.read())[1]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/binding.py INCLUDE")
    folder = sys.argv[1]
    binding = Binding()
    for name in ("netc.h", "netc_edit.h"):
        binding.collect(Header(folder, name))
    print('"""The functions and structs of netc.h and netc_edit.h, for ctypes; '
          'made by\ntools/binding.py."""')
    print("from __future__ import annotations\n")
    print("from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, "
          "c_char_p,\n                    c_double, c_int, c_int64, c_size_t, "
          "c_uint, c_uint32,\n                    c_uint64, c_void_p)")
    print("from enum import IntEnum\n")
    print("from .record import Record\n")
    print(f'VERSION = "{version(folder)}"')
    binding.put_enums()
    binding.put_callbacks()
    for name, (header, struct) in binding.structs.items():
        binding.put_struct(name, header, struct)
    binding.put_functions()


if __name__ == "__main__":
    main()
