"""Converged pairs with out-of-band switches below: configs without descriptions and a topology file become their intent; so
does a workbook of the same site.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fabric import pipeline
from fabric.base.formats import yaml
from fabric.deliver.brownfield.draft.draft import draft
from fabric.deliver.brownfield.draft.simpler import alone
from fabric.deliver.brownfield.sources.combined import ImportRequest, surveyed
from fabric.deliver.brownfield.sources.topology import wires_of
from fabric.deliver.brownfield.survey.assumptions import assumed
from tests.deliver.brownfield.eras import Book

NAME = "era-2-4-3-200"
MODELS = {"core-*": "sn5600", "oob-*": "sn2201"}


@dataclass(frozen=True)
class Site:
    """A site as files, and the intent that they are made of."""

    folder: Path
    intent: dict[str, Any]


@cache
def site(name: str) -> Site:
    """The configs of a shipped intent without a word on what is cabled to a port, and the cables as NVIDIA Air has them."""
    folder = Path(mkdtemp())
    path = folder / f"{name}.yaml"
    path.write_text((Path("intent") / path.name).read_text(encoding="utf-8"), encoding="utf-8")
    loaded = pipeline.load(path, folder / "generated")
    pipeline.generate(loaded, jobs=1).write()
    for config in (loaded.folder / "configs").glob("*/startup.yaml"):
        text = re.sub(r"^# \S+ \(.*\n|^ +description: .*\n", "", config.read_text(encoding="utf-8"), flags=re.M)
        (folder / "configs").mkdir(exist_ok=True)
        (folder / "configs" / f"{config.parent.name}.yaml").write_text(text, encoding="utf-8")
    with (loaded.folder / "links.csv").open(encoding="utf-8") as rows:
        links: list[list[object]] = [[_end(row, "a"), _end(row, "b")] for row in csv.DictReader(rows)]
    links.append(
        [{"node": "oob-mgmt-server", "interface": "eth1"}, _end({"b": "oob-switch-01", "b_port_name": "swp48"}, "b")]
    )
    links.append([{"node": "oob-mgmt-server", "interface": "eth0"}, "outbound"])  # it serves the simulation
    (folder / "air.json").write_text(json.dumps({"content": {"links": links}}), encoding="utf-8")
    return Site(folder, yaml.load(path.read_text(encoding="utf-8")))


def _end(row: dict[str, str], end: str) -> dict[str, str]:
    return {"node": row[end], "interface": row[f"{end}_port_name"] or f"swp{row[f'{end}_port']}"}


def _groups(fabric: dict[str, Any]) -> dict[str, tuple[int, frozenset[str], dict[str, str]]]:
    listed = {its.get("name", its["model"]): its for its in fabric["servers"]}
    nics = {name: its.get("nics", fabric.get("purpose", "compute")) for name, its in listed.items()}
    uses = {name: frozenset([its] if isinstance(its, str) else its) for name, its in nics.items()}
    return {name: (its["count"], uses[name], its.get("homing", {})) for name, its in listed.items()}


def _request(here: Site) -> ImportRequest:
    return ImportRequest(
        sources=(here.folder / "configs",),
        output=here.folder,
        site="site",
        models=MODELS,
        topology=(here.folder / "air.json",),
    )


def test_configs_and_a_topology_file_become_the_intent() -> None:
    here = site(NAME)
    survey = assumed(surveyed(_request(here)).survey)
    found = draft(alone(survey))
    core, wanted = found.document["fabrics"]["core"], here.intent["fabrics"]["core"]
    assert not found.left_over
    assert _groups(core) == _groups(wanted)
    assert core["topology"]["kind"] == "collapsed"
    assert core["topology"]["leaf"]["uplinks"] == wanted["topology"]["leaf"]["uplinks"]
    assert not any("oob-mgmt-server" in host for host in survey.hosts)


def test_models_and_releases_follow_from_cages_and_words() -> None:
    here = site(NAME)
    survey = assumed(surveyed(replace(_request(here), models={})).survey)
    assert {its.model for its in survey.fabrics["core"]} == {"sn5600"}
    assert {its.release for its in survey.fabrics["core"]} == {"5.13"}


def test_a_workbook_becomes_the_intent() -> None:
    here = site(NAME)
    survey = assumed(surveyed(_request(here)).survey)
    speeds = {end: its.speed_gbps for its in survey.cables for end in ((its.a, its.a_port), (its.b, its.b_port))}
    facts = [switch.facts for switch in survey.switches.values() if switch.facts]
    wires = wires_of([here.folder / "air.json"])
    path = Book(devices=facts, wires=wires, speeds=speeds).save(here.folder / "book.xlsx")
    request = ImportRequest(sources=(path,), output=here.folder / "new" / "site.yaml", site="site", models=MODELS, jobs=1)
    document = yaml.load(pipeline.import_site(request).text)
    core, wanted = document["fabrics"]["core"], here.intent["fabrics"]["core"]
    assert _groups(core) == _groups(wanted)
    assert {its["name"]: (its["links"], its["external"]["asn"]) for its in core["topology"]["attachments"]} == {
        its["name"]: (its["links"], its["external"]["asn"]) for its in wanted["topology"]["attachments"]
    }
    networks = {its["name"]: its.get("networks", ()) for its in core["tenants"]}
    assert {name: [(net["vlan"], net["vni"]) for net in its] for name, its in networks.items()} == {
        "OOB": [(200, 4200), (201, 4201)],
        "INBAND": [(300, 4300), (400, 4400), (500, 4500)],
        "GPU": [(900, 4900)],
        "EXIT": [],
    }
    assert {its["name"]: [one["from"] for one in its.get("imports", ())] for its in core["tenants"]} == {
        "OOB": ["EXIT"],
        "INBAND": ["EXIT"],
        "GPU": [],
        "EXIT": ["OOB", "INBAND"],
    }
    assert document["fabrics"]["oob"]["below"] == {"fabric": "core", "tenant": "OOB", "network": "vlan200"}
    assert document["releases"] == {"cumulus": "5.13"}
