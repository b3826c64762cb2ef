#!/usr/bin/python3
"""The documentation as a site: tools/site.py NETC PROGRAM NAME OUT [PLAYGROUND].

Every page of docs/ with README, CHANGELOG and CONTRIBUTING, made by pandoc
with tools/site/page.html; whatever these link to comes along: Markdown and
nets as pages, other files as they are. NETC draws the nets of the zoo. PROGRAM
is what the home page offers for download, as NAME. PLAYGROUND is a folder
with an index.html, which every page then leads to. Code has colours where
Pygments is installed.
"""
import hashlib
import html
import os
import posixpath
import re
import shutil
import string
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, unquote

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path[:0] = ["tools/site", "editors/pygments"]
import index  # noqa: E402

try:
    import pygments
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments_netc import NetcLexer
    from pygments.util import ClassNotFound
except ImportError:
    pygments = None

# The list beside each page, and the order of its pages; all of docs/*.md has
# to be in it.
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
NAMES = {"README": "overview", "python": "Python", "CHANGELOG": "changes",
         "ci": "CI", "CONTRIBUTING": "contributing", "gpus": "cards",
         "html": "HTML page", "for-llms": "on one page"}
DIAGNOSTICS = "docs/diagnostics/index.md"
HOME = "index.html"
GRIDS = ("docs/gallery.md", "docs/zoo.md")
# Pages that lead to the others of a folder, which follow them one by one.
FIRST = {"docs/diagnostics": DIAGNOSTICS, "examples/zoo": "docs/zoo.md"}
# In the repository a page also says how it is made and tested; readers of the
# site get such a sentence, or parenthesis, only where they come to change netc.
OURS = {"docs/architecture.md", "docs/testing.md"}
MADE = r"makes\sthis\spage|Made by `|`make check-"
ASIDE = re.compile(r"\s\((?:`make (?:check|oracle|bench|board|docs|random|speed)"
                   r"|with\s`make|`(?:tests|tools)/)[^()]*(?:\([^()]*\)[^()]*)*\)")
# Six pictures of the home page: the page and the place where it is explained.
SHOWN = [("resnet", "docs/zoo.html#resnet", "ResNet: equal blocks drawn once"),
         ("unet", "docs/zoo.html#unet", "U-Net, drawn as a U"),
         ("yolov8", "docs/zoo.html#yolov8", "YOLOv8: rows by resolution"),
         ("whisper", "docs/gallery.html#whisper", "Whisper: two streams"),
         ("deepseek_v2", "docs/gallery.html#deepseek_v2",
          "DeepSeek-V2: latent attention, experts"),
         ("bert", "docs/gallery.html#bert", "BERT")]


def source_of(word):
    """The file of a word of GROUPS."""
    if word == "diagnostics":
        return DIAGNOSTICS
    return f"{word}.md" if word in AT_ROOT else f"docs/{word}.md"


LISTED = [source_of(word) for _, words in GROUPS for word in words.split()]
SHORT = {source_of(word): NAMES.get(word, word)
         for _, words in GROUPS for word in words.split()}


def page_of(path):
    """The file of a source in the site."""
    if path == "README.md":
        return "overview.html"
    folder, name = posixpath.split(path)
    if name == "README.md":
        return posixpath.join(folder, "index.html")
    stem, suffix = posixpath.splitext(path)
    return stem + ".html" if suffix in (".md", ".net") else path


def relative(target, page):
    """The link from one file of the site to another."""
    return quote(posixpath.relpath(target, posixpath.dirname(page) or "."))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def text_of(path):
    """Markdown of a page."""
    if path == DIAGNOSTICS:
        return diagnostics()
    text = read(path)
    if path.endswith(".net"):
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        return f"# {path}\n\n{fence}net\n{text}{fence}\n"
    ours = path in OURS or not path.startswith("docs/")

    def prose(part):
        return named(part if ours else for_readers(part), path)

    return "".join(part if part.startswith("```") else prose(part)
                   for part in re.split(r"(^```.*?^```$)", text,
                                        flags=re.DOTALL | re.MULTILINE))


def for_readers(prose):
    """Prose without what speaks of the repository."""
    blocks = re.split(r"(\n\s*\n)", ASIDE.sub("", prose))
    for at, text in enumerate(blocks):
        if re.search(MADE, text) and not text.lstrip().startswith(("|", "#")):
            blocks[at] = " ".join(
                one for one in re.split(r"(?<=[.:])\s+(?=[A-Z`*\[])", text)
                if not re.search(MADE, one))
    return "".join(blocks)


