"""Changes of configs that are data: applied to the old they give the new."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from fabric.diff.documents import flat, json_lines, json_patch
from fabric.nos.cumulus.diff import nvue_lines, nvue_patch, nvue_tree
from tests.diff.apply import nvue_set, patched
from tests.examples import folder

PATCHES = {
    "a field": (
        {"PORT": {"Ethernet0": {"mtu": "9216"}}},
        {"PORT": {"Ethernet0": {"mtu": "9000"}}},
        [{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"}],
    ),
    "a key with a slash and a bar": (
        {"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}}},
        {"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.2/31": {}}},
        [
            {"op": "remove", "path": "/INTERFACE/Ethernet0|10.0.0.0~131"},
            {"op": "add", "path": "/INTERFACE/Ethernet0|10.0.0.2~131", "value": {}},
        ],
    ),
    "a tilde": ({"a~b": 1}, {"a~b": 2}, [{"op": "replace", "path": "/a~0b", "value": 2}]),
    "the last row takes the table along": (
        {"VLAN": {"Vlan10": {"vlanid": "10"}}, "PORT": {}},
        {"PORT": {}},
        [{"op": "remove", "path": "/VLAN"}],
    ),
    "a first row brings the table": (
        {},
        {"VLAN": {"Vlan10": {"vlanid": "10"}}},
        [{"op": "add", "path": "/VLAN", "value": {"Vlan10": {"vlanid": "10"}}}],
    ),
    "a list is replaced whole": (
        {"ACL": {"ports": ["Ethernet0", "Ethernet8"]}},
        {"ACL": {"ports": ["Ethernet8"]}},
        [{"op": "replace", "path": "/ACL/ports", "value": ["Ethernet8"]}],
    ),
    "true is not 1": ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
    "nothing": ({"a": {"b": [1]}}, {"a": {"b": [1]}}, []),
}


@pytest.mark.parametrize("name", PATCHES)
def test_json_patch(name: str) -> None:
    old, new, wanted = PATCHES[name]
    assert json_patch(old, new) == wanted


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/~|", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab/~|", max_size=2), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.text("ab/~|", max_size=2), VALUES, max_size=4)


@given(DOCUMENTS, DOCUMENTS)
def test_a_json_patch_makes_the_new_document(old: Any, new: Any) -> None:
    assert json.dumps(patched(old, json_patch(old, new)), sort_keys=True) == json.dumps(new, sort_keys=True)


@pytest.mark.parametrize("site", ["ai-sonic", "starter", "h100-4su"])
def test_a_json_patch_makes_one_switch_of_another(site: str) -> None:
    found = sorted((folder(site) / "configs").glob("*/config_db.json"))[:12]
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in found]
    for old, new in itertools.pairwise(documents):
        made = patched(old, json_patch(old, new))
        assert made == new
        assert all(made.values()), "an empty table"


def test_the_lines_of_a_json_patch_are_the_patch() -> None:
    operations = json_patch(*PATCHES["a key with a slash and a bar"][:2])
    assert json.loads("\n".join(json_lines(operations))) == operations
    assert json_lines(operations)[1] == '  {"op": "remove", "path": "/INTERFACE/Ethernet0|10.0.0.0~131"},'
    assert json.loads("\n".join(json_lines([]))) == []


OLD = """
- set:
    interface:
      swp1:
        ipv4:
          address:
            10.0.0.0/31: {}
        link:
          mtu: 9216
        type: swp
      swp2:
        type: swp
    system:
      hostname: leaf001
"""


def test_nvue() -> None:
    new = OLD.replace("10.0.0.0/31", "10.0.0.2/31").replace("9216", "9000").replace("      swp2:\n        type: swp\n", "")
    assert nvue_lines(OLD, new) == [
        "- unset:",
        "    interface:",
        "      swp1:",
        "        ipv4:",
        "          address:",
        "            10.0.0.0/31: {}",
        "      swp2: {}",
        "- set:",
        "    interface:",
        "      swp1:",
        "        ipv4:",
        "          address:",
        "            10.0.0.2/31: {}",
        "        link:",
        "          mtu: 9000",
    ]
    assert nvue_lines(OLD, OLD) == []


WORDS = st.text("abc", min_size=1, max_size=2)
TREES = st.recursive(
    st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2, unique=True),
    lambda inner: st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(WORDS, TREES, max_size=3), st.dictionaries(WORDS, TREES, max_size=3))
def test_an_nvue_patch_makes_the_new_tree(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert nvue_set(old, *nvue_patch(old, new)) == new


def test_an_nvue_patch_makes_one_switch_of_another() -> None:
    found = sorted((folder("ai-cumulus") / "configs").glob("*/startup.yaml"))
    texts = [path.read_text(encoding="utf-8") for path in found]
    for old, new in [*itertools.pairwise(texts), (texts[0], texts[-1])]:
        patch = yaml.safe_load("\n".join(nvue_lines(old, new)))
        parts = {word: tree for part in patch for word, tree in part.items()}
        assert nvue_set(nvue_tree(old), parts.get("unset", {}), parts.get("set", {})) == nvue_tree(new)


def test_flat() -> None:
    tree = {"site": "dc1", "tenants": [{"name": "red", "vni": 7}, {"vni": 8}], "ntp": ["a", "b"], "none": {}}
    assert dict(flat(tree)) == {
        "site": "dc1",
        "tenants[red].name": "red",
        "tenants[red].vni": 7,
        "tenants[1].vni": 8,
        "ntp": ["a", "b"],
        "none": {},
    }
