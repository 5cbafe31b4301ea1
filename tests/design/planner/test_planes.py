"""NICs on planes: modes, names and addresses of their ports by rail and plane, and what a plane that fails leaves."""

from __future__ import annotations

import re
import subprocess
from ipaddress import ip_address, ip_interface
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.hosts.files import host_files, nccl_environments
from fabric.configs.hosts.netplan import netplan
from fabric.configs.hosts.view import Host, hosts, sides
from fabric.configs.view_of import Views
from fabric.model.plan import LEAF, SERVER, SERVER_LEAF, FabricPlan, Plan
from fabric.model.plan.nic_places import nic_places
from fabric.solver.estimate.request import EstimateRequest

NAMES = {"interface": "eth_r{rail}_p{plane}", "rdma": "roce_r{rail}_p{plane}"}


def intent(servers: dict[str, Any], topology: dict[str, Any], **more: Any) -> dict[str, Any]:
    fabric = {
        "nos": "cumulus",
        "servers": {"model": "hgx-b300", "count": 4, "name": "gpu"} | servers,
        "topology": {"planes": 2, "switch": "sn5600", "unit": {"servers": 2}} | topology,
    }
    return {"version": 1, "site": "dc1", "fabrics": {"backend": fabric | more.pop("fabric", {})}} | more


def planned(text: dict[str, Any], folder: Path) -> Plan:
    path = folder / "dc1.yaml"
    path.write_text(yaml.safe_dump(text), encoding="utf-8")
    return pipeline.plan(pipeline.load(path))


def machines(site: Plan) -> list[Host]:
    return list(hosts(sides(site)))


# --- modes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("servers", "topology", "message"),
    [
        ({"plane_mode": "none"}, {}, "expected swplb or hwplb on a fabric of 2 planes, got none"),
        ({"plane_mode": "swplb"}, {"planes": 1}, "expected none on a fabric of one plane, got swplb"),
        (
            {"plane_mode": "hwplb", "model": "cx7"},
            {},
            "expected modes of this NIC (none), got hwplb of NIC model 'ConnectX-7'",
        ),
        ({"plane_mode": "swplb", "model": "bf3"}, {}, "got swplb of NIC model 'BlueField-3 B3220'"),
        ({"plane_mode": "swplb", "model": "other"}, {}, "expected none, as no mode of this NIC is known"),
        ({"plane_mode": "swplb", "model": "four"}, {}, "a port of every NIC on each of the 2 planes, got 4 ports"),
    ],
)
def test_modes_that_cannot_be(servers: dict[str, Any], topology: dict[str, Any], message: str, tmp_path: Path) -> None:
    nics = {"cx7": ("ConnectX-7", 2), "bf3": ("BlueField-3 B3220", 2), "other": ("Thor 2", 2), "four": ("ConnectX-8", 4)}
    own = {
        name: {"gpus": 8, "nics": {"compute": {"count": 8, "ports": ports, "speed_gbps": 100, "model": model}}}
        for name, (model, ports) in nics.items()
    }
    with pytest.raises(InputError) as raised:
        planned(intent(servers, topology, catalog={"servers": own}), tmp_path)
    assert message in str(raised.value)


@pytest.mark.parametrize(("planes", "mode"), [(1, "none"), (2, "")])
def test_a_mode_of_several_planes_is_never_guessed(planes: int, mode: str, tmp_path: Path) -> None:
    site = planned(intent({}, {"planes": planes}), tmp_path)
    assert site.fabrics["backend"].spec.groups[0].plane_mode == mode


# --- names ----------------------------------------------------------------------------------------------------


def test_names_by_rail_and_plane(tmp_path: Path) -> None:
    site = planned(intent({"plane_mode": "swplb", "nic_names": NAMES}, {}), tmp_path)
    for host in machines(site):
        for nic in host.nics:
            leaf = site.fabrics["backend"].by_name[nic.leaf]
            assert nic.interface == f"eth_r{leaf.rail}_p{leaf.plane}"
            assert leaf.plane == int(nic.name[-1]) - 1
    environment = nccl_environments(site)["gpu"]
    assert "NCCL_IB_HCA==roce_r0_p0,roce_r0_p1,roce_r1_p0" in environment


