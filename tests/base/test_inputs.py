"""Input files as models: a damaged copy of an example is refused at its line, with what was expected and a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.source import Node, parse
from fabric.deliver.bom import prices
from fabric.solver.goodput import sections
from fabric.solver.training import file as job_file, ladder
from fabric.solver.utilisation import jobs
from tests import ROOT


def _job(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    sections.read(job_file.tree(text, path.name), path.name)
    job_file.read_yaml(text, path.name, 1024)


EXAMPLES: dict[str, Callable[[Path], object]] = {
    "docs/goodput-70b.yaml": _job,
    "docs/prices-example.yaml": prices.read,
    "docs/jobs-example.yaml": jobs.read,
    "docs/ladders/gpt-175b-a100.yaml": ladder.read,
}
FREE = {"about", "source", "notes", "id", "name", "placement", "quality", "config", "why", "fitted", "fail"}


def keys(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], int, int]]:
    """Path, line and column of each key whose value is no list or mapping, outside of free text."""
    if isinstance(node.items, dict):
        for key, value in node.items.items():
            if key not in FREE:
                yield from [] if value.items is not None else [((*path, key), *node.keys[key])]
                yield from keys(value, (*path, key))
    for at, value in enumerate(node.items if isinstance(node.items, list) else ()):
        yield from keys(value, (*path, at))


def damaged(name: str, word: Callable[[str], str]) -> Iterator[tuple[int, str, str]]:
    """Line, key and text of each copy in which one key with its value is another text."""
    lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
    for path, line, column in keys(parse("\n".join(lines), name).root):
        old, key = lines[line - 1], str(path[-1])
        head, rest = old[: column - 1], old[column - 1 + len(key) :]
        changed = [*lines[: line - 1], head + word(key) + rest, *lines[line:]]
        yield line, key, "\n".join(changed)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_misspelled_key_is_refused_at_its_line(name: str, tmp_path: Path) -> None:
    copies = list(damaged(name, lambda key: f"{key}-x"))[:40]
    assert len(copies) > 3
    for line, key, text in copies:
        found = mistakes(name, text, tmp_path)
        assert any(item.place.line == line and f"'{key}-x'" in item.message and item.hint for item in found), (key, found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_value_of_the_wrong_type_is_refused_at_its_line(name: str, tmp_path: Path) -> None:
    copies = list(damaged(name, lambda key: f"{key}: [[7]] #"))[:40]
    assert len(copies) > 3
    for line, key, text in copies:
        if "{" in text.split("\n")[line - 1]:
            continue  # the rest of the line belongs to other keys
        found = mistakes(name, text, tmp_path)
        assert any(item.place.line == line and "expected" in item.message and ", got " in item.message for item in found), key
        assert all(item.hint for item in found)


def mistakes(name: str, text: str, folder: Path) -> tuple[Diagnostic, ...]:
    path = folder / Path(name).name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        EXAMPLES[name](path)
    return caught.value.diagnostics


def test_a_key_of_another_section_has_a_hint_where_it_belongs() -> None:
    text = "model: {parameters: 1, layers: 1, hidden: 1, sequence: 1}\nbatch: {layers: 2}\nparallel: {}\ncompute: {ms: 1}\n"
    with pytest.raises(
        InputError, match=r"j.yaml:2:9: error\[FAB173\]: unknown key 'layers' under batch\n.*`layers` belongs"
    ):
        job_file.read_yaml(text, "j.yaml", 8)
