"""What is written is what is read: no string becomes a truth, a number or a line of its own."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given, strategies as st

from fabric.nos.cumulus.write.tree import dump, scalar

HOSTILE = [
    *("on", "Off", "YES", "no", "y", "N", "true", "False", "null", "Null", "~", ""),
    *("10", "0x1f", "0o17", "017", "1_000", "1e3", "1.5", ".inf", "-.INF", ".nan", "+1", "-", "--", "---", "..."),
    *("44:38:39:00:00:01", "190:20:30", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "=", "<<"),
    *(
        "a: b",
        "a:",
        ":a",
        "a #b",
        "#a",
        "- a",
        "? a",
        "! a",
        "& a",
        "* a",
        "| a",
        "> a",
        "@a",
        "`a`",
        "%a",
        "{a}",
        "[a]",
        "a,b",
    ),
    *("it's", '"quoted"', "back\\slash", " leading", "trailing ", "${ADMIN_PASSWORD_HASH}", "$6$salt$hash", "*****", "'"),
    *(
        "two\nlines",
        "tab\there",
        "return\r",
        "bell\x07",
        "\x7f",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "é",
        "😀",
        "\ud7ff",
        "\ue000",
    ),
]
WORDS = ["swp1s0", "PL-FABRIC", "10.0.0.0/31", "10.0.0.1", "br_default", "/", "Etc/UTC", "vlan100", "full", "nan", "inf"]
LEAVES = st.one_of(
    st.text(),
    st.sampled_from(HOSTILE + WORDS),
    st.integers(),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False),
)
TREES = st.recursive(
    LEAVES, lambda inner: st.one_of(st.dictionaries(st.text(), inner, max_size=4), st.lists(inner, max_size=3)), max_leaves=20
)


@pytest.mark.parametrize("text", HOSTILE + WORDS)
def test_a_hostile_string_stays_a_string(text: str) -> None:
    tree = {text: {"leaf": text, text: [text, {text: text}]}}
    assert yaml.safe_load(dump(tree)) == tree


@pytest.mark.parametrize("text", WORDS)
def test_words_need_no_quotes(text: str) -> None:
    assert scalar(text) == text


@given(st.dictionaries(st.text(), TREES, max_size=5))
def test_every_tree_comes_back(tree: dict[str, object]) -> None:
    assert yaml.safe_load(dump(tree)) == tree


def test_a_tree_in_a_list_entry_comes_back() -> None:
    tree = {"router": {"bgp": {"autonomous-system": 4200000001}}, "acl": {}}
    assert yaml.safe_load(f"# head\n- set:\n{dump(tree, indent=2)}") == [{"set": tree}]


def test_keys_are_in_the_order_of_the_front_panel() -> None:
    assert dump({"swp16": {}, "swp8": 1, "eth0": "on"}) == "eth0: 'on'\nswp8: 1\nswp16: {}\n"


def test_nothing_is_an_empty_mapping() -> None:
    assert dump({}) == "{}\n"
    assert math.isnan(yaml.safe_load(scalar(math.nan)))


def test_what_yaml_cannot_say_is_refused() -> None:
    with pytest.raises(TypeError, match="no place in YAML"):
        dump({"a": object()})