def test_a_nic_that_joins_its_planes_has_one_device_and_one_address(tmp_path: Path) -> None:
    names = NAMES | {"rdma": "roce_r{rail}"}
    site = planned(intent({"plane_mode": "hwplb", "nic_names": names}, {}), tmp_path)
    fabric = site.fabrics["backend"]
    environment = nccl_environments(site)["gpu"]
    assert "NCCL_IB_HCA==roce_r0,roce_r1,roce_r2,roce_r3,roce_r4,roce_r5,roce_r6,roce_r7\n" in environment
    by_nic: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for link in range(len(fabric.links)):
        if fabric.links.kind[link] == SERVER_LEAF:
            key = int(fabric.links.a[link]), int(fabric.links.a_cage[link])
            by_nic.setdefault(key, set()).add((int(fabric.subnet[link]), fabric.devices[fabric.links.b[link]].plane))
    assert len(by_nic) == 4 * 8
    for ports in by_nic.values():
        assert len({low for low, _ in ports}) == 1
        assert {plane for _, plane in ports} == {0, 1}
    assert len({low for ports in by_nic.values() for low, _ in ports}) == 4 * 8
    for host in machines(site):
        ethernets = netplan(host)["network"]["ethernets"]
        assert len(ethernets) == 16
        assert not any("addresses" in port for port in ethernets.values())


