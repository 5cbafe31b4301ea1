"""`fabric vendors`: the network OSes, their capabilities and their switch models."""

from __future__ import annotations

from typing import Any

import typer

from fabric import pipeline
from fabric.configs.capabilities import WORDS
from fabric.formats import json_text
from fabric.text import aligned


def vendors(as_json: bool = typer.Option(False, "--json", help="print one JSON document")) -> None:
    """List the network OSes and their capabilities."""
    models, _ = pipeline.catalog()
    table: dict[str, dict[str, Any]] = {}
    for name, target in pipeline.vendors().items():
        boxes = {m: box for m, box in models.items() if name in box.nos and not target.refusal(box, m)}
        table[name] = {
            "title": target.title,
            "max_mtu": target.max_mtu,
            "releases": list(target.releases),
            "capabilities": target.capabilities.table(),
            "switches": list(boxes),
            "lacking": {m: list(box.lacks) for m, box in boxes.items() if box.lacks},
        }
    print(json_text(table) if as_json else "\n".join(_lines(table)))


def _lines(table: dict[str, dict[str, Any]]) -> list[str]:
    out = []
    for name, row in table.items():
        out.append(f"{name:9}{row['title']}, IP MTU up to {row['max_mtu']}")
        out.append(f"{'':9}{', '.join(row['switches']) or 'any box, by its ports alone'}")
    rows = [[text, *(_cell(row["capabilities"][what]) for row in table.values())] for what, text in WORDS.items()]
    out += [
        "",
        *aligned([["", *table], *rows], "<" + "<7" * len(table)),
        "",
        "auto: done where nothing speaks against it; asked: only where the intent says so; esi, vpc: how bonds are made",
    ]
    lacking = {m: lacks for row in table.values() for m, lacks in row["lacking"].items()}
    if lacking:
        out += ["", "What a switch cannot do though its network OS can:"]
        out += [f"  {model:18}{', '.join(lacks)}" for model, lacks in sorted(lacking.items())]
    return out


def _cell(value: object) -> str:
    return ("yes" if value else "-") if isinstance(value, bool) else str(value) or "-"
