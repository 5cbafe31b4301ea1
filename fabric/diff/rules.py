"""What the commands of a network OS mean to one another, as far as a change of config needs to know.

A pattern has groups: two lines of a section whose groups read alike set one thing, so the later takes the place of the
earlier and no `no` is wanted before it. What no rule names is taken back with `no` and set anew, which is right too,
only longer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

Single = tuple[tuple[str, ...], str]  # beginnings of the sections that a line lies in, pattern of the line
Key = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """One network OS. Patterns are matched against lines without their `no`."""

    single: tuple[Single, ...]
    removal: tuple[tuple[str, str], ...] = ()  # pattern of a line that is taken back, what is said instead
    used: str = ""  # what other lines refer to, with its name as the group: taken back after all else
    owned: str = ""  # what a box takes once only, as groups: let go before another section may have it
    stays: str = ""  # sections that cannot be taken back, only emptied
    forgets: str = ""  # lines of an interface that the box drops when one of `causes` changes: they are set again
    causes: str = ""
    step: str = "   "  # of the indentation

    def key(self, sections: Sequence[str], line: str) -> Key | None:
        """What a line sets: two lines of one section with the same key take each other's place."""
        line = line.removeprefix("no ")
        for at, (heads, pattern) in enumerate(self.single):
            if len(heads) == len(sections) and all(map(str.startswith, sections, heads)):
                match = _compiled(pattern).match(line)
                if match:
                    return (at, *match.groups())
        return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_BGP_NEIGHBOR = (
    r"(neighbor \S+ (?:remote-as|description|timers|update-source|ebgp-multihop|maximum-routes|peer[ -]group|bfd profile)) "
)
_BGP_FILTER = r"(neighbor \S+ (?:route-map|prefix-list)) \S+ (in|out)$"

EOS = Rules(
    single=(
        ((), r"(hostname|clock timezone|logging vrf \S+ source-interface|ntp local-interface|vlan internal order) "),
        ((), r"(ip routing)(?: ipv6 interfaces)?$"),
        ((), r"(priority-flow-control pause watchdog default \S+|priority-flow-control pause watchdog action) "),
        ((), r"(ip virtual-router mac-address|ip route vrf \S+ \S+|qos map traffic-class \d+ to \S+) "),
        ((), r"(snmp-server user \S+) "),
        (("interface ",), r"(description|mtu|speed|vrf|service-profile|encapsulation dot1q vlan|channel-group) "),
        (("interface ",), r"(switchport (?:mode|access vlan)|lacp system-id|ip address virtual) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(vxlan (?:source-interface|udp-port|vrf \S+ vni|vlan \d+ vni)) "),
        (("interface ",), r"(shutdown|switchport)$"),
        (("interface ", "evpn "), r"(identifier|redundancy|designated-forwarder|route-target import) ?"),
        (("management ",), r"(idle-timeout) "),
        (("qos profile ", ""), r"(bandwidth(?: guaranteed)? percent|random-detect ecn minimum-threshold) "),
        (("ip prefix-list ",), r"(seq \d+) "),
        (("ipv6 prefix-list ",), r"(seq \d+) "),
        (("ip access-list ",), r"(\d+) "),
        (("ipv6 access-list ",), r"(\d+) "),
        (("route-map ",), r"(description|set local-preference|match ip address prefix-list) "),
        (("router bfd",), r"(interval) "),
        (("router bgp ",), r"(router-id|maximum-paths|graceful-restart restart-time|bgp asn notation) "),
        (("router bgp ",), _BGP_NEIGHBOR),
        (("router bgp ",), _BGP_FILTER),
        (("router bgp ", ""), _BGP_NEIGHBOR),
        (("router bgp ", ""), _BGP_FILTER),
        (("router bgp ", "vrf "), r"(router-id|maximum-paths|rd) "),
    ),
    removal=((r"no (interface (?:Ethernet|Management)[\d/]+)$", r"default \1"), (r"no (channel-group) .*", r"no \1")),
    used=r"(vrf instance \S+|ip routing vrf \S+|interface Port-Channel\d+$|link tracking group \S+|qos profile \S+|"
    r"(?:ip|ipv6) (?:prefix-list|access-list(?: standard)?|community-list) \S+|route-map \S+)",
    owned=r"((?:ip|ipv6) address (?:virtual )?\S+/\d+)",
    stays=r"system control-plane",
    forgets=r"(ip|ipv6) address ",
    causes=r"vrf ",
)

