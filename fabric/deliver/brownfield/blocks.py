"""Changes of the lines of a rendered file, as the blocks of its shipped template take them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any, NamedTuple

from fabric.configs.templating import site
from fabric.configs.templating.shipped import environment
from fabric.deliver.brownfield.proof import TEXT
from fabric.nos.reading.sections import StatementPath

MAX_CONTEXT = 12  # lines in front of a line that tell it from others like it
MIN_ALIKE = 0.5  # of the lines of two files that are compared line by line


class Own(NamedTuple):
    """A change of one file of a switch.

    Attributes:
        file: document, or shipped template.
        where: keys of a document; the name of a block.
        old: lines of the block that the new ones replace, "" where they come behind it.
        new: value of a document as JSON, "null" removes it; lines.
    """

    file: str
    where: StatementPath
    old: str
    new: str


class Blocks:
    """The lines of a rendered file, and the blocks of the template that print each, the innermost last."""

    def __init__(self, template: str, context: Mapping[str, Any], text: str) -> None:
        self.names = site.block_names(template)
        self.lines = text.split("\n")
        self.blocks: list[tuple[str, ...]] = []
        mark = next(sign for sign in map(chr, range(0xE000, 0xF8FF)) if sign not in text)  # of private use
        inside: tuple[str, ...] = ()
        for line in _marked(template, tuple(sorted(self.names)), mark).render(context).split("\n"):
            begins, has_text = inside, False
            for at, words in enumerate(line.split(mark)):
                if at % 2:
                    inside = inside[:-1] if words[0] == "/" else (*inside, words)
                elif not has_text:
                    begins, has_text = inside, bool(words)
            self.blocks.append(begins)

    def changed(self, template: str, gone: set[int], instead: Mapping[int, str]) -> Iterator[Own]:
        """Changes that take lines away, or put running ones in their place. A line that stands elsewhere too stays."""
        for run in self._runs(sorted(gone)):
            first, last = run[0] - 1, run[-1]
            block = self.blocks[first][-1] if self.blocks[first] else ""
            for begin in range(first, max(first - MAX_CONTEXT, -1), -1):
                if block not in self.blocks[begin] or (begin < first and begin + 1 in gone):
                    break
                size = last - begin
                news = {self._new(at, size, first - begin, gone, instead) for at in self._found(block, begin, size)}
                if len(news) == 1 and (new := next(iter(news))) is not None:
                    yield Own(template, (block,), "\n" + _text(self.lines[begin:last]), "\n" + new)
                    break

    def edited(self, template: str, lines: Sequence[str]) -> Iterator[Own]:
        """Changes that make other lines of a file out of its own: for files that are edited, not entered as commands."""
        matcher = SequenceMatcher(None, self.lines, lines, autojunk=False)
        if matcher.ratio() < MIN_ALIKE or len(self.blocks) != len(self.lines):
            return
        found: list[tuple[int, int, list[str], int, str]] = []  # first line, end, new lines, first line of context, block
        for tag, first, end, new_first, new_end in matcher.get_opcodes():
            news = list(lines[new_first:new_end])
            if tag == "equal" or not any(map(_says, (*self.lines[first:end], *news))):
                continue
            while True:
                begin, block = self._context(first, end, found[-1][1] if found else 0)
                if block or not found:
                    break
                last = found.pop()
                news = [*last[2], *self.lines[last[1] : first], *news]
                first = last[0]
            if block:
                found.append((first, end, news, begin, block))
        for first, end, news, begin, block in found:
            old = _text(self.lines[begin:end])
            yield Own(template, (block,), "\n" + old, "\n" + _text([*self.lines[begin:first], *news]))

    def _context(self, first: int, end: int, least: int) -> tuple[int, str]:
        """The first line of what tells some lines from others in their innermost common block, and that; "" for none."""
        for begin in range(first if first < end else first - 1, max(first - MAX_CONTEXT, least) - 1, -1):
            of_lines = self.blocks[begin:end] if begin < end else [self.blocks[begin]]
            shared = [name for name in of_lines[0] if all(name in its for its in of_lines)] if begin >= 0 else []
            if not shared:
                return first, ""
            if len(self._found(shared[-1], begin, end - begin)) == 1:
                return begin, shared[-1]
        return first, ""

    def _new(self, at: int, size: int, kept: int, gone: set[int], instead: Mapping[int, str]) -> str | None:
        """The lines at a place, as they become: `kept` stay as they are, all others go. None where others are to stay."""
        if not gone.issuperset(range(at + kept + 1, at + size + 1)):
            return None
        lines = self.lines[at : at + kept]
        for line in range(at + kept + 1, at + size + 1):
            if line in instead:
                margin = self.lines[line - 1][: -len(self.lines[line - 1].lstrip())]
                lines.append(margin + instead[line])
        return _text(lines)

    def _found(self, block: str, begin: int, size: int) -> list[int]:
        """Where the same lines stand in a block."""
        lines = self.lines[begin : begin + size]
        starts = (at for at, line in enumerate(self.lines) if line == lines[0] and block in self.blocks[at])
        return [at for at in starts if self.lines[at : at + size] == lines]

    def _runs(self, lines: Sequence[int]) -> Iterator[list[int]]:
        """Lines that follow each other in one block."""
        run: list[int] = []
        for line in lines:
            if run and (line != run[-1] + 1 or self.blocks[line - 1] != self.blocks[run[0] - 1]):
                yield run
                run = []
            run.append(line)
        if run:
            yield run


@cache
def _marked(template: str, names: tuple[str, ...], mark: str) -> Any:
    """A template whose blocks are between their names, in marks."""
    blocks = "".join(
        f"{{% block {name} %}}{mark}{name}{mark}{{{{ super() }}}}{mark}/{name}{mark}{{% endblock %}}" for name in names
    )
    return environment().from_string(f'{{% extends "{template}" %}}{blocks}')


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _says(line: str) -> bool:
    """Whether a line is more than a comment, or text for people."""
    return bool(line.strip()) and not line.lstrip().startswith("#") and not TEXT.match(line.lstrip())
