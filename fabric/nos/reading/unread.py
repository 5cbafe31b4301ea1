"""What a file is that no reader takes: a config of another network OS, a part of a config, or no config at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from fabric.nos.reading.reader import Signs

# Network OSes without a reader, the most particular first: IOS XE has the signs of IOS as well.
FOREIGN: Mapping[str, Signs] = {
    "SR Linux": (
        (3, r"^(?:set|delete) / ?(?:interface|network-instance|system|acl|routing-policy) "),
        (9, r"^(?:interface (?:ethernet-\d|mgmt0|system0|lag\d|irb\d)\S*|network-instance \S+) \{"),
        (9, r'"srl_nokia-[\w-]+:'),
    ),
    "SR OS": ((3, r"^# TiMOS-"), (3, r"^configure \{$|^/configure \S")),
    "IOS XR": (
        (3, r"^!! IOS XR|^RP/\d+/\S+#"),
        (3, r"^ ipv4 address \d"),
        (2, r"^interface (?:Bundle-Ether\d|(?:TenGigE|HundredGigE|FortyGigE|TwentyFiveGigE|MgmtEth)\d)"),
    ),
    "ASA": ((3, r"^ASA Version \d"),),
    "IOS XE": ((3, r"^version 1[67]\.\d"), (2, r"^(?:no )?platform (?:console|punt-keepalive|qfp)")),
    "IOS": ((3, r"^version 1[2-5]\.\d"),),
    "IOS or IOS XE": (
        (3, r"^service timestamps "),
        (3, r"^boot-start-marker"),
        (4, r"^ ip address \d+\.\d+\.\d+\.\d+ 255\."),  # FRR takes no mask, EOS and NX-OS indent by more
        (2, r"^interface (?:GigabitEthernet|TenGigabit\w+|HundredGig(?!E\d)\w+|FortyGig(?!E\d)\w+|TwentyFiveGig(?!E\d)\w+)"),
    ),
    "NCLU": ((3, r"^net add \S"),),
    "VRP or Comware": ((3, r"^ ?sysname \S"),),
    "OS10": ((3, r"^! Version 10\.\d+\.\d+"),),
    "RouterOS": ((2, r"^/interface "),),
    "FortiOS": ((3, r"^config vdom|^config system global"),),
    "VyOS": (  # in braces or as set lines, as Junos
        (9, r"^// vyos-config-version|^ {4}(?:ethernet eth|vxlan vxlan|bridge br)\d+ \{$"),
        (9, r"^set (?:interfaces (?:ethernet eth|vxlan vxlan|bridge br)\d|system config-management |firewall ipv4 )|^vyos@"),
    ),
}

# Statements that several network OSes share, so that a few of them do not tell which: two signs are a part of a config.
PART: Signs = (
    (2, r"^router (?:bgp|ospf|isis)\b.*\n[ \t]+\S"),
    (1, r"^conf(?:ig(?:ure)?)? t(?:erm(?:inal)?)?[ \t\r]*$"),
    (1, r"^hostname \S+[ \t\r]*$"),
    (1, r"^interface [^\s\d]*\d\S*[ \t\r]*\n[ \t]+\S"),
    (1, r"^vrf (?:context|definition|instance) \S"),
    (1, r"^vlan \d[\d,-]*[ \t\r]*$"),
    (1, r"^ip(?:v6)? (?:route|prefix-list) \S"),
    (1, r"^route-map \S+ (?:deny|permit) \d"),
)
LEAST = 2  # of a part
SEVERAL_REASON = "configs of several devices in one file"
PART_REASON = "part of a config, too short to tell its network OS"

COMMANDS = r"(?:show|display|ping6?|traceroute6?|tracert|nmap|arp|netstat|ethtool|dig|nslookup|vtysh|(?:net|nv)[ _]show)"
# A prompt with a command, or how the output of one begins.
OUTPUT = re.compile(
    rf"^[\w.@:~()\[\]/-]+ ?[#>$%] ?{COMMANDS}\b|^(?:PING \S+ |Starting Nmap |traceroute to |Pinging )|\A\s*{COMMANDS} \S",
    re.M,
)
OUTPUT_NAME = re.compile(rf"(?:^|[#>$%] ?){COMMANDS}[ _-]", re.I)
CONFIG_NAME = re.compile(r"(?:^|[ ._-])(?:run(?:ning)?|startup)[ _-]?conf\w*(?:\.\w+)?$|\.(?:cfg|set)$", re.I)
PLAY = re.compile(r"^- (?:hosts|name): .*\n(?:[ \t]+\S.*\n)*?[ \t]+(?:hosts|tasks|roles|vars|[\w.]+):", re.M)
DATA = frozenset((".ini", ".json", ".toml", ".xml", ".yaml", ".yml"))


def foreign(text: str) -> str:
    """The network OS that a text with signs of FOREIGN is for."""
    return next(name for name, signs in FOREIGN.items() if any(re.search(sign, text, re.M) for _, sign in signs))


def is_part(text: str) -> bool:
    """Whether a text has statements as configs have them, too few to tell their network OS."""
    return sum(weight for weight, sign in PART if re.search(sign, text, re.M)) >= LEAST


def is_output(path: str, text: str) -> bool:
    """Whether a file holds what a command printed."""
    return bool(OUTPUT.search(text) or (OUTPUT_NAME.search(PurePath(path).name) and not named_as_config(path)))


def is_play(text: str) -> bool:
    """Whether a text is a list of tasks, which may have parts of configs in them."""
    return bool(PLAY.search(text))


def is_data(path: str, text: str) -> bool:
    """Whether a file is YAML, JSON or the like, as topologies and variables are."""
    return PurePath(path).suffix.lower() in DATA or is_play(text) or text.lstrip()[:1] in ("{", "[") or text.startswith("---")


def named_as_config(path: str) -> bool:
    """Whether the name of a file is one that configs have, where its text tells nothing."""
    return bool(CONFIG_NAME.search(PurePath(path).name))
