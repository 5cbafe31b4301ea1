"""Reads `router bgp` of an frr.conf. What a peer group says is filled into its members when all is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

from fabric.model.facts import Bgp, Located, Neighbor, Secret, Vni, Vrf
from fabric.nos.frr.read.words import Device, Line, Open, peer_address, vrf_name
from fabric.nos.reading import asn, need_number, password, peers, placeholder
from fabric.nos.reading.peers import DIRECTIONS, FAMILIES, UNICAST, Says

# --- Statements of one neighbor, and a draft of it while it is read -------------------------------------------

# Filters: verb → what its name is the name of.
FILTERS = {
    "prefix-list": "prefix list",
    "route-map": "route-map",
    "filter-list": "as-path list",
    "distribute-list": "access list",
}
# Verbs that tell nothing a check asks for.
NEIGHBOR = frozenset((
    "accept-own", "addpath-rx-paths-limit", "addpath-tx-all-paths", "addpath-tx-best-selected",
    "addpath-tx-bestpath-per-AS", "advertise-map", "advertisement-interval", "aigp", "as-override",
    "attribute-unchanged", "capability", "default-originate", "disable-addpath-rx", "disable-connected-check",
    "disable-link-bw-encoding-ieee", "dont-capability-negotiate", "encapsulation-mpls", "encapsulation-srv6",
    "encapsulation-srv6-relax", "enforce-first-as", "enforce-multihop", "extended-link-bandwidth",
    "extended-optional-parameters", "graceful-restart", "graceful-restart-disable", "graceful-restart-helper",
    "graceful-shutdown", "ip-transparent", "link-bandwidth", "local-role", "maximum-prefix-out", "next-hop-self",
    "nexthop-local", "oad", "override-capability", "passive", "path-attribute", "port", "remove-private-AS",
    "remove-private-as", "route-server-client", "rpki", "send-community",
    "send-nexthop-characteristics", "sender-as-path-loop-detection", "soft-reconfiguration", "solo", "soo",
    "strict-capability-match", "tcp-mss", "ttl-security", "unsuppress-map", "weight",
))  # fmt: skip


# What a neighbor's statement says, by its verb.
VERBS: Mapping[str, Says] = {
    **peers.VERBS,
    "update-source": lambda words: {"source": peer_address(words[0]) or words[0]},
}


@dataclass(slots=True, kw_only=True)
class Draft:
    """A neighbor or peer group as its own lines tell it."""

    name: str
    line: int
    file: str
    configured: dict[str, Located[Any]] = field(default_factory=dict)  # by field of the neighbor
    families: dict[str, Located[bool]] = field(default_factory=dict)
    group: Located[str] | None = None
    is_group: bool = False
    interface: bool = False


# --- Processes ------------------------------------------------------------------------------------------------

DEFAULTS = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6", "l2vpn-evpn": "evpn"}  # of `bgp default …`
# Statements that tell nothing a check asks for: of `bgp …`, of a process or family, of `bmp targets`.
BGP = frozenset((
    "allow-martian-nexthop", "always-compare-med", "as-path-loop-detection", "bestpath", "client-to-client",
    "cluster-id", "conditional-advertisement", "confederation", "dampening", "default",
    "default-link-bandwidth-encoding", "deterministic-med", "disable-ebgp-connected-route-check",
    "ebgp-requires-policy", "enforce-first-as", "fast-convergence", "fast-external-failover", "graceful-restart",
    "graceful-restart-disable", "graceful-shutdown", "hard-administrative-reset", "import-check", "input-queue-limit",
    "ipv6-auto-ra", "labeled-unicast", "listen", "log-neighbor-changes", "long-lived-graceful-restart",
    "lu-ipv4-explicit-null", "lu-ipv6-explicit-null", "max-med", "minimum-holdtime", "network", "nexthop-group",
    "output-queue-limit", "per-source-nhg", "reject-as-sets", "retain", "route-map", "route-reflector",
    "rr-allow-outbound-policy", "session-dscp", "shutdown", "snmp", "suppress-duplicates", "suppress-fib-pending",
    "tcp-keepalive", "update-delay", "use-underlays-nexthop-weight", "wait-for-install",
))  # fmt: skip
FAMILY = frozenset((
    "advertise", "advertise-all-vni", "advertise-default-gw", "advertise-pip", "advertise-svi-ip", "aggregate-address",
    "as-notation", "auto-summary", "autort", "bmp-source", "coalesce-time", "default-originate", "disable-ead-evi-rx",
    "disable-ead-evi-tx", "distance", "dup-addr-detection", "ead-es-frag", "ead-es-route-target",
    "enable-resolve-overlay-index", "export", "flooding", "import", "label", "mac-vrf", "mpls", "network", "nexthop",
    "read-quanta", "redistribute", "segment-routing", "sid", "srv6-only", "subgroup-pkt-queue-max", "table-map",
    "timers", "update-delay", "use-es-l3nhg", "vnc", "vrf-policy", "write-quanta",
))  # fmt: skip
SRV6 = frozenset(("encap-behavior", "locator"))
BMP = frozenset(("bmp", "ip access-list", "ipv6 access-list"))


class Process:
    """A BGP process while it is read."""

    def __init__(self, device: Device, bgp: Bgp) -> None:
        self.device, self.bgp = device, bgp
        self.drafts: dict[str, Draft] = {}
        self.ranges: list[tuple[str, Located[str]]] = []  # (prefix to listen on, its group)
        self.configured: dict[str, Located[Any]] = {}  # what holds for every neighbor
        self.active = {"ipv4": True}  # families that a neighbor has without asking

    def line(self, line: Line, open_: Open) -> bool:
        """A statement right under `router bgp`; those of families may stand there too, as IPv4's."""
        words = line.words
        if words[0] == "address-family":
            open_(partial(self.in_family, _family(line.words[1:])))
            return True
        if words[0] == "segment-routing":
            open_(lambda inner, _: inner.words[0] in SRV6)
            return True
        if words[0] == "timers" and words[1] == "bgp":
            for name, value in zip(("keepalive_s", "hold_s"), words[2:4], strict=True):
                self.configured[name] = Located(need_number(value), line.number, line.file)
            return True
        return self._bgp(line) if words[0] == "bgp" else self.in_family("ipv4", line, open_)

    def _bgp(self, line: Line) -> bool:
        bgp, words = self.bgp, line.words
        match words[1:]:
            case ["router-id", address, *_] if not line.negated:
                bgp.router_id = line.located(str(ip_address(address)))
            case ["bestpath", "as-path", "multipath-relax", *_]:
                bgp.relax = Located(not line.negated, line.number, line.file)
            case ["default", family, *_] if family in DEFAULTS:
                self.active[DEFAULTS[family]] = not line.negated
            case ["listen", "range", prefix, "peer-group", group, *_]:
                self.ranges.append((str(ip_network(prefix, strict=False)), line.located(group)))
            case ["router-id", *_]:
                pass
            case _:
                return words[1] in BGP
        return True

    def in_family(self, family: str, line: Line, open_: Open) -> bool:
        """A statement of an address family."""
        words = line.words
        if words[0] == "neighbor":
            return self._neighbor(family, line)
        if words[0] == "maximum-paths":
            self._paths(line)
        elif words[0] == "vni" and family == "evpn":
            vni = self.device.vni(need_number(words[1]), line.number, line.file)
            open_(lambda inner, _: _in_vni(vni, inner))
        elif words[0] in ("rd", "rt", "route-target"):
            self._targets(line)
        elif words[:2] == ["bmp", "targets"]:
            open_(lambda inner, _: inner.is_one_of(BMP))
        elif words[:2] == ["route-map", "vpn"]:
            pass
        elif words[0] in FAMILY:
            if family in UNICAST and not line.negated:
                self._routes(line)
        else:
            return False
        return True

    def _routes(self, line: Line) -> None:
        """What enters BGP here."""
        match line.words:
            case ["redistribute", "connected", *rest]:
                self.bgp.connected = line.located(rest[rest.index("route-map") + 1] if "route-map" in rest[:-1] else "")
            case ["aggregate-address", prefix, *_]:
                self.bgp.aggregates.append(line.located(prefix))

    def _paths(self, line: Line) -> None:
        """Equal-cost paths of eBGP; `maximum-paths ibgp` limits those inside the AS."""
        if line.words[1] != "ibgp" and not line.negated:
            new = Located(need_number(line.words[1]), line.number, line.file)
            old = self.bgp.max_paths
            self.bgp.max_paths = new if old is None or new.value < old.value else old

    def _targets(self, line: Line) -> None:
        """`rd` and `route-target` of a VRF; `rd vpn export` and `rt vpn import` are the older spelling."""
        name = self.bgp.vrf
        if name and not line.negated:
            vrf = self.device.vrf(name, line.number, line.file)
            words = [word for word in line.words if word not in ("vpn", "export")] if line.words[0] == "rd" else line.words
            _distinguish(vrf, line, [word for word in words if word != "vpn"])

    def _neighbor(self, family: str, line: Line) -> bool:
        name, verb, words = line.words[1], line.words[2], line.words[3:]
        name = peer_address(name) or name
        draft = self.drafts.get(name)
        if draft is None:
            draft = self.drafts[name] = Draft(name=name, line=line.number, file=line.file)
        match verb:
            case "activate":
                draft.families[family] = Located(not line.negated, line.number, line.file)
            case "peer-group":
                self._group(draft, line, words)
            case "interface":
                self._interface(draft, line, words)
            case "password":
                self._password(draft, line, words)
            case _ if verb in FILTERS:
                self._filter(draft, line, verb, words)
            case _ if verb in VERBS:
                self._tell(draft, line, verb, words)
            case _:
                return verb in NEIGHBOR
        return True

    def _group(self, draft: Draft, line: Line, words: list[str]) -> None:
        if not words:
            draft.is_group = not peer_address(draft.name)  # a group may be called as a neighbor is, which stays one
        elif not line.negated:
            draft.group = line.located(words[0])

    def _interface(self, draft: Draft, line: Line, words: list[str]) -> None:
        """`neighbor swp1 interface [v6only] [remote-as … | peer-group …]`; beside an address the interface is a scope."""
        rest = [word for word in words if word != "v6only"]
        if peer_address(draft.name):
            if len(rest) < 2:
                return
            got = f"neighbor {draft.name} interface: expected the name of an interface, got an address"
            self.device.facts.broken.append(line.located(got))
        else:
            draft.interface = True
        if rest[:1] == ["peer-group"]:
            self._group(draft, line, rest[1:])
        elif rest:
            self._tell(draft, line, rest[0], rest[1:])

    def _tell(self, draft: Draft, line: Line, verb: str, words: list[str]) -> None:
        if line.negated and verb not in ("bfd", "shutdown"):
            return
        for name, value in VERBS[verb](words).items():
            draft.configured[name] = Located(not value if line.negated else value, line.number, line.file)

    def _password(self, draft: Draft, line: Line, words: list[str]) -> None:
        if line.negated:
            draft.configured.pop("authentication", None)
            return
        draft.configured["authentication"] = Located(password(words[-1]), line.number, line.file)
        if not placeholder(words[-1]):
            secret = Located(Secret(f"BGP password of {draft.name}"), line.number, line.file)
            self.device.facts.services.secrets.append(secret)

    def _filter(self, draft: Draft, line: Line, verb: str, words: list[str]) -> None:
        """The first filter of a direction is the one that facts name."""
        if not line.negated:
            draft.configured.setdefault(DIRECTIONS[words[1]], line.located(words[0]))

    def finish(self) -> None:
        """Fills the groups into their members."""
        for draft in self.drafts.values():
            if draft.is_group:
                continue
            if draft.interface or peer_address(draft.name):
                self.bgp.neighbors[draft.name] = self._made(draft)
        for prefix, group in self.ranges:
            neighbor = self._made(Draft(name=prefix, line=group.line, file=group.file, group=group))
            neighbor.dynamic = True
            self.bgp.neighbors[prefix] = neighbor

    def _made(self, draft: Draft) -> Neighbor:
        group = self.drafts.get(draft.group.value) if draft.group else None
        configured = self.configured | (group.configured if group else {}) | draft.configured
        families = {name: Located(True, draft.line, draft.file) for name, active in self.active.items() if active}
        families |= (group.families if group else {}) | draft.families
        fields: dict[str, Any] = {**configured}
        made = Neighbor(
            vrf=self.bgp.vrf, peer=draft.name, line=draft.line, file=draft.file, interface=draft.interface, **fields
        )
        made.families = [Located(name, parsed.line, parsed.file) for name, parsed in families.items() if parsed.value]
        return made


