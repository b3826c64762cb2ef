#!/usr/bin/python3
"""The wheel of Python's package: make_wheel.py BUILD leaves BUILD/netc-*.whl.

In it are python/netc, libnetc, the program and the examples: what is installed
needs no compiler. The tag says how old a C library may be: what the symbols
need. Needs python3-wheel, binutils.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from wheel.wheelfile import WheelFile

SUMMARY = "shapes, parameters and memory of neural networks, without running " \
          "them"


def output(*command):
    return subprocess.run(command, capture_output=True, check=True,
                          text=True).stdout


def c_library(paths):
    """The version of the C library that these need: (2, 33)."""
    newest = (2, 17)
    for path in paths:
        needed = re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", path))
        strange = [name for name in needed
                   if not re.match(r"lib[cm]\.so|ld-linux|libpthread", name)]
        if strange:
            sys.exit(f"tools/make_wheel.py: {path} needs {', '.join(strange)}, "
                     "which a wheel cannot count on")
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)",
                                  output("objdump", "-T", path)):
            newest = max(newest, tuple(map(int, version)))
    return newest


def stripped(path, folder):
    to = os.path.join(folder, os.path.basename(path))
    shutil.copyfile(path, to)
    output("strip", "--strip-unneeded", to)
    os.chmod(to, 0o755)
    return to


def files_below(folder, suffix):
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith(suffix):
                yield os.path.join(where, name)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tools/make_wheel.py BUILD")
    build = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    os.environ.setdefault(  # equal sources, equal bytes
        "SOURCE_DATE_EPOCH", output("git", "log", "-1", "--format=%ct").strip())
    abi = output(sys.executable, "tools/binding.py", "include")
    version = re.search(r'VERSION = "(.*)"', abi)[1]
    soname = "libnetc.so." + version.split(".", maxsplit=1)[0]
    with tempfile.TemporaryDirectory() as folder:
        library = stripped(os.path.join(build, soname), folder)
        program = stripped(os.path.join(build, "static/netc"), folder)
        major, minor = c_library([library, program])
        tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
        for old in os.listdir(build):
            if re.fullmatch(r"netc-.*\.whl", old):
                os.remove(os.path.join(build, old))
        path = os.path.join(build, f"netc-{version}-{tag}.whl")
        with WheelFile(path, "w") as wheel:
            wheel.compresslevel = 9
            fill(wheel, version, tag, abi, library, program)
    # Deflated once more: smaller by a thirtieth than by zlib.
    subprocess.run(["advzip", "-z", "-3", "-q", path], check=True)
    print(f"{path}: {os.path.getsize(path):,} B")


def fill(wheel, version, tag, abi, library, program):
    info, data = f"netc-{version}.dist-info", f"netc-{version}.data"
    for path in files_below("python/netc", (".py", "py.typed")):
        if not path.endswith("/abi.py"):
            wheel.write(path, os.path.relpath(path, "python"))
    wheel.writestr("netc/abi.py", abi)
    wheel.write(library, f"netc/{os.path.basename(library)}")
    wheel.write(program, f"{data}/scripts/netc")
    for path in files_below("examples", ".net"):
        wheel.write(path, f"{data}/data/share/netc/{path}")
    wheel.write("LICENSE", f"{info}/LICENSE")
    with open("docs/python.md", encoding="utf-8") as file:
        page = file.read()
    wheel.writestr(f"{info}/METADATA", f"""\
Metadata-Version: 2.1
Name: netc
Version: {version}
Summary: {SUMMARY}
Requires-Python: >=3.8
License-File: LICENSE
Description-Content-Type: text/markdown

{page}""")
    wheel.writestr(f"{info}/WHEEL", f"""\
Wheel-Version: 1.0
Generator: netc ({version})
Root-Is-Purelib: false
Tag: {tag}
""")


if __name__ == "__main__":
    main()
