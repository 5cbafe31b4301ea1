"""The point-to-point file: every cable of every fabric once, between nodes of its own list, in the words of the tool."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.formats.workbooks import read_sheets
from fabric.configs.site_files import links_csv
from fabric.deliver.export.cable_validation import FILE, LINKS, NODES, cable_validation
from fabric.model.plan import Plan
from tests.configs.infiniband.designs import plan

MIXED = """\
version: 1
site: mixed
fabrics:
  backend: {servers: {model: dgx-h100, count: 8, name: dgx}, topology: {switch: qm9700}}
  frontend:
    purpose: frontend
    nos: cumulus
    servers: {model: dgx-h100, count: 8, name: dgx, nics: storage, per_rack: 4}
    topology: {switch: sn5600}
"""


def sheets(made: Plan, folder: Path) -> dict[str, list[dict[str, str]]]:
    data = cable_validation(made)[FILE]
    assert isinstance(data, bytes)
    (folder / "cvt.xlsx").write_bytes(data)
    found = read_sheets(folder / "cvt.xlsx", ("Nodes", "Links"))
    return {title: [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] for title, rows in found.items()}


@pytest.mark.parametrize("name", ["two-tiers", "partial", "planes", "mixed"])
def test_links_are_those_of_the_plan(name: str, tmp_path: Path) -> None:
    if name == "mixed":
        (tmp_path / "dc1.yaml").write_text(MIXED)
        made = pipeline.plan(pipeline.load(tmp_path / "dc1.yaml"))
    else:
        made = plan(name)
    found = sheets(made, tmp_path)
    table = list(csv.DictReader(io.StringIO(links_csv(made))))
    assert len(found["Links"]) == len(table)
    nodes = {row["Node"]: row["Type"] for row in found["Nodes"]}
    assert len(nodes) == len(found["Nodes"])
    for row, link in zip(found["Links"], table, strict=True):
        assert (row["A-Node"], row["Z-Node"]) == (link["a"], link["b"])
        assert row["Z-Port"] == (link["b_port_name"] or link["b_port"])
        assert row["Protocol"] == ("ethernet" if made.fabrics[link["fabric"]].spec.ethernet else "ib")
        assert nodes[row["Z-Node"]] == "Switch"
    assert set(found["Links"][0]) == set(LINKS)
    assert set(found["Nodes"][0]) == set(NODES)


def test_ports_of_hosts_are_numbers_of_the_mapping() -> None:
    made = plan("two-tiers")
    mapping = cable_validation(made)["hca-mapping-dgx-h100.csv"]
    assert isinstance(mapping, str)
    assert mapping.splitlines()[:3] == ["port,hca-name", "1,mlx5_0", "2,mlx5_3"]


def test_the_same_bytes() -> None:
    assert cable_validation(plan("partial")) == cable_validation(plan("partial"))
