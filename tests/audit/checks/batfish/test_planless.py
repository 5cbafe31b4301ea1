"""What Batfish says of configs alone: whether it reads them, whether they contradict each other, what their tables lack.

Recorded answers are a real server's about one network OS; a stand-in computes those about routes and filters.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabric.audit.checks import Finding
from fabric.audit.checks.batfish.configs import Configs, ConfigsAnalysis, configs_of, judge_configs
from fabric.nos.reading import Device
from tests.audit.checks.batfish.helpers import SMALL, Recorded, Site, recorded, site, small
from tests.audit.checks.batfish.record import SNAPSHOTS, damaged
from tests.audit.checks.batfish.stand_in import StandIn
from tests.audit.checks.files.test_tables import FABRIC

HEADER = 1  # line of the copy that says its format


def configs(folder: Path, name: str) -> Configs:
    return damaged(small(folder), SNAPSHOTS[name]).configs()


def answers_of(name: str, own: Configs) -> Recorded:
    """Recorded answers about planned copies, which lack the first line of these; tables are the stand-in's."""
    answers = recorded(name)
    for question, column in (("init_issues", "Source_Lines"), ("undefined", "Lines")):
        for row in answers.rows[question]:
            for entry in row[column] if isinstance(row[column], list) else [row[column]] if row[column] else []:
                entry["lines"] = [line + HEADER for line in entry["lines"]]
    nodes = sorted(own.nodes)
    answers.rows[f"every_route {' '.join(nodes)}"] = StandIn(own).every_route(nodes)
    filtering = [node for node in nodes if any(port.filters for port in own.nodes[node].interfaces.values())]
    answers.rows[f"filters {' '.join(filtering)}"] = []
    return answers


def judged(own: Configs, answers: Recorded | StandIn) -> tuple[list[Finding], list[tuple[str, str]]]:
    findings, rows, _ = judge_configs(ConfigsAnalysis(own, answers))
    return findings, rows


def brief(findings: list[Finding]) -> list[tuple[str, str, str, int]]:
    return [(one.severity, one.id, one.device, one.line) for one in findings]


def test_clean_configs_have_no_findings(tmp_path: Path) -> None:
    own = configs(tmp_path, "clean")
    assert judged(own, answers_of("clean", own)) == ([], [])


def test_wrong_lines(tmp_path: Path) -> None:
    """A line that Batfish does not know is a warning: it may be right. Loopbacks may be shared, in pairs they are."""
    own = configs(tmp_path, "lines")
    findings, rows = judged(own, answers_of("lines", own))
    found = [one for one in brief(findings) if one[1] != "FAB306"]
    assert found == [
        ("warning", "FAB302", "backend-spine001", 334),
        ("error", "FAB303", "backend-leaf002", 437),
        ("warning", "FAB305", "backend-leaf001", 439),
        ("warning", "FAB305", "backend-spine002", 354),
    ]
    assert "session with 10.64.0.3: no matching session at the far end" in [one.message for one in findings]
    assert rows == []


def test_a_routed_port_with_the_address_of_another(tmp_path: Path) -> None:
    own = configs(tmp_path, "clean")
    answers = answers_of("clean", own)
    owner = {"VRF": "default", "IP": "10.64.0.1", "Mask": 31, "Active": True}
    answers.rows["owners"] = [
        owner | {"Node": {"name": "backend-spine001"}, "Interface": "Ethernet1/1"},
        owner | {"Node": {"name": "backend-leaf002"}, "Interface": "Loopback0"},
    ]
    findings, _ = judged(own, answers)
    assert [(one.id, one.device) for one in findings] == [("FAB304", "backend-leaf002"), ("FAB304", "backend-spine001")]
    for row in answers.rows["owners"]:
        row["Interface"] = "Vlan100"
    assert judged(own, answers) == ([], [])


def test_a_file_that_is_taken_for_another_format_is_not_judged(tmp_path: Path) -> None:
    own = configs(tmp_path, "lines")
    answers = answers_of("lines", own)
    for row in answers.rows["file_status"]:
        row["File_Format"] = "CISCO_IOS"
    findings, rows = judged(own, answers)
    assert {(one.severity, one.id) for one in findings} == {("note", "FAB301")}
    assert len(findings) == 4
    assert all("expected ARISTA, got CISCO_IOS" in why for what, why in rows if what.endswith("startup-config"))
    assert [what for what, _ in rows if "routes" in what] == ["Batfish: routes of the default table"] + [
        f"Batfish: routes of VRF {name}" for name in ("red", "blue")
    ]


