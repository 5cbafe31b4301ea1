"""The YAML layer: positions, YAML 1.2 scalars, duplicates, aliases, bounds; and no text makes it fall over."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.base.source import MAX_BYTES, MAX_DEPTH, parse, read
from fabric.design.intent.load import validate
from fabric.design.intent.site import Site
from fabric.design.planner.pools import check
from fabric.design.planner.resolve import resolve
from fabric.design.planner.site import plan_site, size_site
from fabric.model.plan.lock_file import Lock
from tests import samples
from tests.cost import calls

QUIET = settings(max_examples=samples.examples(90), deadline=None, suppress_health_check=list(HealthCheck))


def codes(text: str) -> list[str]:
    """Codes and places of what is wrong with a text."""
    with pytest.raises(InputError) as caught:
        parse(text, "i.yaml")
    return [f"{d.place.line}:{d.place.column} {d.code}" for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("1:30", "1:30"),
        ("0o17", 15),
        ("0x1F", 31),
        ("017", 17),
        ("+12", 12),
        ("-7", -7),
        ("1_000", "1_000"),
        ("1e3", 1000.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2024-01-31", "2024-01-31"),
        ("10.0.0.0", "10.0.0.0"),
        ("2x400", "2x400"),
        ('"64"', "64"),
        ("'no'", "no"),
        ("! 64", "64"),
        ("!!str 64", "64"),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("[1, [a, b]]", [1, ["a", "b"]]),
        ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("9" * 40, int("9" * 40)),
        ("9" * 41, float("9" * 41)),
        ("0x" + "f" * 41, "0x" + "f" * 41),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: Any) -> None:
    found = parse(f"key: {text}\n", "i.yaml").data["key"]
    assert found == value
    assert type(found) is type(value)


POSITIONS = """\
version: 1
fabrics:
  backend:
    servers: {model: dgx-h100, count: 64}
    topology:
      attachments:
        - name: ufm
          links: 4
        - {name: border, links: 2}
  "quoted": {}
"""


@pytest.mark.parametrize(
    ("path", "value_at", "key_at"),
    [
        ((), "1:1", "1:1"),
        (("version",), "1:10", "1:1"),
        (("fabrics",), "3:3", "2:1"),
        (("fabrics", "backend"), "4:5", "3:3"),
        (("fabrics", "backend", "servers"), "4:14", "4:5"),
        (("fabrics", "backend", "servers", "count"), "4:39", "4:32"),
        (("fabrics", "backend", "servers", 0, "count"), "4:39", "4:32"),
        (("fabrics", "backend", "topology", "attachments", 0), "7:11", "7:11"),
        (("fabrics", "backend", "topology", "attachments", 0, "links"), "8:18", "8:11"),
        (("fabrics", "backend", "topology", "attachments", 1, "links"), "9:33", "9:26"),
        (("fabrics", "backend", "topology", "nothing"), "6:7", "5:5"),
        (("fabrics", "quoted"), "10:13", "10:3"),
    ],
)
def test_places(path: tuple[str | int, ...], value_at: str, key_at: str) -> None:
    source = parse(POSITIONS, "i.yaml")
    assert str(source.place(path)) == f"i.yaml:{value_at}"
    assert str(source.place(path, key=True)) == f"i.yaml:{key_at}"


def test_has() -> None:
    source = parse(POSITIONS + "empty:\n", "i.yaml")
    assert source.has(("fabrics", "backend", "topology", "attachments", 1, "links"))
    assert source.has(("empty",))
    assert not source.has(("fabrics", "backend", "topology", "attachments", 2))
    assert not source.has(("fabrics", "backend", "servers", 0, "count"))
    assert not source.has(("version", "x"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\na: 2\n", ["2:1 FAB005"]),
        ("a: {b: 1, c: 2, b: 3}\nd: 1\nd: 2\n", ["1:17 FAB005", "3:1 FAB005"]),
        ('1: x\n"1": y\n', ["2:1 FAB005"]),
        ("a: 1\n'a': 2\n", ["2:1 FAB005"]),
        ("? [a]\n: 1\n", ["1:3 FAB006"]),
        ("? {a: 1}\n: 1\n", ["1:3 FAB006"]),
        ("null: 1\n", ["1:1 FAB006"]),
        ("true: 1\n1.5: 2\n", ["1:1 FAB006", "2:1 FAB006"]),
        ("a: !!int 5\nb: !x y\n", ["1:4 FAB006", "2:4 FAB006"]),
        ("a: &a {b: 1}\nc: {<<: *a}\n", ["2:5 FAB006"]),
        ("a: &a [*a]\n", ["1:8 FAB003"]),
        ("a: *b\nb: &b 1\n", ["1:4 FAB003"]),
        ("a: 1\n---\nb: 2\n", ["2:1 FAB007"]),
        ("a: 1\n...\n---\nb: 2\n", ["3:1 FAB007"]),
        ("---\n", ["2:1 FAB007"]),
        ("[1, 2]\n", ["1:1 FAB007"]),
        ("just words\n", ["1:1 FAB007"]),
        ("a:\n\t- 1\n", ["2:1 FAB003"]),
        ("a: [1\nb: 2\n", ["2:2 FAB003"]),
        ("a: \x01\n", ["1:4 FAB003"]),
        ("%YAML 3.0\n---\na: 1\n", ["1:1 FAB003"]),
        ("@a: 1\n", ["1:1 FAB003"]),
    ],
)
def test_what_is_refused(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_a_few_aliases_are_fine() -> None:
    source = parse("one: &one {a: [1, 2]}\ntwo: *one\nthree: {four: *one}\n", "i.yaml")
    assert source.data["two"] == source.data["three"]["four"] == {"a": [1, 2]}
    assert str(source.place(("two", "a", 1))) == "i.yaml:1:19"


def test_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "i.yaml"
    path.write_bytes(b"\xef\xbb\xbfversion: 1\r\nsite: dc1\r\n")
    assert read(path).data == {"version": 1, "site": "dc1"}
    assert str(read(path, "i.yaml").place(("site",))) == "i.yaml:2:7"


def test_bounds(tmp_path: Path) -> None:
    assert parse("a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + "\n", "i").data
    assert codes("a: " + "[" * (MAX_DEPTH + 1) + "\n")[0].endswith("FAB008")
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * MAX_BYTES + b"\n")
    with pytest.raises(InputError, match="FAB002"):
        read(path)


def test_an_alias_bomb_is_stopped_early() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    found: list[str] = []
    assert calls(lambda: found.extend(codes("\n".join(lines)))) < 100_000  # 600
    assert found[0].endswith("FAB004")


# --- nothing but a Site or an InputError --------------------------------------------------------------------

VALID = """\
version: 1
site: dc1
catalog:
  switches: {mybox: {ports: [{count: 64, speed_gbps: 800, breakouts: [2x400, 4x200]}], nos: [frr]}}
