"""`fabric catalog`: the hardware models that are shipped."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest
from fabric.base.formats import json_text
from fabric.base.formats.yaml import dump
from fabric.base.text import aligned
from fabric.cli.reports import put_lines, usage
from fabric.hardware import catalog as hardware
from fabric.hardware.catalog.models import ServerModel, SwitchModel


def catalog(
    name: str = typer.Argument("", metavar="NAME", help="switch or server model to show as YAML", show_default=False),
    power: bool = typer.Option(False, "--power", help="power of switches, servers, NICs, optics and cables, with its basis"),
    power_check: bool = typer.Option(
        False, "--power-check", help="test the bounds of switches: each data sheet against its class without it"
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """List the switch and server models of the catalog.

    With NAME: one model as YAML, ready to paste below `catalog:` of an intent.
    """
    if power or power_check:
        _power(name, power_check, as_json)
        return
    if name:
        entry = hardware.switch(name) or hardware.server(name)
        if entry is None:
            models = [*hardware.switch_names(), *hardware.server_names()]
            raise InputError([Diagnostic("FAB106", Place("catalog"), f"unknown model '{name}'", nearest(name, models))])
        print(
            json_text(entry.model_dump(exclude_defaults=True)) if as_json else _yaml(name, entry),
            end="\n" * as_json,
        )
        return
    switches, servers = pipeline.catalog()
    if as_json:
        everything = {**switches, **servers}
        print(json_text({model: entry.model_dump(exclude_defaults=True) for model, entry in everything.items()}))
        return
    put_lines(lambda: [*_switches(switches), "", *_servers(servers)])


def _power(name: str, check: bool, as_json: bool) -> None:
    """Power by model, or the check of its bounds."""
    from fabric.cli import catalog_power as shown

    if name:
        usage("NAME and --power: expected one of the two", "`fabric catalog --power --json` has every model by name")
    if check:
        checks = pipeline.catalog_power_check()
        text = [json_text(shown.check_document(checks))] if as_json else shown.check_lines(checks)
    else:
        kinds = pipeline.catalog_power()
        text = [json_text(shown.document(kinds))] if as_json else list(shown.lines(kinds))
    put_lines(lambda: text)


def _switches(switches: Mapping[str, SwitchModel]) -> list[str]:
    rows = [
        (
            model,
            switch.maker,
            " + ".join(f"{group.count}x{group.speed_gbps}G" for group in switch.ports),
            switch.asic,
            ", ".join(switch.nos) or "-",
        )
        for model, switch in switches.items()
    ]
    return aligned(rows, head=("switch", "maker", "ports", "ASIC", "network OS"))


def _servers(servers: Mapping[str, ServerModel]) -> list[str]:
    rows = [
        (
            model,
            f"{server.gpus}",
            ", ".join(f"{use} {nic.count}x{nic.ports}x{nic.speed_gbps}G" for use, nic in server.nics.items()),
        )
        for model, server in servers.items()
    ]
    return aligned(rows, "<><", head=("server", "GPUs", "NICs: count x ports x speed"))


def _yaml(name: str, entry: SwitchModel | ServerModel) -> str:
    """The model as it is written under `catalog:` of an intent."""
    kind = "switches" if isinstance(entry, SwitchModel) else "servers"
    data = {"catalog": {kind: {name: entry.model_dump(mode="json", exclude_defaults=True)}}}
    return dump(data, allow_unicode=True, width=110, default_flow_style=None)