def named(prose, page):
    """Prose with pages by their names: a reader of the site sees no files."""
    here = posixpath.dirname(page)

    def link(match):
        path = posixpath.normpath(posixpath.join(here, match.group(1)))
        return f"[{SHORT[path]}]({''.join(match.groups(''))})" \
            if path in SHORT else match.group()

    prose = re.sub(r"(?<![\w/`\[])(?<!\]\()`?(docs/[\w-]+\.md)`?(?![\w`\]#])",
                   lambda m: "[x.md](%s)" % posixpath.relpath(
                       m.group(1), here or ".")
                   if m.group(1) in SHORT else m.group(), prose)
    # A table of figures goes into the site, beside what is said about it.
    prose = re.sub(r"(?<!\[)`(tests/data/(?:\w+/)*)([\w-]+\.csv)`",
                   lambda m: "[`%s`](%s)" % (m.group(2), posixpath.relpath(
                       m.group(1) + m.group(2), here or ".")), prose)
    return re.sub(r"\[`?[\w/.-]+\.md`?\]\(([^)#\s]+)(#[^)\s]*)?\)", link, prose)


def diagnostics():
    """The list of all diagnostics, with the first sentence of each."""
    lines = ["# Diagnostics\n", "The explanations of `netc explain NAME`.\n",
             "| name | meaning |", "|---|---|"]
    for name in sorted(os.listdir("docs/diagnostics")):
        text = text_of(f"docs/diagnostics/{name}").split("\n\n")[1]
        first = re.split(r"(?<=[.:])\s", " ".join(text.split()))[0]
        first = first.rstrip(":").replace("|", "\\|")
        lines.append(f"| [{name[:-3]}]({name}) | {first} |")
    return "\n".join(lines) + "\n"


def block(kind, code):
    """Code in HTML, as pandoc wrote it, with colours and a button."""
    text = html.unescape(code)
    if not kind and re.search(r"^\$ ", text, re.MULTILINE):
        kind = "console"
    if pygments and kind:
        try:
            lexer = NetcLexer if kind == "net" else \
                type(get_lexer_by_name(kind))
            code = pygments.highlight(text, lexer(
                stripnl=False, ensurenl=False), HtmlFormatter(nowrap=True))
        except ClassNotFound:
            pass
    label = f' class="{kind}"' if kind else ""
    return (f'<div class="code"><pre{label}><code>{code}</code></pre>'
            '<button type="button" class="copy">Copy</button></div>')


def settings_of(cell):
    """The settings after a net's name in a row of the zoo."""
    return re.sub(r"<a .*?</a>", "", cell, flags=re.DOTALL).split()


