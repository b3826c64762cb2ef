#!/usr/bin/python3
"""figures.py NETC FILE...: the picture of a net has the edges of its paper's
figure. A file names the figure, the net, and an edge a line, `FROM > TO`, by
the words of the boxes; `#2` is the second box with these words. Each edge is
one line that touches both boxes. `! FROM > TO` is an edge that the picture
lacks: once it is drawn, the `!` must go.
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
COUNT = r"[\d,.]+( [KMBT])?"
COUNTS = f"{COUNT}(–{COUNT})?"
NOTES = "#555555"  # the colour of parameters
NEAR, HEAD = 4.5, 9.5  # pt from a box: where a line begins, and its arrow ends


def plain(words):
    """In the spelling of a tight picture."""
    words = words.replace("stride ", "/").replace("upsample ×", "up ×")
    return re.sub(r" +", " ", words).strip()


def words_of(box):
    """Without the letter of a block and its parameters."""
    lines = ["".join(text.itertext()) for text in box.iter(SVG + "text")
             if text.get("fill") != NOTES or
             not re.fullmatch(COUNTS, "".join(text.itertext()))]
    return plain(re.sub(r" \([A-Z]\)", "", " ".join(lines)))


def boxes_of(picture):
    """By words: the sides of each box, with the sheets below it."""
    found = {}
    for box in picture.iter(SVG + "g"):
        rects = [[float(rect.get(key)) for key in ("x", "y", "width", "height")]
                 for rect in box.findall(SVG + "rect")]
        if not box.get("id", "").startswith("n.") or not rects:
            continue
        sides = (min(r[0] for r in rects), min(r[1] for r in rects),
                 max(r[0] + r[2] for r in rects), max(r[1] + r[3] for r in rects))
        found.setdefault(words_of(box), []).append(sides)
    return found


def lines_of(picture):
    """The two ends of each line."""
    for path in picture.iter(SVG + "path"):
        numbers = re.findall(r"-?[\d.]+", path.get("d"))
        if path.get("fill") == "none":
            yield tuple(map(float, numbers[:2])), tuple(map(float, numbers[-2:]))


def touches(point, box, slack):
    return box[0] - slack <= point[0] <= box[2] + slack and \
        box[1] - slack <= point[1] <= box[3] + slack


def check(netc, name):
    with open(name) as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line and not line.startswith("# ")]
    net, edges = lines[0], lines[1:]
    assert edges, name
    svg = subprocess.run([netc, net, "--labels=plain", "--emit=svg"],
                         stdout=subprocess.PIPE, check=True).stdout
    picture = tree.fromstring(svg)
    boxes, drawn, wrong = boxes_of(picture), list(lines_of(picture)), 0
    for edge in edges:
        lacks, edge, ends = edge.startswith("! "), edge.removeprefix("! "), []
        for end in edge.split(" > "):
            words, _, number = end.partition(" #")
            found = boxes.get(plain(words), [])
            ends.append(found[int(number or 1) - 1:][:1])
        if not (ends[0] and ends[1]):
            print(f"{name}: `{edge}`: no such box; there are {sorted(boxes)}")
        elif lacks != any(touches(a, ends[0][0], NEAR) and
                          touches(b, ends[1][0], HEAD) for a, b in drawn):
            continue
        else:
            print(f"{name}: `{edge}` is {'now' if lacks else 'not'} one line")
        wrong += 1
    return wrong


sys.exit(any([check(sys.argv[1], name) for name in sys.argv[2:]]))
