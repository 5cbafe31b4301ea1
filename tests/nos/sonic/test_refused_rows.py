"""Rows and values of config_db.json that SONiC's YANG models refuse; where the models are installed, they are asked too."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from tests.nos import sonic_edits
from tests.nos.sonic.updater.process import WHY_NOT, RealUpdater, is_there

BASE: sonic_edits.Tables = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "platform": "x86_64-kvm_x86_64-r0", "bgp_asn": "65001"}},
    "PORT": {
        "Ethernet0": {"lanes": "0,1,2,3", "speed": "400000", "index": "1", "mtu": "9100", "admin_status": "up", "fec": "rs"},
        "Ethernet8": {"lanes": "8,9", "speed": "100000", "index": "2", "subport": "1", "admin_status": "up"},
        "Ethernet10": {"lanes": "10,11", "speed": "100000", "index": "2", "subport": "2", "admin_status": "up"},
    },
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.9.0.0/31": {}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.8.0.1/32": {}},
    "VLAN": {"Vlan100": {"vlanid": "100"}},
    "VLAN_INTERFACE": {"Vlan100": {}, "Vlan100|10.20.0.1/24": {}},
    "VLAN_MEMBER": {"Vlan100|Ethernet8": {"tagging_mode": "untagged"}},
    "PORTCHANNEL": {"PortChannel1": {"admin_status": "up"}},
    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet10": {}},
    "PORTCHANNEL_INTERFACE": {"PortChannel1": {}, "PortChannel1|10.9.0.2/31": {}},
    "BUFFER_POOL": {"in": {"type": "ingress", "mode": "dynamic", "size": "1000000"}},
    "BUFFER_PROFILE": {"P": {"pool": "in", "size": "0", "dynamic_th": "3"}},
    "BUFFER_PG": {"Ethernet0|0": {"profile": "P"}},
    "DSCP_TO_TC_MAP": {"M": {"26": "3"}},
    "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "M", "pfc_enable": "3,4"}},
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "200"},
        "Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "200"},
    },
    "WRED_PROFILE": {"W": {"ecn": "ecn_all", "red_min_threshold": "1000", "red_max_threshold": "2000"}},
    "QUEUE": {"Ethernet0|3": {"wred_profile": "W"}},
    "SYSLOG_SERVER": {"192.0.2.3": {}},
}
GONE = None  # in place of a value: the row or field is removed
# (path of what is changed, new value, codes of what is found); without codes the models accept it
EDITS: tuple[tuple[str, Any, set[str]], ...] = (
    ("PORT/Ethernet0/mtu", "9217", {"FAB2532"}),
    ("PORT/Ethernet0/mtu", "9216", set()),
    ("PORT/Ethernet0/mtu", "68", set()),
    ("PORT/Ethernet0/mtu", "", {"FAB2532"}),
    ("PORT/Ethernet0/fec", "rs544", {"FAB2532"}),
    ("PORT/Ethernet0/admin_status", "UP", {"FAB2532"}),
    ("PORT/Ethernet0/lanes", "0,1,2,x", {"FAB2532"}),
    ("PORT/Ethernet0/lanes", GONE, {"FAB2534"}),
    ("PORT/Ethernet0/speed", GONE, {"FAB2534"}),
    ("PORT/Ethernet0/index", "70000", {"FAB2532"}),
    ("INTERFACE/Ethernet0", GONE, {"FAB2534"}),
    ("LOOPBACK_INTERFACE/Loopback0", GONE, {"FAB2534"}),
    ("VLAN_INTERFACE/Vlan100", GONE, {"FAB2534"}),
    ("PORTCHANNEL_INTERFACE/PortChannel1", GONE, {"FAB2534"}),
    ("PORTCHANNEL/PortChannel1", GONE, {"FAB281"}),
    ("PORTCHANNEL/PortChannel1/admin_status", GONE, {"FAB2534"}),
    ("VLAN/Vlan100", GONE, {"FAB281"}),
    ("VLAN/Vlan100/vlanid", "101", {"FAB2534"}),
    ("VLAN/Vlan100/vlanid", "4095", {"FAB2532"}),
    ("VLAN_MEMBER/Vlan100|Ethernet8/tagging_mode", GONE, {"FAB2534"}),
    ("VLAN_MEMBER/Vlan100|Ethernet8/tagging_mode", "access", {"FAB2532"}),
    ("BUFFER_POOL/in", GONE, {"FAB281"}),
    ("BUFFER_POOL/in/mode", GONE, {"FAB2534"}),
    ("BUFFER_PROFILE/P/size", GONE, {"FAB2534"}),
    ("BUFFER_PROFILE/P/dynamic_th", "-8", set()),
    ("BUFFER_PROFILE/P/dynamic_th", "8", {"FAB2532"}),
    ("BUFFER_PG/Ethernet0|8", {"profile": "P"}, {"FAB2532"}),
    ("BUFFER_PG/Ethernet0|3-4", {"profile": "NULL"}, set()),
    ("DSCP_TO_TC_MAP/M/64", "0", {"FAB2532"}),
    ("DSCP_TO_TC_MAP/M/26", "15", set()),
    ("DSCP_TO_TC_MAP/M/26", "16", {"FAB2532"}),
    ("PORT_QOS_MAP/Ethernet0/pfc_enable", "3,8", {"FAB2532"}),
    ("PORT_QOS_MAP/Ethernet0/pfc_enable", "", set()),
    ("PORT_QOS_MAP/Ethernet0/dscp_to_tc_map", "N", {"FAB281"}),
    ("PFC_WD/Ethernet0/detection_time", "50", {"FAB2532", "FAB2545"}),
    ("PFC_WD/GLOBAL/POLL_INTERVAL", "300", {"FAB2545"}),
    ("WRED_PROFILE/W/red_min_threshold", "3000", {"FAB2534"}),
    ("WRED_PROFILE/W/red_min_threshold", GONE, {"FAB2534"}),
    ("WRED_PROFILE/W/ecn", "all", {"FAB2532"}),
    ("SYSLOG_SERVER/192.0.2.3/vrf", "mgmt", {"FAB2534"}),
    ("SYSLOG_SERVER/192.0.2.3/protocol", "tls", {"FAB2532"}),
)

SWSS = {"PORTCHANNEL_INTERFACE/PortChannel1"}  # what the models accept and the interface manager waits for without end


def edited(path: str, value: Any) -> sonic_edits.Tables:
    """The base with one row or field changed; `/` is not in the keys that are edited."""
    tables: Any = copy.deepcopy(BASE)
    *above, last = path.split("/")
    inside = tables
    for name in above:
        inside = inside[name]
    if value is GONE:
        del inside[last]
    else:
        inside[last] = value
    return {table: rows for table, rows in tables.items() if rows}


@pytest.mark.parametrize(("path", "value", "codes"), EDITS)
def test_what_the_models_refuse_is_found(path: str, value: Any, codes: set[str]) -> None:
    found = sonic_edits.complaints(edited(path, value)) - sonic_edits.complaints(BASE)
    assert {message.partition(":")[0] for message in found} == codes


@cache
def _verdicts() -> Mapping[int, str]:
    with RealUpdater() as real:
        assert not real.ask(BASE, validate=True)["error"]
        return {at: real.ask(edited(path, value), validate=True)["error"] for at, (path, value, _) in enumerate(EDITS)}


@pytest.mark.skipif(not is_there(), reason=WHY_NOT)
@pytest.mark.parametrize("at", [at for at, (path, *_) in enumerate(EDITS) if path not in SWSS])
def test_the_models_agree(at: int) -> None:
    assert bool(_verdicts()[at]) is bool(EDITS[at][2])


@pytest.mark.parametrize("subports", [("0", "0"), ("1", "1")])
def test_ports_of_a_cage_have_subports_of_their_own(subports: tuple[str, str]) -> None:
    """The models accept it; the module daemon gives the lanes to one of them (sonic-net/sonic-buildimage#20430)."""
    tables = copy.deepcopy(BASE)
    for port, subport in zip(("Ethernet8", "Ethernet10"), subports, strict=True):
        tables["PORT"][port]["subport"] = subport
    found = sorted(sonic_edits.complaints(tables) - sonic_edits.complaints(BASE))
    lanes = "only one of them gets its lanes of the module"
    assert found == [
        f"FAB2534: {a} and {b} are both subport {subports[0]} of cage 2: {lanes}"
        for a, b in (("Ethernet10", "Ethernet8"), ("Ethernet8", "Ethernet10"))
    ]


def test_a_dump_is_read_as_the_tables_are() -> None:
    """`sonic-db-dump -n CONFIG_DB`."""
    tables = edited("INTERFACE/Ethernet0", GONE)
    dump = {
        f"{table}|{key}": {"type": "hash", "value": row or {"NULL": "NULL"}}
        for table, rows in tables.items()
        for key, row in rows.items()
    }
    assert sonic_edits.complaints(json.loads(json.dumps(dump))) == sonic_edits.complaints(tables)
