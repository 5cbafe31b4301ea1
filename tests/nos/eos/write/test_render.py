"""EOS port names and speeds by lanes, and the lines that other parsers recognize the file by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.hardware.catalog.models import PortGroup, SwitchModel
from fabric.model.plan import PortRef
from fabric.nos.eos.target import TARGET
from fabric.nos.eos.write import ports as eos
from tests.nos.views import STYLES, view

SWITCH = SwitchModel(
    ports=(PortGroup(count=1, speed_gbps=800), PortGroup(count=1, speed_gbps=100), PortGroup(count=1, speed_gbps=25))
)


@pytest.mark.parametrize(
    ("ref", "name", "speed"),
    [
        (PortRef(1, 0, 1, 800), "Ethernet1/1", "800g-8"),
        (PortRef(1, 1, 2, 400), "Ethernet1/5", "400g-4"),
        (PortRef(1, 3, 4, 200), "Ethernet1/7", "200g-2"),
        (PortRef(1, 7, 8, 100), "Ethernet1/8", "100g-1"),
        (PortRef(2, 0, 1, 100), "Ethernet2/1", "forced 100gfull"),
        (PortRef(2, 1, 2, 50), "Ethernet2/3", "forced 50gfull"),
        (PortRef(2, 3, 4, 25), "Ethernet2/4", "forced 25gfull"),
        (PortRef(3, 0, 1, 25), "Ethernet3", "forced 25gfull"),
    ],
)
def test_names_and_speeds_go_by_lanes(ref: PortRef, name: str, speed: str) -> None:
    assert (TARGET.port_name(SWITCH, ref, ""), eos.speed(SWITCH, ref)) == (name, speed)


def config(style: str, name: str = "leaf1") -> list[str]:
    return render(view(name, replace(STYLES[style], nos="eos")), TARGET)[0].text.splitlines()


def test_the_first_line_says_what_it_is() -> None:
    assert config("ipv4")[0] == "! device: leaf1 (TEST-SWITCH, EOS-4.32.0F)"


def test_ipv4_over_link_local_next_hops() -> None:
    lines = config("unnumbered")
    assert "ip routing ipv6 interfaces" in lines
    assert "ip routing" not in lines
    assert "   neighbor interface Ethernet2/1 peer-group FABRIC remote-as 4200000001" in lines
    assert "      neighbor FABRIC next-hop address-family ipv6 originate" in lines


def test_graceful_shutdown_is_honored() -> None:
    lines = config("ipv4", "spine1")
    at = lines.index("route-map RM-FABRIC-IN permit 10")
    assert "   match community GSHUT" in lines[at : at + 5]
    assert "   set local-preference 0" in lines[at : at + 5]
    assert "   neighbor FABRIC route-map RM-FABRIC-IN in" in lines
