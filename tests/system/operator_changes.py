"""Random changes that an operator types at a running FRR: lines taken back, values changed, lines added, sections deleted.

Independent of what writes the commands back: only the grammar of FRR, applied to what a daemon prints. Not among them:
`route-target both`, which bgpd of FRR 8.4.4 cannot take back in any form without ending.
"""

from __future__ import annotations

import random
import re

Line = tuple[tuple[str, ...], str]

PORTS = ("link add swp9 type veth peer name far-swp9", "link add eth9 type veth peer name far-eth9")  # that no plan uses
TOP = (
    "ip route 192.0.2.0/24 Null0",
    "ip route 198.51.100.0/24 10.64.0.1 200",
    "ip prefix-list PL-NEW seq 10 permit 192.0.2.0/24",
    "ip prefix-list PL-NEW permit any",
    "ipv6 prefix-list PL-NEW6 seq 5 deny any",
    "access-list ACL-NEW seq 5 permit 10.0.0.0/8",
    "bgp community-list standard CL-NEW seq 5 permit 65000:1",
    "bgp as-path access-list AS-NEW seq 5 permit ^65001$",
    "route-map RM-NEW permit 10\n set local-preference 200\n set community 65000:1 additive\nexit",
    "route-map RM-NEW deny 20\n match as-path AS-NEW\nexit",
    "route-map RM-CONNECTED permit 20\n match interface lo\nexit",
    "route-map RM-CONNECTED permit 10\n set metric 5\n on-match next\nexit",
    "log syslog errors",
    "log timestamp precision 6",
    "hostname other",
    "no log syslog",
    "interface swp9\n description typed\n ip address 192.0.2.1/31\nexit",
    "interface lo\n ip address 192.0.2.9/32\nexit",
    "vrf vrf-new\n vni 59999\nexit-vrf",
    "router bgp {asn} vrf vrf-new\n neighbor 192.0.2.33 remote-as 65099\nexit",
    "bfd\n profile NEW\n  transmit-interval 50\n exit\nexit",
    "bfd\n peer 192.0.2.7\n  detect-multiplier 9\n exit\nexit",
    "bfd\n profile FABRIC\n  passive-mode\n  echo-mode\n exit\nexit",
    "debug bgp updates",
    "ip forwarding",
    "no ipv6 forwarding",
    "ip nht resolve-via-default",
    "password secret",
    "ip protocol static route-map RM-SOURCE",
    "enable password secret",
    "service password-encryption",
    "banner motd line typed by hand",
    "ip import-table 7",
    "zebra route-map delay-timer 9",
    "bgp large-community-list standard LL-NEW seq 5 permit 65000:1:1",
    "bgp extcommunity-list standard EL-NEW seq 5 permit rt 65000:1",
    "ip prefix-list PL-CONNECTED description typed by hand",
    "ip prefix-list PL-CONNECTED seq 15 deny 203.0.113.0/24",
    "interface lo\n ipv6 address fd00:9::9/128\n description typed by hand\nexit",
    "interface swp9\n shutdown\n no link-detect\nexit",
    "route-map RM-SOURCE deny 5\nexit",
    "route-map RM-SOURCE permit 10\n description typed by hand\n call RM-CONNECTED\nexit",
    "ipv6 route 2001:db8::/32 Null0",
    "bfd\n profile FABRIC\n  receive-interval 900\n  detect-multiplier 7\n exit\nexit",
    "bfd\n profile FABRIC\n  minimum-ttl 250\n  echo receive-interval 90\n exit\nexit",
    "bfd\n profile FABRIC\n  shutdown\n exit\nexit",
    "zebra nexthop kernel enable",
)
BGP = (
    "neighbor 192.0.2.1 remote-as 65099",
    "neighbor 192.0.2.1 remote-as 65099\nneighbor 192.0.2.1 description typed by hand\nneighbor 192.0.2.1 password secret",
    "neighbor 192.0.2.1 remote-as external\nneighbor 192.0.2.1 bfd\nneighbor 192.0.2.1 ebgp-multihop 5",
    "neighbor NEWGROUP peer-group\nneighbor NEWGROUP remote-as 65098\nneighbor 192.0.2.5 peer-group NEWGROUP",
    "neighbor NEWGROUP peer-group\nneighbor 192.0.2.5 remote-as 65098\nneighbor 192.0.2.5 peer-group NEWGROUP",
    "neighbor NEWGROUP peer-group\nneighbor NEWGROUP remote-as 65098\nbgp listen range 198.51.100.0/24 peer-group NEWGROUP",
    "bgp listen range 198.51.100.0/24 peer-group {group}",
    "neighbor {group} remote-as external",
    "neighbor {group} remote-as 4200000000",
    "neighbor {group} remote-as 65077",
    "neighbor {group} shutdown",
    "neighbor {group} password secret",
    "neighbor {group} timers 10 30",
    "neighbor {group} timers connect 5",
    "neighbor {group} advertisement-interval 3",
    "neighbor {group} capability extended-nexthop",
    "neighbor {group} ebgp-multihop 4",
    "neighbor {group} bfd",
    "neighbor {group} bfd 5 500 500",
    "no neighbor {group} bfd",
    "neighbor {group} update-source lo",
    "neighbor {group} description a group",
    "neighbor {member} shutdown",
    "neighbor {member} shutdown message maintenance",
    "neighbor {member} remote-as 65077",
    "neighbor {member} remote-as external",
    "neighbor {member} timers 20 60",
    "neighbor {member} password secret",
    "neighbor {member} description typed by hand",
    "neighbor {member} bfd",
    "neighbor {member} local-as 65055 no-prepend",
    "neighbor {member} ttl-security hops 2",
    "neighbor {member} update-source lo",
    "no neighbor {member} peer-group {group}",
    "no neighbor {member}",
    "neighbor NEWGROUP peer-group\nneighbor {alone} peer-group NEWGROUP",
    "neighbor NEWGROUP peer-group\nneighbor NEWGROUP timers 7 21\nneighbor {alone} peer-group NEWGROUP",
    "no neighbor {member}\nneighbor {member} remote-as 65066\nneighbor {member} peer-group {group}",
    "no neighbor {member} peer-group {group}\nneighbor {member} remote-as 65066\nneighbor {member} peer-group OVERLAY",
    "no neighbor {group} peer-group",
    "no neighbor {member} remote-as",
    "neighbor eth9 interface remote-as external",
    "neighbor eth9 interface peer-group {group}",
    "bgp router-id 192.0.2.200",
    "no bgp router-id",
    "bgp graceful-restart",
    "no bgp graceful-restart",
    "bgp graceful-restart restart-time 200",
    "bgp graceful-restart stalepath-time 500",
    "bgp graceful-restart-disable",
    "bgp graceful-shutdown",
    "bgp shutdown",
    "bgp log-neighbor-changes",
    "no bgp log-neighbor-changes",
    "timers bgp 20 60",
    "bgp bestpath as-path multipath-relax as-set",
    "no bgp bestpath as-path multipath-relax",
    "bgp bestpath compare-routerid",
    "bgp bestpath med missing-as-worst",
    "bgp default local-preference 150",
    "bgp default ipv4-unicast",
    "bgp ebgp-requires-policy",
    "bgp network import-check",
    "bgp cluster-id 192.0.2.3",
    "bgp max-med on-startup 60",
    "bgp fast-external-failover",
    "no bgp fast-external-failover",
    "bgp suppress-fib-pending",
    "bgp always-compare-med",
    "coalesce-time 2000",
    "update-delay 10",
    "write-quanta 20",
    "bgp deterministic-med",
)
UNICAST = (
    "network 192.0.2.0/24",
    "redistribute static",
    "redistribute connected",
    "redistribute connected route-map RM-OTHER",
    "redistribute kernel metric 5",
    "no redistribute connected",
    "aggregate-address 192.0.2.0/24 summary-only",
    "maximum-paths 1",
    "maximum-paths 8",
    "no maximum-paths",
    "maximum-paths ibgp 4",
    "neighbor {group} maximum-prefix 5",
    "neighbor {group} maximum-prefix 100 90 warning-only",
    "no neighbor {group} maximum-prefix",
    "no neighbor {group} activate",
    "no neighbor {group} prefix-list PL-FABRIC in",
    "neighbor {group} prefix-list PL-OTHER in",
    "neighbor {group} route-map RM-OTHER out",
    "neighbor {group} route-reflector-client",
    "neighbor {group} next-hop-self",
    "neighbor {group} soft-reconfiguration inbound",
    "neighbor {group} allowas-in 2",
    "neighbor {group} default-originate",
    "neighbor {group} addpath-tx-all-paths",
    "neighbor {group} remove-private-AS",
    "neighbor {group} weight 100",
    "neighbor {group} attribute-unchanged next-hop",
    "neighbor {group} as-override",
    "no neighbor {group} send-community",
    "neighbor {group} send-community large",
    "neighbor {member} activate",
    "no neighbor {member} activate",
    "neighbor {member} route-map RM-OTHER in",
    "neighbor {member} maximum-prefix 7",
    "neighbor {member} allowas-in",
    "neighbor {member} prefix-list PL-OTHER out",
    "neighbor {member} soft-reconfiguration inbound",
    "distance bgp 30 30 30",
    "table-map RM-SOURCE",
    "bgp dampening",
    "import vrf vrf-other",
)
EVPN = (
    "no advertise-all-vni",
    "advertise-default-gw",
    "advertise-svi-ip",
    "advertise ipv6 unicast",
    "advertise ipv4 unicast route-map RM-OTHER",
    "no advertise ipv4 unicast",
    "default-originate ipv4",
    "flooding disable",
    "dup-addr-detection max-moves 10 time 60",
    "rd 192.0.2.1:99",
    "no rd",
    "route-target import 65000:999",
    "route-target export 65000:999",
    "no route-target import {import}",
    "no route-target export {export}",
    "no neighbor {group} activate",
    "neighbor {group} route-map RM-OTHER in",
    "neighbor {group} allowas-in",
    "neighbor {group} next-hop-self",
    "neighbor {member} activate",
    "vni 10999\n rd 192.0.2.1:10999\n route-target import 65000:10999\nexit-vni",
)
VNI = (
    "rd 192.0.2.1:77",
    "no rd",
    "route-target import 65000:997",
    "advertise-svi-ip",
    "advertise-default-gw",
)


