"""The facts of a model as a table in Markdown, for the page of the network OS."""

from __future__ import annotations

from collections.abc import Iterator

from tests.audit.diff.candidate.model import Model

UNKNOWN = "not documented: the commands are right in either case"


def table(model: Model) -> str:
    return "".join(f"{row}\n" for row in _rows(model))


def _rows(model: Model) -> Iterator[str]:
    yield "| what the switch does | source |"
    yield "|---|---|"
    for fact in model.facts.values():
        yield f"| {_cell(fact.says)} | {_cell(fact.source or UNKNOWN)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
