"""The files beside frr.conf on a Linux switch: devices, filters, access."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fabric.model.plan import Acl, PortRef
from tests.nos.frr.write.test_tenants import CASES, files, tenants
from tests.nos.views import STYLES, view


def stanza(text: str, name: str) -> list[str]:
    """The attributes of one interface."""
    lines = text.split(f"\niface {name}\n", 1)[1].splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("    ")), len(lines))
    return [line.strip() for line in lines[:end] if not line.strip().startswith("#")]


def test_devices_of_an_overlay() -> None:
    text = files(tenants("leaf2", "evpn"))["interfaces"]
    assert "    address 10.2.0.2/32\n" in text.partition("auto mgmt")[0]
    assert stanza(text, "vrf-red") == [
        "address 127.0.0.1/8",
        "vrf-table auto",
        "post-up ip route replace vrf vrf-red unreachable default metric 4278198272",
        "post-up ip -6 route replace vrf vrf-red unreachable default metric 4278198272",
    ]
    assert stanza(text, "swp1s0")[-2:] == ["address 10.128.2.0/31", "vrf vrf-red"]
    assert stanza(text, "bond1") == [
        "alias web1 frontend1",
        "bond-slaves swp5s0",
        "bond-mode 802.3ad",
        "bond-lacp-rate fast",
        "bond-xmit-hash-policy layer3+4",
        "bond-ad-actor-system 02:00:00:00:00:01",
        "mtu 9050",
        "bridge-access 100",
    ]
    assert stanza(text, "vni10001") == [
        "vxlan-id 10001",
        "vxlan-local-tunnelip 10.2.0.2",
        "vxlan-port 4789",
        "vxlan-learning no",
        "bridge-learning off",
        "bridge-arp-nd-suppress on",
        "bridge-access 100",
        "ipv6-addrgen off",
        "mtu 9050",
        "post-up ip link set dev vni10001 type vxlan id 10001 tos inherit",
    ]
    assert "bridge-ports bond1 vni10001 vni50001 vni50002" in stanza(text, "br0")
    assert "bridge-vids 100 3001 3002" in stanza(text, "br0")
    assert "hwaddress 00:00:5e:00:01:01" in stanza(text, "vlan100")
    assert not any(line.startswith("address") for line in stanza(text, "vlan3001"))
    assert stanza(text, "swp6.11")[-2:] == ["address 10.64.9.2/31", "vrf vrf-red"]


def test_mtu_leaves_room_for_the_tunnel_header() -> None:
    text = files(tenants("leaf1", "evpn"))["interfaces"]
    mtus = {name: next(line for line in stanza(text, name) if "mtu" in line) for name in ("swp1s0", "swp3", "swp5s0")}
    assert mtus == {"swp1s0": "mtu 9050", "swp3": "mtu 9100", "swp5s0": "mtu 9050"}


def test_a_closed_port_is_down() -> None:
    assert stanza(files(tenants("leaf1", "evpn"))["interfaces"], "swp5s1") == [
        "alias spare1 frontend1, unassigned",
        "link-down yes",
    ]


@pytest.mark.parametrize(
    ("untagged", "tagged", "expected"),
    [
        (100, (), ["bridge-access 100"]),
        (0, (100, 200), ["bridge-vids 100 200", "bridge-allow-untagged no"]),
        (100, (200,), ["bridge-vids 200", "bridge-pvid 100"]),
    ],
)
def test_vlans_of_a_bridge_port(untagged: int, tagged: tuple[int, ...], expected: list[str]) -> None:
    base = tenants("leaf1", "evpn")
    ports = tuple(
        replace(port, lag=0, untagged=untagged, tagged=tagged) if port.ref == PortRef(5, 0, 2, 400) else port
        for port in base.ports
    )
    text = files(replace(base, ports=ports, lags=()))["interfaces"]
    assert [line for line in stanza(text, "swp5s0") if line.startswith("bridge")] == expected
    assert "bridge-ports swp5s0 vni10001 vni50001 vni50002" in stanza(text, "br0")


def test_a_tenants_filter() -> None:
    text = files(tenants("leaf1", "acl"))["nftables.conf"]
    assert "        elements = { 10.128.1.0/31, 10.128.2.0/31 }\n" in text
    assert '        iifname { "swp1s0" } jump tenant-red\n' in text
    assert "    chain tenant-red {\n        ip daddr @tenant-red-4 accept\n        counter drop\n    }\n" in text


def test_a_tenants_filter_lets_neighbor_discovery_through() -> None:
    base = tenants("leaf1", "acl", "ipv6")
    text = files(replace(base, acls=(Acl("red", ("fd00:2:1::/64",)), Acl("blue", ()))))["nftables.conf"]
    red, blue = text.split("    chain tenant-red {\n")[1], text.split("    chain tenant-blue {\n")[1]
    assert red.startswith(
        "        ip6 daddr @tenant-red-6 accept\n"
        "        icmpv6 type { nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } ip6 hoplimit 255 accept\n"
        "        counter drop\n"
    )
    assert blue.startswith("        counter drop\n")  # an empty filter closes the port


def test_only_who_is_allowed_reaches_the_control_plane() -> None:
    text = files(tenants("leaf1", "qos"))["nftables.conf"]
    for line in (
        "        type filter hook input priority filter; policy drop;",
        "        ip saddr @allowed4 tcp dport 22 accept",
        "        ip saddr @allowed4 udp dport 161 accept",
        "        elements = { 10.64.0.1, 10.64.0.3, 10.64.0.5, 10.64.0.7 }",
    ):
        assert f"{line}\n" in text
    assert "4789" not in text
    assert "        ip saddr @vteps4 udp dport 4789 accept\n" in files(tenants("leaf1", "evpn"))["nftables.conf"]
    assert "4789" not in files(tenants("spine1", "evpn"))["nftables.conf"]


def test_secrets_are_references_and_a_banner_is_a_file_of_its_own() -> None:
    base = tenants("leaf1", "qos")
    made = files(replace(base, management=replace(base.management, banner="Keep out }; exit")))
    assert made["accounts"] == "admin:${ADMIN_PASSWORD_HASH}\n"
    assert 'createUser monitor SHA "${SNMP_AUTH_KEY}" AES "${SNMP_PRIV_KEY}"\nrouser monitor priv\n' in made["snmpd.conf"]
    assert made["issue.net"] == "Keep out }; exit\n"
    assert not any("Keep out" in text for path, text in made.items() if path != "issue.net")
    plain = files(view("leaf1", STYLES["ipv4"]))
    assert "snmpd.conf" not in plain
    assert "161" not in plain["nftables.conf"]


def test_the_hash_is_seeded_where_the_kernel_can() -> None:
    seeds = [files(tenants(name, "qos"))["sysctl.conf"] for name in ("leaf1", "spine1")]
    assert "\n-net.ipv4.fib_multipath_hash_seed = 1\n" in seeds[0]
    assert "\n-net.ipv4.fib_multipath_hash_seed = 2\n" in seeds[1]


needs_nft = pytest.mark.skipif(
    shutil.which("nft") is None or os.geteuid() != 0, reason="nft is not installed (Debian package nftables), or not root"
)


@needs_nft
@pytest.mark.parametrize(("kind", "style", "name"), CASES, ids=["-".join(case) for case in CASES])
def test_nft_takes_every_rule(kind: str, style: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "nftables.conf"
    path.write_text(files(tenants(name, kind, style))["nftables.conf"], encoding="utf-8")
    done = subprocess.run(["unshare", "-n", "nft", "-f", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
