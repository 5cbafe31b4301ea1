"""What an import does with values that no pattern and no catalog has."""

from __future__ import annotations

import json

import pytest

from fabric.deliver.brownfield.refused import without_entries, without_section
from fabric.deliver.brownfield.sections.tenant_facts import _last_number
from fabric.deliver.brownfield.survey.site import _of_one_subnet
from fabric.nos.sonic.read.ports import board


def ports(*rows: tuple[str, str, str, str]) -> dict[str, str]:
    """A file with ports: name, lanes, speed in Mb/s, alias."""
    table = {name: {"lanes": lanes, "speed": speed, "alias": alias} for name, lanes, speed, alias in rows}
    own = {"localhost": {"hwsku": "Acme-2", "platform": "x86_64-acme-r0"}}
    return {"config_db.json": json.dumps({"PORT": table, "DEVICE_METADATA": own})}


def test_a_port_table_becomes_a_port_map() -> None:
    rows = ("Ethernet4", "1,2", "50000", "Eth1/2"), ("Ethernet0", "25,26,27,28", "100000", "Eth1/1")
    sonic = {"platform": "x86_64-acme-r0", "hwsku": {"default": "Acme-2"}, "lanes": ["25,26,27,28", "1,2"]}
    groups = [{"count": 1, "speed_gbps": 100}, {"count": 1, "speed_gbps": 50}]
    assert board(ports(*rows)) == ("Acme-2", {"ports": groups, "nos": ["sonic"], "sonic": {**sonic, "alias": "Eth1/{cage}"}})


@pytest.mark.parametrize(
    "texts",
    [
        ports(("Ethernet0", "1,2", "100000", ""), ("Ethernet4", "3,4", "100000", "")),  # names count other lanes
        ports(("Ethernet0", "", "100000", "")),
        ports(("Ethernet0", "1", "fast", "")),
        {"config_db.json": "{", "frr.conf": "router bgp 1"},
        {"config_db.json": "[]"},
    ],
)
def test_no_port_map_is_guessed(texts: dict[str, str]) -> None:
    assert board(texts) is None


def test_ends_of_a_link_with_two_subnets() -> None:
    assert _of_one_subnet(["fd00::2/96", "10.0.0.2/30"], ["10.0.0.1/30", "fd00::1/96"]) == ("10.0.0.2/30", "10.0.0.1/30")
    assert _of_one_subnet(["10.0.0.2/30"], []) == ("10.0.0.2/30", "")


@pytest.mark.parametrize(("rd", "number"), [("auto", 0), ("10.0.0.1:5001", 5001), ("", 0)])
def test_number_of_a_route_distinguisher(rd: str, number: int) -> None:
    assert _last_number(rd) == number


def test_what_the_planner_refuses_goes_and_nothing_that_a_fabric_needs() -> None:
    document = {"site": "dc1", "releases": {"cumulus": "5.4.0"}, "fabrics": {"a": {"qos": {}, "topology": {"kind": "rack"}}}}
    gone = without_entries(document, {("releases", "cumulus"): "old", ("fabrics", "a", "topology", "kind"): "no"})
    assert gone == {"releases.cumulus": "old"}
    assert without_section(document, [("fabrics", "a", "topology")], "no") == {"fabrics.a.qos": "no"}
    assert without_section(document, [("fabrics", "a", "topology")], "no") == {}