@pytest.mark.parametrize(
    ("names", "mode", "message"),
    [
        ({"interface": "eth_r{rail}"}, "swplb", "nic_names.interface: expected a name of its own for each port"),
        ({"interface": "ethernet_rail{rail}_p{plane}"}, "swplb", "(at most 15 characters), got ethernet_rail0_p0"),
        ({"interface": "1r{rail}_p{plane}"}, "swplb", "expected letters, digits, - and _"),
        ({"rdma": "roce_r{rail}_p{plane}"}, "hwplb", "a name without {plane}, as hwplb joins the planes"),
        ({"rdma": "roce"}, "hwplb", "a name of its own for each NIC, got roce twice"),
        ({"rdma": "roce_{bus}"}, "swplb", "expected text with fields of {nic}, {port}, {rail}, {plane}"),
        ({"rdma": "r{rail!r}_{plane}"}, "swplb", "expected text with fields of {nic}, {port}, {rail}, {plane}"),
        ({"rdma": "r{rail:{nic}}_{plane}"}, "swplb", "expected text with fields of {nic}, {port}, {rail}, {plane}"),
        ({"rdma": "r{rail:099999999}_{plane}"}, "swplb", "expected text with fields of {nic}, {port}, {rail}, {plane}"),
    ],
)
def test_names_that_cannot_be(names: dict[str, str], mode: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        planned(intent({"plane_mode": mode, "nic_names": names}, {}), tmp_path)
    assert message in str(raised.value)


def test_nics_that_share_a_rail_have_names_of_their_own(tmp_path: Path) -> None:
    names = {"interface": "e{nic}r{rail}p{plane}"}
    site = planned(intent({"plane_mode": "swplb", "nic_names": names}, {"rails": 4}), tmp_path)
    group = site.fabrics["backend"].spec.groups[0]
    assert [place.rail for place in nic_places(site.fabrics["backend"].spec, group)][::2] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert group.nic.interfaces[:4] == ("e0r0p0", "e0r0p1", "e1r0p0", "e1r0p1")


# --- addresses as the launch kit computes them ----------------------------------------------------------------
# The formulas of the table, written once more, octet by octet.

TWO, THREE = {"servers": "172.16.0.0/12"}, {"servers": "10.0.0.0/8"}


def octets(tiers: int, planes: int, place: tuple[int, int, int, int, int]) -> tuple[int, int, int, int]:
    plane, rail, pod, su, host = place
    if tiers == 2:
        if planes > 1:
            return 172, 16 | plane << 2 | rail >> 2, (rail & 3) << 6 | su, host << 1
        return 172, 16 | rail << 1, su, host << 1
    if planes > 1:
        return 10, plane << 6 | rail << 3 | pod >> 2, (pod & 3) << 6 | su, host << 1
    return 10, rail << 5 | pod, su, host << 1


def places(fabric: FabricPlan) -> dict[int, tuple[int, int, int, int, int]]:
    """Link → plane, rail, pod, unit of the pod, and server of the unit, from the devices alone."""
    first: dict[int, int] = {}
    units: dict[int, dict[int, None]] = {}
    found = {}
    for device in fabric.devices:
        if device.role == SERVER:
            first.setdefault(device.unit, device.number)
            pod = max(device.pod, 0)
            units.setdefault(pod, {})[device.unit] = None
    for link in range(len(fabric.links)):
        if fabric.links.kind[link] == SERVER_LEAF:
            server, leaf = fabric.devices[fabric.links.a[link]], fabric.devices[fabric.links.b[link]]
            pod = max(server.pod, 0)
            su = list(units[pod]).index(server.unit)
            found[link] = (leaf.plane, leaf.rail, pod, su, server.number - first[server.unit])
    return found


@pytest.mark.parametrize(
    ("tiers", "planes", "mode"), [(2, 2, "swplb"), (2, 2, "hwplb"), (2, 1, "none"), (3, 2, "swplb"), (3, 1, "none")]
)
def test_addresses_follow_from_the_place(tiers: int, planes: int, mode: str, tmp_path: Path) -> None:
    topology = {"planes": planes, "tiers": tiers, "unit": {"servers": 8}} | ({"pods": {"units": 2}} if tiers == 3 else {})
    text = intent(
        {"plane_mode": mode, "count": 36},
        topology,
        pools=TWO if tiers == 2 else THREE | {"loopback": "192.168.0.0/17", "p2p": "172.24.0.0/14"},
        fabric={"underlay": {"server_subnets": "spectrum-x"}},
    )
    site = planned(text, tmp_path)
    fabric = site.fabrics["backend"]
    assert fabric.sizing.tiers == tiers
    seen = set()
    for link, place in places(fabric).items():
        plane = 0 if mode == "hwplb" else place[0]
        expected = ip_address(bytes(octets(tiers, planes, (plane, *place[1:]))))
        assert ip_address(int(fabric.subnet[link])) == expected
        assert fabric.first_end[link] == 0
        seen.add(place)
    assert len(seen) == 36 * 8 * planes
    if mode != "hwplb":
        for host in machines(site):
            for nic in host.nics:
                assert nic.address is not None
                assert nic.gateway is not None
                assert int(ip_address(nic.gateway)) == int(ip_interface(nic.address).ip) + 1


def test_a_leaf_has_the_odd_address(tmp_path: Path) -> None:
    text = intent({"plane_mode": "swplb"}, {}, pools=TWO, fabric={"underlay": {"server_subnets": "spectrum-x"}})
    site = planned(text, tmp_path)
    fabric = site.fabrics["backend"]
    leaf = next(device for device in fabric.devices if device.role == LEAF and (device.plane, device.rail) == (1, 5))
    ports = [port for port in Views(site, fabric).of(leaf).ports if port.kind == "server" and port.peer]
    assert [(port.address, port.peer_address) for port in ports][:2] == [
        ("172.21.64.1/31", "172.21.64.0"),
        ("172.21.64.3/31", "172.21.64.2"),
    ]


@pytest.mark.parametrize(
    ("servers", "topology", "more", "message"),
    [
        (
            {"count": 130, "model": "one"},
            {"unit": {"servers": 130}, "switch": "288x800g"},
            {},
            "expected servers of a unit of at most 128, got 130",
        ),
        ({"count": 130, "model": "one"}, {"tiers": 2, "switch": "288x800g"}, {}, "expected units of at most 64, got 65"),
        ({}, {"kind": "rack", "unit": {}}, {}, "expected a fabric with rails, got rack"),
        ({}, {"rails": 4}, {}, "expected one port of a server on each leaf"),
        ({}, {}, {"pools": {"servers": "172.20.0.0/14"}}, "pool 'servers' with 172.16.0.0 to 172.21.255.255"),
        ({}, {}, {"ipv6": True}, "expected IPv4 addresses of servers, got ipv6"),
    ],
)
def test_what_the_scheme_has_no_room_for(
    servers: dict[str, Any], topology: dict[str, Any], more: dict[str, Any], message: str, tmp_path: Path
) -> None:
    underlay = {"server_subnets": "spectrum-x"} | ({"addressing": "ipv6"} if more.get("ipv6") else {})
    pools = {} if more.get("ipv6") else {"pools": more.get("pools", TWO)}
    own = {"one": {"gpus": 1, "nics": {"compute": {"count": 1, "ports": 2, "speed_gbps": 800, "model": "ConnectX-8"}}}}
    text = intent(servers, topology, fabric={"underlay": underlay}, catalog={"servers": own}, **pools)
    with pytest.raises(InputError) as raised:
        planned(text, tmp_path)
    assert message in str(raised.value)


def test_addresses_of_another_scheme_in_the_lock_are_not_mixed(tmp_path: Path) -> None:
    """The lock keeps addresses in use, so a fabric in service does not change its scheme by itself."""
    text = intent({"count": 4}, {}, pools={"servers": "172.16.0.0/12"})
    before = planned(text, tmp_path)
    text["fabrics"]["backend"]["underlay"] = {"server_subnets": "spectrum-x"}
    (tmp_path / "dc1.yaml").write_text(yaml.safe_dump(text), encoding="utf-8")
    with pytest.raises(InputError, match="the lock has other addresses of servers"):
        pipeline.plan(pipeline.load(tmp_path / "dc1.yaml"), before.lock)


# --- shapes ---------------------------------------------------------------------------------------------------

LARGE = {
    "version": 1,
    "site": "large",
    "catalog": {
        "switches": {"t512": {"ports": [{"count": 64, "speed_gbps": 800, "breakouts": ["8x100"]}]}},
        "servers": {"node": {"gpus": 8, "nics": {"compute": {"count": 8, "ports": 8, "speed_gbps": 100}}}},
    },
    "fabrics": {
        "backend": {
            "servers": {"model": "node", "count": 16_384},
            "topology": {"planes": 8, "switch": "t512", "unit": {"servers": 256}, "cable_length_m": {"leaf-spine": 300}},
            "qos": {"enabled": False},
        }
    },
}


def test_eight_planes_of_the_published_size(tmp_path: Path) -> None:
    """131,072 NICs on 8 planes of 100G: 512 leaves and 256 spines a plane (arXiv 2605.04333)."""
    path = tmp_path / "large.yaml"
    path.write_text(yaml.safe_dump(LARGE), encoding="utf-8")
    counts = pipeline.summarize(pipeline.load(path))["fabrics"]["backend"]
    assert counts["gpus"] == 131_072
    assert counts["planes"] == 8
    assert counts["switches"] == {"leaf": 4096, "spine": 2048, "core": 0}
    assert counts["links"]["leaf-spine"] == 1_048_576


@pytest.mark.parametrize(("planes", "speed"), [(2, 400), (4, 200), (8, 100)])
def test_a_connectx_8_is_split_for_its_planes(planes: int, speed: int, tmp_path: Path) -> None:
    """One cage, and a port of it on each plane."""
    site = planned(intent({}, {"planes": planes}), tmp_path)
    fabric = site.fabrics["backend"]
    ports = fabric.links.kind == SERVER_LEAF
    assert set(fabric.links.speed_gbps[ports].tolist()) == {speed}
    assert int(ports.sum()) == 4 * 8 * planes
    assert {use.nic.ports for group in fabric.spec.groups for use in group.uses} == {planes}


@pytest.mark.parametrize(("mode", "devices"), [("swplb", "roce_r1_p0 roce_r1_p1"), ("hwplb", "roce_r1 roce_r1")])
def test_roce_settings_name_every_port(mode: str, devices: str, tmp_path: Path) -> None:
    """Interfaces in every loop, and the RDMA device of each: one of a NIC that joins its planes."""
    rdma = NAMES["rdma"] if mode == "swplb" else "roce_r{rail}"
    site = planned(intent({"plane_mode": mode, "nic_names": NAMES | {"rdma": rdma}}, {}), tmp_path)
    script = tmp_path / "roce.sh"
    script.write_bytes(dict(host_files(site))["hosts/_groups/gpu.roce.sh"])
    loops = [line for line in script.read_text().splitlines() if line.startswith("for nic in")]
    assert len(loops) == 2
    assert all(f"eth_r{rail}_p{plane}" in loop for loop in loops for rail in range(8) for plane in range(2))
    printed = subprocess.run(["sh", script, "--dry-run"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"mkdir -p /sys/kernel/config/rdma_cm/(roce_r1\S*)", printed)
    assert " ".join(found) == devices
    assert "RDMA-OF" not in printed


# --- a plane that fails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("planes", [2, 4])
def test_a_plane_takes_its_part(planes: int, tmp_path: Path) -> None:
    own = {"node": {"gpus": 8, "nics": {"compute": {"count": 8, "ports": planes, "speed_gbps": 200, "model": "ConnectX-8"}}}}
    text = intent({"model": "node", "plane_mode": "swplb"}, {"planes": planes}, catalog={"servers": own})
    site = planned(text, tmp_path)
    result = pipeline.capacity(site.fabrics["backend"], (f"plane:{planes}",))
    uniform = next(row for row in result.throughput if row.pattern == "uniform")
    assert uniform.asked == pytest.approx((planes - 1) / planes)


def test_a_plane_that_is_not_there(tmp_path: Path) -> None:
    site = planned(intent({}, {}), tmp_path)
    with pytest.raises(InputError, match="expected plane:1 to plane:2, got 'plane:3'"):
        pipeline.capacity(site.fabrics["backend"], ("plane:3",))
    single = planned(intent({}, {"planes": 1}), tmp_path)
    with pytest.raises(InputError, match="expected a fabric with planes, got 'plane:1'"):
        pipeline.capacity(single.fabrics["backend"], ("plane:1",))


# --- planes in service ----------------------------------------------------------------------------------------

NODES = {"node": {"gpus": 8, "gpu": "h100", "nics": {"compute": {"count": 8, "ports": 4, "speed_gbps": 100}}}}


def in_part(active: int | None, tmp_path: Path, **topology: Any) -> FabricPlan:
    own = {"planes": 4} | topology | ({"planes_active": active} if active else {})
    made = planned(intent({"model": "node", "count": 6}, own, catalog={"servers": NODES}), tmp_path)
    return made.fabrics["backend"]


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ({"planes_active": 3}, "planes_active: expected 1 to 2, as `planes`, got 3"),
        ({"planes": 1, "planes_active": 1}, "planes_active: expected none on a fabric of one plane, got 1"),
        ({"planes_active": 0}, "planes_active: expected at least 1, got 0"),
        ({"kind": "ring", "planes_active": 1}, "planes_active: expected none with `kind: ring`, which has no switches"),
    ],
)
def test_planes_that_cannot_be_in_service(topology: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        planned(intent({}, topology), tmp_path)
    assert message in str(raised.value)
    assert any(its.place.line > 1 and its.hint for its in raised.value.diagnostics if message in str(its))


@pytest.mark.parametrize("active", [1, 2, 3, 4])
@pytest.mark.parametrize("tiers", [2, 3])
def test_planes_in_service_leave_what_the_failure_of_the_others_leaves(active: int, tiers: int, tmp_path: Path) -> None:
    more = {"tiers": tiers} | ({"pods": {"units": 1}} if tiers == 3 else {})
    part = pipeline.capacity(in_part(active, tmp_path, **more))
    whole = in_part(None, tmp_path, **more)
    rest = pipeline.capacity(whole, tuple(f"plane:{number}" for number in range(active + 1, 5)))
    assert (part.planes, part.planes_active, part.ports_down) == (4, active, 0)
    assert part.nic_GBps == pytest.approx(rest.nic_GBps * active / 4)
    assert (part.paths_least, part.paths_most) == (rest.paths_least, rest.paths_most)
    assert part.bisection is not None
    assert part.bisection.share == pytest.approx(1)
    mine = {(cut.kind, cut.where): cut.rate_GBps for cut in part.cuts if cut.kind in ("units", "servers", "rails")}
    assert mine.items() <= {(cut.kind, cut.where): pytest.approx(cut.rate_GBps) for cut in rest.cuts}.items()
    for row, its in zip(part.throughput, rest.throughput, strict=True):
        assert (row.optimal, row.ecmp, row.asked) == (pytest.approx(its.optimal), pytest.approx(its.ecmp), 1)
        assert its.asked == pytest.approx(active / 4)


def test_one_plane_in_service_is_as_fast_as_a_fabric_of_one_plane(tmp_path: Path) -> None:
    """The NICs of the other design have one port, and no plane is out of service there."""
    request = EstimateRequest(sizes=(1 << 20, 1 << 30))
    single = {"node": NODES["node"] | {"nics": {"compute": {"count": 8, "ports": 1, "speed_gbps": 100}}}}
    made = planned(intent({"model": "node", "count": 6}, {"planes": 1}, catalog={"servers": single}), tmp_path)
    one, several = pipeline.capacity(made.fabrics["backend"]), pipeline.capacity(in_part(1, tmp_path))
    assert (one.bisection, one.throughput, one.nic_GBps) == (several.bisection, several.throughput, several.nic_GBps)
    alone, _ = pipeline.estimate(made.fabrics["backend"], request)
    part, before = pipeline.estimate(in_part(1, tmp_path), request)
    whole, _ = pipeline.estimate(in_part(4, tmp_path), request)
    assert before is None
    assert part.rows[-1].time_us == pytest.approx(alone.rows[-1].time_us, rel=1e-3)
    assert part.rows[-1].time_us > 2 * whole.rows[-1].time_us
    assert "in service are 1 of 4 planes: 25.0 % of the bandwidth of a server" in part.notes
    assert not any("left out" in note for note in part.notes)


def test_a_failure_of_a_plane_in_service(tmp_path: Path) -> None:
    """Of two planes in service one fails; that of a plane which is not changes nothing."""
    lost = pipeline.capacity(in_part(2, tmp_path), ("plane:2",))
    same = pipeline.capacity(in_part(2, tmp_path), ("plane:4",))
    assert lost.bisection is not None
    assert same.bisection is not None
    assert (lost.bisection.share, same.bisection.share) == (pytest.approx(0.5), pytest.approx(1))
    with pytest.raises(InputError, match="no server port is left"):
        pipeline.capacity(in_part(1, tmp_path), ("plane:1",))


def test_static_routes_of_infiniband_are_those_of_the_planes_in_service(tmp_path: Path) -> None:
    found = {}
    for active, fail in ((4, ()), (4, ("plane:4",)), (3, ())):
        text = intent({"model": "node", "count": 6}, {"planes": 4, "planes_active": active, "switch": "qm9700"})
        del text["fabrics"]["backend"]["nos"]
        nics = {"compute": {"count": 8, "ports": 4, "speed_gbps": 400}}
        made = planned(text | {"catalog": {"servers": {"node": NODES["node"] | {"nics": nics}}}}, tmp_path)
        found[active, fail] = pipeline.capacity(made.fabrics["backend"], fail).static
    assert found[3, ()] == found[4, ("plane:4",)] != found[4, ()]


@pytest.mark.parametrize("planes", [2, 4])
def test_growth_to_all_planes_changes_no_file(planes: int, tmp_path: Path) -> None:
    """Lock, configs of switches and files of servers; the same with more servers, from the lock of fewer planes."""
    nics = {"compute": {"count": 8, "ports": planes, "speed_gbps": 100}}
    path = tmp_path / "dc1.yaml"
    written = []
    for active, count in ((1, 3), (planes, 3), (1, 9), (planes, 9)):
        topology = {"planes": planes, "planes_active": active}
        text = intent(
            {"model": "node", "count": count}, topology, catalog={"servers": {"node": NODES["node"] | {"nics": nics}}}
        )
        path.write_text(yaml.safe_dump(text), encoding="utf-8")
        pipeline.generate(pipeline.load(path)).write()
        out = [file for file in tmp_path.rglob("*") if file.is_file() and file != path]
        written.append({file: file.read_bytes() for file in out})
    for part, whole in (written[:2], written[2:]):
        other = {file.name for file in part.keys() | whole.keys() if part.get(file) != whole.get(file)}
        assert other == {"plan.json", "manifest.txt"}  # the plan says what is in service, the manifest has its digest
        assert sum(file.name == "startup.yaml" for file in part) > 3 * planes
