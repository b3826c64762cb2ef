"""Nets: load a source once, then read its figures and outputs."""
from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Sequence

from . import abi
from .abi import Diagnostic, Severity, Status, Style
from .native import lib, zoo
from .record import taken


class Error(Exception):
    """A source has an error or exceeds its budget, or a request is invalid.

    str() is the message of `netc`: the line, a caret, and a way out.

    diagnostics: all errors and warnings, in the order of discovery
    """

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


def _filled(function, struct, *arguments):
    """A record that a function fills in; None if it returns an error."""
    value = struct(size=ctypes.sizeof(struct))
    status = function(*arguments, ctypes.byref(value))
    return taken(value) if status == Status.OK else None


def _bytes(text: str) -> bytes:
    """A text for C, which ends at the first NUL."""
    if "\0" in text:
        raise ValueError(f"a NUL character in {text!r}")
    return text.encode()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _word(value, between: str = "x") -> str:
    """A value in the syntax of the command line: True is "on"."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return between.join(_word(item) for item in value)
    return str(value)


class Net:
    """A compiled net. netc.load() and netc.loads() return it. Several threads
    may use it; calls wait for each other."""

    module_paths: dict[str, str] = {}
    """Path of the submodule of each layer, by the layer's name:
    {"layer1.BasicBlock0.conv1": "layer1.0.conv1"}. Set by from_torch()."""

    def __init__(self, read, params, inputs, budget, lora, vary, warn, include,
                 settings):
        for given, name in ((params, "params"), (budget, "budget")):
            if given is not None and not isinstance(given, dict):
                raise TypeError(f"{name} is a dict, not {given!r}")
        self._lock = threading.RLock()
        self._context = lib.netc_open(abi.netc_resize_fn(), None)
        if not self._context:
            raise MemoryError
        self._made = (read, params, inputs, budget, lora, vary, warn, include,
                      settings)
        for name, value in settings.items():
            try:
                self._call(lib.netc_set, name, _word(value, ","))
            except Error as error:
                if name in str(error):
                    raise
                raise Error(f"{name}={value!r}: {error}") from None
        for name, value in (params or {}).items():
            self._call(lib.netc_define, name, _word(value))
        if inputs is not None and not isinstance(inputs, dict):
            inputs = {"": inputs}
        for name, sizes in (inputs or {}).items():
            self._call(lib.netc_input_sizes, name, _word(sizes))
        for name, value in (budget or {}).items():
            self._call(lib.netc_budget, name, _word(value))
        if isinstance(lora, str):
            self._call(lib.netc_adapters, lora)
        elif lora:
            rank, everywhere = lora if isinstance(lora, tuple) else (lora,
                                                                     False)
            self._call(lib.netc_lora, rank, everywhere)
        if vary:
            lengths = list(vary)
            self._call(lib.netc_vary, min(lengths),
                       sum(lengths) // len(lengths), max(lengths))
        for option in [warn] if isinstance(warn, str) else warn:
            self._call(lib.netc_warn, option)
        for folder in [include] if isinstance(include, str) else include:
            self._call(lib.netc_include, os.fsencode(folder))
        self._call(*read)

    def __del__(self):
        context = getattr(self, "_context", None)
        if context:
            self._context = None
            lib.netc_close(context)

    def _call(self, function, *arguments):
        """Calls a function with the context; raises on an error."""
        coded = [_bytes(a) if isinstance(a, str) else a for a in arguments]
        with self._lock:
            status = function(self._context, *coded)
            if status == Status.OK:
                return
            if status == Status.NO_MEMORY:
                raise MemoryError
            if status == Status.ERROR and self.diagnostics:
                raise Error(self._rendered(Severity.ERROR), self.diagnostics)
            raise Error(_text(lib.netc_message(self._context)))

    def _sunk(self, function, *arguments) -> bytes:
        """The bytes that a function writes to the sink, its last argument."""
        parts = []

        def sink(_, data, length):
            parts.append(ctypes.string_at(data, length))
            return True

        self._call(function, *arguments, abi.netc_sink_fn(sink), None)
        return b"".join(parts)

    def _rendered(self, severity) -> str:
        return "\n".join(
            _text(self._sunk(lib.netc_diagnostic_emit, i, Style.TEXT))
            for i, d in enumerate(self.diagnostics)
            if d.severity == severity).rstrip()

    def _all(self, function, struct, *arguments) -> list:
        records: list = []
        with self._lock:
            while True:
                record = _filled(function, struct, self._context, *arguments,
                                 len(records))
                if record is None:
                    return records
                records.append(record)

    def _one(self, function, struct, *arguments):
        with self._lock:
            return _filled(function, struct, self._context, *arguments)

    # Source

    @property
    def name(self) -> str:
        with self._lock:
            return _text(lib.netc_name(self._context))

    @property
    def source(self) -> str:
        """The text of the net, without the files that `use` reads."""
        length = ctypes.c_size_t()
        with self._lock:
            text = lib.netc_source_text(self._context, 0, ctypes.byref(length))
            return _text(ctypes.string_at(text, length.value))

    @property
    def context(self) -> int:
        """The `struct netc *` for functions of netc.native.lib. It is valid
        as long as the net. One thread at a time may use it."""
        return self._context

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return self._all(lib.netc_diagnostic, abi.netc_diagnostic)

    @property
    def warnings(self) -> str:
        """The warnings as `netc` prints them; "": none."""
        with self._lock:
            return self._rendered(Severity.WARNING)

    @property
    def params(self) -> dict[str, abi.Param]:
        """The params of the source, by name."""
        return {p.name: p for p in self._all(lib.netc_param, abi.netc_param)}

    def variant(self, params=None, inputs=None, budget=None, **settings) -> Net:
        """Compiles the source again with these params, budgets and settings
        added to its own; `inputs` replaces its inputs."""
        (read, old_params, old_inputs, old_budget, lora, vary, warn,
         include, old) = self._made
        net = Net(read, {**(old_params or {}), **(params or {})},
                  old_inputs if inputs is None else inputs,
                  {**(old_budget or {}), **(budget or {})}, lora, vary, warn,
                  include, {**old, **settings})
        net.module_paths = self.module_paths
        return net

    # The model

    @property
    def layers(self) -> list[abi.Layer]:
        """Layers in source order, inputs first. `out.dims` has the sizes of an
        output without the batch, channels last."""
        return self._all(lib.netc_layer, abi.netc_layer)

    def attributes(self, layer: int) -> dict[str, str]:
        """Arguments of a layer, given by its index, with their defaults."""
        if not 0 <= layer < lib.netc_layer_count(self._context):
            raise IndexError(f"there is no layer {layer}")
        return {a.name: a.value for a in
                self._all(lib.netc_attribute, abi.netc_attribute, layer)}

    @property
    def inputs(self) -> list[abi.End]:
        return self._all(lib.netc_input, abi.netc_end)

    @property
    def outputs(self) -> list[abi.End]:
        return self._all(lib.netc_output, abi.netc_end)

    @property
    def weights(self) -> list[abi.Weight]:
        """Parameters and buffers, as in a state_dict of PyTorch."""
        return self._all(lib.netc_weight, abi.netc_weight)

    @property
    def totals(self) -> abi.Totals:
        return self._one(lib.netc_totals, abi.netc_totals)

    @property
    def param_count(self) -> int:
        return self.totals.param_count

    @property
    def trainable_count(self) -> int:
        return self.totals.trainable_count

    @property
    def mac_count(self) -> int:
        """Multiply-accumulates of the forward pass of one sample."""
        return self.totals.mac_count

    # Memory and time: docs/memory.md says how each figure is found.

    @property
    def training(self) -> abi.Training:
        """Memory of a training step, in bytes."""
        return self._one(lib.netc_training, abi.netc_training)

    @property
    def inference(self) -> abi.Inference:
        """Memory of inference in bytes, by netc's plan and in a framework."""
        return self._one(lib.netc_inference, abi.netc_inference)

    @property
    def buffers(self) -> list[abi.Buffer]:
        """Buffers of the planned arena, with their offsets."""
        return self._all(lib.netc_buffer, abi.netc_buffer)

    @property
    def verdict(self) -> abi.Verdict:
        """The verdict on a training step, for the device that `gpu` or
        `memory` names."""
        return self._one(lib.netc_verdict, abi.netc_verdict)

    @property
    def prediction(self) -> abi.Prediction:
        """The verdict on inference, for the same device."""
        return self._one(lib.netc_prediction, abi.netc_prediction)

    @property
    def asks_inference(self) -> bool:
        """True if a setting is about inference, such as context=8192 or
        weight_dtype="q4_k_m", or the net's runtime is not PyTorch. Outputs
        then report inference, unless they get predict=False."""
        with self._lock:
            return lib.netc_asks_inference(self._context)

    @property
    def answer(self) -> abi.Answer:
        """The figures at the head of the report: of a training step, or of
        inference if the settings ask for it."""
        return self._one(lib.netc_answer, abi.netc_answer,
                         self.asks_inference)

    @property
    def ways(self) -> list[abi.Way]:
        """Changes of the settings that make a training step fit."""
        return self._all(lib.netc_way, abi.netc_way)

    @property
    def largest_batch(self) -> int | None:
        """Largest batch of a training step on the device; 0: not even one
        sample fits; None: no device is named."""
        verdict = self.verdict
        return verdict.largest_batch if verdict.asked else None

    @property
    def time(self) -> abi.Time | None:
        """Duration of a training step; None: no card is named."""
        return self._one(lib.netc_time, abi.netc_time)

    @property
    def stages(self) -> list[abi.Stage]:
        """Memory of each pipeline stage; empty on one device."""
        return self._all(lib.netc_stage, abi.netc_stage)

    # Outputs

    def emit(self, kind: str, **options) -> bytes:
        """Returns an output of `netc --emit`: "json", "svg", "timeline.svg" ..

        `options` are members of struct netc_options: units="si", depth=1,
        columns="name,macs", explain=True, direction="right", tint="macs".
        predict=True reports inference, predict=False training; without it, or
        with None, asks_inference decides.
        """
        if options.get("predict") is None:
            options["predict"] = self.asks_inference
        return self._sunk(lib.netc_emit, kind, _options(options))

    def report(self, **options) -> str:
        """The report that `netc` prints."""
        return self.emit("txt", **options).decode()

    def svg(self, **options) -> str:
        """The diagram as SVG."""
        return self.emit("svg", **options).decode()

    def picture(self, kind: str = "svg", **options):
        """The diagram or a chart ("timeline.svg") for a cell of a notebook.
        It remains a picture in pages that nbconvert writes."""
        from .jupyter import Picture
        return Picture(self.emit(kind, **options).decode(), self.name)

    def html(self, **options) -> str:
        """An HTML page with report, diagram and charts, in one file."""
        return self.emit("html", **options).decode()

    def json(self, **options) -> str:
        """All numbers as JSON: docs/report.schema.json."""
        return self.emit("json", **options).decode()

    def save(self, path: str | os.PathLike, **options) -> None:
        """Writes an output to a file, whose suffix chooses it: "x.svg",
        "x.timeline.svg", "x.py"."""
        name = os.path.basename(os.fspath(path))
        kind = name.partition(".")[2]
        kinds = [k.name for k in _output_kinds()]
        while kind not in kinds and "." in kind:
            kind = kind.partition(".")[2]
        if kind not in kinds:
            raise ValueError(f"the end of {name!r} names no output; the "
                             f"outputs are {', '.join(kinds)}")
        made = self.emit(kind, **options)
        with open(path, "wb") as file:
            file.write(made)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"<netc.Net {self.name}: {self.param_count:,} parameters>"

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        from .jupyter import html_of
        return html_of(self)


