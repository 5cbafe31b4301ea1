"""Statements of Junos, in braces or in `set` lines, and changes of them: `set`, `delete` and `insert`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from fabric.nos.dialect import Config as ConfigTree, Dialect, Hierarchy, SetLines
from fabric.nos.junos.read.tree import IDLE_VERBS, MOST_WORDS, Config, Node, read_text
from fabric.nos.reading.sections import TOKEN, StatementPath, is_open, unquoted
from fabric.nos.statements.syntax import Syntax, without_equal_blocks

# --- Statements: every word is one part of a path -------------------------------------------------------------

PLAIN = re.compile(r'[^\s;{}\[\]"#]+')  # a word that needs no quotes
INACTIVE = "inactive:"
MARK = "  "  # between the last two words of an inactive statement; the CLI reads it as one blank
COMMAND = re.compile(r"^(?:set|delete|deactivate|activate|rename|copy|edit|replace|wildcard) ", re.MULTILINE)
IS_SET = re.compile(r"^(?:set|deactivate) ", re.MULTILINE)
HIDDEN = re.compile(r"""#?(.*) "?<[\w -]+>"?;.*""")  # a secret that RANCID or Oxidized removed
# Lines that hold several statements: (section, word) → (words of the name, words with a value).
SEVERAL = {("forwarding-classes", "class"): (2, frozenset({"queue-num", "pfc-priority", "priority"}))}


class Line(NamedTuple):
    """A line of a config in braces."""

    sign: str  # `{`, `}`, `;`, or "" for a line without a statement
    words: StatementPath = ()
    items: StatementPath = ()  # of a list in brackets
    inactive: bool = False


def statements(text: str) -> Iterator[tuple[StatementPath, int]]:
    """Every statement without others below it. A text in an unusual layout is read word by word, which takes longer."""
    rows = text.splitlines()
    found = _set_lines(rows) if IS_SET.search(text) else _braces(rows)
    yield from found if found is not None else _tree(text)


def without_equal(planned: str, running: str) -> tuple[str, str]:
    """Two texts in braces without the objects that both have, in quotes or not, such as interfaces and policies."""
    if not is_whole(running) or COMMAND.search(running) or any(map(_goes_on, running.splitlines())):
        return planned, running
    return without_equal_blocks(planned, running, 4, lambda block: block.replace('"', ""), is_whole)


def is_whole(text: str) -> bool:
    return text.count("{") == text.count("}")


def _goes_on(row: str) -> bool:
    """Whether a comment or a string goes on in the next line: a block in it is none."""
    return ('"' in row and row.count('"') % 2 > 0) or ("/*" in row and "*/" not in row)


# --- braces -------------------------------------------------------------------------------------------------


def _braces(rows: list[str]) -> list[tuple[StatementPath, int]] | None:
    """Statements of a config with one statement or one brace per line, None for another layout."""
    statements: list[tuple[StatementPath, int]] = []
    path: StatementPath = ()
    open_sections: list[tuple[StatementPath, int, int]] = []  # (path above, line, number of statements before it)
    hidden = 0  # open sections from the one that is inactive
    for number, row in enumerate(rows, 1):
        line = _line(row.strip())
        if line is None:
            return None
        if line.sign == "}":
            if not open_sections:
                return None
            above, begin, count = open_sections.pop()
            if not hidden and count == len(statements):
                statements.append((path, begin))
            path, hidden = above, max(hidden - 1, 0)
        elif line.sign and hidden:
            if line.sign == "{":
                open_sections.append((path, number, len(statements)))
                hidden += 1
        elif line.inactive:
            statements.append((_marked((*path, *line.words)), number))
            if line.sign == "{":
                open_sections.append((path, number, len(statements)))
                hidden = 1
        elif line.sign == "{":
            open_sections.append((path, number, len(statements)))
            if len(path) + len(line.words) > MOST_WORDS:  # an error of the reader (FAB290)
                hidden = 1
            else:
                path = (*path, *line.words)
        elif line.sign:
            statements += _leaves((*path, *line.words), line.items, number)
    return None if open_sections else statements


@lru_cache(maxsize=200_000)
def _line(text: str) -> Line | None:
    """What a line has; None where it has more than a statement, or only a part of one."""
    if "<" in text and (match := HIDDEN.fullmatch(text)):
        text = f"{match[1].strip()} hidden;"
    words: list[str] = []
    items: list[str] = []
    sign, listing = "", False
    for token in TOKEN.findall(text):
        if token[0] == "#" or (token[:2] == "/*" and token.endswith("*/")) or token.startswith("[edit") or token[0] == "!":
            continue
        if sign or is_open(token) or token[:2] == "/*":
            return None
        if token in ("{", "}", ";"):
            sign = token
        elif token in ("[", "]"):
            listing = token == "["
        else:
            (items if listing else words).append(_word(token))
    inactive = words[:1] == [INACTIVE]
    kept = tuple(words[1:] if inactive or words[:1] == ["protect:"] else words)
    usual = not listing and (sign == "}") == (not kept) if sign else not kept
    if not usual or kept[:1] in (("delete:",), ("replace:",)):
        return None
    return Line(sign, kept, tuple(items), inactive)


