"""Statements of EOS: as a person types them, as `show running-config` has them, and what its commands mean to one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from fabric.nos.dialect import BGP_FILTER, BGP_NEIGHBOR, COMMANDS, Dialect, Effect, Rules
from fabric.nos.reading.sections import END, Layout, StatementPath
from fabric.nos.reading.values import numbers
from fabric.nos.statements.syntax import Syntax, indented

# --- Names of interfaces --------------------------------------------------------------------------------------

STEM = re.compile(r"([A-Za-z-]{2,}) ?(?=\d)")
STEMS = ("Ethernet", "Loopback", "Management", "Port-Channel", "Vlan", "Vxlan")  # abbreviations mean the first that fits


def port_name(text: str) -> str:
    """The name that EOS gives an interface, however a person wrote it: `vxlan 1`, `lo0`, `Et1/1`, `Po10-12`."""
    match = STEM.match(text)
    stem = next((name for name in STEMS if name.lower().startswith(match[1].lower())), "") if match else ""
    return f"{stem}{text[match.end() :]}" if match and stem else text


# --- Commands as a person types them: every line keeps its number ---------------------------------------------

_STEMS = "|".join(STEMS)
_GLOBAL = (  # commands that exist in no mode below an interface or a router
    r"interface |router |hostname |vrf (?:instance|definition) |(?:no )?ip(?:v6)? (?:unicast-)?routing\b|ip(?:v6)? route "
    r"|ip(?:v6)? prefix-list |ip virtual-router mac-address |route-map \S+(?: (?:permit|deny) \d+)?$|service routing "
    r"|no spanning-tree vlan|mlag configuration|management api |username |transceiver qsfp "
)
_OF_INTERFACE = (  # commands that do not exist at the top
    r"(?:no )?(?:switchport\b(?! default)|shutdown$)|(?:description|channel-group|mtu|vxlan|encapsulation dot1q) "
    r"|(?:no )?autostate$|ip(?:v6)? address |ip virtual-router address |vrf (?:forwarding )?(?!instance|definition)\S+$"
)
_OF_BGP = (
    r"(?:no )?(?:neighbor|bgp) |(?:address-family|aggregate-address|network|router-id|maximum-paths|redistribute) "
    r"|(?:distance|timers) bgp |(?:rd|route-target) "
)
_CUT = {  # usual abbreviations of keywords
    "interface": r"int(?:e(?:r(?:f(?:ac?)?)?)?)?",
    "description": r"desc(?:r(?:i(?:p(?:t(?:io?)?)?)?)?)?",
    "ip address": r"ip addr?(?:es?)?",
    "ipv6 address": r"ipv6 addr?(?:es?)?",
    "no shutdown": r"no shutd?(?:o|ow)?",
    "shutdown": r"shutd?(?:o|ow)?",
    "switchport": r"sw(?:itc?|itchpo?r?)?",
    "no switchport": r"no sw(?:itc?|itchpo?r?)?",
    "vxlan source-interface": r"vxlan source-?i?n?t?e?r?f?a?c?",
    "neighbor": r"neig?h?b?o?",
}

_INTERFACE = re.compile(r"interface (?!defaults|profile )(\S.*)")
_NAMED = re.compile(
    r"(.*\b(?:update-source|source-interface|local-interface|peer-link|unnumbered|neighbor interface))"
    r" ([A-Za-z-]+ ?\d\S*)(.*)"
)
_TOP = re.compile(_GLOBAL)
_PLAIN = re.compile(  # sections and lines at the top below which a command of the top keeps its meaning
    r"(?:interface|router bgp|vrf instance|vlan|ip(?:v6)? (?:routing|route|prefix-list|virtual-router)|route-map|hostname"
    r"|service|no|spanning-tree|username)\b|$"
)
_IN_INTERFACE, _IN_BGP = re.compile(_OF_INTERFACE), re.compile(_OF_BGP)
_COMMENT = re.compile(r"(?!.*\bdescription )(.*\S)\s+! \S.*")  # behind a command
_OF_FAMILY = re.compile(r"(?:no )?neighbor \S+ activate")
_NOT_OF_FAMILY = re.compile(
    r"(?:no )?neighbor (?:interface |\S+ (?:peer[ -]group|remote-as|update-source|ebgp-multihop|send-community|description"
    r"|maximum-routes|local-as|password|timers|bfd|shutdown|passive|next-hop-unchanged|allowas-in)\b)|bgp listen |router-id "
)
_SECTION = re.compile(r"(?:vrf|vlan|vlan-aware-bundle) \S+$")
_OF_SECTION = re.compile(r"(?:rd|route-target|redistribute learned)\b")
_SHORT = [(full, re.compile(rf"(?:{cut})(?= |$)", re.I)) for full, cut in _CUT.items()]
_TYPED_LINE = re.compile(
    rf"[ \t]++(?:{_GLOBAL})|(?:{_OF_INTERFACE}|{_OF_BGP})"
    rf"|[ \t]*+(?:{'|'.join(_CUT.values())})(?: |$)"
    rf"|interface (?!(?:{_STEMS})\d)(?:{'|'.join(f'{stem[:2]}|{stem[:2].lower()}' for stem in STEMS)})"
)
_TYPED_WORDS = (  # words, and what is typed about one that stands anywhere in a line
    ("! ", re.compile(r"[^!]*[^\s!][ \t]+! ")),
    *(
        (word, re.compile(rf".*\b{word} (?!(?:{_STEMS})\d)[A-Za-z-]+ ?\d"))
        for word in ("update-source", "source-interface", "local-interface", "peer-link")
    ),
)
_TYPED_PAIR = re.compile(  # two successive lines that EOS never prints so
    r"(?P<family> *)address-family \S+(?: \S+)?\n(?P=family)(?:no )?neighbor \S+ activate"
    r"|(?P<leaf> *)(?:no )?neighbor \S.*\n(?P=leaf) +[^\s!]"
)


def as_shown(text: str) -> str:
    """A config as EOS prints it, with as many lines as the text."""
    return "\n".join(_Typed().lines(text)) if is_typed(text) else text


def is_typed(text: str) -> bool:
    """Whether EOS would not print a config like this."""
    lines = text.split("\n")
    if any(map(_is_typed, lines)):
        return True
    heads = (pair for pair in pairwise(lines) if "neighbor " in pair[0] or "address-family " in pair[0])
    return any(_TYPED_PAIR.match("\n".join(pair)) for pair in heads)


@lru_cache(maxsize=400_000)  # most lines are common to several devices
def _is_typed(line: str) -> bool:
    return _TYPED_LINE.match(line) is not None or any(word in line and part.match(line) for word, part in _TYPED_WORDS)


class _Typed:
    """The modes that are open while the lines of a text are read."""

    def __init__(self) -> None:
        self.head = ""  # of the open section at the top
        self.margin = 0  # its indentation
        self.open: list[tuple[int, str]] = []  # (depth, line) of the sections that a line of `router bgp` may be in

    def lines(self, text: str) -> list[str]:
        return [self._line(raw.expandtabs()) for raw in text.split("\n")]

    def _line(self, raw: str) -> str:
        line = raw.strip()
        if not line or line[0] in "!#":
            return raw if line[:1] != "#" else f"!{raw}"
        margin = len(raw) - len(raw.lstrip())
        line = _whole(line)
        if self._at_top(line, margin):
            self.head, self.margin, self.open = line, margin, []
            return line
        if not self.head.startswith(("interface ", "router bgp ")):
            return " " * margin + line
        depth = max(margin - self.margin, 1)
        return " " * (self._in_process(line, depth) if self.head[0] == "r" else depth) + line

    def _in_process(self, line: str, depth: int) -> int:
        """How deep a line of `router bgp` is, so that it stands in the innermost open mode that has the command."""
        home = self._home(line, depth)
        if home is not None:
            del self.open[home + 1 :]
            depth = max(depth, self.open[home][0] + 1)
        while self.open and (self.open[-1][0] >= depth or _cannot_hold(self.open[-1][1], line)):
            depth = min(depth, max(self.open.pop()[0], 1))
        self.open.append((depth, line))
        return depth

    def _home(self, line: str, depth: int) -> int | None:
        """The open mode that a command is of, however far it was indented."""
        for at in range(len(self.open) - 1, -1, -1):
            margin, head = self.open[at]
            if head.startswith("address-family ") and (
                _OF_FAMILY.match(line) or (margin == depth and line[:8] == "network ")
            ):
                return at
            if _SECTION.match(head) and _OF_SECTION.match(line):
                return at
        return None

    def _at_top(self, line: str, margin: int) -> bool:
        """Whether a line is a command of the top, or of the section that is open."""
        if margin:
            return _PLAIN.match(self.head) is not None and _TOP.match(line) is not None
        if self.head.startswith("interface "):
            return _IN_INTERFACE.match(line) is None
        return not (self.head.startswith("router bgp ") and _IN_BGP.match(line))


def _cannot_hold(head: str, line: str) -> bool:
    """Whether a line opens no mode, or one that lacks a command: the command is of a mode around it."""
    if head.startswith("address-family "):
        return _NOT_OF_FAMILY.match(line) is not None or line.startswith("address-family ")
    if _SECTION.match(head):
        return _SECTION.match(line) is not None and not head.startswith("vlan-aware-bundle ")
    return _IN_BGP.match(head) is not None


def _whole(line: str) -> str:
    """A line with its keywords and names of interfaces in full."""
    if match := _COMMENT.fullmatch(line):
        line = match[1]
    for full, short in _SHORT:
        if match := short.match(line):
            line = full + line[match.end() :]
            break
    if match := _INTERFACE.fullmatch(line):
        return f"interface {port_name(match[1])}"
    if match := _NAMED.fullmatch(line):
        return f"{match[1]} {port_name(match[2])}{match[3]}"
    return line


# --- Layout, and comments of sections, which end in `EOF` -----------------------------------------------------


def without_comments(text: str) -> str:
    """The config without the comments of its sections: `comment`, lines of text, `EOF`. One without an end is left."""
    if f"\n{END}" not in text and f" {END}" not in text:
        return text
    lines, begun = text.split("\n"), -1
    for at, line in enumerate(lines):
        word = line.strip()
        if word == "comment" and begun < 0:
            begun = at
        elif word == END and begun >= 0:
            lines[begun : at + 1] = [""] * (at + 1 - begun)
            begun = -1
    return "\n".join(lines)


@lru_cache(maxsize=4_000)  # the reader and the comparison of statements use the same text
def _shown(text: str) -> str:
    return as_shown(without_comments(text))


LAYOUT = Layout(banner=re.compile(r"banner \w+"), shown=_shown)


# --- Statements -----------------------------------------------------------------------------------------------

MAPPED = re.compile(r"vxlan vlan (?:add )?(\d*[,-][\d,-]*) vni ([\d,-]+)")


def _statements(text: str) -> Iterator[tuple[StatementPath, int]]:
    """`vxlan vlan 10,20 vni 10010,10020` is a statement for each VLAN."""
    return _mapped(text) if "vxlan vlan " in text else indented(text, LAYOUT)


def _mapped(text: str) -> Iterator[tuple[StatementPath, int]]:
    for path, number in indented(text, LAYOUT):
        match = MAPPED.fullmatch(path[-1]) if path[-1].startswith("vxlan vlan ") else None
        vlans, vnis = (numbers(match[1]), numbers(match[2])) if match else ([], [])
        if match and len(vlans) == len(vnis):
            for vlan, vni in zip(vlans, vnis, strict=True):
                yield (*path[:-1], f"vxlan vlan {vlan} vni {vni}"), number
        else:
            yield path, number


SYNTAX = Syntax(
    parts={"startup-config": _statements},
    sectioned={"startup-config": LAYOUT},
    rules_file=Path(__file__).with_name("statements.yaml"),
)


# --- Commands -------------------------------------------------------------------------------------------------

EFFECTS = tuple(
    Effect(  # its own `no neighbor … activate` could stay against that of the group
        heads=heads,
        command=r"neighbor (\S+) peer group \S+",
        over=r"neighbor {0} (?!peer group ).*",
        first="no neighbor {0}",
        takes="neighbor {0} .*",
        source="as FRR does; not known of EOS, and right in either case",
    )
    for heads in (("router bgp ",), ("router bgp ", "vrf "))
)

RULES = Rules(
    single=(
        ((), r"(hostname|clock timezone|logging vrf \S+ source-interface|ntp local-interface|vlan internal order) "),
        ((), r"(ip routing)(?: ipv6 interfaces)?$"),
        ((), r"(priority-flow-control pause watchdog default \S+|priority-flow-control pause watchdog action) "),
        ((), r"(ip virtual-router mac-address|ip route vrf \S+ \S+|qos map traffic-class \d+ to \S+) "),
        ((), r"(snmp-server user \S+) "),
        ((), r"((?:tacacs|radius)-server host \S+(?: vrf \S+)?(?: (?:port|auth-port) \d+)?(?: acct-port \d+)?) "),
        ((), r"(ip (?:tacacs|radius)(?: vrf \S+)? source-interface) "),
        ((), r"(aaa (?:authentication login|authorization exec|accounting exec|accounting commands all) default) "),
        (("interface ",), r"(description|mtu|speed|vrf|service-profile|encapsulation dot1q vlan) "),
        (("interface ",), r"(switchport (?:mode|access vlan|trunk \S+ vlan)|lacp system-id|ip address virtual) "),
        (("interface ",), r"(ip address) \S+$"),
        (("interface ",), r"(vxlan (?:source-interface|udp-port)) "),
        (("interface ",), r"(shutdown|switchport)$"),
        (("interface ", "evpn "), r"(identifier|redundancy|designated-forwarder|route-target import) ?"),
        (("management ",), r"(idle-timeout) "),
        (("qos profile ", ""), r"(bandwidth(?: guaranteed)? percent|random-detect ecn minimum-threshold) "),
        (("route-map ",), r"(description|set local-preference|match ip address prefix-list) "),
        (("router bfd",), r"(interval) "),
        (("router bgp ",), r"(router-id|maximum-paths|graceful-restart restart-time|bgp asn notation) "),
        (("router bgp ",), BGP_NEIGHBOR),
        (("router bgp ",), BGP_FILTER),
        (("router bgp ", ""), BGP_NEIGHBOR),
        (("router bgp ", ""), BGP_FILTER),
        (("router bgp ", "vrf "), r"(router-id|maximum-paths) "),
    ),
    inverses=(
        (r"no (interface (?:Ethernet|Management)[\d/]+)$", r"default \1"),
        (r"no (channel-group|description|mtu|speed|switchport trunk \S+ vlan) .*", r"no \1"),
        (r"no ((?:tacacs|radius)-server host \S+(?: vrf \S+)?(?: (?:auth-)?port \d+)?(?: acct-port \d+)?).*", r"no \1"),
        (r"no (ip (?:tacacs|radius)(?: vrf \S+)? source-interface) .*", r"no \1"),
        (r"no (aaa (?:authentication|authorization|accounting) (?:login|exec|commands all) default) .*", r"no \1"),
        (r"no vxlan vlan (\d+ vni \d+)", r"vxlan vlan remove \1"),
    ),
    typed_as=((r"vxlan vlan (\d+ vni \d+)", r"vxlan vlan add \1"),),
    sequences=((r"aaa group server \S+ \S+", r"server "),),
    definitions=r"(vrf instance \S+|ip routing vrf \S+|interface (?:Port-Channel|Loopback)\d+$|link tracking group \S+|"
    r"qos profile \S+|(?:ip|ipv6) (?:prefix-list|access-list(?: standard)?|community-list) \S+|route-map \S+|"
    r"neighbor [A-Z]\S* peer group$|aaa group server \S+ \S+|"
    r"(?:tacacs|radius)-server host \S+(?: vrf \S+)?(?: (?:auth-)?port \d+)?(?: acct-port \d+)? (?:timeout|key))",
    exclusive=r"(?:ip|ipv6) address (?:virtual )?(\S+/\d+)(?: secondary)?|vxlan (?:vlan|vrf) \S+ (vni \d+)|"
    r"(channel-group \d+) mode \S+",
    defaulted=((r"interface (?:Ethernet[\d/]+|Port-Channel\d+)", r"(?:no )?switchport$", ""),),
    permanent=r"system control-plane",
    dropped=r"(ip|ipv6) (address|enable)",
    drop_causes=r"vrf ",
    effects=EFFECTS,
)

DIALECT = Dialect({"startup-config": COMMANDS}, RULES, platform="ARISTA_EOS", layout=LAYOUT)