def _output_kinds():
    kinds = []
    while True:
        kind = _filled(lib.netc_output_kind, abi.netc_output_kind, len(kinds))
        if kind is None:
            return kinds
        kinds.append(kind)


_ENUMS = {"units": abi.Units, "direction": abi.Direction, "tint": abi.Tint}


def _options(given: dict):
    """A struct netc_options from keyword arguments."""
    options = abi.netc_options(size=ctypes.sizeof(abi.netc_options))
    fields: list = list(abi.netc_options._fields_[1:])
    known = {name: kind for name, kind in fields
             if not name.startswith("tensor_")}
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"unknown option {name!r}; the options are "
                            f"{', '.join(known)}")
        if name in _ENUMS and isinstance(value, str):
            if value.upper() not in _ENUMS[name].__members__:
                words = ", ".join(_ENUMS[name].__members__).lower()
                raise ValueError(f"{name} is one of {words}, not {value!r}")
            value = _ENUMS[name][value.upper()]
        kind = known[name]
        takes = {ctypes.c_char_p: str, ctypes.c_bool: bool}.get(kind, int)
        if not isinstance(value, takes):
            raise TypeError(f"{name} takes {takes.__name__}, not {value!r}")
        if takes is int and kind(value).value != value:
            raise ValueError(f"{name}={value} is out of range")
        setattr(options, name,
                _bytes(value) if isinstance(value, str) else value)
    return ctypes.byref(options)


