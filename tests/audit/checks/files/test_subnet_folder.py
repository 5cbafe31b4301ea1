"""Files of subnet managers in a folder that was named: recognized, compared with each other, and with a plan."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import Finding, Scope
from fabric.base.diagnostics import InputError
from tests.audit.checks.files.test_subnets import BLUE, PLANTED, RED, SPINE, replaced, without_line
from tests.configs.infiniband.designs import subnets, text

RENAMED = {  # as a site may call them
    "opensm.conf": "opensm-backend.conf",
    "partitions.conf": "partitions.conf",
    "root-guids.conf": "root_guid.list",
    "compute-guids.conf": "cn_guids.txt",
    "node-names.map": "ib-node-name-map",
    "fabric.topo": "master.topo",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of a site with tenants, collected from its manager."""
    (tmp_path / "dc1.yaml").write_text(text("tenants", "dc1"))
    pipeline.generate(pipeline.load(tmp_path / "dc1.yaml")).write()
    made = tmp_path / "generated" / "dc1" / "subnet-manager" / "backend"
    home = tmp_path / "collected" / "opensm"
    home.mkdir(parents=True)
    for name, other in RENAMED.items():
        its = (made / name).read_text()
        for old, new in RENAMED.items():
            its = its.replace(f"/etc/opensm/{old}", f"/var/lib/opensm/{new}") if name == "opensm.conf" else its
        (home / other).write_text(its)
    return home


def findings(folder: Path, intent: bool = False) -> list[Finding]:
    files = (folder.parents[1] / "dc1.yaml",) if intent else ()
    verdict = pipeline.check(Scope(files=files, configs=folder.parent)).verdict
    return [finding for finding in verdict.findings if finding.severity != "note" and finding.id != "FAB187"]


def edit(folder: Path, name: str, change: Callable[[str], str]) -> None:
    path = folder / RENAMED[name]
    path.write_text(change(path.read_text()))


def test_generated_files_agree(folder: Path) -> None:
    assert findings(folder) == []
    assert findings(folder, intent=True) == []


def test_a_generated_site_is_a_folder_too(folder: Path) -> None:
    verdict = pipeline.check(Scope(configs=folder.parents[1] / "generated")).verdict
    assert [finding for finding in verdict.findings if finding.severity != "note"] == []
    assert sum(read.files for read in verdict.read) >= len(RENAMED)


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_against_the_plan(planted: str, folder: Path) -> None:
    """What is found in generated files is found in collected ones, at their paths."""
    name, change, expected = PLANTED[planted]
    edit(folder, name, change)
    found = findings(folder, intent=True)
    for words in expected:
        assert any(words in finding.message for finding in found), [finding.message for finding in found]
    assert all(finding.file.endswith(RENAMED[name]) for finding in found)


