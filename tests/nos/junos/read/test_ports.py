"""Interfaces and classes of service of a Junos config."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fabric.model.facts import Located
from tests.nos.classes import without_links
from tests.nos.junos.read.helpers import FILE, configured, facts, plain

PORTS = """\
chassis { fpc 0 { pic 0 { port 9 { speed 100g; } } } }
system { management-instance; }
interfaces {
    et-0/0/0 {
        description "split; {2}x400G";
        number-of-sub-ports 2;
        speed 400g;
    }
    et-0/0/0:1 {
        mtu 9216;
        disable;
        unit 0 { family inet6; }
    }
    et-0/0/1 {
        description "to spine1";
        flexible-vlan-tagging;
        native-vlan-id 1;
        mtu 9166;
        unit 0 { vlan-id 1; family inet { filter { input-list [ A B ]; } address 10.1.0.0/31; } }
        unit 11 {
            description red;
            vlan-id 11;
            family inet { mtu 9000; address 10.1.0.2/31; }
            family inet6 { mtu 8000; address FE80::1/64; address 2001:DB8::1/64; }
        }
    }
    xe-0/0/9 { ether-options { 802.3ad ae1; } }
    ae1 {
        esi { 0:02:00:00:00:00:05:00:00:0A; all-active; }
        native-vlan-id 20;
        mtu 9162;
        unit 0 { family ethernet-switching { interface-mode trunk; vlan { members [ blue 20 30-31 ]; } } }
    }
    irb {
        unit 10 { family inet { address 10.10.0.1/24; } mac 00:00:5E:00:01:01; }
        unit 20 { family inet { mtu 9000; address 10.20.0.2/24 { virtual-gateway-address 10.20.0.1; } } }
    }
    lo0 { unit 1 { family inet { address 10.0.0.1; } } }
    re0:mgmt-0 { unit 0 { family inet { address 172.16.0.1/24; } } }
    traceoptions { flag all; }
}
vlans {
    blue { vlan-id 10; l3-interface irb.10; }
    green { vlan-id 20; l3-interface irb.20; }
    cyan { vlan-id 77; interface et-0/0/0:1.0; }
}
routing-instances { RED { instance-type vrf; interface et-0/0/1.11; } BRIDGE { instance-type mac-vrf; interface ae1.0; } }
"""
TRUNK = [(10, 32), (30, 32), (31, 32)]
PORT_FACTS = {
    "et-0/0/0": {"line": 4, "description": ("split; {2}x400G", 5), "speed_gbps": (400, 7)},
    "et-0/0/0:1": {
        "line": 9,
        "enabled": (False, 11),
        "frame": (9216, 10),
        "mtu": (9202, 10),
        "speed_gbps": (400, 7),
        "link_local": True,
        "access": (77, 45),
    },
    "et-0/0/1": {
        "line": 14,
        "description": ("to spine1", 15),
        "frame": (9166, 18),
        "mtu": (9144, 18),  # two tags are counted, used or not
        "addresses": [("10.1.0.0/31", 19)],
        "filters": [("A", 19), ("B", 19)],
    },
    "et-0/0/1.11": {
        "line": 20,
        "description": ("red", 21),
        "frame": (9166, 18),
        "mtu": (8000, 24),
        "tag": (11, 22),
        "addresses": [("10.1.0.2/31", 23), ("2001:db8::1/64", 24)],
        "vrf": ("RED", 47),
    },
    "xe-0/0/9": {"line": 27, "bond": ("ae1", 27), "speed_gbps": (100, 1)},
    "ae1": {
        "line": 28,
        "esi": ("00:02:00:00:00:00:05:00:00:0a", 29),
        "esi_mode": ("all-active", 29),
        "frame": (9162, 31),
        "mtu": (9144, 31),
        "access": (20, 30),
        "trunk": TRUNK,
    },
    "irb.10": {"line": 35, "gateways": [("10.10.0.1/24", 35)], "tag": (10, 43)},
    "irb.20": {
        "line": 36,
        "mtu": (9000, 36),
        "addresses": [("10.20.0.2/24", 36)],
        "gateways": [("10.20.0.1/24", 36)],
        "tag": (20, 44),
    },
    "lo0.1": {"line": 38, "addresses": [("10.0.0.1/32", 38)]},
    "re0:mgmt-0": {"line": 39, "addresses": [("172.16.0.1/24", 39)], "vrf": ("management", 2)},
}


def test_interfaces() -> None:
    found = facts(PORTS)
    assert {name: configured(port) for name, port in found.interfaces.items()} == {
        name: {"name": name, **port} for name, port in PORT_FACTS.items()
    }
    assert found.anycast_mac == Located("00:00:5e:00:01:01", 35, FILE)
    assert (found.unread, found.broken) == ([], [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mtu 9000; vlan-tagging;", {"frame": (9000, 1), "mtu": (8982, 1)}),
        ("mtu 9114; unit 0 { family inet { mtu 9100; } }", {"frame": (9114, 1), "mtu": (9100, 1)}),
        ("mtu high;", {}),
        ("unused;", {"enabled": (False, 1)}),
        ("unit 0 { disable; description x; }", {"enabled": (False, 1), "description": ("x", 1)}),
        ("gigether-options { 802.3ad ae3; speed 10g; }", {"bond": ("ae3", 1), "speed_gbps": (10, 1)}),
        ("speed auto; esi { auto-derive { type-1-lacp; } }", {}),
        ("unit 0 { family inet { address 10.0.0.300/24; } }", {}),
        ("unit 0 { family ethernet-switching { port-mode access; vlan { members all; } } }", {"access": (5, 1)}),
        ("unit 0 { family bridge { interface-mode trunk; vlan-id-list [ 2-3 ]; } }", {"trunk": [(2, 1), (3, 1)]}),
        (
            "unit 0 { family inet { address 10.0.0.2/24 { vrrp-group 1 { virtual-address 10.0.0.1; } } } }",
            {"addresses": [("10.0.0.2/24", 1)], "gateways": [("10.0.0.1/24", 1)]},
        ),
    ],
)
def test_one_port(text: str, expected: dict[str, Any]) -> None:
    found = facts(f"interfaces {{ et-0/0/5 {{ {text} }} }} vlans {{ five {{ vlan-id 5; }} none; }}")
    assert configured(found.interfaces["et-0/0/5"]) == {"name": "et-0/0/5", "line": 1, **expected}


@pytest.mark.parametrize(("listed", "vlan"), [("et-0/0/1.0", 10), ("et-0/0/1", 10), ("et-0/0/2.0", None)])
def test_an_instance_has_only_the_interfaces_that_it_names(listed: str, vlan: int | None) -> None:
    found = facts(
        "set interfaces et-0/0/1 unit 0 family ethernet-switching vlan members web\n"
        "set routing-instances L2 instance-type mac-vrf\n"
        f"set routing-instances L2 interface {listed}\n"
        "set routing-instances L2 vlans web vlan-id 10\n"
    )
    assert plain(found.interfaces["et-0/0/1"].access) == vlan


COS = """\
interfaces { et-0/0/0 { unit 0; } et-0/0/1 { unit 5; } xe-0/0/2; ae1; }
class-of-service {
    code-point-aliases { dscp my-roce 011010; }
    classifiers {
        dscp ROCE {
            import default;
            forwarding-class NO-LOSS { loss-priority low code-points [ my-roce 011011 ]; }
            forwarding-class CNP {
                loss-priority low code-points cs6;
                loss-priority high code-points [ af11 tomorrow ];
            }
        }
    }
    drop-profiles { ECN { interpolate { fill-level [ 10 50 ]; drop-probability [ 0 20 ]; } } }
    forwarding-classes {
        class CNP queue-num 3;
        class NO-LOSS queue-num 4 no-loss pfc-priority 3;
        queue 5 OTHER;
    }
    congestion-notification-profile {
        PFC {
            pfc-watchdog { poll-interval 100; detection 3; }
            input { cable-length 30; dscp { code-point 011010 { pfc; } code-point 011011 { pfc; } code-point 0 { pfc; } } }
            output { ieee-802.1 { code-point 011 { flow-control-queue 4; } } }
        }
        OLD { input { ieee-802.1 { code-point 100 { pfc; } code-point 101 { pfc; } } } }
    }
    interfaces {
        et-* { congestion-notification-profile PFC; scheduler-map MAP; unit * { classifiers { dscp ROCE; } } }
        et-0/0/1 { scheduler-map OTHER; }
        xe-0/0/2 { congestion-notification-profile OLD; forwarding-class-set S { output-traffic-control-profile TCP; } }
    }
    traffic-control-profiles { TCP { scheduler-map OTHER; } }
    scheduler-maps {
        MAP {
            forwarding-class NO-LOSS scheduler ROCE;
            forwarding-class CNP scheduler CNP;
            forwarding-class best-effort scheduler REST;
        }
        OTHER { forwarding-class OTHER scheduler REST; }
    }
    schedulers {
        ROCE {
            transmit-rate percent 57;
            drop-profile-map loss-priority any protocol any drop-profile ECN;
            explicit-congestion-notification;
        }
        CNP { transmit-rate percent 5; priority strict-high; }
        REST { transmit-rate percent 38; }
    }
}
"""


def test_class_of_service() -> None:
    found = facts(COS)
    ports = {name: configured(without_links(port.qos)) for name, port in found.interfaces.items()}
    assert ports["et-0/0/0"] == {
        "priorities": {26: (3, 7), 27: (3, 7), 48: (11, 9), 10: (11, 10)},
        "names": {26: "NO-LOSS", 27: "NO-LOSS", 48: "CNP", 10: "CNP"},
        "pfc": [(3, 23)],
        "strict": [(11, 48)],  # queue 3, for the lossless class is priority 3
        "weights": {3: (57, 44), 11: (5, 48), 0: (38, 49)},
        "ecn": {3: {"pmax_percent": (20, 14), "kmin_percent": (10, 14), "kmax_percent": (50, 14)}},
        "cable_length_m": (30, 23),
        "watchdog": (True, 22),
    }
    assert ports["et-0/0/1"]["weights"] == {5: (38, 49)}
    assert ports["et-0/0/1"]["pfc"] == [(3, 23)]
    assert ports["xe-0/0/2"] == {"pfc": [(4, 26)], "weights": {5: (38, 49)}}  # without `output`: queues 3 and 4 obey
    assert (ports["et-0/0/1.5"], ports["ae1"]) == (None, None)
    assert found.watchdog_ms == Located(300, 22, FILE)
    assert (found.unread, found.broken) == ([], [])


@pytest.mark.parametrize(
    ("pattern", "new", "pfc"),
    [
        ("code-point 011 ", "code-point 100 ", []),  # nothing obeys
        ("flow-control-queue 4", "flow-control-queue 3", []),  # PAUSE stops another queue
        ("flow-control-queue 4", "flow-control-queue [ 3 4 ]", [3]),
        ("pfc-priority 3", "pfc-priority 4", []),
        ("(my-roce|011011) ", "", [3]),
        ("no-loss pfc", "pfc", []),
    ],
)
def test_what_pauses(pattern: str, new: str, pfc: list[int]) -> None:
    qos = facts(re.sub(pattern, new, COS, count=1)).interfaces["et-0/0/0"].qos
    assert qos is not None
    assert plain(qos.pfc) == pfc


def test_ports_share_their_classes() -> None:
    ports = facts(COS.replace("et-0/0/1 { scheduler-map OTHER; }", "")).interfaces
    assert ports["et-0/0/0"].qos is ports["et-0/0/1"].qos


def test_the_segment_of_a_bond_is_not_that_of_each_unit_as_well() -> None:
    own = "esi {{ 00:02:00:00:00:00:05:00:00:0{}; all-active; }}"
    bond = f"ae1 {{ {own.format(1)} unit 10 {{ vlan-id 10; }} unit 20 {{ vlan-id 20; {own.format(2)} }} }}"
    ports = facts(f"interfaces {{ {bond} }}").interfaces
    assert {name: port.esi.value[-2:] for name, port in ports.items() if port.esi} == {"ae1": "01", "ae1.20": "02"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("interfaces {\n    mtu 9208;\n    et-0/0/0 { unit 0 { family inet; } }\n}\n", 2),
        ("interfaces { et-0/0/0 { mtu 9208; } }\nmtu 9208;\n", 2),
        ("interfaces { et-0/0/0 { mtu 9208; }\nunit 0 { family inet { address 10.0.0.0/31; } } }\n", 2),
        ("set interfaces et-0/0/0 mtu 9208\nset family inet address 10.0.0.0/31\n", 2),
    ],
)
def test_a_statement_outside_its_interface_does_not_load(text: str, line: int) -> None:
    (found,) = facts(text).broken
    assert (found.line, found.value.partition(":")[2]) == (line, " Junos does not load the file")


def test_what_stands_beside_interfaces_loads() -> None:
    assert (
        facts("interfaces { interface-set one; traceoptions { flag all; } lo0 { unit 0; } vme { unit 0; } }\n").broken == []
    )
