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
from fabric.model.facts import Facts
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
    """Gb/s of the ports that state it, by themselves or by the breakout of their cage."""
    stated: dict[str, int] = {}
    for name in names:
        interface, cage = facts.interfaces.get(name), facts.cages.get(cage_name(facts.nos, name))
        if interface is not None and interface.speed_gbps is not None:
            stated[name] = interface.speed_gbps.value
        elif cage is not None and len(cage.speeds) == 1:
            stated[name] = next(iter(cage.speeds))
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
    table = _names(facts.nos, model) if model else {}
    if not table or sum(name in table for name in names) < len(names):
        table = {**_unknown(facts.nos), **table}
    cages = grouped((table[name][0].cage, name) for name in names if name in table)
    found: dict[str, PortRef] = {}
    for cage, inside in cages.items():
        stated = facts.cages.get(cage_name(facts.nos, inside[0]))
        ports = stated.ports.value if stated is not None and stated.ports is not None else None
        refs = _of_cage(cage, {name: table[name] for name in inside}, gbps, ports)
        found |= refs if model else {name: replace(ref, speed_gbps=gbps.get(name, 0)) for name, ref in refs.items()}
    if not cages and len(set(names)) > 1:
        found = {name: PortRef(at, 0, 1, gbps.get(name, 0)) for at, name in enumerate(names, 1)}
    return found


def _of_cage(
    cage: int, names: Mapping[str, tuple[PortRef, ...]], gbps: Mapping[str, int], ports: int | None
) -> dict[str, PortRef]:
    by_split = grouped_sets(((ref.split, ref.speed_gbps), name) for name, refs in names.items() for ref in refs)
    whole = [kind for kind, having in by_split.items() if len(having) == len(names)] or list(by_split)
    speeds_here = {gbps[name] for name in names if name in gbps}

    def rank(kind: tuple[int, int]) -> tuple[bool, bool, bool, int, int]:
        split, speed = kind
        return (
            ports is not None and ports > 0 and split != ports,
            bool(speeds_here) and speed not in speeds_here,
            len(names) > split,
            split,
            -speed,
        )

    split, speed = min(whole, key=rank)
    found: dict[str, PortRef] = {}
    for name, refs in names.items():
        ref = next((ref for ref in refs if (ref.split, ref.speed_gbps) == (split, speed)), refs[0])
        found[name] = PortRef(cage, ref.sub, ref.split, gbps.get(name, ref.speed_gbps))
    return found


@cache
def _names(nos: str, model: str) -> Mapping[str, tuple[PortRef, ...]]:
    """Name → ports that have it, of a switch of the catalog."""
    entry = catalog.switch(model)
    return _table(nos, entry, model) if entry is not None else {}


def _table(nos: str, model: SwitchModel, name: str) -> dict[str, tuple[PortRef, ...]]:
    pairs: list[tuple[str, PortRef]] = []
    for cage in range(1, model.cages + 1):
        for speed, split in model.group_of(cage).splits.items():
            for sub in range(split):
                ref = PortRef(cage, sub, split, speed)
                try:
                    pairs.append((target(nos).port_name(model, ref, name), ref))
                except (KeyError, ValueError, IndexError):  # the network OS does not know the board
                    return {}
    return {key: tuple(refs) for key, refs in grouped(pairs).items()}


@cache
def _unknown(nos: str) -> Mapping[str, tuple[PortRef, ...]]:
    """The same of any switch whose ports the network OS names by their cages."""
    if installed(nos) is None:
        return {}
    pairs: list[tuple[str, PortRef]] = []
    for speed in CAGES_GBPS:
        model = generic_switch(f"{MAX_CAGES}x{speed}g")
        if model is not None:
            splits = tuple(f"{n}x{gbps}" for gbps in ETHERNET_GBPS for n in (2, 4, 8) if n * gbps <= speed and speed >= 100)
            table = _table(nos, model.with_breakouts(splits), model.description)
            pairs += [(name, ref) for name, refs in table.items() for ref in refs]
    return {key: tuple(dict.fromkeys(refs)) for key, refs in grouped(pairs).items()}