(SUBNET,) = subnets("tenants")
LEAF_1 = (
    f"{SUBNET.guid(next(at for at, node in enumerate(SUBNET.subnet.nodes) if node.name == 'backend-leaf001')).node:#018x}"
)
CHANGED: dict[str, tuple[str, Callable[[str], str], str, str]] = {  # → file, change, words with the plan, and without
    "name of a node": (
        "node-names.map",
        replaced('"backend-spine002"', '"backend-spine003"'),
        "expected backend-spine002, got backend-spine003",
        "backend-spine003: expected one GUID",
    ),
    "cable of a leaf": (
        "fabric.topo",
        replaced("   P9 -4x-100G-> IB16 backend-spine001 P1\n", "   P9 -4x-100G-> IB16 backend-spine001 P3\n"),
        "backend-leaf001 P9: expected backend-spine001 P1 at 4x-100G, got backend-spine001 P3",
        "",
    ),
    "cable of a server": (
        "fabric.topo",
        without_line("dgx-h100-0002 mlx5_0/P1"),
        "expected 1 more entry: backend-leaf001 P2",
        "",
    ),
    "speed": (
        "fabric.topo",
        replaced("   P9 -4x-100G->", "   P9 -4x-50G->"),
        "backend-leaf001 P9: expected backend-spine001 P1 at 4x-100G, got backend-spine001 P1 at 4x-50G",
        "",
    ),
    "two partitions with one P_Key": (
        "partitions.conf",
        replaced("blue=0x8100", "blue=0x8001"),
        "tenant 'blue': expected P_Key 0x0100, got 0x0001",
        "'red' and 'blue' have one P_Key, 0x0001: their ports reach each other",
    ),
    "a full member of two partitions": (
        "partitions.conf",
        replaced(f"  {RED},", f"  {RED}, {BLUE}=full,"),
        "no port of tenant 'blue', got dgx-h100-0004 mlx5_0 as full member",
        "",  # blue has limited members
    ),
    "an unknown member": (
        "partitions.conf",
        replaced(RED, "0x0200400001999901"),
        "expected a port of the plan, got 0x0200400001999901",
        "partition 'red': expected the GUID of a known port, got 0x0200400001999901",
    ),
    "all in the default partition": (
        "partitions.conf",
        replaced("ALL=limited", "ALL=full"),
        "default partition: expected ALL as limited member, got full",
        "default partition: expected ALL as limited member, got full: it reaches every partition",
    ),
    "a root that is missing": (
        "root-guids.conf",
        without_line(SPINE),
        "expected 1 more root: backend-spine001",
        "expected 1 more root: backend-spine001",
    ),
    "a leaf among the roots": (
        "root-guids.conf",
        lambda its: f"{its}{LEAF_1}\n",
        "expected a switch of the top tier, got backend-leaf001",
        "expected a switch of the top tier, got backend-leaf001",
    ),
    "a root of no name": (
        "root-guids.conf",
        replaced(SPINE, "0x0200200001000009"),
        "expected 1 more root: backend-spine001",
        "expected the GUID of a known switch, got 0x0200200001000009",
    ),
    "an engine": (
        "opensm.conf",
        replaced("ftree,updn", "ftre,updn"),
        "routing_engine: expected ftree,updn, got ftre,updn",
        "got ftre: the next one routes, in the end minhop",
    ),
    "no list of roots": (
        "opensm.conf",
        without_line("root_guid_file"),
        "root_guid_file: expected /etc/opensm/root-guids.conf, got none",
        "routing_engine ftree: expected root_guid_file, got none",
    ),
    "another list of roots": (
        "opensm.conf",
        replaced("root_guid.list", "roots.list"),
        "root_guid_file: expected /etc/opensm/root-guids.conf, got /var/lib/opensm/roots.list",
        "root_guid_file: expected root_guid.list, which is in the folder, got /var/lib/opensm/roots.list",
    ),
}


@pytest.mark.parametrize("changed", CHANGED)
def test_a_changed_line(changed: str, folder: Path) -> None:
    name, change, planned, alone = CHANGED[changed]
    edit(folder, name, change)
    with_plan = [finding for finding in findings(folder, intent=True) if planned in finding.message]
    assert with_plan, [finding.message for finding in findings(folder, intent=True)]
    assert all(finding.file.endswith(RENAMED[name]) for finding in with_plan)
    found = findings(folder)
    assert [finding.message for finding in found if alone in finding.message] if alone else found == [], found


def test_a_full_member_of_two_partitions(folder: Path) -> None:
    """Storage that serves both is none; a port of one tenant that is listed with another is."""
    edit(folder, "partitions.conf", lambda its: its.replace("=limited", "=full", 99).replace("ALL=full", "ALL=limited"))
    edit(folder, "partitions.conf", lambda its: its.replace("defmember=limited :\n", "defmember=full :\n"))
    assert findings(folder) == []
    edit(folder, "partitions.conf", replaced(f"  {RED},", f"  {RED}, {BLUE},"))
    (one,) = findings(folder)
    assert one.id == "FAB2565"
    assert "expected a full member of 'red' or of 'blue', got dgx-h100-0004 mlx5_0" in one.message
    assert one.line