def read(text: str) -> list[Line]:
    """Every line with its sections, by indentation, ends of sections left out."""
    found: list[Line] = []
    open_: list[tuple[int, str]] = []
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("!") or re.fullmatch(r"exit(-\S+)?|end", line):
            continue
        depth = len(raw) - len(raw.lstrip())
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        found.append((tuple(head for _, head in open_), line))
        open_.append((depth, line))
    return found


def entered(blocks: tuple[str, ...], text: str) -> list[str]:
    """Lines as they are typed in a section, and what leaves it."""
    typed = [f"{' ' * depth}{head}" for depth, head in enumerate(blocks)]
    typed += [f"{' ' * len(blocks)}{line}" for line in text.splitlines()]
    return [*typed, *(f"{' ' * depth}{_exit(head)}" for depth, head in reversed(list(enumerate(blocks))))]


def _exit(head: str) -> str:
    for word, way in (("address-family", "exit-address-family"), ("vni ", "exit-vni"), ("vrf ", "exit-vrf")):
        if head.startswith(word):
            return way
    return "exit"


def changes(running: str, chance: random.Random) -> list[str]:
    """One to three changes of a running config."""
    found = [one for one in read(running) if not re.match(r"frr (version|defaults)|vni \d+$", one[1]) or one[0]]
    typed: list[str] = []
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        kind = chance.choices((_taken_back, _changed, _added, _retyped), (4, 3, 5, 0.3))[0]
        typed += kind(found, chance)
    return typed


