"""`fabric plan --against`: switches and cables that change, in an order that hands can follow."""

from __future__ import annotations

import copy
import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.design.moves import Changes, difference
from fabric.model.plan import SERVER, Plan, nic_name
from tests import samples
from tests.cli.conftest import Run
from tests.design.planner.helpers import make
from tests.design.planner.intents import STABLE, sites
from tests.goldens import golden

HEAD = (
    "version: 1\nsite: dc1\ncatalog: {servers: {quad: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 400}}}}}\nfabrics:\n"
)
# four uplinks a leaf; eight leaf ports a spine: 4 units fill two spines, 5 need four
SMALL = HEAD + "  backend: {servers: {model: quad, count: 4}, topology: {switch: 8x400g, rails: 1, unit: {servers: 1}}}\n"
LARGE = SMALL.replace("count: 4}, topology", "count: 5}, topology")
LESS = SMALL.replace("count: 4}, topology", "count: 3}, topology")
UFM = SMALL.replace("8x400g", "16x400g").replace("servers: 1}}", "servers: 1}, attachments: [{name: ufm, links: 3}]}")
STORAGE = "  storage: {purpose: storage, servers: {model: dgx-h100, count: 2}, topology: {kind: collapsed, switch: 8x400g}}\n"
FAST = HEAD.replace("400}", "200}") + (
    "  backend: {servers: {model: quad, count: 3}, topology: "
    "{kind: collapsed, switch: sn5600, unit: {servers: 4}, leaf: {uplinks: {count: 4}}}}\n"
)

CASES = {
    "growth": (LESS, SMALL),
    "recabling": (SMALL, LARGE),
    "attachments": (SMALL.replace("8x400g", "16x400g"), UFM),
    "attachments-leave": (UFM, SMALL.replace("8x400g", "16x400g")),
    "fabric-removed": (SMALL + STORAGE, SMALL),
    "fabric-added": (SMALL, SMALL + STORAGE),
    "nothing": (SMALL, SMALL),
    "speed": (FAST, FAST.replace("speed_gbps: 200", "speed_gbps: 100")),
}


@pytest.mark.parametrize("name", CASES)
def test_text(name: str, run: Run, tmp_path: Path) -> None:
    old, new = CASES[name]
    (tmp_path / "old.yaml").write_text(old, encoding="utf-8")
    (tmp_path / "new.yaml").write_text(new, encoding="utf-8")
    done = run("plan new.yaml --against old.yaml")
    assert (done.code, done.err) == (0, "new.yaml against old.yaml\n")
    golden(f"cli/against-{name}.txt", done.out)


def test_json(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "new.yaml").write_text(LARGE, encoding="utf-8")
    done = run("plan new.yaml --against old.yaml --json")
    assert done.code == 0
    golden("cli/against-recabling.json", done.out)
    changes = json.loads(done.out)
    touched = [cable for step in changes["steps"] for cable in step["cables"] if cable["old"]]
    assert len(touched) == changes["links"]["moved"]
    assert [step["drain"] for step in changes["steps"]] == ["", "backend-spine001", "backend-spine002"]


def test_a_changed_speed_is_in_the_json_and_a_warning_of_a_run(run: Run, tmp_path: Path) -> None:
    old, new = CASES["speed"]
    (tmp_path / "intent").mkdir()
    for name, text in (("old", old), ("intent/dc1", old)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    assert run("generate intent/dc1.yaml").code == 0
    (tmp_path / "intent/dc1.yaml").write_text(new, encoding="utf-8")
    links = json.loads(run("plan intent/dc1.yaml --against old.yaml --json").out)["speeds"]
    assert len(links) == 12
    assert links[0] == {
        "lower": ["quad-0001", "compute1"],
        "upper": ["backend-leaf001", "port 1/1"],
        "old_gbps": 200,
        "new_gbps": 100,
    }
    assert "FAB185]: 12 links changed since the last run" in run("generate intent/dc1.yaml").err


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.net", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_a_commit_of_git(run: Run, tmp_path: Path) -> None:
    intent = tmp_path / "intent/dc1.yaml"
    intent.parent.mkdir()
    intent.write_text(SMALL, encoding="utf-8")
    git(tmp_path, "init", "-q")
    assert run("generate intent/dc1.yaml").code == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "four units")
    intent.write_text(LARGE, encoding="utf-8")
    golden("cli/against-recabling.txt", run("plan intent/dc1.yaml --against git:HEAD").out)
    assert run("generate intent/dc1.yaml").code == 0  # the lock is the new one now; the commit's is compared with
    golden("cli/against-recabling.txt", run("plan intent/dc1.yaml --against git:HEAD").out)
    golden("cli/against-recabling.txt", run("plan intent/dc1.yaml --against git:").out)


