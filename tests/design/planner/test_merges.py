"""Two branches that both grew are merged: what both had stays, what is new on both sides is settled."""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.design.planner.lock_repair import NumberSpace, settle, settled
from fabric.design.planner.wiring import epochs, joined, records
from fabric.model.plan import Block, Epoch, Record, Shape, TenantNumber, lock_file as locks
from fabric.model.plan.lock import PortSpot
from tests.cost import calls
from tests.design.planner import merges
from tests.design.planner.helpers import make


@pytest.mark.slow
def test_what_both_branches_had_stays() -> None:
    """Random pairs merged by git, one of them with every file; `python -m tests.design.planner.merges` runs hundreds."""
    tally = merges.run(6, 11, whole_every=6)
    assert tally.problems == []
    assert tally.seen["colliding pairs"] >= 3


def ids(row: int, end: int, base: int, width: int = 1) -> Block:
    return Block(row=row, row_end=end, column=0, column_end=width, base=base, stride=width, step=1)


@pytest.mark.parametrize(
    ("known", "kept", "lost"),
    [
        # equal lines of both sides, and one that goes further
        ({"id/unit/a": [ids(0, 2, 0), ids(2, 3, 2), ids(2, 4, 2)]}, {"id/unit/a": [ids(0, 2, 0), ids(2, 4, 2)]}, []),
        # two areas took the same numbers: only the rows that meet are lost, what was there before stays
        (
            {"id/unit/gpu": [ids(0, 2, 0), ids(2, 3, 2)], "id/unit/big": [ids(0, 2, 2)]},
            {"id/unit/big": [ids(0, 2, 2)], "id/unit/gpu": [ids(0, 2, 0)]},
            [("id/unit/gpu", 2, 3)],
        ),
        (
            {"id/unit/gpu": [ids(0, 2, 0), ids(2, 4, 3)], "id/unit/big": [ids(0, 2, 2)]},
            {"id/unit/big": [ids(0, 2, 2)], "id/unit/gpu": [ids(0, 2, 0), ids(3, 4, 4)]},
            [("id/unit/gpu", 2, 3)],
        ),
        # one row has two numbers: the lower one holds
        (
            {"id/unit/a": [ids(0, 1, 0), ids(1, 2, 5), ids(1, 3, 1)]},
            {"id/unit/a": [ids(0, 1, 0), ids(1, 3, 1)]},
            [("id/unit/a", 1, 2)],
        ),
        # outside of the space
        ({"id/unit/a": [ids(0, 4, 98)]}, {"id/unit/a": [ids(0, 2, 98)]}, [("id/unit/a", 2, 4)]),
    ],
)
def test_blocks_of_two_branches(
    known: dict[str, list[Block]], kept: dict[str, list[Block]], lost: list[tuple[str, int, int]]
) -> None:
    for turn in (1, -1):
        space = NumberSpace([(0, 100)])
        found, gone = settle({key: blocks[::turn] for key, blocks in known.items()}, dict.fromkeys(known, space))
        assert found == {key: tuple(blocks) for key, blocks in kept.items()}
        assert [(item.key, item.row, item.row_end) for item in gone] == lost
        again, none = settle(found, dict.fromkeys(found, NumberSpace([(0, 100)])))
        assert (again, none) == (found, [])


SHAPE = Shape(2, 1, 400, 0)


def record(place: int, uppers: int, links: int, lowers: int, after: int = 0, **others: int) -> Record:
    return Record(place, SHAPE, after, Epoch(uppers, tuple(sorted({"a": links, **others}.items())), lowers))


@pytest.mark.parametrize(
    ("lines", "chain"),
    [
        # both branches grew within an epoch
        ([record(1, 8, 4, 6), record(1, 8, 4, 9)], [Epoch(8, (("a", 4),), 9)]),
        # one added a group, the other leaves
        ([record(1, 8, 4, 6, b=1), record(1, 8, 4, 9)], [Epoch(8, (("a", 4), ("b", 1)), 9)]),
        # one re-wired after four leaves: the other's leaves came later
        (
            [record(1, 8, 4, 4), record(1, 8, 4, 6), record(2, 16, 2, 8, 4)],
            [Epoch(8, (("a", 4),), 4), Epoch(16, (("a", 2),), 8)],
        ),
        # both re-wired, alike and otherwise
        (
            [record(1, 8, 4, 4), record(2, 16, 2, 8, 4), record(2, 16, 2, 9, 6)],
            [Epoch(8, (("a", 4),), 4), Epoch(16, (("a", 2),), 9)],
        ),
        (
            [record(1, 8, 4, 4), record(2, 32, 1, 8, 4), record(2, 16, 2, 9, 4)],
            [Epoch(8, (("a", 4),), 4), Epoch(16, (("a", 2),), 4), Epoch(32, (("a", 1),), 8)],
        ),
    ],
)
def test_histories_of_two_branches(lines: list[Record], chain: list[Epoch]) -> None:
    for turn in (1, -1):
        found = joined(lines[::turn], SHAPE)
        assert list(epochs(found)) == chain
        kept = records(epochs(found), found, lines, SHAPE)
        assert epochs(joined(kept, SHAPE)) == epochs(found)


