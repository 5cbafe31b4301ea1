"""Links of an architecture by group, in its published topology file and in the `links.csv` of its example.

A group is a kind of device at one end and a switch at the other, with a speed. The published file has no speeds: those of
the pair are the lanes of its breakouts, 100G each on a Spectrum-4 (wire maps of the same folders); ports of an SN2201 are 1G.
What is cabled to out-of-band switches beside servers and the pair belongs to the simulation: servers of DHCP and Ansible in
NVIDIA Air, and links to the edge, most of them in ports 53 to 61, which an SN2201 does not have.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fabric.nos.cumulus.statements import nvue_tree

LANE_GBPS = 100  # of Spectrum-4
OOB_GBPS = 1
SOURCE = "NVIDIA/enterprise-ras@6c19a59 spectrum-era/NAME: topology.json, exported-configurations, wire map"


class Group(NamedTuple):
    """Links between devices of one kind and a switch."""

    kind: str  # "su-01-node", "cust-net-edge-01"
    switch: str
    speed_gbps: int


def _groups(table: Mapping[str, tuple[int, Mapping[str, int]]]) -> Counter[Group]:
    return Counter(
        {
            Group(key.partition(" ")[0], switch, speed): count
            for key, (speed, counts) in table.items()
            for switch, count in counts.items()
        }
    )


def _pair(count: int) -> dict[str, int]:
    return {"core-01": count, "core-02": count}


# Counted in the topology files; `python -m tests.audit.architectures --published DIR` counts again.
PUBLISHED = {
    "2-4-3-200": _groups(
        {
            "su-01-node east-west": (400, _pair(4)),
            "su-01-node north-south": (200, _pair(4)),
            "support": (200, _pair(5)),
            "storage": (200, _pair(2)),
            "cust-net-edge-01": (100, _pair(2)),
            "cust-net-edge-02": (100, _pair(2)),
            "oob-switch-01": (100, _pair(1)),
            "oob-switch-02": (100, _pair(1)),
            "core-01": (400, {"core-02": 32}),
            "su-01-node out-of-band": (1, {"oob-switch-01": 4}),
            "support out-of-band": (1, {"oob-switch-01": 5}),
            "storage out-of-band": (1, {"oob-switch-01": 2}),
            "core-01 management": (1, {"oob-switch-01": 1}),
            "core-02 management": (1, {"oob-switch-02": 1}),
        }
    ),
    "2-8-5-200": _groups(
        {
            "su-01-node east-west": (400, _pair(8)),
            "su-01-node north-south": (200, _pair(4)),
            "support": (200, _pair(8)),
            "storage": (100, _pair(10)),
            "cust-net-edge-01": (100, _pair(9)),
            "cust-net-edge-02": (100, _pair(9)),
            "oob-switch-01": (100, _pair(2)),
            "oob-switch-02": (100, _pair(2)),
            "oob-switch-03": (100, _pair(2)),
            "core-01": (400, {"core-02": 40}),
            "su-01-node out-of-band": (1, {"oob-switch-01": 7, "oob-switch-02": 6, "oob-switch-03": 7}),
            "support out-of-band": (1, {"oob-switch-01": 14, "oob-switch-02": 13, "oob-switch-03": 13}),
            "storage out-of-band": (1, {"oob-switch-01": 3, "oob-switch-02": 3, "oob-switch-03": 4}),
            "core-01 management": (1, {"oob-switch-01": 1}),
            "core-02 management": (1, {"oob-switch-02": 1}),
        }
    ),
    "2-8-9-400": _groups(
        {
            "su-01-node east-west": (400, _pair(16)),
            "su-01-node north-south": (200, _pair(4)),
            "support": (200, _pair(8)),
            "storage": (100, _pair(6)),
            "cust-net-edge-01": (100, _pair(6)),
            "cust-net-edge-02": (100, _pair(6)),
            "oob-switch-01": (100, _pair(2)),
            "oob-switch-02": (100, _pair(2)),
            "oob-switch-03": (100, _pair(2)),
            "core-01": (400, {"core-02": 48}),
            "su-01-node out-of-band": (1, {"oob-switch-01": 7, "oob-switch-02": 6, "oob-switch-03": 7}),
            "support out-of-band": (1, {"oob-switch-01": 14, "oob-switch-02": 14, "oob-switch-03": 12}),
            "storage out-of-band": (1, {"oob-switch-01": 4, "oob-switch-02": 3, "oob-switch-03": 3}),
            "core-01 management": (1, {"oob-switch-01": 1}),
            "core-02 management": (1, {"oob-switch-02": 1}),
        }
    ),
}

SERVER = re.compile(r"(su-\d+-node|support|storage)-\d+")
SWITCH = re.compile(r"core-\d+|oob-switch-\d+")
EDGE = re.compile(r"cust-net-edge-\d+")


def kind_of(device: str) -> str:
    """A server without its number, any other device by its name."""
    match = SERVER.fullmatch(device)
    return match[1] if match else device


def published(folder: Path) -> Counter[Group]:
    """The groups of a topology file."""
    (path,) = folder.glob("*topology.json")
    links = json.loads(path.read_text("utf-8"))["content"]["links"]
    speeds = {device: port_speeds(config(folder, device)) for device in ("core-01", "core-02")}
    found: Counter[Group] = Counter()
    for link in links:
        ends = [(end["node"], end["interface"]) for end in link if isinstance(end, dict)]
        group = _group(ends, speeds) if len(ends) == 2 else None
        if group is not None:
            found[group] += 1
    return found


def config(folder: Path, device: str) -> Mapping[str, Any]:
    """What the exported file of a switch sets."""
    return nvue_tree((folder / "exported-configurations" / f"{device}.yaml").read_text("utf-8"))


def port_speeds(tree: Mapping[str, Any]) -> dict[str, int]:
    """Subport → Gb/s, by the lanes of its cage's breakout."""
    speeds = {}
    for cage, settings in tree["interface"].items():
        for split, lanes in ((settings.get("link") or {}).get("breakout") or {}).items():
            for sub in range(int(split.rstrip("x"))) if lanes else ():
                speeds[f"{cage}s{sub}"] = int(lanes["lanes-per-port"]) * LANE_GBPS
    return speeds


