"""Short outputs in the words of each network OS, odd ones too, read to exactly these neighbors and port states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabric.audit.cabling.outputs import outputs, readers
from fabric.nos.lldp import LldpPort, Neighbor, medium_gbps, speed_gbps

SAMPLES: dict[str, tuple[str, Any, list[Neighbor]]] = {
    "eos": (
        "eos",
        {
            "tablesInserts": 2,
            "lldpNeighbors": [
                {"ttl": 120, "neighborDevice": "spine001", "neighborPort": "Ethernet3/1", "port": "Ethernet49/1"}
            ],
        },
        [Neighbor(port="Ethernet49/1", system="spine001", chassis="", far_port="Ethernet3/1")],
    ),
    "eos, no neighbor": ("eos", {"tablesLastChangeTime": 1.0, "lldpNeighbors": []}, []),
    "eos detail, older and newer port ids": (
        "eos",
        {
            "lldpNeighbors": {
                "Ethernet1": {
                    "lldpNeighborInfo": [
                        {
                            "chassisIdType": "macAddress",
                            "chassisId": "001c.73a0.fc18",
                            "systemName": "spine001.dc1.example",
                            "neighborInterfaceInfo": {"interfaceIdType": "interfaceName", "interfaceId": '"Ethernet7"'},
                        }
                    ]
                },
                "Ethernet2": {"lldpNeighborInfo": []},
                "Ethernet3": {
                    "lldpNeighborInfo": [
                        {
                            "systemName": "spine002",
                            "neighborInterfaceInfo": {
                                "interfaceId": '"541"',
                                "interfaceId_v2": "541",
                                "interfaceDescription": "et-0/0/3",
                            },
                        },
                        {"chassisId": "001c.73a0.fc19", "neighborInterfaceInfo": {"interfaceIdType": "macAddress"}},
                    ]
                },
            }
        },
        [
            Neighbor(port="Ethernet1", system="spine001.dc1.example", chassis="001c.73a0.fc18", far_port="Ethernet7"),
            Neighbor(port="Ethernet3", system="spine002", chassis="", far_port="541", description="et-0/0/3"),
            Neighbor(port="Ethernet3", system="", chassis="001c.73a0.fc19"),
        ],
    ),
    "nxos, one row is no list, a chassis id that is a name": (
        "nxos",
        {
            "neigh_hdr": "neigh_hdr",
            "TABLE_nbor": {
                "ROW_nbor": {
                    "chassis_type": "7",
                    "chassis_id": "spine001",
                    "l_port_id": "Eth1/49",
                    "hold_time": "120",
                    "port_id": "Ethernet1/1",
                }
            },
            "neigh_count": "1",
        },
        [Neighbor(port="Eth1/49", system="spine001", chassis="", far_port="Ethernet1/1")],
    ),
    "nxos, a chassis id that is an address": (
        "nxos",
        {"TABLE_nbor": {"ROW_nbor": [{"chassis_id": "f07f.0653.0fdd", "l_port_id": "Eth1/1", "port_id": "f07f.0653.0fde"}]}},
        [Neighbor(port="Eth1/1", system="", chassis="f07f.0653.0fdd", far_port="f07f.0653.0fde")],
    ),
    "nxos detail": (
        "nxos",
        {
            "TABLE_nbor_detail": {
                "ROW_nbor_detail": {
                    "chassis_id": "5254.000d.e746",
                    "port_id": "Ethernet1/3",
                    "l_port_id": "Eth1/50",
                    "port_desc": "null",
                    "sys_name": "spine002",
                    "ttl": "99",
                }
            }
        },
        [Neighbor(port="Eth1/50", system="spine002", chassis="5254.000d.e746", far_port="Ethernet1/3")],
    ),
    "junos": (
        "junos",
        {
            "lldp-neighbors-information": [
                {
                    "attributes": {"junos:style": "brief"},
                    "lldp-neighbor-information": [
                        {
                            "lldp-local-port-id": [{"data": "et-0/0/28:1"}],
                            "lldp-local-parent-interface-name": [{"data": "-"}],
                            "lldp-remote-chassis-id": [{"data": "00:0c:29:8b:ef:1c"}],
                            "lldp-remote-port-description": [{"data": "et-0/0/3"}],
                            "lldp-remote-system-name": [{"data": "spine001"}],
                        },
                        {
                            "lldp-local-interface": [{"data": "et-0/0/29"}],
                            "lldp-local-port-id": [{"data": "522"}],
                            "lldp-remote-port-id-subtype": [{"data": "Mac address"}],
                            "lldp-remote-port-id": [{"data": "00:0c:29:8b:ef:1d"}],
                        },
                    ],
                }
            ]
        },
        [
            Neighbor(port="et-0/0/28:1", system="spine001", chassis="00:0c:29:8b:ef:1c", far_port="", description="et-0/0/3"),
            Neighbor(port="et-0/0/29", system="", chassis="", far_port="00:0c:29:8b:ef:1d"),
        ],
    ),
    "junos, no neighbor": ("junos", {"lldp-neighbors-information": [{"attributes": {"junos:style": "brief"}}]}, []),
    "nvue, with and without lldp around it, two neighbors on a port": (
        "nvue",
        {
            "swp1": {
                "lldp": {
                    "neighbor": {
                        "spine001": {
                            "chassis": {"chassis-id": "88:3a:30:00:00:c0", "system-name": "spine001.dc1"},
                            "port": {"name": "swp3", "type": "ifname"},
                        },
                        "bmc": {"chassis": {"chassis-id": "88:3a:30:00:00:c1"}, "port": {"name": "88:3a:30:00:00:c1"}},
                    }
                }
            },
            "swp2": {
                "neighbor": {"x": {"chassis": {"system-name": "spine002"}, "port": {"name": "1", "description": "swp9"}}}
            },
            "swp3": {"lldp": {"dcbx-pfc-tlv": "off"}},
        },
        [
            Neighbor(port="swp1", system="spine001.dc1", chassis="88:3a:30:00:00:c0", far_port="swp3"),
            Neighbor(port="swp1", system="bmc", chassis="88:3a:30:00:00:c1", far_port="88:3a:30:00:00:c1"),
            Neighbor(port="swp2", system="spine002", chassis="", far_port="1", description="swp9"),
        ],
    ),
    "lldpctl json, one interface is no list, a chassis without a name": (
        "lldpd",
        {
            "lldp": {
                "interface": {
                    "eth1": {
                        "via": "LLDP",
                        "chassis": {"id": {"type": "mac", "value": "00:53:00:01:02:03"}},
                        "port": {"id": {"type": "mac", "value": "00:53:00:01:02:04"}, "ttl": "120"},
                    }
                }
            }
        },
        [Neighbor(port="eth1", system="", chassis="00:53:00:01:02:03", far_port="00:53:00:01:02:04")],
    ),
    "lldpctl json, several": (
        "lldpd",
        {
            "lldp": {
                "interface": [
                    {
                        "swp1": {
                            "chassis": {"tor5": {"id": {"type": "mac", "value": "00:53:00:01:02:03"}}},
                            "port": {
                                "id": {"type": "local", "value": "etp1a"},
                                "descr": "Ethernet0",
                                "auto-negotiation": {"supported": False, "current": "100GbaseCR4 - 100GBASE-CR4 PHY"},
                            },
                        }
                    },
                    {"swp2": {"chassis": {"tor6": {"id": {"type": "local", "value": "x"}}}, "port": {}}},
                ]
            }
        },
        [
            Neighbor(
                port="swp1",
                system="tor5",
                chassis="00:53:00:01:02:03",
                far_port="etp1a",
                description="Ethernet0",
                far_speed_gbps=100,
            ),
            Neighbor(port="swp2", system="tor6", chassis="x"),
        ],
    ),
    "lldpctl json, no neighbor": ("lldpd", {"lldp": {}}, []),
    "lldpctl json0": (
        "lldpd",
        {
            "lldp": [
                {
                    "interface": [
                        {
                            "name": "swp1",
                            "via": "LLDP",
                            "chassis": [
                                {
                                    "id": [{"type": "mac", "value": "4a:08:12:ef:3c:3a"}],
                                    "name": [{"value": "spine001.dc1.example"}],
                                }
                            ],
                            "port": [
                                {
                                    "id": [{"type": "ifname", "value": "swp9"}],
                                    "descr": [{"value": "to a leaf"}],
                                    "auto-negotiation": [{"current": [{"value": "10GbaseT - Four-pair Category 6A"}]}],
                                }
                            ],
                        }
                    ]
                }
            ]
        },
        [
            Neighbor(
                port="swp1",
                system="spine001.dc1.example",
                chassis="4a:08:12:ef:3c:3a",
                far_port="swp9",
                description="to a leaf",
            )
        ],
    ),
    "sonic, dump of APPL_DB": (
        "sonic",
        {
            "LLDP_ENTRY_TABLE:Ethernet0": {
                "expireat": 1.0,
                "ttl": -0.001,
                "type": "hash",
                "value": {
                    "lldp_rem_chassis_id_subtype": "4",
                    "lldp_rem_chassis_id": "00:1c:73:aa:bb:cc",
                    "lldp_rem_port_id_subtype": "5",
                    "lldp_rem_port_id": "Ethernet1",
                    "lldp_rem_sys_name": "spine01",
                    "lldp_rem_port_desc": "",
                },
            },
            "ROUTE_TABLE:10.0.0.0/31": {"type": "hash", "value": {"nexthop": "10.0.0.1"}},
        },
        [Neighbor(port="Ethernet0", system="spine01", chassis="00:1c:73:aa:bb:cc", far_port="Ethernet1")],
    ),
}

TABLE = """\
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    leaf 2          etp0               BR            Ethernet0
Ethernet8                    0c:42:a1:88:0a:1c  R             Interface   8 as enp5s0f0
eth0         oob01           swp10              BR
--------------------------------------------------
Total entries displayed:  3
"""
STATUS = """\
  Interface    Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin    Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ------  ------  -------  ------  ----------
  Ethernet0  1,2,3,4     400G   9100     rs     etp1  routed      up       up     N/A         N/A
  Ethernet8  5,6,7,8     100G   9100     rs     etp2  routed    down     down     N/A         N/A
