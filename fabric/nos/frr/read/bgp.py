"""Reads `router bgp` of an frr.conf. What a peer group says is filled into its members when all is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network

from fabric.model.facts import Bgp, Located, Secret, Vni, Vrf
from fabric.nos.frr.read.words import DERIVED, HEADS, Device, hidden, incomplete, peer_address, vrf_name
from fabric.nos.reading import asn, need_number, password, peers, placeholder
from fabric.nos.reading.peers import DIRECTIONS, FAMILIES, UNICAST, Peer, Says
from fabric.nos.reading.rules import Below, Line, Rule, Rules, Table, add, below, keep, known, one_of, switch

# --- Processes ------------------------------------------------------------------------------------------------

DEFAULTS = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6", "l2vpn-evpn": "evpn"}  # of `bgp default …`


@dataclass(slots=True, kw_only=True)
class Process:
    """A BGP process while it is read."""

    device: Device
    bgp: Bgp
    peers: dict[str, Peer] = field(default_factory=dict)  # and peer groups
    groups: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)  # names of neighbors and groups that FRR knows at the line that is read
    ranges: list[tuple[str, Located[str]]] = field(default_factory=list)  # (prefix to listen on, its group)
    default: Peer = field(default_factory=lambda: Peer(name="", line=0, file=""))  # what holds for every neighbor
    active: dict[str, bool] = field(default_factory=lambda: {"ipv4": True})  # families that a neighbor has without asking

    def finish(self) -> None:
        """Fills the groups into their members."""
        made = [peer for peer in self.peers.values() if peer.interface or peer_address(peer.name)]
        made = [peer for peer in made if peer.name not in self.groups]
        for prefix, group in self.ranges:
            made.append(Peer(name=prefix, line=group.line, file=group.file, group=group, dynamic=True))
        active = [name for name, on in self.active.items() if on]
        for peer in made:
            over = self.peers.get(peer.group.value) if peer.group else None
            if over is not None and "remote_as" in over.values:
                peer.values.pop("remote_as", None)  # refused, or replaced when the neighbor joined
            above = (self.default, over)
            self.bgp.neighbors[peer.name] = peer.neighbor(self.bgp.vrf, above, active)


class Processes:
    """The BGP processes of a device, each of which may stand in several files."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.known: dict[str, Process] = {}

    def of(self, line: Line) -> Below:
        """A line `router bgp 65000 vrf red` begins a process, or goes on with it."""
        words, vrf, device = line.words, _table(line), self.device
        made = self.known.get(vrf)
        if made is None:
            made = self.known[vrf] = Process(device=device, bgp=device.bgp(vrf, line.number, line.file))
        if number := asn(words[2]) if words[2:] else None:
            made.bgp.asn = device.first(f"the AS of VRF {vrf or 'default'}", made.bgp.asn, line.located(number))
        elif words[2:] and words[2] not in ("auto", "view", "vrf"):
            device.facts.broken.append(line.located(f"cannot be read: {' '.join(words)}"))
        return PROCESS, [Family(made, "ipv4")]  # lines of families may stand right under it, as IPv4's

    def remove(self, line: Line) -> None:
        """`no router bgp 65000` removes what stands before it."""
        if self.known.pop(vrf := _table(line), None):
            del self.device.facts.bgp[vrf]

    def finish(self) -> None:
        for process in self.known.values():
            process.finish()
            if self.device.traditional and process.bgp.relax is None:  # FRR, "BGP": `bgp bestpath as-path multipath-relax`
                process.bgp.relax = Located(False, process.bgp.line, process.bgp.file)


def _table(line: Line) -> str:
    """The VRF of a line `router bgp 65000 vrf red`."""
    words = line.words
    return vrf_name(next((words[at + 1] for at, word in enumerate(words[:-1]) if word in ("vrf", "view")), ""))


# --- Neighbors and peer groups --------------------------------------------------------------------------------

FILTERS = ("prefix-list", "route-map", "filter-list", "distribute-list")
VERBS: Mapping[str, Says] = {
    **peers.VERBS,
    "update-source": lambda words: {"source": peer_address(words[0]) or words[0]},
}
READ = "|".join((*VERBS, *FILTERS, "activate", "peer-group", "interface", "password"))
MAKING = ("remote-as", "peer-group", "interface")
PASSED = one_of(HEADS["neighbor"])


@dataclass(slots=True)
class Family:
    """An address family of a process."""

    process: Process
    name: str


def _peer(family: Family, line: Line) -> Peer:
    name = peer_address(line[1]) or line[1]
    return family.process.peers.setdefault(name, Peer(name=name, line=line.number, file=line.file))


def _named(family: Family, line: Line) -> None:
    """A statement that says no more than that there is such a neighbor."""
    _peer(family, line)


