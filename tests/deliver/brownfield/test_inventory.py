"""NetBox and Nautobot: a site that was pushed is imported and planned again, and a further push has nothing to change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.sources.combined import ImportRequest
from fabric.deliver.inventory.push import SYSTEMS, Push, PushRequest
from fabric.model.plan import Plan
from tests.deliver.inventory.sites import plan_of
from tests.deliver.inventory.truth_server import NAUTOBOT, NETBOX, TOKEN, Truth, served

pytest.importorskip("pynetbox", reason="pynetbox is not installed")
pytest.importorskip("pynautobot", reason="pynautobot is not installed")

KINDS = {"netbox": NETBOX, "nautobot": NAUTOBOT}


@dataclass
class World:
    """A server of one system, and a folder."""

    name: str
    url: str
    folder: Path

    def push(self, plan: Plan, options: PushRequest) -> list[str]:
        done = Push(plan, SYSTEMS[self.name]).run(self.url, TOKEN, options)
        return [f"{change.what} {change.table} {change.key} {dict(change.fields)}" for change in done.changes]

    def request(self, site: str = "dc1") -> ImportRequest:
        return ImportRequest(
            sources=(), output=self.folder / "again.yaml", site=site, inventory=(self.name, self.url, TOKEN), jobs=1
        )


@pytest.fixture(params=sorted(SYSTEMS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with served(Truth(KINDS[request.param])) as url:
        yield World(request.param, url, tmp_path)


def test_a_pushed_site_comes_back_as_it_was(world: World) -> None:
    plan = plan_of(world.folder)
    world.push(plan, PushRequest())
    made = pipeline.import_site(world.request())
    made.write()
    again = pipeline.plan(pipeline.load(made.output))
    assert again.lock == made.plan.lock
    assert world.push(again, PushRequest(dry=True, prune=True)) == []


def test_a_site_that_is_not_there(world: World) -> None:
    world.push(plan_of(world.folder), PushRequest())
    with pytest.raises(InputError) as raised:
        pipeline.import_site(world.request("dc9"))
    assert "error[FAB177]: no site 'dc9'" in str(raised.value.diagnostics[0])


def test_an_import_is_reported(world: World) -> None:
    world.push(plan_of(world.folder), PushRequest())
    made = pipeline.import_site(world.request())
    assert made.in_sync
    assert made.coverage == ()
    assert "gateway: 10.20.0.0/24" in made.text
    assert not (world.folder / "again.yaml").exists()
