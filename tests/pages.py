#!/usr/bin/python3
"""pages.py FILE...: exits with 1 if a page is not as it must be.

Every element is closed where it should be, ids are there once, links lead to
ids of the page, nothing is loaded, the scripts are ours, each row has as many
cells as there are columns, and no character reorders its neighbours.
"""
import re
import sys
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f"
                    "\u2028-\u202e\u2066-\u2069]")
# What could load or run something; links are looked at one by one.
LOADS = {"src", "srcset", "data", "poster", "action", "background", "xlink:href"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.wrong = [], set(), [], []
        self.names, self.cells, self.widths, self.level = [], 0, set(), 0
        self.scripts, self.policy, self.texts = [], None, []

    def say(self, what):
        self.wrong.append(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if len(given) != len(attrs):
            self.say(f"{tag} has an attribute twice")
        for name, value in attrs:
            if name.startswith("on") or name in LOADS:
                self.say(f"{tag} has {name}")
            if not re.fullmatch("[a-zA-Z:-]+[0-9]?", name):
                self.say(f"{tag} has an attribute {name!r}")
        if "id" in given:
            if given["id"] in self.ids:
                self.say(f"id {given['id']} is there twice")
            self.ids.add(given["id"])
        self.names += (given.get("aria-labelledby") or "").split()
        self.names += (given.get("aria-describedby") or "").split()
        if "href" in given:
            self.links.append(given["href"])
        if tag == "meta" and "http-equiv" in given:
            self.policy = given["content"]
        if tag in {"iframe", "object", "embed", "base", "link", "form", "img"}:
            self.say(f"a page has no {tag}")
        if tag == "tr":
            self.cells = 0
            level = int(given.get("aria-level", 0))
            if level > self.level + 1:
                self.say("a row is too deep")
            self.level = level
        if tag in {"td", "th"}:
            self.cells += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.say(f"</{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()
        if tag == "tr":
            self.widths.add(self.cells)

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)

    def handle_comment(self, data):
        self.say("a comment")


scripts = set()


def check(path):
    text = open(path, encoding="utf-8", newline="").read()
    page = Page()
    page.feed(text)
    page.close()
    yield from page.wrong
    if page.open:
        yield f"{page.open} are never closed"
    for link in page.links:
        if not link.startswith("#") or link[1:] not in page.ids:
            yield f"a link to {link}"
    for name in page.names:
        if name not in page.ids:
            yield f"nothing is called {name}"
    if len(page.widths) != 1:
        yield f"rows of {page.widths} cells"
    if not page.policy or "default-src 'none'" not in page.policy:
        yield "no policy"
    scripts.add("".join(page.scripts))
    if len(page.scripts) != 2 or len(scripts) != 1:
        yield "scripts that are not ours"
    if HIDDEN.search(text):
        yield f"a hidden character: {HIDDEN.search(text)}"
    if re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg\")",
                 re.sub(r'<div class="line".*', "", text)):
        yield "an address"


failed = False
for name in sys.argv[1:]:
    for wrong in check(name):
        failed = True
        print(f"{name}: {wrong}")
sys.exit(failed)