def _unknown(family: Family, line: Line) -> None:
    """The statement is not known, but there is such a neighbor."""
    _peer(family, line)
    line.facts.unread.append(line.located(hidden(line.words)))


def _neighbor(family: Family, line: Line) -> None:
    peer, verb, words = _peer(family, line), line[2], line[3].split()
    if verb in MAKING and peer.name not in family.process.made:  # FRR has dropped the lines above
        family.process.made.add(peer.name)
        peer.values, peer.families, peer.line, peer.file = {}, {}, line.number, line.file
    if verb == "activate":
        peer.families[family.name] = line.located(True)
    elif verb == "peer-group":
        _group(family.process, peer, line, words)
    elif verb == "interface":
        _interface(family.process, peer, line, words)
    elif verb == "password":
        peer.values["authentication"] = line.located(password(words[-1]))
        if not placeholder(words[-1]):
            line.facts.services.secrets.append(line.located(Secret(f"BGP password of {peer.name}")))
    elif verb in FILTERS:  # the first one of a direction is the one that facts name
        peer.values.setdefault(DIRECTIONS[words[1]], line.located(words[0]))
    else:
        peer.values |= {name: line.located(value) for name, value in VERBS[verb](words).items()}


def _group(process: Process, peer: Peer, line: Line, words: list[str]) -> None:
    if words:
        peer.group = line.located(words[0])
    elif not peer_address(peer.name):  # a group may be called as a neighbor is, which stays one
        process.groups.add(peer.name)


def _interface(process: Process, peer: Peer, line: Line, words: list[str]) -> None:
    """`neighbor swp1 interface [v6only] [remote-as … | peer-group …]`; beside an address the interface is a scope."""
    rest = [word for word in words if word != "v6only"]
    if peer_address(peer.name):
        if len(rest) < 2:
            return
        got = f"neighbor {peer.name} interface: expected the name of an interface, got an address"
        line.facts.broken.append(line.located(got))
    else:
        peer.interface = True
    if rest[:1] == ["peer-group"]:
        _group(process, peer, line, rest[1:])
    elif rest:
        peer.values |= {name: line.located(value) for name, value in VERBS[rest[0]](rest[1:]).items()}


def _undone(family: Family, line: Line) -> None:
    peer, verb = _peer(family, line), line[2]
    if verb == "activate":
        peer.families[family.name] = line.located(False)
    elif verb == "password":
        peer.values.pop("authentication", None)
    elif verb in ("bfd", "shutdown"):
        peer.values |= {name: line.located(not value) for name, value in VERBS[verb]([]).items()}


# --- Lines ----------------------------------------------------------------------------------------------------


def _distinguish(owner: Vrf | Vni, line: Line) -> None:
    """`rd 10.0.0.1:1`; `route-target both 65000:1 65000:2`, which may be `rt` too."""
    words = [word for word in line.words if word != "vpn"]
    if words[0] == "rd":
        owner.rd = line.located(next(word for word in words[1:] if word != "export"))
        return
    for direction, targets in (("import", owner.imports), ("export", owner.exports)):
        if words[1] in (direction, "both"):
            targets += (line.located(text) for text in words[2:])


def _targets(family: Family, line: Line) -> None:
    """`rd` and `route-target` of a VRF; `rd vpn export` and `rt vpn import` are the older spelling."""
    if name := family.process.bgp.vrf:
        _distinguish(family.process.device.vrf(name, line.number, line.file), line)


def _leak(family: Family, line: Line) -> None:
    """`import vrf red` and `import vrf route-map RM-LEAK` of a tenant's table."""
    if not (name := family.process.bgp.vrf):
        return
    vrf = family.process.device.vrf(name, line.number, line.file)
    if line[1]:
        vrf.leak_filter = line.located(line[1])
    else:
        vrf.leaks.append(line.located(vrf_name(line[2])))


def _advertised(family: Family, line: Line) -> None:
    """`advertise ipv4 unicast route-map RM-OWN`: what EVPN advertises of a tenant's table."""
    if name := family.process.bgp.vrf:
        family.process.device.vrf(name, line.number, line.file).evpn_filter = line.located(line[1])


def _paths(family: Family, line: Line) -> None:
    """Equal-cost paths of eBGP; `maximum-paths ibgp` limits those inside the AS."""
    new, old = line.located(need_number(line[1])), family.process.bgp.max_paths
    family.process.bgp.max_paths = new if old is None or new.value < old.value else old


def _vni(family: Family, line: Line) -> Below:
    return VNI, [family.process.device.vni(need_number(line[1]), line.number, line.file)]


def _typed(family: Family, line: Line) -> None:
    """Derived targets of VNIs have the form of RFC 8365."""
    line.facts.derived = replace(DERIVED, typed=True)


def _own_gateway(vni: Vni, line: Line) -> None:
    line.facts.svi_advertised = line.located(True)


