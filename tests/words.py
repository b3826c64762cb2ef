"""What editors/pygments colours: words.py TOKENS writes the tokens, as
build/tests/tokens said them, with the lexer's classes. An error token, or a
text that does not come out as it went in, ends it.
"""
import sys
import tomllib

from pygments.token import Comment, Error, Keyword, Name, Number, Operator, \
    String

ROOM = "editors/pygments"

# The first kind that a token is in counts.
CLASSES = ((Comment, "comment"), (Keyword.Type, "name"), (Keyword, "keyword"),
           (Operator, "operator"), (Number, "number"), (String, "string"),
           (Name.Builtin, "function"), (Name.Function, "layer"),
           (Name.Attribute, "option"), (Name.Class.Call, "name"),
           (Name.Class, "def"), (Name.Label, "label"))


def lexer():
    """The one that the package's entry point names."""
    with open(f"{ROOM}/pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    entry = project["entry-points"]["pygments.lexers"]["netc"]
    module, name = entry.split(":")
    sys.dont_write_bytecode = True
    sys.path.insert(0, ROOM)
    return getattr(__import__(module), name)(ensurenl=False, stripnl=False)


def coloured(lex, path):
    """The class at each place of a file: by line and column, from 1."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    classes, line, column, seen = {}, 1, 1, []
    for kind, part in lex.get_tokens(text):
        if kind in Error:
            sys.exit(f"{path}:{line}:{column}: no rule for {part!r}")
        found = [name for base, name in CLASSES if kind in base] or ["name"]
        seen.append(part)
        for letter in part:
            classes[line, column] = found[0]
            line, column = (line + 1, 1) if letter == "\n" \
                else (line, column + 1)
    if "".join(seen) != text:
        sys.exit(f"{path}: the text comes out otherwise")
    return classes


def main():
    lex, classes = lexer(), {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for row in file:
            first, second, expected = row.split()
            if expected == "file":
                classes = coloured(lex, first)
                print(row, end="")
            else:
                print(first, second, classes[int(first), int(second)])


main()
