"""The shipped catalog: every file fits its model, and says nothing that contradicts itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
import yaml

from fabric.hardware.catalog.models import PortGroup, ServerModel, SonicPlatform, SwitchModel

DATA = files("fabric.hardware.catalog") / "data"
NETWORK_OSES = {"sonic", "cumulus", "eos", "nxos", "junos", "frr"}
PURPOSES = {"compute", "storage", "frontend", "oob"}


class UniqueKeys(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys in silence; this one refuses them."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"{node.start_mark}: a key twice"
        return super().construct_mapping(node, deep)


def documents(kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """File stem, text and content of every YAML file of one kind."""
    for path in sorted((DATA / kind).iterdir(), key=lambda entry: entry.name):
        if path.name.endswith(".yaml"):
            text = path.read_text(encoding="utf-8")
            yield path.name.removesuffix(".yaml"), text, yaml.load(text, UniqueKeys)


def entries(kind: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, fields) for _, _, content in documents(kind) for name, fields in content.items()]


SWITCHES = entries("switches")
SERVERS = entries("servers")
SONIC = [(stem, content) for stem, _, content in documents("boards")]


# Splits that a source other than sonic-buildimage lists, so its platform.json has no breakout mode for them.
BEYOND_PLATFORM_JSON = {
    "ds3000": {"1x50", "2x50", "4x25", "4x10"},
    "ds4000": {"1x25", "1x10", "2x200", "8x50"},
    "s5232f-on": {"1x25", "1x10"},
    "z9332f-on": {"1x200", "1x40", "1x25", "1x10", "4x25", "4x10"},
}


def switch(fields: dict[str, Any]) -> SwitchModel:
    return SwitchModel.model_validate_json(json.dumps(fields))


def sonic(fields: dict[str, Any]) -> SonicPlatform:
    return SonicPlatform.model_validate_json(json.dumps(fields))


def ids(rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [name for name, _ in rows]


def forms(group: PortGroup) -> set[str]:
    """Every way a cage may run, the undivided one with them."""
    return {f"1x{group.speed_gbps}", *group.breakouts}


def lanes(text: str) -> list[int]:
    if "-" in text:
        first, last = text.split("-")
        return list(range(int(first), int(last) + 1))
    return [int(lane) for lane in text.split(",")]


def test_there_is_a_catalog() -> None:
    assert {"sn5600", "7060x6-64pe", "n9364e-sg2", "qfx5240-64od", "z9864f-on", "qm9700"} <= set(ids(SWITCHES))
    assert {"dgx-h100", "hgx-b200", "gb200-tray", "mi300x-8", "cpu-2x25"} <= set(ids(SERVERS))
    assert {"sn5600", "7060x6-64pe", "z9864f-on"} <= set(ids(SONIC))


@pytest.mark.parametrize("kind", ["switches", "servers", "boards"])
def test_no_unverified_figure(kind: str) -> None:
    for stem, text, _ in documents(kind):
        for word in ("unverified", "recalled", "/work", "TODO"):
            assert word not in text, f"{kind}/{stem}.yaml: {word}"


@pytest.mark.parametrize("rows", [SWITCHES, SERVERS], ids=["switches", "servers"])
def test_names_are_lower_case_and_given_once(rows: list[tuple[str, dict[str, Any]]]) -> None:
    names = ids(rows)
    assert all(isinstance(name, str) and name == name.lower() and " " not in name for name in names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("name", "fields"), SWITCHES, ids=ids(SWITCHES))
def test_switch(name: str, fields: dict[str, Any]) -> None:
    model = switch(fields)
    assert model.source
    assert model.maker
    assert model.description
    assert model.asic
    assert model.sonic is None, "the SONiC facts have a file of their own"
    assert set(model.nos) <= NETWORK_OSES
    if model.technology == "infiniband":
        assert model.nos == ()
    for group in model.ports:
        assert len(set(group.breakouts)) == len(group.breakouts)
        assert f"1x{group.speed_gbps}" not in group.breakouts, "the undivided form goes without saying"
        for text in group.breakouts:
            ports, speed = (int(part) for part in text.split("x"))
            assert ports * speed <= group.speed_gbps, text
    if model.max_logical_ports is not None:
        assert model.max_logical_ports >= model.cages
    if model.power_typical_w and model.power_max_w:
        assert model.power_typical_w <= model.power_max_w


@pytest.mark.parametrize(("name", "fields"), SERVERS, ids=ids(SERVERS))
def test_server(name: str, fields: dict[str, Any]) -> None:
    model = ServerModel.model_validate_json(json.dumps(fields))
    assert model.source
    assert model.maker
    assert set(model.nics) <= PURPOSES
    assert model.nics["oob"].speed_gbps == 1
    if model.gpus:
        assert model.gpu
        assert "compute" in model.nics
        assert model.nvlink_domain_gpus is not None
        assert model.nvlink_domain_gpus % model.gpus == 0
    else:
        assert model.nvlink_domain_gpus is None


@pytest.mark.parametrize(("name", "fields"), SONIC, ids=ids(SONIC))
def test_sonic(name: str, fields: dict[str, Any]) -> None:
    platform = sonic(fields)
    model = switch(dict(SWITCHES)[name])
    assert "sonic" in model.nos
    assert "sonic-net/sonic-buildimage@" in platform.source
    assert "default" in platform.hwsku
    assert "{cage}" in platform.alias
    allowed = set().union(*(forms(group) for group in model.ports))
    assert set(platform.modes) <= allowed
    assert set(platform.hwsku) - {"default"} <= allowed
    if platform.modes:
        whole = {f"1x{group.speed_gbps}" for group in model.ports}
        assert allowed - set(platform.modes) - whole == BEYOND_PLATFORM_JSON.get(name, set()), "a split SONiC lacks"
    for split, key in platform.modes.items():
        assert key.startswith(f"{split.split('x')[0]}x"), f"{split} by {key}"
        lanes_of_mode = re.search(r"\((\d+)\)", key)
        if lanes_of_mode and int(lanes_of_mode[1]) < len(lanes(platform.lanes[0])):
            assert platform.used_lanes[split] == int(lanes_of_mode[1]), f"{split}: lanes of {key}"
    assert set(platform.used_lanes) <= allowed


@pytest.mark.parametrize(("name", "fields"), SONIC, ids=ids(SONIC))
def test_sonic_lanes(name: str, fields: dict[str, Any]) -> None:
    platform = sonic(fields)
    model = switch(dict(SWITCHES)[name])
    assert len(platform.lanes) == model.cages
    flat = [lane for text in platform.lanes for lane in lanes(text)]
    assert len(flat) == len(set(flat)), "a lane in two cages"
    assert len({platform.alias.format(cage=cage) for cage in range(1, model.cages + 1)}) == model.cages
    for cage, text in enumerate(platform.lanes, start=1):
        group = model.group_of(cage)
        for form in forms(group):
            ports = int(form.split("x")[0])
            assert len(lanes(text)) % ports == 0, f"cage {cage}: {len(lanes(text))} lanes do not split into {form}"


def test_every_switch_that_runs_sonic_has_its_facts() -> None:
    assert {name for name, fields in SWITCHES if "sonic" in fields["nos"]} == set(ids(SONIC))
