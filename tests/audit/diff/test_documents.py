"""Changes of configs that are data: applied to the old they give the new."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from fabric.audit.diff.design import flat
from fabric.nos.dialect import json_lines, json_patch
from tests.audit.diff.apply import patched
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
