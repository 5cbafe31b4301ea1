"""An NVUE file as a tree whose branches know their lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml


@dataclass(frozen=True, slots=True)
class Branch:
    """A mapping, or a word; a branch that the file does not have is empty, is on line 0 and counts as false."""

    word: str = ""
    line: int = 0
    below: dict[str, Branch] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.line > 0

    def at(self, *path: str) -> Branch:
        """A branch further down; `a|b` takes what there is of two spellings."""
        here = self
        for step in path:
            here = next((here.below[name] for name in step.split("|") if name in here.below), Branch())
        return here

    def on(self, *path: str) -> bool:
        """Whether a switch is there and says yes, in either spelling."""
        return self.at(*path).word in ("enabled", "on")

    def items(self) -> Iterator[tuple[str, Branch]]:
        yield from self.below.items()


def read(text: str) -> Branch:
    """The `set` tree of a startup file."""
    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    tree = _branch(root) if root is not None else Branch()
    return tree.at("0", "set") or tree.at("1", "set")


def _branch(node: yaml.Node) -> Branch:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        return Branch("", line, {str(key.value): _named(key, value) for key, value in node.value})
    if isinstance(node, yaml.SequenceNode):
        return Branch("", line, {str(at): _branch(value) for at, value in enumerate(node.value)})
    return Branch(str(node.value), line)


def _named(key: yaml.Node, value: yaml.Node) -> Branch:
    found = _branch(value)
    return Branch(found.word, key.start_mark.line + 1, found.below)
