"""What editors/latex marks: listings.py TOKENS FOLDER has LaTeX set each file
of build/tests/tokens and write down the words that it marks. All words of the
lists, and no others, outside of comments and strings; and hardly a word that
is another thing for netc.
"""
import os
import re
import subprocess
import sys

STYLE = "editors/latex/netc-listings.sty"

DOCUMENT = r"""\documentclass{article}
\usepackage{netc-listings}
\newwrite\found
\immediate\openout\found=found.txt
\makeatletter
\newcommand\say[1]{\immediate\write\found{#1 \the\lst@token}}
\makeatother
\begin{document}
\lstset{style=netc,keywordstyle=\say{keyword},keywordstyle=[2]\say{option},
  keywordstyle=[3]\say{layer}}
%s
\end{document}
"""


def word_lists():
    """A word's class: that of the first list that has it."""
    with open(STYLE, encoding="utf-8") as file:
        text = file.read()
    kinds = {"": "keyword", "[2]": "option", "[3]": "layer"}
    classes = {}
    for which, words in re.findall(r"morekeywords=(\[\d\])?\{([^}]*)\}", text):
        for word in words.replace(",", " ").split():
            classes.setdefault(word, kinds[which])
    return classes


def words_of(tokens, classes):
    """(class for netc, word) of each word of the lists, and the files."""
    words, files = [], []
    with open(tokens, encoding="utf-8") as file:
        for row in file:
            line, column, kind = row.split()
            if kind == "file":
                files.append(line)
                with open(line, encoding="utf-8") as source:
                    text = source.read().split("\n")
            elif kind not in ("comment", "string"):
                at = text[int(line) - 1][int(column) - 1:]
                word = re.match(r"\w*", at)[0]
                if word in classes:
                    words.append((kind, word))
    return words, files


def marked(files, folder):
    inputs = "\n".join(r"\lstinputlisting{%s}" % os.path.abspath(file)
                       for file in files)
    with open(f"{folder}/words.tex", "w", encoding="utf-8") as file:
        file.write(DOCUMENT % inputs)
    paths = os.path.abspath(os.path.dirname(STYLE)) + ":"
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error",
         "words.tex"], cwd=folder, capture_output=True,
        env={**os.environ, "TEXINPUTS": paths})
    if done.returncode != 0:
        sys.exit(done.stdout.decode(errors="replace")[-2000:])
    with open(f"{folder}/found.txt", encoding="utf-8") as file:
        text = file.read().replace(r"\lst@um", "").replace("_ ", "_")
    return [tuple(row.split()) for row in text.splitlines()]


def main():
    classes = word_lists()
    words, files = words_of(sys.argv[1], classes)
    found = marked(files, sys.argv[2])
    expected = [(classes[word], word) for _, word in words]
    for want, got in zip(expected, found):
        if want != got:
            sys.exit(f"{want} is marked as {got}")
    if len(expected) != len(found):
        sys.exit(f"{len(expected)} words, {len(found)} are marked")
    other = sum(classes[word] != kind for kind, word in words)
    print(f"{len(words)} words, {other} of them other things for netc")
    if not words or other > len(words) / 20:
        sys.exit("too many words are marked as what they are not")


main()
