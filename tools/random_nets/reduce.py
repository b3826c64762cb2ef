"""Makes a net that disagrees smaller, as long as the same figure does."""
import copy
import re
import time

from figures import compare
from net import Refused, Statement


def paths(statements):
    """Each place of a list of statements, with its index."""
    for i, statement in enumerate(statements):
        yield statements, i
        for block in statement.blocks.values():
            yield from paths(block)


def changes(net):
    """Functions that each change a copy of the net: large changes first."""
    count = len(list(paths(net.statements)))

    def at(k, change):
        def apply(copied):
            statements, i = list(paths(copied.statements))[k]
            return change(statements, i)
        return apply

    def delete(statements, i):
        del statements[i]

    def hoist(name):
        def apply(statements, i):
            statements[i:i + 1] = statements[i].blocks[name]
        return apply

    def simpler(word, picks):
        def apply(statements, i):
            if statements[i].word == word:
                return True
            statements[i] = Statement(word, dict(picks))
        return apply

    def forget(name):
        def apply(statements, i):
            if name not in statements[i].picks:
                return True
            del statements[i].picks[name]
        return apply

    def smaller(name, value):
        def apply(statements, i):
            if statements[i].picks[name] == value:
                return True
            statements[i].picks[name] = value
        return apply
    for k in range(count):
        yield at(k, delete)
    for k, (statements, i) in enumerate(list(paths(net.statements))):
        for name in statements[i].blocks:
            yield at(k, hoist(name))
    for name in net.picks:
        if net.picks[name] not in (1, 0, "off"):
            for value in (1, 2, 3, 4, 5, 0, "off"):
                if value != net.picks[name] and (
                        isinstance(value, str) == isinstance(
                            net.picks[name], str)):
                    yield lambda copied, name=name, value=value: \
                        copied.picks.update({name: value})
    for k, (statements, i) in enumerate(list(paths(net.statements))):
        yield at(k, simpler("activation", {"word": "sigmoid"}))
        for name, value in statements[i].picks.items():
            yield at(k, forget(name))
            if isinstance(value, int) and not isinstance(value, bool):
                for less in range(1, value):
                    yield at(k, smaller(name, less))


def size_of(text, net):
    """What a change must make less: words, then numbers, then settings."""
    text = text.removeprefix("train inplace=off\n")
    numbers = sum(int(n) for n in re.findall(r"\d+", text))
    return (len(re.findall(r"[a-z]\w*", text)), len(text),
            numbers + net.picks["batch"], net.picks["inplace"] == "on")


def reduce_net(netc, net, figure, seconds=4):
    """The smallest net found that disagrees in the figure, and its text."""
    text, told, truth, _ = compare(netc, net)
    best, found = size_of(text, net), True
    end = time.process_time() + seconds
    while found:
        found = False
        for change in changes(net):
            other = copy.deepcopy(net)
            if time.process_time() > end or change(other):
                continue
            try:
                made = compare(netc, other,
                               lambda text: size_of(text, other) < best)
            except (Refused, RuntimeError, ValueError):
                continue
            if made and figure in made[3]:
                net, (text, told, truth, _) = other, made
                best, found = size_of(text, net), True
                break
    return net, text, told, truth


def class_of(text, figure):
    """A class of disagreements: the words of what is left."""
    off = "train inplace=off\n"
    words = text.removeprefix(off).removeprefix("input ")
    words = words.replace(": i64", "").replace(" }", "}")
    words = re.sub(r"\[\d+\]|\bp\d+:? ?", "", words)
    words = re.sub(r"=?(?<![a-z0-9])-?/?\d[\d.:_]*(x\d[\d.:_]*)*", "", words)
    words = re.sub(r" *([;}])", r"\1", re.sub(r" +", " ", words)).strip("; ")
    return f"{figure}: {words}" + ("" if text.startswith(off) else
                                   " (in place)")
