"""The catalog for ANTA: read by ANTA's own loader, which knows the inputs of every test."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from tests import ROOT


def exported(name: str, form: str) -> dict[str, str]:
    found = pipeline.export(pipeline.plan(pipeline.load(ROOT / "intent" / f"{name}.yaml")), form)
    assert not isinstance(found, str)
    return dict(found)


def test_the_catalog_names_the_switch_of_every_test() -> None:
    files = exported("ai-eos", "anta")
    catalog = yaml.safe_load(files["catalog.yml"])
    tags = [inputs["filters"]["tags"] for tests in catalog.values() for test in tests for inputs in test.values()]
    hosts = yaml.safe_load(files["inventory.yml"])["anta_inventory"]["hosts"]
    assert {tag for (tag,) in tags} == {host["name"] for host in hosts}
    neighbors = next(
        inputs["neighbors"]
        for test in catalog["anta.tests.connectivity"]
        for inputs in test.values()
        if inputs["filters"]["tags"] == ["backend-leaf001"]
    )
    assert {"port", "neighbor_device", "neighbor_port"} == neighbors[0].keys()


def test_anta_loads_it(tmp_path: Path) -> None:
    anta = pytest.importorskip("anta.catalog", reason="ANTA is not installed (`pip install anta`)")
    for path, text in exported("ai-eos", "anta").items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    catalog = anta.AntaCatalog.parse(tmp_path / "catalog.yml")
    assert len(catalog.tests) == len(
        [test for tests in yaml.safe_load((tmp_path / "catalog.yml").read_text()).values() for test in tests]
    )


def test_a_site_of_another_network_os_has_no_test() -> None:
    assert yaml.safe_load(exported("starter", "anta")["catalog.yml"]) == {}
