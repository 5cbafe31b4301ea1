"""The list of the boards' controllers."""

from __future__ import annotations

from typing import Any

import pytest

from fabric.configs.hosts import host_files
from tests.configs.hosts.helpers import plan, site

PATH = "hosts/_groups/oob.bmc.csv"
HEAD = "server,nic,leaf,port,vlan,tagged,address,gateway,mac"
NETWORK = {"name": "bmc", "vlan": 10, "gateway": "10.40.0.0/24"}


def oob(**changes: Any) -> dict[str, Any]:
    """A back end, and the controllers of its servers on a fabric of their own."""
    intent = site()
    intent["catalog"]["servers"]["node"]["nics"]["oob"] = {"count": 1, "speed_gbps": 1}
    servers = {"model": "node", "count": 2, "name": "gpu", "per_rack": 2}
    fabric = {"purpose": "oob", "nos": "cumulus", "servers": servers, "topology": {"switch": "sn2201"}}
    intent["fabrics"]["oob"] = {**fabric, **changes}
    return intent


def tenants(*networks: dict[str, Any], servers: str = "gpu-0001..0002") -> dict[str, Any]:
    made = [{"name": "bmc", "servers": servers, "networks": list(networks)}]
    return {"overlay": {"kind": "evpn-vxlan"}, "tenants": made}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            [
                "gpu-0001,oob1,oob-leaf001,swp1,,,10.128.0.129/31,10.128.0.128,",
                "gpu-0002,oob1,oob-leaf001,swp2,,,10.128.0.131/31,10.128.0.130,",
            ],
        ),
        (
            tenants(NETWORK),
            [
                "gpu-0001,oob1,oob-leaf001,swp1,10,no,10.40.0.2/24,10.40.0.1,",
                "gpu-0002,oob1,oob-leaf001,swp2,10,no,10.40.0.3/24,10.40.0.1,",
            ],
        ),
        (
            tenants(NETWORK, {"name": "kvm", "vlan": 11}, servers="gpu-0001"),
            [
                "gpu-0001,oob1,oob-leaf001,swp1,10,yes,10.40.0.2/24,10.40.0.1,",
                "gpu-0001,oob1,oob-leaf001,swp1,11,yes,,,",
                "gpu-0002,oob1,oob-leaf001,swp2,,,,,",
            ],
        ),
    ],
)
def test_every_controller_has_a_line(changes: dict[str, Any], expected: list[str]) -> None:
    found = dict(host_files(plan(oob(**changes))))
    assert found[PATH].decode().splitlines() == [HEAD, *expected]
    assert b"oob" not in found["hosts/gpu-0001/60-fabric.yaml"]


def test_a_list_is_the_same_whichever_server_is_wanted() -> None:
    made = plan(oob())
    every = dict(host_files(made))
    assert dict(host_files(made, selected=lambda name: name == "gpu-0002"))[PATH] == every[PATH]
    assert dict(host_files(made, selected=lambda name: False)) == {}


def test_without_controllers_there_is_no_list() -> None:
    assert not [path for path, _ in host_files(plan()) if path.endswith(".csv")]


def test_growth_adds_lines_and_changes_none() -> None:
    intent = oob(**tenants(NETWORK, servers="gpu-0001..0004"))
    intent["fabrics"]["oob"]["servers"]["count"] = 3
    before = dict(host_files(plan(intent)))[PATH].decode().splitlines()
    intent["fabrics"]["oob"]["servers"]["count"] = 4
    assert dict(host_files(plan(intent)))[PATH].decode().splitlines()[:-1] == before
