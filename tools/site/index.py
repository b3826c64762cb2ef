"""The index that the site's pages search, without a server.

A page that is opened as a file can load a script, but no other file, so the
index is one. A line is a word and the sections that have it, each as the
distance from the one before, in letters: base 26, the last digit in capitals.
"""
import html
import json
import re

# Words that say nothing; a word of more than one section in COMMON has a line
# without places: it is found in headings, and does not exclude the others.
STOP = set("""the and for that with this from are its not but has have was
which than then when what into they their there these those only also does can
one two each other after before more most all any both where how will would
if is it in of on or to by as at be no so an up do et al netc""".split())
COMMON = 9


def words_of(text):
    """Words without the s of a plural; site.js does the same."""
    return [re.sub(r"(?<=..[^s])s$", "", word)
            for word in re.findall(r"[a-z][a-z0-9]+", text.lower())
            if word not in STOP]


def letters(number):
    digits = chr(ord("A") + number % 26)
    while number >= 26:
        number //= 26
        digits = chr(ord("a") + number % 26) + digits
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
        steps = [b - a for a, b in zip([0] + places, places)]
        common = len(places) * COMMON > count
        lines.append(word if common else
                     word + " " + "".join(map(letters, steps)))
    text = "netcIndex(" + json.dumps(
        [listed, "\n".join(lines)], ensure_ascii=False,
        separators=(",", ":")) + ")\n"
    with open(file, "w", encoding="utf-8") as out:
        out.write(text)
    return len(text.encode())
