"""What tools report of an InfiniBand subnet: `ibnetdiscover`, `iblinkinfo`, and the ports of UFM, as nodes and cables.

Sources: infiniband-diags 44.0 (Debian package) as it prints, ibnetdiscover(8) and iblinkinfo(8); UFM Enterprise REST API
guide, Ports (docs.nvidia.com), `GET /ufmRest/resources/ports`.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from fabric.base.diagnostics import Diagnostic, InputError, Place

CODE = "FAB175"
LANE_GBPS = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
_RATES = {
    2.5: 10,
    5: 20,
    10: 40,
    14.0625: 56,
    25.78125: 100,
    26.5625: 100,
    53.125: 200,
    106.25: 400,
    212.5: 800,
}  # of 4 lanes
WHAT = "output of ibnetdiscover or iblinkinfo, or the ports of UFM as JSON"

End = tuple[int, int]  # GUID of a node, and number of its port


@dataclass(slots=True)
class FoundNode:
    """A node on the wire."""

    guid: int
    name: str
    switch: bool | None  # None: unknown
    port_guids: dict[int, int] = field(default_factory=dict)  # of channel adapters
    line: int = 0


@dataclass(slots=True)
class Discovered:
    """Nodes by GUID; cables from each end that reported one."""

    nodes: dict[int, FoundNode] = field(default_factory=dict)
    peers: dict[End, End] = field(default_factory=dict)
    speeds: dict[End, int] = field(default_factory=dict)  # Gb/s
    down: set[End] = field(default_factory=set)  # ports that are listed without a neighbor
    tool: str = ""

    def node(self, guid: int, name: str, switch: bool | None, line: int = 0) -> FoundNode:
        known = self.nodes.setdefault(guid, FoundNode(guid, name, switch, {}, line))
        known.name = known.name or name
        known.switch = switch if known.switch is None else known.switch
        return known

    def join(self, here: End, there: End, speed_gbps: int = 0) -> None:
        self.peers[here] = there
        self.peers.setdefault(there, here)
        if speed_gbps:
            self.speeds[here] = speed_gbps
            self.speeds.setdefault(there, speed_gbps)

    def without_aggregators(self) -> Discovered:
        """Without the aggregation nodes of switches, which show as adapters on a port of their own."""
        gone = {guid for guid, node in self.nodes.items() if node.switch is not True and _AGGREGATOR.search(node.name)}
        nodes = {guid: node for guid, node in self.nodes.items() if guid not in gone}
        peers = {end: far for end, far in self.peers.items() if end[0] not in gone and far[0] not in gone}
        return Discovered(nodes, peers, self.speeds, self.down, self.tool)


_AGGREGATOR = re.compile(r"aggregation node|mellanox technologies aggregation|:an\b|SHArP", re.IGNORECASE)


def read(text: str, file: str) -> Discovered:
    """What a file reports. Raises InputError for one that is none of these."""
    found = _ufm(text, file) if text.lstrip()[:1] in ("[", "{") else _plain(text)
    if not found.nodes:
        got = "an empty file" if not text.strip() else "an unknown format"
        raise InputError([Diagnostic(CODE, Place(file, 1, 1), f"expected {WHAT}, got {got}", HINT)])
    return found.without_aggregators()


HINT = "`ibnetdiscover`, `iblinkinfo -l`, `curl …/ufmRest/resources/ports`"


def knows(text: str) -> bool:
    """Whether a file is one of these: by its first lines that say so."""
    head = text[:20_000]
    return bool(_NODE.search(head) or _LINK_LINE.search(head) or _BLOCK.search(head) or '"peer_port_dname"' in head)


def _plain(text: str) -> Discovered:
    if _NODE.search(text):
        return _netdiscover(text)
    return _linkinfo(text)


# --- ibnetdiscover ---------------------------------------------------------------------------------------------

_NODE = re.compile(r'^(Switch|Ca|Rt)\s+(\d+)\s+"[SHR]-([0-9a-fA-F]+)"(?:\s*#\s*"([^"]*)")?', re.MULTILINE)
_PORT = re.compile(
    r'^\[(\d+)\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]+)\))?\s+"([SHR])-([0-9a-fA-F]+)"\[(\d+)\](?:\[ext \d+\])?'
    r"(?:\(([0-9a-fA-F]+)\))?(?:.*?#\s*(.*))?$"
)
_QUOTED = re.compile(r'"([^"]*)"')
_SPEED = re.compile(r"\b(1|2|4|8|12)x?(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")


def _netdiscover(text: str) -> Discovered:
    """Blocks of a node and its cabled ports. The comment behind a cable has the far node, and its width and speed."""
    found, here = Discovered(tool="ibnetdiscover"), 0
    for number, line in enumerate(text.splitlines(), 1):
        if head := _NODE.match(line):
            here = int(head[3], 16)
            found.node(here, head[4] or "", head[1] == "Switch", number).line = number
        elif (port := _PORT.match(line)) and here:
            far = int(port[4], 16)
            comment = port[7] or ""
            name = quoted[1] if (quoted := _QUOTED.search(comment)) else ""
            found.node(far, name, port[3] == "S", number)
            if port[2]:
                found.nodes[here].port_guids[int(port[1])] = int(port[2], 16)
            if port[6]:
                found.nodes[far].port_guids[int(port[5])] = int(port[6], 16)
            found.join((here, int(port[1])), (far, int(port[5])), speed_of(comment))
    return found


def speed_of(text: str) -> int:
    """`4xNDR` → 400."""
    match = _SPEED.search(text)
    return _gbps(int(match[1]), LANE_GBPS[match[2]]) if match else 0


def _gbps(lanes: int, lane: float) -> int:
    return round(lanes * lane)


# --- iblinkinfo: a line for each port (-l), or blocks of a switch -----------------------------------------------

_LINK_LINE = re.compile(
    r'^\s*(?:0x([0-9a-fA-F]{16})\s+)?(?:"\s*([^"]*?)\s*"\s+)?(\d+)\s+(\d+)\[\s*\]\s*==\((.*?)\)==>\s+(.*)$', re.MULTILINE
)
_FAR = re.compile(r'(?:0x([0-9a-fA-F]{16})\s+)?(\d+)\s+(\d+)\[\s*\]\s+"\s*([^"]*?)\s*"')
_BLOCK = re.compile(r'^(Switch|CA|RT):\s+(?:0x)?([0-9a-fA-F]{16})?\s*([^"\n]*?):?\s*$', re.MULTILINE)
_RATE = re.compile(r"(\d+)X\s+([0-9.]+) Gbps", re.IGNORECASE)


def _linkinfo(text: str) -> Discovered:
    """Without GUIDs (blocks of older releases) nodes are identified by their names."""
    found, here, name = Discovered(tool="iblinkinfo"), 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if block := _BLOCK.match(line):
            name = block[3].strip()
            here = int(block[2] or "0", 16) or _pseudo(name)
            found.node(here, name, block[1] == "Switch", number)
            continue
        match = _LINK_LINE.match(line)
        if match is None:
            continue
        if match[2]:
            here, name = int(match[1] or "0", 16) or _pseudo(match[2]), match[2]
        node = found.node(here, name, None, number)
        end = (node.guid, int(match[4]))
        far = _FAR.match(match[6])
        if far is None or "LinkUp" not in match[5]:
            found.down.add(end)
            continue
        guid = int(far[1], 16) if far[1] else _pseudo(far[4])
        found.node(guid, far[4], None)
        rate = _RATE.search(match[5])
        found.join(end, (guid, int(far[3])), _of_rate(rate) if rate else 0)
    return _merged(found)


_NAMED = 1 << 64  # above all GUIDs


def _pseudo(name: str) -> int:
    """A number that stands for a node of which only the name is known."""
    return _NAMED | zlib.crc32(name.strip().encode())


def _of_rate(rate: re.Match[str]) -> int:
    lane = min(_RATES, key=lambda known: abs(known - float(rate[2])))
    return _RATES[lane] * int(rate[1]) // 4


def _merged(found: Discovered) -> Discovered:
    """Nodes of which only the name is known are those of that name that have a GUID."""
    named: dict[str, list[int]] = {}
    for guid, node in found.nodes.items():
        if guid < _NAMED:
            named.setdefault(node.name, []).append(guid)
    same = {
        guid: named[node.name][0]
        for guid, node in found.nodes.items()
        if guid >= _NAMED and len(named.get(node.name, ())) == 1
    }
    nodes = {guid: node for guid, node in found.nodes.items() if guid not in same}

    def end(old: End) -> End:
        return same.get(old[0], old[0]), old[1]

    peers = {end(here): end(there) for here, there in found.peers.items()}
    speeds = {end(here): speed for here, speed in found.speeds.items()}
    return Discovered(nodes, peers, speeds, {end(here) for here in found.down}, found.tool)


# --- ports of UFM ----------------------------------------------------------------------------------------------


def _ufm(text: str, file: str) -> Discovered:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([Diagnostic(CODE, Place(file, line), f"not JSON: {error}", HINT)]) from error
    found = Discovered(tool="UFM")
    for row in _rows(value):
        guid, number = _hex(row.get("systemID") or row.get("guid")), _port_number(row)
        own = _hex(row.get("guid"))
        name, described = str(row.get("system_name") or ""), str(row.get("node_description") or "")
        switch = _is_switch(row)
        here = own if not switch else guid or own
        if not here or not number:
            continue
        node = found.node(here, name if switch else described or name, switch)
        if not switch:
            node.port_guids[number] = own
        peer = str(row.get("peer") or "")
        far_guid, _, far_port = peer.rpartition("_")
        if not far_guid or not far_port.isdecimal():
            found.down.add((here, number))
            continue
        found.join((here, number), (_hex(far_guid), int(far_port)), _ufm_speed(row))
    missing = sorted({far[0] for far in found.peers.values()} - set(found.nodes))
    for guid in missing:
        found.node(guid, "", switch=False)
    return found


def _rows(value: object) -> Iterator[dict[str, object]]:
    """The ports, however they are wrapped."""
    if isinstance(value, list):
        yield from (row for row in value if isinstance(row, dict) and "guid" in row)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _rows(inner)


def _is_switch(row: dict[str, object]) -> bool:
    text = f"{row.get('node_type') or row.get('system_type') or ''} {row.get('path') or ''}".lower()
    if "switch" in text:
        return True
    return not any(word in text for word in ("host", "computer", "server")) and ":" in str(row.get("node_description") or "")


def _hex(value: object) -> int:
    text = str(value or "").lower().removeprefix("0x")
    return int(text, 16) if re.fullmatch("[0-9a-f]{1,16}", text) else 0


def _port_number(row: dict[str, object]) -> int:
    """`number` of a port, else the end of its name, `0002c90000000017_1`."""
    text = str(row.get("number") or str(row.get("name") or "").rpartition("_")[2])
    return int(text) if text.isdecimal() else 0


def _ufm_speed(row: dict[str, object]) -> int:
    width = re.match(r"(\d+)", str(row.get("active_width") or ""))
    lane = LANE_GBPS.get(str(row.get("active_speed") or "").upper())
    return _gbps(int(width[1]), lane) if width and lane else 0
