"""Copies structs of the library, so that they outlive the net."""
from __future__ import annotations

from ctypes import Array, Structure


class Record:
    """Base of the classes of abi.py, one for each struct of netc.h. Members are
    texts, numbers, enums, lists and records."""

    _members: tuple = ()
    _enums: dict = {}
    _counts: dict = {}

    def __init__(self, struct):
        members = self.__dict__
        for name in self._members:
            members[name] = self._value(struct, name)

    def _value(self, struct, name):
        value = getattr(struct, name)
        if name in self._enums:
            return self._enums[name](value)
        if name in self._counts:
            count = getattr(struct, self._counts[name]) if value else 0
            return [taken(value[i]) for i in range(count)]
        return taken(value)

    def __eq__(self, other):
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        inside = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items())
        return f"{type(self).__name__}({inside})"


def taken(value):
    """The Python value of a ctypes value."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Structure):
        return value._record(value)
    if isinstance(value, Array):
        return [taken(item) for item in value]
    return value
