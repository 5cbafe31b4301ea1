"""The survey of generated configs against what the plan has: `python -m tests.deliver.brownfield.surveyed --designs 300`.

Draws random designs, plans each, renders and reads its switches, and compares the survey of what was read with the oracle.
Prints the share that is equal, by network OS too, and every difference.

What configs cannot tell is not compared:

* the names of fabrics and of groups of servers, and the number in a group: `gpu001` may be `gpu00` and 1;
* hardware of the site's own catalog, and that of FRR, whose files do not name it;
* the unit of racks whose leaves have no servers in common;
* the rail of a fabric with one;
* whether two leaves without any cable are planes or a dual-homed rack, where nothing bonds them;
* the tunnel address of a leaf without VNIs, where the network OS configures it with these, and one that is the loopback;
* address and speed of a port that is shut because its server has no tenant;
* the speed of a port that neither end states, on unknown hardware or where the transceiver decides;
* the number of a NIC among those of other purposes;
* attachments that stand for switches or their management ports.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabric import pipeline
from fabric.audit.checks import Network
from fabric.audit.checks.network import planes
from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.survey.records import Cable, Survey, Switch
from fabric.deliver.brownfield.survey.site import survey_of
from fabric.hardware import catalog
from fabric.model.facts import Facts
from fabric.model.plan import LEAF, Plan
from fabric.nos.reading import read_device
from fabric.nos.target import target
from tests.audit.checks.sites import site_of
from tests.deliver.brownfield import oracle
from tests.system.random_designs.drawing import CONVERGED, Design, draw
from tests.system.random_designs.everyday import draw_everyday

FIELDS = tuple(
    "role nos model pod plane unit rail pair asn loopback loopback6 vtep management border".split()  # noqa: SIM905
)
ENDS = ("a", "a_port", "speed_gbps", "a_ref", "b_ref", "a_address", "b_address")
UNNAMED = ("frr",)  # network OSes whose files do not name the hardware
SHIPPED = frozenset(catalog.switch_names())


@dataclass(frozen=True)
class Case:
    """A design that was planned and read."""

    plan: Plan
    facts: Mapping[str, Facts]

    @property
    def survey(self) -> Survey:
        """What is found in its configs."""
        networks = [Network(tuple(part)) for part in planes(list(self.facts.values()))]
        return survey_of(networks, self.plan.site)


def case_of(design: Design, folder: Path) -> Case | None:
    """None for a design that is refused."""
    for name, text in design.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / f"{design.name}.yaml"
    path.write_text(design.text, encoding="utf-8")
    try:
        site = site_of(pipeline.load(path, folder / "generated"), jobs=1)
        texts = {job.device: dict(site.texts(job.device)) for job in site.todo}
    except InputError:
        return None
    return Case(site.plan, {device.name: read_device(device.name, device.nos, files) for device, files in texts.items()})


# --- Differences ----------------------------------------------------------------------------------------------


def differences(case: Case, found: Survey) -> Iterator[str]:
    """What a survey has differently from the plan, a line each."""
    planned = oracle.survey_of(case.plan)
    own, other = ({frozenset(its.name for its in one): one for one in survey.fabrics.values()} for survey in (planned, found))
    for group in sorted(map(sorted, own.keys() ^ other.keys())):
        yield f"fabric {'lost' if frozenset(group) in own else 'extra'}: {', '.join(group)}"
    for names in own.keys() & other.keys():
        yield from _switches(case, planned, {its.name: its for its in other[names]})
    if own.keys() == other.keys():
        yield from _cables(case, planned, found)
        yield from _hosts(planned, found)
    yield from (f"finding: {one.id} {one.message}" for one in found.findings if one.severity == "error")


def _switches(case: Case, planned: Survey, found: Mapping[str, Switch]) -> Iterator[str]:
    switches = [its for its in planned.switches.values() if its.name in found]
    spec = case.plan.fabrics[switches[0].fabric].spec
    bare = not any(cable.a in found and cable.b in found for cable in planned.cables)
    one_rail = len({its.rail for its in switches if its.role == LEAF}) < 2
    for its in switches:
        facts, idiom = case.facts[its.name], target(its.nos).idiom
        skipped = {"model"} if its.nos in UNNAMED or its.model not in SHIPPED else set[str]()
        skipped |= {"unit"} if spec.kind == "rack" else set()
        skipped |= {"rail"} if one_rail else set()
        skipped |= {"plane"} if bare and len(switches) > 1 else set()
        skipped |= {"vtep"} if idiom and (not idiom.own_vtep or (idiom.vtep_of_vni and facts.vtep is None)) else set()
        for name in FIELDS:
            want, got = getattr(its, name), getattr(found[its.name], name)
            if want != got and name not in skipped:
                yield f"{its.name}: {name}: planned {want!r}, found {got!r}"


def _cables(case: Case, planned: Survey, found: Survey) -> Iterator[str]:
    want = {(cable.b, cable.b_port): cable for cable in planned.cables}
    got = {(cable.b, cable.b_port): cable for cable in found.cables}
    for key, cable in want.items():
        back = got.get((cable.a, cable.a_port))
        if key not in got and back is not None and back.a == cable.b:  # between leaves either may be the lower end
            got[key] = _turned(got.pop((cable.a, cable.a_port)))
    for key in sorted(want.keys() ^ got.keys()):
        yield f"cable {'lost' if key in want else 'extra'}: {' '.join(key)}"
    for key in sorted(want.keys() & got.keys()):
        skipped = _untold(case, planned, want[key], got[key])
        for name in ENDS:
            a, b = getattr(want[key], name), getattr(got[key], name)
            if a != b and name not in skipped:
                yield f"{' '.join(key)}: {name}: planned {a!r}, found {b!r}"


def _turned(cable: Cable) -> Cable:
    return replace(
        cable,
        a=cable.b,
        a_port=cable.b_port,
        b=cable.a,
        b_port=cable.a_port,
        a_ref=cable.b_ref,
        b_ref=cable.a_ref,
        a_address=cable.b_address,
        b_address=cable.a_address,
    )


def _untold(case: Case, planned: Survey, want: Cable, got: Cable) -> set[str]:
    """Fields of a cable that configs do not tell."""
    skipped = {"a_ref"} if want.a not in planned.switches else set[str]()
    port = case.facts[want.b].interfaces.get(want.b_port)
    if port is not None and port.description is not None and port.description.value.endswith(", unassigned"):
        return skipped | {"a_address", "b_address", *_speed(want, got)}
    known = planned.switches[want.b].model in SHIPPED
    stated = any(
        _states_speed(case.facts.get(device), name) for device, name in ((want.a, want.a_port), (want.b, want.b_port))
    )
    transceiver = planned.switches[want.b].nos == "nxos"
    if not stated and (not known or transceiver):
        skipped |= _speed(want, got)
    return skipped


def _states_speed(facts: Facts | None, port: str) -> bool:
    interface = facts.interfaces.get(port) if facts else None
    return interface is not None and interface.speed_gbps is not None


def _speed(want: Cable, got: Cable) -> set[str]:
    """Fields that differ in the speed alone."""
    pairs = {"a_ref": (want.a_ref, got.a_ref), "b_ref": (want.b_ref, got.b_ref)}
    alike = {name for name, (a, b) in pairs.items() if a and b and replace(a, speed_gbps=0) == replace(b, speed_gbps=0)}
    return alike | {"speed_gbps"}


def _hosts(planned: Survey, found: Survey) -> Iterator[str]:
    cabled = {cable.a for cable in planned.cables}
    want = {name: host.attached for name, host in planned.hosts.items() if name in cabled}
    got = {name: host.attached for name, host in found.hosts.items()}
    for name in sorted(want.keys() ^ got.keys()):
        yield f"host {'lost' if name in want else 'extra'}: {name}"
    for name in sorted(want.keys() & got.keys()):
        if want[name] != got[name]:
            yield f"{name}: planned as {'an attachment' if want[name] else 'a server'}"


# --- The long run ---------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.brownfield.surveyed", description=__doc__)
    parser.add_argument("--designs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--everyday", action="store_true", help="small designs of every kind")
    asked = parser.parse_args()
    read, equal = Counter[str](), Counter[str]()
    start = time.process_time()
    for number in range(asked.designs):
        design = draw_everyday(asked.seed, number) if asked.everyday else draw(asked.seed, number, CONVERGED)
        with tempfile.TemporaryDirectory() as folder:
            case = case_of(design, Path(folder))
        if case is None or not case.facts:
            continue
        try:
            lines = list(differences(case, case.survey))
        except Exception:
            lines = [traceback.format_exc()]
        for key in {"", *(facts.nos for facts in case.facts.values())}:
            read[key] += 1
            equal[key] += not lines
        for line in lines[:5]:
            print(f"{design.name}: {line}")
    shares = ", ".join(f"{nos} {equal[nos]} of {count}" for nos, count in sorted(read.items()) if nos)
    print(f"{equal['']} of {read['']} designs equal ({shares}), {time.process_time() - start:.0f} s of CPU")
    return int(equal[""] < read[""])


if __name__ == "__main__":
    sys.exit(main())
