"""Kea and dnsmasq of Debian serve the files to clients that ask as each network OS does."""

from __future__ import annotations

import binascii
from pathlib import Path

import pytest

from fabric.deliver.day_zero.dhcp import LEASE_S
from tests.deliver.day_zero.network import require, run
from tests.deliver.day_zero.sites import BY_SERIAL, CIRCUITS, MACS, SERIALS, SITE, exported, write

PROGRAMS = {"kea": ("kea-dhcp4", "kea-dhcp4.conf"), "dnsmasq": ("dnsmasq", "dnsmasq.conf")}
UNKNOWN = "52:54:00:00:01:00"
HTTP = "http://172.16.0.200:8080"

Asked = tuple[str, list[str]]


def hexed(text: str) -> str:
    return binascii.hexlify(text.encode()).decode()


def onie(serial: str) -> list[str]:
    return ["-V", "onie_vendor:x86_64-acme_one-r0", "-x", f"61:00{hexed(serial)}"]


def system(name: str, serial: str) -> list[str]:
    """What the requests of a network OS say."""
    return {
        "sonic": ["-x", f"77:{hexed('SONiC-ZTP')}", "-x", f"61:{hexed(f'SONiC##ONE##{serial}')}"],
        "cumulus": [],
        "eos": ["-V", f"Arista;DCS-7060X6;12.00;{serial}"],
        "nxos": ["-x", f"77:0a{hexed('Cisco-POAP')}", "-x", f"61:00{hexed(serial)}"],
        "junos": ["-V", f"Juniper-qfx5240-64od-{serial}"],
        "frr": [],
        "ib": [],
    }[name]


def answers(kind: str, files: dict[str, str], clients: list[Asked], folder: Path) -> list[dict[str, str]]:
    program, name = PROGRAMS[kind]
    require(program, "udhcpc", "ss")
    config = write(files, folder) / name
    found: list[dict[str, str]] = run({"server": kind, "config": str(config), "clients": clients})
    return found


def shown(answer: dict[str, str]) -> dict[str, str]:
    """The options that lead to a file, as text."""
    text = {key: value for key, value in answer.items() if key in ("hostname", "ip", "bootfile", "tftp")}
    for code in (114, 239):
        if f"opt{code}" in answer:
            text[str(code)] = bytes.fromhex(answer[f"opt{code}"]).decode()
    return text | {str(code): answer[f"opt{code}"] for code in (43, 150) if f"opt{code}" in answer}


def expected(name: str, address: str, identity: str) -> dict[str, str]:
    """What the network OS of a switch is given."""
    switch = f"{name}-leaf001"
    url = f"{HTTP}/switches/{switch}.{identity}"
    junos = {0: "/images/junos.iso", 1: f"/switches/{switch}.{identity}/ztp.sh", 3: "http", 5: "8080"}
    parts = b"".join(bytes([code, len(text)]) + text.encode() for code, text in junos.items())
    # udhcpc has the word `bad` for a server name that is a URL; the name itself is in `test_export.py`.
    return {"hostname": switch, "ip": address} | {
        "sonic": {"bootfile": f"{url}/ztp.json"},
        "cumulus": {"239": f"{url}/ztp.sh"},
        "eos": {"bootfile": f"{url}/bootstrap.sh"},
        "nxos": {"tftp": "bad", "bootfile": f"/switches/{switch}.{identity}/poap.py"},
        "junos": {"43": parts.hex(), "150": "ac1000c8"},
        "frr": {},
        "ib": {},
    }[name]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_every_switch_gets_its_own_files(kind: str, tmp_path: Path) -> None:
    """A switch that is known by its serial number may have any MAC address; ONIE and the network OS get different options."""
    names = [switch.partition("-")[0] for switch in MACS]
    lines = dict(line.split(",", 1) for line in BY_SERIAL.splitlines()[1:])
    macs = {name: lines[f"{name}-leaf001"].split(",")[0] for name in names}
    asked = [
        (macs[name] or f"52:54:00:00:02:{at:02x}", system(name, SERIALS[f"{name}-leaf001"])) for at, name in enumerate(names)
    ]
    asked += [(asked[at][0], onie(SERIALS[f"{name}-leaf001"])) for at, name in enumerate(("sonic", "cumulus"))]
    asked += [(UNKNOWN, system("eos", "OTHER1")), (UNKNOWN, onie("OTHER2"))]
    found = answers(kind, exported(SITE, BY_SERIAL, tmp_path), asked, tmp_path / "out")
    for at, name in enumerate(names):
        switch = f"{name}-leaf001"
        identity = macs[name].replace(":", "") or SERIALS[switch]
        assert shown(found[at]) == expected(name, found[at].get("ip", ""), identity), name
    assert len({answer["ip"] for answer in found[: len(names)]}) == len(names)
    assert [answer["lease"] for answer in found[: len(names)]] == [str(LEASE_S)] * len(names)
    for answer, name in zip(found[len(names) :], ("sonic", "cumulus"), strict=False):
        image = {"114": f"{HTTP}/images/{name}.bin", "hostname": f"{name}-leaf001"}
        assert shown(answer) == image | {"ip": answer["ip"]}
    assert found[-2:] == [{}, {}]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_switches_are_known_by_their_ports(kind: str, tmp_path: Path) -> None:
    """One that the inventory lists is not known by its port as well, so that it may be cabled to a wrong one."""
    inventory = "switch,mac\ncore-leaf001,52:54:00:00:00:01\n"
    files = exported(CIRCUITS, inventory, tmp_path)
    port = "oob-leaf001:swp47"
    relayed = ["-x", f"82:01{len(port):02x}{hexed(port)}"]
    clients: list[Asked] = [(UNKNOWN, relayed), ("52:54:00:00:00:01", relayed), (UNKNOWN, ["-x", "82:0103616263"])]
    by_port, by_mac, nothing = answers(kind, files, clients, tmp_path / "out")
    assert (by_port["hostname"], by_mac["hostname"], nothing) == ("oob-leaf002", "core-leaf001", {})
    assert shown(by_port)["239"] == f"{HTTP}/switches/oob-leaf002.{by_port['ip']}/ztp.sh"
