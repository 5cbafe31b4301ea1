"""A dead spine is one alert: the alerts that promtool sees fire, given to a real Alertmanager with the exported rules."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import yaml

from fabric.deliver.monitoring.prometheus import document
from fabric.deliver.monitoring.rules import alerts, inhibit_rules
from fabric.model.plan import LEAF_SPINE
from tests.deliver.monitoring.plans import files_of, plan_of
from tests.waiting import FAR_S, wait_for

ALERTMANAGER = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
needs_it = pytest.mark.skipif(ALERTMANAGER is None, reason="Alertmanager is not installed (Debian: prometheus-alertmanager)")
ROUTE = {"route": {"receiver": "none", "group_by": ["site", "fabric", "alertname"]}, "receivers": [{"name": "none"}]}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Alertmanager on loopback."""
    folder = tmp_path_factory.mktemp("alertmanager")
    config = folder / "alertmanager.yml"
    config.write_text(document({**ROUTE, **yaml.safe_load(files_of("attached")["alertmanager-inhibit.yaml"])}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listen = [f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    command = [str(ALERTMANAGER), f"--config.file={config}", f"--storage.path={folder}", *listen]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield _ready(f"http://127.0.0.1:{port}")
        finally:
            process.terminate()


def _ready(url: str) -> str:
    def answers() -> bool:
        with suppress(URLError, OSError), urlopen(f"{url}/-/ready", timeout=FAR_S):
            return True
        return False

    wait_for(answers, "Alertmanager does not come up")
    return url


def after(url: str, fired: list[dict[str, str]], held: int) -> dict[str, list[dict[str, str]]]:
    """The labels of alerts by the state that Alertmanager gives them, once it holds back so many."""
    body = json.dumps([{"labels": labels} for labels in fired]).encode()
    request = Request(f"{url}/api/v2/alerts", body, {"Content-Type": "application/json"})
    urlopen(request, timeout=FAR_S).close()
    found: dict[str, list[dict[str, str]]] = {}

    def settled() -> bool:
        """Inhibition learns of the causes a moment later."""
        with urlopen(f"{url}/api/v2/alerts", timeout=FAR_S) as answer:
            rows: list[dict[str, Any]] = json.load(answer)
        found.update(active=[], suppressed=[], unprocessed=[])
        for row in rows:
            if row["labels"] in fired:
                found[row["status"]["state"]].append(row["labels"])
        return len(found["suppressed"]) == held and len(found["active"]) == len(fired) - held

    wait_for(settled, f"{held} of {len(fired)} alerts are not held back")
    return found


def same(one: list[dict[str, str]], other: list[dict[str, str]]) -> bool:
    """Whatever their order."""
    return {frozenset(labels.items()) for labels in one} == {frozenset(labels.items()) for labels in other}


def alert(name: str, site: str, **labels: str) -> dict[str, str]:
    return {"alertname": name, "severity": alerts()[name].severity, "site": site, "fabric": "f", **labels}


def dead_spine(site: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """What the rules fire when the first spine dies: itself, and a link and a session of every leaf."""
    fabric = plan_of("attached").fabrics["f"]
    spine = next(device for device in fabric.switches if device.role == "spine")
    mine = (fabric.links.kind == LEAF_SPINE) & (fabric.links.b == spine.index)
    down = alert("SwitchDown", site, device=spine.name, peer_device=spine.name, role="spine")
    caused = []
    for at, leaf in enumerate(fabric.links.a[mine].tolist()):
        ends = {"device": fabric.devices[leaf].name, "peer_device": spine.name, "interface": f"Ethernet{at}"}
        caused += [alert("FabricLinkDown", site, **ends), alert("BgpSessionDown", site, bgp_peer=f"10.0.0.{at}", **ends)]
        caused.append(alert("LinkFlapping", site, **ends))
    return down, caused


@needs_it
def test_a_dead_spine_is_one_alert(url: str) -> None:
    down, caused = dead_spine("one")
    other = alert("FabricLinkDown", "one", device="f-leaf001", peer_device="f-spine002", interface="Ethernet99")
    states = after(url, [down, *caused, other], len(caused))
    assert len(caused) > 20
    assert same(states["active"], [down, other])
    assert len(states["suppressed"]) == len(caused)


@needs_it
def test_without_the_dead_spine_every_link_speaks(url: str) -> None:
    _, caused = dead_spine("two")
    states = after(url, caused, 2 * len(caused) // 3)
    assert {labels["alertname"] for labels in states["active"]} == {"FabricLinkDown"}
    assert len(states["active"]) == len(caused) // 3


@needs_it
@pytest.mark.parametrize(
    ("site", "cause", "held", "sent"),
    [
        (
            "server",
            ("ServerDown", {"device": "gpu1", "peer_device": "gpu1"}),
            [("ServerLinkDown", {"device": "leaf1", "peer_device": "gpu1", "interface": "E1"})],
            [("ServerLinkDown", {"device": "leaf1", "peer_device": "gpu2", "interface": "E2"})],
        ),
        (
            "management",
            ("ManagementNetworkDown", {}),
            [("SwitchDown", {"device": "leaf1", "peer_device": "leaf1"}), ("SwitchUnreachable", {"device": "leaf2"})],
            [("FabricFactsMissing", {})],
        ),
        (
            "device",
            ("SwitchDown", {"device": "leaf1", "peer_device": "leaf1"}),
            [("FanFailed", {"device": "leaf1", "part": "fan1"}), ("BgpSessionsDown", {"device": "leaf1"})],
            [("SwitchDown", {"device": "leaf2", "peer_device": "leaf2"}), ("FanFailed", {"device": "leaf3", "part": "fan1"})],
        ),
        (
            "link",
            ("FabricLinkDown", {"device": "leaf1", "interface": "E1", "peer_device": "spine1"}),
            [("BgpSessionDown", {"device": "leaf1", "interface": "E1", "peer_device": "spine1"})],
            [("BgpSessionDown", {"device": "leaf1", "interface": "E2", "peer_device": "spine2"})],
        ),
        (
            "storm",
            ("PfcStorm", {"device": "leaf1", "interface": "E1", "peer_device": "gpu1"}),
            [("PfcReceivedHigh", {"device": "leaf1", "interface": "E1", "peer_device": "gpu1"})],
            [("PfcReceivedHigh", {"device": "leaf1", "interface": "E2", "peer_device": "gpu2"})],
        ),
    ],
)
def test_what_explains_what(
    site: str,
    cause: tuple[str, dict[str, str]],
    held: list[tuple[str, dict[str, str]]],
    sent: list[tuple[str, dict[str, str]]],
    url: str,
) -> None:
    made = [alert(name, site, **labels) for name, labels in (cause, *held, *sent)]
    states = after(url, made, len(held))
    assert same(states["suppressed"], made[1 : 1 + len(held)])
    assert same(states["active"], [made[0], *made[1 + len(held) :]])


@pytest.mark.skipif(shutil.which("amtool") is None, reason="amtool is not installed (Debian: prometheus-alertmanager)")
def test_amtool_reads_the_rules(tmp_path: Path) -> None:
    config = tmp_path / "alertmanager.yml"
    config.write_text(document({**ROUTE, **yaml.safe_load(files_of("attached")["alertmanager-inhibit.yaml"])}))
    done = subprocess.run(["amtool", "check-config", str(config)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{len(inhibit_rules())} inhibit rules" in done.stdout


def test_inhibition_names_alerts_that_there_are() -> None:
    for rule in inhibit_rules():
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            names = matcher.split('"')[1].split("|")
            assert set(names) <= set(alerts()), matcher


def test_a_cause_is_known_before_what_it_explains() -> None:
    seconds = {name: int(alert.lasts[:-1]) * {"s": 1, "m": 60}[alert.lasts[-1]] for name, alert in alerts().items()}
    for cause, effects in (("SwitchDown", ("FabricLinkDown", "BgpSessionDown")), ("ServerDown", ("ServerLinkDown",))):
        assert all(seconds[cause] < seconds[effect] for effect in effects)