"""
PLAIN = """\
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    enp79s0f0, via: LLDP, RID: 1, Time: 0 day, 00:01:16
  Chassis:
    ChassisID:    mac 00:1c:73:7f:b4:d7
    SysName:      leaf001
    SysDescr:     PortID: nothing of the kind
    Capability:   Bridge, on
  Port:
    PortID:       ifname Ethernet20
    TTL:          120
    PMD autoneg:  supported: yes, enabled: no
      MAU oper type: 400GbaseCR8 - 8 lanes
-------------------------------------------------------------------------------
Interface:    enp79s0f1, via: LLDP, RID: 1, Time: 0 day, 00:01:17
  Chassis:
    ChassisID:    mac 00:1c:73:7f:b4:d8
  Port:
    PortID:       mac 00:1c:73:7f:b4:d9
    PortDescr:    Ethernet 21
-------------------------------------------------------------------------------
"""


@pytest.mark.parametrize("case", SAMPLES)
def test_json(case: str) -> None:
    name, value, wanted = SAMPLES[case]
    (output,), _ = outputs(json.dumps(value), "x.json")
    assert (output.reader.name, list(output.part.neighbors), output.part.listens) == (name, wanted, True)


@pytest.mark.parametrize("case", SAMPLES)
def test_one_reader_alone_knows_a_sample(case: str) -> None:
    """NVUE's shape is the loosest: it is asked last, and what others know is never offered to it."""
    name, value, _ = SAMPLES[case]
    assert {reader.name for reader in readers() if reader.takes == "json" and reader.knows(value)} - {"nvue"} <= {name}


