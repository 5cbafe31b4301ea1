"""Slurm's topology: every server under one switch, read by slurmctld itself where Debian's is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from fabric.deliver.export.locality import hostlist, localities
from fabric.deliver.export.slurm import slurm, slurm_block, slurm_yaml
from fabric.model.plan import LEAF, SERVER, SERVER_LEAF
from tests.deliver.export.plans import DESIGNS, plan
from tests.deliver.export.slurmctld import require, slurmctld
from tests.goldens import golden

SWITCH = re.compile(r"SwitchName=(\S+) (Nodes|Switches)=(\S+)")
BLOCK = re.compile(r"BlockName=(\S+) Nodes=(\S+)")


def expand(text: str) -> list[str]:
    """A host list as Slurm reads it: `a[1-3,07],b`. ValueError for what it does not take."""
    found: list[str] = []
    for part in re.split(r",(?![^[]*\])", text):
        match = re.fullmatch(r"([^\[\],\s=#]+)(?:\[([0-9,-]+)\])?", part)
        if match is None:
            raise ValueError(part)
        for run in (match[2] or "").split(","):
            low, _, high = run.partition("-")
            numbers = range(int(low), int(high or low) + 1) if run else ()
            found += [f"{match[1]}{number:0{len(low)}}" for number in numbers] if run else [match[1]]
    return found


def tree_of(text: str) -> dict[str, tuple[str, list[str]]]:
    """Switch → what is below it, nodes or switches."""
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    matches = [SWITCH.fullmatch(line) for line in rows]
    assert all(matches)
    found = {match[1]: (match[2], expand(match[3])) for match in matches if match}
    assert len(found) == len(rows)
    return found


@settings(max_examples=60)
@given(st.lists(st.from_regex(r"\A[a-z]([a-z.-]{0,3}[a-z])?[0-9]{0,4}\Z"), min_size=1, max_size=40, unique=True))
def test_a_host_list_is_its_names(names: list[str]) -> None:
    assert sorted(expand(hostlist(names))) == sorted(names)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["gpu-0001", "gpu-0002", "gpu-0003"], "gpu-[0001-0003]"),
        (["n9", "n10", "n11"], "n9,n[10-11]"),
        (["n1", "n3", "n4", "n7"], "n[1,3-4,7]"),
        (["a", "b7"], "b7,a"),
        (["gpu1-ib", "gpu2-ib"], "gpu1-ib,gpu2-ib"),
    ],
)
def test_host_lists(names: list[str], text: str) -> None:
    assert hostlist(names) == text


@pytest.mark.parametrize("design", DESIGNS)
def test_every_server_is_under_one_switch_with_those_of_its_leaves(design: str) -> None:
    made = plan(design)
    tree = tree_of(slurm(made))
    nodes = [name for kind, below in tree.values() if kind == "Nodes" for name in below]
    assert len(nodes) == len(set(nodes))
    chosen = [made.fabrics[locality.fabric] for locality in localities(made)]
    assert sorted(nodes) == sorted({d.name for fabric in chosen for d in fabric.devices if d.role == SERVER})
    for fabric in chosen:
        links, devices = fabric.links, fabric.devices
        leaves: dict[str, set[int]] = {}
        for at in (links.kind == SERVER_LEAF).nonzero()[0].tolist():
            assert devices[int(links.b[at])].role == LEAF
            leaves.setdefault(devices[int(links.a[at])].name, set()).add(int(links.b[at]))
        together = {frozenset(found): set() for found in leaves.values()}
        for name, found in leaves.items():
            together[frozenset(found)].add(name)
        units = [set(below) for kind, below in tree.values() if kind == "Nodes"]
        assert all(unit in units for unit in together.values())


@pytest.mark.parametrize("design", DESIGNS)
def test_the_tree_has_one_top_a_fabric_and_no_switch_twice(design: str) -> None:
    made = plan(design)
    tree = tree_of(slurm(made))
    below = [name for kind, names in tree.values() if kind == "Switches" for name in names]
    assert len(below) == len(set(below))
    assert set(below) <= set(tree)
    assert len(set(tree) - set(below)) == len(localities(made))
    assert max(map(len, tree)) <= 64  # what topology.yaml(5) allows


def test_pods_stand_between_units_and_cores() -> None:
    tree = tree_of(slurm(plan("three-tiers")))
    tops = set(tree) - {name for kind, names in tree.values() if kind == "Switches" for name in names}
    assert tops == {"f-cores"}
    assert all(tree[name][0] == "Switches" for name in tree["f-cores"][1])


def test_a_leaf_of_a_rack_has_its_own_name() -> None:
    assert tree_of(slurm(plan("storage-alone")))["s-leaf001"][0] == "Nodes"


def test_nvlink_domains_are_blocks_of_a_rack() -> None:
    lines = slurm_block(plan("nvl72")).splitlines()
    sizes = [len(expand(match[2])) for match in map(BLOCK.fullmatch, lines) if match]
    assert sizes == [18, 18, 18, 18]
    assert lines[-1] == "BlockSizes=18,36"


@pytest.mark.parametrize("design", DESIGNS)
def test_block_sizes_are_what_slurm_takes(design: str) -> None:
    """Source: topology.conf(5): every block has the first size at least, sizes are powers of two of it."""
    lines = slurm_block(plan(design)).splitlines()
    blocks = {match[1]: expand(match[2]) for match in map(BLOCK.fullmatch, lines) if match}
    sizes = [int(size) for size in lines[-1].removeprefix("BlockSizes=").split(",")]
    check_blocks(sizes, blocks)


def check_blocks(sizes: list[int], blocks: dict[str, list[str]]) -> None:
    nodes = [name for names in blocks.values() for name in names]
    assert len(nodes) == len(set(nodes))
    assert min(map(len, blocks.values())) >= sizes[0]
    assert all(size % sizes[0] == 0 and (size // sizes[0]).bit_count() == 1 for size in sizes)
    assert sizes == sorted(set(sizes))


@pytest.mark.parametrize("design", DESIGNS)
def test_topology_yaml_keeps_to_its_manual(design: str) -> None:
    """Source: topology.yaml(5) of Slurm 25.05: keys, types, exactly one kind an entry, names unique."""
    made = plan(design)
    entries: list[dict[str, Any]] = yaml.safe_load(slurm_yaml(made))
    assert [entry["cluster_default"] for entry in entries] == [True, *[False] * len(localities(made))]
    for entry in entries:
        assert next(iter(entry)) == "topology"  # must be the first attribute
        kinds = set(entry) - {"topology", "cluster_default"}
        assert kinds in ({"tree"}, {"block"})
        if kinds == {"block"}:
            assert set(entry["block"]) == {"block_sizes", "blocks"}
            check_blocks(
                entry["block"]["block_sizes"], {row["block"]: expand(row["nodes"]) for row in entry["block"]["blocks"]}
            )
            continue
        rows = entry["tree"]["switches"]
        assert all(set(row) in ({"switch", "nodes"}, {"switch", "children"}) for row in rows)
        assert all(isinstance(value, str) for row in rows for value in row.values())
    reported = {row["switch"] for entry in entries if "tree" in entry for row in entry["tree"]["switches"]}
    assert reported == set(tree_of(slurm(made)))


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ("mixed", {"dc1-block": 166}),
        ("shared", {"dc1-block": 32}),
        ("rail-only", {"dc1-block": 64}),
        ("two-clusters", {"dc1-f-block": 32, "dc1-g-block": 32}),
    ],
)
def test_a_block_topology_for_each_connected_fabric(design: str, expected: dict[str, int]) -> None:
    """A job takes any blocks of a topology: all of them must reach each other over the network."""
    made = plan(design)
    _, *entries = yaml.safe_load(slurm_yaml(made))
    blocks = {entry["topology"]: [expand(row["nodes"]) for row in entry["block"]["blocks"]] for entry in entries}
    assert {name: sum(map(len, rows)) for name, rows in blocks.items()} == expected
    fabrics = [{d.name for d in made.fabrics[locality.fabric].devices} for locality in localities(made)]
    assert all(any({*row} <= fabric for fabric in fabrics) for rows in blocks.values() for row in rows)
    assert ("no path" in slurm_block(made)) == (len(expected) > 1)


@pytest.mark.parametrize("name", ["h100-4su", "b200-3tier", "gb300-twin-plane"])
def test_golden(name: str) -> None:
    golden(f"export/slurm/{name}.topology.conf", slurm(plan(name)))
    golden(f"export/slurm/{name}.topology.yaml", slurm_yaml(plan(name)))


def test_golden_block() -> None:
    golden("export/slurm/gb300-twin-plane.block.conf", slurm_block(plan("gb300-twin-plane")))


@pytest.mark.parametrize("name", ["b200-3tier", "two-clusters", "names"])
def test_slurmctld_reads_it(name: str, tmp_path: Path) -> None:
    require()
    text = slurm(plan(name))
    ours = tree_of(text)
    nodes = [node for kind, below in ours.values() if kind == "Nodes" for node in below]
    theirs = asked_of_slurm(text, hostlist(nodes), tmp_path)
    assert set(theirs) == set(ours)
    for switch, (kind, below) in ours.items():
        shown = theirs[switch]
        assert sorted(expand(shown[kind])) == sorted(below)
        assert (int(shown["Level"]) == 0) == (kind == "Nodes")
    tops = set(ours) - {switch for kind, below in ours.values() if kind == "Switches" for switch in below}
    assert sorted(node for top in tops for node in expand(theirs[top]["Nodes"])) == sorted(nodes)


def asked_of_slurm(topology: str, nodes: str, folder: Path) -> dict[str, dict[str, str]]:
    """What `scontrol show topology` says of a switch, by its name."""
    with slurmctld(topology, nodes, folder) as (shown, _):
        rows = [dict(word.split("=", 1) for word in line.split()) for line in shown.splitlines() if line]
    return {row["SwitchName"]: row for row in rows}
