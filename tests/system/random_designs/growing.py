"""Growth of a design, size by size with its lock: what moves must be announced.

The old and the new plan are compared by `links.csv` and by the numbers of every switch and tenant, without the code that
announces. Announced is what `fabric plan NEW --against OLD` lists, a warning of the plan, and FAB185 of `fabric generate`.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.generate import moved_links
from fabric.configs.site_files import links_csv, site_files
from fabric.design.intent.intent import Intent
from fabric.design.moves import Changes
from fabric.model.plan import Plan
from tests.system.random_designs.drawing import Design

RENUMBERS = "FAB183"  # warning of the plan
ALONE = "FAB400"  # note of a fabric without spines
PROMISE = re.compile(
    r"up to ([\d,]+) servers? nothing is cabled again; "
    r"(?:([\d,]+) servers take ([\d,]+) lea(?:f|ves), ([\d,]+) spines?|more need)"
)
MAX_SERVERS = 32  # that a design grows to by doubling
MAX_PROMISED = 130  # servers that a promise is tried with

Key = tuple[str, ...]
Moved = tuple[Key, str, object, object]  # what, field ("": all of what is gone), before, after


@dataclass(frozen=True)
class Grown:
    """What came of the growth of a design."""

    sizes: tuple[int, ...] = ()  # that were planned, the first one included
    refused: tuple[str, ...] = ()
    unannounced: tuple[str, ...] = ()
    announced: int = 0  # facts that moved and were
    last: str = ""  # file of the largest size


def sizes(count: int) -> Iterator[int]:
    """The sizes that a group of servers grows to, one after the other."""
    yield count + 1
    if count + 1 < 2 * count <= MAX_SERVERS:
        yield 2 * count


def with_count(intent: Mapping[str, Any], name: str, count: int) -> dict[str, Any]:
    """The intent with another number of servers in the groups of that name."""
    grown = deepcopy(dict(intent))
    for fabric in grown["fabrics"].values():
        for group in _groups(fabric):
            if group.get("name", group["model"]) == name:
                group["count"] = count
                if "planned" in group:
                    group["planned"] = max(group["planned"], count)
        if "servers" in fabric.get("planned", {}):
            every = sum(group["count"] for group in _groups(fabric))
            fabric["planned"]["servers"] = max(fabric["planned"]["servers"], every)
    return grown


def _groups(fabric: dict[str, Any]) -> list[dict[str, Any]]:
    found = fabric["servers"]
    return found if isinstance(found, list) else [found]


def grow(design: Design, folder: Path, group: int = 0) -> Grown:
    """Grows a design whose files are in the folder, by the servers of one group."""
    groups = _groups(next(iter(design.intent["fabrics"].values())))
    first = groups[group % len(groups)]
    name = first.get("name", first["model"])
    planned, refused, announced = [first["count"]], list[str](), 0
    old_file = folder / f"{design.name}.yaml"
    before = pipeline.load(old_file, folder / "generated")
    old = pipeline.plan(before)
    unannounced = list(_promised(design, name, first["count"], old, folder))
    for count in sizes(first["count"]):
        path = folder / f"{design.name}-{count}.yaml"
        path.write_text(Design(design.name, with_count(design.intent, name, count)).text, encoding="utf-8")
        try:
            intent = pipeline.load(path, folder / "generated")
            changes = pipeline.moves(intent, str(old_file))
            new = pipeline.plan(intent)
        except InputError as error:
            refused += [f"{count} servers: {one.code} {one.message}" for one in error.diagnostics]
            break
        moved, recabled = list(differences(old, new)), moved_links(intent.folder, new)
        for file, data in site_files(new):  # the lock, and the links that the next size is compared with
            (intent.folder / file).write_bytes(data)
        announced += len(moved)
        unannounced += [f"{planned[-1]} to {count} servers: {text}" for text in judged(moved, changes, new, recabled)]
        planned.append(count)
        old, old_file = new, path
    last = old_file.name if len(planned) > 1 else ""
    return Grown(tuple(planned), tuple(refused), tuple(unannounced), announced, last)


# --- what moves -------------------------------------------------------------------------------------------------


def facts(plan: Plan) -> dict[Key, dict[str, object]]:
    """What is in service: cables by their lower end, numbers of switches, VNIs and VLANs of tenants."""
    found: dict[Key, dict[str, object]] = {}
    for row in csv.DictReader(links_csv(plan).splitlines()):
        kept = {key: row[key] for key in ("b", "b_port", "a_address", "b_address", "speed_gbps", "tenant", "vlan", "bond")}
        found["link", row["fabric"], row["a"], row["a_port"]] = kept
    for name, fabric in plan.fabrics.items():
        for device in fabric.switches:
            found["switch", name, device.name] = {
                "role": device.role,
                "model": device.model,
                "asn": device.asn,
                "loopback": int(fabric.loopback[device.index]),
                "management": int(fabric.management[device.index]),
                "vtep": fabric.tenancy.vtep.get(device.index),
                "shared vtep": fabric.tenancy.pair_vtep.get(device.index),
            }
        for tenant in fabric.tenancy.tenants:
            found["tenant", name, tenant.name] = {"vni": tenant.vni}
            for network in tenant.networks:
                found["network", name, tenant.name, network.name] = {"vlan": network.vlan, "vni": network.vni}
    return found


def differences(old: Plan, new: Plan) -> Iterator[Moved]:
    """What is in service and no longer the same."""
    before, after = facts(old), facts(new)
    for key, fields in before.items():
        if key not in after:
            yield key, "", fields, None
            continue
        for field, value in fields.items():
            if after[key][field] != value:
                yield key, field, value, after[key][field]


def judged(moved: list[Moved], changes: Changes, new: Plan, recabled: int) -> Iterator[str]:
    """What moved and is not announced, and a cable that is announced and does not move.

    `recabled` is the number of links in the warning FAB185, which there is none of for 0.
    """
    cables = {(device, port.removeprefix("port ")) for step in changes.steps for cable in step.cables if cable.old
              for device, port in [cable.lower]}  # fmt: skip
    numbers = " ".join(changes.renumbered) + " ".join(one.message for one in new.warnings if one.code == RENUMBERS)
    ends = {key[2:] for key, field, *_ in moved if key[0] == "link" and field in ("", "b", "b_port")}
    for key, field, value, now in moved:
        what = f"{' '.join(key)}: {field or 'gone'}: {value} to {now}"
        if key[0] == "link" and (field in ("", "b", "b_port") or key[2:] in ends):
            if key[2:] not in cables:
                yield what
        elif key[0] == "link" and field.endswith("_address"):
            if f"{key[1]}: subnet changes" not in numbers:
                yield what
        elif key[0] == "switch" and field in ("asn", "loopback", "management", "model"):
            if f"{key[2]}: " not in numbers:
                yield what
        elif key[0] == "switch" and not field:
            if key[2] not in changes.removed:
                yield what
        else:
            yield what
    for device, port in sorted(cables - ends):
        yield f"{device} {port} is announced to move, and does not"
    if len(ends) != recabled:
        yield f"{len(ends)} links move, FAB185 says {recabled}"


# --- what the note of a fabric without spines promises ----------------------------------------------------------


def _promised(design: Design, name: str, count: int, plan: Plan, folder: Path) -> Iterator[str]:
    """Up to the size of the note nothing is cabled again; the next size has the switches that it states."""
    notes = [one for one in plan.warnings if one.code == ALONE]
    if len(design.intent["fabrics"]) > 1 or isinstance(next(iter(design.intent["fabrics"].values()))["servers"], list):
        return
    for note in notes:
        match = PROMISE.search(note.hint)
        if match is None:
            yield f"{ALONE}: {note.hint}"
            continue
        most, then, leaves, spines = (int(text.replace(",", "")) if text else None for text in match.groups())
        assert most is not None
        if most > MAX_PROMISED or most < count:
            continue
        largest = _planned(design, name, most, folder)
        if isinstance(largest, str):
            yield f"{ALONE} promises {most} servers: {largest}"
        elif moved := [key for key, *_ in differences(plan, largest) if key[0] == "link"]:
            yield f"{ALONE} promises that nothing is cabled again up to {most} servers: {moved[0]}"
        if then is not None and then <= MAX_PROMISED:
            next_size = _planned(design, name, then, folder)
            got = next_size if isinstance(next_size, str) else _counts(next_size)
            if got != (leaves, spines):
                yield f"{ALONE} promises {leaves} leaves and {spines} spines for {then} servers, got {got}"


def _counts(plan: Plan) -> tuple[int, int]:
    (fabric,) = plan.fabrics.values()
    roles = [device.role for device in fabric.switches]
    return roles.count("leaf"), roles.count("spine")


def _planned(design: Design, name: str, count: int, folder: Path) -> Plan | str:
    """The plan of another size with the lock, or why there is none."""
    path = folder / f"{design.name}-promise.yaml"
    path.write_text(json.dumps(with_count(design.intent, name, count)), encoding="utf-8")
    try:
        intent: Intent = pipeline.load(path, folder / "generated")
        return pipeline.plan(intent)
    except InputError as error:
        return "; ".join(one.message for one in error.diagnostics)