def test_a_leaf_port_is_given_once() -> None:
    spots = {"x": (PortSpot(1, 5, 7),), "old": (PortSpot(1, 6, 7),), "y": (PortSpot(1, 5, 7), PortSpot(2, 6, 7))}
    lock = locks.Lock({"f": locks.FabricLock(attachments=spots)})
    found, changes = settled(lock, {"f": ["x", "y"]})
    assert found.fabrics["f"].attachments == {"old": (), "x": (PortSpot(1, 5, 7),), "y": (PortSpot(2, 6, 7),)}
    assert [change.text for change in changes] == ["attachment y: port 1", "attachment old: port 1"]


TENANTS = """
version: 1
site: s
fabrics:
  f:
    nos: frr
    purpose: frontend
    servers: {model: dgx-h100, count: 4, per_rack: 2}
    topology: {kind: rack, switch: sn4700}
    overlay: {kind: evpn-vxlan}
    tenants: [{name: red, servers: dgx-h100-0001}, {name: pink, servers: dgx-h100-0002}, {name: green}]
"""


def test_two_tenants_with_one_number() -> None:
    """Each branch added one: the first by name keeps the number, the other takes the next; the ancestor's stay."""
    plan = make(TENANTS)
    entry = plan.lock.fabrics["f"]
    tenants = {"red": (TenantNumber(1),), "pink": (TenantNumber(2),), "green": (TenantNumber(2),)}
    merged = make(TENANTS, locks.Lock({"f": replace(entry, tenants=tenants)}))
    numbers = {tenant.name: tenant.number for tenant in merged.fabrics["f"].tenancy.tenants}
    assert numbers == {"red": 1, "green": 2, "pink": 3}
    assert [w.message for w in merged.warnings if w.code == "FAB193"] == [
        "fabric 'f': numbers that one branch gave out change (tenant pink)"
    ]


def test_the_longest_of_two_lengths_holds() -> None:
    text = "version: 2\nnumbers:\n  - f length server-leaf metres=5\n  - f length server-leaf metres=20\n"
    lock = locks.parse(text, "lock.yaml")
    assert lock.fabrics["f"].lengths == {"server-leaf": 20}
    assert locks.text(lock).count("metres=20") == 1


def test_growth_adds_lines_and_changes_none_that_hold_numbers() -> None:
    """Many small steps: each keeps the lines of the last, but for the count of a wiring and a longer class of cables."""
    site = yaml.safe_load(TENANTS)
    site["fabrics"]["f"]["tenants"] = []
    lock, before = None, set[str]()
    for count in range(4, 60, 4):
        site["fabrics"]["f"]["servers"]["count"] = count
        lock = make(site, lock).lock
        lines = set(locks.text(lock).splitlines())
        assert not [line for line in before - lines if " wiring " not in line and " length " not in line]
        before = lines
    assert len(before) < 100


# --- the file -----------------------------------------------------------------------------------------------

OLD = """\
version: 1
fabrics:
  f:
    shape: {networks: 1, tiers: 2, units_per_pod: 0, uplink_gbps: 400}
    tenants: {red: 1, red/a: 1, red/a/vlan: 300}
    wiring:
      leaf-spine: ['uppers=8 links=gpu:4 lowers=4', 'uppers=16 links=gpu:2 lowers=9']
    attachments:
      wan: ['1:29', '2:29']
    blocks:
      id/unit/gpu: ['rows=0-3 columns=0-0 base=0 stride=1 step=1']
"""
NEW = """\
# Numbers that are in use. `fabric generate` keeps this file; commit it with the configs.
version: 2
numbers:
  - f tenant red number=1
  - f network red/a number=1 vlan=300
  - f wiring leaf-spine epoch=1 uppers=8 links=gpu:4 lowers=4 after=0 tiers=2 networks=1 uplink_gbps=400 units_per_pod=0
  - f wiring leaf-spine epoch=2 uppers=16 links=gpu:2 lowers=9 after=4 tiers=2 networks=1 uplink_gbps=400 units_per_pod=0
  - f attachment wan port=1 leaf=1 slot=29
  - f attachment wan port=2 leaf=2 slot=29
  - f id/unit/gpu rows=0-3 columns=0-0 base=0 stride=1 step=1
"""