def _family(family: Family, line: Line) -> Below:
    """`ipv4`, `ipv4 uni` and `ipv4 unicast` are one; the families that facts do not know keep their words."""
    second = line[2] or "unicast"
    text = f"{line[1]} {'unicast' if 'unicast'.startswith(second) else second}"
    name = FAMILIES.get(text, text)
    return (OF_UNICAST if name in UNICAST else OF_EVPN if name == "evpn" else OF_OTHER), [Family(family.process, name)]


def _timers(family: Family, line: Line) -> None:
    for name, value in zip(("keepalive_s", "hold_s"), line[1].split()[:2], strict=True):
        family.process.default.values[name] = line.located(need_number(value))


def _default(active: bool) -> Rule[Family]:
    return lambda family, line: family.process.active.update({DEFAULTS[line[1]]: active})


def _range(family: Family, line: Line) -> None:
    family.process.ranges.append((str(ip_network(line[1], strict=False)), line.located(line[2])))


IN_FAMILY = HEADS["family"]
VNI: Rules[Vni] = Rules({r"(?:rd|route-target)(?: .+)?": _distinguish, r"advertise-svi-ip": _own_gateway}, IN_FAMILY)
SRV6: Rules[Family] = Rules({}, "encap-behavior, locator")
BMP: Rules[Family] = Rules({}, "bmp, ip access-list, ipv6 access-list")
OTHER: Table[Family] = {
    rf"neighbor (\S+) ({READ})(?: (.*))?": _neighbor,
    rf"no neighbor (\S+) ({READ})(?: (.*))?": _undone,
    rf"neighbor (\S+) (?:{PASSED})(?: .*)?": _named,
    rf"no neighbor (\S+) (?:{PASSED})(?: .*)?": _named,
    r"neighbor (\S+) .+": _unknown,
    r"no neighbor (\S+) .+": _unknown,
    r"neighbor(?: \S+)?": incomplete,
    r"no neighbor(?: \S+)?": incomplete,
    r"maximum-paths ibgp (\d{1,4})(?: .*)?": keep("process.bgp.internal_paths", int),
    r"maximum-paths (\S+)(?: .*)?": _paths,
    r"maximum-paths": incomplete,
    r"(?:rd|rt|route-target)(?: .+)?": _targets,
    r"bmp targets(?: .*)?": below(BMP),
    r"route-map vpn(?: .*)?": known,
}
OF_OTHER: Rules[Family] = Rules(OTHER, IN_FAMILY)
OF_EVPN: Rules[Family] = Rules(
    {
        **OTHER,
        r"advertise ipv[46] unicast(?: .*)? route-map (\S+)(?: .*)?": _advertised,
        r"vni (\S+)(?: .*)?": _vni,
        r"autort rfc8365-compatible": _typed,
        r"vni": incomplete,
        r"advertise-all-vni": switch("process.device.advertised", True),
        r"advertise-svi-ip": switch("process.device.facts.svi_advertised", True),
    },
    IN_FAMILY,
)
ROUTES: Table[Family] = {  # what enters BGP
    r"import vrf (?:route-map (\S+)|(\S+))(?: .*)?": _leak,
    r"redistribute connected(?:.* route-map (\S+))?(?: .*)?": keep("process.bgp.connected"),
    r"aggregate-address (\S+)(?: .*)?": add("process.bgp.aggregates"),
    r"network (\S+/\d+)(?: .*)?": add("process.bgp.networks"),
    r"((?:network|redistribute) .+)": keep("process.bgp.originates"),
}
OF_UNICAST: Rules[Family] = Rules({**OTHER, **ROUTES}, IN_FAMILY)
OF_BGP = one_of(HEADS["bgp"])
PROCESS: Rules[Family] = Rules(
    {
        r"address-family (\S+)(?: (\S+).*)?": _family,
        r"segment-routing(?: .*)?": below(SRV6),
        r"timers bgp(.*)": _timers,
        r"(?:address-family|bgp|timers)": incomplete,
        r"bgp router-id (\S+)(?: .*)?": keep("process.bgp.router_id", lambda text: str(ip_address(text))),
        r"bgp router-id": known,
        r"bgp bestpath as-path multipath-relax(?: .*)?": switch("process.bgp.relax", True),
        r"no bgp bestpath as-path multipath-relax(?: .*)?": switch("process.bgp.relax", False),
        rf"bgp default ({'|'.join(DEFAULTS)})(?: .*)?": _default(True),
        rf"no bgp default ({'|'.join(DEFAULTS)})(?: .*)?": _default(False),
        r"bgp listen range (\S+) peer-group (\S+)(?: .*)?": _range,
        rf"bgp (?:{OF_BGP})(?: .*)?": known,
        **OTHER,
        **ROUTES,
    },
    IN_FAMILY,
)