def test_real_guids_are_known_by_their_names(folder: Path) -> None:
    """The plan has placeholders, the collected files the GUIDs of the nodes."""
    for name in ("node-names.map", "root-guids.conf", "compute-guids.conf", "partitions.conf"):
        edit(folder, name, lambda its: its.replace("0x0200", "0xb83f"))
    assert findings(folder, intent=True) == []
    edit(folder, "root-guids.conf", without_line(SPINE.replace("0x0200", "0xb83f")))
    (one,) = findings(folder, intent=True)
    assert "expected 1 more root: backend-spine001" in one.message


def test_two_subnets_of_one_prefix(folder: Path) -> None:
    other = folder.parent / "second"
    shutil.copytree(folder, other)
    assert findings(folder) == []  # two managers of one subnet
    for path in other.iterdir():
        path.write_text(path.read_text().replace("0x0200", "0xb83f"))
    (one,) = findings(folder)
    assert one.id == "FAB2567"
    assert "subnet_prefix: expected one for each subnet, got 0xfe80000000000000" in one.message


def test_a_file_that_was_not_collected_is_named(folder: Path) -> None:
    (folder / RENAMED["root-guids.conf"]).unlink()
    outcome = pipeline.check(Scope(files=(folder.parents[1] / "dc1.yaml",), configs=folder.parent))
    assert ("subnet manager of 'backend'", "not in the folder: root-guids.conf") in outcome.verdict.skipped


def test_a_discovery_beside_the_files_knows_the_nodes(folder: Path) -> None:
    """Its GUIDs stand for a name map; alone it is no file of a manager."""
    from fabric.configs.infiniband.topology import netlist

    (folder / RENAMED["node-names.map"]).unlink()
    (folder / "net.txt").write_text(netlist(SUBNET.subnet, SUBNET.guids))
    edit(folder, "opensm.conf", without_line("node_name_map_name"))
    edit(folder, "root-guids.conf", lambda its: f"{its}{LEAF_1}\n")
    edit(folder, "partitions.conf", replaced(RED, "0x0200400001999901"))
    found = [finding.message for finding in findings(folder)]
    assert sorted(found) == [
        "expected a switch of the top tier, got backend-leaf001",
        "partition 'red': expected the GUID of a known port, got 0x0200400001999901",
    ]
    for path in folder.iterdir():
        if path.name != "net.txt":
            path.unlink()
    with pytest.raises(InputError, match="expected configs of switches or files of a subnet manager, got 1 file"):
        findings(folder)


ODD = (
    "",
    "\x00\x01",
    "=0x1:;",
    "red=010 : ALL ;\nblue=99999999999 : 0x1=what ;\n= : ;\nred : ;;;\n",
    "   P1 -4x-100G-> IB16 x\nIB16\n   P1 -4x-1.2.3G-> \n",
    'Switch\t16 "S-zz"\n[1]\n',
    'Switch\t16 "S-1"\n[1]\t"H-2"[1]\n',
    "routing_engine\nsubnet_prefix zz\nroot_guid_file\nlmc\n",
    "0x1\n0xffffffffffffffff # x\n",
    '0x1 "a"\n0x1 "b"\n0x2 "a"\n',
)


@pytest.mark.parametrize("odd", range(len(ODD)))
def test_odd_files_are_findings_or_nothing(odd: int, folder: Path) -> None:
    """Beside good files, and in place of each."""
    (folder / "a-first.txt").write_text(ODD[odd])
    (folder / "z-last").write_text(ODD[odd])
    for name in (*RENAMED.values(), "none"):
        path = folder / name
        before = path.read_text() if path.exists() else ""
        path.write_text(ODD[odd])
        for intent in (False, True):
            assert all(finding.id.startswith("FAB") for finding in findings(folder, intent=intent))
        path.write_text(before)
