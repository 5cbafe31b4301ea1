"""Outputs of each network OS, at least three each, as small literals of the shape that the source beside each has."""

from __future__ import annotations

from typing import Any

import pytest

from fabric.audit.verify.files import Output, _within
from fabric.nos.state.records import Counter, Family, Hop, Optic, Part, Peer, PortState, Vni


def read(value: Any) -> Part:
    (output,) = _within(value)
    assert isinstance(output, Output)
    assert output.part is not None
    return output.part


def d(value: Any) -> list[Any]:
    """A leaf of Junos."""
    return [{"data": value}]


def neighbor(address: str, state: str, received: str) -> dict[str, str]:
    """A row of NX-OS."""
    return {"neighborid": address, "neighboras": "64520", "state": state, "prefixreceived": received}


EOS_PEERS = {  # aristanetworks/anta, tests/units/anta_tests/routing/test_bgp.py, VerifyBGPNlriAcceptance
    "vrfs": {
        "default": {
            "asn": "65102",
            "peers": {
                "10.0.0.8": {
                    "peerState": "Established",
                    "peerAsn": "65100",
                    "ipv4Unicast": {"afiSafiState": "negotiated", "nlrisReceived": 17, "nlrisAccepted": 16},
                },
                "10.0.0.9": {"peerState": "Idle", "peerAsn": "65100", "peerStateIdleReason": "AdminShutdown"},
            },
        }
    }
}
EOS_ROUTES = {  # batfish/lab-validation, snapshots/eos_evpn_l3_design_guide, show ip route vrf all | json
    "vrfs": {
        "red": {
            "routingDisabled": False,
            "routes": {
                "10.1.0.0/24": {"routeType": "eBGP", "vias": [{"vtepAddr": "10.2.0.4", "nexthopAddr": "", "vni": 50001}]}
            },
        }
    }
}
EOS_VXLAN = {  # batfish/lab-validation, snapshots/eos_evpn_l3_design_guide, show interface vxlan1 | json
    "interfaces": {
        "Vxlan1": {
            "name": "Vxlan1",
            "hardware": "vxlan",
            "lineProtocolStatus": "up",
            "interfaceStatus": "connected",
            "srcIpAddr": "10.2.0.3",
            "vlanToVniMap": {"110": {"source": "", "vni": 10110}, "4091": {"source": "evpn", "vni": 15001}},
            "vrfToVniMap": {"red": 15001},
            "vlanToVtepList": {"110": {"remoteVtepAddr": ["10.2.0.4"]}},
        }
    }
}
EOS_OPTICS = {  # aristanetworks/anta, test_interfaces.py, VerifyInterfacesOpticsReceivePower
    "interfaces": {
        "Ethernet2/1": {
            "parameters": {"rxPower": {"unit": "dBm", "channels": {"1": -30.1, "2": -0.1}, "threshold": {"lowAlarm": -13.3}}}
        }
    }
}
NXOS_PEERS = {  # netenglabs/suzieq, tests/integration/sqcmds/nxos-input, show bgp all summary vrf all | json
    "TABLE_vrf": {
        "ROW_vrf": {
            "vrf-name-out": "default",
            "vrf-local-as": "64520",
            "TABLE_af": {
                "ROW_af": {
                    "af-id": "25",
                    "TABLE_saf": {
                        "ROW_saf": {
                            "af-name": "L2VPN EVPN",
                            "TABLE_neighbor": {
                                "ROW_neighbor": [
                                    {
                                        "neighborid": "10.0.0.21",
                                        "neighboras": "64520",
                                        "state": "Established",
                                        "prefixreceived": "36",
                                    },
                                    {
                                        "neighborid": "10.0.0.22",
                                        "neighboras": "64520",
                                        "state": "Idle (Admin)",
                                        "prefixreceived": "0",
                                    },
                                ]
                            },
                        }
                    },
                }
            },
        }
    }
}
NXOS_ROUTES = {  # netenglabs/suzieq, nxos-input, show ip route vrf all | json
    "TABLE_vrf": {
        "ROW_vrf": {
            "vrf-name-out": "default",
            "TABLE_addrf": {
                "ROW_addrf": {
                    "addrf": "ipv4",
                    "TABLE_prefix": {
                        "ROW_prefix": {
                            "ipprefix": "10.0.0.21/32",
                            "TABLE_path": {
                                "ROW_path": [
                                    {"ipnexthop": "10.1.0.1", "ifname": "Eth1/1", "ubest": "true"},
                                    {"ipnexthop": "10.1.0.3", "ifname": "Eth1/2", "ubest": "true"},
                                ]
                            },
                        }
                    },
                }
            },
        }
    }
}
NXOS_INTERFACE = {  # napalm-automation/napalm, test/nxos/mocked_data/test_get_interfaces, show interface | json
    "TABLE_interface": {
        "ROW_interface": [
            {"interface": "Ethernet1/1", "state": "up", "eth_bw": 400000000, "eth_mtu": 9216, "eth_crc": 7, "eth_inerr": 7},
            {"interface": "Ethernet1/2", "state": "down", "admin_state": "down", "eth_mtu": "1500", "eth_inerr": "0"},
        ]
    }
}  # fmt: skip
NXOS_VNI = {  # netenglabs/suzieq, nxos-input, show nve vni | json
    "TABLE_nve_vni": {
        "ROW_nve_vni": [
            {"vni": 999, "vni-state": "Up", "type": "L3 [red]"},
            {"vni": 30, "vni-state": "Down", "type": "L2 [30]"},
        ]
    }
}
JUNOS_PEERS = {  # batfish/lab-validation, snapshots/junos_as_path_acl, show bgp neighbor | display json
    "bgp-information": [
        {
            "bgp-peer": [
                {
                    "peer-address": d("10.12.0.1+179"),
                    "peer-as": d("65100"),
                    "local-as": d("65200"),
                    "peer-cfg-rti": d("master"),
                    "peer-state": d("Established"),
                    "bgp-bfd": [{"bfd-configuration-state": d("enabled"), "bfd-operational-state": d("up")}],
                    "bgp-option-information": [{"bgp-options-extended": d("GracefulShutdownRcv")}],
                    "bgp-rib": [{"name": d("inet.0"), "received-prefix-count": d("8"), "accepted-prefix-count": d("7")}],
                }
            ]
        }
    ]
}
JUNOS_ROUTES = {  # netenglabs/suzieq, tests/integration/sqcmds/junos-input, show route | display json
    "route-information": [
        {
            "route-table": [
                {
                    "table-name": d("red.inet.0"),
                    "rt": [
                        {
                            "rt-destination": d("172.16.2.0/24"),
                            "rt-entry": [
                                {
                                    "active-tag": d("*"),
                                    "protocol-name": d("EVPN"),
                                    "nh": [{"to": d("10.0.0.21"), "via": d("et-0/0/0.0")}],
                                }
                            ],
                        }
                    ],
                },
                {"table-name": d(":vxlan.inet.0"), "rt": []},
            ]
        }
    ]
}
JUNOS_INTERFACE = {  # batfish/lab-validation, snapshots of Junos, show interfaces | display json
    "interface-information": [
        {
            "physical-interface": [
                {
                    "name": d("et-0/0/0"),
                    "admin-status": d("up"),
                    "oper-status": d("up"),
                    "mtu": d("9230"),
                    "speed": d("400Gbps"),
                    "ethernet-fec-statistics": [{"fec_nccw_count": d("4")}],
                }
            ]
        }
    ]
}
JUNOS_VTEPS = {  # netenglabs/suzieq, junos-input, show ethernet-switching vxlan-tunnel-end-point remote | display json
    "vxlan-source-vtep-information": [
        {
            "svtep-format": [
                {
                    "source-vtep-address": d("10.0.0.12"),
                    "vxlan-remote-vtep-information": [
                        {
                            "remote-vtep-address": d("10.0.0.11"),
                            "vxlan-dynamic-information": [{"vxlan-format": [{"vn-id": d("30")}]}],
                        }
                    ],
                }
            ]
        }
    ]
}
SONIC_PORTS = {  # sonic-net/sonic-utilities, tests/mock_tables/appl_db.json
    "PORT_TABLE:Ethernet0": {
        "type": "hash",
        "value": {"oper_status": "up", "admin_status": "up", "speed": "400000", "mtu": "9100", "fec": "rs", "alias": "etp1"},
    }
}
SONIC_COUNTERS = {  # sonic-net/sonic-utilities, tests/mock_tables/counters_db.json
    "COUNTERS_PORT_NAME_MAP": {"Ethernet0": "oid:0x1"},
    "COUNTERS_QUEUE_NAME_MAP": {"Ethernet0:3": "oid:0x2"},
    "COUNTERS:oid:0x1": {"SAI_PORT_STAT_IF_IN_ERRORS": "10", "SAI_PORT_STAT_PFC_3_RX_PKTS": "203"},
    "COUNTERS:oid:0x2": {"SAI_QUEUE_STAT_DROPPED_PACKETS": "5", "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "1"},
}
SONIC_OPTICS = {  # sonic-net/sonic-utilities, tests/mock_tables/state_db.json
    "TRANSCEIVER_DOM_SENSOR|Ethernet0": {"rx1power": "0.3", "rx2power": "-inf", "temperature": "30.9"},
    "TRANSCEIVER_DOM_THRESHOLD|Ethernet0": {"rxpowerlowalarm": "-13.5", "rxpowerhighalarm": "3.4", "temphighalarm": "75.0"},
}
NVUE_INTERFACE = {  # public collectors of nv show interface -o json
    "swp1": {"type": "swp", "link": {"oper-status": "up", "admin-status": "up", "speed": "400G", "mtu": 9216}}
}
NVUE_ROUTES = {  # public collectors of nv show vrf default router rib ipv4 route -o json
    "10.0.0.1/32": {
        "route-entry": {
            "1": {"flags": {"selected": {}}, "via-entry": {"10.1.0.0": {"type": "ip-address", "interface": "swp1"}}}
        }
    }
}
NVUE_PEERS = {  # CumulusNetworks/docs, NVUE reference, nv show vrf default router bgp neighbor
    "swp1": {"remote-as": 65001, "state": "established", "address-family": {"ipv4-unicast": {"prefix-received": 4}}}
}
FRR_PEERS = {  # FRR 8.4.4, show bgp vrf all summary json
    "vrf-red": {
        "ipv4Unicast": {"routerId": "10.0.0.3", "as": 65001, "peers": {"swp1": {"remoteAs": 65000, "state": "Idle (PfxCt)"}}}
    }
}
FRR_ROUTES = {  # FRR 8.4.4, show ip route vrf all json
    "10.0.0.1/32": [
        {
            "prefix": "10.0.0.1/32",
            "vrfName": "default",
            "selected": True,
            "nexthops": [
                {"fib": True, "ip": "10.64.0.1", "interfaceName": "swp1"},
                {"ip": "10.64.0.3", "interfaceName": "swp2"},
            ],
        }
    ]
}
FRR_VNIS = [  # FRR 8.4.4, show evpn vni detail json
    {
        "vni": 10001,
        "type": "L2",
        "vrf": "vrf-red",
        "vxlanInterface": "vni10001",
        "vtepIp": "10.2.0.1",
        "numRemoteVteps": ["10.2.0.2"],
    },
    {"vni": 50001, "type": "L3", "localVtepIp": "10.2.0.1", "vrf": "vrf-red", "state": "Up"},
]
FRR_INTERFACES = {  # FRR 8.4.4, show interface json
    "swp1": {"administrativeStatus": "up", "operationalStatus": "down", "mtu": 9216, "speed": 0},
    "swp2": {"administrativeStatus": "down", "mtu": 9216},
}


def port_rows(**fields: Any) -> dict[str, Any]:
    """A port of `show queuing interface` on NX-OS."""
    return {"TABLE_module": {"ROW_module": {"TABLE_queuing_interface": {"ROW_queuing_interface": [fields]}}}}


def egress(kind: str, packets: str) -> dict[str, str]:
    """An entry of a QoS group on NX-OS."""
    return {"eq-stat-type": kind, "eq-stat-units": "Pkts", "eq-uc-stat-value": packets, "eq-mc-stat-value": "2"}


NXOS_PFC = {  # paregupt/nexus_traffic_monitor and other collectors: TABLE_module, if_name_str, rx-stats, tx-stats
    "TABLE_module": {
        "ROW_module": {
            "TABLE_pfc_interface": {
                "ROW_pfc_interface": {"if_name_str": "Ethernet1/1", "admin": "Auto", "rx-stats": "40", "tx-stats": "0"}
            }
        }
    }
}
NXOS_DROPS = port_rows(  # reference of Nexus 9000 show commands, 9.3(x): show queuing interface
    dir="Egress",
    if_name_str="Ethernet1/1",
    TABLE_qosgrp_egress_stats={
        "ROW_qosgrp_egress_stats": [
            {
                "eq-qosgrp": "3",
                "TABLE_qosgrp_egress_stats_entry": {
                    "ROW_qosgrp_egress_stats_entry": [
                        egress("Tx", "900"),
                        egress("WRED/AFD & Tail Drop", "7"),
                        egress("WD & Tail Drop", "5"),
                        egress("Q Depth", "11"),
                    ]
                },
            },
            {"eq-qosgrp": "CONTROL QOS GROUP"},
        ]
    },
    TABLE_pfc_stats={"ROW_pfc_stats": [{"cos": "3", "tx-pause-count": "8", "rx-pause-count": "0"}]},
)
NXOS_WATCHDOG = port_rows(  # paregupt/nexus_traffic_monitor: show queuing pfc-queue detail
    if_name_str="Ethernet1/1 Interface PFC watchdog: [Enabled]",
    TABLE_qosgrp_stats={
        "ROW_qosgrp_stats": [
            {
                "eq-qosgrp": "3 [Active]",
                "TABLE_qosgrp_stats_entry": {
                    "ROW_qosgrp_stats_entry": [{"q-stat-type": "Shutdown", "q-shutdown": "2"}, {"q-restored": "2"}]
                },
            }
        ]
    },
)
NXOS_TABULAR = port_rows(  # show queuing tabular interface, by a collector of Cisco's test engineers
    if_name_str="Ethernet1/1",
    TABLE_queuing_counter={
        "ROW_queuing_counter": [
            {"counter_name_str": "uc-drop-pkts", "qos_group_0": "0", "qos_group_3": "6"},
            {"counter_name_str": "pfc-rx-pkts", "qos_group_0": ".", "qos_group_3": "4"},
            {"counter_name_str": "uc-tx-pkts", "qos_group_3": "77"},
        ]
    },
)
NXOS_SVI = {  # napalm-automation/napalm, test/nxos, vlan_interface
    "TABLE_interface": {
        "ROW_interface": [
            {"interface": "Vlan120", "svi_admin_state": "up", "svi_line_proto": "up", "svi_mtu": "9216"},
            {"interface": "Vlan198", "svi_admin_state": "down", "svi_line_proto": "down", "svi_mtu": "1500"},
        ]
    }
}
EOS_WATCHDOG = {"interfaces": {"Ethernet1/1": {"txQueues": {"3": {"stuckCount": 2, "recoveryCount": 2}}}}}
EOS_TRANSCEIVER = {  # napalm-automation/napalm, test/eos, get_optics
    "interfaces": {
        "Ethernet3/1/1": {"mediaType": "40GBASE-SR4", "rxPower": -1.8, "temperature": 35.3},
        "Ethernet4": {},
    }
}
EOS_COUNTERS = {  # netenglabs/suzieq, mixed-input, show interfaces counters
    "interfaces": {"Ethernet1": {"inUcastPkts": 5, "inDiscards": 0, "outDiscards": 3, "outOctets": 100}}
}
EOS_SLOW = {  # napalm-automation/napalm, test/eos, get_interfaces: 2.5 Mb/s
    "interfaces": {
        "Ethernet5": {
            "hardware": "ethernet",
            "lineProtocolStatus": "up",
            "interfaceStatus": "connected",
            "forwardingModel": "bridged",
            "bandwidth": 2500000,
            "mtu": 9214,
        }
    }
}
GNMI_QUEUES = {  # sonic-net/sonic-gnmi, testdata, COUNTERS:Ethernet68:Pfcwd
    "Ethernet68:3": {"PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "1", "SAI_QUEUE_STAT_DROPPED_PACKETS": "4"},
    "Ethernet68:4": {},
}
GNMI_PORTS = {"Ethernet0": {}, "Ethernet68": {"SAI_PORT_STAT_PFC_3_RX_PKTS": "9", "SAI_PORT_STAT_IF_IN_ERRORS": "1"}}
NVUE_QOS = {  # public collectors of `nv show interface … counters qos -o json`
    "operational": {
        "interface": {
            "swp1": {
                "qos": {
                    "egress-queue-stats": {"3": {"tx-uc-buffer-discards": 4, "wred-discards": 5, "ecn-marked-frames": 9}},
                    "pfc-stats": {"4": {"rx-pause-frames": 2, "tx-pause-frames": 0}},
                }
            }
        }
    }
}
NVUE_COUNTERS = {"swp1": {"counters": {"netstat": {"rx-drop": 0, "tx-drop": 12, "tx-okay": 100}}}}


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "eos peers": (
        EOS_PEERS,
        {
            "peers": [
                Peer(
                    key="10.0.0.8",
                    vrf="",
                    state="established",
                    asn=65100,
                    local_asn=65102,
                    families=[Family("ipv4", 17, 16, True)],
                ),
                Peer(
                    key="10.0.0.9",
                    vrf="",
                    state="idle",
                    asn=65100,
                    local_asn=65102,
                    families=[],
                    reason="AdminShutdown",
                    shut=True,
                ),
            ]
        },
    ),
    "eos routes": (EOS_ROUTES, {"routes": {"red": {"10.1.0.0/24": (Hop("10.2.0.4"),)}}}),
    "eos vxlan": (
        EOS_VXLAN,
        {
            "vnis": [
                Vni(number=15001, layer3=True, vrf="red", source="10.2.0.3"),
                Vni(number=10110, layer3=False, vrf="", source="10.2.0.3", remotes=frozenset({"10.2.0.4"})),
            ]
        },
    ),
    "eos optics": (EOS_OPTICS, {"optics": [Optic(port="Ethernet2/1", rx_dbm=(-30.1, -0.1), low_dbm=-13.3)]}),
    "nxos peers": (
        NXOS_PEERS,
        {
            "peers": [
                Peer(
                    key="10.0.0.21",
                    vrf="",
                    state="established",
                    asn=64520,
                    local_asn=64520,
                    families=[Family("evpn", 36, 36)],
                ),
                Peer(key="10.0.0.22", vrf="", state="idle", asn=64520, local_asn=64520, families=[], shut=True),
            ]
        },
    ),
    "nxos routes": (NXOS_ROUTES, {"routes": {"": {"10.0.0.21/32": (Hop("10.1.0.1", "Eth1/1"), Hop("10.1.0.3", "Eth1/2"))}}}),
    "nxos interface": (
        NXOS_INTERFACE,
        {
            "ports": [
                PortState(name="Ethernet1/1", up=True, speed_gbps=400, mtu=9216),
                PortState(name="Ethernet1/2", up=False, shut=True, mtu=1500),
            ],
            "counters": [Counter("fcs", "Ethernet1/1", 7), Counter("in_errors", "Ethernet1/1", 7)],
        },
    ),
    "nxos vni": (NXOS_VNI, {"vnis": [Vni(number=999, layer3=True, vrf="red", up=True), Vni(number=30, up=False)]}),
    "junos peers": (
        JUNOS_PEERS,
        {
            "peers": [
                Peer(
                    key="10.12.0.1",
                    vrf="",
                    state="established",
                    asn=65100,
                    local_asn=65200,
                    families=(Family("ipv4", 8, 7),),
                    bfd=True,
                )
            ]
        },
    ),
    "junos routes": (JUNOS_ROUTES, {"routes": {"red": {"172.16.2.0/24": (Hop("10.0.0.21", "et-0/0/0.0", tunnel=True),)}}}),
    "junos interface": (
        JUNOS_INTERFACE,
        {
            "ports": [PortState(name="et-0/0/0", up=True, speed_gbps=400, frame=9230)],
            "counters": [Counter("uncorrected", "et-0/0/0", 4)],
        },
    ),
    "junos vteps": (JUNOS_VTEPS, {"vnis": [Vni(number=30, source="10.0.0.12", remotes=frozenset({"10.0.0.11"}))]}),
    "sonic ports": (
        SONIC_PORTS,
        {"ports": [PortState(name="Ethernet0", up=True, speed_gbps=400, mtu=9100, fec="rs", alias="etp1")]},
    ),
    "sonic counters": (
        SONIC_COUNTERS,
        {
            "counters": (
                Counter("in_errors", "Ethernet0", 10),
                Counter("pfc_rx", "Ethernet0", 203, 3),
                Counter("queue_drops", "Ethernet0", 5, 3),
                Counter("storms", "Ethernet0", 1, 3),
            )
        },
    ),
    "sonic optics": (
        SONIC_OPTICS,
        {
            "optics": (
                Optic(
                    port="Ethernet0",
                    rx_dbm=(0.3, -40.0),
                    low_dbm=-13.5,
                    high_dbm=3.4,
                    temperature_c=30.9,
                    high_c=75.0,
                    alarms=[],
                ),
            )
        },
    ),
    "nvue interface": (NVUE_INTERFACE, {"ports": [PortState(name="swp1", up=True, speed_gbps=400, mtu=9216)]}),
    "nvue routes": (NVUE_ROUTES, {"routes": {"": {"10.0.0.1/32": (Hop("10.1.0.0", "swp1"),)}}}),
    "nvue peers": (
        NVUE_PEERS,
        {
            "peers": [
                Peer(key="swp1", vrf="", state="established", asn=65001, local_asn=0, families=[Family("ipv4", 4, None)])
            ]
        },
    ),
    "frr peers": (
        FRR_PEERS,
        {"peers": [Peer(key="swp1", vrf="vrf-red", state="idle", asn=65000, local_asn=65001, families=[], limited=True)]},
    ),
    "frr routes": (FRR_ROUTES, {"routes": {"": {"10.0.0.1/32": (Hop("10.64.0.1", "swp1"),)}}}),
    "frr vnis": (
        FRR_VNIS,
        {
            "vnis": [
                Vni(number=10001, layer3=False, vrf="vrf-red", source="10.2.0.1", remotes=frozenset({"10.2.0.2"})),
                Vni(number=50001, layer3=True, vrf="vrf-red", source="10.2.0.1", up=True),
            ]
        },
    ),
    "nxos pfc": (NXOS_PFC, {"counters": [Counter("pfc_rx", "Ethernet1/1", 40)]}),
    "nxos drops": (
        NXOS_DROPS,
        {"counters": (Counter("queue_drops", "Ethernet1/1", 9, 3), Counter("pfc_tx", "Ethernet1/1", 8, 3))},
    ),
    "nxos watchdog": (NXOS_WATCHDOG, {"counters": (Counter("storms", "Ethernet1/1", 2, 3),)}),
    "nxos tabular": (
        NXOS_TABULAR,
        {"counters": (Counter("queue_drops", "Ethernet1/1", 6, 3), Counter("pfc_rx", "Ethernet1/1", 4, 3))},
    ),
    "nxos svi": (
        NXOS_SVI,
        {"ports": [PortState(name="Vlan120", up=True, mtu=9216), PortState(name="Vlan198", up=False, shut=True, mtu=1500)]},
    ),
    "eos watchdog": (EOS_WATCHDOG, {"counters": [Counter("storms", "Ethernet1/1", 2, 3)]}),
    "eos transceiver": (
        EOS_TRANSCEIVER,
        {"optics": [Optic(port="Ethernet3/1/1", rx_dbm=(-1.8,), low_dbm=None, high_dbm=None, temperature_c=35.3)]},
    ),
    "eos counters": (EOS_COUNTERS, {"counters": [Counter("out_discards", "Ethernet1", 3)]}),
    "eos 2.5 Mb/s": (EOS_SLOW, {"ports": [PortState(name="Ethernet5", up=True)]}),
    "gnmi queues": (
        GNMI_QUEUES,
        {"counters": [Counter("queue_drops", "Ethernet68", 4, 3), Counter("storms", "Ethernet68", 1, 3)]},
    ),
    "gnmi ports": (
        GNMI_PORTS,
        {"counters": [Counter("in_errors", "Ethernet68", 1), Counter("pfc_rx", "Ethernet68", 9, 3)]},
    ),
    "nvue qos": (
        NVUE_QOS,
        {
            "counters": [
                Counter("pfc_rx", "swp1", 2, 4),
                Counter("queue_drops", "swp1", 4, 3),
                Counter("ecn_drops", "swp1", 5, 3),
            ]
        },
    ),
    "nvue counters": (NVUE_COUNTERS, {"kinds": {"errors"}, "counters": [Counter("out_discards", "swp1", 12)]}),
    "frr interfaces": (
        FRR_INTERFACES,
        {"ports": [PortState(name="swp1", up=False, mtu=9216), PortState(name="swp2", up=False, shut=True, mtu=9216)]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_output_is_read(name: str) -> None:
    value, expected = CASES[name]
    part = read(value)
    assert {field: getattr(part, field) for field in expected} == expected


@pytest.mark.parametrize(
    "value", [{}, [], {"interfaces": 3}, {"vrfs": []}, {"TABLE_vrf": {}}, [[[]]], {"peers": {"a": None}}, "x"]
)
def test_other_values_are_no_output(value: Any) -> None:
    assert [output for output in _within(value) if output.part is not None] == []


def test_vnis_one_after_the_other_in_a_string() -> None:
    """Cumulus Linux 3.7 (netenglabs/suzieq, dual-evpn): no list around them, and so none of which all are known."""
    one = '{"vni":24,"type":"L2","vrf":"evpn-vrf","vtepIp":"10.0.0.102","numRemoteVteps":["10.0.0.134"]}'
    other = '{"vni":4001,"type":"L3","vrf":"evpn-vrf","localVtepIp":"10.0.0.102","state":"Up"}'
    found = [output.part for output in _within({"data": f"{one}\n\n{other}\n"})]
    assert [(part.lists, part.vnis) for part in found if part] == [
        (set(), [Vni(number=24, layer3=False, vrf="evpn-vrf", source="10.0.0.102", remotes=frozenset({"10.0.0.134"}))]),
        (set(), [Vni(number=4001, layer3=True, vrf="evpn-vrf", source="10.0.0.102", up=True)]),
    ]


@pytest.mark.parametrize("words", ["BGP is not running", "bgpd is not running", "error: the routing subsystem not running"])
def test_a_daemon_that_has_ended(words: str) -> None:
    (output,) = _within({"output": [{"data": words}]})
    assert output.part is not None
    assert output.part.failures == (words,)
