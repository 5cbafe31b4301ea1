"""An intent written from flags: short, commented, and validated before it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import yaml

from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest, one_of
from fabric.base.formats.yaml import dump
from fabric.base.source import Node, Source, parse
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.hardware import catalog
from fabric.hardware.catalog.models import ServerModel
from fabric.model.plan.spec import SWITCHLESS
from fabric.nos.target import target, target_names

OWN_SERVER, USUAL_SERVER = "gpu-server", "dgx-h100"
USUAL = "sn5600"  # default switch of all tiers
SCHEMA = "fabric.schema.json"  # output of `fabric schema`, in the folder of the intents


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The flags of `fabric init`; "" and None stand for not given."""

    name: str
    server: str = ""
    servers: int = 8
    servers_per_rack: int | None = None
    gpus_per_server: int | None = None
    nics_per_server: int | None = None
    nic_ports: str = ""
    switch: str = ""
    leaf: str = ""
    spine: str = ""
    core: str = ""
    topology: str = ""
    unit: int | None = None
    tiers: str = "auto"
    pods: str = "auto"
    planes: int = 1
    dual_tor: bool = False
    oversubscription: str = ""
    uplinks: str = ""
    spines: int | None = None
    cores: int | None = None
    spare: int = 0
    planned_servers: int | None = None
    nos: str = ""


def write(draft: Draft, schema: bool = True) -> str:
    """The intent as YAML text. Raises InputError for a flag of the wrong form.

    Args:
        schema: whether the JSON Schema lies beside the file, as SCHEMA, so that editors can be pointed to it.
    """
    lines = [
        *([f"# yaml-language-server: $schema={SCHEMA}"] if schema else []),
        f"# Site {draft.name}. `fabric plan` sizes it, `fabric generate` writes the configs.",
        "version: 1",
        f"site: {_text(draft.name)}",
    ]
    model = draft.server or USUAL_SERVER
    if draft.gpus_per_server is not None or draft.nics_per_server is not None or draft.nic_ports:
        model = draft.server or OWN_SERVER
        lines += _own_server(draft, model)
    lines += ["fabrics:", "  backend:"]
    if draft.nos:
        if draft.nos not in target_names():
            close = nearest(draft.nos, target_names())
            message = f"expected {one_of(target_names())}, got {draft.nos!r}"
            raise InputError([Diagnostic("FAB104", Place("--nos"), message, close if close.startswith("did") else "")])
        _check_switches(draft)
        lines.append(f"    nos: {draft.nos}")
    rack = f", per_rack: {draft.servers_per_rack}" if draft.servers_per_rack is not None else ""
    lines.append(f"    servers: {{model: {_text(model)}, count: {draft.servers}{rack}}}")
    if draft.planned_servers is not None:
        lines.append(
            f"    planned: {{servers: {draft.planned_servers}}}  # final size: wiring and numbers are reserved for it"
        )
    lines += _topology(draft)
    return "\n".join(lines) + "\n"


# Last keys of a path in the intent → flag that sets the value.
FLAGS = {
    "site": "NAME",
    "nos": "--nos",
    "servers.model": "--server",
    "servers.count": "--servers",
    "servers.per_rack": "--servers-per-rack",
    "gpus": "--gpus-per-server",
    "nics.compute.count": "--nics-per-server",
    "nics.compute.ports": "--nic-ports",
    "nics.compute.speed_gbps": "--nic-ports",
    "planned.servers": "--planned-servers",
    "topology.switch": "--switch",
    "topology.kind": "--topology",
    "topology.unit": "--unit",
    "unit.servers": "--unit",
    "topology.tiers": "--tiers",
    "topology.pods": "--pods",
    "pods.count": "--pods",
    "pods.units": "--pods",
    "pods.racks": "--pods",
    "pods.rails": "--pods",
    "topology.planes": "--planes",
    "topology.dual_tor": "--dual-tor",
    "leaf.switch": "--leaf",
    "spine.switch": "--spine",
    "core.switch": "--core",
    "leaf.oversubscription": "--oversubscription",
    "spine.oversubscription": "--oversubscription",
    "leaf.uplinks": "--uplinks",
    "uplinks.count": "--uplinks",
    "uplinks.speed_gbps": "--uplinks",
    "leaf.spare_server_ports": "--spare",
    "spine.count": "--spines",
    "core.count": "--cores",
}


