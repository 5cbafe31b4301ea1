"""The gnmic configuration: its documented keys, and paths by the grammar of the gNMI specification."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any, get_args

import pytest
import yaml

from fabric.deliver.export.gnmi import LOSSLESS, Topic, gnmi, telemetry
from fabric.nos.target import target, target_names
from tests.deliver.export.plans import DESIGNS, plan
from tests.goldens import golden

# https://gnmic.openconfig.net: keys of a target and of a subscription that are used here.
TARGET = {"address", "subscriptions", "event-tags"}
SUBSCRIPTION = {"target", "paths", "mode", "stream-mode", "sample-interval"}
MODELS = {"interfaces", "qos", "components", "network-instances"}
SITES = ["ai-sonic", "ai-eos", "ai-nxos", "ai-junos", "ai-cumulus", "ai-frr"]


def parse(path: str) -> tuple[str, list[tuple[str, dict[str, str]]]]:
    """(origin, [(element, {key: value})]) of a path, by gnmi-path-strings.md; ValueError for what is none."""
    origin, rest = "", path
    if match := re.match(r"([a-z][a-z0-9_-]*):(/.*)", path):
        origin, rest = match.groups()
    elements: list[tuple[str, dict[str, str]]] = []
    name, keys, at = "", {}, 1 if rest.startswith("/") else 0
    while at <= len(rest):
        sign = rest[at] if at < len(rest) else "/"
        if sign == "/":
            if not re.fullmatch(r"[A-Za-z_*][A-Za-z0-9_.*-]*", name):
                raise ValueError(f"{path!r}: {name!r} is no element")
            elements.append((name, keys))
            name, keys, at = "", {}, at + 1
        elif sign == "[":
            match = re.compile(r"\[([A-Za-z_][A-Za-z0-9_.-]*)=([^\]\\]+)\]").match(rest, at)
            if match is None or not name or match[1] in keys:
                raise ValueError(f"{path!r}: bad key at {at}")
            keys[match[1]], at = match[2], match.end()
        else:
            name, at = name + sign, at + 1
    return origin, elements


@pytest.mark.parametrize("path", ["", "/", "/a//b", "/a[x]", "/a[=y]", "/[x=y]", "/a[x=y", "/a[x=y][x=z]", "/a b", "/a/"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ValueError, match=r"is no element|bad key"):
        parse(path)


def test_a_path() -> None:
    assert parse("openconfig:/a/b[k=1/1][l=*]/c") == ("openconfig", [("a", {}), ("b", {"k": "1/1", "l": "*"}), ("c", {})])


def read(design: str) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(gnmi(plan(design)))
    return made


@pytest.mark.parametrize("nos", [nos for nos in target_names() if target(nos).telemetry])
def test_every_topic_has_a_path_or_says_why_not_and_a_source(nos: str) -> None:
    found = telemetry(nos)
    assert found is not None
    assert sorted(found.topics) == sorted(get_args(Topic))
    for topic, paths in found.topics.items():
        messages = [bool(paths.paths), bool(paths.missing), paths.within is not None]
        assert sum(messages) == 1, topic
        assert bool(paths.source) != bool(paths.missing), topic
        if paths.within is not None:
            assert found.topics[paths.within].paths
        for path in paths.paths:
            origin, elements = parse(path)
            assert (origin in ("", "openconfig") and elements[0][0] in MODELS) or paths.target in ("COUNTERS_DB", "STATE_DB")
            assert all(keys or name not in ("interface", "queue", "neighbor", "component") for name, keys in elements)


@pytest.mark.parametrize("design", [*DESIGNS, *SITES])
def test_every_switch_with_gnmi_is_a_target_of_known_subscriptions(design: str) -> None:
    made, config = plan(design), read(design)
    assert set(config) == {
        *(
            "username",
            "password",
            "tls-ca",
            "tls-cert",
            "tls-key",
            "encoding",
            "targets",
            "subscriptions",
            "outputs",
            "api-server",
        )
    }
    with_gnmi = [d for fabric in made.fabrics.values() for d in fabric.switches if telemetry(d.nos) is not None]
    assert list(config["targets"]) == [device.name for device in with_gnmi]
    used: set[str] = set()
    for device in with_gnmi:
        entry = config["targets"][device.name]
        assert set(entry) == TARGET
        host, _, port = entry["address"].rpartition(":")
        assert ip_address(host.strip("[]"))
        assert 0 < int(port) < 65536
        assert all(name.startswith(f"{device.nos}-") for name in entry["subscriptions"])
        used |= set(entry["subscriptions"])
    assert used == set(config["subscriptions"])
    for subscription in config["subscriptions"].values():
        assert set(subscription) <= SUBSCRIPTION
        assert (subscription["mode"], subscription["stream-mode"]) == ("stream", "sample")
        assert re.fullmatch(r"[1-9][0-9]*s", subscription["sample-interval"])
        assert all(parse(path) for path in subscription["paths"])


def test_priority_pauses_are_asked_for_where_roce_runs_alone() -> None:
    targets = read("ai-sonic")["targets"]
    lossless = {f"sonic-{topic}" for topic in LOSSLESS}
    assert {"sonic-pfc", "sonic-buffers"} <= set(targets["backend-leaf001"]["subscriptions"])
    assert not lossless & set(targets["frontend-leaf001"]["subscriptions"])


def test_every_network_os_with_gnmi_is_described() -> None:
    for nos in target_names():
        if target(nos).capabilities.gnmi:
            assert telemetry(nos) is not None, nos


@pytest.mark.parametrize("nos", ["sonic", "eos", "junos"])
def test_the_port_is_the_one_that_the_switch_listens_on(nos: str) -> None:
    from fabric.nos.eos.write.switch import GNMI_PORT as EOS
    from fabric.nos.junos.write.switch import GNMI_PORT as JUNOS
    from fabric.nos.sonic.write.switch import GNMI_PORT as SONIC

    found = telemetry(nos)
    assert found is not None
    assert found.port == {"sonic": SONIC, "eos": EOS, "junos": JUNOS}[nos]


def test_what_is_not_streamed_is_reported() -> None:
    text = gnmi(plan("ai-nxos"))
    assert "# nxos: pfc: no documented path" in text
    assert "# frr: no gNMI, left out" in gnmi(plan("ai-frr"))


def test_golden() -> None:
    golden("export/gnmi/ai-sonic.yaml", gnmi(plan("ai-sonic")))
    golden("export/gnmi/h100-4su.yaml", gnmi(plan("h100-4su")))