def _word(token: str) -> str:
    """In quotes only if it needs them."""
    word = unquoted(token)
    return word if PLAIN.fullmatch(word) else token if token[:1] == '"' else f'"{word}"'


def _leaves(path: StatementPath, items: StatementPath, line: int) -> Iterator[tuple[StatementPath, int]]:
    if len(path) > MOST_WORDS:
        return
    if items:
        yield from (((*path, item), line) for item in items)
        return
    for words in _separate(path):
        yield words, line


def _separate(path: StatementPath) -> list[StatementPath]:
    """`class NO-LOSS queue-num 3 no-loss` is two statements."""
    for (section, word), (length, valued) in SEVERAL.items():
        if word in path and (start := path.index(word)) and path[start - 1] == section:
            head, rest = path[: start + length], list(path[start + length :])
            statements = []
            while rest:
                end = 2 if rest[0] in valued else 1
                statements.append((*head, *rest[:end]))
                del rest[:end]
            return statements or [path]
    return [path]


def _marked(path: StatementPath) -> StatementPath:
    return (*path[:-2], MARK.join(path[-2:]))


# --- set lines ----------------------------------------------------------------------------------------------


def _set_lines(rows: list[str]) -> list[tuple[StatementPath, int]] | None:
    """Statements of `display set`, None where other commands change what is set."""
    statements: list[tuple[StatementPath, int]] = []
    inactive: list[tuple[StatementPath, int]] = []
    for number, row in enumerate(rows, 1):
        line = _line(row.strip() + ";") if row.strip() and row[0] not in "#!" else Line("")
        if line is None:
            return None
        if not line.words:
            continue
        verb, path = line.words[0], line.words[1:]
        if verb == "set":
            statements += _leaves(path, line.items, number)
        elif verb == "deactivate":
            inactive.append((path, number))
        elif verb not in IDLE_VERBS:
            return None
    hidden = {path for path, _ in inactive}
    if hidden:
        statements = [
            (path, line) for path, line in statements if not any(path[:end] in hidden for end in range(1, len(path) + 1))
        ]
    return statements + [(_marked(path), line) for path, line in inactive]


# --- any layout ---------------------------------------------------------------------------------------------


def _tree(text: str) -> Iterator[tuple[StatementPath, int]]:
    config = Config()
    read_text(config, "", text)
    config.settle()
    yield from _below(config.root, ())
    yield from ((_marked(tuple(map(_word, path))), 1) for path in config.inactive)


def _below(node: Node, path: StatementPath) -> Iterator[tuple[StatementPath, int]]:
    for word, child in node.items():
        here = (*path, _word(word))
        if child:
            yield from _below(child, here)
        else:
            yield from _leaves(here, (), child.line)


SYNTAX = Syntax(
    parts={"juniper.conf": statements},
    rules_file=Path(__file__).with_name("statements.yaml"),
    separator=" ",
    verb="set",
    reduced={"juniper.conf": without_equal},
)


# --- Changes --------------------------------------------------------------------------------------------------

MARKS = re.compile(r"^inactive: |^deactivate .*$", re.MULTILINE)


def config(text: str) -> ConfigTree:
    """Statements of a config, inactive ones too. Raises ValueError where its braces do not match."""
    if not is_whole(text):
        raise ValueError("a brace without the other one")
    if "inactive:" in text:
        text = "\n".join(_rows(text))
    every = [path for path, _ in statements(text)]
    marked = [(*path[:-1], *path[-1].split(MARK, 1)) for path in every if MARK in path[-1] and path[-1][0] != '"']
    if marked:
        every = [path for path, _ in statements(MARKS.sub("", text))]
    return ConfigTree(tuple(every), tuple(marked))


def _rows(text: str) -> Iterator[str]:
    """A text with one statement or one brace per line."""
    row: list[str] = []
    for token in TOKEN.findall(text):
        if token != "\n" and token[0] != "#" and not token.startswith("/*"):
            row.append(token)
            if token in ("{", ";", "}"):
                yield " ".join(row)
                row = []


@cache
def hierarchy() -> Hierarchy:
    """What the statements are."""
    return Hierarchy.load(Path(__file__).with_name("candidate.yaml"))


SET_LINES = SetLines(name="set", title="set and delete lines", config=config, hierarchy=hierarchy)
DIALECT = Dialect({"juniper.conf": SET_LINES})