@pytest.mark.parametrize("against", ["git:nosuch", "git:--help", "nosuch.yaml", "git:HEAD"])
def test_an_old_state_that_is_not_there(against: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(SMALL, encoding="utf-8")
    git(tmp_path, "init", "-q")
    done = run("plan", "new.yaml", "--against", against)
    assert (done.code, done.out) == (2, "")
    assert against.removeprefix("git:") in done.err
    assert "Traceback" not in done.err


def test_a_server_of_two_fabrics_is_one_switch() -> None:
    two = "  {}: {{purpose: {}, servers: {{model: dgx-h100, count: {}, name: gpu}},"
    two += " topology: {{kind: collapsed, switch: 64x400g}}}}\n"
    one = HEAD + two.format("a", "compute", 2)
    both = one + two.format("b", "storage", 2)
    grown = HEAD + two.format("a", "compute", 3) + two.format("b", "storage", 3)
    assert moves(one, both).added == ["b-leaf001", "b-leaf002"]
    assert moves(both, grown).added == ["gpu-0003"]
    assert moves(both, one).removed == ["b-leaf001", "b-leaf002"]


def moves(old: str, new: str) -> Changes:
    before = make(old)
    return difference(before, make(new, before.lock))


Port = tuple[str, str]


def table(plan: Plan) -> dict[Port, Port]:
    """Lower port → upper port of every link, read from the columns."""
    found = {}
    for fabric in plan.fabrics.values():
        columns = fabric.links.lists()
        groups = {group.name: group for group in fabric.spec.groups}

        def port(side: str, at: int, fabric: Any = fabric, columns: Any = columns, groups: Any = groups) -> Port:
            device = fabric.devices[columns[side][at]]
            cage, sub, split = (columns[f"{side}_{part}"][at] for part in ("cage", "sub", "split"))
            if device.role == SERVER:
                return device.name, nic_name(groups[device.group], cage, sub)
            return device.name, f"port {cage}/{sub + 1}" if split > 1 else f"port {cage}"

        found |= {port("a", at): port("b", at) for at in range(len(fabric.links))}
    return found


def cage(port: Port) -> Port:
    return port[0], port[1].split("/")[0]


@settings(STABLE, max_examples=samples.examples(72))
@given(
    data=sites(most=2), more=st.integers(1, 24), change=st.sampled_from(("grow", "grow", "speed", "ratio", "attach", "drop"))
)
def test_the_moves_make_the_new_links_of_the_old(data: dict[str, Any], more: int, change: str) -> None:
    after = copy.deepcopy(data)
    name = min(after["fabrics"])
    fabric = after["fabrics"][name]
    fabric.pop("planned", None)
    if change == "grow":
        fabric["servers"][0]["count"] += more
    elif change == "speed":
        fabric["topology"]["leaf"].setdefault("uplinks", {})["speed_gbps"] = 200
    elif change == "ratio":
        fabric["topology"]["leaf"] = {"oversubscription": 2}
    elif change == "attach":
        fabric["topology"].setdefault("attachments", [{"name": "cache", "links": 1}])[0]["links"] += more % 5
    elif len(after["fabrics"]) > 1:
        del after["fabrics"][name]
    try:
        old = make(data)
        new = make(after, old.lock)
    except InputError:
        return
    changes = difference(old, new)
    links, wanted = table(old), table(new)
    cables = Counter(cable.lower for step in changes.steps for cable in step.cables)
    assert set(cables.values()) <= {1}  # every cable exactly once
    assert set(cables) == {lower for lower in {*links, *wanted} if links.get(lower) != wanted.get(lower)}
    leaving = Counter(cage(cable.old) for step in changes.steps for cable in step.cables if cable.old)
    leaving += Counter(cage(c.lower) for step in changes.steps for c in step.cables if c.old and not c.new)
    for step in changes.steps:
        for cable in step.cables:
            if cable.old:
                assert links.pop(cable.lower) == cable.old
                assert cable.old[0] in step.drain.split(", ")
                leaving -= Counter([cage(cable.old)] if cable.new else [cage(cable.old), cage(cable.lower)])
        for cable in step.cables:
            if cable.new:
                assert leaving[cage(cable.new)] == 0  # no step uses a cage that a later step frees
                assert cable.old or leaving[cage(cable.lower)] == 0
                assert cable.new not in links.values()
                links[cable.lower] = cable.new
    assert links == wanted
    assert changes.kept_links == len(wanted) - sum(1 for step in changes.steps for cable in step.cables if cable.new)
