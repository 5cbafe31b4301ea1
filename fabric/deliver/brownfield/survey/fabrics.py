"""Which switches are a fabric: what cables join, less what hangs below it, and with planes and rails of the same servers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabric.audit.checks.network import role as shape
from fabric.base.grouping import grouped, grouped_sets
from fabric.deliver.brownfield.survey.devices import Found
from fabric.deliver.brownfield.survey.hosts import ATTACHED, HostPort
from fabric.deliver.brownfield.survey.ports import natural, prefix_of
from fabric.deliver.brownfield.survey.roles import Graph, Seen, leaves, parts, tiers, word_of
from fabric.model.plan import LEAF

ROLE_WORDS = re.compile(r"[-_.]?(?:border-?leaf|super-?spine|leaf|spine|core|switch|tor|bl|lf|sp|leafs|spines)$", re.I)
BELOW = "access"  # behind the name of a fabric that hangs below one of the same name
PURPOSES = {"compute": "backend", "storage": "storage", "frontend": "frontend", "oob": "oob"}  # of NICs → fabric


@dataclass(frozen=True)
class Group:
    """The switches of a fabric, and the places of the fabrics that it hangs below."""

    switches: Sequence[str]
    below: tuple[int, ...] = ()


def fabrics(seen: Seen) -> list[Group]:
    """The switches of each fabric.

    A fabric is what cables join, without leaves that bridge to the leaves of another fabric, and with planes and rails
    that have the same servers.
    """
    joined = seen.graph(seen.devices)
    below = _below(seen, joined)
    cut = {name: {b: n for b, n in near.items() if (name in below) == (b in below)} for name, near in joined.items()}
    pieces = parts(cut)
    whole = _merged([piece for piece in pieces if piece[0] not in below], seen.on)
    groups = [own for part in whole for own in _sites(seen, cut, part)]
    homes = {name: at for at, own in enumerate(groups) for name in own}
    hanging = grouped(
        (tuple(sorted({homes[other] for name in piece for other in joined[name] if other in homes})), piece)
        for piece in pieces
        if piece[0] in below
    )
    under = [Group(own, homes) for homes, same in hanging.items() for own in _merged(same, seen.on)]
    return [*(Group(own) for own in groups), *under]


def routers(seen: Seen, groups: Sequence[Group]) -> list[str]:
    """Devices without a cable to each other, without servers and tunnels, beside fabrics that have them."""
    kinds = [leaves(seen, seen.graph(own.switches)) for own in groups]
    if not any(sure for sure, _ in kinds):
        return []
    alone = [
        own.switches
        for own, (sure, maybe) in zip(groups, kinds, strict=True)
        if not sure
        and (maybe or not any(word_of(name) == LEAF for name in own.switches))
        and not any(seen.graph(own.switches).values())
    ]
    return [name for own in alone for name in own]


def routers_by_name(seen: Seen) -> list[str]:
    """Devices with the name of a router or firewall, without servers and tunnels, beside switches with other names."""
    found = [
        name
        for name, own in seen.devices.items()
        if ATTACHED.search(name) and not word_of(name) and not own.vtep and all(row.attached for row in seen.on.get(name, ()))
    ]
    return found if len(found) * 2 < len(seen.devices) else []


def _below(seen: Seen, joined: Graph) -> set[str]:
    """Switches whose cables to others are all bridged: they route nothing, and hang below leaves."""
    found = set[str]()
    for name in joined:
        own = seen.devices[name]
        if not joined[name] or own.vtep or any(process.neighbors for process in own.facts.bgp.values()):
            continue
        ports = [port for port in own.ports if (name, port) in seen.wiring.far]
        if ports and all(_bridged(own, port) for port in ports):
            found.add(name)
    routed = [name for name in joined if name not in found and joined[name]]
    return found if routed else set()


def _bridged(own: Found, port: str) -> bool:
    interface = own.facts.interfaces.get(port)
    bond = own.facts.interfaces.get(interface.bond.value) if interface and interface.bond else None
    return any(its is not None and bool(its.access or its.trunk) for its in (interface, bond)) or (
        bond is not None and not bond.addresses and not bond.link_local
    )


def _sites(seen: Seen, joined: Graph, part: list[str]) -> list[list[str]]:
    """A component, apart where only links within a tier, to other AS numbers, join parts with spines of their own."""
    own = {name: joined[name] for name in part}
    if len(part) < 4:
        return [part]
    level = tiers(seen, own).level
    between = {
        (a, b)
        for a in part
        for b in own[a]
        if level[a] == level[b]
        and seen.devices[a].asn != seen.devices[b].asn
        and not _others(own, level, a) & _others(own, level, b)
    }
    if not between:
        return [part]
    rest = {a: {b: n for b, n in near.items() if (a, b) not in between} for a, near in own.items()}
    pieces = parts(rest)
    return pieces if all({0, 1} <= {level[name] for name in piece} for piece in pieces) else [part]


def _others(joined: Graph, level: Mapping[str, int], name: str) -> set[str]:
    """Neighbors in other tiers."""
    return {other for other in joined[name] if level[other] != level[name]}


def _merged(pieces: list[list[str]], on: Mapping[str, Sequence[HostPort]]) -> list[list[str]]:
    """Pieces with servers in common by NICs of one purpose, and single switches with like names."""
    parent = list(range(len(pieces)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    shapes = [frozenset(map(shape, piece)) for piece in pieces]
    by_nic = grouped_sets(
        ((row.host, shape(row.label)), at)
        for at, piece in enumerate(pieces)
        for name in piece
        for row in on.get(name, ())
        if row.label and not row.attached
    )
    for same in by_nic.values():
        first, *others = sorted(same)
        for at in others:
            if shapes[at] & shapes[first] or (len(pieces[at]) == len(pieces[first]) == 1):
                parent[root(at)] = root(first)
    single = grouped((shapes[at], at) for at, piece in enumerate(pieces) if len(piece) == 1)
    for kinds, alone in single.items():
        homes = [at for at, piece in enumerate(pieces) if len(piece) > 1 and kinds <= shapes[at]]
        for at in alone:
            parent[root(at)] = root(homes[0] if len(homes) == 1 else alone[0])
    groups = grouped((root(at), piece) for at, piece in enumerate(pieces))
    return [sorted((name for piece in own for name in piece), key=natural) for own in groups.values()]


def names(site: str, groups: Sequence[Group], on: Mapping[str, Sequence[HostPort]]) -> list[str]:
    """A name for each fabric: what the names of its switches begin with behind the site's, else the purpose of its NICs."""
    result: list[str] = []
    for group in groups:
        own = group.switches
        purposes = Counter(
            fabric
            for name in own
            for row in on.get(name, ())
            for nic, fabric in PURPOSES.items()
            if row.label.startswith(nic)
        )
        usual = max(purposes, key=lambda key: purposes[key]) if purposes else "fabric"
        name = re.sub(r"[^a-z0-9-]+", "-", _prefix(site, own).lower()).strip("-") or usual
        name = name if name[0].isalpha() else f"{usual}-{name}"
        if name in result and group.below:
            name = f"{name}-{BELOW}"
        tried = (name, *(f"{name}-{number}" for number in range(2, len(groups) + 2)))
        result.append(next(one for one in tried if one not in result))
    return result


def _prefix(site: str, own: Sequence[str]) -> str:
    """What names of switches have in common in front of their roles and numbers."""
    prefix, alike = prefix_of(own), len(set(map(shape, own))) == 1
    whole = len(own) > 1 and all(not f"{prefix[-1:]}{name[len(prefix) :]}"[:2].isalnum() for name in own)
    if len(own) > 1 and not whole and not alike and (cut := re.match(r"(.*)[-_.]", prefix)):
        prefix, whole = cut[1], True
    if not prefix.rstrip("-_.") and len(own) > 2:  # most of them may have one
        firsts = Counter(re.split(r"[-_.]", name)[0] for name in own if re.search(r"[-_.]", name))
        usual, count = max(firsts.items(), key=lambda row: row[1], default=("", 0))
        prefix, whole = (usual, True) if count * 2 > len(own) and usual != site and not word_of(usual) else (prefix, whole)
    prefix = prefix.rstrip("-_.") if whole else re.sub(r"[-_.]*\d*$", "", prefix)
    prefix = re.sub(rf"^{re.escape(site)}[-_.]", "", prefix)
    return ROLE_WORDS.sub("", prefix) or (prefix if alike else "")