def test_sonic_tables() -> None:
    (output,), _ = outputs(TABLE + STATUS, "x.txt")
    assert list(output.part.neighbors) == [
        Neighbor(port="Ethernet0", system="leaf 2", chassis="", far_port="etp0", description="Ethernet0"),
        Neighbor(
            port="Ethernet8", system="", chassis="", far_port="0c:42:a1:88:0a:1c", description="Interface   8 as enp5s0f0"
        ),
        Neighbor(port="eth0", system="oob01", chassis="", far_port="swp10"),
    ]
    assert list(output.part.ports) == [
        LldpPort("Ethernet0", 400, True, "etp1"),
        LldpPort("Ethernet8", 0, False, "etp2", shut=True),
    ]


def test_a_status_alone_is_no_list_of_neighbors() -> None:
    (output,), _ = outputs(STATUS, "x.txt")
    assert not output.part.listens


def test_lldpctl_text() -> None:
    (output,), _ = outputs(PLAIN, "x.txt")
    assert list(output.part.neighbors) == [
        Neighbor(
            port="enp79s0f0",
            system="leaf001",
            chassis="00:1c:73:7f:b4:d7",
            far_port="Ethernet20",
            description="",
            far_speed_gbps=400,
        ),
        Neighbor(
            port="enp79s0f1", system="", chassis="00:1c:73:7f:b4:d8", far_port="00:1c:73:7f:b4:d9", description="Ethernet 21"
        ),
    ]