def _taken_back(found: list[Line], chance: random.Random) -> list[str]:
    blocks, line = chance.choice(found)
    return entered(blocks, line[3:] if line.startswith("no ") else f"no {line}")


SPOTS = re.compile(  # numbers, last bytes of addresses, prefix lengths, names of lists, words with an opposite
    r"(?<![\w.:/-])\d+(?![\w.:/-])|\.\d+(?=[/ ]|$)|(?<=/)\d+|(?<=PL-)\w+|(?<=RM-)\w+|(?<=:)\d+$|\b(permit|deny|in|out)\b"
)
OPPOSITES = {"permit": "deny", "deny": "permit", "in": "out", "out": "in"}
HEADS = ("router bgp", "address-family")


def _changed(found: list[Line], chance: random.Random) -> list[str]:
    """A number or a name of a line is another, with or without a `no` before."""
    blocks, line = chance.choice([one for one in found if re.search(r"\d|PL-|RM-", one[1]) and not one[1].startswith(HEADS)])
    spots = list(SPOTS.finditer(line))
    if not spots:
        return entered(blocks, f"no {line}")
    spot = chance.choice(spots)
    new = line[: spot.start()] + _other(spot[0], chance) + line[spot.end() :]
    return entered(blocks, f"no {line}\n{new}" if chance.random() < 0.3 else new)


