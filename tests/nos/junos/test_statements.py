"""Statements of Junos: the layouts of a running config, edits of it, and the commands back to the plan."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fabric.audit.checks import statement_differences, syntax_of
from fabric.audit.checks.run import check_folder
from fabric.audit.drift.devices import commands_back
from fabric.nos.dialect import VALUE, Node as Statement
from fabric.nos.junos.read.tree import Config, Node, read_text
from fabric.nos.junos.statements import hierarchy
from fabric.nos.reading import scan
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, REORDERED, compare
from tests.audit.checks.damage import damages
from tests.audit.checks.shapes import Switch, samples

FILE = "juniper.conf"
SYNTAX = syntax_of("junos")
SHAPES_READ = ("evpn", "filters", "unnumbered")
HEADER = "## Last commit: 2026-11-23 08:00:00 UTC by admin\nversion 23.4R2-EVO;\n"
PLANNED = """system {
    host-name leaf001;
    root-authentication {
        encrypted-password "${ADMIN_PASSWORD_HASH}";
    }
}
interfaces {
    et-0/0/0 {
        description "to spine001";
        mtu 9208;
        unit 0 {
            family inet {
                address 10.0.0.0/31;
            }
            family mpls;
        }
    }
}
snmp {
    v3 {
        usm {
            local-engine {
                user monitoring {
                    authentication-sha {
                        authentication-password "${SNMP_AUTH_KEY}";
                    }
                }
            }
        }
    }
}
policy-options {
    policy-statement OUT {
        term own {
            from {
                protocol [ direct aggregate ];
            }
            then {
                accept;
            }
        }
        term rest {
            then {
                reject;
            }
        }
    }
}
class-of-service {
    forwarding-classes {
        class NO-LOSS queue-num 3 no-loss pfc-priority 3;
    }
}
protocols {
    bgp {
        group EVPN {
            multihop {
                ttl 1;
                no-nexthop-change;
            }
            import [ FIRST SECOND ];
            neighbor 10.0.0.1 {
                peer-as 65001;
            }
            neighbor 10.0.0.2 {
                peer-as 65001;
            }
        }
    }
}
"""
OWN = """        term own {
            from {
                protocol [ direct aggregate ];
            }
            then {
                accept;
            }
        }
"""
REST = """        term rest {
            then {
                reject;
            }
        }
