"""Links that an intent removes and adds: the rest keeps its ports and addresses, and both ends are configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.model.plan import LEAF_SPINE, FabricPlan
from fabric.nos.reading import read_device

INTENT = """
version: 1
site: dc1
fabrics:
  backend:
    nos: {nos}
    servers: {{model: dgx-h100, count: 32}}
    topology: {{switch: {switch}, unit: {{servers: 32}}, leaf: {{uplinks: {{count: 16}}}}, spine: {{count: 4}}}}
    underlay: {{addressing: {addressing}}}
    links: {links}
"""
REMOVED = "remove: [backend-leaf001 49, backend-leaf002 50, backend-spine001 5]"
ADDED = "add: [{ends: [backend-spine001 1, backend-leaf001 40]}, {ends: [backend-leaf002 49, backend-spine001 6]}]"


def plan(links: str = "{}", nos: str = "eos", switch: str = "7060x6-64pe", addressing: str = "ipv4") -> FabricPlan:
    text = INTENT.format(links=links, nos=nos, switch=switch, addressing=addressing)
    path = Path("dc1.yaml")
    path.write_text(text, encoding="utf-8")
    return pipeline.plan(pipeline.load(path)).fabrics["backend"]


def rows(fabric: FabricPlan) -> set[tuple[object, ...]]:
    """Links between switches with both ports and the first address."""
    links, name = fabric.links, [device.name for device in fabric.devices]
    return {
        (name[links.a[at]], int(links.a_cage[at]), name[links.b[at]], int(links.b_cage[at]), int(fabric.subnet[at]))
        for at in range(len(links))
        if links.kind[at] == LEAF_SPINE
    }


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_only_the_stated_links_differ() -> None:
    before = rows(plan())
    after = rows(plan(f"{{{REMOVED}, {ADDED}}}"))
    first = int(min(row[4] for row in after - before))
    gone = sorted(row[:4] for row in before - after)
    assert gone == [
        ("backend-leaf001", 49, "backend-spine001", 1),
        ("backend-leaf002", 49, "backend-spine001", 5),
        ("backend-leaf002", 50, "backend-spine001", 6),
    ]
    assert sorted(after - before) == [
        ("backend-leaf001", 40, "backend-spine001", 1, first),
        ("backend-leaf002", 49, "backend-spine001", 6, first + 2),
    ]


SWITCHES = {"eos": "7060x6-64pe", "sonic": "sn5600", "cumulus": "sn5600", "frr": "sn5600", "junos": "qfx5240-64od"}


@pytest.mark.parametrize("addressing", ["ipv4", "ipv6", "unnumbered"])
@pytest.mark.parametrize("nos", SWITCHES)
def test_sessions_follow_the_links(nos: str, addressing: str) -> None:
    """One more session at the ends of an added link, one less at those of a removed one, as the files have them."""
    usual = plan(nos=nos, switch=SWITCHES[nos], addressing=addressing)
    links, index = usual.links, usual.by_name["backend-leaf001"].index
    row = next(at for at in range(len(links)) if links.kind[at] == LEAF_SPINE and links.a[at] == index)
    leaf, spine = usual.devices[index].name, usual.devices[links.b[row]].name
    near, far = (
        f"{cage}/{sub + 1}" for cage, sub in ((links.a_cage[row], links.a_sub[row]), (links.b_cage[row], links.b_sub[row]))
    )
    end = f"backend-leaf002 {near}"
    moved = f"{{remove: [{leaf} {near}, {end}], add: [{{ends: [{end}, {spine} {far}]}}]}}"
    counts = []
    for stated in ("{}", moved):
        fabric = plan(stated, nos, SWITCHES[nos], addressing)
        intent = pipeline.load(Path("dc1.yaml"))
        renderer = pipeline.render(pipeline.plan(intent), intent)
        names = (leaf, "backend-leaf002", spine)
        jobs = {job.device.name: job for job in renderer.jobs(lambda name, names=names: name in names)}
        files = {name: {path: data.decode() for path, data in renderer.files(job)} for name, job in jobs.items()}
        counts.append([len(read_device(name, nos, files[name]).bgp[""].neighbors) for name in names])
        assert counts[-1][2] == int((fabric.links.b == fabric.by_name[spine].index).sum())
    fewer_on_spine = int(spine in {usual.devices[b].name for b in links.b[links.a == usual.by_name["backend-leaf002"].index]})
    assert [before - after for before, after in zip(*counts, strict=True)] == [1, 0, fewer_on_spine]


WRONG = {
    "unknown switch": ("remove: backend-leaf009 49", "links.remove: unknown switch 'backend-leaf009'"),
    "no link there": ("remove: backend-leaf001 40", "expected a port with a link to another switch, got one without a link"),
    "a server's link": ("remove: backend-leaf001 1", "got a server-leaf link"),
    "port in use": ("add: {ends: [backend-leaf001 49, backend-spine001 64]}", "backend-leaf001 49 has a link"),
    "no such port": ("add: {ends: [backend-leaf001 65, backend-spine001 64]}", "expected a port within 1 to 64"),
    "no such part": ("add: {ends: [backend-leaf001 40/2, backend-spine001 64]}", "expected a part of port 40 within 1 to 1"),
    "a speed it lacks": ("add: {ends: [backend-leaf001 40, backend-spine001 64], speed_gbps: 7}", "with 7G, got 40"),
    "two spines": ("add: {ends: [backend-spine001 64, backend-spine002 64]}", "expected switches of adjacent tiers"),
    "one switch": (
        "add: {ends: [backend-leaf001 40, backend-leaf001 41]}",
        "expected ports of two switches, got two of backend-leaf001: backend-leaf001 40, backend-leaf001 41",
    ),
    "port used twice": (
        "add: [{ends: [backend-leaf001 40, backend-spine001 64]}, {ends: [backend-leaf001 40, backend-spine002 64]}]",
        "backend-leaf001 40 has a link",
    ),
    "split for another speed": (
        "add: {ends: [backend-leaf001 1/2, backend-spine001 64], speed_gbps: 400}",
        "backend-leaf001 1/2 has a link",
    ),
    "a subnet of another link": (
        "add: {ends: [backend-leaf001 40, backend-spine001 64], subnet: 10.64.0.0/31}",
        "10.64.0.0/31 is the subnet of the link between backend-leaf001 and backend-spine001",
    ),
    "a subnet of four addresses": (
        "add: {ends: [backend-leaf001 40, backend-spine001 64], subnet: 10.99.0.0/29}",
        "expected a subnet of two switches: /31, /127, or /30",
    ),
    "no port": ("remove: backend-leaf001", "expected a switch and its front-panel port"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_an_error_at_its_line(case: str) -> None:
    links, message = WRONG[case]
    with pytest.raises(InputError) as error:
        plan(f"{{{links}}}")
    assert [message in one.message for one in error.value.diagnostics] == [True]
    assert {one.place.line for one in error.value.diagnostics} == {10}
