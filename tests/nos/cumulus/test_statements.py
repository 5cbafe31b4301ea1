"""Statements of NVUE: the layouts of `nv config show`, edits of it, and the patch back to the plan."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml

from fabric.audit.checks import statement_differences, syntax_of
from fabric.audit.checks.statements import remediation
from fabric.audit.drift.devices import commands_back
from fabric.nos.cumulus.statements import nvue_tree
from fabric.nos.cumulus.write.tree import dump
from fabric.nos.reading.readers import recognize
from fabric.nos.statements.compare import CHANGED, EXTRA, MISSING, compare
from tests.audit.checks.damage import damages
from tests.audit.checks.shapes import Switch, samples

FILE = "startup.yaml"
SYNTAX = syntax_of("cumulus")
SHAPES_READ = ("evpn", "filters", "unnumbered")
HEADER = {"model": "SN4700", "nvue-api-version": "nvue_v1", "rev-id": 1.0, "version": "Cumulus Linux 5.15.0"}
PLANNED = """- set:
    acl:
      TENANT:
        rule:
          '10':
            action:
              permit: {}
            match:
              ip:
                dest-ip: 10.128.0.8/29
        type: ipv4
    interface:
      swp1:
        description: 'gpu-0001 compute1'
        link:
          mtu: 9216
          state:
            up: {}
        type: swp
      swp2:
        link:
          mtu: 9216
          state:
            up: {}
        type: swp
      vlan100:
        ipv4:
          address:
            10.20.0.254/24: {}
        type: svi
        vlan: 100
    router:
      policy:
        prefix-list:
          PL-FABRIC:
            rule:
              '10':
                action: permit
                match:
                  10.0.0.0/15:
                    min-prefix-len: 32
            type: ipv4
    system:
      aaa:
        user:
          cumulus:
            hashed-password: '${ADMIN_PASSWORD_HASH}'
      global:
        fabric-mac: '00:00:5e:00:01:0a'
      hostname: leaf001
      ntp:
        server:
          192.0.2.10:
            iburst: 'on'
    vrf:
      default:
        router:
          bgp:
            neighbor:
              swp1:
                peer-group: FABRIC
                type: unnumbered
            peer-group:
              FABRIC:
                remote-as: external
"""
# Edit of the text above → kind and statement of the differences.
EDITS: Mapping[str, tuple[tuple[str, str], list[tuple[str, str]]]] = {
    "value": (("mtu: 9216", "mtu: 1500"), [(CHANGED, "interface swp1 link mtu 9216")]),
    "state": (("up: {}", "down: {}"), [(CHANGED, "interface swp1 link state up")]),
    "action": (("permit: {}", "deny: {}"), [(CHANGED, "acl TENANT rule 10 action permit")]),
    "prefix": (
        ("10.0.0.0/15:", "10.0.0.0/16:"),
        [(CHANGED, "router policy prefix-list PL-FABRIC rule 10 match 10.0.0.0/15 min-prefix-len 32")],
    ),
    "peer group": (
        ("peer-group: FABRIC", "peer-group: OTHER"),
        [(CHANGED, "vrf default router bgp neighbor swp1 peer-group FABRIC")],
    ),
    "leaf": (
        ("                remote-as: external\n", ""),
        [(MISSING, "vrf default router bgp peer-group FABRIC remote-as external")],
    ),
    "section": (
        ("                  10.0.0.0/15:\n                    min-prefix-len: 32\n", "                  10.0.0.0/15: {}\n"),
        [(MISSING, "router policy prefix-list PL-FABRIC rule 10 match 10.0.0.0/15 min-prefix-len 32")],
    ),
    "extra": (
        ("      vlan100:\n", "      swp3:\n        link:\n          state:\n            down: {}\n      vlan100:\n"),
        [(EXTRA, "interface swp3 link state down")],
    ),
    "shutdown": (
        ("                type: unnumbered\n", "                shutdown: 'on'\n                type: unnumbered\n"),
        [(EXTRA, "vrf default router bgp neighbor swp1 shutdown on")],
    ),
}


def hashed(text: str) -> str:
    """With the passwords as NVUE keeps them."""
    text = text.replace("'${ADMIN_PASSWORD_HASH}'", "$6$salt$hash")
    return text.replace("'${SNMP_AUTH_KEY}'", "$nvsec$abc").replace("'${SNMP_PRIV_KEY}'", "$nvsec$def")


def document(text: str, **layout: Any) -> str:
    """As another YAML writer prints it, with NVUE's header. The plain loader leaves every word as it stands."""
    (part,) = yaml.load(hashed(text), yaml.BaseLoader)
    return yaml.dump([{"header": HEADER}, part], **layout)


