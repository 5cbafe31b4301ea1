"""Every frr.conf that can be rendered, loaded into the real daemons: no complaint, and read back as it was meant."""

from __future__ import annotations

import re
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

import pytest

from fabric.configs.render import render
from fabric.model.plan import External, SwitchView, Vrf
from fabric.nos.frr.target import TARGET as FRR
from fabric.nos.sonic.target import TARGET as SONIC
from fabric.nos.target import Target
from tests.examples import located, paths
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view
from tests.system.frr_daemons import ask_fabric, differences, lines, load, unexpected, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

# kind of view, its styles
KINDS = {
    "plain": tuple(STYLES),
    "qos": ("ipv4",),
    "evpn": ("ipv4", "unnumbered"),
    "vrf-lite": ("ipv4",),
    "acl": ("ipv4",),
    "external": ("ipv4", "ipv6"),
}
CASES = [
    (target, kind, style, name)
    for target in (FRR, SONIC)
    for kind, styles in KINDS.items()
    for style in styles
    for name in ("leaf1", "leaf2", "spine1")
]
# One of each role of a fabric: the others have other numbers.
GENERATED = list({re.sub(r"\d+", "", str(path)): path for path in reversed(paths("frr.conf"))}.values())


def seen(kind: str, style: str, name: str, nos: str) -> SwitchView:
    if kind == "plain":
        return view(name, replace(STYLES[style], nos=nos))
    if kind == "external":
        return with_external_connection(view(name, replace(STYLES[style], nos=nos)))
    return replace(rich(name, kind, nos, style), qos=None) if nos == "frr" else rich(name, kind, nos, style)


def with_external_connection(base: SwitchView) -> SwitchView:
    """A border router in the default table, on the last port."""
    port = base.ports[-1]
    own, far, out = (
        ("fd00:9::", "fd00:9::1", "::/0") if base.underlay.family == "ipv6" else ("10.9.0.0", "10.9.0.1", "0.0.0.0/0")
    )
    way = External(port=port, vrf="", tag=0, address=own, peer_address=far, peer_asn=65010, peer="wan", accepts=(out,))
    return replace(base, externals=(way,), underlay=replace(base.underlay, outside=(out,)))


def frr_conf(target: Target, kind: str, style: str, name: str) -> str:
    return next(file.text for file in render(seen(kind, style, name, target.name), target) if file.path == "frr.conf")


def complaints(path: Path, scratch: Path) -> list[str]:
    loaded = load(path, scratch)
    code = [f"exit {loaded.code}"] if loaded.code else []
    return [*code, *sorted(unexpected(loaded)), *differences(path.read_text(encoding="utf-8"), loaded.running)]


@pytest.mark.parametrize(("target", "kind", "style", "name"), CASES, ids=["-".join((c[0].name, *c[1:])) for c in CASES])
def test_the_daemons_have_what_was_meant(target: Target, kind: str, style: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "frr.conf"
    path.write_text(frr_conf(target, kind, style, name), encoding="utf-8")
    assert complaints(path, tmp_path) == []


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: "-".join(path.parts[:-1]))
def test_generated_files_load(path: PurePath, tmp_path: Path) -> None:
    assert complaints(located(path), tmp_path) == []


def wired(folder: Path, style: str) -> None:
    """Two leaves and a spine of the EVPN view as namespaces, with the addresses of their ports."""
    cables: list[str] = []
    views = {name: seen("evpn", style, name, "frr") for name in ("leaf1", "leaf2", "spine1")}
    for name, own in views.items():
        (folder / name).mkdir()
        (folder / name / "frr.conf").write_text(frr_conf(FRR, "evpn", style, name), encoding="utf-8")
        at = ["link set lo up", f"address add {own.loopback} dev lo"]
        if own.overlay and own.overlay.vtep:
            at.append(f"address add {own.overlay.vtep}/32 dev lo")
        for port in own.ports:
            if port.kind != "fabric" or port.peer is None or port.peer.device.name not in views:
                continue
            here, there = FRR.port_name(own.model, port.ref, ""), FRR.port_name(own.model, port.peer.port, "")
            if name.startswith("leaf"):
                cables.append(f"link add {here} netns {name} type veth peer name {there} netns {port.peer.device.name}")
            at += [f"link set {here} up"] + ([f"address add {port.address} dev {here}"] if port.address else [])
        for network in own.networks:
            at += ["link add br100 up type bridge", f"link add vni up master br100 {tunnel(own, network.vni)}"]
        (folder / name / "links").write_text("\n".join(at) + "\n", encoding="utf-8")
        inside = [line for vrf in own.vrfs for line in tenant(own, vrf)]
        (folder / name / "tenants").write_text("\n".join(inside) + "\n", encoding="utf-8")
    (folder / "cables").write_text("\n".join(cables) + "\n", encoding="utf-8")


def tunnel(own: SwitchView, vni: int | None) -> str:
    assert own.overlay is not None
    return f"type vxlan id {vni} local {own.overlay.vtep} dstport 4789 nolearning"


