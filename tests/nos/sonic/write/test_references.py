"""A small checker of config_db.json: what SONiC's models do not see. Every name is defined, every lossless port is whole."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest

from tests.nos.sonic.write.views import CASES, CHIPS, Db, db, on_chip
from tests.nos.tenant_views import rich

# table, where the name is: a field, or the number of a part of the key; the tables that may define it
REFERENCES: list[tuple[str, str | int, tuple[str, ...]]] = [
    *(
        (table, 0, ("PORT",))
        for table in ("INTERFACE", "BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "DEVICE_NEIGHBOR", "BREAKOUT_CFG")
    ),
    *((f"BUFFER_PORT_{side}_PROFILE_LIST", 0, ("PORT",)) for side in ("INGRESS", "EGRESS")),
    *((f"BUFFER_PORT_{side}_PROFILE_LIST", "profile_list", ("BUFFER_PROFILE",)) for side in ("INGRESS", "EGRESS")),
    *((table, "vrf_name", ("VRF",)) for table in ("INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE")),
    *((table, 0, ("VLAN",)) for table in ("VLAN_MEMBER", "VLAN_INTERFACE")),
    ("PFC_WD", 0, ("PORT",)),
    ("PORT_QOS_MAP", 0, ("PORT",)),
    ("PORT_QOS_MAP", "dscp_to_tc_map", ("DSCP_TO_TC_MAP",)),
    ("PORT_QOS_MAP", "tc_to_queue_map", ("TC_TO_QUEUE_MAP",)),
    ("PORT_QOS_MAP", "tc_to_pg_map", ("TC_TO_PRIORITY_GROUP_MAP",)),
    ("PORT_QOS_MAP", "pfc_to_queue_map", ("MAP_PFC_PRIORITY_TO_QUEUE",)),
    ("PORT_QOS_MAP", "pfc_to_pg_map", ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",)),
    ("QUEUE", "scheduler", ("SCHEDULER",)),
    ("QUEUE", "wred_profile", ("WRED_PROFILE",)),
    ("BUFFER_PG", "profile", ("BUFFER_PROFILE",)),
    ("BUFFER_QUEUE", "profile", ("BUFFER_PROFILE",)),
    ("BUFFER_PROFILE", "pool", ("BUFFER_POOL",)),
    ("VLAN_MEMBER", 1, ("PORT", "PORTCHANNEL")),
    ("PORTCHANNEL_MEMBER", 0, ("PORTCHANNEL",)),
    ("PORTCHANNEL_MEMBER", 1, ("PORT",)),
    ("EVPN_ETHERNET_SEGMENT", 0, ("PORTCHANNEL",)),
    ("VXLAN_EVPN_NVO", "source_vtep", ("VXLAN_TUNNEL",)),
    ("VXLAN_TUNNEL_MAP", 0, ("VXLAN_TUNNEL",)),
    ("VXLAN_TUNNEL_MAP", "vlan", ("VLAN",)),
    ("ACL_TABLE", "ports", ("PORT", "PORTCHANNEL")),
    ("ACL_RULE", 0, ("ACL_TABLE",)),
    ("ACL_RULE", "IN_PORTS", ("PORT",)),
    ("MGMT_INTERFACE", 0, ("MGMT_PORT",)),
]
NO_NAMES = {"GLOBAL", "global", "NULL", ""}
# Every key has its first part as a row of its own.
WITH_ADDRESSES = ("INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE", "LOOPBACK_INTERFACE")


def findings(made: Db) -> list[str]:
    return [
        *undefined(made),
        *unwhole(made),
        *overlapping(made),
        *misused_ports(made),
        *lossless(made),
        *overlay(made),
        *filters(made),
    ]


def undefined(made: Db) -> Iterator[str]:
    for table, where, defined in REFERENCES:
        known = {name for other in defined for name in made.get(other, {})}
        for key, row in made.get(table, {}).items():
            value = key.split("|")[where] if isinstance(where, int) else row.get(where, "")
            for name in value if isinstance(value, list) else value.split(","):
                if name not in known | NO_NAMES:
                    yield f"{table}|{key}: {name} is not in {' or '.join(defined)}"
    for name in made.get("CABLE_LENGTH", {}).get("AZURE", {}):
        if name not in made["PORT"]:
            yield f"CABLE_LENGTH: {name} is not in PORT"
    for name in made.get("VLAN_SUB_INTERFACE", {}):
        parent = name.partition(".")[0]
        if parent not in made["PORT"] and parent.replace("Eth", "Ethernet", 1) not in made["PORT"]:
            yield f"VLAN_SUB_INTERFACE|{name}: no port {parent}"
    for name in made.get("DEVICE_NEIGHBOR_METADATA", {}):
        if name not in {row["name"] for row in made["DEVICE_NEIGHBOR"].values()}:
            yield f"DEVICE_NEIGHBOR_METADATA: {name} is no neighbor"


def unwhole(made: Db) -> Iterator[str]:
    for table in WITH_ADDRESSES:
        rows = made.get(table, {})
        yield from (f"{table}: {key} without {key.split('|')[0]}" for key in rows if key.split("|")[0] not in rows)


def overlapping(made: Db) -> Iterator[str]:
    for table in ("BUFFER_PG", "BUFFER_QUEUE", "QUEUE"):
        seen: set[tuple[str, int]] = set()
        for key in made.get(table, {}):
            port, span = key.split("|")
            for number in numbers(span):
                if (port, number) in seen:
                    yield f"{table}: {port} has {number} twice"
                seen.add((port, number))


def numbers(span: str) -> range:
    low, _, high = span.partition("-")
    return range(int(low), int(high or low) + 1)


def misused_ports(made: Db) -> Iterator[str]:
    """A port is routed, bridged, or in a bond."""
    uses = {
        "routed": {key.split("|")[0] for key in made.get("INTERFACE", {})},
        "bridged": {key.split("|")[1] for key in made.get("VLAN_MEMBER", {})},
        "bonded": {key.split("|")[1] for key in made.get("PORTCHANNEL_MEMBER", {})},
    }
    for port in made["PORT"]:
        own = [use for use, ports in uses.items() if port in ports]
        if len(own) > 1:
            yield f"{port}: {' and '.join(own)}"


def lossless(made: Db) -> Iterator[str]:
    """On a port with PFC: DSCP, traffic class, queue, group, ECN, buffers and watchdog are of one priority."""
    model = made["DEVICE_METADATA"]["localhost"].get("buffer_model")
    for name, maps in made.get("PORT_QOS_MAP", {}).items():
        if name == "global":
            continue
        classes = made["DSCP_TO_TC_MAP"][maps["dscp_to_tc_map"]]
        if set(classes) != {str(dscp) for dscp in range(64)}:
            yield f"{name}: not every DSCP has a class"
        priority = maps.get("pfc_enable")
        if priority is None:
            if set(classes.values()) != {"0"} or name in made.get("PFC_WD", {}) or "pfcwd_sw_enable" in maps:
                yield f"{name}: trusted without PFC"
            continue
        if list(classes.values()).count(priority) != 1:
            yield f"{name}: {list(classes.values()).count(priority)} DSCPs in the lossless class"
        if maps.get("pfcwd_sw_enable", priority) != priority or ("pfcwd_sw_enable" in maps) != (
            name in made.get("PFC_WD", {})
        ):
            yield f"{name}: the watchdog guards another priority, or none"
        for table, field in (
            ("TC_TO_QUEUE_MAP", "tc_to_queue_map"),
            ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map"),
            ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map"),
        ):
            if made[table][maps[field]][priority] != priority:
                yield f"{name}: {table} leads elsewhere"
        groups = made["TC_TO_PRIORITY_GROUP_MAP"][maps["tc_to_pg_map"]]
        if [tc for tc, group in groups.items() if group == priority] != [priority]:
            yield f"{name}: other classes share the lossless group"
        if "wred_profile" not in made["QUEUE"].get(f"{name}|{priority}", {}):
            yield f"{name}: no ECN on queue {priority}"
        if made["BUFFER_QUEUE"].get(f"{name}|{priority}", {}).get("profile") != "egress_lossless_profile":
            yield f"{name}: queue {priority} drops"
        yield from headroom(made, name, priority, model)


def headroom(made: Db, name: str, priority: str, model: str | None) -> Iterator[str]:
    profile = made["BUFFER_PG"].get(f"{name}|{priority}", {}).get("profile")
    length = made["CABLE_LENGTH"]["AZURE"].get(name)
    if model == "dynamic":
        if profile != "NULL" or length in (None, "0m"):
            yield f"{name}: no headroom is computed ({profile}, {length})"
        return
    row = made["BUFFER_PROFILE"].get(profile or "", {})
    if int(row.get("xoff", 0)) == 0 or int(row.get("size", 0)) == 0:
        yield f"{name}: no headroom"
        return
    speed = made["PORT"][name]["speed"]
    if length is None or (length != "0m" and profile != f"pg_lossless_{speed}_{length}_profile"):
        yield f"{name}: the buffer manager would put another profile in place of {profile}"


def overlay(made: Db) -> Iterator[str]:
    addresses = {key.partition("|")[2].partition("/")[0] for key in made.get("LOOPBACK_INTERFACE", {})}
    yield from (
        f"{name}: no loopback" for name, row in made.get("VXLAN_TUNNEL", {}).items() if row["src_ip"] not in addresses
    )
    mapped = {row["vni"]: row["vlan"] for row in made.get("VXLAN_TUNNEL_MAP", {}).values()}
    if len(mapped) != len(set(mapped.values())) or len(mapped) != len(made.get("VXLAN_TUNNEL_MAP", {})):
        yield "a VNI or a VLAN is mapped twice"
    for name, row in made.get("VRF", {}).items():
        vlan = mapped.get(row.get("vni", ""), "")
        if "vni" in row and made.get("VLAN_INTERFACE", {}).get(vlan, {}).get("vrf_name") != name:
            yield f"{name}: its VNI has no VLAN of its own"
        if len(name) > 15:
            yield f"{name}: too long for an interface"
    for name in made.get("VLAN_SUB_INTERFACE", {}):
        if len(name.partition("|")[0]) > 15:
            yield f"{name}: too long for an interface"


def filters(made: Db) -> Iterator[str]:
    for table, row in made.get("ACL_TABLE", {}).items():
        rules = [rule for key, rule in made["ACL_RULE"].items() if key.startswith(f"{table}|")]
        priorities = [rule["PRIORITY"] for rule in rules]
        if not rules or len(set(priorities)) != len(priorities):
            yield f"{table}: no rules, or two of one priority"
        elif row["type"] == "CTRLPLANE" and sorted(priorities) != sorted(priorities, key=int):
            yield f"{table}: sorted as text its rules are in another order"
        elif row["type"] != "CTRLPLANE" and min(rules, key=lambda rule: int(rule["PRIORITY"]))["PACKET_ACTION"] != "DROP":
            yield f"{table}: does not end in a drop"


@pytest.mark.parametrize("case", CASES)
def test_nothing_refers_to_what_is_not_there(case: str) -> None:
    assert findings(db(CASES[case])) == []


def _break(table: str, key: str, **fields: str) -> Callable[[Db], None]:
    def change(made: Db) -> None:
        if fields:
            made[table][key] |= fields
        else:
            del made[table][key]

    return change


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (_break("BUFFER_PG", "Ethernet0|3"), "Ethernet0: no headroom"),
        (_break("BUFFER_PROFILE", "egress_lossless_profile"), "is not in BUFFER_PROFILE"),
        (_break("PFC_WD", "Ethernet0"), "Ethernet0: the watchdog guards another priority, or none"),
        (_break("PORT_QOS_MAP", "Ethernet0", pfc_enable="4"), "Ethernet0: 0 DSCPs in the lossless class"),
        (_break("QUEUE", "Ethernet0|3", scheduler="gone"), "QUEUE|Ethernet0|3: gone is not in SCHEDULER"),
        (_break("CABLE_LENGTH", "AZURE", Ethernet0="40m"), "Ethernet0: the buffer manager would put another profile"),
        (_break("TC_TO_PRIORITY_GROUP_MAP", "ROCE", **{"4": "3"}), "other classes share the lossless group"),
        (lambda made: made["BUFFER_QUEUE"].update({"Ethernet0|3-4": {"profile": "egress_lossy_profile"}}), "has 3 twice"),
        (_break("DSCP_TO_TC_MAP", "BEST-EFFORT", **{"26": "3"}), "trusted without PFC"),
    ],
)
def test_the_checker_sees(change: Callable[[Db], None], finding: str) -> None:
    made = copy.deepcopy(db(on_chip(rich("leaf1", "qos", "sonic"), "tomahawk5")))
    change(made)
    assert any(finding in text for text in findings(made)), findings(made)


def test_cases_cover_every_chip() -> None:
    assert set(CHIPS) <= set(CASES)