class Site:
    def __init__(self, netc, out, playground):
        self.netc, self.out, self.playground = netc, out, playground
        self.waiting, self.known, self.made = [], set(), {}
        self.pictures, self.frame = {}, string.Template(
            read("tools/site/page.html"))

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
        return relative(page_of(path), page_of(page)) + mark + anchor

    def list_pages(self, page):
        """The list of pages, in HTML."""
        parts = []
        for title, words in GROUPS:
            parts.append(f"<h2>{title}</h2>\n<ul>")
            for source in map(source_of, words.split()):
                parts.append(
                    f'<li><a href="{relative(page_of(source), page_of(page))}"'
                    + (' aria-current="page"' if source == page else "")
                    + f">{html.escape(SHORT[source])}</a></li>")
            parts.append("</ul>")
        return "\n".join(parts)

    def read_page(self, path):
        """The body of a page of Markdown, or of a net."""
        body = subprocess.run(
            ["pandoc", "--from=gfm", "--to=html5", "--no-highlight",
             "--strip-comments", "--wrap=none"], input=text_of(path), encoding="utf-8",
            stdout=subprocess.PIPE, check=True).stdout
        body = re.sub(r'(?<=\s)(href|src)="([^"]*)"',
                      lambda m: '%s="%s"' % (m.group(1), html.escape(
                          self.link(path, html.unescape(m.group(2))))), body)
        body = re.sub(
            r'<pre(?: class="([^"]*)")?><code>(.*?)</code></pre>',
            lambda m: block(m.group(1), m.group(2)), body, flags=re.DOTALL)
        body = re.sub(r'<img src="([^"]*)"[^>]*>',
                      r'<a class="picture" href="\1">\g<0></a>', body)
        # A table without a head only puts its cells side by side.
        body = re.sub(r"<table><tr><td>(.*?)</td><td>(.*?)</td></tr></table>",
                      r'<div class="side">\1\2</div>', body, flags=re.DOTALL)
        if path == "docs/zoo.md":
            body = self.draw_rows(body)
        elif path == "docs/gallery.md":
            body = cards(body)
        return re.sub("<table.*?</table>", r'<div class="table">\g<0></div>',
                      body, flags=re.DOTALL)

    def draw_rows(self, body):
        """The zoo's first table with a picture in each row."""
        head, table, rest = re.split("(<table>.*?</table>)", body, 1, re.DOTALL)
        names = re.findall("<th[^>]*>(.*?)</th>", table)
        jobs = []

        def row(match):
            cells = re.findall("<td[^>]*>(.*?)</td>", match.group(), re.DOTALL)
            net = re.search(">(.*?)</a>", cells[0]).group(1)
            name = "-".join([net] if net not in self.pictures else
                            [net, *settings_of(cells[0])[:4]])
            file = re.sub(r"[^\w.-]", "-", name) + ".svg"
            mark = "" if net in self.pictures else f' id="{net}"'
            self.pictures.setdefault(net, f"docs/zoo/{file}")
            jobs.append((net, settings_of(cells[0]), f"docs/zoo/{file}"))
            alt = " ".join([net, *settings_of(cells[0])])
            return (f"<tr{mark}><td class=\"shot\"><a href=\"zoo/{file}\"><img "
                    f'src="zoo/{file}" loading="lazy" alt="{alt}"></a></td>\n'
                    + "\n".join(f'<td data-name="{name}">{cell}</td>'
                                for name, cell in zip(names, cells)) + "</tr>")

        table = re.sub('<tr class="(?:odd|even)">.*?</tr>', row, table,
                       flags=re.DOTALL)
        table = table.replace("<table>", '<table class="zoo">').replace(
            "<th>net", "<th>picture</th>\n<th>net", 1)
        os.makedirs(os.path.join(self.out, "docs/zoo"), exist_ok=True)
        with ThreadPoolExecutor() as workers:
            list(workers.map(lambda job: self.draw(*job), jobs))
        return head + table + rest

    def draw(self, net, settings, file):
        subprocess.run(
            [self.netc, f"examples/zoo/{net}.net", *(
                word for one in settings for word in ("-D", one)),
             "-o", os.path.join(self.out, file)], check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make(self, path):
        """One file of the site; a page waits until all are known."""
        if path.endswith((".md", ".net")):
            self.made[path] = self.read_page(path)
            return
        to = os.path.join(self.out, page_of(path))
        os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
        shutil.copyfile(path, to)

    def order(self):
        """The pages before and after each, by the list and by folders."""
        lines, folders = [list(LISTED)], {}
        for path in sorted(set(self.made) - set(LISTED)):
            folders.setdefault(posixpath.dirname(path), []).append(path)
        for folder, pages in folders.items():
            lines.append([FIRST.get(folder, "README.md"), *pages])
        turns = {}
        for line in lines:
            for at, path in enumerate(line):
                turns.setdefault(path, (line[at - 1] if at else None,
                                        line[at + 1] if at + 1 < len(line)
                                        else None))
        return turns

    def title(self, path):
        found = re.search(r"<h1[^>]*>(.*?)</h1>", self.made[path], re.DOTALL)
        text = " ".join(re.sub("<[^>]*>", "", found.group(1)).split()) \
            if found else path
        return posixpath.basename(path)[:-4] if path.endswith(".net") else text

    def foot(self, path, turns):
        """Links to the pages before and after this one."""
        parts = []
        for side, word, to in zip(("prev", "next"), ("Previous", "Next"),
                                  turns[path]):
            if to:
                parts.append(
                    f'<a rel="{side}" href="'
                    f'{relative(page_of(to), page_of(path))}">'
                    f"<span>{word}</span> {SHORT.get(to) or self.title(to)}</a>")
        return "\n".join(parts)

    def write(self, page, title, body, **more):
        root = posixpath.relpath(".", posixpath.dirname(page) or ".")
        root = "" if root == "." else root + "/"
        play = f'<a href="{root}play/index.html">Playground</a>' \
            if self.playground else ""
        words = {"kind": "", "nav": "", "contents": "", "foot": "", **more}
        to = os.path.join(self.out, page)
        os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
        with open(to, "w", encoding="utf-8") as file:
            file.write(self.frame.substitute(
                words, root=root, title=title, body=body, playground=play))

    def write_pages(self):
        turns = self.order()
        for path, body in self.made.items():
            heads = re.findall(r'<h2[^>]*id="([^"]*)"[^>]*>(.*?)</h2>', body,
                               re.DOTALL)
            contents = "" if len(heads) < 3 else (
                '<details class="contents">\n<summary>On this page</summary>\n'
                "<ul>" + "".join(f'<li><a href="#{to}">{text}</a></li>'
                                 for to, text in heads) + "</ul>\n</details>")
            self.write(
                page_of(path), f"{self.title(path)} · netc", body,
                kind="wide" if path in GRIDS else "",
                nav='<nav aria-label="All pages">\n<details>\n<summary>All '
                f"pages</summary>\n{self.list_pages(path)}\n</details>\n</nav>",
                contents=contents,
                foot='<nav class="turn" aria-label="Previous and next">\n'
                f"{self.foot(path, turns)}\n</nav>")

    def write_home(self, program, name):
        """The home page: README's first sentence, net and picture."""
        os.makedirs(os.path.join(self.out, "download"))
        shutil.copy(program, os.path.join(self.out, "download", name))
        with open(program, "rb") as file:
            data = file.read()
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.out, "download", name + ".sha256"), "w",
                  encoding="ascii") as file:
            file.write(f"{digest}  {name}\n")
        readme = self.made["README.md"]
        find = lambda pattern: re.search(pattern, readme, re.DOTALL).group(1)
        line = (f"curl -fLo netc download/{name} && chmod +x netc && "
                "./netc zoo:resnet")
        words = {
            "heading": find("<h1[^>]*>(.*?)</h1>"), "name": name,
            "sentence": find("</h1>\\s*<p>(.*?)</p>"),
            "net": find('(<div class="code"><pre class="net">.*?</div>)'),
            "picture": find('(<a class="picture".*?</a>)'),
            "install": block("sh", html.escape(line)), "digest": digest,
            "size": f"{len(data) / 1e6:.1f}",
            "shown": "\n".join(
                f'<a class="card" href="{to}"><img src="{self.pictures[net]}" '
                f'loading="lazy" alt=""><span>{html.escape(said)}</span></a>'
                for net, to, said in SHOWN),
            "try_it": "", "embed": ""}
        if self.playground:
            words["try_it"] = ('<form action="play/index.html"><button>Try it '
                               "in the browser</button></form>")
            words["embed"] = (
                '<section aria-labelledby="live">\n<h2 id="live">Write a net '
                'here</h2>\n<iframe title="netc playground" data-src='
                '"play/index.html?embed"></iframe>\n</section>')
        self.write(HOME, "netc", string.Template(
            read("tools/site/home.html")).substitute(words), kind="home")


