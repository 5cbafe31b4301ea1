"""The commands of `fabric`, each imported only when it runs: its file imports at its top whatever it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from fabric.cli.renamed import renamed

# With their lines in `fabric --help`, the first sentences of their own help. `fabric.cli.<name>` holds each under its name.
COMMANDS = {
    "init": "Write a short commented intent.",
    "plan": "Size, wire and number the fabrics of an intent.",
    "check": "Check designs, their generated files, or any folder of configs.",
    "explain": "Show the arithmetic behind one number, recomputed by the stages that made it.",
    "generate": "Write the plan and the configs of every switch of each intent.",
    "diff": "Show what changes between two intents: design, capacity and time, configs.",
    "export": "Write the plan of an intent in another format, to stdout unless -o names a file.",
    "estimate": "Estimate the time of a collective on a fabric, size by size, and what limits it.",
    "capacity": "Measure what a fabric carries: cuts, bisection, throughput, and what every single failure leaves.",
    "step": "Time a training step: what crosses the network, what the computing hides of it, and the tokens per second left.",
    "bom": "List what to order for a site, with spares, power per rack and in all, and cost from a price file.",
    "report": "Write a site as one HTML page: the design, what it carries, racks, addresses, every link.",
    "explore": "Plan and time every combination of choices, and show those that no other design beats.",
    "score": "Score the estimate of collective times against measured tables.",
    "calibrate": "Fit the model of collective times to measured tables and write a platform file.",
    "headroom": "Compute the PFC headroom of a port and show its terms.",
    "catalog": "List the switches and servers of the catalog, or show one as YAML to start an entry of your own from.",
    "vendors": "List the network OSes that configs are made for: their switches, and what each of them can do.",
    "schema": "Print the JSON Schema of the intent language, for editors, or of what a command prints with --json.",
    "cabling": "Cables of a plan: run lists, labels, and what switches say of them.",
    "netbox": "The plan in NetBox.",
    "nautobot": "The plan in Nautobot.",
    "lab": "Bring a plan up as network namespaces with real FRR daemons, and test it.",
}


class Lazy(TyperGroup):
    """Lists all commands and imports the one that is asked for."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=line, rich_markup_mode=None) for name, line in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, left = super().resolve_command(ctx, renamed(args))
        return name, load(name) if name and listed else None, left


def load(name: str) -> Any:
    """One command with its options, or a group of commands. Its module is `fabric.cli.<name>`."""
    found = getattr(import_module(f"fabric.cli.{name}"), name)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return typer.main.get_group(holder).commands[name]
