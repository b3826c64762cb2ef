#!/usr/bin/python3
"""pictures.py FILE...: exits with 1 if a picture is not as it must be.

SVG: well-formed, named and described, of at most 400 kB, and nothing that can
be read or seen lies outside. TeX: braces match, commands end. Mermaid: each
line is a box, an edge or a word on the whole.
"""
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 400_000


def check_svg(text):
    root = xml.fromstring(text)
    width, height = map(float, root.get("viewBox").split()[2:])
    if root.tag != SVG + "svg" or root.get("role") != "img":
        yield "no picture"
    for part in root.get("aria-labelledby").split():
        if not any(e.get("id") == part and e.text for e in root):
            yield f"{part} is missing"
    if re.search(r"(?<![a-z])(nan|inf)(?![a-z])", re.sub(r">[^<]*<", "><", text)):
        yield "a length is no number"
    for e in root.iter():
        x, y = float(e.get("x", 0)), float(e.get("y", 0))
        if e.get("class") == "paper":
            continue
        wide, high = float(e.get("width", 0)), float(e.get("height", 0))
        if e.tag == SVG + "rect" and not (
                -1 <= x and x + wide <= width + 1 and
                -1 <= y and y + high <= height + 1):
            yield f"{e.attrib} is outside of {width} x {height}"
        if e.tag == SVG + "text" and not (0 <= x <= width and
                                          0 <= y <= height):
            yield f"the text {e.text} is outside"
        if e.tag in (SVG + "script", SVG + "image", SVG + "use"):
            yield f"{e.tag} is not for charts"


def check_tex(text):
    depth = 0
    bare = re.sub(r"\\[\\{}%$&#_]", "", text)
    bare = re.sub(r"%.*", "", bare)
    for c in bare:
        depth += (c == "{") - (c == "}")
        if depth < 0:
            yield "a brace closes what was not open"
            return
    if depth:
        yield "a brace stays open"
    for line in bare.splitlines():
        if re.match(r"  \\(draw|node|path)", line) and not line.endswith(";"):
            yield f"no end: {line}"
    if not text.isascii():
        yield "letters that TeX may not have"


def check_mermaid(text):
    box = r'  n\d+(\[|\(\[|\[\[|\{\{)"[^"`<>{}|\\]*(<br>[^"`<>{}|\\]*)?"'
    shape = r'(\|"[0-9a-z]+"\|)?'
    line = (r'  subgraph s\d+ \["× \d+"\]|  end|'
            r"  classDef (f[0-9a-f]{6}) fill:#[0-9a-f]{6},"
            r"stroke:#[0-9a-f]{6},color:#[0-9a-f]{6}|"
            r"  class n\d+(,n\d+)* f[0-9a-f]{6}|"
            r"flowchart TB|  acc(Title|Descr): [^<>\"{}]+|"
            + box + r"(\]|\]\)|\]\]|\}\})|  n\d+ -->" + shape + r" n\d+")
    for each in text.splitlines():
        if not re.fullmatch(line, each):
            yield f"what is {each!r}?"
    if len(text) > 50_000 or text.count("-->") > 500:
        yield "too large for Mermaid"
    if text.count("  subgraph") != text.count("  end\n"):
        yield "a frame stays open"


checks = {"svg": check_svg, "tex": check_tex, "mmd": check_mermaid}
failed = False
for path in sys.argv[1:]:
    raw = open(path, "rb").read()
    found = list(checks[path.rsplit(".", 1)[1]](raw.decode()))
    if len(raw) > MOST_BYTES:
        found.append(f"{len(raw)} bytes")
    for error in found:
        print(f"{path}: {error}")
        failed = True
sys.exit(failed)
