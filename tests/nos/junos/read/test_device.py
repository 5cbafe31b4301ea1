"""What the reader makes of whole Junos configs: of ours in both forms, of damaged ones, of what it does not know."""

from __future__ import annotations

import re
from pathlib import PurePath

import pytest

from fabric.nos.junos.read.device import WHOLE, known
from fabric.nos.junos.read.tree import Config, Node, read_text
from tests import ROOT
from tests.examples import located, paths
from tests.nos.junos.read.helpers import configured, facts, plain

GENERATED = paths("*/configs/*/juniper.conf")
GOLDEN = sorted((ROOT / "tests/golden/render/junos").glob("*.conf"))


def as_set_lines(text: str) -> str:
    """A config in curly braces as `display set` would show it."""
    config = Config()
    read_text(config, "", text)
    lines: list[str] = []

    def walk(node: Node, path: str) -> None:
        for word, below in node.items():
            shown = f'"{word}"' if re.search(r'[\s;{}"#$]|^$', word) else word
            walk(below, f"{path} {shown}") if below else lines.append(f"{path} {shown}")

    walk(config.root, "set")
    return "\n".join(lines)


def test_every_statement_that_is_not_known_is_reported() -> None:
    found = facts(
        """\
system { host-name a; coffee { strong; } }
protocols { ospf { area 0 { interface x { "et 1"; } authentication { md5 1 key hush; } } } bgp { group A { frobnicate 1; } } }
interfaces { interface-range R { member et-0/0/[1-2]; colour blue; } }
rename interfaces et-0/0/1 to et-0/0/2
family-tree;
"""
    )
    assert configured(found.unread) == [
        ("rename interfaces et-0/0/1 to et-0/0/2", 4),
        ("system coffee strong", 1),
        ('protocols ospf area 0 interface x "et 1"', 2),
        ("protocols ospf area 0 authentication md5 1 key …", 2),
        ("protocols bgp group A frobnicate 1", 2),
        ("interfaces et-0/0/1 colour blue", 3),
        ("family-tree", 5),
    ]
    assert found.statements == 9


def test_statements_of_an_igp_are_known_whatever_the_spelling_of_the_area() -> None:
    lines = (
        "ospf area 0 interface et-0/0/0.0 interface-type p2p",
        "ospf area 0.0.0.0 interface lo0.0 passive",
        "ospf3 area 0 interface lo0.0",
        "ospf reference-bandwidth 400g",
        "isis interface et-0/0/0.0 point-to-point",
        "isis level 1 disable",
    )
    found = facts("".join(f"set {where}protocols {line}\n" for where in ("", "routing-instances red ") for line in lines))
    assert found.unread == []


def test_the_table_of_known_statements_has_no_head_that_is_also_a_path() -> None:
    assert known().at("routing-instances", "*", "protocols", "bgp", "group", "*", "family", "evpn", "signaling") is WHOLE
    assert WHOLE == {}


PORT = "et-0/0/1 { unit 0 { family inet { address 10.0.0.0/31; } } }"


@pytest.mark.parametrize(
    ("text", "broken", "ports"),
    [
        (f"interfaces {{ {PORT}", [("the '{' after 'interfaces' is never closed", 1)], 1),
        (f"}}\ninterfaces {{ {PORT} }}", [("a '}' that closes nothing", 1)], 1),
        (f"interfaces {{ x {{ mtu 9000\n }} {PORT} }}", [("expected ';' after '9000', got '}'", 1)], 2),
        (f"interfaces {{ x {{ mtu 9000\n unit 0 {{ }} }} {PORT} }}", [("expected ';' after '9000', got 'unit'", 1)], 2),
        (f'system {{ host-name "a;\n}}\ninterfaces {{ {PORT} }}', [("a quote that is never closed", 1)], 1),
        (f"interfaces {{ {PORT} }} /* the end", [("a comment that is never closed", 1)], 1),
        ("set " + "x " * 70, [("expected at most 64 words from the root to a value, got 70", 1)], 0),
        ("{", [("a '{' that is never closed", 1)], 0),
        (
            "system {\n host-name",
            [
                ("expected ';' after 'host-name', got the end of the file", 2),
                ("the '{' after 'system' is never closed", 1),
            ],
            0,
        ),
    ],
)
def test_broken_texts_are_read_as_far_as_possible(text: str, broken: list[tuple[str, int]], ports: int) -> None:
    found = facts(text)
    assert (configured(found.broken), len(found.interfaces)) == (broken, ports)


@pytest.mark.parametrize(
    "text", ["", "\x00\x01\xff", "{" * 3000, "a {" * 3000, '"' * 99, "[ " * 99, "/*" * 99, "set\ndeactivate\n"]
)
def test_rubbish_gives_no_facts(text: str) -> None:
    found = facts(text)
    assert (found.name, found.hostname, found.interfaces, found.bgp, found.vrfs) == ("device", None, {}, {}, {})


INHERITED = """\
groups {
    A { apply-groups B; interfaces { <et-*> { mtu 9216; unit <*> { family inet { mtu 9000; } } } } }
    B { apply-groups A; protocols { bgp { group <*> { type external; peer-as 65001; } } } }
}
apply-groups [ A B ];
interfaces {
    interface-range R { member-range et-0/0/1 to et-0/0/4; member "et-0/0/[6-9]"; unit 0 { family inet; } }
    inactive: et-0/0/2 { mtu 1500; }
}
policy-options { prefix-list P { apply-path "interfaces <*> unit <*> family inet address <*>"; } }
protocols { bgp { group X { apply-groups-except A; neighbor 10.0.0.1; } } }
deactivate protocols bgp group X neighbor 10.0.0.1
set routing-options autonomous-system 65000
"""


@pytest.mark.parametrize("path", [*GENERATED, *GOLDEN], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_own_configs_are_read_whole(path: PurePath) -> None:
    text = located(path).read_text()
    found = facts(text)
    sessions = re.findall(r"^ +neighbor (\S+) \{$", text, re.MULTILINE)
    discovered = re.search(r"peer-auto-discovery \{(.*?)\n {16}\}", text, re.DOTALL)
    unnumbered = re.findall(r"interface (\S+);", discovered[1]) if discovered else []
    assert sorted(session.peer for session in found.neighbors()) == sorted(
        [*sessions, *(name.removesuffix(".0") for name in unnumbered)]
    )
    assert all(session.remote_as for session in found.neighbors())
    assert all(process.asn and process.router_id for process in found.bgp.values())
    assert (found.hostname is not None, found.unread, found.broken) == (True, [], [])
    assert (found.services.secrets, found.services.plain_text) == ([], [])


@pytest.mark.parametrize("path", [*GENERATED[::3], *GOLDEN], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_both_forms_tell_the_same(path: PurePath) -> None:
    text = located(path).read_text()
    assert plain(facts(as_set_lines(text))) == plain(facts(text))


def test_there_are_configs_to_read() -> None:
    assert len(GENERATED) >= 16
    assert len(GOLDEN) >= 10
