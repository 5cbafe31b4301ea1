"""Which port of the front panel a name of a network OS is: how its target names ports, read backwards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from fabric.audit.checks.ends import is_management
from fabric.base.grouping import grouped, grouped_sets
from fabric.hardware import catalog
from fabric.hardware.catalog.models import ETHERNET_GBPS, SwitchModel, generic_switch
from fabric.model.facts import DEFAULT_VRF, MANAGEMENT, Facts, Interface
from fabric.model.plan import PortRef
from fabric.nos.target import cage as cage_name, installed, target

MAX_CAGES = 128  # of a switch that is not known
CAGES_GBPS = (25, 100, 400, 800)  # with 1, 4, 8 and 8 lanes, which some network OSes count in names
DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[str, int], ...]:
    """Sorts `swp2` before `swp10`."""
    parts = DIGITS.split(name)
    return tuple((text, int(number or 0)) for text, number in zip(parts[::2], (*parts[1::2], ""), strict=True))


def prefix_of(names: Sequence[str]) -> str:
    """What all of some names begin with."""
    first, last = min(names), max(names)
    return first[: next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))]


@cache
def port_of(nos: str, interface: str) -> str:
    """The port of an interface: `Ethernet1` of the subinterface `Ethernet1.11`; "" for what is no port."""
    name = interface.partition(".")[0]
    record = installed(nos)
    pattern = record.port if record else r"[A-Za-z]+[\d/:-]*\d"
    return name if re.fullmatch(pattern, name) and not is_management(name) else ""


def port_names(facts: Facts) -> list[str]:
    """The ports of a device in order, without cages whose parts are ports."""
    names = dict.fromkeys(port for name in facts.interfaces if (port := port_of(facts.nos, name)))
    parents = {cage_name(facts.nos, name) for name in names if cage_name(facts.nos, name) != name}
    split = {name for name in parents & names.keys() if not _in_use(facts, name)}
    return sorted(names.keys() - split, key=natural)


def _in_use(facts: Facts, name: str) -> bool:
    """Whether a port whose name others begin with is one of them: the first lane of a cage, not the cage."""
    its = facts.interfaces.get(name)
    return its is not None and bool(its.addresses or its.bond or its.access or its.trunk or its.link_local)


def speeds(facts: Facts, names: Iterable[str]) -> dict[str, int]:
    """Gb/s of the ports that state it, by themselves, by the breakout of their cage or by their names."""
    stated: dict[str, int] = {}
    record = installed(facts.nos)
    by_name = record.port_speeds if record is not None else {}
    for name in names:
        interface, cage = facts.interfaces.get(name), facts.cages.get(cage_name(facts.nos, name))
        if interface is not None and interface.speed_gbps is not None:
            stated[name] = interface.speed_gbps.value
        elif cage is not None and len(cage.speeds) == 1:
            stated[name] = next(iter(cage.speeds))
        elif beginning := next((text for text in by_name if name.startswith(text)), ""):
            stated[name] = by_name[beginning]
    return stated


def panel(facts: Facts, model: str, names: Iterable[str], gbps: Mapping[str, int]) -> dict[str, PortRef]:
    """Name → port of the front panel.

    Several splits of a cage may give a name: the one counts that has the stated speed, else the smallest with every name
    of the cage. Speeds that nothing states are those of the split, of hardware that is not known 0.

    Args:
        model: name in the catalog, "" for hardware that is not known.
        gbps: speed by name.
    """
    names = list(names)
    table, every = ports_named(facts.nos, model) if model else {}, _unknown(facts.nos)
    if sum(name in table for name in names) < len(names):
        table = {**every, **table}
    alike = {tuple(DIGITS.findall(name)): refs for name, refs in table.items()}
    table = {
        **table,
        **{name: alike[key] for name in names if name not in table and (key := tuple(DIGITS.findall(name))) in alike},
    }
    cages = grouped((table[name][0].cage, name) for name in names if name in table)
    found: dict[str, PortRef] = {}
    for cage, inside in cages.items():
        stated = facts.cages.get(cage_name(facts.nos, inside[0]))
        ports = stated.ports.value if stated is not None and stated.ports is not None else 0
        speeds_here = {gbps[name] for name in inside if name in gbps}
        # A breakout that a statement has and the model does not shares the speed of the cage.
        entry = catalog.switch(model) if ports else None
        whole = entry.group_of(cage).speed_gbps if entry is not None and cage <= entry.cages else 0
        known = all(any(ref.split == ports for ref in table[name]) for name in inside)
        shared = {(ports, whole // ports)} if whole and not known else set()
        others = {
            name: [
                its for its in every.get(name, ()) if its.speed_gbps in speeds_here or (its.split, its.speed_gbps) in shared
            ]
            for name in inside
        }
        refs = _of_cage(cage, {name: (table[name], others[name]) for name in inside}, speeds_here, ports)
        found |= {name: replace(ref, speed_gbps=gbps.get(name, ref.speed_gbps if model else 0)) for name, ref in refs.items()}
    if not cages and len(set(names)) > 1:
        found = {name: PortRef(at, 0, 1, gbps.get(name, 0)) for at, name in enumerate(names, 1)}
    return found


def _of_cage(
    cage: int, names: Mapping[str, tuple[Sequence[PortRef], Sequence[PortRef]]], speeds_here: set[int], ports: int
) -> dict[str, PortRef]:
    """The ports of a cage by the split that suits all of its names.

    Args:
        names: → what the model has of that name, and what other models have at the stated speed.
        speeds_here: that its ports state.
        ports: that a statement splits it into, 0 for none.
    """
    known = {(ref.split, ref.speed_gbps) for refs, _ in names.values() for ref in refs}
    by_split = grouped_sets(
        ((ref.split, ref.speed_gbps), name) for name, both in names.items() for ref in (*both[0], *both[1])
    )
    whole = [kind for kind, having in by_split.items() if len(having) == len(names)] or list(by_split)

    def rank(kind: tuple[int, int]) -> tuple[bool, bool, int, bool, int, int]:
        split, speed = kind
        wrong = bool(speeds_here) and speed not in speeds_here
        return 0 < ports != split, wrong, abs(split - len(names)) if speeds_here else 0, kind not in known, split, -speed

    split, speed = min(whole, key=rank)
    found: dict[str, PortRef] = {}
    for name, both in names.items():
        refs = [*both[0], *both[1]]
        ref = next((ref for ref in refs if (ref.split, ref.speed_gbps) == (split, speed)), refs[0])
        found[name] = replace(ref, cage=cage)
    return found


@cache
def ports_named(nos: str, model: str) -> Mapping[str, tuple[PortRef, ...]]:
    """Name → ports that have it, of a switch of the catalog."""
    entry = catalog.switch(model)
    if entry is None:
        return {}
    splits = (
        (cage, speed, split) for cage in range(1, entry.cages + 1) for speed, split in entry.group_of(cage).splits.items()
    )
    refs = (PortRef(cage, sub, split, speed) for cage, speed, split in splits for sub in range(split))
    return {key: tuple(same) for key, same in grouped(_named(nos, entry, refs, model)).items()}


def _named(nos: str, model: SwitchModel, refs: Iterable[PortRef], name: str) -> list[tuple[str, PortRef]]:
    """Names of some ports; [] where the network OS does not know the board."""
    try:
        return [(target(nos).port_name(model, ref, name), ref) for ref in refs]
    except (KeyError, ValueError, IndexError):
        return []


@cache
def _unknown(nos: str) -> Mapping[str, tuple[PortRef, ...]]:
    """The same of any switch whose ports the network OS names by their cages."""
    if installed(nos) is None:
        return {}
    pairs: list[tuple[str, PortRef]] = []
    for speed in CAGES_GBPS:
        model = generic_switch(f"{MAX_CAGES}x{speed}g")
        splits = [(n, gbps) for n in (1, 2, 4, 8) for gbps in ETHERNET_GBPS if n * gbps <= speed and (n == 1 or speed >= 100)]
        refs = [PortRef(cage, sub, n, gbps) for cage in range(1, MAX_CAGES + 1) for n, gbps in splits for sub in range(n)]
        pairs += _named(nos, model, refs, "") if model is not None else ()
    return {key: tuple(dict.fromkeys(refs)) for key, refs in grouped(pairs).items()}


# --- Tables of tenants on a port ------------------------------------------------------------------------------


def with_subinterfaces(facts: Facts, name: str) -> list[Interface]:
    """A port and its subinterfaces, whose names have the numbers of the port and their tag."""
    own = facts.interfaces.get(name)
    numbers = DIGITS.findall(name)
    found = [own] if own is not None else []
    for one in facts.interfaces.values():
        if one.tag is not None and DIGITS.findall(one.name) == [*numbers, str(one.tag.value)]:
            found.append(one)
    return found


def tenant_of(nos: str, vrf: str) -> str:
    """The tenant of a VRF, by the pattern of the network OS; "" for the default table and that of management."""
    if vrf in (DEFAULT_VRF, MANAGEMENT, "default"):
        return ""
    idiom = target(nos).idiom
    before, _, after = (idiom.vrf if idiom else "{}").partition("{}")
    return vrf[len(before) : len(vrf) - len(after)] if vrf.startswith(before) and vrf.endswith(after) else vrf