PORTS: dict[str, tuple[Any, list[LldpPort]]] = {
    "eos": (
        {
            "interfaceStatuses": {
                "Ethernet1/1": {"bandwidth": 400000000000, "linkStatus": "connected"},
                "Ethernet2/1": {"bandwidth": 0, "linkStatus": "notconnect"},
                "Ethernet3/1": {"bandwidth": 0, "linkStatus": "disabled"},
                "Ethernet4/1": {"bandwidth": 0, "linkStatus": "errdisabled"},
            }
        },
        [
            LldpPort("Ethernet1/1", 400, True),
            LldpPort("Ethernet2/1", 0, False),
            LldpPort("Ethernet3/1", 0, False, shut=True),
            LldpPort("Ethernet4/1", 0, False, shut=True),
        ],
    ),
    "nxos": (
        {
            "TABLE_interface": {
                "ROW_interface": [
                    {"interface": "Ethernet1/1", "state": "connected", "speed": "100G"},
                    {"interface": "Ethernet1/2", "state": "xcvrAbsent", "speed": "auto"},
                    {"interface": "Ethernet1/3/1", "state": "connected", "speed": "a-1000"},
                    {"interface": "Ethernet1/4", "state": "disabled", "speed": "auto"},
                ]
            }
        },
        [
            LldpPort("Ethernet1/1", 100, True),
            LldpPort("Ethernet1/2", 0, False),
            LldpPort("Ethernet1/3/1", 1, True),
            LldpPort("Ethernet1/4", 0, False, shut=True),
        ],
    ),
    "junos terse, without speed": (
        {
            "interface-information": [
                {
                    "physical-interface": [
                        {
                            "name": [{"data": "et-0/0/0"}],
                            "admin-status": [{"data": "down"}],
                            "oper-status": [{"data": "down"}],
                        }
                    ]
                }
            ]
        },
        [LldpPort("et-0/0/0", 0, False, shut=True)],
    ),
    "nvue": (
        {
            "swp1": {"link": {"oper-status": "up", "admin-status": "up", "speed": "400G"}},
            "swp2s0": {"link": {"state": {"down": {}}, "oper-status": "down", "admin-status": "down", "speed": "auto"}},
        },
        [LldpPort("swp1", 400, True), LldpPort("swp2s0", 0, False, shut=True)],
    ),
    "sonic, virtual: no speed": (
        {"PORT_TABLE:Ethernet0": {"value": {"alias": "etp1", "speed": "4294967295", "oper_status": "up"}}},
        [LldpPort("Ethernet0", 0, True, "etp1")],
    ),
    "sonic, CONFIG_DB": (
        {"PORT": {"Ethernet0": {"alias": "etp1", "speed": "400000", "lanes": "1"}}, "DEVICE_METADATA": {"localhost": {}}},
        [LldpPort("Ethernet0", 400, None, "etp1")],
    ),
}


@pytest.mark.parametrize("case", PORTS)
def test_port_states(case: str) -> None:
    value, wanted = PORTS[case]
    (output,), _ = outputs(json.dumps(value), "x.json")
    assert list(output.part.ports) == wanted


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        *[("400G", 400), ("a-100G", 100), ("100Gbps", 100), ("25000", 25), ("1.6T", 1600), ("400000000000", 400)],
        *[("10Gb/s", 10), ("1000mbps", 1), ("auto", 0), ("", 0), ("4294967295", 0), ("9" * 400, 0), ("-5", 0), ("100GX", 0)],
    ],
)
def test_speeds(text: str, speed: int) -> None:
    assert speed_gbps(text) == speed


def test_media() -> None:
    messages = (
        "100GbaseCR4 - x",
        "25GbaseSR",
        "2.5GbaseX",
        "1000BaseXFD",
        "10GbaseT - Four-pair",
        "unknown",
        "full duplex mode",
    )
    assert [medium_gbps(text) for text in messages] == [100, 25, 2, 1, 0, 0, 0]
