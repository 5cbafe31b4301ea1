"""Links between switches that an intent states: removed ones of the rule, and added ones.

A fabric that was cabled by hand follows a rule but for a few cables. These are listed, so that all others still follow from
the sizes. Added links keep their ports and addresses when the fabric grows; if growth needs such a port, it is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from ipaddress import ip_address

import numpy as np
from netaddr import IPNetwork
from numpy.typing import NDArray

from fabric.base.diagnostics import Place, Report, nearest
from fabric.model.plan import (
    BETWEEN_SWITCHES,
    CORE,
    KINDS,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    PEER_LINK,
    SPINE,
    SPINE_CORE,
    SWITCH_ROLES,
    Area,
    Device,
    FabricSpec,
    Ints,
    Links,
    concatenate,
)
from fabric.model.settings.addressing import AddedLink, LinkEnd, end_of

CODE = "FAB158"
_KIND_OF = {(LEAF, SPINE): LEAF_SPINE, (SPINE, CORE): SPINE_CORE, (LEAF, LEAF): LEAF_LEAF}


class _Refused(Exception):
    """A stated link that the plan cannot have: message and hint."""


def apply(spec: FabricSpec, devices: Sequence[Device], links: Links, report: Report) -> tuple[Links, Ints]:
    """The links without those that are removed, then those that are added; and the rows of the latter, [entries of `add`].

    Mistakes go to the report; the row of an entry with one is -1.
    """
    stated = spec.links
    if not stated.any:
        return links, np.empty(0, np.int64)
    wiring = _Wiring.of(spec, devices, links)
    gone = []
    for at, end in enumerate(stated.remove):
        try:
            gone.append(wiring.between_switches(end))
        except _Refused as error:
            report.error(CODE, spec.at("links", "remove", at), f"links.remove: {error.args[0]}", error.args[1])
    kept = np.setdiff1d(np.arange(len(links)), np.array(gone, dtype=np.int64))
    rule, links = links, _rows(links, kept)
    wiring = _Wiring.of(spec, devices, links)
    parts, rows = [links], np.full(len(stated.add), -1, dtype=np.int64)
    for at, entry in enumerate(stated.add):
        try:
            parts.append(wiring.added(entry, rule))
            rows[at] = len(links) + len(parts) - 2
        except _Refused as error:
            report.error(CODE, _place(spec, at, error), f"links.add: {error.args[0]}", error.args[1])
    return concatenate(parts), rows


def address(
    spec: FabricSpec,
    devices: Sequence[Device],
    links: Links,
    added: Ints,
    area: Area | None,
    subnet: NDArray[np.object_],
    *,
    report: Report,
) -> None:
    """Sets the first address of every added link: that of its stated subnet, else the entry's of the area."""
    if area is None:  # unnumbered
        for at, entry in enumerate(spec.links.add):
            if entry.subnet:
                hint = "remove it, or set `underlay: {addressing: ipv4}`"
                report.error(
                    CODE, spec.at("links", "add", at, "subnet"), "links.add: expected none on unnumbered links", hint
                )
        return
    length, inner = spec.underlay.link_length, int(spec.underlay.link_step == 4)
    owner = {int(low): link for link, low in enumerate(subnet.tolist()) if low >= 0}
    for at, (entry, row) in enumerate(zip(spec.links.add, added.tolist(), strict=True)):
        if row < 0 or not area.blocks:
            continue
        place = spec.at("links", "add", at, "subnet")
        if links.kind[row] == PEER_LINK:
            if entry.subnet:
                report.error(CODE, place, "links.add: expected none on a peer link, which is not routed", "remove it")
            continue
        if entry.subnet and not entry.subnet.endswith(f"/{length}"):
            report.error(
                CODE, place, f"links.add: expected a /{length} subnet, got {entry.subnet}", "as the other links have"
            )
            continue
        low = (IPNetwork(entry.subnet).first if entry.subnet else area.number(at)) + inner
        other = owner.setdefault(low, row)
        if other != row:
            ends = " and ".join(devices[int(index[other])].name for index in (links.a, links.b))
            text = f"links.add: {ip_address(low - inner)}/{length} is the subnet of the link between {ends}"
            report.error(CODE, place, text, "state a `subnet` that is free")
            continue
        subnet[row] = low


def _place(spec: FabricSpec, at: int, error: _Refused) -> Place:
    """Where the mistake of an entry stands: the end that it is about, else the entry."""
    return spec.at("links", "add", at, *error.args[2:])


def _rows(links: Links, rows: NDArray[np.int64]) -> Links:
    return Links(**{item.name: getattr(links, item.name)[rows] for item in fields(Links)})


