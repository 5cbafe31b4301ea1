"""State with one key deleted: the answer is a finding, or says what was not judged; it is never "as planned" in silence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import copy, deepcopy
from typing import Any

import pytest

from fabric.audit.verify.files import Collected, of_switch
from fabric.audit.verify.reported_state import ReportedState
from fabric.audit.verify.verify import judge
from tests import samples
from tests.audit.verify.test_faults import plan, sound

LEAF = "frontend-leaf001"
Path = tuple[str | int, ...]

# Keys that no judgment needs: labels, units, what other keys say as well, and the parts of a route that is not compared.
NEEDLESS = re.compile(
    r"bgp-summary/.*(/vrf|/asn|afiSafiState|nlrisReceived|vrfs/(red|blue)/routerId)$"
    r"|interfaces-status/.*(description|vlanInformation.*|lineProtocolStatus|duplex|autoNegotiateActive|interfaceType)$"
    r"|lldp/(tablesLastChangeTime|.*ttl)$"
    r"|errors/.*(symbolErrors|alignmentErrors|frameTooLongs)$"
    r"|discards/(in|out)DiscardsTotal$"
    r"|optics/.*(displayName|unit)$"
    r"|optics/.*/(rxPower/channels/#|.*/threshold(/highAlarm)?|temperature.*)$"
    r"|routes/.*(routeType|interface|hardwareProgrammed|routeAction|vni|routerMac|routingDisabled|source)$"
    r"|routes/.*/vias(/#/nexthopAddr)?$"
    r"|vxlan/interfaces/Vxlan#/(name|interfaceStatus|lineProtocolStatus|vlanToVniMap/###/source)$"
    r"|segments/.*/(rd|intf|redundancyMode|dFElectionAlgorithm|forwardingPeers)$"
)
# Known holes: a neighbor without a port, and a module of a server port, whose far end reports none.
HOLES = re.compile(r"lldp/lldpNeighbors/#/neighborPort$|optics/interfaces/Ethernet#+/#(/parameters)?$")


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        for key in value:
            yield (*at, key)
            yield from paths(value[key], (*at, key))
    elif isinstance(value, list):
        for index in range(min(2, len(value))):
            yield from paths(value[index], (*at, index))


def without(value: Any, path: Path) -> Any:
    found = deepcopy(value)
    at = found
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return found


@pytest.mark.parametrize("part", sorted(sound()[LEAF]))
def test_a_deleted_key_is_never_silent(part: str) -> None:
    state = sound()
    texts = {
        name: {f"{name}/{file}.json": json.dumps(value) for file, value in found.items()} for name, found in state.items()
    }
    base = {name: of_switch(found) for name, found in texts.items()}
    silent: list[str] = []
    shapes: dict[str, Path] = {}
    for path in paths(state[LEAF][part]):
        shapes.setdefault("/".join((part, *(re.sub(r"\d", "#", str(key)) for key in path))), path)
    for shape, path in samples.some(list(shapes.items()), 16):
        file = f"{LEAF}/{part}.json"
        damaged = texts[LEAF] | {file: json.dumps(without(state[LEAF][part], path))}
        seen: dict[str, ReportedState] = {name: copy(one) for name, one in base.items()} | {LEAF: of_switch(damaged)}
        result = judge(plan(), Collected("state", seen))
        known = file in seen[LEAF].files  # a file that is no known output is listed as not read
        if known and not (result.findings or result.missing or result.gaps or NEEDLESS.match(shape) or HOLES.match(shape)):
            silent.append(shape)
    assert silent == []


def test_a_sound_site_has_no_gap() -> None:
    state = sound()
    seen = {
        name: of_switch({f"{name}/{file}.json": json.dumps(value) for file, value in found.items()})
        for name, found in state.items()
    }
    assert judge(plan(), Collected("state", seen)).gaps == ()


def test_a_gap_names_the_field_and_the_place() -> None:
    state = sound()
    port = next(iter(state[LEAF]["interfaces-status"]["interfaceStatuses"]))
    del state[LEAF]["interfaces-status"]["interfaceStatuses"][port]["bandwidth"]
    seen = {
        name: of_switch({f"{name}/{file}.json": json.dumps(value) for file, value in found.items()})
        for name, found in state.items()
    }
    result = judge(plan(), Collected("state", seen))
    assert [one.words for one in result.gaps] == [f"interface state: speed not reported by {LEAF} {port}"]
