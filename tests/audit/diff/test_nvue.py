"""Files between two NVUE configs: running, intended, what is printed; each also given to a model of a switch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from fabric.audit.checks.statements import statement_differences
from fabric.audit.drift.devices import commands_back
from fabric.nos.cumulus.statements import nvue_changes, nvue_lines, nvue_tree
from fabric.nos.cumulus.write.tree import dump
from tests.audit.diff.candidate.nvue import Refused, Switch

UNSET, SET = "# file 1 of 2: nv config patch", "# file 2 of 2: nv config patch, nv config apply"


def text(tree: dict[str, Any]) -> str:
    return f"- set:\n{dump(tree, 2)}" if tree else "- set: {}\n"


PORT = {"interface": {"swp1": {"ipv4": {"address": {"10.0.0.0/31": {}}}, "link": {"mtu": 9216}, "type": "swp"}}}
VLANS = {"bridge": {"domain": {"br_default": {"vlan": {"10": {"vni": {"100": {}}}, "20": {"vni": {"200": {}}}}}}}}
SPLIT = {
    "interface": {
        "swp1": {"link": {"breakout": {"4x": {}}}},
        "swp1s0": {"type": "swp", "vrf": "red"},
        "swp1s1": {"type": "swp"},
        "swp1s1.11": {"base-interface": "swp1s1", "type": "sub"},
        "bond1": {"bond": {"member": {"swp1s0": {}, "swp2": {}}}},
    },
    "vrf": {"red": {"router": {"bgp": {"neighbor": {"swp1s0": {"remote-as": "external"}, "swp2": {}}}}}},
}


def test_an_address_and_a_value() -> None:
    new = text(PORT).replace("10.0.0.0/31", "10.0.0.2/31").replace("9216", "9000")
    assert nvue_lines(text(PORT), new) == [
        UNSET,
        "- unset:",
        "    interface:",
        "      swp1:",
        "        ipv4:",
        "          address:",
        "            10.0.0.0/31: null",
        SET,
        "- set:",
        "    interface:",
        "      swp1:",
        "        ipv4:",
        "          address:",
        "            10.0.0.2/31: {}",
        "        link:",
        "          mtu: 9000",
    ]
    assert nvue_lines(new, new) == []


def test_one_file_needs_no_comment() -> None:
    assert nvue_lines(text(PORT), text(PORT).replace("9216", "9000")) == [
        "- set:",
        "    interface:",
        "      swp1:",
        "        link:",
        "          mtu: 9000",
    ]


def test_a_breakout_has_its_ports_unset_and_applied_first() -> None:
    new = {**SPLIT, "interface": {"swp1": {"link": {"breakout": {"2x": {}}}}, "swp1s0": {"type": "swp"}}}
    lines = nvue_lines(text(SPLIT), text(new))
    assert [line for line in lines if line[0] == "#"] == [
        "# file 1 of 3: nv config patch, nv config apply",
        "# file 2 of 3: nv config patch",
        "# file 3 of 3: nv config patch, nv config apply",
    ]
    assert [line.strip() for line in lines[1 : lines.index("# file 2 of 3: nv config patch")]] == [
        *("- unset:", "interface:", "bond1:", "bond:", "member:", "swp1s0: null", "swp1s0: null", "swp1s1: null"),
        *("swp1s1.11: null", "vrf:", "red:", "router:", "bgp:", "neighbor:", "swp1s0: null"),
    ]
    assert Switch(text(SPLIT)).run(lines).applied == Switch(text(new)).applied


MERGED = text({"interface": {f"swp{port}": {"link": {"mtu": 9216}, "type": "swp"} for port in (1, 2, 3, 5)}})
CASES = {
    "the VNI of a VLAN": (text(VLANS), text(VLANS).replace("100", "101")),
    "two VLANs exchange their VNIs": (text(VLANS), text(VLANS).replace("100", "x").replace("200", "100").replace("x", "200")),
    "a port of another VRF": (
        text({**SPLIT, "vrf": {**SPLIT["vrf"], "blue": {}}}),
        text({**SPLIT, "vrf": {**SPLIT["vrf"], "blue": {}}}).replace("vrf: red", "vrf: blue"),
    ),
    "a port of another bond": (text(SPLIT), text(SPLIT).replace("bond1", "bond2")),
    "a breakout that goes": (text(SPLIT), text(PORT)),
    "a breakout that comes": (text(PORT), text(SPLIT)),
    "an AS number": (
        "- set:\n    router:\n      bgp:\n        autonomous-system: 65001\n",
        "- set:\n    router:\n      bgp:\n        autonomous-system: 65002\n",
    ),
    "a range of ports": (
        "- set:\n    interface:\n      swp1-3,5:\n        link:\n          mtu: 9216\n        type: swp\n",
        MERGED,
    ),
    "a range with another value": (MERGED, "- set:\n    interface:\n      swp1-2,5:\n        type: swp\n"),
    "a range of VLANs": (
        text(VLANS),
        "- set:\n    bridge:\n      domain:\n        br_default:\n          vlan:\n            10-12: {}\n",
    ),
    "words and numbers of YAML 1.1": (
        "- set:\n    system:\n      a:\n        44:38:39:00:00:01: {}\n        on: {}\n        1:30: {}\n      b: on\n",
        "- set:\n    system:\n      a:\n        '44:38:39:00:00:02': {}\n        '10': {}\n      b: 'off'\n",
    ),
    "a list": ("- set:\n    system:\n      a: [one, two]\n", "- set:\n    system:\n      a: [two, three]\n"),
    "a list that was a branch": (
        "- set:\n    system:\n      a:\n        b: {}\n",
        "- set:\n    system:\n      a: [two, three]\n",
    ),
    "an empty branch": (
        "- set:\n    evpn:\n      multihoming:\n        enable: 'on'\n",
        "- set:\n    evpn:\n      multihoming: {}\n",
    ),
    "a header": (f"- header:\n    model: vx\n{text(PORT)}", text(VLANS)),
    "a text with signs": (
        text(PORT),
        text({"interface": {"swp1": {"description": "a: 'b' #c", "link": {"mtu": 9216}, "type": "swp"}}}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_files_make_one_config_of_the_other(name: str) -> None:
    for old, new in (CASES[name], CASES[name][::-1]):
        assert Switch(old).run(nvue_lines(old, new)).applied == Switch(new).applied


def test_running_configs_in_other_forms() -> None:
    bare = text(PORT).removeprefix("- set:\n").replace("\n    ", "\n")
    assert nvue_tree(bare.removeprefix("    ")) == PORT
    assert nvue_tree("nv set interface swp1-2 type swp\n") == {
        "interface": {"swp1": {"type": {"swp": {}}}, "swp2": {"type": {"swp": {}}}}
    }


def test_drift_of_a_running_config_of_commands() -> None:
    port = "nv set interface swp1"
    running = f"{port} type swp\n{port} link mtu 9000\n{port} ipv4 address 10.9.9.9/31\n"
    sides = {"startup.yaml": text(PORT)}, {"startup.yaml": running}
    lines = [
        line for change in commands_back("cumulus", *sides, statement_differences("cumulus", *sides)) for line in change.lines
    ]
    applied = PORT | {"interface": {"swp1": PORT["interface"]["swp1"] | {"ipv4": {"address": {"10.9.9.9/31": {}}}}}}
    assert Switch(text(applied).replace("9216", "9000")).run(lines).applied == Switch(text(PORT)).applied


WORDS = st.text("abc", min_size=1, max_size=2)
TREES = st.recursive(
    st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2, unique=True),
    lambda inner: st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(WORDS, TREES, max_size=3), st.dictionaries(WORDS, TREES, max_size=3))
def test_files_make_any_tree_of_any_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert Switch(text(old)).run(nvue_changes(old, new)).applied == Switch(text(new)).applied


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["- unset:", "    interface:", "      swp9: null"], "not there"),
        (["- unset:", "    interface:", "      swp1: {}"], "no value"),
        (["- unset:", "    interface:", "      swp1: null", "- set:", "    interface:", "      swp2: {}"], "sets and unsets"),
        (["- set:", "    interface:", "      swp1:", "        vrf: red"], "no VRF red"),
        ([UNSET, "- unset:", "    interface:", "      swp1: null"], "not applied"),
    ],
)
def test_the_model_refuses(lines: list[str], answer: str) -> None:
    with pytest.raises(Refused, match=answer):
        Switch(text(PORT)).run(lines)


def test_the_model_refuses_another_breakout_before_its_ports_are_gone() -> None:
    with pytest.raises(Refused, match="swp1 has ports"):
        Switch(text(SPLIT)).run(["- unset:", "    interface:", "      swp1: null"])
