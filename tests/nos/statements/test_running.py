"""Rendered files in the formatting of a device: sorted, hashed, with defaults hidden and lines added. They are in sync.

The formatting is that of public running configs: EOS 4.36 and NX-OS 10.3 of batfish/lab-validation, `sonic-cfggen` and
init_cfg.json of SONiC, `nft list ruleset`. FRR's own formatting is tested with its daemons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from fabric.audit.checks import statement_differences
from tests.audit.checks.shapes import SHAPES, samples

HASH = "$6$OltGHZc$HhFkXGiUhxd5Y"


def sections(text: str) -> list[str]:
    """Top-level sections without comments."""
    return [section for section in re.split(r"\n(?=\S)", text) if section.strip() and section[0] not in "!#"]


def eos(text: str) -> str:
    """Ports before loopbacks, no default, hashes, what EOS adds."""
    text = re.sub(r"\n   no shutdown(?=\n)", "", re.sub(r"(?m)^(interface (?!Vxlan)[\s\S]*?)(?=^!)", _without_shutdown, text))
    text = text.replace("${ADMIN_PASSWORD_HASH}", HASH).replace("peer group", "peer-group")
    text = re.sub(r"v3 auth (\S+) \S+ priv (\S+) \S+", r"v3 localized f5717f auth \1 aa11 priv \2 bb22", text)
    banner = re.search(r"(?m)^banner login\n[\s\S]*?^EOF\n", text)
    body = sorted(sections(text.replace(banner[0], "") if banner else text), key=_rank)
    added = ["no service interface inactive port-id allocation disabled", "spanning-tree mode mstp",
             "system l1\n   unsupported speed action error"]  # fmt: skip
    head = ["! Command: show running-config", "! device: leaf (DCS-7060, EOS-4.36.0.1F)", *added]
    return "\n!\n".join([*head, *([banner[0].rstrip()] if banner else []), *body, "end"])


def _without_shutdown(match: re.Match[str]) -> str:
    return re.sub(r"\n   (?:no shutdown|switchport|switchport mode access)(?=\n)", "", match[0])


def _rank(section: str) -> tuple[int, str]:
    order = ("interface Port", "interface Ethernet", "interface Loopback", "interface Management", "interface", "router")
    return next((number for number, head in enumerate(order, 1) if section.startswith(head)), 0), section


def nxos(text: str) -> str:
    """Loopbacks behind the ports, no default, hashes, trailing blanks, what NX-OS adds."""
    text = text.replace("${ADMIN_PASSWORD_HASH}", HASH)
    text = re.sub(
        r"(snmp-server user .*) auth sha \S+ priv aes-128 \S+", r"\1 auth sha 0xaa priv aes-128 0xbb localizedV2key", text
    )
    text = re.sub(r"(logging server .*)", r"\1 facility local7", text).replace("no feature telnet\n", "")
    parts = [
        re.sub(r"\n  (?:switchport|no shutdown)(?=\n|$)", "", one) if "\n  switchport\n" in one else one
        for one in sections(text)
    ]
    added = [
        "!Command: show running-config",
        "!Time: Wed May 20 04:01:53 2026",
        "vdc leaf id 1\n  limit-resource vlan minimum 16",
        "rmon event 1 log trap public description FATAL(1) owner PMON@FATAL",
        "vlan 1",
        "icam monitor scale",
    ]
    return "\n".join([*added, *sorted(parts, key=_rank)]).replace("\n", " \n")


def config_db(text: str) -> str:
    """Keys sorted and indented by four, the tables of the image merged."""
    tables = json.loads(text)
    tables |= {"CRM": {"Config": {"polling_interval": "300"}}, "VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}
    tables["FEATURE"] = {"bgp": {"state": "enabled", "auto_restart": "enabled"}, "sflow": {"state": "disabled"}}
    tables["DEVICE_METADATA"]["localhost"]["mac"] = "00:11:22:33:44:55"
    for user in tables.get("SNMP_USER", {}).values():
        user["SNMP_USER_AUTH_PASSWORD"] = "hashed"
    return json.dumps(tables, indent=4, sort_keys=True)


def ruleset(text: str) -> str:
    """`nft list ruleset`: no comments, tabs, counters with numbers, long sets on several lines."""
    text = re.sub(r"(?m)^\s*#.*\n|^flush ruleset\n", "", text.replace("    ", "\t"))
    text = re.sub(r"\bcounter\b", "counter packets 17 bytes 1020", text)
    return re.sub(
        r"elements = \{ (.*) \}", lambda match: "elements = { " + match[1].replace(", ", ",\n\t\t\t     ") + " }", text
    )


FORMATTING: dict[str, dict[str, Callable[[str], str]]] = {
    "eos": {"startup-config": eos},
    "nxos": {"startup-config": nxos},
    "sonic": {"config_db.json": config_db},
    "frr": {"nftables.conf": ruleset},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nos", FORMATTING)
def test_files_in_the_formatting_of_a_device_are_in_sync(nos: str, shape: str) -> None:
    for switch in samples(nos, shape):
        for path, text in switch.files.items():
            if shown := FORMATTING[nos].get(path.rpartition("/")[2]):
                running = {f"pulled/{path.rpartition('/')[2]}": shown(text)}
                assert running[next(iter(running))] != text
                assert statement_differences(nos, {path: text}, running) == [], shown(text)


EDITS = {  # network OS → (statement of every leaf, what becomes of it)
    "eos": ("   neighbor FABRIC send-community\n", ""),
    "nxos": ("send-community extended", "send-community standard"),
    "sonic": ('"admin_status": "up"', '"admin_status": "down"'),
    "frr": ("ip saddr @allowed4 tcp dport 22 accept", "tcp dport 22 accept"),
}


@pytest.mark.parametrize("nos", FORMATTING)
def test_one_edit_in_that_formatting_is_found(nos: str) -> None:
    switch = next(iter(samples(nos, "routed")))
    old, new = EDITS[nos]
    for path, text in switch.files.items():
        if shown := FORMATTING[nos].get(path.rpartition("/")[2]):
            running = shown(text)
            edited = running.replace(old, new, 1)
            assert edited != running
            assert len(statement_differences(nos, {path: text}, {path: edited})) in (1, 2)
