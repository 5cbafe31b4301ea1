"""The tree of NVUE out of its file or out of its commands, with the lines of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabric.base.reading import expand
from fabric.model.facts import Located
from fabric.nos.reading import DEEPEST, NOTHING, Branch, each_name, read_yaml

# --- Commands as a shell reads them ---------------------------------------------------------------------------

BLANK = r"(?:[ \t]|\\\n)"
NV = re.compile(
    rf"[ \t]*(?:[^\s'\"]+[$#>][ \t]*)?(?:sudo{BLANK}+)?nv{BLANK}+(?=(?:set|unset|config|action|show|list-commands)\b)"
)
PIECE = re.compile(  # of a word: in quotes of three kinds, an escaped character, plain text
    r"""'([^']*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|\$'([^'\\]*(?:\\.[^'\\]*)*)'|\\(.)|((?:[^\s'"\\;&|<>$]|\$(?!'))+)""", re.S
)
GAP = re.compile(rf"{BLANK}+")
COMMENT = re.compile(r"#[^\n]*")
REDIRECTION = re.compile(r"\d?(?:>>|[<>])(?:&\d)?|\|(?!\|)|&(?!&)")  # and pipes: what follows them is no part of the command
END = re.compile(r"&&|\|\||;|\n|\Z")
QUOTED_CHARS = 8_000  # a banner is shorter: a quote that is open for longer was never closed
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}  # of $'…'


@dataclass(frozen=True, slots=True)
class Line:
    """A command, or a line that is none.

    Attributes:
        words: of the command behind `nv`, `set` first; none of a line that is no command.
        text: the line.
        broken: whether a quote is not closed.
    """

    number: int
    words: tuple[str, ...]
    text: str
    broken: bool = False


def is_commands(text: str) -> bool:
    """Whether a text has an `nv` command at the begin of a line."""
    return "nv" in text and re.search(rf"^{NV.pattern}", text, re.M) is not None


def commands(text: str) -> Iterator[Line]:
    """Every command and every other line that is neither blank nor a comment, in order."""
    at, number = 0, 1
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop].strip()
        match = NV.match(text, at)
        end = stop
        if match:
            words, end = _words(text, match.end())
            yield Line(number, tuple(words or ()), line, broken=words is None)
            if words is None:
                end = stop
        elif line and line[0] != "#":
            yield Line(number, (), line)
        follows = END.match(text, end)
        end = follows.end() if follows else stop + 1
        number += text.count("\n", at, end)
        at = max(end, at + 1)


def _words(text: str, at: int) -> tuple[list[str] | None, int]:
    """(words of a command, its end); no words where a quote is not closed."""
    words: list[str] = []
    joined = counts = True  # a blank stands before; no redirection has begun
    while END.match(text, at) is None:
        if gap := GAP.match(text, at):
            at, joined = gap.end(), True
        elif joined and (comment := COMMENT.match(text, at)):
            at = comment.end()
        elif redirection := REDIRECTION.match(text, at):
            at, counts = redirection.end(), False
        elif piece := PIECE.match(text, at, at + QUOTED_CHARS):
            if counts and joined:
                words.append("")
            if counts:
                words[-1] += _plain(piece)
            at, joined = piece.end(), False
        else:
            return None, at
    return words, at


def _plain(piece: re.Match[str]) -> str:
    """What the shell makes of a piece of a word."""
    single, double, ansi, escaped, plain = piece.groups()
    if double is not None:
        return re.sub(r"\\([$`\"\\])", r"\1", double.replace("\\\n", ""))
    if ansi is not None:
        return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), ansi, flags=re.S)
    return next(text for text in (single, escaped, plain) if text is not None)


# --- The tree -------------------------------------------------------------------------------------------------

ROOTS = ("interface", "vrf", "router", "bridge", "system", "nve", "evpn", "qos", "acl", "service", "mlag", "platform")
ON, OFF = ("on", "enabled", "enable", "true", "yes"), ("off", "disabled", "disable", "false", "no")
MANY = re.compile(r"\d-\w*\d|\w,\w*\d")  # a range or a list, or something that looks like one
RANGED = {  # where a key may be many names, and how they differ from a name with a dash
    "interface": re.compile(r"(?:[a-z_]\w*,)*[a-z_]+\d[\w.]*(?:-[\w.]+)?(?:,.*)?"),
    "member": re.compile(r"[a-z_]+\d[\w.]*(?:-[\w.]+)?(?:,.*)?"),
    "neighbor": re.compile(r"(?:swp|bond|vlan|eth)\d\w*(?:-[\w.]+)?(?:,.*)?"),
    "vlan": re.compile(r"\d+(?:-\d+)?(?:,[\d,-]+)?"),
    "switch-priority": re.compile(r"\d+(?:-\d+)?(?:,[\d,-]+)?"),
    "traffic-class": re.compile(r"\d+(?:-\d+)?(?:,[\d,-]+)?"),
    "dscp": re.compile(r"\d+(?:-\d+)?(?:,[\d,-]+)?"),
}
Broken = list[tuple[str, int]]


def read_tree(text: str) -> tuple[Branch, Broken, Broken]:
    """The tree; (why, line) of what cannot be read, and (line, its number) of commands that set nothing known."""
    if is_commands(text):
        tree, broken, others = _commands(text)
    else:
        file, broken = read_yaml(text)
        others = []
        if "set" in file.parts:
            tree = file.at("set")
            others = [(f"{key}: …", part.line) for key, part in file.parts.items() if key not in ("set", "header")]
        elif "header" in file.parts or file.parts.keys() & set(ROOTS):
            file.parts.pop("header", None)
            tree = file
        elif inner := [part for part in file.parts.values() if len(part.parts.keys() & set(ROOTS)) > 1]:
            inner[0].parts.pop("header", None)
            tree = inner[0]  # what a program got from the switch, inside its own answer
        else:
            tree = NOTHING
            if file.parts:
                broken.append(("no tree of NVUE: neither `set` nor one of its branches", 1))
        if MANY.search(text):
            _spread(tree)
    return tree, broken, others


def _commands(text: str) -> tuple[Branch, Broken, Broken]:
    tree, broken, others = Branch(1), [], []
    for line in commands(text):
        words = list(line.words[1:])[:DEEPEST]
        if line.broken:
            broken.append((f"not a command: {line.text}", line.number))
        elif not line.words:
            others.append((line.text, line.number))
        elif line.words[0] == "set":
            _set(tree, words, line.number)
        elif line.words[0] == "unset":
            _unset(tree, words)
    return tree, broken, others


LISTS = (["system", "aaa", "authentication", "order"],)  # whose values stand behind each other in one command


def _set(tree: Branch, words: list[str], line: int) -> None:
    if len(words) > 5 and words[:4] in LISTS:
        for word in words[4:]:
            _set(tree, [*words[:4], word], line)
        return
    branches, above = [tree], ""
    for word in words:
        names = names_of(word, above)
        expand((len(branches) - 1) * len(names))  # the names themselves are counted
        branches = [branch.add(name, line) for branch in branches for name in names]
        above = word


def _unset(tree: Branch, words: list[str]) -> None:
    branches, above = [tree], ""
    for word in words[:-1]:
        names = names_of(word, above)
        expand((len(branches) - 1) * len(names))
        branches = [branch.at(name) for branch in branches for name in names]
        above = word
    for branch in branches:
        for name in names_of(words[-1], above) if words else list(branch.parts):
            branch.parts.pop(name, None)


def names_of(key: str, above: str) -> list[str]:
    """`swp1-3` below `interface` is three keys."""
    pattern = RANGED.get(above)
    return each_name(key) if pattern and ("-" in key or "," in key) and pattern.fullmatch(key) else [key]


def _spread(tree: Branch, above: str = "") -> None:
    """Makes a branch of every name in a range; what comes later in the file wins."""
    if above in RANGED and any("-" in key or "," in key for key in tree.parts):
        parts, tree.parts = tree.parts, {}
        for key, part in parts.items():
            for name in names_of(key, above):
                tree.add(name, part.line).merge(part)
    for key, part in tree.parts.items():
        _spread(part, key)


def string(branch: Branch, file: str) -> Located[str] | None:
    """The value, and its line."""
    return Located(branch.word, branch.value.line, file) if branch.word is not None else None


def number(branch: Branch, file: str) -> Located[int] | None:
    word = branch.word
    return Located(int(word), branch.value.line, file) if word and word.isdecimal() and len(word) < 12 else None


def truth(branch: Branch, file: str) -> Located[bool] | None:
    """`on`, `enabled` and `enable` alike."""
    word = branch.word
    return Located(word in ON, branch.value.line, file) if word in ON or word in OFF else None


def switch(branch: Branch, file: str) -> Located[bool] | None:
    """Whether a feature is on: `state: enabled` since 5.15, `enable: on` before. None where neither is configured."""
    return truth(branch.at("state"), file) or truth(branch.at("enable"), file)


def off(branch: Branch) -> bool:
    """Whether a feature is switched off in so many words."""
    found = switch(branch, "")
    return found is not None and not found.value


def found(tree: Branch, pattern: str) -> Iterator[tuple[tuple[str, ...], Branch]]:
    """(keys that its stars stand for, branch) of every path of a pattern: `vrf/*/router/bgp/neighbor|peer-group/*`."""
    yield from _found(tree, tuple(pattern.split("/")), ())


def _found(tree: Branch, steps: tuple[str, ...], stars: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Branch]]:
    if not steps:
        yield stars, tree
    elif steps[0] == "*":
        for key, part in tree.parts.items():
            yield from _found(part, steps[1:], (*stars, key))
    else:
        for key in steps[0].split("|"):
            if key in tree.parts:
                yield from _found(tree.parts[key], steps[1:], stars)
