"""Shows nets in notebooks."""
from __future__ import annotations

import base64
import csv
import html
import io

from .net import Error, loads

_STYLE = ("text-align:left;white-space:nowrap", "text-align:right")


def _is_number(text):
    return text.replace(".", "", 1).lstrip("-").isdigit()


def _cell(tag, text):
    number = _is_number(text)
    shown = f"{int(text):,}" if number and "." not in text else text
    return (f'<{tag} style="{_STYLE[number]}">{html.escape(shown)}</{tag}>')


_COLUMNS = {"name": "name", "layer": "layer", "output": "output",
            "param_count": "parameters", "mac_count": "MACs"}


def _bytes(count):
    return f"{count / 2 ** 20:,.2f} MiB" if count >= 2 ** 20 \
        else f"{count:,} B"


class Picture:
    """An SVG. In HTML it is an <img>, because nbconvert removes elements that
    it does not know, and with them all lines, from an inline SVG."""

    def __init__(self, svg: str, name: str):
        self.svg, self.name = svg, name

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        coded = base64.b64encode(self.svg.encode()).decode()
        return (f'<img alt="{html.escape(self.name)}" '
                f'src="data:image/svg+xml;base64,{coded}">')


def html_of(net) -> str:
    """The table of layers, their memory, and the diagram, as HTML. All texts of
    the source are escaped, and the diagram is an <img>."""
    table = csv.DictReader(io.StringIO(net.emit("csv").decode()))
    rows = ["<tr>" + "".join(_cell("td", layer[name]) for name in _COLUMNS)
            + "</tr>" for layer in table]
    head = "".join(_cell("th", word) for word in _COLUMNS.values())
    need = _bytes(net.answer.bytes)
    facts = [f"{net.param_count:,} parameters",
             f"{net.mac_count:,} multiply-accumulates",
             f"{need} for inference" if net.asks_inference else
             f"{need} to train a batch of {net.training.batch:,}"]
    return (f"<p><b>{html.escape(net.name)}</b>: {', '.join(facts)}</p>"
            f"<details><summary>diagram</summary>"
            f"{net.picture()._repr_html_()}</details>"
            f"<details open><summary>layers</summary>"
            f'<div style="max-height:30em;overflow:auto"><table>'
            f"<tr>{head}</tr>{''.join(rows)}</table></div></details>")


def register(shell):
    """Adds %%netc, which compiles its cell. Its words are settings; a first
    word without `=` names the variable: %%netc net batch=64 gpu=t4."""
    def compile_cell(line, cell):
        words = line.split()
        name = words.pop(0) if words and "=" not in words[0] else None
        settings = dict(word.split("=", 1) for word in words if "=" in word)
        if len(settings) < len(words):
            print("%%netc [NAME] SETTING=VALUE ..")
            return None
        try:
            net = loads(cell, name=name or "cell", **settings)
        except Error as error:
            print(error)
            return None
        if name:
            shell.user_ns[name] = net
        return net

    shell.register_magic_function(compile_cell, "cell", "netc")
