"""Proofs and scenarios of subnets.

The manager took its files, its tables reach every pair with the predicted load, tenants are apart, and a cable that is cut or
swapped is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fabric.audit.cabling.compare import of_discovery
from fabric.audit.cabling.finding import CableFault
from fabric.audit.checks import Finding
from fabric.audit.checks.base import run as run_checks
from fabric.audit.checks.files.subnets import SubnetCheck, SubnetFiles
from fabric.base.text import listed, plural
from fabric.configs.infiniband.discovered import read
from fabric.configs.infiniband.files import Managed, files
from fabric.configs.infiniband.topology import manager_at
from fabric.lab.infiniband.predicted import graph, predicted
from fabric.lab.infiniband.simulator import FASTEST_GBPS, Simulator
from fabric.lab.infiniband.tables import lids, tables
from fabric.lab.live import Live
from fabric.lab.outcome import Measure, finding
from fabric.lab.proofs.base import Proof, ProofResult, skip
from fabric.model.plan.subnets import Cable
from fabric.solver.infiniband.link_loads import Forwarding

MAX_SHIFTS = 600  # of a subnet with more end ports so many are walked, spread over all
PAIRS = 6  # of tenants that are asked for paths

Each = Iterator[tuple[Managed, Simulator]]


def each(live: Live) -> Each:
    for managed in live.lab.subnets:
        yield managed, Simulator(live.lab.site, live.names.folder, managed.subnet.name, len(managed.subnet.nodes))


# --- the manager -------------------------------------------------------------------------------------------------


def _manager(live: Live) -> ProofResult:
    """The manager runs, took every key, and routes with the engine that the plan asks for."""
    faults: list[Finding] = []
    words = []
    for managed, its in each(live):
        name, engine = managed.subnet.name, its.engine()
        faults += [finding(name, f"{program} has ended") for program in its.dead()]
        if engine not in managed.engines:
            faults.append(finding(name, f"expected routing by {' or '.join(managed.engines)}, got {engine or 'none'}"))
        log = f"{its.log('opensm.out')}\n{its.log('opensm.log')}"
        faults += [finding(name, line.strip()) for line in dict.fromkeys(log.splitlines()) if _refusal(line)]
        faults += _files(live, managed)
        words.append(f"{name}: {engine}, {plural(len(managed.subnet.adapters), 'port')}")
    return ProofResult(listed(words, 4), tuple(faults))


def _files(live: Live, managed: Managed) -> Iterator[Finding]:
    """What its files say otherwise than the plan: the manager takes a list without a root, and a wrong P_Key."""
    planned = {path.rpartition("/")[2]: data.decode() for path, data in files(managed)}
    its = SubnetFiles(managed, managed.folder, live.lab.subnet_files[managed.subnet.name], planned)
    for found in run_checks(SubnetCheck, its):
        place = f"{found.file}:{found.line}" if found.line else found.file
        yield finding(managed.subnet.name, f"{place}: {found.message}")


def _refusal(line: str) -> bool:
    return any(word in line for word in ("Unrecognized", "unrecognized", "cannot parse", "cannot find or setup", ": ERR "))


# --- cables --------------------------------------------------------------------------------------------------------


def _cables(live: Live) -> ProofResult:
    """What ibnetdiscover finds is the plan."""
    faults, found = list[Finding](), 0
    for managed, its in each(live):
        differences = _differences(live, managed, its)
        faults += [finding(fault.at.device, fault.message) for fault in differences]
        found += len(managed.subnet.cables)
    return ProofResult(f"{plural(found, 'cable')} as planned" if not faults else "not as planned", tuple(faults))


def _differences(live: Live, managed: Managed, its: Simulator) -> list[CableFault]:
    found = read(its.ask("ibnetdiscover"), "ibnetdiscover")
    found.speeds = {end: speed for end, speed in found.speeds.items() if speed != FASTEST_GBPS}  # that stands for all above
    state = of_discovery(live.lab.plan, found)
    return [fault for fault in state.findings if fault.fabric == managed.subnet.fabric.name]


# --- tables --------------------------------------------------------------------------------------------------------


def _tables(live: Live) -> ProofResult:
    """Every pair of ports, and the load of each link under shifts and all-to-all beside the prediction."""
    faults, measured = list[Finding](), dict[str, Measure]()
    words = []
    for managed, its in each(live):
        got = _read(managed, its)
        expected = predicted(managed, its.engine())
        unreachable, loads, worst = _walked(got)
        if unreachable:
            faults.append(finding(managed.subnet.name, f"{unreachable:,} pairs do not reach each other"))
        word = f"{managed.subnet.name}: all pairs reach each other, worst shift {worst} on a link"
        if expected is not None:
            _, planned, planned_worst = _walked(expected.forwarding)
            faults += _unlike(got, loads, planned)
            if worst != planned_worst:
                faults.append(finding(managed.subnet.name, f"worst shift: expected {planned_worst} on a link, got {worst}"))
            same = np.count_nonzero(got.table == expected.forwarding.table) / got.table.size
            measured["same_entries_percent"] = round(100 * float(same), 1)
            word += ", loads as predicted"
        else:
            word += f", {its.engine()} is not predicted"
        words.append(word)
    return ProofResult(listed(words, 3) if not faults else "not as predicted", tuple(faults), measured)


def _read(managed: Managed, its: Simulator, broken: frozenset[int] = frozenset()) -> Forwarding:
    on = graph(managed, broken)
    return Forwarding(on, tables(its, on, managed))


def _walked(its: Forwarding) -> tuple[int, np.ndarray, int]:
    """Pairs that do not arrive, routes over every link, and the most of one shift on one link."""
    columns = np.argsort(its.graph.ends.node)  # server by server
    step = max(1, len(columns) // MAX_SHIFTS)
    total, missing, worst = np.zeros(its.graph.switches * its.width, dtype=np.int64), 0, 0
    for distance in range(1, len(columns), step):
        load, lost = its.shift(distance, columns)
        total, missing, worst = total + load, missing + len(lost), max(worst, int(load.max(initial=0)))
    return missing, total, worst


def _unlike(got: Forwarding, loads: np.ndarray, planned: np.ndarray) -> Iterator[Finding]:
    wrong = np.flatnonzero(loads != planned)
    for link in wrong[:10].tolist():
        name = got.link_name(link)
        yield finding(name.split()[0], f"{name}: expected {planned[link]:,} routes of all-to-all, got {loads[link]:,}")
    if len(wrong) > 10:
        yield finding(got.graph.subnet.name, f"{len(wrong) - 10:,} more links with another load than predicted")


# --- partitions ----------------------------------------------------------------------------------------------------


def _partitions(live: Live) -> ProofResult:
    """Path records exist inside a tenant, and not between tenants that the plan keeps apart."""
    faults, asked = list[Finding](), 0
    for managed, its in each(live):
        if not managed.partitions:
            continue
        places = {column: node for node, column in _columns(managed).items()}
        lid_of = {places[column]: lid for lid, column in lids(its.ask("ibnetdiscover"), managed).items()}
        for one, other, reach in _asked(managed):
            asked += 1
            answer = its.ask("saquery", "-p", "--src-to-dst", f"{lid_of[one]}:{lid_of[other]}")
            if ("pkey" in answer.lower()) != reach:
                a, b = (managed.subnet.nodes[at].name for at in (one, other))
                expected = "a path" if reach else "no path"
                faults.append(
                    finding(managed.subnet.nodes[one].device.name, f"{a} to {b}: expected {expected}, got the opposite")
                )
    return ProofResult(f"{plural(asked, 'pair')} as planned", tuple(faults)) if asked else skip("no tenants")


def _columns(managed: Managed) -> Mapping[int, int]:
    return {int(node): column for column, node in enumerate(graph(managed).ends.node)}


def _asked(managed: Managed) -> Iterator[tuple[int, int, bool]]:
    """Pairs of ports within each of the first tenants and between them, and whether they reach each other."""
    its = [partition for partition in managed.partitions if len({*partition.full, *partition.limited}) > 1][:PAIRS]
    members = [{**dict.fromkeys(one.limited, False), **dict.fromkeys(one.full, True)} for one in its]
    for part in members:  # the manager's own port is a full member of the default partition
        part.pop(manager_at(managed.subnet), None)

    def reach(one: int, other: int) -> bool:
        return any(one in part and other in part and (part[one] or part[other]) for part in members)

    for part in members:
        first, *_, last = sorted(part)
        yield first, last, reach(first, last)
    for n, part in enumerate(members):
        for other in members[n + 1 :]:
            mine, its_own = part.keys() - other.keys(), other.keys() - part.keys()  # not what serves both
            if mine and its_own:
                yield min(mine), max(its_own), reach(min(mine), max(its_own))


PROOFS = (
    Proof("subnet-manager", "subnet managers", _manager),
    Proof("subnet-cables", "cables of subnets", _cables),
    Proof("subnet-tables", "forwarding tables of subnets", _tables),
    Proof("subnet-partitions", "partitions", _partitions),
)


# --- scenarios ------------------------------------------------------------------------------------------------------


def _cut(live: Live) -> ProofResult:
    """An uplink is pulled: found at its place, and all pairs reach each other over the others, loaded as predicted."""
    managed, its = next(each(live))
    trunk = next((cable for cable in managed.subnet.cables if managed.subnet.nodes[cable.a].switch), None)
    if trunk is None:
        return skip("no links between switches")
    here, there = _ends(managed, trunk)
    its.change(f"Unlink {here}")
    try:
        faults = _only(live, managed, its, {trunk.link})
        expected = predicted(managed, its.engine(), frozenset({trunk.link}))
        got = _read(managed, its, frozenset({trunk.link}))
        unreachable, loads, worst = _walked(got)
        if unreachable:
            faults.append(finding(managed.subnet.name, f"{unreachable:,} pairs do not reach each other"))
    finally:
        its.change(f"Link {here} {there}")
    where = f"{managed.subnet.nodes[trunk.a].name} {managed.subnet.port_label(trunk.a, trunk.a_port)}"
    same = expected is not None and bool((_walked(expected.forwarding)[1] == loads).all())
    return ProofResult(
        f"found at {where}; worst shift {worst} on a link", tuple(faults), {"loads_as_predicted": "yes" if same else "no"}
    )


def _swapped(live: Live) -> ProofResult:
    """The cables of two servers on one leaf are swapped: the manager says nothing, the comparison names both."""
    managed, its = next(each(live))
    first, second = _two(managed)
    if first is None or second is None:
        return skip("no leaf with two servers")
    (a, leaf_a), (b, leaf_b) = _ends(managed, first), _ends(managed, second)
    its.change(f"Unlink {leaf_a}", f"Unlink {leaf_b}", f"Link {leaf_a} {b}", f"Link {leaf_b} {a}")
    try:
        faults = _only(live, managed, its, {first.link, second.link})
    finally:
        its.change(f"Unlink {leaf_a}", f"Unlink {leaf_b}", f"Link {leaf_a} {a}", f"Link {leaf_b} {b}")
    names = " and ".join(managed.subnet.nodes[cable.a].name for cable in (first, second))
    return ProofResult(f"found: {names}", tuple(faults))


def _two(managed: Managed) -> tuple[Cable | None, Cable | None]:
    """Cables of two servers on one leaf."""
    first: dict[int, Cable] = {}
    for cable in managed.subnet.cables:
        if not managed.subnet.nodes[cable.a].switch and managed.subnet.nodes[cable.a].purpose:
            other = first.setdefault(cable.b, cable)
            if managed.subnet.nodes[other.a].device is not managed.subnet.nodes[cable.a].device:
                return other, cable
    return None, None


def _only(live: Live, managed: Managed, its: Simulator, links: set[int]) -> list[Finding]:
    """Faults, unless the comparison names these links and no others."""
    found = _differences(live, managed, its)
    subnet = managed.subnet
    wanted = {frozenset(subnet.nodes[at].device.name for at in (c.a, c.b)) for c in subnet.cables if c.link in links}
    got = {frozenset(end.device for end in link) for fault in found for link in fault.links}
    if got == wanted:
        return []
    shown = listed([fault.message for fault in found], 3) or "nothing"
    return [finding(subnet.name, f"expected the cables that were touched, and no others, got {shown}")]


def _ends(managed: Managed, cable: Cable) -> tuple[str, str]:
    """The ends of a cable in the words of the simulator's console, the lower one first."""
    found = []
    for at, port in ((cable.a, cable.a_port), (cable.b, cable.b_port)):
        kind = "S" if managed.subnet.nodes[at].switch else "H"
        found.append(f'"{kind}-{managed.guids.of[at].node:016x}"[{port}]')
    return found[0], found[1]


SCENARIOS = (
    Proof("subnet-cable-cut", "an uplink of a subnet is cut", _cut),
    Proof("subnet-cables-swapped", "two cables of a subnet are swapped", _swapped),
)