def _other(word: str, chance: random.Random) -> str:
    if word in OPPOSITES:
        return OPPOSITES[word]
    if word.startswith("."):
        return f".{chance.randrange(1, 250)}"
    return str(max(1, int(word) - chance.randrange(1, 9))) if word.isdigit() else "OTHER"


def _added(found: list[Line], chance: random.Random) -> list[str]:
    blocks, templates = chance.choice(_sections(found))
    return entered(blocks, _filled(found, blocks, chance.choice(templates), chance))


def _sections(found: list[Line]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    sections: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), TOP)] * 2
    for blocks, line in found:
        if line.startswith("router bgp"):
            sections += [((line,), BGP)] * 3
        elif line.startswith("address-family l2vpn"):
            sections += [((*blocks, line), EVPN)] * 2
        elif line.startswith("address-family"):
            sections += [((*blocks, line), UNICAST)] * 2
        elif line.startswith("vni ") and len(blocks) == 2:
            sections.append(((*blocks, line), VNI))
    return sections


WORDS = {  # of a template: pattern of lines that have it, what stands for it where there are none
    "group": (re.compile(r"neighbor (\S+) peer-group$"), "NOGROUP"),
    "member": (re.compile(r"neighbor (\S+) .*peer-group \S"), "192.0.2.2"),
    "alone": (re.compile(r"neighbor (\S+) timers \d"), "192.0.2.3"),  # groups, and neighbors in none
    "import": (re.compile(r"route-target import (\S+)"), "1:1"),
    "export": (re.compile(r"route-target export (\S+)"), "1:1"),
}


def _filled(found: list[Line], blocks: tuple[str, ...], text: str, chance: random.Random) -> str:
    """A template with names of groups, members and route targets of its part of the config."""
    around = [line for sections, line in found if blocks and sections[:1] == blocks[:1]]
    words = {
        word: chance.choice([match[1] for line in around if (match := pattern.match(line))] or [otherwise])
        for word, (pattern, otherwise) in WORDS.items()
    }
    return text.format(asn=_asn(found), **words)


def _asn(found: list[Line]) -> str:
    return next(match[1] for _, line in found if (match := re.match(r"router bgp (\S+)", line)))


def _retyped(found: list[Line], chance: random.Random) -> list[str]:
    """All of BGP under another AS number."""
    heads = [line for blocks, line in found if not blocks and line.startswith("router bgp")]
    asn = _asn(found)
    typed = [f"no {head}" for head in reversed(heads)]
    for blocks, line in found:
        if (*blocks, line)[0].startswith("router bgp"):
            renamed = [head.replace(f"router bgp {asn}", "router bgp 64999") for head in (*blocks, line)]
            typed += entered(tuple(renamed[:-1]), renamed[-1])
    return typed


def all_changes(running: str) -> list[list[str]]:
    """Every line taken back, and every template added once in every section of its kind."""
    found = [one for one in read(running) if not re.match(r"frr (version|defaults)|vni \d+$", one[1]) or one[0]]
    typed = [entered(blocks, line[3:] if line.startswith("no ") else f"no {line}") for blocks, line in found]
    for blocks, templates in dict.fromkeys(_sections(found)):
        typed += [entered(blocks, _filled(found, blocks, text, random.Random(text))) for text in templates]
    typed += [_changed(found, random.Random(number)) for number in range(150)]
    return [*typed, _retyped(found, random.Random(1))]
