"""Statements of NX-OS: as a person types them, as `show running-config` has them, and what its commands mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fabric.nos.dialect import COMMANDS, Dialect, Rules
from fabric.nos.reading.sections import Layout
from fabric.nos.statements.syntax import Syntax, indented

# --- Commands as a person types them: every line keeps its number ---------------------------------------------

FEATURES = (
    "bfd", "bgp", "dhcp", "eigrp", "fabric forwarding", "hsrp", "interface-vlan", "isis", "lacp", "lldp", "msdp", "netconf",
    "ngoam", "nv overlay", "nxapi", "ospf", "ospfv3", "pim", "pim6", "restconf", "scp-server", "sftp-server", "telemetry",
    "telnet", "udld", "vn-segment-vlan-based", "vpc", "vrrp",
)  # fmt: skip


@dataclass(frozen=True)
class Mode:
    """Commands of a mode, and the modes that some of them open."""

    commands: re.Pattern[str]
    opens: tuple[tuple[re.Pattern[str], str], ...] = field(default=())


def _mode(commands: str, **opens: str) -> Mode:
    heads = tuple((re.compile(pattern), name) for name, pattern in opens.items())
    return Mode(re.compile("|".join([f"(?:no )?(?:{commands})", *opens.values()])), heads)


_OF_NEIGHBOR = (
    r"remote-as|update-source|desc\w* |ebgp-multihop|inherit peer|peer-type|password|timers|bfd|local-as|shut(?:d\w*)?$"
    r"|disable-connected-check|ttl-security|dynamic-capability|log-neighbor-changes (?:disable)?$|transport|low-memory"
)
_OF_FAMILY = (
    r"network |redistribute |maximum-paths|advertise|retain|aggregate-address|nexthop|dampen|default-information|export-gw"
    r"|distance|table-map|wait-igp"
)
_BGP = {"neighbor": r"neighbor \S+(?: remote-as \S+)?$|template peer\S* ", "family": r"address-family "}
MODES = {
    "interface": _mode(
        r"desc?\w* |ip(?:v6)? (?:addr?\w* |router |ospf |pim (?!rp-|ssm|auto|bsr|anycast)|unnumbered|forward|arp |nd |igmp "
        r"|redirects|port |access-group|dhcp |flow|verify)|switchport|shut(?:d\w*)?$|mtu |speed |duplex |medium "
        r"|channel-group|vrf member|encapsulation |fabric forwarding|host-reachability|source-interface|advertise virtual"
        r"|global |bfd |hsrp |lacp |isis |load-interval|storm-control|vpc |spanning-tree (?:port|bpdu|guard|link|cost)"
        r"|(?:evpn )?multisite|management$|negotiate|ptp|fec |beacon|carrier|service-policy|autostate|bandwidth|delay"
        r"|mac-address|private-vlan|tunnel|udld",
        member=r"member vni ",
    ),
    "member": _mode(r"mcast-group|ingress-replication|suppress-arp|multisite|spine-anycast|peer-ip"),
    "bgp": _mode(
        r"router-id|log-neighbor-changes$|bestpath|cluster-id|graceful|timers|reconnect|confederation|enforce|neighbor-down"
        r"|suppress-fib|dynamic-med|fast-external|event-history|bgp |maxas|shutdown$|rd |isolate",
        **_BGP,
        tenant=r"vrf (?!member|context)\S+$",
    ),
    "tenant": _mode(r"router-id|bestpath|graceful|timers|reconnect|local-as|maxas|log-neighbor-changes$", **_BGP),
    "neighbor": _mode(_OF_NEIGHBOR, neighbor_family=r"address-family "),
    "family": _mode(_OF_FAMILY),
    "neighbor_family": _mode(
        r"send-comm\w*|route-map |route-ref\w*|next-hop|soft-reconfiguration|allowas-in|prefix-list |filter-list "
        r"|rewrite-evpn|disable-peer-as-check|as-override|maximum-prefix|default-originate|adv|capability|weight"
        r"|inherit peer|import|encapsulation|suppress|unsuppress|no-prepend|label"
    ),
    "vrf": _mode(
        r"vni |rd |ip(?:v6)? (?:route |name-server|domain|pim|mroute|multicast|igmp)|desc\w* ", vrf_family=r"address-family "
    ),
    "vrf_family": _mode(r"route-target |import |export |maximum routes"),
    "evpn": _mode(r"(?!)", vni=r"vni \d+ l2"),
    "vni": _mode(r"rd |route-target "),
    "vlan": _mode(r"name |vn-segment |mode |state |shutdown$"),
    "route-map": _mode(r"match |set |continue|desc\w* "),
    "igp": _mode(
        r"router-id|area |passive-int\w*|redistribute |log-adj\w*|auto-cost|net |is-type|metric|timers|default-information"
        r"|max-metric|network |bfd|reference-bandwidth|distribute|set-overload|advertise|address-family |maximum-paths|vrf "
    ),
}
HEADS = {
    "interface": r"int\w* (?!breakout)",
    "bgp": r"router bgp ",
    "igp": r"router (?:ospf|ospfv3|isis|eigrp)\b",
    "vrf": r"vrf context ",
    "evpn": r"evpn$",
    "vlan": r"vlan [\d,-]+$",
    "route-map": r"route-map ",
}
_HEADS = [(re.compile(pattern), name) for name, pattern in HEADS.items()]
_TOP = re.compile(
    r"(?:no )?feature |hostname |nv overlay evpn|router |vrf context |(?:no )?ip(?:v6)? (?:prefix-list|route |pim rp-)"
    r"|vpc domain|int\w* \S|route-map \S+(?: (?:permit|deny) \d+)?$|fabric forwarding any|hardware |vlan [\d,-]+$|evpn$"
    r"|spanning-tree vlan"
)  # commands that exist in none of these modes
_TYPED = re.compile(
    r"^(?:neighbor \S+\s*$|remote-as |update-source |address-family |send-community|route-target |rd auto|vn-segment "
    r"|member vni |mcast-group |ebgp-multihop |(?:no )?switchport\b|ip(?:v6)? address |ip router |(?:no )?shut(?:down)?\s*$"
    r"|vrf member |route-reflector-client|source-interface |host-reachability |ingress-replication |description "
    r"|channel-group )",
    re.M,
)
_FEATURE = re.compile(r"^([ \t]*(?:no )?feature )(\S+(?:[ \t]+\S+)*)[ \t]*$", re.M)


def as_shown(text: str) -> str:
    """A config as NX-OS prints it, with as many lines as the text."""
    text = _FEATURE.sub(lambda match: match[1] + _feature(match[2]), text)
    return "\n".join(_lines(text)) if _TYPED.search(text) else text


def _feature(text: str) -> str:
    """A feature with its name in full, where that is unambiguous."""
    found = [name for name in FEATURES if name.startswith(text)]
    return found[0] if len(found) == 1 else text


def _lines(text: str) -> list[str]:
    """The lines by the modes that are open: the name of each mode, from the outside."""
    lines: list[str] = []
    open_: list[str] = []
    margin = 0  # indentation of a section whose commands are not listed here
    for raw in text.split("\n"):
        line = " ".join(raw.split())
        if not line or line[0] in "!#":
            lines.append(raw)
            continue
        if line in ("exit", "end"):
            open_ = open_[:-1] if line == "exit" else []
            lines.append("")
            continue
        indent = len(raw) - len(raw.lstrip())
        depth = next((at for at in range(len(open_), 0, -1) if _has(open_[at - 1], line)), 0)
        if not depth and open_ and indent > margin and not _TOP.match(line):
            depth = len(open_)  # an unknown command that is indented belongs to the open section
        if not depth:
            margin = indent
        lines.append("  " * depth + line)
        open_ = [*open_[:depth], *_opened(open_[depth - 1] if depth else "", line)]
    return lines


def _has(mode: str, line: str) -> bool:
    return mode in MODES and MODES[mode].commands.match(line) is not None


def _opened(mode: str, line: str) -> list[str]:
    """The mode that a command opens."""
    heads = MODES[mode].opens if mode in MODES else () if mode else _HEADS
    known = [name for pattern, name in heads if pattern.match(line)]
    return known or ([] if mode else ["other"])


LAYOUT = Layout(banner=re.compile(r"banner \w+ +(?P<mark>\S).*"), shown=as_shown)


# --- Statements -----------------------------------------------------------------------------------------------

SYNTAX = Syntax(
    parts={"startup-config": partial(indented, layout=LAYOUT)},
    sectioned={"startup-config": LAYOUT},
    rules_file=Path(__file__).with_name("statements.yaml"),
)


# --- Commands -------------------------------------------------------------------------------------------------

RULES = Rules(
    single=(
        ((), r"(hostname|clock (?:timezone|summer-time)|copp profile|ntp source-interface) "),
        ((), r"(bfd interval|ip load-sharing address|fabric forwarding anycast-gateway-mac) "),
        ((), r"(priority-flow-control watch-dog shutdown-multiplier) "),
        ((), r"((?:tacacs|radius|ldap)-server host \S+|aaa (?:authentication login|accounting) default group) "),
        (("aaa group server ",), r"(use-vrf|source-interface|ldap-search-map) "),
        (("ldap search-map ",), r"(userprofile) "),
        ((), r"(ip community-list standard \S+ seq \d+) "),
        (("interface ",), r"(description|mtu|vrf member|encapsulation dot1q|source-interface) "),
        (("interface ",), r"(switchport (?:mode|access vlan|trunk \S+ vlan)) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(shutdown|switchport)$"),
        (("vlan ",), r"(name) "),
        (("vpc domain ",), r"(role priority|system-mac|peer-keepalive|delay restore) "),
        (("vrf context ",), r"(rd) "),
        (("policy-map ", "class "), r"(set qos-group|mtu|pause pfc-cos|random-detect) "),
        (("policy-map ", "class "), r"(priority level) "),
        (("route-map ",), r"(set local-preference|match ip address prefix-list) "),
        (("line ",), r"(exec-timeout) "),
        (("router bgp ",), r"(router-id|graceful-restart restart-time) "),
        (("router bgp ", "neighbor "), r"(remote-as|description|timers) "),
        (("router bgp ", "neighbor ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("router bgp ", "template "), r"(remote-as|description|timers|update-source|ebgp-multihop) "),
        (("router bgp ", "template ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("router bgp ", "address-family "), r"(maximum-paths) "),
        (("router bgp ", "vrf "), r"(router-id) "),
        (("router bgp ", "vrf ", "neighbor "), r"(remote-as|description|timers) "),
        (("router bgp ", "vrf ", "neighbor ", "address-family "), r"(maximum-prefix) |(route-map) \S+ (in|out)$"),
        (("evpn", "vni "), r"(rd) "),
    ),
    inverses=(
        (r"no (interface (?:Ethernet|mgmt)[\d/]+)$", r"default \1"),
        (r"no (channel-group \d+) .*", r"no \1"),
        (r"no (vn-segment|description|mtu) .*", r"no \1"),
        (r"no ((?:tacacs|radius|ldap)-server host \S+) .*", r"no \1"),
    ),
    sequences=((r"aaa group server \S+ \S+", r"server "),),
    definitions=r"(feature .+|nv overlay evpn|vrf context \S+|interface (?:port-channel|loopback)\d+$|vpc domain|"
    r"fabric forwarding \S+|(?:ip|ipv6) (?:prefix-list|access-list) \S+|ip community-list standard \S+|"
    r"ip as-path access-list \S+|route-map \S+|(?:class|policy)-map type .+|template peer \S+|"
    r"(?:tacacs|radius|ldap)-server host \S+|ldap search-map \S+|aaa group server \S+ \S+)",
    exclusive=r"(?:ip|ipv6) address (\S+/\d+)(?: secondary)?|"
    r"(vni \d+|vn-segment \d+|vpc \S+|channel-group \d+)(?: mode \S+)?|((?:ip|ipv6) prefix-list \S+) seq \d+ (.+)",
    removed_first=r"member vni \d+ associate-vrf|bandwidth remaining percent .*",
    defaulted=(
        (r"interface (?:Ethernet[\d/]+|port-channel\d+)", r"(?:no )?switchport$|channel-group ", ""),
        (r"interface Ethernet[\d/]+", r"switchport |mtu |spanning-tree |service-policy ", r"channel-group "),
    ),
    inherits=((r"channel-group (\d+) .*", r"interface port-channel\1", r"switchport |mtu "),),
    cascades=((r"interface breakout module (\d+) port (\d+) map \S+", r"interface Ethernet\1/\2/[0-9].*"),),
    interim=((r"interface nve1", r"source-interface |host-reachability |advertise ", "shutdown"),),
    dependents=(
        (r"policy-map type network-qos (\S+)", r"service-policy type network-qos \1", True),
        (r"vni (\d+)", r"member vni \1 associate-vrf", False),
        (r"vpc domain \d+", r"vpc (?!domain ).+", False),
    ),
    implied=r"interface (?:loopback|mgmt)\d+ / no shutdown",
    permanent=r"system qos|line \S+",
    dropped=r"(ip|ipv6|bfd|fabric forwarding) ",
    drop_causes=r"vrf member ",
    indent="  ",
)

DIALECT = Dialect({"startup-config": COMMANDS}, RULES, platform="CISCO_NXOS", layout=LAYOUT)