def _group(ends: list[tuple[str, str]], speeds: Mapping[str, Mapping[str, int]]) -> Group | None:
    """The group of a link; None for one that only the simulation has."""
    switches = [end for end in ends if SWITCH.fullmatch(end[0])]
    if not switches:
        return None
    if len(switches) == 2:  # below another: out-of-band below the pair, or the second of the pair
        switch, (device, port) = sorted(ends, key=lambda end: (end[0].startswith("oob"), end[0]))
        if port == "eth0" or switch[1] == "eth0":
            return Group(switch[0], device, OOB_GBPS)
        if device.startswith("core"):
            switch, device = (device, port), switch[0]
        return Group(device, switch[0], speeds[switch[0]].get(switch[1]) or speeds[device][port])
    (switch,) = switches
    (other,) = (end for end in ends if end is not switch)
    if switch[0].startswith("oob"):
        return Group(kind_of(other[0]), switch[0], OOB_GBPS) if SERVER.fullmatch(other[0]) else None
    return Group(kind_of(other[0]), switch[0], speeds[switch[0]][switch[1]])


def planned(path: Path) -> Counter[Group]:
    """The groups of a `links.csv`."""
    found: Counter[Group] = Counter()
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if SWITCH.fullmatch(row["b"]) and not _simulated(row):
                found[Group(kind_of(row["a"]), row["b"], int(row["speed_gbps"]))] += 1
    return found


def _simulated(row: Mapping[str, str]) -> bool:
    return row["b"].startswith("oob") and not (SERVER.fullmatch(row["a"]) or SWITCH.fullmatch(row["a"]))


def published_peers(folder: Path, device: str) -> dict[str, str]:
    """Cabled port of a published switch → kind of device at the other end, with the speed of ports of the pair."""
    (path,) = folder.glob("*topology.json")
    speeds = {name: port_speeds(config(folder, name)) for name in ("core-01", "core-02")}
    peers = {}
    for link in json.loads(path.read_text("utf-8"))["content"]["links"]:
        ends = [(end["node"], end["interface"]) for end in link if isinstance(end, dict)]
        for own, far in (ends, ends[::-1]) if len(ends) == 2 else ():
            if own[0] == device and own[1] != "eth0":
                speed = max(speeds.get(name, {}).get(port, OOB_GBPS) for name, port in (own, far))
                peers[own[1]] = f"{kind_of(far[0])} {speed}G"
    return peers


def differences(published: Counter[Group], planned: Counter[Group]) -> list[str]:
    """Groups that differ in number, speed or ends. Of servers' controllers only the sum counts, and at most one on a switch:
    both sides deal them out to the out-of-band switches in turns, which begin at another switch.
    """
    rows = []
    for kind, speed in sorted({(group.kind, group.speed_gbps) for group in published}):
        ends = [
            {group.switch: count for group, count in side.items() if (group.kind, group.speed_gbps) == (kind, speed)}
            for side in (published, planned)
        ]
        if ends[0] != ends[1] and not (speed == OOB_GBPS and _in_turns(*ends)):
            rows.append(f"{kind} {speed}G: published {ends[0]}, planned {ends[1]}")
    extra = sorted({(group.kind, group.speed_gbps) for group in planned - published} - BESIDE)
    return rows + [
        f"{kind} {speed}G: planned only" for kind, speed in extra if not any(_is(g, kind, speed) for g in published)
    ]


def _in_turns(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    near = all(abs(count - other.get(switch, 0)) <= 1 for switch, count in one.items())
    return near and one.keys() == other.keys() and sum(one.values()) == sum(other.values())


def _is(group: Group, kind: str, speed_gbps: int) -> bool:
    return (group.kind, group.speed_gbps) == (kind, speed_gbps)


# The management ports of the out-of-band switches, cabled to a neighbor; the published ones are managed over their own VLAN.
BESIDE = {(f"oob-switch-{n:02}", OOB_GBPS) for n in (1, 2, 3)}
