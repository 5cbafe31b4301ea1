"""Junos Evolved: port names, the two ways to split a cage, MTU, route filters, and files as a person reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fabric.configs.render import TextOverride, render
from fabric.hardware import catalog
from fabric.model.plan import External, PortRef, SwitchView
from fabric.nos.junos.target import TARGET
from fabric.nos.junos.write import words
from fabric.nos.policy import Entry
from tests.goldens import golden
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view

CASES = [
    *((kind, "ipv4", name) for kind in ("evpn", "qos") for name in ("leaf1", "leaf2", "spine1")),
    ("evpn", "unnumbered", "leaf1"),
    ("qos", "unnumbered", "spine1"),
    ("qos", "ipv6", "leaf1"),
    ("qos", "ipv6-unnumbered", "spine1"),
    ("vrf-lite", "ipv4", "leaf1"),
    ("vrf-lite", "ipv4", "spine1"),
    ("acl", "ipv4", "leaf1"),
]


def text(switch: SwitchView) -> str:
    (file,) = render(switch, TARGET)
    assert file.path == "juniper.conf"
    return file.text


def of_model(switch: SwitchView, model: str) -> SwitchView:
    return replace(switch, device=replace(switch.device, model=model))


def block(conf: str, head: str) -> str:
    """The first block that begins with this line."""
    lines = conf.split("\n")
    start = next(n for n, line in enumerate(lines) if line.strip() == head + " {")
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = next(n for n in range(start, len(lines)) if lines[n] == " " * indent + "}")
    return "\n".join(line[indent:] for line in lines[start : end + 1])


@pytest.mark.parametrize(("kind", "style", "name"), CASES, ids=["-".join(case) for case in CASES])
def test_files_are_as_recorded(kind: str, style: str, name: str) -> None:
    golden(f"render/junos/{kind}-{style}-{name}.conf", text(rich(name, kind, "junos", style)))


@pytest.mark.parametrize("name", ["leaf1", "leaf2", "spine1"])
@pytest.mark.parametrize(
    ("kind", "style"),
    [
        *((kind, style) for kind in ("plain", "qos", "acl") for style in STYLES),
        *(("evpn", style) for style in ("ipv4", "unnumbered")),
        ("vrf-lite", "ipv4"),
    ],
)
def test_every_view_is_balanced(kind: str, style: str, name: str) -> None:
    conf = text(view(name, replace(STYLES[style], nos="junos")) if kind == "plain" else rich(name, kind, "junos", style))
    depth = 0
    for line in conf.split("\n")[1:-1]:
        body = line.strip()
        depth -= body == "}"
        assert line == " " * 4 * depth + body
        assert body.endswith(("{", "}", ";", "*/")), line
        depth += body.endswith("{")
    assert depth == 0


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        (PortRef(1, 0, 1, 800), "et-0/0/0"),
        (PortRef(1, 1, 2, 400), "et-0/0/0:1"),
        (PortRef(64, 7, 8, 100), "et-0/0/63:7"),
    ],
)
def test_port_names(ref: PortRef, name: str) -> None:
    assert TARGET.port_name(catalog.switch("qfx5240-64od"), ref, "qfx5240-64od") == name


def test_a_split_cage_at_the_interface_and_at_the_chassis() -> None:
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="junos"))
    newer, older = text(of_model(leaf, "qfx5240-64od")), text(of_model(leaf, "qfx5220-32cd"))
    assert block(newer, "et-0/0/1").split("\n")[1:-1] == [
        '    description "split into 2x400G";',
        "    number-of-sub-ports 2;",
        "    speed 400g;",
    ]
    assert "fpc 0 {" not in newer
    assert block(older, "port 1") == "port 1 {\n    number-of-sub-ports 2;\n    speed 400g;\n}"
    assert "    et-0/0/1 {" not in older
    assert "    et-0/0/1:0 {" in older


def test_mtu_of_the_frame_and_of_the_packet() -> None:
    conf = text(rich("leaf2", "evpn", "junos"))
    fabric, server, outside = (block(conf, name) for name in ("et-0/0/2", "et-0/0/0:0", "et-0/0/5"))
    assert [line.strip() for line in fabric.split("\n") if "mtu" in line] == ["mtu 9114;", "mtu 9100;"]
    assert [line.strip() for line in server.split("\n") if "mtu" in line] == ["mtu 9064;", "mtu 9050;"]
    assert "    mtu 9072;" in outside  # and two tags, for which `flexible-vlan-tagging` keeps room
    assert TARGET.max_mtu == 9194


@pytest.mark.parametrize(
    ("entry", "spelled"),
    [
        (Entry(10, "0.0.0.0/0"), "0.0.0.0/0 exact"),
        (Entry(10, "10.0.0.0/24", ge=32), "10.0.0.0/24 prefix-length-range /32-/32"),
        (Entry(10, "10.0.0.0/16", ge=24, le=28), "10.0.0.0/16 prefix-length-range /24-/28"),
        (Entry(10, "10.0.0.0/16", le=32), "10.0.0.0/16 orlonger"),
        (Entry(10, "10.0.0.0/16", le=31), "10.0.0.0/16 upto /31"),
        (Entry(10, "fd00::/32", le=128), "fd00::/32 orlonger"),
        (Entry(10, "fd00::/32", le=127), "fd00::/32 upto /127"),
        (Entry(10, "fd00::/120", ge=128), "fd00::/120 prefix-length-range /128-/128"),
    ],
)
def test_route_filters(entry: Entry, spelled: str) -> None:
    assert words.route_filter(entry) == spelled


def test_as_paths_by_their_first_number() -> None:
    assert words.begins_with([64514, 64512, 64513, 64512]) == "([64512-64514]) .*"
    assert words.begins_with([7, 9]) == "([7-7]|[9-9]) .*"


@pytest.mark.parametrize(("parsed", "printed"), [("plain", '"plain"'), ('a "b" ; }', "\"a 'b' ; }\""), ("tail\\", '"tail/"')])
def test_nothing_ends_a_quoted_text(parsed: str, printed: str) -> None:
    assert words.quoted(parsed) == printed
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="junos"))
    conf = text(replace(leaf, management=replace(leaf.management, banner=parsed)))
    assert f"        message {printed};\n" in conf


def test_maximum_ecmp_only_where_there_are_more_paths_than_the_switch_takes_by_itself() -> None:
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="junos"))
    assert "maximum-ecmp" not in text(leaf)
    many = tuple(leaf.sessions) * 5
    assert "    maximum-ecmp 32;" in text(replace(leaf, sessions=many))


def test_management_without_a_vrf() -> None:
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="junos"))
    conf = text(replace(leaf, management=replace(leaf.management, vrf=False)))
    assert "mgmt_junos" not in conf
    assert block(conf, "route 0.0.0.0/0").split("\n")[1:-1] == ["    next-hop 172.16.0.1;", "    no-readvertise;"]


def test_a_external_connection_in_the_default_table() -> None:
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="junos"))
    spare = next(port for port in leaf.ports if port.peer is None)
    peer = next(port.peer for port in leaf.ports if port.kind == "server")
    port = replace(spare, kind="attachment", peer=peer, reserved="")
    ports = tuple(port if own.ref == port.ref else own for own in leaf.ports)
    external = External(
        port=port,
        vrf="",
        tag=0,
        address="10.64.9.0/31",
        peer_address="10.64.9.1",
        peer_asn=65010,
        peer="wan",
        accepts=("0.0.0.0/0",),
    )
    under = replace(leaf.underlay, outside=("0.0.0.0/0",))
    conf = text(replace(leaf, ports=ports, externals=(external,), underlay=under))
    assert "address 10.64.9.0/31;" in conf
    assert "        0.0.0.0/0 exact;" in block(conf, "route-filter-list PL-OWN").replace("    0.", "        0.")
    assert block(conf, "policy-statement FABRIC-OUT").index("as-path FROM-ABOVE;") < 120  # before anything is accepted
    assert "protocol [ aggregate bgp ];" in block(conf, "policy-statement OUTSIDE-wan-OUT")
    assert "10.64.9.1/32;" in block(conf, "prefix-list BGP-PEERS")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("qfx5240-64od", None),
        ("qfx5130-32cd", None),
        ("64x400g", None),
        ("qfx5120-48y", "it runs Junos, not Junos Evolved: other names of ports and classes"),
        ("sn5600", "it runs sonic, cumulus, not Junos Evolved"),
    ],
)
def test_refusals(model: str, why: str | None) -> None:
    assert TARGET.refusal(catalog.switch(model), model) == why


def test_a_site_replaces_a_block_of_any_part(tmp_path: Path) -> None:
    site = tmp_path / "site.j2"
    body = "{% block buffers %}\n    /* ours */\n{% endblock %}\n{% block users %}\n{% endblock %}\n"
    site.write_text('{% extends "junos/juniper.conf.j2" %}\n' + body, encoding="utf-8")
    (file,) = render(of_model(rich("leaf1", "qos", "junos"), "qfx5240-64od"), TARGET, [TextOverride(site)])
    assert "\n    /* ours */\n" in file.text
    assert "shared-buffer" not in file.text
    assert "root-authentication" not in file.text


def test_no_secret_is_printed() -> None:
    conf = text(rich("leaf1", "evpn", "junos"))
    secrets = [line.strip() for line in conf.split("\n") if "password" in line]
    assert secrets == [
        'encrypted-password "${ADMIN_PASSWORD_HASH}";',
        'encrypted-password "${ADMIN_PASSWORD_HASH}";',
        'authentication-password "${SNMP_AUTH_KEY}";',
        'privacy-password "${SNMP_PRIV_KEY}";',
    ]
