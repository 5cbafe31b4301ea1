"""Reads an frr.conf, or a file of one of its daemons; `router bgp` has a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fabric.model.facts import Interface, Located, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.words import Device, Line, Open, add_address, vrf_name, walk
from fabric.nos.reading import Entry, esi, form_of, mac, placeholder, prefix, rule, static_route, typed

# Heads of lines that tell nothing a check asks for: of the whole file, of an interface, of a VRF, …
PASSED = frozenset((
    "agentx", "allow-external-route-update", "allow-reserved-ranges", "banner", "bgp community", "bgp graceful-restart",
    "bgp input-queue-limit", "bgp long-lived-graceful-restart", "bgp no-rib", "bgp output-queue-limit", "bgp route-map",
    "bgp send-extra-data", "bgp update-delay", "debug", "domainname", "dump", "evpn mh", "exec-timeout", "fpm", "frr",
    "ip forwarding", "ip import-table", "ip mroute", "ip multicast", "ip nht", "ip route", "ip router-id",
    "ip ssmpingd", "ip zebra", "ipv6 forwarding", "ipv6 import-table", "ipv6 mroute", "ipv6 nht", "ipv6 protocol",
    "ipv6 route", "ipv6 router-id", "line", "log", "login", "mac access-list", "router-id", "service", "username",
    "vni", "zebra", "Building configuration...", "Current configuration:",
))  # fmt: skip
INTERFACE = frozenset((
    "affinity", "bandwidth", "delay", "evpn mh", "ip forwarding", "ip igmp", "ip multicast", "ip nhrp", "ip ospf",
    "ip pim", "ip rip", "ip router", "ipv6 forwarding", "ipv6 mld", "ipv6 nd", "ipv6 ospf6", "ipv6 pim", "ipv6 router",
    "isis", "link-detect", "mpls bgp", "mpls enable", "multicast", "pbr-policy", "protodown", "ptm-enable", "tunnel",
))  # fmt: skip
VRF = frozenset((
    "ip import-table", "ip mroute", "ip msdp", "ip nht", "ip pim", "ip protocol", "ip route", "ip router-id",
    "ip ssmpingd", "ip table", "ipv6 nht", "ipv6 pim", "ipv6 protocol", "ipv6 route", "ipv6 router-id", "netns",
    "router-id", "zebra",
))  # fmt: skip
LINK = frozenset((
    "admin-grp", "ava-bw", "delay", "delay-variation", "enable", "max-bw", "max-rsv-bw", "metric", "neighbor",
    "packet-loss", "res-bw", "unrsv-bw", "use-bw",
))  # fmt: skip
ROUTE_MAP = frozenset(("match", "set", "on-match", "description", "continue", "call"))
BFD = frozenset((
    "bfd-mode", "detect-multiplier", "echo", "echo-interval", "echo-mode", "label", "log-session-changes",
    "minimum-ttl", "passive-mode", "peer", "profile", "receive-interval", "shutdown", "transmit-interval",
))  # fmt: skip
KEYS = frozenset(("key", "key-string", "accept-lifetime", "send-lifetime", "cryptographic-algorithm"))
# OSPF and IS-IS are compared by their statements; facts have nothing of them.
IGP = {
    "ospf": frozenset((
        "area", "auto-cost", "capability", "compatible", "default-information", "default-metric", "distance",
        "distribute-list", "flood-reduction", "graceful-restart", "log-adjacency-changes", "max-metric", "maximum-paths",
        "mpls-te", "neighbor", "network", "ospf", "passive-interface", "redistribute", "refresh", "router-id",
        "router-info", "segment-routing", "summary-address", "timers", "write-multiplier",
    )),
    "ospf6": frozenset((
        "area", "auto-cost", "default-information", "default-metric", "distance", "graceful-restart",
        "log-adjacency-changes", "maximum-paths", "ospf6", "redistribute", "stub-router", "summary-address", "timers",
        "write-multiplier",
    )),
    "isis": frozenset((
        "advertise-high-metrics", "advertise-passive-only", "area-password", "attached-bit", "default-information",
        "domain-password", "dynamic-hostname", "fast-reroute", "hostname", "is-type", "log-adjacency-changes",
        "log-pdu-drops", "lsp-gen-interval", "lsp-mtu", "lsp-refresh-interval", "lsp-timers", "max-lsp-lifetime",
        "metric-style", "mpls-te", "net", "purge-originator", "redistribute", "set-attached-bit", "set-overload-bit",
        "spf", "spf-delay-ietf", "spf-interval", "summary-address", "topology",
    )),
}  # fmt: skip
LISTS = {"as-path": "as-path list", "access-list": "access list", "prefix-list": "prefix list"}
LISTS |= {f"{kind}community-list": "community list" for kind in ("", "ext", "large-")}


def read_conf(device: Device, processes: Processes, file: str, text: str) -> None:
    """Adds what a file says to the device and its BGP processes."""
    walk(text, file, device.facts, _Conf(device, processes).whole)


class _Conf:
    def __init__(self, device: Device, processes: Processes) -> None:
        self.device, self.facts, self.processes = device, device.facts, processes

    def whole(self, line: Line, open_: Open) -> bool:
        """Lines that belong to no section, and those that begin one."""
        known = TOP.get(line.words[0])
        return bool(known and known(self, line, open_)) or line.is_one_of(PASSED)

    def _hostname(self, line: Line, _: Open) -> bool:
        known = self.facts.hostname
        if known is None or known.file == line.file:  # a later line overrides an earlier one
            self.facts.hostname = line.located(line.words[1])
        return True

    def _password(self, line: Line, _: Open) -> bool:
        """`password …` and `enable password …` guard the daemons' own prompt, which is no login of the device: FRR ships with
        daemons that listen for it on the loopback alone."""
        kind, text = typed(line.words)
        if "password" in line.words[:-1] and not placeholder(text):
            self._secret(line, Secret("password of the FRR prompt", form_of(text, kind)))
        return "password" in line.words

    def _secret(self, line: Line, secret: Secret) -> None:
        self.facts.services.secrets.append(Located(secret, line.number, line.file))

    def _list(self, line: Line, _: Open) -> bool:
        """`ip prefix-list PL seq 10 permit 10.0.0.0/8 le 32`, and lists of AS paths, communities and addresses."""
        words = line.words[1:] if line.words[0] in ("ip", "ipv6", "bgp") else line.words
        kind = LISTS.get(words[0]) if words else None
        if kind is None:
            return False
        name, *entry = (word for word in words[1:] if word not in ("access-list", "standard", "expanded"))
        if not line.negated and kind == "prefix list":
            rows = self.facts.rules.setdefault(name, [])
            if parsed := rule(" ".join(entry)):
                rows.append(Located(parsed, line.number, line.file))
        return True

    def _ip(self, line: Line, open_: Open) -> bool:
        if line.words[1] == "route":
            return self._route("", line)
        return line.words[1] == "protocol" or self._list(line, open_)

    def _route(self, vrf: str, line: Line) -> bool:
        if not line.negated:
            place = line.number, line.file
            self.facts.routes += static_route(line.words[2:], place, vrf, vrf_name, own="vrf", other="nexthop-vrf")
        return True

    def _route_map(self, line: Line, open_: Open) -> bool:
        if line.words[1] != "optimization":
            entry = Entry(name=line.words[1], permits=line.words[2:3] != ["deny"], line=line.number, file=line.file)
            if not line.negated:
                self.device.entries.append(entry)
            open_(partial(self._in_route_map, entry))
        return True

    def _in_route_map(self, entry: Entry, line: Line, _: Open) -> bool:
        if line.words[0] == "match" and not line.negated:
            entry.match(line.words[1:], line.number)
        return line.words[0] in ROUTE_MAP

    def _vrf(self, line: Line, open_: Open) -> bool:
        name = vrf_name(line.words[1])
        if name not in ("", "Default-IP-Routing-Table"):
            self.device.vrf(name, line.number, line.file)
        open_(partial(self._in_vrf, name))
        return True

    def _in_vrf(self, name: str, line: Line, _: Open) -> bool:
        vrf = self.facts.vrfs.get(name)
        if line.words[0] in ("ip", "ipv6") and line.words[1:2] == ["route"]:
            return self._route(name, line)
        if line.words[0] != "vni":
            return line.is_one_of(VRF)
        if vrf and not line.negated:
            vrf.vni = self.device.first(f"the VNI of VRF {name}", vrf.vni, line.number_at(1))
        return True

    def _interface(self, line: Line, open_: Open) -> bool:
        port = self.device.interface(line.words[1], line.number, line.file)
        if line.words[2:3] == ["vrf"]:
            port.vrf = port.vrf or line.located(vrf_name(line.words[3]))
        open_(partial(self._in_interface, port))
        return True

    def _in_interface(self, port: Interface, line: Line, open_: Open) -> bool:
        match line.words:
            case ["description", *words]:
                port.description = port.description or line.located(" ".join(words).strip('"'))
            case ["shutdown"]:
                port.enabled = Located(line.negated, line.number, line.file)
            case ["vrf", name] if line.indented:  # as some tools write it; else a section of its own
                port.vrf = port.vrf or line.located(vrf_name(name))
            case ["ip" | "ipv6", "address" | "addr", text, *words]:
                self._address(port, line, text if "/" in text or "peer" not in words else f"{text}/32")
            case ["evpn", "mh", what, value] if not line.negated:
                self._segment(port, line, what, value)
            case ["link-params"]:
                open_(lambda inner, _: inner.words[0] in LINK)
            case _:
                return line.is_one_of(INTERFACE)
        return True

    def _address(self, port: Interface, line: Line, text: str) -> None:
        address = prefix(text)
        if address is None:
            raise ValueError(text)
        if not line.negated and not address.startswith("fe80:"):
            add_address(port.addresses, line.located(address))

    def _segment(self, port: Interface, line: Line, what: str, value: str) -> None:
        """`es-sys-mac` and `es-id 5` make an ESI of type 3; `es-id` may also be a whole ESI."""
        if what == "es-sys-mac":
            self.device.system_macs[port.name] = line.located(mac(value))
        elif what == "es-id" and ":" in value:
            port.esi = line.located(esi(value))
        elif what == "es-id":
            self.device.segments[port.name] = line.number_at(3)

    def _bfd(self, line: Line, open_: Open) -> bool:
        open_(self._in_bfd)
        return True

    def _in_bfd(self, line: Line, _: Open) -> bool:
        return line.words[0] in BFD

    def _key(self, line: Line, open_: Open) -> bool:
        open_(self._in_keys)
        return line.words[1] == "chain"

    def _in_keys(self, line: Line, _: Open) -> bool:
        if line.words[0] == "key-string" and not placeholder(line.words[1]):
            self._secret(line, Secret("key of a key chain"))
        return line.words[0] in KEYS and line.words[1:2] != ["chain"]

    def _router(self, line: Line, open_: Open) -> bool:
        """BGP alone is read; the lines of protocols without a table are unread, all of them."""
        if line.words[1] in IGP:
            open_(lambda inner, _: inner.words[0] in IGP[line.words[1]])
        elif line.words[1] != "bgp":
            self.facts.unread.append(line.located(line.rest(0)))
            open_(lambda *_: False)
        elif line.negated:
            self.processes.remove(line)
        else:
            open_(self.processes.of(line).line)
        return True


TOP: dict[str, Callable[[_Conf, Line, Open], bool]] = {
    "access-list": _Conf._list,
    "bfd": _Conf._bfd,
    "bgp": _Conf._list,
    "enable": _Conf._password,
    "hostname": _Conf._hostname,
    "interface": _Conf._interface,
    "ip": _Conf._ip,
    "ipv6": _Conf._ip,
    "key": _Conf._key,
    "password": _Conf._password,
    "route-map": _Conf._route_map,
    "router": _Conf._router,
    "vrf": _Conf._vrf,
}
