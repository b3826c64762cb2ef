#!/usr/bin/env python3
"""The site that make site leaves: every link of every page, and its anchor,
leads somewhere inside the site or to another one; ids are there once."""
import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.title, self.headings = [], [], 0, 0
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        self.title += tag == "title"
        self.headings += tag == "h1"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src", "data-src", "action"):
                self.links.append(value)


def is_inside(folder, path):
    return path.startswith(folder + os.sep)


def main():
    site = os.path.realpath(sys.argv[1])
    pages, wrong, links = {}, [], 0
    for folder, _, names in os.walk(site):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".html") and \
                    not is_inside(os.path.join(site, "play"), path):
                pages[path] = Page(path)
    for path, page in pages.items():
        where = os.path.relpath(path, site)
        if page.title != 1 or not page.headings:
            wrong.append(f"{where}: it needs a title and a heading")
        for name in {name for name in page.ids if page.ids.count(name) > 1}:
            wrong.append(f"{where}: #{name} is there twice")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") or link == "data:,":
                continue
            links += 1
            to = path if not parts.path else os.path.realpath(
                os.path.join(os.path.dirname(path), unquote(parts.path)))
            if parts.scheme or parts.netloc or \
                    not is_inside(site, to) or not os.path.isfile(to):
                wrong.append(f"{where}: {link} leads nowhere")
            elif parts.fragment and to in pages and \
                    unquote(parts.fragment) not in pages[to].ids:
                wrong.append(f"{where}: {link}: there is no such anchor")
    if len(pages) < 100 or links < 1000:
        wrong.append(f"{len(pages)} pages, {links} links: there were more")
    print("\n".join(wrong) or f"{len(pages)} pages, {links} links")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