def _family(words: list[str]) -> str:
    """`ipv4`, `ipv4 uni` and `ipv4 unicast` are one; the families that facts do not know keep their words."""
    first, second = words[0], (words[1:] or ["unicast"])[0]
    text = f"{first} {'unicast' if 'unicast'.startswith(second) else second}"
    return FAMILIES.get(text, text)


class Processes:
    """The BGP processes of a device, each of which may stand in several files."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.known: dict[str, Process] = {}

    def of(self, line: Line) -> Process:
        """The process that a line `router bgp 65000 vrf red` begins, or goes on with."""
        words, vrf = line.words, _table(line)
        made = self.known.get(vrf)
        if made is None:
            made = self.known[vrf] = Process(self.device, self.device.bgp(vrf, line.number, line.file))
        if number := asn(words[2]) if words[2:] else None:
            new = Located(number, line.number, line.file)
            made.bgp.asn = self.device.first(f"the AS of VRF {vrf or 'default'}", made.bgp.asn, new)
        elif words[2:] and words[2] not in ("auto", "view", "vrf"):
            self.device.facts.broken.append(line.located(f"cannot be read: {line.rest(0)}"))
        return made

    def remove(self, line: Line) -> None:
        """`no router bgp 65000` removes what stands before it."""
        if self.known.pop(vrf := _table(line), None):
            del self.device.facts.bgp[vrf]

    def finish(self) -> None:
        for neighbor in self.known.values():
            neighbor.finish()


def _table(line: Line) -> str:
    """The VRF of a line `router bgp 65000 vrf red`."""
    words = line.words
    return vrf_name(next((words[at + 1] for at, word in enumerate(words[:-1]) if word in ("vrf", "view")), ""))


def _in_vni(vni: Vni, line: Line) -> bool:
    if line.words[0] in ("rd", "route-target"):
        if not line.negated:
            _distinguish(vni, line, line.words)
        return True
    return line.words[0] in FAMILY


def _distinguish(owner: Vrf | Vni, line: Line, words: list[str]) -> None:
    """`rd 10.0.0.1:1`; `route-target both 65000:1 65000:2`, which may be `rt` too."""
    if words[0] == "rd":
        owner.rd = line.located(words[1])
        return
    for direction, targets in (("import", owner.imports), ("export", owner.exports)):
        if words[1] in (direction, "both"):
            targets += (line.located(text) for text in words[2:])
