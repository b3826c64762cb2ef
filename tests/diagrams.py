#!/usr/bin/python3
"""diagrams.py inks FILE...: words and lines outside of boxes have colours that
a dark screen changes. diagrams.py links SOURCE FILE: all links of an SVG lead
to SOURCE from where it lies, as a browser resolves them.
"""
import os
import re
import sys
from urllib.parse import unquote, urljoin
from urllib.request import pathname2url


def check_inks(path):
    svg = open(path).read()
    dark = set(re.findall(r'\[fill="(#\w{6})"\]', svg))
    assert dark and "prefers-color-scheme:dark" in svg
    legend = re.compile(r'<rect [^>]*height="8" [^>]*>')
    bare = legend.sub("", re.sub(r"(?s)<(a|g) id.*?</\1>", "", svg))
    for element in re.findall(r"<(?:text|path|rect)\b[^>]*>", bare):
        inks = set(re.findall(r"#\w{6}", element))
        assert inks, (path, element)
        assert inks <= dark or 'class="paper"' in element, (path, element)


def check_links(source, path):
    base = "file://" + pathname2url(os.path.abspath(path))
    links = re.findall(r'<a [^>]*href="([^#]*)#L\d', open(path).read())
    assert links
    for link in links:
        to = unquote(urljoin(base, link)[len("file://"):])
        assert os.path.samefile(to, source), (path, link, to)


if sys.argv[1] == "inks":
    for name in sys.argv[2:]:
        check_inks(name)
else:
    check_links(*sys.argv[2:])