def test_no_answer_is_a_finding(tmp_path: Path) -> None:
    own = configs(tmp_path, "clean")
    answers = answers_of("clean", own)
    del answers.rows["compatibility"]
    (one,), _ = judged(own, answers)
    assert (one.id, one.severity, one.message) == ("FAB305", "error", "no answer from Batfish: not recorded: compatibility")


@pytest.mark.parametrize("nos", ["arubacx", ""])
def test_a_device_without_a_reader_has_no_copy(nos: str) -> None:
    device = Device("a", nos, {"a": "x\n"})
    assert configs_of([(device, Device("a", "eos", {"a": "hostname a\n"}).facts)]).copies == {}


# --- tables and filters ---------------------------------------------------------------------------------------


def wide_site(folder: Path, design: str) -> Site:
    """Four leaves; the second tenant has one of them."""
    kind = "{kind: evpn-vxlan}" if design == "evpn" else "{isolation: vrf-lite}"
    text = SMALL.replace("{kind: evpn-vxlan}", kind).replace("count: 4,", "count: 8,")
    text = text.replace("gpu-0001..0003", "gpu-0001..0006").replace("servers: gpu-0004", "servers: gpu-0007..0008")
    (folder / "wide.yaml").write_text(text, encoding="utf-8")
    return site(folder / "wide.yaml", folder)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    return {design: wide_site(tmp_path_factory.mktemp(design), design) for design in ("evpn", "vrf-lite")}


