"""`fabric catalog --os`: the network OSes, their capabilities and their switch models."""

from __future__ import annotations

from typing import Any

from fabric import pipeline
from fabric.base.text import aligned
from fabric.configs.targets import WORDS


def by_system() -> dict[str, dict[str, Any]]:
    """Network OS → title, releases, capabilities and switch models."""
    models, _ = pipeline.catalog()
    table: dict[str, dict[str, Any]] = {}
    for name, target in pipeline.vendors().items():
        switches = {m: model for m, model in models.items() if name in model.nos and not target.refusal(model, m)}
        table[name] = {
            "title": target.title,
            "max_mtu": target.max_mtu,
            "releases": list(target.releases),
            "capabilities": target.capabilities.table(),
            "switches": list(switches),
            "lacking": {m: list(model.lacks) for m, model in switches.items() if model.lacks},
        }
    return table


def system_lines(table: dict[str, dict[str, Any]]) -> list[str]:
    """The same as a table for people."""
    out = []
    for name, row in table.items():
        out.append(f"{name:9}{row['title']}, IP MTU up to {row['max_mtu']:,} bytes")
        out.append(f"{'':9}{', '.join(row['switches']) or 'any switch'}")
    head = ["capability", *table]
    rows = [[text, *(_cell(row["capabilities"][capability]) for row in table.values())] for capability, text in WORDS.items()]
    lacking = {m: lacks for row in table.values() for m, lacks in row["lacking"].items()}
    out += [
        "",
        *aligned(rows, "<" + "<7" * len(table), head=head),
        "",
        "auto: enabled unless the design prevents it; option: only if the intent states it; esi, vpc: kind of multihoming",
    ]
    if lacking:
        rows = [[model, ", ".join(lacks)] for model, lacks in sorted(lacking.items())]
        out += ["", "not supported on some models:", *aligned(rows, indent="  ")]
    return out


_SHOWN = {"asked": "option"}  # values of the JSON document → words of the table


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "-"
    return _SHOWN.get(str(value), str(value)) or "-"
