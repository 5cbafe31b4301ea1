"""An exhaustive search for the fewest switches, and the default design beside it: `python -m tests.design.planner.fewest`.

The search knows the rules of docs/sizing.md and nothing of the planner: it tries every size of a unit, every speed and number
of uplinks, every number of spines, and one or two tiers, and keeps what the ports permit. A port is counted per cage: a cage
gives so many ports of one speed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from fabric.base.source import parse
from fabric.design.intent.load import validate
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import size_site
from fabric.hardware import catalog
from fabric.model.plan.lock_file import Lock

MODELS = ("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300", "hgx-h100", "mi300x-8", "gb200-tray")
SWITCHES = ("sn5600", "qm9700", "sn4700", "64x400g", "7060x6-64pe")
SHAPES = ("", "kind: rail-only", "kind: rack", "leaf: {oversubscription: 2}")
MAX_SERVERS = 64
MAX_RATIO = 1.1


class Case(NamedTuple):
    """A question: servers of a model on a switch, and what else the topology states."""

    model: str
    switch: str
    shape: str
    servers: int


class Count(NamedTuple):
    """Switches of a design."""

    leaves: int
    spines: int

    @property
    def total(self) -> int:
        return self.leaves + self.spines


def cases() -> list[Case]:
    """Every question, those left out whose NICs the switch has no port for."""
    return [
        Case(model, switch, shape, servers)
        for model in MODELS
        for switch in SWITCHES
        for shape in SHAPES
        if _nic(model)[2] in _cages(switch)[1]
        for servers in range(1, MAX_SERVERS + 1)
    ]


@lru_cache(maxsize=64)
def _nic(model: str) -> tuple[int, int, int]:
    """NICs, ports of one, and their speed."""
    server = catalog.server(model)
    assert server is not None
    nic = server.nics["compute"]
    return nic.count, nic.ports, nic.speed_gbps


@lru_cache(maxsize=64)
def _cages(switch: str) -> tuple[int, dict[int, int], int]:
    """Cages of a switch with one kind of them, speed → ports that a cage gives, and the most ports of all."""
    model = catalog.switch(switch)
    assert model is not None
    group = max(model.ports, key=lambda its: its.count)
    return group.count, dict(group.splits), model.max_logical_ports or 10**6


def _fits(switch: str, down: int, down_gbps: int, up: int, up_gbps: int) -> bool:
    """Whether one switch has so many ports, a cage having one speed."""
    cages, splits, most = _cages(switch)
    ends = [(count, gbps) for count, gbps in ((down, down_gbps), (up, up_gbps)) if count]
    if any(gbps not in splits for _, gbps in ends):
        return False
    used = [ceil(count / splits[gbps]) for count, gbps in ends]
    return sum(used) <= cages and sum(n * splits[gbps] for n, (_, gbps) in zip(used, ends, strict=True)) <= most


# --- the search -----------------------------------------------------------------------------------------------


def fewest(case: Case, unit: int | None = None) -> Count:
    """The fewest switches of all designs by the rules; with units of so many servers, or of any size."""
    return min(_designs(case, unit), key=lambda count: count.total)


def _designs(case: Case, unit: int | None) -> Iterator[Count]:
    nics, ports, gbps = _nic(case.model)
    # Where neither rails nor kind are stated all rails may share one switch.
    if case.shape != "kind: rail-only" and _fits(case.switch, case.servers * nics * ports, gbps, 0, 0):
        yield Count(1, 0)
    networks = nics if case.shape == "kind: rail-only" else 1
    rails = 1 if case.shape == "kind: rack" else nics
    each = nics * ports // rails  # ports of a server on a leaf
    if networks > 1 and _fits(case.switch, case.servers * each, gbps, 0, 0):
        yield Count(networks, 0)
    for servers in range(1, 2 * MAX_SERVERS + 1) if unit is None else (unit,):
        leaves = ceil(case.servers / servers) * rails
        for count in _two_tiers(case, servers * each, leaves // networks):
            yield Count(leaves, networks * count)


def _two_tiers(case: Case, down: int, leaves: int) -> Iterator[int]:
    """Numbers of spines of one network of `leaves` leaves, each with `down` ports of servers."""
    gbps = _nic(case.model)[2]
    ratio = Fraction(2) if "oversubscription: 2" in case.shape else Fraction(1)
    for speed in _cages(case.switch)[1]:
        uplinks = ceil(Fraction(down * gbps) / (ratio * speed))
        if speed < gbps or not _fits(case.switch, down, gbps, uplinks, speed):
            continue
        divisors = [n for n in range(1, uplinks + 1) if uplinks % n == 0]
        spines = [n for n in divisors if _fits(case.switch, leaves * uplinks // n, speed, 0, 0)]
        redundant = [n for n in spines if n > 1]
        yield from (redundant if redundant else spines)[:1]


# --- the default design ---------------------------------------------------------------------------------------


def planned(case: Case) -> Count:
    """The switches that the planner chooses."""
    text = (
        f"version: 1\nsite: s\nfabrics:\n  f:\n    servers: {{model: {case.model}, count: {case.servers}}}\n"
        f"    topology: {{{', '.join(filter(None, (f'switch: {case.switch}', case.shape)))}}}\n"
    )
    source = parse(text, "s.yaml")
    _, sizing = size_site(resolve(validate(source), source), Lock())["f"]
    return Count(sizing.leaves, sizing.spine_count + sizing.core_count)


class Row(NamedTuple):
    """A question with its answers."""

    case: Case
    chosen: Count
    best: Count  # with the unit of the rule

    @property
    def ratio(self) -> float:
        return self.chosen.total / self.best.total


def row(case: Case) -> Row:
    return Row(case, planned(case), fewest(case, default_unit(case)))


def default_unit(case: Case) -> int:
    """Servers that half of the bandwidth of a leaf carries."""
    nics, ports, gbps = _nic(case.model)
    cages, splits, _ = _cages(case.switch)
    each = nics * ports // (1 if case.shape == "kind: rack" else nics)
    return max(1, cages * max(splits) // 2 // gbps // each)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.design.planner.fewest", description=__doc__)
    parser.parse_args(arguments)
    rows = [row(case) for case in cases()]
    worst = max(rows, key=lambda its: its.ratio)
    above = sum(its.ratio > MAX_RATIO for its in rows)
    print(f"{len(rows):,} designs, {above} above {MAX_RATIO}; the worst has {worst.ratio:.3f} times the fewest: {worst}")
    for shape in SHAPES:
        mine = [(fewest(its.case), its) for its in rows if its.case.shape == shape]
        far, its = max(mine, key=lambda pair: pair[1].chosen.total / pair[0].total)
        fewer = sum(its.chosen.total > MAX_RATIO * any_unit.total for any_unit, its in mine)
        print(
            f"{shape or 'kind not stated'}: a `unit` of another size saves more than a tenth of the switches of {fewer:,} of "
            f"{len(mine):,}; at most {its.chosen.total} become {far.total}: {its.case}"
        )
    return int(above > 0)


if __name__ == "__main__":
    raise SystemExit(main())