def test_a_file_of_version_1_is_read() -> None:
    assert locks.text(locks.parse(OLD, "lock.yaml")) == NEW


def test_lines_in_any_order_and_twice_are_the_same_lock() -> None:
    head, facts = NEW.splitlines(keepends=True)[:3], NEW.splitlines(keepends=True)[3:]
    random.Random(1).shuffle(facts)
    assert locks.parse("".join([*head, *facts, *facts[:3], *head[:1]]), "x") == locks.parse(NEW, "x")


def test_damaged_files_end_in_a_plan_or_in_errors_with_a_place() -> None:
    """Characters and numbers of a real file are changed at random (seeded): no traceback, no long wait."""
    rng = random.Random(20)
    site = yaml.safe_load(TENANTS)
    site["fabrics"]["f"]["topology"]["attachments"] = [{"name": "wan", "links": 2, "external": {"asn": 65_010}}]
    whole = locks.text(make(site).lock)
    words = (
        "0",
        "-1",
        "99999999",
        "4294967296",
        "1" * 40,
        "true",
        "٣",
        "10.0.0.999",
        "::1",
        "a",
        "",
        "0-0",
        "0-99999999",
        "=",
    )
    refused = []

    def attempt(lines: list[str]) -> None:
        try:
            make(site, locks.parse("\n".join(lines), "lock.yaml"))
        except InputError as error:
            refused.append(error)

    intact = calls(partial(attempt, whole.splitlines()))
    for _ in range(250):
        lines = whole.splitlines()
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(lines))
            kind = rng.random()
            if kind < 0.6 and "=" in lines[at]:
                parts = lines[at].split(" ")
                place = rng.choice([n for n, part in enumerate(parts) if "=" in part])
                parts[place] = parts[place].partition("=")[0] + "=" + rng.choice(words)
                lines[at] = " ".join(parts)
            elif kind < 0.8:
                cut = rng.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + rng.choice(words) + lines[at][cut + 1 :]
            else:
                lines.insert(at, lines[at].replace("base=10.0", "base=10.1").replace("rows=0", "rows=1"))
        assert calls(partial(attempt, lines)) < 10 * intact, lines
    assert len(refused) > 100
    assert all(item.place.line for error in refused for item in error.diagnostics if item.place.file == "lock.yaml")


def test_a_lock_that_is_lost_is_an_error(tmp_path: Path) -> None:
    intent = tmp_path / "s.yaml"
    intent.write_text(TENANTS)
    pipeline.generate(pipeline.load(intent), jobs=1).write()
    kept = {path: path.read_bytes() for path in (tmp_path / "generated").rglob("*") if path.is_file()}
    (tmp_path / "generated/s/lock.yaml").unlink()
    for command in (pipeline.plan, pipeline.summarize, pipeline.generate):
        with pytest.raises(InputError, match=r"lock.yaml: error\[FAB154\].*(\n.*)*--renumber"):
            command(pipeline.load(intent))  # type: ignore[operator]
    pipeline.generate(pipeline.load(intent), jobs=1, renumber=True).write()
    assert {path: path.read_bytes() for path in kept} == kept


def test_git_reads_the_attributes(tmp_path: Path) -> None:
    make_site = merges.Repository(tmp_path, whole=False)
    make_site.generate(yaml.safe_load(TENANTS))
    files = ("lock.yaml", "manifest.txt", "links.csv", "configs/x/frr.conf")
    command = ["git", "check-attr", "merge", "eol", "--", *(f"generated/s/{file}" for file in files)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": merge: " in line)
    assert [found[f"generated/s/{file}"] for file in files] == [
        "merge: union",
        "merge: union",
        "merge: unset",
        "merge: unset",
    ]
    assert done.stdout.count("eol: lf") == 4
