"""The index that the site's pages search, without a server.

A word of the index is followed by the sections that have it, each as the
distance from the one before in base 36; a page without a server can load a
script, but no other file, so that the index is one.
"""
import html
import json
import re

# Words that say nothing about a section; so does a word of every fifth one.
STOP = set("""the and for that with this from are its not but has have was
which than then when what into they their there these those only also does can
one two each other after before more most all any both where how will would
netc""".split())
COMMON = 5
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def words_of(text):
    """Words in the order of a text; site.js splits what is typed so."""
    return [word for word in re.findall(r"[a-z][a-z0-9]+", text.lower())
            if word not in STOP]


def base36(number):
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = DIGITS[digit] + digits
        if not number:
            return digits


def text_of(body):
    return html.unescape(re.sub("<[^>]*>", " ", body))


def sections_of(body):
    """Anchor, heading and text of each section of a page."""
    body = re.sub('<button type="button" class="copy">.*?</button>', "", body)
    parts = re.split(r'<h[23][^>]*?id="([^"]*)"[^>]*>(.*?)</h[23]>', body,
                     flags=re.DOTALL)
    yield "", "", text_of(parts[0])
    for at in range(1, len(parts), 3):
        yield parts[at], " ".join(text_of(parts[at + 1]).split()), \
            text_of(parts[at + 2])


def write(file, pages):
    """Writes the index of (address, title, body, is only a title)."""
    listed, found, count = [], {}, 0
    for address, title, body, brief in pages:
        heads = []
        for anchor, heading, text in sections_of(body):
            if brief:
                text = " ".join(re.findall(r"^\s*#(.*)", text, re.MULTILINE)[:2])
            for word in set(words_of(f"{title} {text}" if not anchor
                                     else f"{heading} {text}")):
                found.setdefault(word, []).append(count)
            count += 1
            heads.append([anchor, heading] if anchor else [])
        listed.append([address, title, heads])
    lines = []
    for word, places in sorted(found.items()):
        if len(places) * COMMON <= count:
            steps = [b - a for a, b in zip([0] + places, places)]
            lines.append(word + " " + ",".join(map(base36, steps)))
    text = "netcIndex(" + json.dumps(
        [listed, "\n".join(lines)], ensure_ascii=False,
        separators=(",", ":")) + ")\n"
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return len(text.encode())
