"""The commands of `fabric`, each imported only when it runs: its file imports at its top whatever it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer

from fabric.cli.deprecated import renamed
from fabric.cli.help import Command, Group
from fabric.cli.output import with_output

# With their lines in `fabric --help`, the first sentences of their own help. `fabric.cli.<name>` holds each under its name.
GROUPS = {
    "Design": {
        "init": "Write a short commented intent.",
        "plan": "Size, wire and number the fabrics of an intent.",
        "explore": "Compare many designs by cost, power and time.",
        "explain": "Explain a code such as FAB102, or a number of a plan.",
        "report": "Write a report of a site as one HTML page for offline use.",
    },
    "Configure and check": {
        "generate": "Write the plan and the configs of every switch of each intent.",
        "check": "Check designs, their generated files, or any folder of configs.",
        "drift": "Compare running configs with the plan, device by device.",
        "verify": "Compare the state of the switches with the plan.",
        "diff": "Show what changes between two intents.",
    },
    "Estimate": {
        "estimate": "Estimate the time of a collective, and its bottleneck.",
        "step": "Estimate the time of a training step.",
        "goodput": "Estimate the useful time of a training job over a year.",
        "compare": "Compare designs: parts, power, and the times of collectives.",
        "utilisation": "Estimate how many GPUs a mix of jobs can use.",
        "capacity": "Compute cuts, throughput and the effect of failures.",
        "score": "Compare estimated times with measured ones.",
        "calibrate": "Fit the model of collective times to measurements.",
        "doctor": "Explain why a measured collective is slower than estimated.",
    },
    "Order and build": {
        "bom": "List parts to order, with spares, power and cost.",
        "cabling": "Cable run lists, cable labels, and LLDP verification.",
    },
    "Lab": {
        "lab": "Run the generated FRR configs in network namespaces.",
    },
    "Integrations": {
        "export": "Write the plan in another format, or as a picture.",
        "netbox": "Push the plan into NetBox.",
        "nautobot": "Push the plan into Nautobot.",
    },
    "Reference": {
        "headroom": "Compute the PFC headroom of a port.",
        "catalog": "List the switch and server models of the catalog.",
        "vendors": "List the network OSes and their capabilities.",
        "schema": "Print the JSON Schema of intents, JOB files or JSON output.",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}


class Lazy(Group):
    """Lists all commands and imports only the one that runs."""

    groups = GROUPS

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: Command(name, help=line, rich_markup_mode=None) for name, line in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, left = super().resolve_command(ctx, renamed(args))
        return name, load(name) if name and listed else None, left


def load(name: str) -> Any:
    """One command with its options, or a group of commands. Its module is `fabric.cli.<name>`."""
    command = getattr(import_module(f"fabric.cli.{name}"), name)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(command, typer.Typer):
        for subcommand in command.registered_commands:
            subcommand.cls = Command
            if subcommand.callback is not None:
                subcommand.callback = with_output(subcommand.callback)
        holder.add_typer(command, name=name, cls=Group)
    else:
        holder.command(name, cls=Command)(with_output(command))
    return typer.main.get_group(holder).commands[name]