NXOS = Rules(
    single=(
        ((), r"(hostname|clock timezone|copp profile|ntp source-interface|bfd interval|ip load-sharing address) "),
        ((), r"(priority-flow-control watch-dog shutdown-multiplier) "),
        ((), r"((?:ip|ipv6) prefix-list \S+ seq \d+|ip community-list standard \S+ seq \d+) "),
        ((), r"(ip as-path access-list \S+ seq \d+) "),
        (
            ("interface ",),
            r"(description|mtu|vrf member|service-policy type qos input|encapsulation dot1q|source-interface) ",
        ),
        (("interface ",), r"(switchport access vlan|channel-group|vpc) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(shutdown|switchport)$"),
        (("vlan ",), r"(name|vn-segment) "),
        (("vpc domain ",), r"(role priority|system-mac|peer-keepalive|virtual peer-link|delay restore) "),
        (("vrf context ",), r"(vni|rd) "),
        (("ip access-list ",), r"(\d+) "),
        (("ipv6 access-list ",), r"(\d+) "),
        (("policy-map ", "class "), r"(set qos-group|mtu|pause pfc-cos|bandwidth remaining percent|random-detect) "),
        (("policy-map ", "class "), r"(priority level) "),
        (("system qos",), r"(service-policy type (?:network-qos|queuing output)) "),
        (("route-map ",), r"(set local-preference|match ip address prefix-list) "),
        (("line ",), r"(exec-timeout) "),
        (("router bgp ",), r"(router-id|graceful-restart restart-time) "),
        (("router bgp ", "neighbor "), r"(remote-as|description|inherit peer|timers) "),
        (("router bgp ", "template "), r"(timers|update-source|ebgp-multihop) "),
        (("router bgp ", "template ", "address-family "), r"(maximum-prefix) "),
        (("router bgp ", "address-family "), r"(maximum-paths) "),
        (("router bgp ", "vrf "), r"(router-id) "),
        (("router bgp ", "vrf ", "neighbor "), r"(remote-as|description|inherit peer|timers) "),
    ),
    removal=((r"no (interface (?:Ethernet|mgmt)[\d/]+)$", r"default \1"), (r"no (channel-group \d+) .*", r"no \1")),
    used=r"(feature .+|nv overlay evpn|vrf context \S+|interface port-channel\d+$|vpc domain \d+|fabric forwarding \S+|"
    r"(?:ip|ipv6) (?:prefix-list|access-list) \S+|ip community-list standard \S+|ip as-path access-list \S+|"
    r"route-map \S+|(?:class|policy)-map type .+)",
    owned=r"((?:ip|ipv6) address \S+/\d+|vni \d+|(?:ip|ipv6) prefix-list \S+) ?(?:seq \d+ (.+))?",
    stays=r"system qos|line \S+",
    forgets=r"(ip|ipv6) ",
    causes=r"vrf member ",
    step="  ",
)

FRR = Rules(
    single=(
        ((), r"(frr defaults|hostname|log syslog|log facility|fpm address|(?:ip|ipv6) protocol bgp) "),
        ((), r"((?:ip|ipv6) prefix-list \S+ seq \d+) "),
        (("bfd", "profile "), r"(detect-multiplier|receive-interval|transmit-interval) "),
        (("route-map ",), r"(set src|set local-preference|match ip address prefix-list|description) "),
        (("router bgp ",), r"(bgp router-id|bgp graceful-restart restart-time) "),
        (("router bgp ",), _BGP_NEIGHBOR),
        (("router bgp ", "address-family "), r"(maximum-paths|rd|neighbor \S+ maximum-prefix) "),
        (("router bgp ", "address-family "), _BGP_FILTER),
    ),
    used=r"((?:ip|ipv6) (?:prefix-list|access-list) \S+|bgp (?:community-list|as-path access-list) \S+|route-map \S+)",
    owned=r"(vni \d+|(?:ip|ipv6) prefix-list \S+) ?(?:seq \d+ (.+))?",
    stays=r"vrf \S+|address-family .+",
    step=" ",
)

COMMANDS = {"eos": EOS, "nxos": NXOS, "frr": FRR}

# Junos: statements of one value, where `set` takes the place of what was there. All others stand beside one another
# (`address 10.0.0.0/31`, `import FABRIC-IN`), or are made of parts that `set` would mix.
JUNOS_SINGLE = re.compile(
    "autonomous-system|bandwidth-limit|burst-size-limit|cable-length|class|congestion-notification-profile|description|"
    "detection|dynamic-threshold|encapsulation|encrypted-password|flow-control-queue|hold-time|host-name|"
    "inactivity-interval|instance-type|local-address|local-preference|maximum|message|minimum-interval|mtu|multiplier|"
    "number-of-sub-ports|peer-as|percent|poll-interval|priority|recovery|route-distinguisher|router-id|scheduler-map|"
    "speed|teardown|time-zone|ttl|vlan-id|vni|vrf-target|vtep-source-interface|watchdog-action"
)
JUNOS_WORDS = {"drop-profile-map": 5, "transmit-rate": 1, "message": 1, "description": 1}  # that name what is deleted


def junos_single(statement: str) -> str:
    """What a statement of one value sets, \"\" for any other."""
    word, _, value = statement.partition(" ")
    one = bool(value) and (" " not in value or value.startswith('"')) and not value.startswith("[")
    return word if one and JUNOS_SINGLE.fullmatch(word) else ""


def junos_key(statement: str) -> str:
    """What is written behind `delete` for a statement: its name without its value."""
    words = statement.split(" ")
    if words[0] in JUNOS_WORDS:
        return " ".join(words[: JUNOS_WORDS[words[0]]])
    if "[" in words:
        return " ".join(words[: words.index("[")])
    if len(words) > 2 and not words[0][:1].isdigit():
        return " ".join(words[:2])
    return junos_single(statement) or statement