def commands(text: str) -> str:
    """`nv config show -o commands`."""
    (part,) = yaml.load(hashed(text), yaml.BaseLoader)
    return "".join(f"nv set {line}\n" for line in leaves(part["set"]))


def leaves(tree: Any) -> Iterator[str]:
    if not isinstance(tree, dict):
        yield json.dumps(tree) if " " in tree else tree
        return
    if not tree:
        yield ""
    for key, value in tree.items():
        yield from (f"{key} {line}".rstrip() for line in leaves(value))


def ranges(text: str) -> str:
    """Interfaces with the same settings under one key, as releases of 2025 print them."""
    (part,) = yaml.load(hashed(text), yaml.BaseLoader)
    tree = part["set"]
    ports = {name: value for name, value in tree["interface"].items() if name.startswith("swp") and name[3:].isdigit()}
    groups: dict[str, list[str]] = {}
    for name, value in ports.items():
        for key, branch in value.items():
            groups.setdefault(json.dumps({key: branch}), []).append(name)
    tree["interface"] = {name: value for name, value in tree["interface"].items() if name not in ports}
    for branch, names in groups.items():
        key = "swp" + ",".join(runs([int(name[3:]) for name in names]))
        tree["interface"].setdefault(key, {}).update(json.loads(branch))
    return "- header:\n    model: SN4700\n- set:\n" + dump(tree, 2)


def runs(numbers: list[int]) -> Iterator[str]:
    """`1,2,3,5` as `1-3,5`."""
    first = last = numbers[0]
    for number in [*numbers[1:], -1]:
        if number != last + 1:
            yield str(first) if first == last else f"{first}-{last}"
            first = number
        last = number


LAYOUTS: Mapping[str, Callable[[str], str]] = {
    "another order": lambda text: document(text, sort_keys=False, width=60),
    "braces": lambda text: document(text, default_flow_style=True),
    "quotes": lambda text: document(text, default_style='"'),
    "JSON": lambda text: json.dumps(yaml.safe_load(document(text)), indent=2),
    "commands": commands,
    "ranges": ranges,
    "words of YAML 1.1": lambda text: (
        hashed(text).replace("iburst: 'on'", "iburst: true").replace("5e:00:01:0a", "5E:00:01:0A")
    ),
    "line ends": lambda text: text.replace("\n", "\r\n"),
}


def sampled() -> list[Switch]:
    return [switch for shape in SHAPES_READ for switch in samples("cumulus", shape)]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_network_os_of_a_collected_file_is_known(layout: str) -> None:
    assert recognize("leaf001.txt", LAYOUTS[layout](PLANNED)).nos == "cumulus"


