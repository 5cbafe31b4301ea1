"""YAML: data files that ship, and documents that a person reviews."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from yaml.events import Event, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RESOLVER: Any = yaml.resolver.Resolver()
_WIDE = 1 << 20  # columns: no line is folded


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Texts of several lines as blocks, no anchors, nothing for `null`: as people write it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    block = "\n" in text and all(line == line.rstrip() and line.isprintable() for line in text.split("\n"))
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


class _FlowDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Values on one line, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _text)
_FlowDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "\n" in text else None)
)
_Dumper.add_representer(type(None), lambda dumper, _: dumper.represent_scalar("tag:yaml.org,2002:null", ""))


def load(text: str) -> Any:
    """The data of one document. Raises yaml.YAMLError."""
    return yaml.load(text, LOADER)


def read(path: Path | Traversable) -> Any:
    """The data of a file that ships.

    Straight from the events of the parser, in a third of the time of `load`: every start of `fabric` reads such files.
    """
    text = path.read_text(encoding="utf-8")
    events = islice(yaml.parse(text, LOADER), 2, None)  # behind the beginnings of stream and document
    try:
        return next((_value(events, first) for first in events), None)
    except _NotPlainError:
        return load(text)


class _NotPlainError(Exception):
    """An anchor, an alias or a tag."""


def _value(events: Iterator[Event], event: Any) -> Any:
    """What an event begins, to its end."""
    if getattr(event, "anchor", None) is not None or getattr(event, "tag", None) is not None:
        raise _NotPlainError
    if isinstance(event, ScalarEvent):
        return _scalar(event.value) if event.implicit[0] else event.value
    if isinstance(event, SequenceStartEvent):
        items = takewhile(lambda item: not isinstance(item, SequenceEndEvent), events)
        return [_value(events, item) for item in items]
    assert isinstance(event, MappingStartEvent)
    keys = takewhile(lambda key: not isinstance(key, MappingEndEvent), events)
    return {_value(events, key): _value(events, next(events)) for key in keys}


@cache
def _scalar(text: str) -> Any:
    """A scalar without quotes: a text, number, truth value or null."""
    is_text = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) == _RESOLVER.DEFAULT_SCALAR_TAG
    return text if is_text else load(text)


def dump(data: object, head: str = "", **look: Any) -> str:
    """A document under a comment of one or several lines. `look`: as yaml.dump takes it."""
    comment = "".join(f"# {line}\n" for line in head.split("\n")) if head else ""
    text: str = yaml.dump(data, Dumper=_Dumper, **{"sort_keys": False, "width": _WIDE, **look})
    return comment + text


def compact(data: Mapping[str, Any], width: int = 110, depth: int = 1) -> str:
    """A mapping as people write a short file: a value that fits is on the line of its key.

    Args:
        data: keys in the order of the file.
        width: columns of a line.
        depth: levels of mappings that are never on one line.
    """
    return "".join(f"{line}\n" for line in _lines(data, width, depth, ""))


def _lines(data: Mapping[str, Any], width: int, depth: int, margin: str) -> Iterator[str]:
    for key, value in data.items():
        head, flow = f"{margin}{_flow(key)}:", f" {_flow(value)}"
        is_open = depth > 0 and isinstance(value, Mapping) and bool(value)
        if not is_open and (len(head) + len(flow) <= width or not isinstance(value, Mapping | list) or not value):
            yield head + flow
        elif isinstance(value, Mapping):
            yield head
            yield from _lines(value, width, depth - 1, f"{margin}  ")
        else:
            yield head
            for item in value:
                yield from _item(item, width, f"{margin}  ")


def _item(item: Any, width: int, margin: str) -> Iterator[str]:
    """An entry of a list."""
    text = f"{margin}- {_flow(item)}"
    if len(text) <= width or not isinstance(item, Mapping) or not item:
        yield text
        return
    for at, line in enumerate(_lines(item, width, 0, f"{margin}  ")):
        yield line if at else f"{margin}- {line[len(margin) + 2 :]}"


def _flow(value: Any) -> str:
    """A value on one line."""
    text: str = yaml.dump(value, Dumper=_FlowDumper, sort_keys=False, width=_WIDE, default_flow_style=True)
    return text.removesuffix("...\n").strip()


def dump_all(documents: Iterable[object]) -> str:
    """Documents one after the other, each begun by `---`."""
    text: str = yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=_WIDE)
    return text
