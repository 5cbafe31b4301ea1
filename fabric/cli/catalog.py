"""`fabric catalog`: the hardware models that are shipped."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest
from fabric.base.formats import json_text
from fabric.base.formats.yaml import dump
from fabric.base.schemas.models import document
from fabric.base.text import aligned
from fabric.cli.common import option
from fabric.cli.output import put_lines, put_result, usage
from fabric.cli.systems import by_system, system_lines
from fabric.configs.targets import VendorsDocument
from fabric.hardware import catalog as hardware
from fabric.hardware.catalog.models import ServerModel, SwitchModel
from fabric.hardware.catalog.power import PowerDocument, PowerRange
from fabric.hardware.catalog.power_class import DatasheetCheck, PowerCheckDocument

# --- --power and --power-check: power by model, and how well the bounds by class hold -------------------------

TITLES = {"switches": "switch", "servers": "server", "nics": "NIC", "modules": "optic or cable end"}


def lines(kinds: Mapping[str, Mapping[str, PowerRange]]) -> Iterator[str]:
    """A table a kind: typical power and worst case of one, in W without the optics in its cages."""
    for number, (kind, ranges) in enumerate(kinds.items()):
        if number:
            yield ""
        rows = [(name, ends(its), f"{its.max_w:,g}", _holds(its), its.basis) for name, its in _rounded(ranges)]
        heads = (TITLES[kind], "typical W", "worst case W", "with optics", "basis")
        yield from aligned(rows, "<>><<", head=heads)
    yield ""
    yield "`--power --json` has the source of each; `--power-check` tests the bounds"


def ends(its: PowerRange) -> str:
    """`512-1,244`, or one number."""
    low, high = f"{its.typical_low_w:,g}", f"{its.typical_high_w:,g}"
    return low if low == high else f"{low}-{high}"


def check_lines(checks: Sequence[DatasheetCheck]) -> list[str]:
    """One row per figure, and how many are inside."""
    rows = [
        (
            *(
                check.switch,
                check.figure,
                f"{check.watts:,.0f}",
                f"{check.low:,.0f}",
                f"{check.high:,.0f}",
                f"{check.ratio:.2f}",
            ),
            "" if check.inside else "outside",
            "second-hand" if check.second_hand else "data sheet",
        )
        for check in checks
    ]
    heads = ("switch", "figure", "W", "from", "to", "ratio", "", "basis")
    return [*aligned(rows, "<<>>>><<", head=heads), "", *_summary(checks)]


def _summary(found: Sequence[DatasheetCheck]) -> Iterator[str]:
    inside = [its for its in found if its.inside]
    whole = {its.switch for its in found} - {its.switch for its in found if not its.inside}
    switches = len({its.switch for its in found})
    share = f"{len(inside)} of {len(found)} figures ({len(inside) / len(found):.1%})"
    yield f"inside: {share}; every figure of {len(whole)} of {switches} switches"
    yield f"bounds: upper over lower end {statistics.median(its.ratio for its in found):.2f} in the median"
    yield "each switch's bounds are those of its class without its own data sheet"


def _holds(its: PowerRange) -> str:
    """Which figures hold a full set of optics."""
    words = {"typical": "typical", "max": "worst case"}
    return " and ".join(words[name] for name in its.holds) or "-"


def _rounded(ranges: Mapping[str, PowerRange]) -> Iterator[tuple[str, PowerRange]]:
    """To whole watts, small ones to a tenth."""
    for name, its in ranges.items():
        digits = 0 if its.max_w >= 100 else 2
        yield (
            name,
            replace(
                its,
                typical_low_w=round(its.typical_low_w, digits),
                typical_w=round(its.typical_w, digits),
                typical_high_w=round(its.typical_high_w, digits),
                max_w=round(its.max_w, digits),
            ),
        )


# --- the command ----------------------------------------------------------------------------------------------


def catalog(
    name: str = typer.Argument("", metavar="NAME", help="switch or server model to show as YAML", show_default=False),
    power: bool = typer.Option(False, "--power", help="power of switches, servers, NICs, optics and cables, with its basis"),
    power_check: bool = option(
        False, "--power-check", help="test the bounds of switches: each data sheet against its class without it"
    ),
    systems: bool = typer.Option(False, "--os", help="network OSes, their capabilities and switch models"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """List switch and server models, or the network OSes.

    With NAME: one model as YAML, ready to paste below `catalog:` of an intent.
    """
    if systems:
        _systems(as_json, beside=[name, *["--power"] * power, *["--power-check"] * power_check])
        return
    if power or power_check:
        _power(name, power_check, as_json)
        return
    if name:
        entry = hardware.switch(name) or hardware.server(name)
        if entry is None:
            models = [*hardware.switch_names(), *hardware.server_names()]
            raise InputError([Diagnostic("FAB106", Place("catalog"), f"unknown model '{name}'", nearest(name, models))])
        print(json_text(entry.model_dump(exclude_defaults=True)) if as_json else _yaml(name, entry), end="\n" * as_json)
        return
    switches, servers = pipeline.catalog()
    if as_json:
        everything = {**switches, **servers}
        print(json_text({model: entry.model_dump(exclude_defaults=True) for model, entry in everything.items()}))
        return
    put_lines(lambda: [*_switches(switches), "", *_servers(servers)])


def _systems(as_json: bool, *, beside: list[str]) -> None:
    """What each network OS can do; `beside`: what else was asked for."""
    if any(beside):
        usage(f"--os: expected nothing beside it, got {' '.join(filter(None, beside))}", "`fabric catalog --os`")
    table = by_system()
    put_result(as_json, lambda: document(table, VendorsDocument), lambda: system_lines(table))


def _power(name: str, check: bool, as_json: bool) -> None:
    """Power by model, or the check of its bounds."""

    if name:
        usage("NAME and --power: expected one of the two", "`fabric catalog --power --json` has every model by name")
    if check:
        checks = pipeline.catalog_power_check()
        text = [json_text(document(checks, PowerCheckDocument))] if as_json else check_lines(checks)
    else:
        kinds = pipeline.catalog_power()
        whole = {kind: dict(_rounded(ranges)) for kind, ranges in kinds.items()}
        text = [json_text(document(whole, PowerDocument))] if as_json else list(lines(kinds))
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
