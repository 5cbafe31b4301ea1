"""Reads an frr.conf, or a file of one of its daemons; `router bgp` has a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fabric.model.facts import Interface, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.words import HEADS, Device, add_address, incomplete, vrf_name, walk
from fabric.nos.reading import Entry, esi, form_of, mac, need_number, placeholder, prefix, static_route, typed
from fabric.nos.reading.rules import Below, Line, Reading, Rule, Rules, below, keep, known, prefix_list, switch


def read_conf(processes: Processes, file: str, text: str) -> None:
    """Adds what a file says to a device and its BGP processes."""
    walk(Reading(processes.device.facts, file), text, TOP, processes)


# --- Interfaces -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Port:
    device: Device
    target: Interface


def _first(name: str, convert: Callable[[str], str]) -> Rule[Port]:
    """The ports of the kernel are read before: what was stated first holds."""

    def first(port: Port, line: Line) -> None:
        setattr(port.target, name, getattr(port.target, name) or line.located(convert(line[1])))

    return first


def _address(port: Port, line: Line) -> None:
    address = prefix(line[1] if "/" in line[1] or "peer" not in line[2].split() else f"{line[1]}/32")
    if address is None:
        raise ValueError(line[1])
    if not address.startswith("fe80:"):
        add_address(port.target.addresses, line.located(address))


def _system_mac(port: Port, line: Line) -> None:
    port.device.system_macs[port.target.name] = line.located(mac(line[1]))


def _segment(port: Port, line: Line) -> None:
    """`es-id 5` makes an ESI of type 3 with `es-sys-mac`; it may also be a whole ESI."""
    if ":" in line[1]:
        port.target.esi = line.located(esi(line[1]))
    else:
        port.device.segments[port.target.name] = line.located(need_number(line[1]))


LINK: Rules[Port] = Rules({}, HEADS["link-params"])
INTERFACE: Rules[Port] = Rules(
    {
        r"description(?: (.*))?": _first("description", lambda text: text.strip('"')),
        r"shutdown": switch("target.enabled", False),
        r"no shutdown": switch("target.enabled", True),
        r"vrf (\S+)": _first("vrf", vrf_name),  # as some tools write it
        r"(?:ip|ipv6) addr(?:ess)? (\S+)(?: (.*))?": _address,
        r"evpn mh es-sys-mac (\S+)": _system_mac,
        r"evpn mh es-id (\S+)": _segment,
        r"evpn mh es-df-pref (\d{1,5})": keep("target.preference", int),
        r"link-params": below(LINK),
    },
    HEADS["interface"],
)

# --- VRFs, route maps, keys -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Table:
    device: Device
    name: str


def _routed(table: Table, line: Line) -> None:
    _add_route(line, table.name)


def _add_route(line: Line, vrf: str) -> None:
    place = line.number, line.file
    line.facts.routes += static_route(line[1].split(), place, vrf, vrf_name, own="vrf", other="nexthop-vrf")


def _vni(table: Table, line: Line) -> None:
    number = line.located(need_number(line[1]))
    if vrf := line.facts.vrfs.get(table.name):
        vrf.vni = table.device.first(f"the VNI of VRF {table.name}", vrf.vni, number)


def _match(entry: Entry, line: Line) -> None:
    entry.match(line[1].split(), line.number)


def _key(processes: Processes, line: Line) -> None:
    if not placeholder(line[1]):
        line.facts.services.secrets.append(line.located(Secret("key of a key chain")))


VRF: Rules[Table] = Rules(
    {r"(?:ip|ipv6) route (.+)": _routed, r"vni (\S+)(?: .*)?": _vni, r"vni": incomplete},
    HEADS["vrf"],
)
ROUTE_MAP: Rules[Entry] = Rules(
    {r"match(?: (.*))?": _match, r"(?:on-match|continue|call)(?: .*)?": switch("jumps", True)},
    "match, set, on-match, description, continue, call",
)
KEYS: Rules[Processes] = Rules(
    {r"key-string (\S+)(?: .*)?": _key, r"key-string": incomplete, r"key(?: (?!chain ).*)?": known},
    "accept-lifetime, send-lifetime, cryptographic-algorithm",
)

# --- Sections that are passed: OSPF and IS-IS are compared by their statements, facts have nothing of them ----

BFD: Rules[Processes] = Rules({}, HEADS["bfd"])
IGP: dict[str, Rules[Processes]] = {name: Rules({}, HEADS[name]) for name in ("ospf", "ospf6", "isis")}
LABELS: Rules[Processes] = Rules({}, HEADS["labels"])  # segment routing and LDP
NONE: Rules[Processes] = Rules({})  # of a protocol that is not known

# --- The whole file -------------------------------------------------------------------------------------------


def _hostname(processes: Processes, line: Line) -> None:
    known = line.facts.hostname
    if known is None or known.file == line.file:  # a later line overrides an earlier one
        line.facts.hostname = line.located(line[1])


def _password(processes: Processes, line: Line) -> None:
    """`password …` and `enable password …` guard the daemons' own prompt, which is no login of the device: FRR ships with
    daemons that listen for it on the loopback alone."""
    kind, text = typed(line.words)
    if not placeholder(text):
        secret = Secret("password of the FRR prompt", form_of(text, kind))
        line.facts.services.secrets.append(line.located(secret))


def _route(processes: Processes, line: Line) -> None:
    _add_route(line, "")


def _route_map(processes: Processes, line: Line) -> Below:
    entry = Entry(name=line[1], permits=line[2] != "deny", line=line.number, file=line.file, number=int(line[3] or 0))
    processes.device.entries.append(entry)
    return ROUTE_MAP, [entry]


def _vrf(processes: Processes, line: Line) -> Below:
    name = vrf_name(line[1])
    if name not in ("", "Default-IP-Routing-Table"):
        processes.device.vrf(name, line.number, line.file)
    return VRF, [Table(processes.device, name)]


def _interface(processes: Processes, line: Line) -> Below:
    port = processes.device.interface(line[1], line.number, line.file)
    if line[2]:
        port.vrf = port.vrf or line.located(vrf_name(line[2]))
    return INTERFACE, [Port(processes.device, port)]


def _igp(processes: Processes, line: Line) -> Below:
    return IGP[line[1]], [processes]


def _unread(processes: Processes, line: Line) -> Below:
    """A section without a table, or a key whose chain is missing; what is secret below it is found all the same."""
    line.facts.unread.append(line.located(" ".join(line.words)))
    return (KEYS if line.words[0] == "key" else NONE), [processes]


TOP: Rules[Processes] = Rules(
    {
        r"hostname (\S+)(?: .*)?": _hostname,
        r"frr defaults traditional": switch("device.traditional", True),
        r"password .+": _password,
        r"enable (?:.* )?password .+": _password,
        r"(?:password|enable)(?:.* password)?": known,
        r"(?:ip|ipv6) prefix-list (\S+)(?: (.*))?": prefix_list,
        r"(?:ip|ipv6) route (.+)": _route,
        r"route-map optimization(?: .*)?": known,
        r"route-map (\S+)(?: (\S+)(?: (\d{1,5})(?!\d))?.*)?": _route_map,
        r"vrf (\S+)(?: .*)?": _vrf,
        r"interface (\S+)(?: vrf (\S+))?(?: .*)?": _interface,
        r"bfd(?: .*)?": below(BFD),
        r"key chain(?: .*)?": below(KEYS),
        r"segment-routing(?: .*)?": below(LABELS),
        r"mpls ldp": below(LABELS),
        rf"router ({'|'.join(IGP)})(?: .*)?": _igp,
        r"router bgp(?: .*)?": Processes.of,
        r"no router bgp(?: .*)?": Processes.remove,
        r"(?:router|key) .+": _unread,
        r"(?:hostname|interface|ip|ipv6|key|route-map|router|vrf|(?:ip|ipv6) prefix-list)": incomplete,
    },
    HEADS["top"],
)
