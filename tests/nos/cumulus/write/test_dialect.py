"""One neutral tree, two spellings: the words, the places, and that neither leaks into the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from fabric.model.plan import SwitchView
from fabric.nos.cumulus.target import TARGET
from fabric.nos.cumulus.write.switch import tree
from fabric.nos.cumulus.write.tree import ENABLE, Tree, release, release_refusal, spelled
from fabric.nos.target import CannotRender
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view

VIEWS = {
    **{
        f"{style}-{name}": view(name, replace(STYLES[style], nos="cumulus"))
        for style in STYLES
        for name in ("leaf1", "spine1")
    },
    **{
        f"{kind}-{name}": rich(name, kind, "cumulus")
        for kind in ("qos", "evpn", "vrf-lite", "acl")
        for name in ("leaf1", "leaf2", "spine1")
    },
    **{f"evpn-unnumbered-{name}": rich(name, "evpn", "cumulus", "unnumbered") for name in ("leaf1", "leaf2", "spine1")},
}
every_view = pytest.mark.parametrize("own", VIEWS.values(), ids=list(VIEWS))


def paths(branch: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in branch.items():
        path = f"{above}/{key}"
        yield path, value
        if isinstance(value, Mapping):
            yield from paths(value, path)


@pytest.mark.parametrize(
    ("text", "number"), [("", (5, 15)), ("5.13", (5, 13)), ("5.14.0", (5, 14, 0)), ("5.15.1", (5, 15, 1)), ("5.20", (5, 20))]
)
def test_releases(text: str, number: tuple[int, ...]) -> None:
    assert release(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5.12", "expected 5.13 to 5.x, whose NVUE speaks one of the two dialects known here, got 5.12"),
        ("4.4", "expected 5.13 to 5.x, whose NVUE speaks one of the two dialects known here, got 4.4"),
        ("6.0", "expected 5.13 to 5.x, whose NVUE speaks one of the two dialects known here, got 6.0"),
        ("five", "expected a release of Cumulus Linux such as 5.15, got 'five'"),
        ("5", "expected a release of Cumulus Linux such as 5.15, got '5'"),
    ],
)
def test_other_releases_are_refused(text: str, message: str) -> None:
    assert TARGET.release_refusal(text) == message
    with pytest.raises(CannotRender, match=f"^release of Cumulus Linux: {message}"):
        release(text)


@pytest.mark.parametrize("text", ["", *TARGET.releases, "5.13.1", "5.99"])
def test_known_releases_are_not_refused(text: str) -> None:
    assert release_refusal(text) is None


@pytest.mark.parametrize(
    ("neutral", "older", "newer"),
    [
        ({"evpn": {ENABLE: True}}, {"evpn": {"enable": "on"}}, {"evpn": {"state": "enabled"}}),
        ({"nve": {"arp-nd-suppress": False}}, {"nve": {"arp-nd-suppress": "off"}}, {"nve": {"arp-nd-suppress": "disabled"}}),
        (
            {"interface": {"swp1": {"ipv4": {"address": {"10.0.0.0/31": {}}}, "vrf": "red"}}},
            {"interface": {"swp1": {"ip": {"address": {"10.0.0.0/31": {}}, "vrf": "red"}}}},
            {"interface": {"swp1": {"ipv4": {"address": {"10.0.0.0/31": {}}}, "vrf": "red"}}},
        ),
        (
            {"interface": {"lo": {"ipv4": {"address": {"10.0.0.1/32": {}}}, "ipv6": {"address": {"fd00::1/128": {}}}}}},
            {"interface": {"lo": {"ip": {"address": {"10.0.0.1/32": {}, "fd00::1/128": {}}}}}},
            {"interface": {"lo": {"ipv4": {"address": {"10.0.0.1/32": {}}}, "ipv6": {"address": {"fd00::1/128": {}}}}}},
        ),
        (
            {"interface": {"vlan9": {"ipv4": {"vrr": {ENABLE: True, "vrr-state": {"up": {}}}}}}},
            {"interface": {"vlan9": {"ip": {"vrr": {"enable": "on", "state": {"up": {}}}}}}},
            {"interface": {"vlan9": {"ipv4": {"vrr": {"state": "enabled", "vrr-state": {"up": {}}}}}}},
        ),
        (
            {"interface": {"eth0": {"ipv4": {"address": {"dhcp": {}}, "dhcp-client": {ENABLE: True}}}}},
            {"interface": {"eth0": {"ip": {"address": {"dhcp": {}}}}}},
            {"interface": {"eth0": {"ipv4": {"dhcp-client": {"state": "enabled"}}}}},
        ),
        (
            {
                "system": {
                    "ntp": {"server": {"a": {"iburst": True}}, "vrf": "mgmt"},
                    "dns": {"server": {"b": {"vrf": "mgmt"}}},
                }
            },
            {"service": {"ntp": {"mgmt": {"server": {"a": {"iburst": "on"}}}}, "dns": {"mgmt": {"server": {"b": {}}}}}},
            {
                "system": {
                    "ntp": {"server": {"a": {"iburst": "enabled"}}, "vrf": "mgmt"},
                    "dns": {"server": {"b": {"vrf": "mgmt"}}},
                }
            },
        ),
        (
            {"system": {"ssh-server": {"state": "enabled"}}},
            {"system": {"ssh-server": {"state": "enabled"}}},
            {"system": {"ssh-server": {"state": "enabled"}}},
        ),
    ],
)
def test_words_and_places(neutral: Tree, older: Tree, newer: Tree) -> None:
    assert spelled(neutral, (5, 14), "mgmt") == older
    assert spelled(neutral, (5, 15), "mgmt") == newer


def test_the_neutral_tree_is_left_as_it_is() -> None:
    neutral = {"interface": {"eth0": {"vrf": "mgmt", "ipv4": {"address": {"dhcp": {}}}}}}
    spelled(neutral, (5, 14), "mgmt")
    assert neutral == {"interface": {"eth0": {"vrf": "mgmt", "ipv4": {"address": {"dhcp": {}}}}}}


@pytest.mark.parametrize(("text", "place"), [("5.15", "timezone"), ("5.16", "date-time")])
def test_the_time_zone_moved_later(text: str, place: str) -> None:
    own = view("leaf1", STYLES["ipv4"])
    own = replace(own, release=text, management=replace(own.management, timezone="Europe/Berlin"))
    assert tree(own)["system"][place] in ("Europe/Berlin", {"timezone": "Europe/Berlin"})


@pytest.mark.parametrize("text", ["5.13", "5.14", "5.15", "5.16"])
def test_saving_was_renamed_before_the_rest(text: str) -> None:
    own = replace(view("leaf1", STYLES["ipv4"]), release=text)
    assert tree(own)["system"]["config"] == {"auto-save": {"state": "enabled"}}


@every_view
def test_no_word_of_the_newer_dialect_before_5_15(own: SwitchView) -> None:
    found = dict(paths(tree(replace(own, release="5.14"))))
    # The services always reported `state`, saving since 5.10, and ECN, PFC and the watchdog have words of their own.
    services = ("/ssh-server/state", "/api/state", "/snmp-server/state", "/gnmi-server/state", "/auto-save/state")
    assert [path for path, value in found.items() if value == "enabled" and not path.endswith(services)] == []
    assert [path for path in found if "/ipv4/" in path or "/ipv6/" in path or ENABLE in path] == []
    assert [path for path in found if path.startswith(("/router/bfd", "/system/ntp", "/system/dns"))] == []


@every_view
def test_no_word_of_the_older_dialect_from_5_15(own: SwitchView) -> None:
    found = dict(paths(tree(own)))
    assert [path for path, value in found.items() if value in ("on", "off") or path.endswith("/enable")] == []
    assert [path for path in found if path.startswith(("/service", "/interface/swp1/ip/")) or ENABLE in path] == []
    assert [path for path, value in found.items() if isinstance(value, bool)] == []


@every_view
def test_both_dialects_say_the_same(own: SwitchView) -> None:
    """Words aside, they differ in names of branches only: as many addresses, sessions, prefix lists and profiles."""
    older, newer = (tree(replace(own, release=text)) for text in ("5.14", "5.15"))
    assert sorted(older["interface"]) == sorted(newer["interface"])
    for branch in ("acl", "qos"):
        assert sorted(older.get(branch, {})) == sorted(newer.get(branch, {}))
    assert older["router"]["policy"] == newer["router"]["policy"]
    for vrf in newer["vrf"]:
        assert sorted(older["vrf"][vrf]["router"]["bgp"]) == sorted(
            {"enable" if key == "state" else key for key in newer["vrf"][vrf]["router"]["bgp"]}
        )
