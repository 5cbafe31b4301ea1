"""`fabric vendors`: the network OSes and the switches each can be rendered for."""

from __future__ import annotations

import json
from typing import Any

import typer


def vendors(as_json: bool = typer.Option(False, "--json", help="print one JSON document")) -> None:
    """List the network OSes that configs are made for, and their switches."""
    from fabric import catalog
    from fabric.vendors.base import targets

    models = {name: catalog.switch(name) for name in catalog.switch_names()}
    table: dict[str, dict[str, Any]] = {
        name: {
            "title": target.title,
            "max_mtu": target.max_mtu,
            "switches": [m for m, box in models.items() if box and name in box.nos and not target.refusal(box, m)],
        }
        for name, target in targets().items()
    }
    if as_json:
        print(json.dumps(table, indent=2))
        return
    for name, row in table.items():
        print(f"{name:8} {row['title']}, IP MTU up to {row['max_mtu']}")
        print(f"{'':8} {', '.join(row['switches']) or 'any box, by its ports alone'}")
