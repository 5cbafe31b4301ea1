"""A site changes a block or patches a document; nothing it names can become config syntax."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jinja2.exceptions import SecurityError, UndefinedError

from fabric.configs.render import (
    DocumentPatch,
    TextOverride,
    environment,
    json_merge_patch,
    refuse_control,
    render,
    templates_root,
    to_json,
)
from fabric.nos.eos.target import TARGET as EOS
from fabric.nos.sonic.target import TARGET as SONIC
from tests.nos.views import STYLES, view

LEAF = view("leaf1", replace(STYLES["ipv4"], nos="eos"))


# The examples of RFC 7396, appendix A.
@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch(original: Any, patch: Any, result: Any) -> None:
    before = json.dumps(original)
    assert json_merge_patch(original, patch) == result
    assert json.dumps(original) == before


def write(path: Path, text: str) -> TextOverride:
    path.write_text(text, encoding="utf-8")
    return TextOverride(path)


def test_a_block_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    own = write(tmp_path / "ntp.j2", '{% extends "eos/device.j2" %}{% block ntp %}\nntp server time.test\n{% endblock %}')
    changed, plain = render(LEAF, EOS, [own])[0].text, render(LEAF, EOS)[0].text
    assert "ntp server time.test" in changed
    assert "ntp server vrf MGMT" not in changed
    assert "ntp server vrf MGMT" in plain
    assert changed.split("vrf instance MGMT")[1] == plain.split("vrf instance MGMT")[1]


def test_overrides_of_one_template_stack_in_order(tmp_path: Path) -> None:
    base = '{% extends "eos/device.j2" %}{% block extra %}'
    overrides = [
        write(tmp_path / "1.j2", base + "{{ super() }}one {{ hostname }}\n{% endblock %}{% block ntp %}{% endblock %}"),
        write(tmp_path / "2.j2", base + "{{ super() }}two\n{% endblock %}"),
    ]
    text = render(LEAF, EOS, overrides)[0].text
    assert "one leaf1\ntwo\n" in text
    assert "ntp server" not in text


def test_an_override_of_another_target_is_left_alone(tmp_path: Path) -> None:
    own = write(tmp_path / "x.j2", '{% extends "frr/frr.conf.j2" %}{% block bgp %}{% endblock %}')
    assert render(LEAF, EOS, [own, DocumentPatch("config_db.json", {"PORT": None})]) == render(LEAF, EOS)


def test_an_override_that_extends_nothing_shipped_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"of one of eos/device.j2, .* got 'eos/devise.j2'"):
        render(LEAF, EOS, [write(tmp_path / "x.j2", '{% extends "eos/devise.j2" %}')])
    with pytest.raises(ValueError, match=r"of one of eos/device.j2, .* got no such line"):
        render(LEAF, EOS, [write(tmp_path / "y.j2", "ntp server x")])


def test_a_patch_merges_and_keeps_front_panel_order() -> None:
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="sonic"))
    patch = {"PORT": {"Ethernet16": {"fec": "none"}, "Ethernet2": {"lanes": "9"}}, "DNS_NAMESERVER": None}
    db = json.loads(render(leaf, SONIC, [DocumentPatch("config_db.json", patch)])[0].text)
    assert db["PORT"]["Ethernet16"]["fec"] == "none"
    assert list(db["PORT"])[:3] == ["Ethernet0", "Ethernet2", "Ethernet4"]
    assert "DNS_NAMESERVER" not in db


@pytest.mark.parametrize("hostile", ["leaf1\nno router bgp 1", "a\rb", "a\x00", "a\x1b[2J", "a\u2028b", "a\x85b"])
def test_a_control_character_is_refused_with_the_field(hostile: str) -> None:
    bad = replace(LEAF, device=replace(LEAF.device, name=hostile))
    with pytest.raises(ValueError, match=r"startup-config\.banner: control character"):
        render(bad, EOS)
    sonic = view("leaf1", replace(STYLES["ipv4"], nos="sonic"))
    with pytest.raises(ValueError, match=r"config_db\.json\.DEVICE_METADATA\.localhost\.hostname: control"):
        render(replace(sonic, device=replace(sonic.device, name=hostile)), SONIC)


def test_a_hostile_peer_is_named_by_its_place() -> None:
    with pytest.raises(ValueError, match=r"^f\.rows\[1\]\.name: control character in 'x\\ny'"):
        refuse_control({"rows": [{"name": "x"}, {"name": "x\ny"}]}, "f")


def test_a_value_is_never_read_as_a_template() -> None:
    named = replace(LEAF, device=replace(LEAF.device, name="{{ 7 * 7 }}"))
    assert "hostname {{ 7 * 7 }}\n" in render(named, EOS)[0].text


def test_a_site_template_can_neither_guess_nor_break_out(tmp_path: Path) -> None:
    base = '{% extends "eos/device.j2" %}{% block extra %}'
    with pytest.raises(UndefinedError):
        render(LEAF, EOS, [write(tmp_path / "a.j2", base + "{{ hostnaem }}{% endblock %}")])
    with pytest.raises(SecurityError):
        render(LEAF, EOS, [write(tmp_path / "b.j2", base + "{{ ''.__class__.__mro__ }}{% endblock %}")])


def test_every_shipped_template_compiles_and_has_blocks() -> None:
    for path in templates_root().rglob("*.j2"):
        if "day-zero" in path.as_posix() or path.parent.name == "infiniband":
            continue  # scripts of the first start and files of a subnet manager, which no site overrides
        template = environment().get_template(path.relative_to(templates_root()).as_posix())
        assert template.blocks, path


def test_json_has_one_row_per_line() -> None:
    wide = {str(n): "0" for n in range(17)}
    text = to_json({"B": {"x": {"k": "v"}, "y": {}}, "A": {"wide": wide}})
    assert json.loads(text) == {"A": {"wide": wide}, "B": {"x": {"k": "v"}, "y": {}}}
    assert '        "x": {"k": "v"},\n        "y": {}\n    }\n}\n' in text
    assert '\n            "16": "0"\n        }' in text


def test_a_patch_may_have_any_key() -> None:
    """Keys are put in the order of their numbers, however long those are."""
    leaf = view("leaf1", replace(STYLES["ipv4"], nos="sonic"))
    digits = "9" * 5000
    patch = {"X": {f"Ethernet{digits}": {}, "Ethernet10": {}, "Ethernet9": {}, "٣": {}, "": {}, "Ethernet010": {}}}
    rows = json.loads(render(leaf, SONIC, [DocumentPatch("config_db.json", patch)])[0].text)["X"]
    assert list(rows) == ["", "Ethernet9", "Ethernet10", "Ethernet010", f"Ethernet{digits}", "٣"]