def load(path: str | os.PathLike, *, params: dict | None = None, inputs=None,
         budget: dict | None = None, lora=0, vary=(), warn=(), include=(),
         **settings) -> Net:
    """Compiles a file, or a net of the zoo: "zoo:resnet50".

    params: values of params of the source, {"depth": 50}
    inputs: sizes of the input, "320x320x3" or (320, 320, 3), or a dict with
        sizes of several inputs by name; "_" keeps a size
    budget: limits, {"train": "24GiB", "params": "25M"}
    lora: rank of adapters, or (rank, True) to adapt linear layers, too; or
        text as `--lora` takes it, such as "16:all:f32"
    vary: numbers of tokens that differ from batch to batch: all of them, or
        (shortest, longest)
    warn: texts after -W; include: folders in which `use` looks
    settings: settings of docs/reference.md: batch=64, optimizer="adamw",
        gpu="rtx4090", precision="mixed"

    Raises Error if the net does not compile or exceeds its budget.
    """
    file = os.fsdecode(path)
    if file.startswith("zoo:"):
        file = zoo(file[4:])
    if "\0" in file:
        raise ValueError(f"a NUL character in {file!r}")
    return Net((lib.netc_load_file, os.fsencode(file)), params, inputs, budget,
               lora, vary, warn, include, settings)


def loads(text: str, *, name: str = "net.net", params: dict | None = None,
          inputs=None, budget: dict | None = None, lora=0, vary=(), warn=(),
          include=(), **settings) -> Net:
    """Compiles a text. Messages call it `name`. See load()."""
    source = text.encode()
    return Net((lib.netc_load_text, name, source, len(source)), params, inputs,
               budget, lora, vary, warn, include, settings)


def budget(**limits):
    """Decorates a test: the net that it returns must keep these limits.

    @netc.budget(train="24GiB", params="25M")
    def test_resnet():
        return netc.load("resnet50.net", batch=64)
    """
    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            __tracebackhide__ = True  # pytest shows the test
            net = function(*args, **kwargs)
            if not isinstance(net, Net):
                raise TypeError(f"{function.__name__} returns "
                                f"{type(net).__name__}, not a net")
            net.variant(budget=limits)
        return checked
    return decorate
