#!/usr/bin/python3
"""pictures.py [--shown] FILE...: exits with 1 if a picture is not as it must
be. --shown: as one of the manual, in which no text is cut.

SVG: well-formed, named and described, of at most 400 kB, and nothing that can
be read or seen lies outside; no line leaves a frame that has both of its ends,
and none has a path of the machine that made it. TeX: braces match, commands end. Mermaid: each
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
        if e is root or e.get("class") == "paper":
            continue
        wide, high = float(e.get("width", 0)), float(e.get("height", 0))
        if e.tag == SVG + "rect" and not (
                -1 <= x and x + wide <= width + 1 and
                -1 <= y and y + high <= height + 1):
            yield f"{e.attrib} is outside of {width} x {height}"
        if e.tag == SVG + "text" and not (0 <= x <= width and
                                          0 <= y <= height):
            yield f"the text {e.text} is outside"
        if any(not -1 <= float(number) <= width + height for number in
               re.findall(r"-?[\d.]+(?:e[-+]?\d+)?", e.get("d", ""))):
            yield f"the path {e.get('d')} leads outside"
        if e.tag in (SVG + "script", SVG + "image", SVG + "use"):
            yield f"{e.tag} is not for charts"


def check_frames(text):
    """Lines between boxes of a frame stay in it: diagrams."""
    rects, lines = [], []
    for e in xml.fromstring(text).iter():
        if e.tag == SVG + "rect" and e.get("rx"):
            x, y, wide, high = (float(e.get(key))
                                for key in ("x", "y", "width", "height"))
            rects.append((x, y, x + wide, y + high))
        if e.tag == SVG + "path" and e.get("fill") == "none":
            points = re.findall(r"([\d.]+) ([\d.]+)(?=[LCM]|$)", e.get("d"))
            lines.append([tuple(map(float, at)) for at in points])

    def inside(at, r, slack):
        return r[0] + slack < at[0] < r[2] - slack and \
            r[1] + slack < at[1] < r[3] - slack
    for r in rects:
        for line in lines:
            if inside(line[0], r, 1) and inside(line[-1], r, 1) and \
                    not all(inside(at, r, 0) for at in line):
                yield f"a line from {line[0]} leaves the frame {r}"


def check_shown(text):
    """No text is cut."""
    for words in re.findall(r"<text[^>]*>([^<]*)</text>", text):
        if "\u2026" in words:
            yield f"{words} is cut"


def check_paths(text):
    for words in re.findall(r"(?:href=\"|>|\n)(/[^/\"<\n]+/[^\"<\n]*)", text):
        yield f"a path of this machine: {words}"


def corners(path):
    """The points of a path of M, L, H and V."""
    at, points = [0.0, 0.0], []
    for letter, words in re.findall(r"([MLHV])([-\d. ]+)", path):
        numbers = [float(word) for word in words.split()]
        for i, number in enumerate(numbers):
            at["H_V".index(letter) // 2 if letter in "HV" else i % 2] = number
            if letter in "HV" or i % 2:
                points.append(tuple(at))
    return points


def span(points, y):
    """From where to where a level crosses a convex shape."""
    found = []
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        if y0 != y1 and min(y0, y1) <= y <= max(y0, y1):
            found.append(x0 + (x1 - x0) * (y - y0) / (y1 - y0))
    return (min(found), max(found)) if found else None


def check_volumes(text):
    """No arrow stands on a face, and no label is cut or touches another."""
    root = xml.fromstring(text)
    faces = []
    for e in root.iter():
        if not e.get("class", "").startswith("edge"):
            continue
        x, y, wide, high = (float(e.get(key, 0))
                            for key in ("x", "y", "width", "height"))
        faces.append(corners(e.get("d")) if e.get("d") else
                     [(x, y), (x + wide, y), (x + wide, y + high),
                      (x, y + high)])
    for e in root.iter():
        if e.get("class") != "tip":
            continue
        head = corners(e.get("d"))
        y = sum(at[1] for at in head) / 3
        left, right = min(head)[0], max(head)[0]
        for face in faces:
            across = span(face, y)
            if across and across[0] < right - 1 and left + 1 < across[1]:
                yield f"an arrow at {head} stands on {face}"
    yield from check_shown(text)
    yield from touching(text, "small")
    yield from touching(text, "small faint")


def touching(text, kind):
    """Names of a kind touch; letters are at least so wide."""
    boxes = []
    for x, y, middle, name in re.findall(
            rf'<text class="{kind}" x="([\d.]+)" y="([\d.]+)"'
            r'( text-anchor="middle")?>([^<]+)', text):
        wide = 4 * len(name)
        boxes.append((float(x) - (wide / 2 if middle else 0), float(y), wide,
                      name))
    for i, (x, y, wide, name) in enumerate(boxes):
        for left, low, width, other in boxes[:i]:
            if abs(y - low) < 8 and x < left + width and left < x + wide:
                yield f"{name} touches {other}"


def check_roofline(text):
    yield from touching(text, "small over")


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
shown = sys.argv[1] == "--shown"
for path in sys.argv[1 + shown:]:
    raw = open(path, "rb").read()
    found = list(checks[path.rsplit(".", 1)[1]](raw.decode()))
    if path.endswith(".svg"):
        for check in (check_frames, check_paths, *[check_shown][:shown]):
            found += check(raw.decode())
    for kind, check in (("volumes", check_volumes), ("bars", check_shown),
                        ("roofline", check_roofline)):
        if path.endswith(f".{kind}.svg"):
            found += check(raw.decode())
    if len(raw) > MOST_BYTES:
        found.append(f"{len(raw)} bytes")
    for error in found:
        print(f"{path}: {error}")
        failed = True
sys.exit(failed)