def cards(body):
    """A page whose sections are cards of a grid."""
    head, *parts = re.split(r"(?=<h2 )", body)
    return head + '<div class="grid">\n' + "".join(
        f'<section class="card">\n{part}</section>\n' for part in parts) + "</div>"


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit("usage: tools/site.py NETC PROGRAM NAME OUT [PLAYGROUND]")
    netc, program, name, out = sys.argv[1:5]
    playground = sys.argv[5] if len(sys.argv) > 5 else None
    left = {f"docs/{name}" for name in os.listdir("docs")
            if name.endswith(".md")} - set(LISTED)
    if left:
        sys.exit(f"tools/site.py: GROUPS lacks {', '.join(sorted(left))}")
    shutil.rmtree(out, ignore_errors=True)
    site = Site(netc, out, playground)
    for path in LISTED:
        site.want(path)
    while site.waiting:
        site.make(site.waiting.pop())
    site.write_pages()
    site.write_home(program, name)
    for file in ("site.css", "site.js"):
        shutil.copyfile(f"tools/site/{file}", os.path.join(out, file))
    size = index.write(os.path.join(out, "words.js"), [
        (page_of(path), site.title(path), body, path.endswith(".net"))
        for path, body in sorted(site.made.items())])
    if playground:
        shutil.copytree(playground, os.path.join(out, "play"))
    print(f"{out}: {len(site.known)} files, from index.html on; an index of "
          f"{size} bytes; code {'in' if pygments else 'without'} colours")


if __name__ == "__main__":
    main()