def check(draft: Draft, text: str, shown: str) -> None:
    """Raises InputError where the intent is no valid one, or cannot be built, with the flag to change."""
    from fabric.design.planner.site import size_site
    from fabric.model.plan.lock_file import Lock

    source = parse(text, shown)
    try:
        size_site(resolve(validate(source), source), Lock())
    except InputError as error:
        raise InputError([_of_flag(draft, source, item) for item in error.diagnostics]) from None


def _of_flag(draft: Draft, source: Source, item: Diagnostic) -> Diagnostic:
    """A diagnostic at the flag that wrote what it is about; no file is there yet."""
    places = ((node, path) for path, node in _nodes(source.root) if node == (item.place.line, item.place.column))
    flag = next((FLAGS[path] for _, path in places if path in FLAGS), source.file)
    hint = (flag in ("--planes", "--dual-tor") and _split_nics(draft)) or item.hint
    return replace(item, place=Place(flag), hint=hint)


def _nodes(node: Node, *path: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Last keys of every path and of the one above it, with the places of its key and its value."""
    for key, inner in node.items.items() if isinstance(node.items, dict) else ():
        below = (*path, key)
        for place in (node.keys[key], (inner.line, inner.column)):
            yield from ((".".join(keys[-most:]), place) for keys in (below, path) for most in (3, 2, 1))
        yield from _nodes(inner, *below)


def _split_nics(draft: Draft) -> str:
    """How the NICs of the server get as many ports as planes or two leaves need."""
    known, ports = catalog.server(draft.server or USUAL_SERVER), max(2, draft.planes)
    nic = known.nics.get("compute") if known is not None and not draft.nic_ports else None
    if nic is None or nic.ports != 1 or nic.speed_gbps % ports:
        return ""
    split = f"{ports}x{nic.speed_gbps // ports}"
    return f"its NICs have one port of {nic.speed_gbps}G: add `--nic-ports {split}` if they can be split"


def _check_switches(draft: Draft) -> None:
    """Refuses a switch that does not run the network OS, as `fabric plan` would."""
    for flag in ("switch", "leaf", "spine", "core"):
        name = getattr(draft, flag)
        if reason := _refusal(draft.nos, name):
            raise InputError(
                [Diagnostic("FAB161", Place(f"--{flag}"), f"{name}: {reason}", "choose another `--nos` or switch")]
            )


def _usual_switch(nos: str) -> str:
    """The usual switch, or the first one of the catalog of its size that is sold with the network OS."""
    models = {name: model for name in (USUAL, *catalog.switch_names()) if (model := catalog.switch(name)) is not None}
    usual = models[USUAL]
    return next(
        (
            name
            for name, model in models.items()
            if nos in model.nos and (model.native_gbps, model.bandwidth_gbps) == (usual.native_gbps, usual.bandwidth_gbps)
        ),
        USUAL,
    )


def _refusal(nos: str, name: str) -> str | None:
    """Why a switch of the catalog does not run a network OS; None also where one of the two is not stated or not known."""
    model = catalog.switch(name) if nos and name else None
    return target(nos).refusal(model, name) if model is not None else None


def _own_server(draft: Draft, model: str) -> list[str]:
    """The server as the flags have it: a model of the catalog keeps all that its other NICs, GPUs and sources say."""
    catalog_model = catalog.server(draft.server)
    usual = catalog_model.nics.get("compute") if catalog_model is not None else None
    nics = draft.nics_per_server if draft.nics_per_server is not None else usual.count if usual else 8
    gpus = draft.gpus_per_server if draft.gpus_per_server is not None else catalog_model.gpus if catalog_model else nics
    stated = draft.nic_ports or (f"{usual.ports}x{usual.speed_gbps}" if usual else "1x400")
    ports, speed = map(int, _pair(stated, "--nic-ports", r"(\d{1,3})x(\d{1,6})", "2x400"))
    if catalog_model is None:
        nic = f"{{count: {nics}, ports: {ports}, speed_gbps: {speed}}}"
        return ["catalog:", "  servers:", f"    {_text(model)}:", f"      gpus: {gpus}", f"      nics: {{compute: {nic}}}"]
    entry = _changed(catalog_model, gpus, {"count": nics, "speed_gbps": speed, "ports": ports})
    text = dump({"catalog": {"servers": {model: entry}}}, allow_unicode=True, width=110, default_flow_style=None)
    return [f"# {model} of the catalog, with NICs or GPUs as stated", *text.splitlines()]


def _changed(model: ServerModel, gpus: int, stated: dict[str, int]) -> dict[str, Any]:
    """A server of the catalog with other GPUs or compute NICs. What no longer holds is left out."""
    entry = model.model_dump(mode="json", exclude_defaults=True)
    nic = entry["nics"].get("compute", {})
    stated = {key: value for key, value in stated.items() if nic.get(key, 1) != value}
    if stated:
        names = ("interfaces", "rdma_devices", "cages")  # an entry for each port
        bandwidth = [its.get("ports", 1) * its.get("speed_gbps", 0) for its in (nic, nic | stated)]
        gone = (*names, *(["model"] if bandwidth[1] > bandwidth[0] else []))  # no NIC of this model has so much bandwidth
        entry["nics"] = {"compute": {key: nic[key] for key in nic if key not in gone} | stated} | {
            purpose: its for purpose, its in entry["nics"].items() if purpose != "compute"
        }
    if gpus != model.gpus:
        for key in [key for key in entry if key == "description" or key.startswith("power_")]:
            del entry[key]
        if not model.fills_rack and "nvlink_domain_gpus" in entry:  # a single board
            entry["nvlink_domain_gpus"] = max(gpus, 1)
        entry["gpus"] = gpus
    return entry


def _topology(draft: Draft) -> list[str]:
    out = ["    topology:"]
    if draft.topology:
        out.append(f"      kind: {_text(draft.topology)}")
    if draft.switch or not (draft.leaf or draft.topology in SWITCHLESS):
        out.append(f"      switch: {_text(draft.switch or _usual_switch(draft.nos))}")
    if draft.unit is not None:
        out.append(f"      unit: {{servers: {draft.unit}}}  # servers that share one set of leaves")
    if draft.tiers != "auto":
        out.append(f"      tiers: {_word(draft.tiers)}")
    if draft.pods != "auto":
        parts = (part.rpartition("=") for part in draft.pods.split(","))
        rule = ", ".join(f"{_word(key or 'count')}: {_word(number)}" for key, _, number in parts)
        out.append(f"      pods: {{{rule}}}")
    if draft.planes != 1:
        out.append(f"      planes: {draft.planes}")
    if draft.dual_tor:
        out.append("      dual_tor: true")
    for role in ("leaf", "spine", "core"):
        tier = _tier(draft, role)
        if tier:
            out.append(f"      {role}: {{{', '.join(tier)}}}")
    return out


def _tier(draft: Draft, role: str) -> list[str]:
    switch = getattr(draft, role)
    tier = [f"switch: {_text(switch)}"] if switch else []
    ratios = [part.strip() for part in draft.oversubscription.split(",")] if draft.oversubscription else []
    if len(ratios) > 2 or not all(re.fullmatch(r"\d+(\.\d+)?", ratio) for ratio in ratios):
        _refuse("--oversubscription", "3 or 1,7", draft.oversubscription)
    if role == "leaf":
        tier += [f"oversubscription: {ratios[0]}"] if ratios else []
        if draft.uplinks:
            count, speed = _pair(draft.uplinks, "--uplinks", r"(\d+)(?:@(\d+))?", "32 or 32@800")
            tier.append(f"uplinks: {{count: {count}" + (f", speed_gbps: {speed}}}" if speed else "}"))
        tier += [f"spare_server_ports: {draft.spare}"] if draft.spare else []
    if role == "spine":
        tier += [f"oversubscription: {ratios[1]}"] if len(ratios) > 1 else []
        tier += [f"count: {draft.spines}"] if draft.spines is not None else []
    if role == "core" and draft.cores is not None:
        tier.append(f"count: {draft.cores}")
    return tier


def _pair(text: str, flag: str, form: str, example: str) -> tuple[str, str]:
    match = re.fullmatch(form, text)
    if match is None:
        _refuse(flag, example, text)
    return match[1], match[2] or ""


def _text(text: str) -> str:
    """A word that stays text in YAML, whatever it looks like: to our reader and to others."""
    word = _word(text)
    readers = (yaml.safe_load(word), parse(f"site: {word}", "").data["site"])
    return word if all(isinstance(value, str) for value in readers) else f'"{word}"'


def _word(text: str) -> str:
    """A plain YAML scalar; what is none would change the meaning of the file."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", text):
        _refuse("fabric init", "letters, digits, hyphens and dots", text)
    return text


def _refuse(flag: str, expected: str, got: str) -> NoReturn:
    raise InputError([Diagnostic("FAB104", Place(flag), f"expected {expected}, got {got!r}")])
