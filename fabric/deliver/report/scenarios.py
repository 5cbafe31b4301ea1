"""Link loads that the views show: an alltoall hashed and sprayed, the collective in question, the worst switch down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabric.base.diagnostics import InputError
from fabric.base.text import size
from fabric.deliver.report.columns import lettered
from fabric.deliver.report.grid import Grid, grid
from fabric.deliver.report.loads import PATTERN_WORDS, ROUTING_WORDS, SHORT, Loads, loads
from fabric.deliver.report.study import Study
from fabric.model.plan import LEAF, SWITCH_ROLES
from fabric.solver import Ints, Network
from fabric.solver.capacity.failures import Failures, apply, parse
from fabric.solver.estimate.estimate import PATTERN, Row

LOAD_WORDS = "Load: traffic offered by NICs at line rate, divided by the capacity of the link."


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The links' loads at one time."""

    name: str
    what: str
    loads: Loads
    dead: Ints  # links
    dead_devices: Ints
    sends: str  # who sends to whom, in words
    fullest: str  # directed link

    def as_dict(self) -> dict[str, Any]:
        """As the data document has it: loads in thousandths of a link's capacity."""
        return {
            "name": self.name,
            "what": self.what,
            "up": lettered(np.rint(self.loads.up * 1000)),
            "down": lettered(np.rint(self.loads.down * 1000)),
            "dead": self.dead.tolist(),
            "dead_devices": self.dead_devices.tolist(),
        }


@dataclass(frozen=True)
class Traffic:
    """What is sent, by its name for a reader."""

    name: str
    pattern: str
    routing: str
    qps: int
    failures: Failures | None = None


def scenarios(study: Study) -> tuple[Scenario, ...]:
    """Those of one fabric; none where only the design is wanted.

    The alltoall comes first, as a packed all-reduce leaves the links between switches almost idle, unless the reader asked
    for a collective.
    """
    if not study.request.load:
        return ()
    result = dict.fromkeys(_healthy(study))
    heavy = list(result)[-2]
    first = next(iter(result))
    order = [*result] if study.request.collective_first else [heavy, *(traffic for traffic in result if traffic != heavy)]
    shown = [scenario(study.net, traffic) for traffic in order]
    if (worst := _worst(study, heavy)) is not None:
        shown.append(worst)
    if study.fail:
        shown += [scenario(study.net, replace(traffic, failures=study.failed)) for traffic in dict.fromkeys((first, heavy))]
    return tuple(shown)


def _healthy(study: Study) -> Iterator[Traffic]:
    """The last two are the heaviest traffic: as the plan routes it, and with every packet hashed by itself."""
    routing, qps = study.spreading
    if not study.trains or study.curve[0].placement.domains == 1:
        name, pattern = "permutation", "shift"
    else:
        row = next(row for row in study.curve[0].rows if row.bytes == study.request.size_bytes)
        asked = f"{row.collective} {size(row.bytes)}"
        yield Traffic(asked, _pattern(row), routing, qps)
        name, pattern = asked if row.collective == "alltoall" else "alltoall", "peers"
    yield Traffic(name, pattern, routing, qps)
    yield Traffic(name, pattern, "spray", qps)


def _pattern(row: Row) -> str:
    """Who sends to whom, as the estimate of this row has it."""
    return {"alltoall": "peers", "sendrecv": "neighbors"}.get(row.collective) or PATTERN.get(row.algorithm, "halving")


def _worst(study: Study, heavy: Traffic) -> Scenario | None:
    """The same traffic with the switch down that costs the most bandwidth; rather one above the leaves, as a leaf takes the
    traffic of its servers with it."""
    switches = [loss for loss in study.ranked if loss.what in SWITCH_ROLES and not loss.left.partitioned]
    for loss in sorted(switches, key=lambda loss: loss.what == LEAF):
        if not loss.left.servers_cut_off:
            try:
                return scenario(study.net, replace(heavy, failures=parse(study.net, loss.names)))
            except InputError:
                continue  # it leaves the job no rail that all servers have
    return None


def scenario(whole: Network, traffic: Traffic) -> Scenario:
    """Raises InputError where failures cut the job's servers off."""
    net = apply(whole, traffic.failures) if traffic.failures else whole
    found = loads(net, traffic.pattern, traffic.routing, traffic.qps)
    dead = np.flatnonzero(~net.alive[: net.links])
    devices = traffic.failures.devices if traffic.failures else np.empty(0, np.int64)
    name = f"{traffic.name}, {SHORT[traffic.routing]}"
    sends = PATTERN_WORDS[traffic.pattern]
    what = f"{sends[0].upper()}{sends[1:]}; {ROUTING_WORDS[traffic.routing]}. {LOAD_WORDS}"
    if traffic.failures:
        name += f", {' and '.join(traffic.failures.names)} down"
    fullest = net.name(int(np.argmax(found.share)))
    return Scenario(name=name, what=what, loads=found, dead=dead, dead_devices=devices, sends=sends, fullest=fullest)


def loads_grid(shown: Sequence[Scenario]) -> Grid:
    """One row per scenario: what is sent, and how full the links get."""
    rows = []
    for one in shown:
        over = int((one.loads.share > 1 + 1e-9).sum())
        rows.append((one.name, f"{100 * one.loads.peak:.0f} %", f"{over:,}", one.fullest, one.sends))
    titles = ("loads", "#highest load", "#directed links over 100 %", "link", "traffic")
    return grid("Highest link load by traffic pattern", titles, rows, LOAD_WORDS)