def tenant(own: SwitchView, vrf: Vrf) -> list[str]:
    """A namespace named as the VRF: the bridge of its L3 VNI, and its routed server."""
    name, vni = f"vrf-{vrf.name}", f"vni{vrf.vni}"
    server = next(port for port in own.ports if port.vrf == vrf.name)
    return [
        f"ip netns add {name}",
        f"ip link add {vni} {tunnel(own, vrf.vni)}",
        f"ip link set {vni} netns {name}",
        f"ip -n {name} link add l3 up type bridge",
        f"ip -n {name} link set {vni} up master l3",
        f"ip -n {name} link add port type veth peer name server",
        f"ip -n {name} link set server up",
        f"ip -n {name} link set port up",
        f"ip -n {name} address add {server.address} dev port",
    ]


def test_routes_cross_the_spine(tmp_path: Path) -> None:
    """Sessions between loopbacks come up; the spine, which has no VNIs, passes routes on and leaves their next hop alone;
    tenants import routes of each other as their route targets permit."""
    wired(tmp_path, "unnumbered")
    asked = [f"show ip route vrf vrf-{vrf} bgp" for vrf in ("blue", "red")]
    asked += [f"show bgp l2vpn evpn route type {number}" for number in (5, 3)]
    blue, red, prefixes, vteps = ask_fabric(tmp_path, "leaf2", "10.128.1.2/31", asked)
    assert first_route(vteps, "10.0.0.1:10001") == ("[3]:[0]:[32]:[10.2.0.1]", "10.2.0.1", "RT:65000:10001")
    assert first_route(prefixes, "10.0.0.1:1") == ("[5]:[0]:[31]:[10.128.1.0]", "10.2.0.1", "RT:65000:50001")
    assert first_route(prefixes, "10.0.0.1:2") == ("[5]:[0]:[31]:[10.128.1.2]", "10.2.0.1", "RT:65000:50002")
    assert "10.128.1.0/31 [20/0] via 10.2.0.1, l3 onlink" in red
    assert "10.128.1.2/31" not in red  # blue lets red in, not the other way round
    assert "10.128.1.0/31" in blue
    assert "10.128.1.2/31 [20/0] via 10.2.0.1, l3 onlink" in blue


def first_route(answer: str, rd: str) -> tuple[str, str, str]:
    """The first route under a route distinguisher: prefix, next hop, route target."""
    _, prefix, hop, *rest = answer.split(f"Route Distinguisher: {rd}\n", 1)[1].split()
    return prefix, hop.partition("(")[0], next(word for word in rest if word.startswith("RT:"))


# A replaced line, and the reported difference. Only the unknown word gives an exit code of vtysh other than 0.
PLANTED = {
    # An RD with an IPv4 address has 16 bits left; bgpd truncates the value silently.
    "rd cut off": (
        "  rd 10.0.0.1:1\n",
        "  rd 10.0.0.1:70000\n",
        "+ router bgp 4200000101 vrf vrf-red / address-family l2vpn evpn / rd 10.0.0.1:4464",
    ),
    "rd of a VNI cut off": (" rd 10.0.0.1:10001\n", " rd 10.0.0.1:80001\n", "+ * / vni 10001 / rd 10.0.0.1:14465"),
    "route target refused": (
        "export 65000:50001",
        "export 4200000001:70000",
        "- * / route-target export 4200000001:70000",
    ),
    # Taken in this address family, and neither kept nor needed: bgpd leaves the next hop of EVPN as it is.
    "line forgotten": (
        "  advertise-all-vni\n",
        "  advertise-all-vni\n  neighbor OVERLAY attribute-unchanged next-hop\n",
        "- * / neighbor OVERLAY attribute-unchanged next-hop",
    ),
    "line of another family": (
        "  neighbor OVERLAY activate\n",
        "  neighbor OVERLAY activate\n  neighbor OVERLAY maximum-prefix 12000\n",
        "+ router bgp 4200000101 / address-family ipv4 unicast / neighbor OVERLAY maximum-prefix 12000",
    ),
    "unknown word": (" bgp bestpath", " bgp bestpaths", "line * Unknown command*"),
    "unknown list": ("route-map RM-CONNECTED\n", "route-map RM-NOWHERE\n", "The route-map 'RM-NOWHERE' does not exist."),
}


@pytest.mark.parametrize("case", PLANTED)
def test_a_planted_mistake_is_caught(case: str, tmp_path: Path) -> None:
    old, new, expected = PLANTED[case]
    text = frr_conf(FRR, "evpn", "ipv4", "leaf1")
    assert old in text
    path = tmp_path / "frr.conf"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = complaints(path, tmp_path)
    assert any(fnmatchcase(line, expected) for line in found), found


def test_lines_know_their_block() -> None:
    text = "router bgp 1\n address-family ipv4 unicast\n  maximum-paths 4\n exit-address-family\nexit\n!\nhostname x\n"
    assert lines(text)[2:] == [(("router bgp 1", "address-family ipv4 unicast"), "maximum-paths 4"), ((), "hostname x")]