@dataclass(frozen=True, kw_only=True)
class _Wiring:
    """The links of a fabric by their ports."""

    spec: FabricSpec
    links: Links
    by_name: Mapping[str, Device]
    at_port: dict[tuple[int, int, int], int]  # device, cage, port of the cage → link
    split_of: dict[tuple[int, int], tuple[int, int]]  # device, cage → into how many ports it is split, and their speed
    further: Counter[int]  # lower switch → links that were added to it

    @classmethod
    def of(cls, spec: FabricSpec, devices: Sequence[Device], links: Links) -> _Wiring:
        at_port, split_of = {}, {}
        for end in ("a", "b"):
            columns = (getattr(links, name).tolist() for name in (end, f"{end}_cage", f"{end}_sub", f"{end}_split"))
            for link, (device, cage, sub, split) in enumerate(zip(*columns, strict=True)):
                at_port[device, cage, sub] = link
                split_of[device, cage] = split, int(links.speed_gbps[link])
        switches = {device.name: device for device in devices if device.role in SWITCH_ROLES}
        return cls(spec=spec, links=links, by_name=switches, at_port=at_port, split_of=split_of, further=Counter())

    def switch(self, end: LinkEnd) -> Device:
        """The switch of an end."""
        name, _, _ = end_of(end)
        if name not in self.by_name:
            raise _Refused(f"unknown switch '{name}'", nearest(name, self.by_name))
        return self.by_name[name]

    def between_switches(self, end: LinkEnd) -> int:
        """The link between two switches at a port."""
        device, (_, cage, sub) = self.switch(end), end_of(end)
        link = self.at_port.get((device.index, cage, sub))
        if link is None or self.links.kind[link] not in (*BETWEEN_SWITCHES, PEER_LINK):
            got = "one without a link" if link is None else f"a {KINDS[self.links.kind[link]]} link"
            hint = "`fabric generate` lists the ports of every link in links.csv"
            raise _Refused(f"expected a port with a link to another switch, got {got}: {end}", hint)
        return link

    def added(self, entry: AddedLink, rule: Links) -> Links:
        """One row for an added link; `rule`: the links without what is stated."""
        order = (LEAF, SPINE, CORE)
        (lower, near), (upper, far) = sorted(
            ((self.switch(end), at) for at, end in enumerate(entry.ends)), key=lambda item: order.index(item[0].role)
        )
        if lower is upper:
            text = f"expected ports of two switches, got two of {lower.name}: {', '.join(entry.ends)}"
            raise _Refused(text, "state the other switch at one end")
        kind = _KIND_OF.get((lower.role, upper.role))
        if kind == LEAF_LEAF and self.spec.kind != "collapsed":
            kind = PEER_LINK
        if kind is None:
            pair = self.spec.kind == "collapsed"
            tiers = "the two leaves of a pair" if pair else "switches of adjacent tiers, or two leaves"
            raise _Refused(f"expected {tiers}, got a {lower.role} and a {upper.role}: {', '.join(entry.ends)}", "")
        of_kind = rule.kind == kind
        alike = rule.kind == LEAF_SPINE if kind == PEER_LINK else of_kind
        speed = entry.speed_gbps or int(rule.speed_gbps[alike].max(initial=0))
        if not speed:
            raise _Refused(
                f"{KINDS[kind]}: expected `speed_gbps`, as the rule has no such link", "state the speed of the link"
            )
        ports = [self._port(device, entry.ends[at], speed, at) for device, at in ((lower, near), (upper, far))]
        same = of_kind & (rule.a == lower.index)
        column = int(rule.column[of_kind].max(initial=-1)) + 1 + self.further[lower.index]
        row = int(rule.row[same][0]) if same.any() else lower.number - 1
        self.further[lower.index] += 1
        values = [kind, speed, lower.index, *ports[0], upper.index, *ports[1], row, column]
        return Links(
            **{item.name: np.array([value], dtype=np.int32) for item, value in zip(fields(Links), values, strict=True)}
        )

    def _port(self, device: Device, end: LinkEnd, speed: int, at: int) -> tuple[int, int, int]:
        """Takes a port: its cage, its place in the cage, and into how many ports the cage is split."""
        model = {CORE: self.spec.core, SPINE: self.spec.spine, LEAF: self.spec.leaf}[device.role].model
        _, cage, sub = end_of(end)
        hint = "ports count from 1, as on the front panel"
        if cage > model.cages:
            raise _Refused(f"expected a port within 1 to {model.cages} of {device.model}, got {cage}", hint, "ends", at)
        split = model.group_of(cage).splits.get(speed)
        if split is None:
            raise _Refused(f"expected a port of {device.model} with {speed}G, got {cage}", "", "ends", at)
        if sub >= split:
            text = f"expected a part of port {cage} within 1 to {split} at {speed}G, got {sub + 1}"
            raise _Refused(text, hint, "ends", at)
        if (device.index, cage, sub) in self.at_port:
            raise _Refused(f"{end} has a link", "remove that link with `links: {remove: …}`", "ends", at)
        used = {near: self.split_of.get((device.index, near), (0, 0)) for near in (cage - 1, cage, cage + 1)}
        if used[cage] not in ((0, 0), (split, speed)):
            text = f"{end}: the cage is split into {used[cage][0]} ports of {used[cage][1]}G, not {split} of {speed}G"
            raise _Refused(text, "use another port", "ends", at)
        if model.is_wide(used[cage - 1][0]) or (model.is_wide(split) and (used[cage + 1][0] or cage % 2 == 0)):
            raise _Refused(f"{end}: a breakout disables the cage beside it", "use another port", "ends", at)
        self.at_port[device.index, cage, sub] = -1
        self.split_of[device.index, cage] = split, speed
        return cage, sub, split
