"""The files: read by a person as goldens, and by the programs that they are for."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.configs.hosts import host_files, view as views
from fabric.configs.hosts.facts import ServerLink, Vlan, facts_of, server_links
from fabric.configs.hosts.netplan import netplan, netplan_text
from fabric.configs.hosts.view import Host, hosts, sides
from fabric.model.plan import FabricPlan, Plan
from tests.configs.hosts.helpers import OTHER, QOS, lossless_facts, plan, site
from tests.goldens import golden

H100 = {"model": "dgx-h100", "count": 2, "name": "gpu"}


def dgx() -> Plan:
    """Two DGX H100 on four rails and a front end, as documented names."""
    intent = site(servers=H100, topology={"rails": 4, "switch": "16x400g", "unit": {"servers": 2}})
    front = {"kind": "collapsed", "switch": "16x400g", "unit": {"servers": 2}}
    intent["fabrics"]["front"] = {"purpose": "frontend", "nos": "frr", "servers": H100, "topology": front}
    return plan(intent)


def tenants(fabric: FabricPlan) -> Iterator[ServerLink]:
    """The links as tenants would have them: a bond with two networks on server 1, a closed port on server 2."""
    first = next(server_links(fabric)).server
    for link in server_links(fabric):
        if link.server == first:
            tagged = (Vlan(101, "10.1.1.11/24", "10.1.1.1"), Vlan(102))
            yield link._replace(address="10.1.0.11/24", gateway="10.1.0.1", untagged=100, tagged=tagged, lag=7)
        else:
            yield link._replace(closed=link.nic == 2)


@pytest.fixture
def bonded(monkeypatch: pytest.MonkeyPatch) -> list[Host]:
    monkeypatch.setattr(views, "server_links", tenants)
    return list(hosts(sides(plan())))


def texts(made: Plan, **options: Any) -> dict[str, str]:
    return {path: data.decode() for path, data in host_files(made, facts_of=lossless_facts, **options)}


def test_goldens() -> None:
    found = texts(dgx())
    assert list(found) == [
        "hosts/gpu-0001/60-fabric.yaml",
        "hosts/gpu-0002/60-fabric.yaml",
        "hosts/_groups/gpu.roce.sh",
        "hosts/_groups/gpu.nccl.env",
    ]
    for path in ("hosts/gpu-0001/60-fabric.yaml", "hosts/_groups/gpu.roce.sh", "hosts/_groups/gpu.nccl.env"):
        golden(f"hosts/dgx/{path.removeprefix('hosts/')}", found[path])


def test_golden_of_other_classes_over_ipv6() -> None:
    made = plan(underlay={"addressing": "ipv6"})
    found = dict(host_files(made, facts_of=lambda fabric: replace(facts_of(fabric), qos=OTHER, dynamic=True)))
    for path in ("hosts/gpu-0001/60-fabric.yaml", "hosts/_groups/gpu.roce.sh", "hosts/_groups/gpu.nccl.env"):
        golden(f"hosts/other/{path.removeprefix('hosts/')}", found[path].decode())


def test_golden_of_a_bond_and_a_closed_port(bonded: list[Host]) -> None:
    golden("hosts/tenants/gpu-0001.yaml", netplan_text(bonded[0]))
    golden("hosts/tenants/gpu-0002.yaml", netplan_text(bonded[1]))


def test_the_text_is_the_data(bonded: list[Host]) -> None:
    for host in [*bonded, *hosts(sides(dgx())), *hosts(sides(plan(underlay={"addressing": "ipv6"})))]:
        assert yaml.safe_load(netplan_text(host)) == netplan(host)


@pytest.mark.parametrize("made", ["dgx", "ipv6", "tenants"])
def test_netplan_takes_it(made: str, tmp_path: Path, bonded: list[Host], monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("netplan") is None:
        pytest.skip("netplan is not installed")
    found = bonded
    if made != "tenants":
        monkeypatch.setattr(views, "server_links", server_links)
        found = list(hosts(sides(dgx() if made == "dgx" else plan(underlay={"addressing": "ipv6"}))))
    for host in found:
        root = tmp_path / host.name
        (root / "etc" / "netplan").mkdir(parents=True)
        file = root / "etc" / "netplan" / "60-fabric.yaml"
        file.write_text(netplan_text(host), encoding="utf-8")
        file.chmod(0o600)
        done = subprocess.run(["netplan", "generate", "--root-dir", str(root)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        units = {path.name: path.read_text() for path in (root / "run" / "systemd" / "network").iterdir()}
        for nic in host.nics:
            unit = units[f"10-netplan-{nic.bond or nic.interface}.network"]
            assert (f"Address={nic.address}" in unit) is not nic.closed
            assert (f"From={(nic.address or '').partition('/')[0]}" in unit) is not nic.closed


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    file = tmp_path / "roce.sh"
    file.write_text(texts(dgx())["hosts/_groups/gpu.roce.sh"], encoding="utf-8")
    done = subprocess.run(["shellcheck", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_dry_run_prints_every_command_and_does_nothing(tmp_path: Path) -> None:
    file = tmp_path / "roce.sh"
    file.write_text(texts(dgx())["hosts/_groups/gpu.roce.sh"], encoding="utf-8")
    done = subprocess.run(["sh", str(file), "--dry-run"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert done.stderr == ""
    assert "dcb pfc set dev enp24s0np0 prio-pfc all:off 3:on" in lines
    assert "sysctl -q -w net/ipv4/conf/enp170s0f1np1/rp_filter=2" in lines
    assert not [line for line in lines if "dcb" in line and "enp170s0f1np1" in line]  # the front end is not lossless
    wrong = subprocess.run(["sh", str(file), "--dryrun"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2


def test_the_script_drives_the_tools(tmp_path: Path) -> None:
    """With stand-ins for the tools: which are called, in which order, for every tool there may be."""
    text = texts(plan())["hosts/_groups/gpu.roce.sh"].replace("/sys/", f"{tmp_path}/sys/")
    assert 'if [ -z "$dry" ]' in text
    file, net = tmp_path / "roce.sh", tmp_path / "sys" / "class" / "net" / "compute1"
    file.write_text(text.replace('"$(id -u)" -ne 0', "0 -ne 0"), encoding="utf-8")
    (net / "device" / "infiniband" / "mlx5_7").mkdir(parents=True)
    for knob in ("roce_rp/enable/3", "roce_np/enable/3", "roce_np/cnp_dscp", "roce_np/cnp_802p_prio"):
        (net / "ecn" / knob).parent.mkdir(parents=True, exist_ok=True)
        (net / "ecn" / knob).write_text("0\n")
    port = tmp_path / "sys" / "kernel" / "config" / "rdma_cm" / "mlx5_7" / "ports" / "1"
    port.mkdir(parents=True)
    for knob in ("default_roce_mode", "default_roce_tos"):
        (port / knob).write_text("\n")
    tools, log = tmp_path / "bin", tmp_path / "log"
    tools.mkdir()
    for tool in ("ip", "ethtool", "sysctl", "dcb"):
        (tools / tool).write_text(f'#!/bin/sh\necho "{tool} $*" >> {log}\n')
        (tools / tool).chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    for _ in range(2):
        done = subprocess.run(["sh", str(file)], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == f"{file}: compute2 is not there\n" * 2
    calls = log.read_text().splitlines()
    assert calls[: len(calls) // 2] == calls[len(calls) // 2 :]
    assert [call.split()[0] for call in calls[: len(calls) // 2]] == ["sysctl"] * 3 + ["ip", "ethtool"] + ["dcb"] * 5
    assert (net / "ecn" / "roce_np" / "cnp_dscp").read_text() == "48\n"
    assert [(port / knob).read_text() for knob in ("default_roce_mode", "default_roce_tos")] == ["RoCE v2\n", "106\n"]


def test_a_group_file_is_the_same_whichever_server_is_wanted() -> None:
    made = dgx()
    every, one = texts(made), texts(made, selected=lambda name: name == "gpu-0002")
    assert list(one) == ["hosts/gpu-0002/60-fabric.yaml", "hosts/_groups/gpu.roce.sh", "hosts/_groups/gpu.nccl.env"]
    assert one == {path: every[path] for path in one}
    assert texts(made, selected=lambda name: False) == {}


def test_without_a_lossless_class_there_is_no_script() -> None:
    found = dict(host_files(plan()))
    assert "hosts/_groups/gpu.roce.sh" not in found
    assert b"NCCL_IB_TC" not in found["hosts/_groups/gpu.nccl.env"]


def test_infiniband_needs_neither_addresses_nor_roce() -> None:
    intent = site(servers={"model": "dgx-h100", "count": 2}, topology={"switch": "qm9700", "unit": {"servers": 2}})
    del intent["fabrics"]["backend"]["nos"]
    found = texts(plan(intent))
    assert list(found) == ["hosts/_groups/dgx-h100.nccl.env"]
    names = [line.partition("=")[0] for line in found["hosts/_groups/dgx-h100.nccl.env"].splitlines() if line[:4] == "NCCL"]
    assert names == ["NCCL_IB_HCA", "NCCL_CROSS_NIC", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"]


@pytest.mark.parametrize(("qos", "lossless"), [(None, False), ({"lossless_priority": 4}, True), ({"enabled": False}, False)])
def test_plain_tcp(qos: dict[str, Any] | None, lossless: bool) -> None:
    """No RDMA for NCCL; a lossless class only where the intent states one."""
    made = plan(transport="ethernet", **({"qos": qos} if qos else {}))
    assert made.fabrics["backend"].spec.roce is lossless
    text = dict(host_files(made))["hosts/_groups/gpu.nccl.env"].decode()
    found = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("NCCL_"))
    assert found.keys() == {"NCCL_IB_DISABLE", "NCCL_SOCKET_IFNAME", "NCCL_CROSS_NIC"}
    assert found["NCCL_SOCKET_IFNAME"].count(",") == 1
    assert made.fabrics["backend"].spec.transport == "ethernet"


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        ({"unit": {"servers": 2}}, {"NCCL_CROSS_NIC": "2", "NCCL_IB_QPS_PER_CONNECTION": "4"}),
        ({"unit": {"servers": 2}, "leaf": {"oversubscription": 2}}, {"NCCL_CROSS_NIC": "0"}),
        ({"kind": "rail-only", "unit": {"servers": 2}}, {"NCCL_CROSS_NIC": "0"}),
        ({"kind": "rack"}, {"NCCL_CROSS_NIC": "1"}),
        ({"kind": "collapsed"}, {"NCCL_CROSS_NIC": "2", "NCCL_IB_QPS_PER_CONNECTION": "1"}),
    ],
)
def test_nccl_follows_the_topology(topology: dict[str, Any], expected: dict[str, str]) -> None:
    servers = {"model": "node", "count": 2, "name": "gpu", "per_rack": 1}
    text = texts(plan(servers=servers, topology={"switch": "16x400g", **topology}))["hosts/_groups/gpu.nccl.env"]
    found = dict(line.split("=", 1) for line in text.splitlines() if line.startswith("NCCL_"))
    assert {name: found.get(name) for name in expected} == expected
    assert found["NCCL_IB_TC"] == str(QOS.dscp << 2)
