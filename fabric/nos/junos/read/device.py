"""Reads a Junos config, in curly braces or in `set` lines: one tree out of either, then its parts by their own readers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from fabric.model.facts import CLEAR, ENCRYPTED, HASH, REVERSIBLE, DerivedTargets, Facts, Located, Secret, Services
from fabric.nos.junos.read.bgp import evpn_source, read_bgp, read_policies
from fabric.nos.junos.read.groups import write_out
from fabric.nos.junos.read.instances import places, read_chains, read_instances, read_relays, read_routes, read_vlans
from fabric.nos.junos.read.interfaces import read_interfaces, read_packet_filters
from fabric.nos.junos.read.qos import read_qos
from fabric.nos.junos.read.tree import Config, Node, find, number, read_text
from fabric.nos.reading import ROOT_LOGIN, community, login_order, placeholder

# --- Services beside forwarding, and secrets ------------------------------------------------------------------

PLAIN_TEXT: Mapping[str, str] = {
    "system services telnet": "telnet",
    "system services ftp": "ftp",
    "system services tftp-server": "tftp",
    "system services finger": "finger",
    "system services rlogin": "rlogin",
    "system services rsh": "rsh",
    "system services web-management http": "http",
    "system services xnm-clear-text": "XML over plain TCP",
    "system services extension-service request-response grpc clear-text": "gRPC without TLS",
}
WEAK_LOGINS: Mapping[str, str] = {"system services ssh root-login allow": ROOT_LOGIN}
SECRET_WORDS = frozenset((
    "ascii-text", "authentication-key", "authentication-password", "encrypted-password", "hexadecimal", "plain-text-password",
    "plain-text-password-value", "pre-shared-key", "privacy-key", "privacy-password", "secret", "simple-password",
))  # fmt: skip
PUBLIC_KEYS = frozenset(("ssh-dsa", "ssh-ecdsa", "ssh-ed25519", "ssh-rsa"))  # Junos marks their lines as secret data as well
SECRET_INSIDE = {"value": "authentication-key", "key": "md5"}  # a word that names secrets only below another
# Part of a path → what a secret below it is of; `*` is filled in.
OWNERS = (
    ("root-authentication", "password of root"),
    ("login user *", "password of user {}"),
    ("bgp group * neighbor *", "BGP password of {1}"),
    ("bgp group *", "BGP password of group {}"),
    ("protocols bgp", "BGP password"),
    ("usm local-engine user *", "SNMP key of user {}"),
    ("radius-server *", "RADIUS secret of {}"),
    ("tacplus-server *", "TACACS+ secret of {}"),
    ("ntp authentication-key *", "NTP key {}"),
    ("key-chain *", "key of key chain {}"),
    ("security certificates local *", "private key of certificate {}"),
    ("security macsec connectivity-association *", "MACsec key of {}"),
)
LOGINS = ("password of root", "password of user ")
STORED = {"$9$": REVERSIBLE, "$8$": ENCRYPTED}  # beginning of a shared secret → its form; $8$ needs the master password
STANDS_FOR = ("password", "secret")  # in place of a secret: Junos encodes what is typed


def read_services(services: Services, root: Node) -> None:
    """Everything but the secrets."""
    system = root.at("system")
    services.ntp = system.every("ntp", "server") + system.every("ntp", "peer")
    services.syslog = [parsed for parsed in system.every("syslog", "host") if parsed.value != "other-routing-engine"]
    services.dns = system.every("name-server")
    services.tacacs, services.radius = system.every("tacplus-server"), system.every("radius-server")
    methods = system.every("authentication-order")
    if order := login_order(method.value for method in methods):
        services.login = Located(order, methods[0].line, methods[0].file)
    lldp = root.at("protocols", "lldp")
    off = lldp.flag("disable")
    if lldp:
        line, file = (off.line, off.file) if off else (next(iter(lldp.values())).line, next(iter(lldp.values())).file)
        services.lldp = Located(off is None, line, file)
    guards = [parsed for family in ("inet", "inet6") for parsed in _guards(root, family)]
    services.control_plane = Located(True, guards[0].line, guards[0].file) if guards else None
    services.plain_text = sorted([*_stated(root, PLAIN_TEXT), *_communities(root)], key=_by_line)
    services.weak_logins = _stated(root, WEAK_LOGINS)


def _stated(root: Node, table: Mapping[str, str]) -> list[Located[str]]:
    """What a table says of the statements that are there, by line."""
    found = [Located(what, node.line, node.file) for path, what in table.items() for _, node in find(root, path)]
    return sorted(found, key=_by_line)


def _communities(root: Node) -> list[Located[str]]:
    return [
        Located(community(writes="read-write" in node.at("authorization")), node.line, node.file)
        for _, node in find(root, "snmp community *")
    ]


def _by_line(parsed: Located[str]) -> tuple[str, int]:
    return parsed.file, parsed.line


def _guards(root: Node, family: str) -> list[Located[str]]:
    filters = root.at("interfaces", "lo0", "unit", "0", "family", family, "filter")
    return filters.every("input") + filters.every("input-list")


def is_secret(config: Config, path: tuple[str, ...], word: str, node: Node) -> bool:
    """Whether a word is a value below one that names secrets, or on a line that the device marked itself."""
    above = path[-1] if path else ""
    named = above in SECRET_WORDS or SECRET_INSIDE.get(above) in path
    marked = (node.file, node.line) in config.secret_lines and above not in PUBLIC_KEYS
    return not node and (named or marked) and not placeholder(word)


def secrets(config: Config) -> list[Located[Secret]]:
    """What every literal secret is, never the secret itself."""
    found: set[Located[Secret]] = set()
    _collect(config, config.root, (), found)
    return sorted(found, key=lambda parsed: (parsed.file, parsed.line, parsed.value.what))


def _collect(config: Config, node: Node, path: tuple[str, ...], found: set[Located[Secret]]) -> None:
    for word, child in node.items():
        if child:
            _collect(config, child, (*path, word), found)
        elif is_secret(config, path, word, child) and word.strip('"').lower() not in STANDS_FOR:
            what = _owner(path)
            found.add(Located(Secret(what, _form(path, word), what.startswith(LOGINS)), child.line, child.file))


def _form(path: tuple[str, ...], word: str) -> str:
    if path[-1:] == ("encrypted-password",):
        return HASH
    return STORED.get(word.strip('"')[:3], CLEAR)


def _owner(path: tuple[str, ...]) -> str:
    text = " ".join(path)
    for part, what in OWNERS:
        words = part.split()
        for at in range(len(path) - len(words) + 1):
            taken = path[at : at + len(words)]
            if all(word in ("*", own) for word, own in zip(words, taken, strict=True)):
                return what.format(*(own for word, own in zip(words, taken, strict=True) if word == "*"))
    return text


# --- Statements that are read here, or have no value that a check needs; all others are unread ----------------

TOP: Mapping[str, str] = {
    "": "access accounting-options applications apply-macro diameter event-options firewall multi-chassis poe security "
    "services session-limit-group snmp storm-control-profiles unified-edge vcs version virtual-chassis",
    "system": "accounting alarm-management announcement arp authentication-order auto-configuration auto-snapshot "
    "autoinstallation backup-router commit compress-configuration-files configuration configuration-database "
    "ddos-protection default-address-selection default-router diag-port-authentication domain-name domain-search "
    "debugger-on-break debugger-on-panic donot-disable-ip6op-ondad dump-device dump-on-panic dynamic-profile-options "
    "encrypt-configuration-files extensions fips health-monitor host-name icmpv4-rate-limit icmpv6-rate-limit "
    "inet6-backup-router internet-options kernel-replication license location login management-instance "
    "max-configuration-rollbacks max-configurations-on-flash master-password mirror-flash-on-disk monitor name-resolution "
    "name-server nd-maxmcast-solicit no-compress-configuration-files no-hidden-commands no-multicast-echo "
    "no-neighbor-learn no-ping-record-route no-ping-time-stamp no-redirects no-redirects-ipv6 no-saved-core-context ntp "
    "packet-forwarding-options partition phone-home pic-console-authentication ports processes proxy radius-options "
    "radius-server resource root-authentication saved-core-context saved-core-files scripts services static-host-mapping "
    "syslog tacplus-options tacplus-server time-format time-zone tracing use-imported-time-zones",
    "chassis": "aggregated-devices alarm auto-image-upgrade cluster config-button container-devices craft-lockout "
    "disk-partition display dump-on-panic evpn-vxlan-default-switch-support fabric forwarding-options fpc fpc-resync "
    "fpc-ftc-hold forwarding-engine fru-poweron-sequence high-availability ioam-eng lcc lcd-menu led maximum-ecmp "
    "memory-enhanced network-services no-concurrent-routing-protocols-process node-id pem power psu redundancy "
    "redundancy-group route-memory-enhanced slow-pfe-alarm state system-domains synchronization traceoptions usb "
    "vrf-mtu-check",
    "policy-options": "application-maps apply-path as-list as-path as-path-group community condition damping defaults "
    "mac-list policy-statement prefix-list resolution-map route-distinguisher route-filter-list rtf-prefix-list "
    "tunnel-attribute",
    "forwarding-options": "accounting analyzer arp-suppression cut-through dhcp-relay dhcp-security enhanced-hash-key "
    "evpn-vxlan family fast-reroute-priority hash-key hash-seed helpers link-layer-broadcast-inet-check load-balance "
    "load-balance-label-capability local-bias monitoring multicast-replication next-hop no-load-balance-label-capability "
    "port-mirroring qos-service-class sampling satellite sflow storm-control storm-control-profiles tunnel-termination "
    "vxlan-disable-copy-tos-decap vxlan-disable-copy-tos-encap vxlan-routing vxlan-tos-copy-filter ecmp-resilient-hash "
    "no-hierarchical-ecmp",
    "class-of-service": "classifiers code-point-aliases congestion-notification-profile dedicated-buffer "
    "dedicated-buffer-profile drop-profiles forwarding-class-sets forwarding-classes forwarding-policy fragmentation-maps "
    "host-outbound-traffic multi-destination rewrite-rules scheduler-map-forwarding-class-sets scheduler-maps schedulers "
    "shared-buffer system-defaults traceoptions traffic-control-profiles translation-table tri-color monitoring-profile",
    "class-of-service interfaces *": "classifiers congestion-notification-profile exclude-queue-overhead-bytes "
    "forwarding-class forwarding-class-set input-scheduler-map input-shaping-rate output-forwarding-class-map "
    "output-traffic-control-profile rewrite-rules scheduler-map shaping-rate unit",
    "interfaces": "interface-set stacked-interface-set traceoptions",
    "interfaces *": "accounting-profile aggregated-ether-options auto-10m-autonegotiation description disable enable "
    "encapsulation esi ether-options fastether-options flexible-vlan-tagging forwarding-class-accounting gigether-options "
    "hierarchical-scheduler hold-time layer2-policer link-mode mac media-type mtu multi-chassis-protection native-vlan-id "
    "no-auto-mdix no-per-unit-scheduler no-traps number-of-sub-ports optics-options otn-options per-unit-scheduler "
    "port-mirror-instance priority-flow-control redundant-ether-options damping speed stacked-vlan-tagging traceoptions "
    "traps unused vlan-tagging vlan-offload vlan-vci-tagging fabric-options keepalives no-keepalives link-degrade-monitor "
    "mc-ae",
    "interfaces * unit *": "accept-source-mac account-layer2-overhead accounting-profile arp-resp bandwidth description "
    "disable enable encapsulation esi filter forward-and-send-to-re forward-only input-vlan-map layer2-policer mac "
    "no-auto-virtual-gateway-esi no-dhcp-flood no-traps output-vlan-map own-routing-engine proxy-arp no-proxy-arp "
    "swap-by-poppush statistics trans-unit traps tunnel unnumbered virtual-gateway-accept-data virtual-gateway-v4-mac "
    "virtual-gateway-v6-mac vlan-id proxy-macip-advertisement interface-state-control",
    "interfaces * unit * family": "iso mpls ccc tcc vpls any",
    "interfaces * unit * family inet": "accounting address arp-max-cache arp-new-hold-limit dhcp dhcp-client filter "
    "mac-validate mtu no-redirects no-neighbor-learn policer primary rpf-check sampling simple-filter targeted-broadcast "
    "tcp-mss destination-udp-port unnumbered-address",
    "interfaces * unit * family inet6": "accounting address dad-disable dhcpv6-client filter mtu nd6-max-cache "
    "nd6-new-hold-limit ndp-proxy no-neighbor-learn no-redirects policer rpf-check sampling tcp-mss unnumbered-address",
    "interfaces * unit * family ethernet-switching": "filter inner-vlan-id-list interface-mode native-vlan-id port-mode "
    "recovery-timeout storm-control vlan policer mac-limit",
    "interfaces * unit * family bridge": "filter interface-mode inner-vlan-id-list policer storm-control vlan-id "
    "vlan-id-list",
}  # fmt: skip
PLACES: Mapping[str, str] = {  # of the switch, and of every instance
    "protocols": "arp iccp igmp igmp-snooping l2-learning lacp layer2-control link-management lldp lldp-med loop-detect "
    "mld mld-snooping msdp mstp mvrp neighbor-discovery network-isolation oam pim pim-snooping protection-group ptp "
    "router-advertisement rstp sflow stp synce uplink-failure-detection vrrp vstp clock-synchronization dcbx dot1x xstp",
    "protocols bgp": "accept-remote-nexthop accepted-prefix-limit advertise-external advertise-from-main-vpn-tables "
    "advertise-inactive advertise-peer-as apply-macro as-override authentication-algorithm authentication-key "
    "authentication-key-chain bestpath bfd-liveness-detection bgp-error-tolerance bmp cluster damping description disable "
    "enforce-first-as export forwarding-context global-load-balancing graceful-restart graceful-shutdown group-split-size "
    "hold-time holddown import include-mp-next-hop keep local-address local-as local-preference log-updown mtu-discovery "
    "multihop multipath multipath-build-priority no-advertise-peer-as no-client-reflect no-nexthop-change "
    "no-precision-timers optimal-route-reflection out-delay output-queue-priority outbound-route-filter passive "
    "path-selection peer-as precision-timers preference remove-private rfc6514-compliant-safi129 route-server-client "
    "sender-based-rpf stale-labels-holddown-period tcp-aggressive-transmission tcp-mss tolerance traceoptions "
    "traffic-statistics-labeled-path transport unconfigured-peer-graceful-restart update-threading vpn-apply-export "
    "sharding rib-sharding drop-path-attributes validation",
    "protocols bgp family": "inet-mvpn inet-vpn inet6-vpn iso-vpn l2vpn route-target traffic-engineering",
    "protocols bgp family inet": "any flow labeled-unicast multicast segment-routing-te unicast",
    "protocols bgp family inet6": "any flow labeled-unicast multicast segment-routing-te unicast",
    "protocols bgp family evpn": "signaling",
    "protocols bgp group *": "allow dynamic-neighbor peer-as-list type",
    "protocols bgp group * neighbor *": "local-interface peer-as-list ttl",
    "protocols evpn": "assisted-replication auto-derive default-gateway designated-forwarder-election "
    "duplicate-mac-detection encapsulation extended-vlan-list extended-vni-list interconnect "
    "interconnect-multihoming-peer-gateways ip-prefix-routes irb-symmetric-routing mac-mobility mac-list multicast-mode "
    "no-arp-suppression no-core-isolation no-default-gateway-ext-comm oism remote-ip-host-routes smet-forwarding-state "
    "traceoptions virtual-gateway-v4-mac virtual-gateway-v6-mac vni-options vrf-target normalization "
    "host-route-advertisement leaf label-allocation",
    "routing-options": "aggregate auto-export autonomous-system bgp-orf-cisco-mode bmp confederation dynamic-tunnels "
    "fate-sharing flow forwarding-options forwarding-table generate graceful-restart instance-export instance-import "
    "interface-routes label-allocation martians maximum-paths maximum-prefixes med-igp-update-interval multicast multipath "
    "next-hop-group no-default-arp-resolution nonstop-routing nsr-phantom-holdtime options ppm protect resolution rib "
    "rib-groups route-distinguisher-id route-record router-id source-routing static topologies traceoptions validation "
    "warm-standby",
    "switch-options": "interface-mac-limit interface mac-ip-table-size mac-notification mac-table-aging-time "
    "mac-table-size mac-move-limit no-arp-trap no-mac-learning route-distinguisher service-id voip vrf-export vrf-import "
    "vrf-target vtep-source-interface mac-move unknown-unicast-forwarding telemetry mac-statistics",
    "vlans *": "description domain-type filter forwarding-options interface isolated-vlan community-vlans l3-interface "
    "mcast-lag no-arp-suppression no-irb-layer-2-copy private-vlan pvlan service-id switch-options vlan-id vlan-id-list "
    "vlan-range vlan-tags vxlan multicast-router-interface no-local-switching",
    "bridge-domains *": "bridge-options description domain-type enable-mac-move-action forwarding-options interface "
    "no-irb-layer-2-copy no-local-switching routing-interface service-id vlan-id vlan-id-list vxlan no-arp-suppression",
}  # fmt: skip
OSPF: Mapping[str, str] = {  # of OSPF and OSPF version 3
    "": "backup-spf-options database-protection disable domain-id domain-vpn-tag export external-preference graceful-restart "
    "import labeled-preference lsa-refresh-interval no-nssa-abr no-rfc-1583 overload preference prefix-export-limit "
    "reference-bandwidth rib-group route-type-community source-packet-routing spf-options spring-traffic-engineering "
    "topology traceoptions traffic-engineering",
    " area *": "area-range authentication-type context-identifier inter-area-prefix-export inter-area-prefix-import "
    "network-summary-export network-summary-import nssa sham-link-remote stub virtual-link",
    " area * interface *": "authentication bandwidth-based-metrics bfd-liveness-detection dead-interval demand-circuit "
    "disable dynamic-neighbors flood-reduction hello-interval interface-type ipsec-sa ldp-synchronization link-protection "
    "metric neighbor no-advertise-adjacency-segment no-eligible-backup no-interface-state-traps "
    "no-neighbor-down-notification node-link-protection passive poll-interval post-convergence-lfa priority "
    "retransmit-interval secondary te-metric topology transit-delay",
}  # fmt: skip
PLACES = {
    **PLACES,
    **{f"protocols {version}{path}": heads for version in ("ospf", "ospf3") for path, heads in OSPF.items()},
    "protocols isis": "backup-spf-options context-identifier disable export graceful-restart ignore-attached-bit import "
    "level loose-authentication-check lsp-lifetime max-areas max-hello-size max-lsp-size max-snp-size multicast-topology net "
    "no-adjacency-down-notification no-adjacency-holddown no-authentication-check no-ipv4-routing no-ipv6-routing overload "
    "prefix-export-limit purge-originator reference-bandwidth rib-group source-packet-routing spf-options topologies "
    "traceoptions traffic-engineering traffic-statistics wide-metrics-only",
    "protocols isis interface *": "bfd-liveness-detection checksum csnp-interval disable hello-authentication-key "
    "hello-authentication-type hello-interval hello-padding hold-time ldp-synchronization level link-protection "
    "lsp-interval max-hello-size mesh-group metric no-adjacency-down-notification no-advertise-adjacency-segment "
    "no-eligible-backup no-ipv4-multicast no-ipv6-multicast no-ipv6-unicast no-unicast-topology node-link-protection "
    "passive point-to-point post-convergence-lfa priority te-metric topology",
}  # fmt: skip
INSTANCES: Mapping[str, str] = {
    "routing-instances *": "description egress-protection forwarding-options instance-role instance-type "
    "multicast-snooping-options interface l2vpn-id no-irb-layer-2-copy no-local-switching no-normalization "
    "no-vrf-advertise no-vrf-propagate-ttl provider-tunnel remote-vtep-list remote-vtep-v6-list route-distinguisher "
    "routing-interface service-id service-type system vlan-id vrf-advertise-selective vrf-export vrf-import "
    "vrf-propagate-ttl vrf-table-label vrf-target vtep-source-interface vxlan no-vrf-propagate-ttl",
}  # fmt: skip
BGP_LEVELS = ("group *", "group * neighbor *")  # where everything of `protocols bgp` may stand as well
WHOLE = Node()  # a head: everything below it is known
Path = tuple[str, ...]


@cache
def known() -> Node:
    """The tables as one tree."""
    tree = Node()
    inside = {f"routing-instances * {path}": heads for path, heads in PLACES.items()}
    for path, heads in (*TOP.items(), *PLACES.items(), *INSTANCES.items(), *inside.items()):
        _add(tree, path, heads)
        before, bgp, after = path.partition("protocols bgp")
        if bgp and not after.startswith(" group"):
            for level in BGP_LEVELS:
                _add(tree, f"{before}protocols bgp {level}{after}", heads)
    return tree


def _add(tree: Node, path: str, heads: str) -> None:
    for word in path.split():
        tree = tree.below(word, 0, "")
    for head in heads.split():
        tree.setdefault(head, WHOLE)


def unread(config: Config) -> list[Located[str]]:
    """Every statement that the tables do not know, written as after `set`; inherited ones are reported once."""
    found: dict[tuple[str, int, tuple[str, ...]], Located[str]] = {}
    for path, known_words, node in _unknown(config, config.root, known(), ()):
        parsed = Located(" ".join(_quoted(word) for word in path), node.line, node.file)
        found.setdefault((node.file, node.line, path[known_words:]), parsed)
    return list(found.values())


@cache
def _of_interfaces() -> frozenset[str]:
    """Statements of an interface, its units and their families, none of which Junos has at the root or has as interfaces."""
    levels = [heads for path, heads in TOP.items() if path.startswith("interfaces *")]
    others = known().keys() | TOP["interfaces"].split()
    return frozenset({"unit", "family", *(head for heads in levels for head in heads.split())}) - others


def misplaced(config: Config) -> list[Located[str]]:
    """Statements of interfaces that stand outside one: Junos does not load a file that has them."""
    return [
        Located(f"`{word}` is not in an interface: Junos does not load the file", node.line, node.file)
        for level in (config.root, config.root.at("interfaces"))
        for word, node in level.items()
        if word in _of_interfaces()
    ]


def _unknown(config: Config, node: Node, table: Node, path: Path) -> Iterator[tuple[Path, int, Node]]:
    """(path, how many of its words are known, node) of every leaf that is not in the table."""
    for word, child in node.items():
        below = table.get(word)
        if below is None:
            below = table.get("*")
        if below is None:
            yield from ((leaf, len(path), found) for leaf, found in _leaves(config, child, (*path, word)))
        elif below is not WHOLE:
            yield from _unknown(config, child, below, (*path, word))


def _leaves(config: Config, node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if not node:
        yield path, node
    for word, child in node.items():
        yield from _leaves(config, child, (*path, "…" if is_secret(config, path, word, child) else word))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word or not word else word


# --- The switch -----------------------------------------------------------------------------------------------

INHERITS = re.compile("groups|interface-range")
OF_LINUX = re.compile(r"\binterface (?:lo|eth\d+)(?:\.\d+)?(?=[;\s]|$)|-interface lo\.0", re.M)  # of cRPD, a container


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; later files add to earlier ones and overwrite them."""
    config = Config()
    for file, text in files.items():
        read_text(config, file, text)
    config.settle()
    facts = Facts(name=name, nos="junos", files=tuple(files), derived=DerivedTargets(typed=True))
    facts.services.secrets = secrets(config)  # those in groups that are applied nowhere as well
    root = config.root
    lost = write_out(root) if any(map(INHERITS.search, files.values())) else []
    facts.hostname = root.at("system").value("host-name")
    facts.name = facts.hostname.value if facts.hostname else name
    everywhere = places(root)
    vlans = read_vlans(everywhere)
    read_interfaces(facts, root, everywhere, vlans)
    read_packet_filters(facts, root)
    read_instances(facts, everywhere, vlans)
    read_bgp(facts, everywhere)
    read_routes(facts, everywhere)
    read_relays(facts, everywhere)
    facts.vtep = facts.vtep or evpn_source(facts)
    read_chains(facts, everywhere, vlans)
    facts.elsewhere = any(map(OF_LINUX.search, files.values()))
    read_qos(facts, root)
    read_policies(facts, root)
    hashing = root.at("forwarding-options")
    facts.hash_seed = number(hashing.value("enhanced-hash-key", "hash-seed") or hashing.value("hash-seed"))
    read_services(facts.services, root)
    facts.broken = config.broken + misplaced(config) + facts.broken
    facts.unread = config.unread + lost + unread(config)
    facts.statements = config.statements
    return facts
