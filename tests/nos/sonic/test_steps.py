"""Steps of a change of config_db.json, and the rules that they come from."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from fabric.audit.diff import configs
from fabric.nos.sonic.steps import script, steps
from fabric.nos.sonic.updater import WAYS, updater
from tests.nos.sonic.updater import designs
from tests.nos.sonic.updater.cases import cases, judged
from tests.nos.sonic.updater.process import HOME, WHY_NOT, RealUpdater, is_there
from tests.nos.sonic.updater.switch import UNKNOWN, Switch

Tables = dict[str, dict[str, dict[str, Any]]]


def tables(hwsku: str = "ACS-MSN4700", **more: Any) -> Tables:
    """A database of one port in VRF red."""
    base: Tables = {
        "DEVICE_METADATA": {"localhost": {"hwsku": hwsku, "hostname": "leaf1"}},
        "PORT": {"Ethernet0": {"lanes": "0,1", "speed": "400000", "mtu": "9100", "admin_status": "up"}},
        "VRF": {"Vrf-red": {}, "Vrf-blue": {}},
        "INTERFACE": {"Ethernet0": {"vrf_name": "Vrf-red"}, "Ethernet0|10.0.0.0/31": {}},
    }
    return {table: rows for table, rows in (base | more).items() if rows}


BLUE = {"Ethernet0": {"vrf_name": "Vrf-blue"}, "Ethernet0|10.0.0.0/31": {}}
PORT = {"lanes": "0,1", "speed": "400000", "mtu": "9100", "admin_status": "up"}
VTEP: Tables = {
    "VLAN": {"Vlan100": {"vlanid": "100"}, "Vlan200": {"vlanid": "200"}},
    "VXLAN_TUNNEL": {"vtep": {"src_ip": "10.0.0.1"}},
    "VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "vtep"}},
    "VXLAN_TUNNEL_MAP": {"vtep|one": {"vlan": "Vlan100", "vni": "100"}, "vtep|two": {"vlan": "Vlan200", "vni": "200"}},
}
GATEWAY: Tables = {
    "SAG": {"GLOBAL": {"gateway_mac": "00:00:5e:00:01:01"}},
    "VLAN": {"Vlan100": {"vlanid": "100"}},
    "VLAN_INTERFACE": {"Vlan100": {"vrf_name": "Vrf-red", "static_anycast_gateway": "true"}, "Vlan100|10.1.0.1/24": {}},
}
BOND: Tables = {
    "PORT": {"Ethernet0": PORT, "Ethernet8": PORT | {"lanes": "8,9"}},
    "PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "mtu": "9100"}},
    "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}},
    "VLAN": {"Vlan100": {"vlanid": "100"}},
    "VLAN_MEMBER": {"Vlan100|PortChannel1": {"tagging_mode": "untagged"}},
    "ACL_TABLE": {"T": {"type": "L3", "stage": "ingress", "ports": ["Ethernet8", "PortChannel1"]}},
    "INTERFACE": {},
}
PROFILE = {"pool": "p", "size": "100", "xoff": "10", "dynamic_th": "0"}
POOL = {"BUFFER_POOL": {"p": {"type": "ingress", "mode": "dynamic", "size": "1000"}}}
WATCHDOG = {"action": "drop", "detection_time": "200", "restoration_time": "200"}


def profile(hwsku: str, **fields: str) -> Tables:
    return tables(hwsku, BUFFER_PROFILE={"x": PROFILE | fields}, **POOL)


def watchdog(hwsku: str, **fields: str) -> Tables:
    return tables(hwsku, PFC_WD={"Ethernet0": WATCHDOG | fields})


# Title → old, new, and each step: its kind, then operations or commands.
CHANGES: dict[str, tuple[Tables, Tables, list[list[str]]]] = {
    "nothing": (tables(), tables(), []),
    "a port goes from red to blue": (
        tables(),
        tables(INTERFACE=BLUE),
        [
            ["patch", "remove /INTERFACE"],
            ["patch", 'add /INTERFACE {"Ethernet0": {"vrf_name": "Vrf-blue"}, "Ethernet0|10.0.0.0/31": {}}'],
        ],
    ),
    "a port leaves its VRF": (
        tables(),
        tables(INTERFACE={"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}),
        [["patch", "remove /INTERFACE"], ["patch", 'add /INTERFACE {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}']],
    ),
    "a port enters its first VRF, without the others": (
        tables(PORT=BOND["PORT"], INTERFACE={"Ethernet0": {}, "Ethernet8": {}}),
        tables(PORT=BOND["PORT"], INTERFACE={"Ethernet0": {"vrf_name": "Vrf-red"}, "Ethernet8": {}}),
        [["patch", "remove /INTERFACE/Ethernet0"], ["patch", 'add /INTERFACE/Ethernet0 {"vrf_name": "Vrf-red"}']],
    ),
    "a whole tenant moves, and its VRF goes last": (
        tables(VRF={"Vrf-red": {"vni": "50001"}}),
        tables(VRF={"Vrf-blue": {"vni": "50001"}}, INTERFACE=BLUE),
        [
            ["patch", "remove /INTERFACE", "remove /VRF/Vrf-red/vni"],
            [
                "patch",
                'add /VRF/Vrf-blue {"vni": "50001"}',
                'add /INTERFACE {"Ethernet0": {"vrf_name": "Vrf-blue"}, "Ethernet0|10.0.0.0/31": {}}',
            ],
            ["patch", "remove /VRF/Vrf-red"],
        ],
    ),
    "an SVI changes its VRF, its gateway and address go along": (
        tables(**GATEWAY),
        tables(
            **GATEWAY
            | {
                "VLAN_INTERFACE": {
                    "Vlan100": {"vrf_name": "Vrf-blue", "static_anycast_gateway": "true"},
                    "Vlan100|10.1.0.1/24": {},
                }
            }
        ),
        [
            ["patch", "remove /VLAN_INTERFACE"],
            [
                "patch",
                'add /VLAN_INTERFACE {"Vlan100": {"vrf_name": "Vrf-blue", "static_anycast_gateway": "true"},'
                ' "Vlan100|10.1.0.1/24": {}}',
            ],
        ],
    ),
    "an anycast gateway goes": (
        tables(**GATEWAY),
        tables(**GATEWAY | {"VLAN_INTERFACE": {"Vlan100": {"vrf_name": "Vrf-red"}, "Vlan100|10.1.0.1/24": {}}}),
        [
            ["patch", "remove /VLAN_INTERFACE"],
            ["patch", 'add /VLAN_INTERFACE {"Vlan100": {"vrf_name": "Vrf-red"}, "Vlan100|10.1.0.1/24": {}}'],
        ],
    ),
    "a loopback changes its VRF": (
        tables(LOOPBACK_INTERFACE={"Loopback0": {}, "Loopback1": {"vrf_name": "Vrf-red"}, "Loopback1|10.2.0.1/32": {}}),
        tables(LOOPBACK_INTERFACE={"Loopback0": {}, "Loopback1": {"vrf_name": "Vrf-blue"}, "Loopback1|10.2.0.1/32": {}}),
        [
            ["patch", "remove /LOOPBACK_INTERFACE/Loopback1", "remove /LOOPBACK_INTERFACE/Loopback1|10.2.0.1/32"],
            [
                "patch",
                'add /LOOPBACK_INTERFACE/Loopback1 {"vrf_name": "Vrf-blue"}',
                "add /LOOPBACK_INTERFACE/Loopback1|10.2.0.1/32 {}",
            ],
        ],
    ),
    "Loopback0 cannot leave": (
        tables(LOOPBACK_INTERFACE={"Loopback0": {}}),
        tables(LOOPBACK_INTERFACE={"Loopback0": {"vrf_name": "Vrf-blue"}}),
        [["reload", 'add /LOOPBACK_INTERFACE/Loopback0/vrf_name "Vrf-blue"']],
    ),
    "an address of Loopback0": (
        tables(LOOPBACK_INTERFACE={"Loopback0": {}, "Loopback0|10.2.0.1/32": {}}),
        tables(LOOPBACK_INTERFACE={"Loopback0": {}, "Loopback0|10.2.0.2/32": {}}),
        [["patch", "remove /LOOPBACK_INTERFACE/Loopback0|10.2.0.1/32", "add /LOOPBACK_INTERFACE/Loopback0|10.2.0.2/32 {}"]],
    ),
    "speed, FEC and MTU of a port": (
        tables(),
        tables(PORT={"Ethernet0": PORT | {"speed": "200000", "fec": "rs", "mtu": "9000"}}),
        [
            [
                "patch",
                'replace /PORT/Ethernet0/speed "200000"',
                'replace /PORT/Ethernet0/mtu "9000"',
                'add /PORT/Ethernet0/fec "rs"',
            ]
        ],
    ),
    "an MTU by hand": (
        tables(PORT={"Ethernet0": PORT | {"mtu": "1500"}}),
        tables(PORT={"Ethernet0": {key: value for key, value in PORT.items() if key != "mtu"}}),
        [["patch", 'replace /PORT/Ethernet0/mtu "9100"'], ["patch", "remove /PORT/Ethernet0/mtu"]],
    ),
    "lanes of a port": (
        tables(),
        tables(PORT={"Ethernet0": PORT | {"lanes": "0"}}),
        [["reload", 'replace /PORT/Ethernet0/lanes "0"']],
    ),
    "a port more": (
        tables(),
        tables(PORT={"Ethernet0": PORT, "Ethernet4": PORT | {"lanes": "2,3"}}),
        [
            [
                "reload",
                'add /PORT/Ethernet4 {"lanes": "2,3", "speed": "400000", "mtu": "9100", "admin_status": "up"}',
            ]
        ],
    ),
    "a threshold on a board that the updater knows": (
        profile("ACS-MSN4700"),
        profile("ACS-MSN4700", dynamic_th="1", xoff="20"),
        [["patch", 'replace /BUFFER_PROFILE/x/xoff "20"', 'replace /BUFFER_PROFILE/x/dynamic_th "1"']],
    ),
    "a threshold on a board that it does not know": (
        profile("DS3000"),
        profile("DS3000", dynamic_th="1"),
        [["commands", "sudo sonic-db-cli CONFIG_DB HSET 'BUFFER_PROFILE|x' dynamic_th 1"]],
    ),
    "a size that it takes nowhere": (
        profile("ACS-MSN4700"),
        profile("ACS-MSN4700", size="200"),
        [["commands", "sudo sonic-db-cli CONFIG_DB HSET 'BUFFER_PROFILE|x' size 200"]],
    ),
    "a profile more is taken everywhere": (
        tables("DS3000", BUFFER_PROFILE={"x": PROFILE}, **POOL),
        tables("DS3000", BUFFER_PROFILE={"x": PROFILE, "y": PROFILE}, **POOL),
        [["patch", 'add /BUFFER_PROFILE/y {"pool": "p", "size": "100", "xoff": "10", "dynamic_th": "0"}']],
    ),
    "a profile with another name is no move": (
        tables("DS3000", BUFFER_PROFILE={"x": PROFILE, "z": PROFILE | {"size": "1"}}, **POOL),
        tables("DS3000", BUFFER_PROFILE={"y": PROFILE, "z": PROFILE | {"size": "1"}}, **POOL),
        [
            ["patch", "remove /BUFFER_PROFILE/x"],
            ["patch", 'add /BUFFER_PROFILE/y {"pool": "p", "size": "100", "xoff": "10", "dynamic_th": "0"}'],
        ],
    ),
    "a pool": (
        tables(BUFFER_POOL={"p": POOL["BUFFER_POOL"]["p"] | {"size": "1"}}),
        tables(BUFFER_POOL={"p": POOL["BUFFER_POOL"]["p"] | {"size": "2"}}),
        [["reload", 'replace /BUFFER_POOL/p/size "2"']],
    ),
    "a watchdog on a board that it knows": (
        watchdog("ACS-MSN4700"),
        watchdog("ACS-MSN4700", detection_time="400"),
        [["patch", 'replace /PFC_WD/Ethernet0/detection_time "400"']],
    ),
    "a watchdog on a board that it does not know": (
        watchdog("Dell-Z9864f-O64"),
        watchdog("Dell-Z9864f-O64", detection_time="400"),
        [["commands", "sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' detection_time 400"]],
    ),
    "a watchdog less on a board that it does not know": (
        watchdog("Dell-Z9864f-O64"),
        tables("Dell-Z9864f-O64"),
        [["commands", "sudo sonic-db-cli CONFIG_DB DEL 'PFC_WD|Ethernet0'"]],
    ),
    "the first watchdog": (
        tables(),
        watchdog("ACS-MSN4700"),
        [
            [
                "commands",
                "sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' action drop detection_time 200 restoration_time 200",
            ]
        ],
    ),
    "a member becomes tagged": (
        tables(**BOND),
        tables(**BOND | {"VLAN_MEMBER": {"Vlan100|PortChannel1": {"tagging_mode": "tagged"}}}),
        [
            ["patch", "remove /VLAN_MEMBER"],
            ["patch", 'add /VLAN_MEMBER {"Vlan100|PortChannel1": {"tagging_mode": "tagged"}}'],
        ],
    ),
    "a bond with two links at least is made again, its filter keeps the other port": (
        tables(**BOND),
        tables(**BOND | {"PORTCHANNEL": {"PortChannel1": {"admin_status": "up", "mtu": "9100", "min_links": "2"}}}),
        [
            [
                "patch",
                "remove /PORTCHANNEL",
                "remove /PORTCHANNEL_MEMBER",
                "remove /VLAN_MEMBER",
                'replace /ACL_TABLE/T/ports ["Ethernet8"]',
            ],
            [
                "patch",
                'replace /ACL_TABLE/T/ports ["Ethernet8", "PortChannel1"]',
                'add /PORTCHANNEL {"PortChannel1": {"admin_status": "up", "mtu": "9100", "min_links": "2"}}',
                'add /PORTCHANNEL_MEMBER {"PortChannel1|Ethernet0": {}}',
                'add /VLAN_MEMBER {"Vlan100|PortChannel1": {"tagging_mode": "untagged"}}',
            ],
        ],
    ),
    "a port leaves a bond and gets an address": (
        tables(**BOND),
        tables(**BOND | {"PORTCHANNEL_MEMBER": {}, "INTERFACE": {"Ethernet0": {}}}),
        [["patch", "remove /PORTCHANNEL_MEMBER", 'add /INTERFACE {"Ethernet0": {}}']],
    ),
    "a map gets another VNI": (
        tables(**VTEP),
        tables(**VTEP | {"VXLAN_TUNNEL_MAP": VTEP["VXLAN_TUNNEL_MAP"] | {"vtep|one": {"vlan": "Vlan100", "vni": "101"}}}),
        [
            ["patch", "remove /VXLAN_TUNNEL_MAP/vtep|one"],
            ["patch", 'add /VXLAN_TUNNEL_MAP/vtep|one {"vlan": "Vlan100", "vni": "101"}'],
        ],
    ),
    "a VNI moves to another map": (
        tables(**VTEP),
        tables(
            **VTEP
            | {
                "VXLAN_TUNNEL_MAP": {
                    "vtep|three": {"vlan": "Vlan100", "vni": "100"},
                    "vtep|two": VTEP["VXLAN_TUNNEL_MAP"]["vtep|two"],
                }
            }
        ),
        [
            ["patch", "remove /VXLAN_TUNNEL_MAP/vtep|one"],
            ["patch", 'add /VXLAN_TUNNEL_MAP/vtep|three {"vlan": "Vlan100", "vni": "100"}'],
        ],
    ),
    "a VRF gets another VNI": (
        tables(VRF={"Vrf-red": {"vni": "100"}}, **VTEP),
        tables(VRF={"Vrf-red": {"vni": "200"}}, **VTEP),
        [["patch", "remove /VRF/Vrf-red/vni"], ["patch", 'add /VRF/Vrf-red/vni "200"']],
    ),
    "the tunnel gets another address": (
        tables(VRF={"Vrf-red": {"vni": "100"}}, **VTEP),
        tables(VRF={"Vrf-red": {"vni": "100"}}, **VTEP | {"VXLAN_TUNNEL": {"vtep": {"src_ip": "10.0.0.2"}}}),
        [
            [
                "patch",
                "remove /VXLAN_TUNNEL",
                "remove /VXLAN_EVPN_NVO",
                "remove /VXLAN_TUNNEL_MAP",
                "remove /VRF/Vrf-red/vni",
            ],
            [
                "patch",
                'add /VRF/Vrf-red/vni "100"',
                'add /VXLAN_TUNNEL {"vtep": {"src_ip": "10.0.0.2"}}',
                'add /VXLAN_EVPN_NVO {"nvo": {"source_vtep": "vtep"}}',
                'add /VXLAN_TUNNEL_MAP {"vtep|one": {"vlan": "Vlan100", "vni": "100"},'
                ' "vtep|two": {"vlan": "Vlan200", "vni": "200"}}',
            ],
        ],
    ),
    "a queue of a port that is up": (
        tables(QUEUE={"Ethernet0|3": {"scheduler": "a"}}, SCHEDULER={"a": {"type": "DWRR"}, "b": {"type": "STRICT"}}),
        tables(QUEUE={"Ethernet0|3": {"scheduler": "b"}}, SCHEDULER={"a": {"type": "DWRR"}, "b": {"type": "STRICT"}}),
        [
            ["patch", 'replace /PORT/Ethernet0/admin_status "down"'],
            ["patch", 'replace /QUEUE/Ethernet0|3/scheduler "b"'],
            ["patch", 'replace /PORT/Ethernet0/admin_status "up"'],
        ],
    ),
    "the name of the switch": (
        tables(),
        tables(DEVICE_METADATA={"localhost": {"hwsku": "ACS-MSN4700", "hostname": "leaf2"}}),
        [["patch", 'replace /DEVICE_METADATA/localhost/hostname "leaf2"']],
    ),
    "the SKU": (
        tables(),
        tables("Mellanox-SN4700-V64"),
        [["reload", 'replace /DEVICE_METADATA/localhost/hwsku "Mellanox-SN4700-V64"']],
    ),
    "SNMP": (
        tables(SNMP={"LOCATION": {"Location": "a"}}),
        tables(SNMP={"LOCATION": {"Location": "b"}}),
        [
            ["patch", 'replace /SNMP/LOCATION/Location "b"'],
            ["commands", "sudo systemctl reset-failed snmp", "sudo systemctl restart snmp"],
        ],
    ),
    "a table without a model": (
        tables(),
        tables(SUPPRESS_VLAN_NEIGH={"Vlan100": {"suppress": "on", "of": ["a", "b"]}, "Vlan200": {}}),
        [
            [
                "commands",
                "sudo sonic-db-cli CONFIG_DB HSET 'SUPPRESS_VLAN_NEIGH|Vlan100' suppress on of@ a,b",
                "sudo sonic-db-cli CONFIG_DB HSET 'SUPPRESS_VLAN_NEIGH|Vlan200' NULL NULL",
            ]
        ],
    ),
}


def shown(found: Any) -> list[list[str]]:
    """Steps as in the table."""
    return [[step.kind, *(step.commands or map(_operation, step.json_patch))] for step in found]


def _operation(operation: dict[str, Any]) -> str:
    value = f" {json.dumps(operation['value'])}" if "value" in operation else ""
    return f"{operation['op']} {operation['path'].replace('~1', '/')}{value}"


def typed(old: Tables, new: Tables) -> list[dict[str, Any]]:
    """Steps as JSON has them."""
    return [{"kind": one.kind, "commands": one.commands, "json_patch": list(one.json_patch)} for one in steps(old, new)]


@pytest.mark.parametrize("title", CHANGES)
def test_steps(title: str) -> None:
    old, new, wanted = CHANGES[title]
    assert shown(steps(old, new)) == wanted


@pytest.mark.parametrize("title", CHANGES)
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_a_switch_takes_them(title: str, back: bool) -> None:
    ends = CHANGES[title][:2]
    old, new = ends[::-1] if back else ends
    switch = Switch(old)
    switch.run(typed(old, new))
    assert switch.config == switch.state == new


def test_a_patch_in_place_leaves_the_port_in_its_old_vrf() -> None:
    """What was printed before: the database says blue, the switch does red."""
    switch = Switch(tables())
    switch.patch([{"op": "replace", "path": "/INTERFACE/Ethernet0/vrf_name", "value": "Vrf-blue"}])
    assert switch.config["INTERFACE"]["Ethernet0"] == {"vrf_name": "Vrf-blue"}
    assert switch.state["INTERFACE"]["Ethernet0"] == {"vrf_name": "Vrf-red"}


def test_text_beside_the_tables_is_not_compared() -> None:
    running, planned = tables(), tables(PORT={"Ethernet0": PORT | {"mtu": "9216"}})
    (change,) = configs.changes_of_files(
        "sonic", {"config_db.json": json.dumps({**running, "bgpraw": ""})}, {"config_db.json": json.dumps(planned)}
    )
    assert change.json_patch == ({"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9216"},)


def test_script() -> None:
    old, new, _ = CHANGES["SNMP"]
    assert script(steps(old, new)) == [
        "# step 1 of 2, patch: new rows and values",
        "cat > step1.json <<'EOF'",
        "[",
        '  {"op": "replace", "path": "/SNMP/LOCATION/Location", "value": "b"}',
        "]",
        "EOF",
        "sudo config apply-patch step1.json",
        "# step 2 of 2, commands: snmp starts again",
        "# snmpd.conf is written when the container starts",
        "sudo systemctl reset-failed snmp",
        "sudo systemctl restart snmp",
    ]


def test_a_password_is_named_that_is_to_be_filled_in() -> None:
    new = tables(SNMP_USER={"monitoring": {"SNMP_USER_AUTH_PASSWORD": "${SNMP_AUTH_KEY}"}})
    assert script(steps(tables(), new))[1:3] == [
        "# ${SNMP_AUTH_KEY}: write the value in its place",
        "cat > step1.json <<'EOF'",
    ]


def test_script_of_a_reload() -> None:
    old, new, _ = CHANGES["a pool"]
    assert script(steps(old, new)) == [
        "# step 1 of 1, reload: every service starts again, traffic stops",
        "# the updater refuses every change of a pool (BUFFER_POOL / p / size)",
        "sudo config save -y",
        "cat > step1.json <<'EOF'",
        "[",
        '  {"op": "replace", "path": "/BUFFER_POOL/p/size", "value": "2"}',
        "]",
        "EOF",
        "sudo jsonpatch -b -i /etc/sonic/config_db.json step1.json",
        "sudo config reload -y",
    ]


# --- rules ----------------------------------------------------------------------------------------------------


def test_every_rule_has_a_source_and_a_known_way() -> None:
    rules = updater()
    assert all(rule.source for rule in (*rules.daemons, *rules.refusals))
    assert all(rule.way in WAYS and rule.reason for rule in rules.daemons)


def test_half_of_the_boards_have_no_name_in_the_updater() -> None:
    from fabric.hardware.catalog import sonic_platform

    unknown = set()
    for board in designs.boards():
        platform = sonic_platform(board)
        assert platform is not None
        for hwsku in platform.hwsku.values():
            assert bool(updater().asic(hwsku)) != bool(UNKNOWN.fullmatch(hwsku)), hwsku
            unknown |= {board} if UNKNOWN.fullmatch(hwsku) else set()
    assert (len(unknown), len(designs.boards())) == (14, 28)


BOARDS = ("sn4700", "7050cx3-32s", "ds3000")  # known, known by a part of its name, unknown


def test_random_changes() -> None:
    """The long run is `python -m tests.nos.sonic.updater`."""
    found = {case.title: judged(case, Counter()) for case in cases(BOARDS, 30, seed=5)}
    assert {title: error for title, error in found.items() if error} == {}
    assert len(found) == 30


REAL = (
    "a whole tenant moves, and its VRF goes last",
    "a bond with two links at least is made again, its filter keeps the other port",
    "the tunnel gets another address",
    "a queue of a port that is up",
)
real = pytest.mark.skipif(not is_there(), reason=WHY_NOT)


@real
def test_the_real_updater() -> None:
    """The long run is `python -m tests.nos.sonic.updater --real`."""
    with RealUpdater() as process:
        for title in REAL:
            old, new, _ = CHANGES[title]
            switch = Switch(old)
            process.run(switch, typed(old, new), Counter())
            assert switch.config == switch.state == new
        old = tables(PFC_WD={"Ethernet0": WATCHDOG}, hwsku="DS3000")
        change = [{"op": "replace", "path": "/PFC_WD/Ethernet0/detection_time", "value": "400"}]
        assert "PFC_WD table is illegal" in process.ask(old, patch=change)["error"]


@real
def test_the_rules_are_those_of_the_real_updater() -> None:
    folder = HOME / "src" / "utilities" / "generic_config_updater"
    conf = json.loads((folder / "gcu_field_operation_validators.conf.json").read_text(encoding="utf-8"))
    helper = conf["helper_data"]["rdma_config_update_validator"]
    equal = {name.lower(): asic for asic, names in helper["mellanox_asics"].items() for name in names}
    parts = {name.lower(): asic for asic, names in helper["broadcom_asics"].items() for name in names}
    rules = updater()
    assert {name: equal[name] for name in rules.equal} == rules.equal
    assert {name: parts[name] for name in rules.part} == rules.part
    assert set(conf["tables"]) == {"PFC_WD", "BUFFER_POOL", "BUFFER_PROFILE", "PORT"}