pools: {loopback: 10.0.0.0/16, servers: [10.128.0.0/10]}
fabrics:
  backend:
    nos: sonic
    servers: {model: dgx-h100, count: 40, per_rack: 4}
    topology:
      kind: rail-optimized
      unit: {servers: 16, full: false}
      tiers: auto
      planes: 1
      leaf: {switch: sn5600, oversubscription: 1.5, spare_server_ports: 1}
      spine: {switch: mybox, min_count: 2}
      attachments: [{name: ufm, links: 2}]
    planned: {servers: 64}
    names: {leaf: "{fabric}-leaf{n:03}"}
    pins: {backend-leaf001: {asn: 4200009999, loopback: 10.0.9.9}}
    underlay: {addressing: ipv4, mtu: 9100, asn: {ranges: [4200000000-4200065535]}}
    qos: {lossless_priority: 3}
  storage:
    purpose: storage
    servers: {model: dgx-h100, count: 40, per_rack: 4}
    topology: {kind: rack, switch: 64x400g, unit: {servers: 8}}
"""


def whole(text: str) -> Site | None:
    """Reads, sizes and, where it is small enough to be quick, plans; a mistake must be an InputError."""
    with suppress(InputError):
        source = parse(text, "i.yaml")
        site = validate(source)
        resolved = resolve(site, source)
        sized = size_site(resolved, Lock())
        check(resolved)
        if all(s.servers <= 300 and s.leaves + s.spine_count + s.core_count <= 600 for _, s in sized.values()):
            plan_site(resolved, Lock(), {})
        return site
    return None


def test_the_valid_intent_is_valid() -> None:
    assert whole(VALID) is not None


@QUIET
@given(st.text(max_size=400))
def test_any_text(text: str) -> None:
    with suppress(InputError):
        validate(parse(text, "i.yaml"))


@QUIET
@given(st.text(alphabet=" \n\t:-[]{}&*!|>'\"%@#?,ab01<", max_size=200))
def test_any_punctuation(text: str) -> None:
    with suppress(InputError):
        validate(parse(text, "i.yaml"))


@QUIET
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(data)
    with suppress(InputError):
        validate(read(path, "any.yaml"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def with_a_value_replaced(draw: st.DrawFn) -> str:
    """The valid intent with one value anywhere replaced by any other, removed, or moved under another key."""
    data = parse(VALID, "i.yaml").data
    spots: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            spots.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(data)
    for _ in range(draw(st.integers(1, 2))):
        parent, key = draw(st.sampled_from(spots))
        if (isinstance(parent, dict) and key not in parent) or (isinstance(parent, list) and key >= len(parent)):
            continue
        small = st.sampled_from([0, 1, 2, 3, 5, 7, 8, 13, 64, 100, 400, 800, -1, 1.5, "x", "auto", "sn5600", "10.0.0.0/30"])
        what = draw(st.sampled_from(["replace", "small", "remove"]))
        if what == "remove":
            del parent[key]
        else:
            parent[key] = draw(small if what == "small" else JSON)
    return json.dumps(data)


@QUIET
@given(with_a_value_replaced())
def test_any_value_in_a_valid_intent(text: str) -> None:
    assert calls(lambda: whole(text)) < 20_000_000  # 43,000 for the valid one


LINES = VALID.splitlines()


@st.composite
def with_lines_changed(draw: st.DrawFn) -> str:
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        what = draw(st.sampled_from(["delete", "double", "swap", "indent", "insert", "cut"]))
        if what == "delete" and len(lines) > 1:
            del lines[at]
        elif what == "double":
            lines.insert(at, lines[at])
        elif what == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        elif what == "indent":
            lines[at] = "  " + lines[at]
        elif what == "insert":
            lines.insert(at, draw(st.text(max_size=30)))
        else:
            lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
    return "\n".join(lines)


@QUIET
@given(with_lines_changed())
def test_any_change_of_lines_in_a_valid_intent(text: str) -> None:
    whole(text)
