#!/usr/bin/env python3
"""The documentation as a site: tools/site.py OUT [PLAYGROUND].

Every page of docs/ with README, CHANGELOG and CONTRIBUTING, made by pandoc
with tools/site/page.html; whatever these link to comes along: Markdown and
nets as pages, other files as they are. PLAYGROUND is a folder with an
index.html, which every page then leads to.
"""
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
from urllib.parse import quote, unquote

# What stands beside each page; all of docs/*.md has to be in it.
GROUPS = [
    ("start", "README tutorial cookbook gallery"),
    ("write", "language reference layers zoo for-llms words"),
    ("train", "memory recipes gpus placement accuracy"),
    ("serve", "serving"),
    ("show", "playground pictures html"),
    ("exchange", "import interchange weights"),
    ("build", "microcontrollers boards header runtime run plan performance"),
    ("work", "search python editors ci security diagnostics"),
    ("change", "CONTRIBUTING architecture testing CHANGELOG"),
]
AT_ROOT = {"README", "CONTRIBUTING", "CHANGELOG"}
NAMES = {"README": "what it is", "python": "Python", "CHANGELOG": "changes", "ci": "CI",
         "CONTRIBUTING": "contributing", "gpus": "cards", "html": "HTML page",
         "for-llms": "on one page"}
DIAGNOSTICS = "docs/diagnostics/index.md"


def source_of(word):
    """The file of a word of GROUPS."""
    if word == "diagnostics":
        return DIAGNOSTICS
    return f"{word}.md" if word in AT_ROOT else f"docs/{word}.md"


def page_of(path):
    """Where a file of the sources stands in the site."""
    if path == "README.md":
        return "index.html"
    folder, name = posixpath.split(path)
    if name == "README.md":
        return posixpath.join(folder, "index.html")
    stem, suffix = posixpath.splitext(path)
    return stem + ".html" if suffix in (".md", ".net") else path


def text_of(path):
    """Markdown of a page."""
    if path == DIAGNOSTICS:
        return diagnostics()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".net"):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"# {path}\n\n{fence}net\n{text}{fence}\n"
    return text


def diagnostics():
    """The list of all diagnostics, with the first sentence of each."""
    lines = ["# Diagnostics\n", "What `netc explain NAME` shows, for each.\n",
             "| name | |", "|---|---|"]
    for name in sorted(os.listdir("docs/diagnostics")):
        text = text_of(f"docs/diagnostics/{name}").split("\n\n")[1]
        first = re.split(r"(?<=[.:])\s", " ".join(text.split()))[0]
        first = first.rstrip(":").replace("|", "\\|")
        lines.append(f"| [{name[:-3]}]({name}) | {first} |")
    return "\n".join(lines) + "\n"


class Site:
    def __init__(self, out, playground):
        self.out, self.playground = out, playground
        self.waiting, self.known = [], set()

    def want(self, path):
        """Puts a file of the sources into the site; false: there is none."""
        if path != DIAGNOSTICS and not os.path.isfile(path):
            return False
        if path not in self.known:
            self.known.add(path)
            self.waiting.append(path)
        return True

    def link(self, page, target):
        """A link of a page, as it is in the site."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        name, mark, anchor = target.partition("#")
        path = posixpath.normpath(
            posixpath.join(posixpath.dirname(page), unquote(name)))
        if not self.want(path):
            sys.exit(f"{page}: {target} leads nowhere")
        there = posixpath.relpath(page_of(path),
                                  posixpath.dirname(page_of(page)) or ".")
        return quote(there) + mark + anchor

    def list_pages(self, page):
        """The list of pages, in HTML."""
        parts = []
        for title, words in GROUPS:
            parts.append(f"<h2>{title}</h2>\n<ul>")
            for word in words.split():
                here = source_of(word) == page
                target = posixpath.relpath(
                    page_of(source_of(word)),
                    posixpath.dirname(page_of(page)) or ".")
                parts.append(f'<li><a href="{quote(target)}"'
                             + (' aria-current="page"' if here else "")
                             + f">{html.escape(NAMES.get(word, word))}</a></li>")
            parts.append("</ul>")
        return "\n".join(parts)

    def make(self, path):
        """One file of the site."""
        to = os.path.join(self.out, page_of(path))
        os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
        if not path.endswith((".md", ".net")):
            shutil.copyfile(path, to)
            return
        text = text_of(path)
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        title = title.group(1).replace("`", "") if title else path
        root = posixpath.relpath(".", posixpath.dirname(page_of(path)) or ".")
        command = ["pandoc", "--from=gfm", "--to=html5", "--no-highlight",
                   "--template=tools/site/page.html",
                   "--variable", f"root={'' if root == '.' else root + '/'}",
                   "--variable", f"nav={self.list_pages(path)}",
                   "--metadata", f"pagetitle={title}"]
        if len(re.findall(r"^## ", text, re.MULTILINE)) > 2:
            command += ["--toc", "--toc-depth=2"]
        if self.playground:
            command += ["--variable", "playground=1"]
        made = subprocess.run(command, input=text, encoding="utf-8",
                              stdout=subprocess.PIPE, check=True).stdout
        head, main, body = made.partition('<main id="page">')
        body = re.sub(r'(?<=\s)(href|src)="([^"]*)"',
                      lambda m: '%s="%s"' % (m.group(1), html.escape(
                          self.link(path, html.unescape(m.group(2))))), body)
        body = re.sub("<table.*?</table>", r'<div class="table">\g<0></div>',
                      body, flags=re.DOTALL)
        with open(to, "w", encoding="utf-8") as file:
            file.write(head + main + body)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: tools/site.py OUT [PLAYGROUND]")
    out, playground = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    listed = {source_of(word) for _, words in GROUPS for word in words.split()}
    left = {f"docs/{name}" for name in os.listdir("docs")
            if name.endswith(".md")} - listed
    if left:
        sys.exit(f"tools/site.py: GROUPS lacks {', '.join(sorted(left))}")
    shutil.rmtree(out, ignore_errors=True)
    site = Site(out, playground)
    for path in sorted(listed):
        site.want(path)
    while site.waiting:
        site.make(site.waiting.pop())
    shutil.copyfile("tools/site/site.css", os.path.join(out, "site.css"))
    if playground:
        shutil.copytree(playground, os.path.join(out, "play"))
    print(f"{out}: {len(site.known)} files, from index.html on")


if __name__ == "__main__":
    main()
