"""Loads libnetc, and finds the files installed with it."""
from __future__ import annotations

import ctypes
import os

from . import abi
from .abi import VERSION

_SONAME = "libnetc.so." + VERSION.split(".", 1)[0]


def _open():
    """Opens the library of the wheel, or else of the system."""
    own = os.path.join(os.path.dirname(__file__), _SONAME)
    library = ctypes.CDLL(own if os.path.exists(own) else _SONAME)
    abi.bind(library)
    found = library.netc_version().decode()
    if found != VERSION:
        raise ImportError(
            f"this is the package of netc {VERSION}, and {_SONAME} is of "
            f"{found}: install the same version of both")
    return library


lib = _open()


def installed(name: str) -> str | None:
    """The path of a file of the wheel outside this package, by the end of its
    path: "bin/netc"; None: netc was not installed from a wheel."""
    from importlib import metadata
    try:
        files = metadata.files("netc") or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if str(file).endswith("/" + name):
            return os.path.realpath(file.locate())
    return None


def program() -> str:
    """The path of the command `netc`."""
    import shutil
    path = installed("bin/netc") or shutil.which("netc")
    if not path:
        raise FileNotFoundError("the program `netc` is neither in the wheel "
                                "nor on PATH")
    return path


def zoo(name: str) -> str:
    """The path of a net of the zoo: "resnet50"."""
    end = f"share/netc/examples/zoo/{name}.net"
    for path in (installed(end), "/usr/" + end, "/usr/local/" + end):
        if path and os.path.exists(path):
            return path
    raise FileNotFoundError(f"the zoo has no {name!r}: `netc zoo` lists what "
                            "it has")
