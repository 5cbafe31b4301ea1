"""Intents within the language's limits are planned or refused at once, and hints name numbers that fit."""

from __future__ import annotations

import re

import pytest

from fabric.base.diagnostics import InputError, nearest
from tests.cost import calls, peak_bytes
from tests.design.planner.helpers import make, summarize

HEAD = "version: 1\nsite: dc1\nfabrics:\n  backend:\n"


def fabric(servers: str, topology: str, more: str = "") -> str:
    return f"{HEAD}    servers: {servers}\n    topology: {topology}\n{more}"


LARGE = {
    "unit": fabric("{model: dgx-h100, count: 8}", "{switch: sn5600, unit: {servers: 10000000}}"),
    "unit of a group": fabric("{model: dgx-h100, count: 8, unit: {servers: 338630}}", "{switch: sn5600}"),
    "unit of a pair": fabric("{model: dgx-h100, count: 8}", "{kind: collapsed, switch: sn5600, unit: {servers: 10000000}}"),
    "racks": fabric("{model: dgx-h100, count: 10000000, per_rack: 9999999}", "{kind: rack, switch: sn5600}"),
    "pods": fabric("{model: dgx-h100, count: 10000000}", "{switch: sn5600, unit: {servers: 1}, tiers: 3, pods: {count: 3}}"),
    "uplinks": fabric("{model: dgx-h100, count: 8}", "{switch: sn5600, leaf: {uplinks: {count: 9999999}}}"),
    "spines": fabric("{model: dgx-h100, count: 64}", "{switch: sn5600, spine: {count: 9999999}}"),
    "cores": fabric("{model: dgx-h100, count: 64}", "{switch: sn5600, tiers: 3, core: {count: 9999999}}"),
    "servers": fabric("{model: dgx-h100, count: 10000000}", "{switch: 1024x800g}", "    underlay: {addressing: ipv6}\n"),
    "links": fabric("{model: dgx-h100, count: 8}", "{switch: sn5600, attachments: [{name: x, links: 10000000}]}"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_number_is_refused_at_once(name: str) -> None:
    refused: list[InputError] = []

    def attempt() -> None:
        try:
            make(LARGE[name])
        except InputError as error:
            refused.append(error)

    assert calls(attempt) < 1_000_000  # 220,000 at most
    assert peak_bytes(attempt) < 50e6
    assert refused
    assert all(item.place.line > 4 for error in refused for item in error.diagnostics)


def test_room_for_ten_million_servers_takes_no_memory() -> None:
    text = fabric(
        "{model: dgx-h100, count: 8}",
        "{switch: sn5600, unit: {servers: 8}, attachments: [{name: ufm, links: 2}]}",
        "    planned: {servers: 10000000, uplinks: recable}\n",
    )
    plans = []
    assert peak_bytes(lambda: plans.append(make(text))) < 50e6
    assert len(plans[0].fabrics["backend"].links) > 0


def test_the_hint_of_too_large_a_unit_fits() -> None:
    text = "{{switch: sn5600, unit: {{servers: {}}}}}"
    summarize(fabric("{model: dgx-h100, count: 8}", text.format(64)))
    for servers in (65, 10_000_000):
        with pytest.raises(InputError, match="64 servers on a leaf would fit"):
            summarize(fabric("{model: dgx-h100, count: 8}", text.format(servers)))


TWO_GROUPS = "[{model: dgx-h100, count: 4, name: a}, {model: dgx-h100, count: 2, name: b}]"


def test_pods_are_counted_over_all_groups() -> None:
    """Groups of two units and one: pods of one unit make three of them, pods of two units make two."""
    made = summarize(fabric(TWO_GROUPS, "{switch: sn5600, unit: {servers: 2}, tiers: 3, pods: {count: 2}}"))
    assert made["backend"]["pods"]["count"] == 2
    with pytest.raises(InputError, match=r"got 4 pods\n.*nearest valid: 3"):
        summarize(fabric(TWO_GROUPS, "{switch: sn5600, unit: {servers: 2}, tiers: 3, pods: {count: 4}}"))


@pytest.mark.parametrize(("units", "count"), [(units, count) for units in (1, 2, 5, 6, 7) for count in range(1, 9)])
def test_the_number_of_pods_is_valid_or_the_hint_is(units: int, count: int) -> None:
    def counted(pods: int) -> int:
        shape = f"{{kind: rack, switch: sn5600, unit: {{servers: 1}}, tiers: 3, pods: {{count: {pods}}}}}"
        pods_made: int = summarize(fabric(f"{{model: dgx-h100, count: {units}}}", shape))["backend"]["pods"]["count"]
        return pods_made

    possible = {-(-units // size) for size in range(1, units + 1)}
    if count in possible:
        assert counted(count) == count
        return
    with pytest.raises(InputError) as caught:
        counted(count)
    hint = caught.value.diagnostics[0].hint
    below, above = [n for n in possible if n < count], [n for n in possible if n > count]
    assert hint == "nearest valid: " + " or ".join(
        map(str, [*([max(below)] if below else []), *([min(above)] if above else [])])
    )


PAIR = """
version: 1
site: dc1
catalog: {{servers: {{n: {{gpus: 0, nics: {{frontend: {{count: {nics}, ports: 2, speed_gbps: {speed}}}}}}}}}}}
fabrics:
  frontend:
    purpose: frontend
    servers: {{model: n, count: 6}}
    topology: {{kind: collapsed, switch: {switch}}}
"""


@pytest.mark.parametrize(
    "switch", ["qfx5130-32cd", "sn2201", "7050cx3-32s", "7050sx3-48yc8", "sn3700c", "s5248f-on", "32x400g"]
)
@pytest.mark.parametrize("speed", [25, 100])
@pytest.mark.parametrize("nics", [1, 2])
def test_the_default_unit_of_a_pair_fits_its_switches(switch: str, speed: int, nics: int) -> None:
    text = PAIR.format(switch=switch, speed=speed, nics=nics)
    try:
        made = summarize(text)["frontend"]
    except InputError as error:
        refused = str(error)
    else:
        assert made["servers"] == 6
        assert made["unit"]["servers"] >= 6
        return
    # The switch has no port of the NICs' speed, or too few ports for six servers.
    assert "needs ports of" in refused or re.search("a pair carries [1-5] server", refused), refused


NAMES = (
    "backend-leaf001",
    "backend-spine001",
    "backend-spine002",
    "backend-spine011",
    "qfx5240-64od",
    "qfx5240-64qd",
    "qfx5250",
)
TEMPLATES = (
    "eos/device.j2",
    "frr/frr.conf.j2",
    "junos/firewall.j2",
    "junos/interfaces.j2",
    "junos/policy.j2",
    "nxos/device.j2",
)


@pytest.mark.parametrize(
    ("word", "names", "hint"),
    [
        ("QFX5240", NAMES, "did you mean 'qfx5240-64od' or 'qfx5240-64qd'?"),
        ("qfx5251", NAMES, "did you mean 'qfx5250'?"),
        ("spine1", NAMES, "did you mean 'backend-spine001'?"),
        ("spine11", NAMES, "did you mean 'backend-spine011'?"),
        ("backend-spin001", NAMES, "did you mean 'backend-spine001'?"),
        ("server", ("server-leaf", "servers"), "did you mean 'servers'?"),
        ("eos/startup-config.j2", TEMPLATES, "did you mean 'eos/device.j2'?"),
        ("junos/x", TEMPLATES, "did you mean 'junos/firewall.j2' or 'junos/interfaces.j2' or 'junos/policy.j2'?"),
        ("x", ("b", "a"), "one of a, b"),
        ("", ("a",), "one of a"),
    ],
)
def test_what_a_wrong_name_may_mean(word: str, names: tuple[str, ...], hint: str) -> None:
    assert nearest(word, names) == hint