LEAF1, LEAF4 = "backend-leaf001", "backend-leaf004"
FAULTS: dict[str, tuple[str, str, str, str, list[tuple[str, str, str]]]] = {
    "none": ("evpn", LEAF1, "^hostname", "hostname", []),
    "a list of connected routes": (
        "evpn",
        LEAF1,
        "10.128.0.0/9 le 32",
        "10.128.0.0/30 le 32",
        [("FAB306", LEAF1, "VRF red: 10.128.0.4/31, 10.128.0.6/31 are in no other table of its VRF")],
    ),
    "an import policy": (
        "vrf-lite",
        LEAF1,
        r"(PL-red-FABRIC\n.*)10\.128\.0\.0/9",
        r"\g<1>10.128.0.0/25",
        [
            (
                "FAB306",
                LEAF1,
                "VRF red: no route to 8 subnets, 10.128.0.128/31, 10.128.0.130/31, 10.128.0.132/31 and 5 more, which "
                "backend-leaf002, backend-leaf003 have",
            )
        ],
    ),
    "a route target of another tenant": (
        "evpn",
        LEAF4,
        r"(import evpn 65000:50002\n)",
        r"\1      route-target import evpn 65000:50001\n",
        [],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault(name: str, wide: dict[str, Site]) -> None:
    design, switch, pattern, new, wanted = FAULTS[name]
    own = wide[design].damaged(switch, pattern, new)[0].configs() if wanted or name != "none" else wide[design].configs()
    findings, rows = judged(own, StandIn(own))
    assert [(one.id, one.device, one.message) for one in findings] == wanted
    assert all(one.severity == "warning" and one.file and one.line for one in findings)
    assert rows == []


def filtered_fabric() -> dict[str, str]:
    """Three leaves and a spine, with a filter on the uplink of a leaf."""
    rules = "ip access-list UP\n   10 deny tcp any any eq bgp\n   20 permit ip any any\n"
    port = "   ip address 10.9.0.3/31\n"
    return {**FABRIC, "leaf1.eos": FABRIC["leaf1.eos"].replace(port, f"{port}   ip access-group UP in\n{rules}")}


FILTERED = "leaf1", "Ethernet1: filter UP denies BGP (TCP 179) from 10.9.0.2"


def test_a_filter_on_a_link() -> None:
    devices = [Device(name.partition(".")[0], "eos", {name: text}) for name, text in filtered_fabric().items()]
    own = configs_of((device, device.facts) for device in devices)
    findings, _, ran = judge_configs(ConfigsAnalysis(own, StandIn(own)))
    found = [(one.severity, one.file, one.line, one.device, one.message) for one in findings if one.id == "FAB313"]
    assert found == [("error", "leaf1.eos", 11, *FILTERED)]
    assert {"FAB306", "FAB309", "FAB312", "FAB313"} <= ran


# --- the snapshot ---------------------------------------------------------------------------------------------

LAYOUTS: dict[
    str, tuple[str, dict[str, str], list[tuple[str, str, list[str]]]]
] = {  # files → copies: path, format, first lines
    "EOS without the line of its device": (
        "eos",
        {"show/leaf1.txt": "hostname leaf1\nip routing\n"},
        [("configs/leaf1.cfg", "ARISTA", ["!BATFISH_FORMAT: arista", "hostname leaf1"])],
    ),
    "NX-OS without a feature": (
        "nxos",
        {"leaf1": "hostname leaf1\ninterface Ethernet1/1\n"},
        [("configs/leaf1.cfg", "CISCO_NX", ["!BATFISH_FORMAT: cisco_nx", "hostname leaf1"])],
    ),
    "Junos as set statements": (
        "junos",
        {"leaf1.set": 'set system host-name leaf1\nset interfaces et-0/0/0 description "{"\n'},
        [("configs/leaf1.cfg", "FLAT_JUNIPER", ["#BATFISH_FORMAT: flat_juniper", "set system host-name leaf1"])],
    ),
    "Junos in braces": (
        "junos",
        {"leaf1.conf": "system {\n    host-name leaf1;\n}\n"},
        [("configs/leaf1.cfg", "JUNIPER", ["#BATFISH_FORMAT: juniper", "system {"])],
    ),
    "commands of NVUE": (
        "cumulus",
        {"leaf1/nvue.txt": "nv set system hostname leaf1\nnv set interface swp1 ip address 10.0.0.1/31\n"},
        [
            (
                "configs/leaf1.cfg",
                "CUMULUS_CONCATENATED",
                [
                    "leaf1",
                    "# This file describes the network interfaces",
                    "auto swp1",
                    "iface swp1",
                    "    address 10.0.0.1/31",
                ],
            )
        ],
    ),
    "FRR with a file for each daemon": (
        "frr",
        {"leaf1/zebra.conf": "interface eth1\n ip address 10.0.0.1/31\n", "leaf1/bgpd.conf": "router bgp 65001\n"},
        [
            (
                "configs/leaf1.cfg",
                "CUMULUS_CONCATENATED",
                [
                    "leaf1",
                    "# This file describes the network interfaces",
                    "auto eth1",
                    "iface eth1",
                    "    address 10.0.0.1/31",
                ],
            )
        ],
    ),
    "SONiC in files of a layout of its own": (
        "sonic",
        {
            "leaf1/leaf1_config_db.json": json.dumps({"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}}),
            "leaf1/bgpd.conf": "router bgp 65001\n",
        },
        [
            ("sonic_configs/leaf1/config_db.json", "SONIC", ["{", ' "DEVICE_METADATA": {']),
            ("sonic_configs/leaf1/frr.conf", "SONIC", ["router bgp 65001"]),
        ],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout(layout: str) -> None:
    nos, files, wanted = LAYOUTS[layout]
    device = Device("leaf1", nos, files)
    made = configs_of([(device, device.facts)]).copies["leaf1"].copies
    assert [(copy.path, copy.format) for copy in made] == [(path, kind) for path, kind, _ in wanted]
    for copy, (_, _, lines) in zip(made, wanted, strict=True):
        assert list(copy.lines[: len(lines)]) == lines
        assert copy.origin(len(copy.lines))[0] in files


def test_the_cables_of_a_folder() -> None:
    """From addresses; a switch that shares a subnet by another port has none, as Batfish would cut that port off."""
    devices = [Device(name.partition(".")[0], "eos", {name: text}) for name, text in FABRIC.items()]
    own = configs_of((device, device.facts) for device in devices)
    assert [(edge["node1"], edge["node2"]) for edge in own.edges()] == [
        ({"hostname": f"leaf{n}", "interfaceName": "Ethernet1"}, {"hostname": "spine1", "interfaceName": f"Ethernet{n}"})
        for n in (1, 2, 3)
    ]
    near = "router bgp 65001\n   neighbor 10.20.9.2 remote-as 65002\n"
    texts = {name: text.replace("router bgp 65001\n", near) for name, text in FABRIC.items()}
    for n in (1, 2):
        texts[f"leaf{n}.eos"] += f"interface Vlan99\n   ip address 10.20.9.{n}/24\n"
    devices = [Device(name.partition(".")[0], "eos", {name: text}) for name, text in texts.items()]
    cut = {edge["node1"]["hostname"] for edge in configs_of((device, device.facts) for device in devices).edges()}
    assert cut == {"leaf2", "leaf3"}