def differences(planned: str, running: str) -> list[tuple[str, str]]:
    return [
        (one.kind, SYNTAX.joined(one.path))
        for one in statement_differences("cumulus", {FILE: planned}, {"leaf001.yaml": running})
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layouts_of_a_running_config_are_equal_to_the_plan(layout: str) -> None:
    for planned in [PLANNED, *(text for switch in sampled()[::2] for text in switch.files.values())]:
        assert differences(planned, LAYOUTS[layout](planned)) == []


@pytest.mark.parametrize("layout", ["another order", "commands", "ranges"])
@pytest.mark.parametrize("case", EDITS)
def test_an_edit_is_found_in_every_layout(case: str, layout: str) -> None:
    (old, new), expected = EDITS[case]
    assert old in PLANNED
    assert differences(PLANNED, LAYOUTS[layout](PLANNED.replace(old, new, 1))) == expected


def test_a_remediation_can_be_typed() -> None:
    running = PLANNED.replace("        description: 'gpu-0001 compute1'\n", "").replace(
        "            10.20.0.254/24: {}\n", ""
    )
    missing = statement_differences("cumulus", {FILE: PLANNED}, {FILE: running})
    assert [remediation(SYNTAX, one) for one in missing] == [
        "add `nv set interface swp1 description 'gpu-0001 compute1'`",
        "add `nv set interface vlan100 ipv4 address 10.20.0.254/24`",
    ]


def test_a_key_below_a_secret_is_set() -> None:
    keys = "                '${AUTH}':\n                  encrypt-aes:\n                    '${PRIV}': {}\n"
    user = "      snmp-server:\n        username:\n          monitoring:\n            auth-sha:\n" + keys
    planned = PLANNED.replace("      ntp:\n", user + "      ntp:\n")
    running = planned.replace("${AUTH}", "$nvsec$1").replace("${PRIV}", "$nvsec$2")
    assert differences(planned, running) == []
    running = running.replace("                  encrypt-aes:\n                    '$nvsec$2': {}\n", "")
    found = statement_differences("cumulus", {FILE: planned}, {FILE: running})
    lines = [line for change in commands_back("cumulus", {FILE: planned}, {FILE: running}, found) for line in change.lines]
    assert [line.strip() for line in lines[-3:]] == ["'${AUTH}':", "encrypt-aes:", "'${PRIV}': {}"]


def test_texts_for_people_are_warnings() -> None:
    edited = PLANNED.replace("gpu-0001 compute1", "a server")
    labels = [one.label for one in statement_differences("cumulus", {FILE: PLANNED}, {FILE: edited})]
    assert labels == [True]


def test_every_value_of_our_files_pairs_with_another_value() -> None:
    for switch in sampled():
        for text in switch.files.values():
            (part,) = yaml.load(text, yaml.BaseLoader)
            assert [path for path in scalars(part["set"]) if SYNTAX.key(path) is None] == []


def scalars(tree: Any, path: tuple[str, ...] = (FILE,)) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from scalars(value, (*path, key))
    elif tree:
        yield (*path, tree)


@pytest.mark.parametrize("layout", [hashed, ranges])
def test_the_patch_makes_the_planned_config_of_a_damaged_one(layout: Callable[[str], str]) -> None:
    for switch in sampled()[::2]:
        planned = SYNTAX.read(switch.files)
        ((file, text),) = switch.files.items()
        for damage in random.Random(switch.view.device.name).sample(list(damages(switch)), 5):
            if not unambiguous(damage.text):
                continue
            running = {file: layout(damage.text)}
            found = statement_differences("cumulus", switch.files, running)
            changes = commands_back("cumulus", {file: text}, running, found)
            patch = yaml.safe_load("\n".join(line for change in changes for line in change.lines)) or []
            after = SYNTAX.read({file: "- set:\n" + dump(patched(dict(nvue_tree(running[file])), patch), 2)})
            assert compare(SYNTAX, planned, after) == [], (damage.kind, damage.what, patch)


def unambiguous(text: str) -> bool:
    """Whether it is YAML without a key that is there twice."""
    try:
        tree = nvue_tree(text)
    except ValueError:
        return False
    return bool(tree) and len(dump(tree, 2).splitlines()) == len(text.strip().splitlines()) - text.count("#", 0, 3) - 1


def patched(tree: dict[str, Any], patch: list[dict[str, Any]]) -> dict[str, Any]:
    for part in patch:
        for word, branch in part.items():
            (unset if word == "unset" else put)(tree, branch)
    return tree


def unset(tree: dict[str, Any], branch: Mapping[str, Any]) -> None:
    for key, value in branch.items():
        if value and isinstance(tree.get(key), dict):
            unset(tree[key], value)
        else:
            tree.pop(key, None)


def put(tree: dict[str, Any], branch: Mapping[str, Any]) -> None:
    for key, value in branch.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            put(tree[key], value)
        else:
            tree[key] = value
