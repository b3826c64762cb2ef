#!/usr/bin/python3
"""A source as editors show it: colours.py NETC FILE.net >FILE.svg; make docs.

Colours are those of the Pygments lexer, and at the ends of lines stand the
hints of `netc lsp`.
"""
import json
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

from pygments.styles import get_style_by_name

sys.dont_write_bytecode = True
sys.path.insert(0, "editors/pygments")
from pygments_netc import NetcLexer  # noqa: E402

STYLE = get_style_by_name("default")
LINE, LETTER, EDGE = 18, 7.83, 10  # pixels; letters are 13 px high


def piece(kind, text):
    while not STYLE.styles_token(kind):
        kind = kind.parent
    style = STYLE.style_for_token(kind)
    look = f' fill="#{style["color"]}"' if style["color"] else ""
    if style["bold"]:
        look += ' font-weight="bold"'
    if style["italic"]:
        look += ' font-style="italic"'
    return f"<tspan{look}>{escape(text)}</tspan>" if look else escape(text)


def hints(netc, path, text):
    """What stands at the ends of lines, by their numbers from 0."""
    uri = pathlib.Path(path).absolute().as_uri()
    last = {"line": text.count("\n"), "character": 0}
    document = {"uri": uri, "languageId": "netc", "version": 1, "text": text}
    asked = [
        {"id": 1, "method": "initialize",
         "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {
            "textDocument": document}},
        {"id": 2, "method": "textDocument/inlayHint", "params": {
            "textDocument": {"uri": uri},
            "range": {"start": {"line": 0, "character": 0}, "end": last}}},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"}]
    frames = b""
    for message in asked:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        frames += b"Content-Length: %d\r\n\r\n" % len(body) + body
    rest = subprocess.run([netc, "lsp"], input=frames, check=True,
                          stdout=subprocess.PIPE).stdout
    found = {}
    while rest:
        head, _, rest = rest.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1].split()[0])
        answer, rest = json.loads(rest[:length]), rest[length:]
        if answer.get("id") == 2:
            found = {hint["position"]["line"]: hint["label"]
                     for hint in answer["result"]}
    return found


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        text = file.read()
    ends = hints(*sys.argv[1:3], text)
    lines = [""]
    for kind, part in NetcLexer().get_tokens(text):
        first, *rest = part.split("\n")
        lines[-1] += piece(kind, first) if first else ""
        lines += [piece(kind, line) if line else "" for line in rest]
    lines.pop()
    for number, label in ends.items():
        lines[number] += ('<tspan fill="#8a8f98" font-size="12px" dx="12">'
                          f'{escape(label)}</tspan>')
    width = int(max(len(line) + len(ends.get(number, "")) + 1 for number, line
                    in enumerate(text.split("\n"))) * LETTER) + 2 * EDGE
    height = len(lines) * LINE + EDGE
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
          f'height="{height}" viewBox="0 0 {width} {height}" '
          f'font-family="monospace" font-size="13px">\n'
          f'<rect width="100%" height="100%" fill="#fafafa"/>')
    for number, line in enumerate(lines, 1):
        if line:
            print(f'<text x="{EDGE}" y="{number * LINE}" '
                  f'xml:space="preserve">{line}</text>')
    print("</svg>")


main()
