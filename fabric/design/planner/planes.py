"""NICs on planes: the modes that a NIC has, and the names of its ports by rail and plane."""

from __future__ import annotations

import re
from dataclasses import replace

from fabric.base.diagnostics import Report, show
from fabric.base.text import listed
from fabric.design.intent.site import Fabric
from fabric.hardware.catalog import media
from fabric.model.plan import FabricSpec, GroupSpec
from fabric.model.plan.nic_places import nic_places

INTERFACE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,14}")  # as Linux takes them, 15 characters
DEVICE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}")


def with_names(spec: FabricSpec, intent: Fabric, report: Report) -> FabricSpec:
    """The fabric with the stated names of NIC ports. Modes and names that cannot be are reported."""
    groups = []
    for at, group in enumerate(spec.groups):
        if at >= len(intent.servers):  # leaves without servers
            groups.append(group)
            continue
        errors = len(report.errors)
        _check_mode(spec, at, group, intent.servers[at].plane_mode, report)
        _check_pci(spec, at, group, report)
        groups.append(group if len(report.errors) > errors else _named(spec, at, group, intent, report))
    return replace(spec, groups=tuple(groups))


def _check_mode(spec: FabricSpec, at: int, group: GroupSpec, mode: str | None, report: Report) -> None:
    if mode is None:
        return
    place, planes, model = spec.at("servers", at, "plane_mode"), spec.planes, group.nic.model
    known = media.cages().nic(model)
    modes = known.plane_modes if known else ()
    if mode == "none":
        if planes > 1:
            message = f"plane_mode: expected swplb or hwplb on a fabric of {planes} planes, got none"
            report.error("FAB109", place, message, "or remove `planes` of the topology: with `none` a NIC is on one plane")
    elif planes == 1:
        message = f"plane_mode: expected none on a fabric of one plane, got {mode}"
        report.error("FAB109", place, message, "state `topology: {planes: 2}`, or remove `plane_mode`")
    elif mode not in modes:
        has = f"modes of this NIC ({listed(list(modes))})" if modes else "none, as no mode of this NIC is known"
        message = f"plane_mode: expected {has}, got {mode} of NIC model {show(model)}"
        report.error("FAB109", place, message, "ConnectX-8 and ConnectX-9 have swplb and hwplb, older ones a single plane")
    elif group.nic.ports != planes:
        message = (
            f"plane_mode {mode}: expected a port of every NIC on each of the {planes} planes, got {group.nic.ports} ports"
        )
        report.error("FAB109", place, message, f"state `nic_breakout: {planes}x…` where the NIC has it, or other `planes`")


def _check_pci(spec: FabricSpec, at: int, group: GroupSpec, report: Report) -> None:
    addresses = group.nic_pci
    twice = next((address for address in addresses if addresses.count(address) > 1), "")
    if addresses and (twice or len(addresses) != group.nic.count):
        got = f"{twice} twice" if twice else str(len(addresses))
        message = f"nic_pci: expected an address of its own for each of the {group.nic.count} NICs, got {got}"
        report.error("FAB109", spec.at("servers", at, "nic_pci"), message, "`lspci -D` of a server lists them")


def _named(spec: FabricSpec, at: int, group: GroupSpec, intent: Fabric, report: Report) -> GroupSpec:
    names = intent.servers[at].nic_names
    nic, changes = group.nic, dict[str, tuple[str, ...]]()
    places = nic_places(spec, group) if names.interface or names.rdma else ()
    for key, field, pattern, form in (
        ("interface", "interfaces", names.interface, INTERFACE),
        ("rdma", "rdma_devices", names.rdma, DEVICE),
    ):
        if pattern is None:
            continue
        where = spec.at("servers", at, "nic_names", key)
        joined = key == "rdma" and group.joins_planes
        its = tuple(place.named(pattern) for place in places if not (joined and place.port))
        twice = next((name for name in its if its.count(name) > 1), "")
        wrong = next((name for name in its if not form.fullmatch(name)), "")
        if nic.functions > 1:
            message = f"nic_names.{key}: expected NICs with one interface on each port, got {nic.functions}"
            report.error(
                "FAB109", where, message, "state `interfaces` and `rdma_devices` of the NICs under `catalog.servers`"
            )
        elif twice:
            message = f"nic_names.{key}: expected a name of its own for each {'NIC' if joined else 'port'}, got {twice} twice"
            report.error("FAB109", where, message, "use {nic} or {rail}, and {plane} or {port} where a NIC has several ports")
        elif wrong or (joined and ("{plane" in pattern or "{port" in pattern)):
            expected = "a name without {plane}, as hwplb joins the planes" if joined else "letters, digits, - and _"
            most = " (at most 15 characters)" if key == "interface" else ""
            report.error("FAB109", where, f"nic_names.{key}: expected {expected}{most}, got {wrong or pattern}")
        else:
            changes[field] = its
    return replace(group, nic=nic.replaced(**changes)) if changes else group
