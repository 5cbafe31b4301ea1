"""What a lab reports, a folder per switch: its state as `fabric verify` reads it, running configs as `fabric drift` does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from fabric.base.diagnostics import MissingError
from fabric.base.formats import write_folder
from fabric.lab.expected import planned
from fabric.lab.live import Live
from fabric.lab.machine import daemons
from fabric.lab.machine.daemons import Silent, Vty
from fabric.lab.machine.lldp import Lldp, missing
from fabric.lab.machine.namespaces import at_once, run

LLDP_S = 6.0  # until all neighbors are expected to be known
COMMANDS = (  # (file, daemon, command)
    ("bgp-summary.json", "bgpd", "show bgp vrf all summary json"),
    ("bgp-neighbors.json", "bgpd", "show bgp vrf all neighbors json"),
    ("evpn-targets.json", "bgpd", "show bgp l2vpn evpn vni json"),
    ("evpn-vni.json", "zebra", "show evpn vni detail json"),
    ("interfaces.json", "zebra", "show interface vrf all json"),
    ("routes.json", "zebra", "show ip route vrf all json"),
    ("routes6.json", "zebra", "show ipv6 route vrf all json"),
)
OVERLAY = ("evpn-targets.json", "evpn-vni.json")


def collect(live: Live, *, lldp: Lldp | None = None) -> dict[str, str]:
    """Path below the folder → text, of every switch in the lab.

    Args:
        lldp: lldpd of all nodes, at work, to collect the neighbors of as well.
    """
    names = list(live.lab.views)
    outputs: dict[str, str] = {}
    for name, texts in zip(names, at_once(lambda name: dict(_state_of(live, name)), names), strict=True):
        outputs |= {f"{name}/{file}": text for file, text in texts.items()}
    if lldp is not None:
        outputs |= _neighbors(lldp)
    return dict(sorted(outputs.items()))


def _state_of(live: Live, name: str) -> Iterator[tuple[str, str]]:
    view = live.lab.views[name]
    for file, daemon, command in COMMANDS:
        if file in OVERLAY and not (view.overlay and view.overlay.vtep):
            continue
        text = _answer(live, name, daemon, command)
        yield file, _without_speeds(text) if file == "interfaces.json" else text
    links = [{"ifname": port, "stats64": counters} for port, counters in live.counters(name).items()]
    yield "links.json", json.dumps(links) + "\n"  # state and MTU are in the answer of zebra


def _answer(live: Live, name: str, daemon: str, command: str) -> str:
    """The text of an answer; as vtysh prints it where the daemon has ended."""
    try:
        with Vty(live.names.home(name), daemon) as vty:
            return vty.ask(command)
    except Silent:
        return f"{daemon} is not running\n"


def _without_speeds(text: str) -> str:
    try:
        rows = json.loads(text)
    except ValueError:
        return text
    return json.dumps({name: {key: value for key, value in row.items() if key != "speed"} for name, row in rows.items()})


def with_neighbors(live: Live) -> dict[str, str]:
    """As `collect`, with lldpd started everywhere, where it is installed."""
    if missing():
        return collect(live)
    with Lldp(live) as lldp:
        lldp.wait(planned(live), LLDP_S)
        return collect(live, lldp=lldp)


def _neighbors(lldp: Lldp) -> dict[str, str]:
    """Neighbors of all namespaces of each switch, as lldpd prints them."""
    found: dict[str, str] = {}
    for space, (name, home) in lldp.homes.items():
        if name in lldp.live.lab.views:
            text = run("lldpcli", "-u", str(home / "lldpd.sock"), "-f", "json0", "show", "neighbors", check=False).stdout
            found[f"{name}/lldp-{space.rpartition('.')[2]}.json"] = text
    return found


def save(texts: Mapping[str, str], folder: Path) -> None:
    """Writes the files; those of an earlier collection of the same switches are replaced."""
    write_folder(folder, {path: text.encode() for path, text in texts.items()})


# --- running --------------------------------------------------------------------------------------------------
# The running configs of a lab, as `fabric drift` reads them: a folder per switch with the files of its network OS.
#
# `frr.conf` is what the daemons have. The other files are those that the lab was built from: its kernel has no config.

DAEMONS_FILE = "frr.conf"


def running(live: Live) -> dict[str, str]:
    """Path below the folder → text, of every switch in the lab. Raises MissingError where a daemon has ended."""
    names = list(live.lab.views)
    found: dict[str, str] = {}
    for name, texts in zip(names, at_once(lambda name: dict(_configs_of(live, name)), names), strict=True):
        found |= {f"{name}/{file}": text for file, text in texts.items()}
    return dict(sorted(found.items()))


def _configs_of(live: Live, name: str) -> Iterator[tuple[str, str]]:
    for path, text in live.lab.files[name].items():
        file = path.split("/", 2)[2]
        yield file, _of_daemons(live, name) if file == DAEMONS_FILE and text.strip() else text


def _of_daemons(live: Live, name: str) -> str:
    """The running config without what the lab itself entered."""
    home = live.names.home(name)
    alive = daemons.alive(home)
    if ended := [daemon for daemon in daemons.started(home) if daemon not in alive]:
        raise MissingError(f"{name}: {ended[0]} is not running: run `fabric lab up {live.lab.plan.settings.home.path}`")
    return daemons.running_config(home, live.lab.nodes[name].frr_conf)