"""
GROUP = "protocols bgp group EVPN"
OUT = "policy-options policy-statement OUT term"
# Edit of the text above → kind and statement of the differences, and the commands back.
EDITS: Mapping[str, tuple[tuple[str, str], list[tuple[str, str]], list[str]]] = {
    "next hop": (
        ("                no-nexthop-change;\n", ""),
        [(MISSING, f"{GROUP} multihop no-nexthop-change")],
        [f"set {GROUP} multihop no-nexthop-change"],
    ),
    "value": (
        ("mtu 9208", "mtu 1500"),
        [(CHANGED, "interfaces et-0/0/0 mtu 9208")],
        ["set interfaces et-0/0/0 mtu 9208"],
    ),
    "last statement of a section": (
        ("                address 10.0.0.0/31;\n", ""),
        [(MISSING, "interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31")],
        ["set interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31"],
    ),
    "statement below one that has none": (
        ("            family mpls;\n", "            family mpls {\n                mtu 1400;\n            }\n"),
        [(EXTRA, "interfaces et-0/0/0 unit 0 family mpls mtu 1400")],
        ["delete interfaces et-0/0/0 unit 0 family mpls mtu"],
    ),
    "section": (
        ("            neighbor 10.0.0.2 {\n                peer-as 65001;\n            }\n", ""),
        [(MISSING, f"{GROUP} neighbor 10.0.0.2 peer-as 65001")],
        [f"set {GROUP} neighbor 10.0.0.2 peer-as 65001"],
    ),
    "extra section": (
        ("        group EVPN {\n", "        group X {\n            neighbor 10.9.9.9;\n        }\n        group EVPN {\n"),
        [(EXTRA, "protocols bgp group X neighbor 10.9.9.9")],
        ["delete protocols bgp group X"],
    ),
    "inactive section": (
        ("            neighbor 10.0.0.2 {", "            inactive: neighbor 10.0.0.2 {"),
        [(EXTRA, f"{GROUP} neighbor  10.0.0.2"), (MISSING, f"{GROUP} neighbor 10.0.0.2 peer-as 65001")],
        [f"activate {GROUP} neighbor 10.0.0.2"],
    ),
    "inactive value": (
        ("        mtu 9208;", "        inactive: mtu 9208;"),
        [(EXTRA, "interfaces et-0/0/0 mtu  9208"), (MISSING, "interfaces et-0/0/0 mtu 9208")],
        ["activate interfaces et-0/0/0 mtu"],
    ),
    "terms": (
        (OWN + REST, REST + OWN),
        [(REORDERED, f"{OUT} rest")],
        [f"insert {OUT} own before term rest"],
    ),
    "first term": (
        (OWN, ""),
        [(MISSING, f"{OUT} own")],
        [
            *(f"set {OUT} own {words}" for words in ("from protocol [ direct aggregate ]", "then accept")),
            f"insert {OUT} own before term rest",
        ],
    ),
    "action": (
        ("                accept;", "                reject;"),
        [(CHANGED, f"{OUT} own then accept")],
        [f"delete {OUT} own then reject", f"set {OUT} own then accept"],
    ),
    "policy": (
        ("import [ FIRST SECOND ]", "import SECOND"),
        [(MISSING, f"{GROUP} import FIRST")],
        [f"delete {GROUP} import", f"set {GROUP} import [ FIRST SECOND ]"],
    ),
    "chain of policies": (
        ("FIRST SECOND", "SECOND FIRST"),
        [(REORDERED, f"{GROUP} import SECOND")],
        [f"delete {GROUP} import", f"set {GROUP} import [ FIRST SECOND ]"],
    ),
    "element of a list": (
        ("direct aggregate", "direct"),
        [(MISSING, f"{OUT} own from protocol aggregate")],
        [f"set {OUT} own from protocol aggregate"],
    ),
    "one of several statements in a line": (
        (" no-loss", ""),
        [(MISSING, "class-of-service forwarding-classes class NO-LOSS no-loss")],
        ["set class-of-service forwarding-classes class NO-LOSS no-loss"],
    ),
    "no password": (
        ('    root-authentication {\n        encrypted-password "${ADMIN_PASSWORD_HASH}";\n    }\n', ""),
        [(MISSING, "system root-authentication encrypted-password *")],
        ['set system root-authentication encrypted-password "${ADMIN_PASSWORD_HASH}"'],
    ),
}


def walked(node: Node, path: tuple[str, ...] = ()) -> list[str]:
    """`set` lines of a tree."""
    if not node:
        return [f"set {' '.join(path)}"]
    return [line for word, child in node.items() for line in walked(child, (*path, quoted(word)))]


def quoted(word: str) -> str:
    return word if re.fullmatch(r'[^\s;{}\[\]"#]+', word) else f'"{word}"'


def tree(*texts: str) -> Node:
    config = Config()
    for text in texts:
        read_text(config, FILE, text)
    config.settle()
    return config.root


def hashed(text: str) -> str:
    """With the passwords as Junos keeps them."""
    text = re.sub(r'encrypted-password "[^"]*";', 'encrypted-password "$6$salt$hash"; ## SECRET-DATA', text)
    return re.sub(r'(authentication|privacy)-password "[^"]*";', r'\1-key "$9$abc"; ## SECRET-DATA', text)


def braces(text: str) -> str:
    """`show configuration`: a header, sections in another order, hashes, no quotes around a word, `then accept;`."""
    text = re.sub(r'description "(\S+)";', r"description \1;", hashed(text))
    sections = re.findall(r"^\S[^\n]*\{\n.*?^\}\n", text, re.MULTILINE | re.DOTALL)
    shown = re.sub(r"then \{\n\s+(\S+);\n\s+\}", r"then \1;", "".join(sorted(sections)))
    several = "class NO-LOSS {\n            queue-num 3;\n            pfc-priority 3;\n            no-loss;\n        }"
    return HEADER + shown.replace("class NO-LOSS queue-num 3 no-loss pfc-priority 3;", several)


def set_lines(text: str) -> str:
    """`show configuration | display set`."""
    return "\n".join(["set version 23.4R2-EVO", *sorted(walked(tree(hashed(text))), key=lambda line: line.split()[1])])


def prompt(text: str) -> str:
    """What a terminal shows around a config."""
    return f"admin@leaf001> show configuration | no-more\n{braces(text)}\n{{master}}\nadmin@leaf001> "


def other_layout(text: str) -> str:
    """With comments over several lines, and without line ends that mean nothing."""
    return "/* maintained by\n * a tool */\n" + re.sub(r"\{\n\s+", "{ ", hashed(text))


def oxidized(text: str) -> str:
    """Passwords hidden by Oxidized."""
    return "# hostname leaf001\n" + re.sub(r'(-password) "[^"]*";', r"\1 <secret hidden>;", text)


def rancid(text: str) -> str:
    """Lines with a password as comments, as RANCID writes them."""
    return "# RANCID-CONTENT-TYPE: juniper\n" + re.sub(r'(?m)^(.*-password) "[^"]*";', r"#\1 <removed>; ## SECRET-DATA", text)


LAYOUTS: Mapping[str, Callable[[str], str]] = {
    "braces": braces,
    "set": set_lines,
    "prompt": prompt,
    "other": other_layout,
    "oxidized": oxidized,
    "rancid": rancid,
    "line ends": lambda text: text.replace("\n", "\r\n"),
}


def sampled() -> list[Switch]:
    return [switch for shape in SHAPES_READ for switch in samples("junos", shape)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layouts_of_a_running_config_are_equal_to_the_plan(layout: str) -> None:
    for planned in [PLANNED, *(text for switch in sampled() for text in switch.files.values())]:
        assert statement_differences("junos", {FILE: planned}, {"leaf001.cfg": LAYOUTS[layout](planned)}) == []


@pytest.mark.parametrize("layout", ["braces", "set", "other"])
@pytest.mark.parametrize("case", EDITS)
def test_an_edit_is_found_in_every_layout(case: str, layout: str) -> None:
    (old, new), expected, commands = EDITS[case]
    assert old in PLANNED
    edited = PLANNED.replace(old, new, 1)
    if "inactive" in case and layout != "braces":
        return  # the tree of the reader leaves it out
    planned, running = {FILE: PLANNED}, {FILE: LAYOUTS[layout](edited)}
    differences = statement_differences("junos", planned, running)
    assert sorted((one.kind, SYNTAX.joined(one.path)) for one in differences) == sorted(expected)
    lines = [line for change in commands_back("junos", planned, running, differences) for line in change.lines]
    assert lines == commands


def test_deactivated_lines_have_no_effect() -> None:
    lines = set_lines(PLANNED) + f"\ndeactivate {GROUP} neighbor 10.0.0.2\ndeactivate system host-name\n"
    differences = statement_differences("junos", {FILE: PLANNED}, {FILE: lines})
    assert {(one.kind, SYNTAX.joined(one.path)) for one in differences if not one.label} == {
        (MISSING, f"{GROUP} neighbor 10.0.0.2 peer-as 65001"),
        (MISSING, "system host-name leaf001"),
    }


def test_texts_for_people_and_inactive_additions_are_warnings() -> None:
    edited = PLANNED.replace("to spine001", "to spine002").replace("        mtu", "        inactive: disable;\n        mtu")
    differences = statement_differences("junos", {FILE: PLANNED}, {FILE: edited})
    assert [(one.kind, one.label) for one in differences] == [(CHANGED, True), (EXTRA, True)]


def test_the_commands_make_the_planned_config_of_a_damaged_one() -> None:
    """As typed: `set` and `delete` follow the running config, `insert` moves a term."""
    for switch in sampled():
        planned = SYNTAX.read(switch.files)
        ((file, _),) = switch.files.items()
        for damage in random.Random(switch.view.device.name).sample(list(damages(switch)), 8):
            running = {file: damage.text}
            differences = statement_differences("junos", switch.files, running)
            changes = commands_back("junos", switch.files, running, differences)
            lines = [line for change in changes for line in change.lines]
            after = SYNTAX.read({file: "\n".join(walked(typed(damage.text, lines)))})
            assert compare(SYNTAX, planned, after) == [], (damage.kind, damage.what, lines)


def replacing(line: str) -> list[str]:
    """A `set` of one value takes the place of another, which the tree of the reader does not know."""
    words = tuple(re.findall(r'"[^"]*"|\S+', line))[1:]
    if line.startswith("delete ") or "[" in words or hierarchy().name(words) != words[:-1]:
        return [line]
    return [f"delete {' '.join(words[:-1])}", line] if one_value(hierarchy().tree([words])) else [line]


def one_value(node: Statement) -> bool:
    return node.kind == VALUE or any(map(one_value, node.below.values()))


def typed(text: str, commands: list[str]) -> Node:
    """The config of a switch after commands."""
    shown = [text.replace("inactive: ", "")] if any(line.startswith("activate ") for line in commands) else [text]
    root = tree(*shown, *(other for line in commands if line.startswith(("set ", "delete ")) for other in replacing(line)))
    for line in commands:
        assert shlex.split(line)[0] in ("set", "delete", "insert", "activate")
        assert " *" not in line.replace(") .*", "")
        if line.startswith("insert "):
            *path, moved, _, _, following = line.split()[1:]
            node = root.at(*path)
            names = [name for name in node if name != moved]
            names.insert(names.index(following), moved)
            children = dict(node)
            node.clear()
            node.update({name: children[name] for name in names})
    return root


@pytest.mark.parametrize(("kind", "number"), [("mac-vrf", 0), ("virtual-switch", 1)])
def test_a_mac_vrf_extends_its_vnis(kind: str, number: int, tmp_path: Path) -> None:
    lines = (f"instance-type {kind}", "vtep-source-interface lo0.0", "vlans red vlan-id 10", "vlans red vxlan vni 10")
    text = "".join(f"set routing-instances A {line}\n" for line in lines)
    (tmp_path / "leaf1.set").write_text("set system host-name leaf1\n" + text)
    found = check_folder(scan(tmp_path)).findings
    assert len([one for one in found if one.id == "FAB2506"]) == number
