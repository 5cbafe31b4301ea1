"""A push to NetBox and Nautobot through their real clients: complete, idempotent, careful with what others have made."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fabric.base.diagnostics import InputError, MissingError
from fabric.base.reading import GUARD
from fabric.cli.push import push, push_netbox
from fabric.deliver.inventory.push import DEFAULT, SYSTEMS, Push, PushRequest
from fabric.model.plan import Plan
from tests.deliver.inventory.sites import plan_of, total
from tests.deliver.inventory.truth_server import NAUTOBOT, NETBOX, TOKEN, Truth, served

pytest.importorskip("pynetbox", reason="pynetbox is not installed")
pytest.importorskip("pynautobot", reason="pynautobot is not installed")

KINDS = {"netbox": NETBOX, "nautobot": NAUTOBOT}


@dataclass
class World:
    """A server of one system, and how to push to it."""

    name: str
    truth: Truth
    url: str

    def push(self, plan: Plan, options: PushRequest = DEFAULT) -> dict[str, tuple[int, int, int, int]]:
        done = Push(plan, SYSTEMS[self.name]).run(self.url, TOKEN, options)
        return {name: (t.created, t.updated, t.unchanged, t.deleted) for name, t in done.tallies.items()}

    def names(self, endpoint: str) -> set[str]:
        return {row["name"] for row in self.truth.rows[endpoint].values()}


@pytest.fixture(params=sorted(SYSTEMS))
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    truth = Truth(KINDS[request.param])
    with served(truth) as url:
        yield World(request.param, truth, url)


def test_a_second_push_changes_nothing(world: World, tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    created, _, unchanged, deleted = total(world.push(plan))
    assert created > 100
    assert (unchanged, deleted) == (0, 0)
    world.truth.requests.clear()
    assert total(world.push(plan, PushRequest(prune=True)))[:2] == (0, 0)
    assert total(world.push(plan, PushRequest(prune=True)))[3] == 0
    assert {method for method, _, _ in world.truth.requests} == {"GET"}


def test_everything_of_the_plan_is_there(world: World, tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    world.push(plan)
    fabric = plan.fabrics["backend"]
    assert world.names("dcim/devices") == {device.name for device in fabric.devices}
    assert len(world.truth.rows["dcim/cables"]) == len(fabric.links)
    ports = {(row["device"], row["name"]) for row in world.truth.rows["dcim/interfaces"].values()}
    extra = {"mgmt0", "loopback0"}
    leaves = [device for device in fabric.switches if device.role == "leaf"]
    assert len(ports) == 2 * len(fabric.links) + len(extra) * len(fabric.switches) + len(leaves)  # loopback1 of the VTEPs
    primaries = [row for row in world.truth.rows["dcim/devices"].values() if row["primary_ip4"]]
    assert len(primaries) == len(fabric.switches)
    assert world.names("ipam/vrfs") == {"backend-red", "backend-blue"}
    assert [row["vid"] for row in world.truth.rows["ipam/vlans"].values()] == [100]


def test_objects_go_in_batches(world: World, tmp_path: Path) -> None:
    world.push(plan_of(tmp_path), PushRequest(batch=10))
    sizes = [size for method, _, size in world.truth.requests if method == "POST"]
    assert max(sizes) == 10
    assert sum(size == 10 for size in sizes) > 5


def test_pages_are_read_to_the_end(world: World, tmp_path: Path) -> None:
    world.truth.page = 7  # as a server that allows no longer pages
    plan = plan_of(tmp_path)
    world.push(plan)
    assert total(world.push(plan))[:2] == (0, 0)


def test_only_what_differs_is_sent(world: World, tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    world.push(plan)
    port = next(row for row in world.truth.rows["dcim/interfaces"].values() if row["description"])
    port["description"] = "changed by hand"
    device = next(iter(world.truth.rows["dcim/devices"].values()))
    device["status"] = "active" if world.name == "netbox" else "Active"  # people move it on, and a push lets it be
    world.truth.requests.clear()
    tallies = world.push(plan)
    assert total(tallies)[:2] == (0, 1)
    assert tallies["interfaces"][1] == 1
    assert [request for request in world.truth.requests if request[0] != "GET"] == [("PATCH", "dcim/interfaces", 1)]


def test_prune_deletes_what_the_plan_no_longer_has_and_nothing_else(world: World, tmp_path: Path) -> None:
    world.push(plan_of(tmp_path))
    parts = {"device_type", "role", "location" if world.name == "nautobot" else "site", "status"}
    ours = next(iter(world.truth.rows["dcim/devices"].values()))
    (mine,) = world.truth.post("dcim/devices", [{**{part: ours[part] for part in parts}, "name": "console-server"}])
    smaller = plan_of(tmp_path, servers=3)
    assert "gpu-0004" in world.names("dcim/devices")
    assert total(world.push(smaller))[3] == 0
    assert "gpu-0004" in world.names("dcim/devices")
    tallies = world.push(smaller, PushRequest(prune=True))
    assert tallies["devices"][3] == 1
    assert tallies["cables"][3] == 2
    assert "gpu-0004" not in world.names("dcim/devices")
    assert mine["id"] in world.truth.rows["dcim/devices"]
    assert total(world.push(smaller, PushRequest(prune=True)))[:2] == (0, 0)


def test_a_dry_run_says_all_and_does_nothing(world: World, tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    tallies = world.push(plan, PushRequest(dry=True))
    assert {method for method, _, _ in world.truth.requests} == {"GET"}
    real = world.push(plan)
    assert {name: row[0] for name, row in tallies.items() if name != "interfaces"} == {
        name: row[0] for name, row in real.items() if name != "interfaces"
    }


def test_what_others_have_made_is_used_and_not_tagged(world: World, tmp_path: Path) -> None:
    slugs = {"slug": "cisco"} if world.name == "netbox" else {}
    (maker,) = world.truth.post("dcim/manufacturers", [{"name": "Cisco", **slugs}])
    body = {"manufacturer": maker["id"], "model": "n9364d-gx2a", **({"slug": "their-own"} if slugs else {}), "u_height": 2}
    (type_,) = world.truth.post("dcim/device-types", [body])
    world.push(plan_of(tmp_path))
    row = world.truth.rows["dcim/device-types"][type_["id"]]
    assert row["tags"] == []
    assert not [part for part in world.truth.rows["dcim/interface-templates"].values() if part["device_type"] == type_["id"]]
    assert any(device["device_type"] == type_["id"] for device in world.truth.rows["dcim/devices"].values())


def test_addresses_of_another_site_are_refused(world: World, tmp_path: Path) -> None:
    world.push(plan_of(tmp_path))
    second = plan_of(tmp_path, site="dc2")
    if world.name == "nautobot":  # every site has a namespace of its own
        assert total(world.push(second))[0] > 100
        assert total(world.push(plan_of(tmp_path)))[:2] == (0, 0)
        return
    with pytest.raises(InputError, match=r"FAB179.*belong to another site"):
        world.push(second)


def test_a_refusal_names_the_object(world: World, tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    fabric = plan.fabrics["backend"]
    world.truth.kinds = {
        **world.truth.kinds,
        "dcim/racks": replace(world.truth.kinds["dcim/racks"], choices={"name": ("A01",)}),
    }
    with pytest.raises(InputError) as caught:
        world.push(replace(plan, fabrics={"backend": fabric}))
    (found,) = caught.value.diagnostics
    assert found.code == "FAB177"
    assert "dcim.racks: HTTP 400" in found.message
    assert "is not a valid choice" in found.message
    assert found.hint.startswith("object ")


@pytest.mark.parametrize(
    "answer",
    [
        *("[]", "{}", "5", "null", '"x"', "<html>", '{"results": 5}', '{"count": 1, "results": [null]}', "NEXT"),
        *('{"count": 1, "next": null, "results": [{}]}', '{"count": 1, "next": null, "results": [{"id": [1]}]}'),
        '{"count": 9, "next": 5, "results": [{"id": 1, "name": "x"}]}',
    ],
)
@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_an_answer_of_another_shape(name: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error with the URL; a `next` that always names a page does not read it for ever."""
    monkeypatch.setattr(GUARD, "open", False)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = f"http://127.0.0.1:{self.server.server_address[1]}/api/x/"
            page = json.dumps({"count": 9, "next": url, "previous": None, "results": [{"id": 1, "name": "x", "url": url}]})
            data = (page if answer == "NEXT" else answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("API-Version", "4.4")
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        with pytest.raises((InputError, MissingError), match=re.escape(url)):
            Push(plan_of(tmp_path), SYSTEMS[name]).run(url, TOKEN)
    finally:
        server.shutdown()


def test_a_wrong_token_and_no_server(world: World, tmp_path: Path) -> None:
    work = Push(plan_of(tmp_path), SYSTEMS[world.name])
    with pytest.raises(InputError, match="HTTP 403") as caught:
        work.run(world.url, "wrong")
    assert "token" in caught.value.diagnostics[0].hint
    with pytest.raises(MissingError, match=r"127\.0\.0\.1:9"):
        work.run("http://127.0.0.1:9", TOKEN)


def test_the_command(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_of(tmp_path)
    arguments = [world.name, str(tmp_path / "intent.yaml"), "--url", world.url]
    monkeypatch.setenv(SYSTEMS[world.name].token, TOKEN)
    run = CliRunner()
    dry = run.invoke(push, [*arguments, "--dry-run"])
    assert dry.exit_code == 1
    assert "+ devices" in dry.output
    done = run.invoke(push, [*arguments, "--json"])
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["tables"]["devices"]["created"] == 9
    again = run.invoke(push, arguments)
    assert again.exit_code == 0
    words = again.stdout.splitlines()[-1].split()
    assert words[:3] == ["total", "0", "0"]
    assert run.invoke(push, [*arguments, "--dry-run"]).exit_code == 0


def test_the_token_is_no_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan_of(tmp_path)
    monkeypatch.delenv("NETBOX_TOKEN", raising=False)
    monkeypatch.delenv("NETBOX_URL", raising=False)
    with pytest.raises(InputError) as caught:
        push_netbox(tmp_path / "intent.yaml", "ftp://x", False, False, 200, False)
    assert [item.code for item in caught.value.diagnostics] == ["FAB178", "FAB178"]
    assert "NETBOX_TOKEN" in str(caught.value)


def test_a_cable_that_moved_stops_the_push_before_anything_is_written(world: World, tmp_path: Path) -> None:
    """Without --prune the old cable is that blocks the new one, and the server stays as it was."""
    plan = plan_of(tmp_path)
    world.push(plan)
    fabric = plan.fabrics["backend"]
    links = fabric.links
    one, other = [link for link, leaf in enumerate(links.b.tolist()) if leaf == links.b[0]][:2]
    turned = links.b_cage.copy()
    turned[[one, other]] = turned[[other, one]]
    moved = replace(plan, fabrics={"backend": replace(fabric, links=replace(links, b_cage=turned))})
    world.truth.requests.clear()
    with pytest.raises(InputError, match=r"FAB179.*occupy ports of planned objects"):
        world.push(moved)
    assert {method for method, _, _ in world.truth.requests} == {"GET"}
    assert world.push(moved, PushRequest(prune=True))["cables"][0] == 2
    assert total(world.push(moved, PushRequest(prune=True)))[:2] == (0, 0)


def test_an_address_on_a_port_that_goes_is_made_again(tmp_path: Path) -> None:
    """NetBox deletes addresses with their port, also one that the plan has elsewhere by now."""
    truth = Truth(NETBOX)
    with served(truth) as url:
        world = World("netbox", truth, url)
        world.push(plan_of(tmp_path))
        gone = next(row["id"] for row in truth.rows["dcim/devices"].values() if row["name"] == "gpu-0004")
        port = next(row["id"] for row in truth.rows["dcim/interfaces"].values() if row["device"] == gone)
        loopback = next(row for row in truth.rows["ipam/ip-addresses"].values() if row["role"] == "loopback")
        loopback["assigned_object_id"] = port
        smaller = plan_of(tmp_path, servers=3)
        planned = world.push(smaller, PushRequest(prune=True, dry=True))
        assert planned["addresses"][0] == 1
        assert world.push(smaller, PushRequest(prune=True)) == planned
        assert total(world.push(smaller))[:2] == (0, 0)


def test_tags_deleted_by_hand_are_made_again(world: World, tmp_path: Path) -> None:
    """Objects without the tag of a site are no other site's, and without any tag they are those of others."""
    plan = plan_of(tmp_path)
    world.push(plan)
    tags, racks = world.truth.rows["extras/tags"], world.truth.rows["dcim/racks"]
    for gone, tagged in ((["fabricwright-dc1"], True), (["fabricwright", "fabricwright-dc1"], False)):
        lost = [number for number, row in tags.items() if row["name"] in gone]
        for rows in world.truth.rows.values():
            for row in rows.values():
                row["tags"] = [tag for tag in row.get("tags", []) if tag not in lost]
        for number in lost:
            del tags[number]
        world.truth.taken["extras/tags"] = {key: of for key, of in world.truth.taken["extras/tags"].items() if of not in lost}
        assert world.push(plan)["tags"] == (len(gone), 0, 2 - len(gone), 0)
        assert total(world.push(plan))[:2] == (0, 0)
        assert all(len(row["tags"]) == 2 for row in racks.values()) == tagged


def test_a_refused_update_names_the_object(world: World, tmp_path: Path) -> None:
    """Also where the answer has the id of the object alone, as that of NetBox 4.7."""
    plan = plan_of(tmp_path)
    world.push(plan)
    port = next(row for row in world.truth.rows["dcim/interfaces"].values() if row["description"])
    port["description"] = "changed by hand"
    name = world.truth.rows["dcim/devices"][port["device"]]["name"]
    kind = world.truth.kinds["dcim/interfaces"]
    world.truth.kinds = {**world.truth.kinds, "dcim/interfaces": replace(kind, choices={**kind.choices, "description": ()})}
    with pytest.raises(InputError, match="FAB177") as caught:
        world.push(plan)
    (found,) = caught.value.diagnostics
    assert "is not a valid choice" in found.message
    assert found.hint.endswith(f"{name} {port['name']}")
